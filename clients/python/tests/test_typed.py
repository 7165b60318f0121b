# SPDX-License-Identifier: MIT
"""Typed rows, rows as objects, values by name and URLs, against a server as a test wants it."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
from typing import Any

import pytest

import rowsocket
from fake_server import FakeServer, Peer, has_time
from rowsocket import _session, aio
from rowsocket._options import Options, options_of
from typed_table import COLUMNS, OPTIONS, TYPES, answering, opens, users_of

ONE_ROW = (b"0\t=\t1\t1\t1\t0", b"0\t3\t1\tAda\t2024-01-02 03:04:05\n")
SEEN = datetime.datetime(2024, 1, 2, 3, 4, 5)


def test_values_are_of_the_columns_types() -> None:
    with users_of(answering(ONE_ROW)) as users:
        assert users.get(1) == (1, "Ada", SEEN)


def test_several_rows_are_cut_at_their_columns() -> None:
    reply = b"0\t3\t1\tAda\t\x00\t2\t\x00\t2024-01-02 03:04:05\n"
    with users_of(answering((b"0\t>\t1\t0\t9\t0", reply))) as users:
        assert users.find(0, ">", limit=9) == [(1, "Ada", None), (2, None, SEEN)]


def test_a_server_that_tells_no_types_gives_text() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer, reply=b"0\t1\n")
        peer.expect(ONE_ROW[0])
        peer.send(ONE_ROW[1])

    with users_of(conversation) as users:
        assert users.get(1) == ("1", "Ada", "2024-01-02 03:04:05")


def test_other_columns_for_one_request_have_their_types_too() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        opens(peer, b"age", id=1, reply=b"0\t1\ttinyint(4)\n")
        peer.expect(b"1\t=\t1\t1\t1\t0")
        peer.send(b"0\t1\t36\n")
        peer.expect(b"1\t=\t1\t2\t1\t0")  # it is open by now
        peer.send(b"0\t1\n")

    with users_of(conversation) as users:
        assert users.get(1, columns=["age"]) == (36,)
        assert users.get(2, columns=["age"]) is None


def test_after_alter_table_values_are_text_once_and_the_types_are_asked_for_again() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(ONE_ROW[0])
        peer.send(b"0\t3\tone\tAda\t\x00\n")
        opens(peer, reply=b"0\t3\tvarchar(9)\tvarchar(20)\tdatetime\n")
        peer.expect(ONE_ROW[0])
        peer.send(b"0\t3\tone\tAda\t2024-01-02 03:04:05\n")

    with users_of(conversation) as users:
        assert users.get(1) == ("one", "Ada", None)
        assert users.get(1) == ("one", "Ada", SEEN)


def test_text_is_text_and_nothing_is_asked_that_the_original_does_not_know() -> None:
    def conversation(peer: Peer) -> None:
        peer.expect(b"P\t0\tapp\tuser\tPRIMARY\tid\t")
        peer.send(b"0\t1\n")
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t1\t1\n")

    with FakeServer(conversation) as server, rowsocket.connect(port=server.port, text=True) as connection:
        assert connection.open_index("app", "user", ["id"]).get(1) == ("1",)


def test_the_sentence_for_people_is_part_of_the_error() -> None:
    def conversation(peer: Peer) -> None:
        peer.read()
        peer.send(b"2\t1\tfld\tno column 'custmer' in shop.user\n")

    with (
        FakeServer(conversation) as server,
        rowsocket.connect(port=server.port) as connection,
        pytest.raises(rowsocket.RequestError, match=r"no column 'custmer' in shop\.user") as raised,
    ):
        connection.open_index("shop", "user", ["custmer"])
    assert raised.value.detail == "no column 'custmer' in shop.user"


# ── rows as objects, values by name ─────────────────────────────────────────────────────────────────────────


@dataclasses.dataclass
class User:
    id: int
    name: str | None
    seen: datetime.datetime | None = None


def test_a_dataclass_names_the_columns_and_is_the_row() -> None:
    with (
        FakeServer(answering(ONE_ROW, (b"0\t+\t3\t2\tLin\t\x00", b"0\t1\n"))) as server,
        rowsocket.connect(port=server.port) as connection,
    ):
        users = connection.table("app.user", User)
        assert users.get(1) == User(1, "Ada", SEEN)
        users.insert(User(2, "Lin"))


def test_a_pydantic_model_names_the_columns_and_is_the_row() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", id=(int, ...), name=(str, ...), seen=(datetime.datetime, ...))
    inserts = (b"0\t+\t3\t1\tAda\t2024-01-02 03:04:05", b"0\t1\n")
    with (
        FakeServer(answering(ONE_ROW, inserts)) as server,
        rowsocket.connect(port=server.port) as connection,
    ):
        users = connection.table("app.user", model)
        ada = users.get(1)
        assert ada == model(id=1, name="Ada", seen=SEEN)
        users.insert(ada)


def test_the_fields_of_a_model_are_columns_by_their_names_whatever_their_aliases_are() -> None:
    pydantic = pytest.importorskip("pydantic", minversion="2.11")
    model = pydantic.create_model(
        "Model",
        __config__=pydantic.ConfigDict(alias_generator=str.upper),
        id=(int, ...),
        name=(str, "nobody"),
        seen=(datetime.datetime, pydantic.Field(validation_alias="seenAt")),
    )
    inserts = (b"0\t+\t3\t1\tAda\t2024-01-02 03:04:05", b"0\t1\n")
    with (
        FakeServer(answering(ONE_ROW, inserts)) as server,
        rowsocket.connect(port=server.port) as connection,
    ):
        users = connection.table("app.user", model)
        ada: Any = users.get(1)
        assert (ada.id, ada.name, ada.seen) == (1, "Ada", SEEN)
        users.insert(ada)


def test_an_alias_may_be_the_name_of_another_column() -> None:
    pydantic = pytest.importorskip("pydantic", minversion="2.11")
    of_name = pydantic.Field(validation_alias="id")
    model = pydantic.create_model("Model", id=(int, ...), name=(str, of_name), seen=(datetime.datetime, ...))
    with (
        FakeServer(answering(ONE_ROW)) as server,
        rowsocket.connect(port=server.port) as connection,
    ):
        ada: Any = connection.table("app.user", model).get(1)
        assert (ada.id, ada.name) == (1, "Ada")


def test_a_class_that_is_neither_is_refused() -> None:
    with users_of(answering()) as users, pytest.raises(TypeError, match="neither a dataclass"):
        users.as_objects(int)


def test_some_values_by_name_go_to_an_index_of_these_columns() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        opens(peer, b"name", id=1, reply=b"0\t1\tvarchar(20)\n")
        peer.expect(b"1\t=\t1\t1\t1\t0\tU\tLin")
        peer.send(b"0\t1\t1\n")
        peer.expect(b"1\t+\t1\tNew")
        peer.send(b"0\t1\t9\n")
        peer.expect(b"0\t=\t1\t1\t1\t0\tU\t1\tLin")
        peer.send(b"0\t1\t1\n")

    with users_of(conversation) as users:
        assert users.update(1, {"name": "Lin"}) == 1
        assert users.insert({"name": "New"}) == 9
        assert users.update(1, {"name": "Lin", "id": 1}) == 1  # the first columns: no other index


def test_rows_of_a_change_by_name_keep_the_order_of_the_index() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        opens(peer, b"seen,id,name", id=1, reply=b"0\t3\tdatetime\tint(10)\tvarchar(20)\n")
        peer.expect(b"1\t=\t1\t1\t1\t0\tU!\t2024-01-02 03:04:05")
        peer.send(b"0\t3\t2024-01-02 03:04:05\t1\tAda\n")

    with users_of(conversation) as users:
        assert users.update_and_fetch(1, {"seen": SEEN}) == [(1, "Ada", SEEN)]


def test_many_rows_by_name_say_their_columns() -> None:
    line = b"0\t++\t2\t2\t\x00\t1\tLin\t2\tC\tname,seen"
    with users_of(answering((line.replace(b"\x00\t1", b"Ada\t1"), b"0\t2\t1\t1\t1\t2\n"))) as users:
        outcomes = users.insert_many([{"name": "Ada", "seen": 1}, {"seen": 2, "name": "Lin"}])
        assert [outcome.id for outcome in outcomes] == [1, 2]


def test_a_name_that_is_no_column_of_the_index_is_seen_before_anything_is_sent() -> None:
    with users_of(answering()) as users, pytest.raises(ValueError, match="'nmae'"):
        users.update(1, {"nmae": "Lin"})


# ── URLs and other options ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("rowsocket://db.example.org", Options(host="db.example.org")),
        ("rowsocket://db:9999/shop", Options(host="db", port=9999, database="shop")),
        ("rowsocket://:p%40ss@[::1]:1/", Options(host="::1", port=1, secret="p@ss")),
        ("rowsocket://app:p%3Ass%2F@h", Options(host="h", user="app", password="p:ss/")),
        (
            "rowsocket://%40pp:%C3%BC%09@h:1/shop",
            Options("h", 1, user="@pp", password="ü\t", database="shop"),
        ),
        ("rowsocket://app:p@ss@h/a%40b", Options(host="h", user="app", password="p@ss", database="a@b")),
        ("rowsocket://app:@h", Options(host="h", user="app")),
        ("rowsocket://app@/?unix_socket=/run/@rs", Options(user="app", unix_socket="/run/@rs")),
        ("rowsocket://h?user=app&password=a@b", Options(host="h", user="app", password="a@b")),
        ("rowsocket://a+b:c+d@h/e+f", Options(host="h", user="a+b", password="c+d", database="e+f")),
        ("rowsocket://?unix_socket=/run/a+b=c%26%25.sock", Options(unix_socket="/run/a+b=c&%.sock")),
        (
            "rowsocket://a:b@h?tls_ca=/a+b.pem&tls_cert=/c+d@e.pem",
            Options(host="h", user="a", password="b", tls_ca="/a+b.pem", tls_cert="/c+d@e.pem"),
        ),
        ("rowsocket://h?timeout=&&text=1&", Options(host="h", timeout=None, text=True)),
        ("rowsocket:///shop?unix_socket=/run/rs.sock", Options(unix_socket="/run/rs.sock", database="shop")),
        (
            "rowsocket://h?timeout=2.5&text=1&detail=no",
            Options(host="h", timeout=2.5, text=True, detail=False),
        ),
        (
            "rowsocket://h?timeout=none&retries=3&time_zone=UTC",
            Options(host="h", timeout=None, retries=3, time_zone=datetime.timezone.utc),
        ),
    ],
)
def test_a_url_says_what_the_arguments_say(url: str, options: Options) -> None:
    assert options_of(url) == options


@pytest.mark.parametrize(
    "url",
    [
        "mysql://h",
        "rowsocket://app@h?secret=s",
        "rowsocket://h?password=p",
        "rowsocket://h?colour=blue",
        "rowsocket://h?text=maybe",
        "rowsocket://h?time_zone=Nowhere/None",
        "rowsocket://h:port",
        "rowsocket://h?timeout=soon",
        "rowsocket://h?timeout=nan",
        "rowsocket://h?timeout=inf",
        "rowsocket://h?timeout=1e300",
        "rowsocket://h:0",
        "rowsocket://h:65536",
        "rowsocket://h?retries=1.5",
        "rowsocket://h?timeout=1&timeout=2",
        "rowsocket://app:p@h?user=other",
        "rowsocket://h/shop?database=other",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        options_of(url)


@pytest.mark.parametrize(
    "url",
    [
        "rowsocket://app:hush/hush@h",
        "rowsocket://app:1/hush@h",
        "rowsocket://app:1@hush/2@h",
        "rowsocket://app:1?hush=hush@h",
        "rowsocket://app:1#hush@h",
        "rowsocket://app:[hush]@h",
        "rowsocket://app:hush\u2100@h",
        "rowsocket://app:hush@h:hush",
        "rowsocket://:hush@h?user=app",
        "rowsocket://h?password=hush",
        "rowsocket://app:hush@h?retries=-1",
        "rowsocket://app:1?timeout=hush@h",
        "rowsocket://app:1?timeout=1hush&text=1@h",
        "rowsocket://app:p@h?timeout=1hush&text=1@h",
        "rowsocket://app:1?retries=hush@h",
        "rowsocket://app:1?text=hush@h",
        "rowsocket://app:1?time_zone=hush@h",
        "rowsocket://app:p@h?time_zone=hush@h",
        "rowsocket://app:1?unix_socket=hush@h",
        "rowsocket://app:1?hush@h",
        "rowsocket://app:p@h?hush@h",
        "mysql://app:hush@h",
        "app:hush@h",
    ],
)
def test_the_error_of_a_url_shows_no_password(url: str) -> None:
    with pytest.raises(ValueError) as raised:
        options_of(url)
    assert "hush" not in str(raised.value)


def test_a_password_that_is_no_text_is_refused_without_being_shown() -> None:
    with pytest.raises(ValueError, match="password") as raised:
        Options(user="app", password="hush\udc80")
    assert "hush" not in repr(raised.value)


@pytest.mark.parametrize(
    "files", [{"tls_ca": "/nowhere/ca.pem"}, {"tls_cert": "/nowhere/c.pem"}, {"tls_ca": __file__}]
)
def test_a_file_of_tls_that_is_not_there_or_none_is_named(files: dict[str, str]) -> None:
    with pytest.raises(rowsocket.ConnectionLost, match=next(iter(files.values()))):
        rowsocket.connect(**files)  # type: ignore[arg-type]


@pytest.mark.parametrize("port", [-1, 0, 65536])
def test_a_port_is_a_port(port: int) -> None:
    with pytest.raises(ValueError, match="port"):
        aio.ConnectionPool(port=port)


def test_options_show_neither_password_nor_secret() -> None:
    assert "hush" not in f"{Options(user='app', password='hush')!r} {Options(secret='hush')!r}"


def test_a_table_needs_a_database() -> None:
    with (
        FakeServer(lambda peer: peer.until_closed()) as server,
        rowsocket.connect(port=server.port) as connection,
        pytest.raises(ValueError, match="which database"),
    ):
        connection.table("user", ["id"])


def test_an_aware_datetime_is_sent_as_the_servers_zone_has_it() -> None:
    line = b"0\t=\t1\t2024-07-01 14:00:00\t1\t0"
    with users_of(answering((line, b"0\t3\n")), time_zone="Europe/Berlin") as users:
        assert users.get(datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.timezone.utc)) is None


@pytest.mark.parametrize("reply", [b"0\t1\n0\t1\n", b"2\t1\tcmd\n2\t1\tcmd\n"])
def test_a_ping_is_answered_by_who_knows_groups_and_who_does_not(reply: bytes) -> None:
    def conversation(peer: Peer) -> None:
        peer.expect(b"G", b"E")
        peer.send(reply)

    with FakeServer(conversation) as server, rowsocket.connect(port=server.port) as connection:
        assert connection.ping() > 0


def test_a_ping_without_the_secret_is_an_error() -> None:
    def conversation(peer: Peer) -> None:
        peer.expect(b"G", b"E")
        peer.send(b"3\t1\tunauth\n3\t1\tunauth\n")

    with (
        FakeServer(conversation) as server,
        rowsocket.connect(port=server.port) as connection,
        pytest.raises(rowsocket.AuthenticationError),
    ):
        connection.ping()


def test_objects_say_what_they_are() -> None:
    with users_of(answering()) as users:
        assert repr(users) == "<Index PRIMARY of app.user: id, name, seen>"
        assert repr(users._executor).endswith(": connected>")
        pipe = users._executor.pipeline()
        assert repr(pipe.get(users, 1)) == "<Pending: not sent>"
        assert repr(pipe) == "<Pipeline: 1 requests, 1 of them not sent>"


# ── what tasks share ────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_hundred_tasks_ask_at_once_leaves_with_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 100

    def conversation(peer: Peer) -> None:
        opens(peer)
        for number in range(count):
            peer.expect(b"0\t=\t1\t%d\t1\t0" % number)
            peer.send(b"0\t3\t%d\tAda\t\x00\n" % number)

    async def ask(port: int) -> None:
        async with await aio.connect(port=port, database="app") as connection:
            users = await connection.table("user", COLUMNS)
            assert connection._link is not None
            transport = connection._link._transport
            writes: list[bytes] = []

            class Noting:
                def write(self, data: bytes) -> None:
                    writes.append(data)
                    transport.write(data)  # type: ignore[union-attr]

                def __getattr__(self, name: str) -> Any:
                    return getattr(transport, name)

            monkeypatch.setattr(connection._link, "_transport", Noting())
            rows = await asyncio.gather(*(users.get(number) for number in range(count)))
            assert [row and row[0] for row in rows] == list(range(count))
            assert len(writes) == 1

    with FakeServer(conversation) as server:
        asyncio.run(ask(server.port))


def test_a_task_that_waits_too_long_is_told_so() -> None:
    def conversation(peer: Peer) -> None:
        peer.read()
        peer.until_closed()

    async def ask(port: int) -> None:
        async with await aio.connect(port=port, database="app") as connection:
            has_time(connection, 0.2)
            with pytest.raises(rowsocket.Timeout):
                await connection.table("user", COLUMNS)

    with FakeServer(conversation) as server:
        asyncio.run(ask(server.port))


# ── types that are asked for again ──────────────────────────────────────────────────────────────────────────


OPEN_AGAIN = b"P\t0\tapp\tuser\tPRIMARY\tid,name,seen\t\t" + OPTIONS


def test_types_that_were_told_long_ago_are_asked_for_with_the_next_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(OPEN_AGAIN, ONE_ROW[0])
        peer.send(b"0\t3\tint(10)\tvarbinary(20)\tvarchar(20)\n" + ONE_ROW[1])
        peer.expect(OPEN_AGAIN, b"0\t=\t1\t1\t1\t0\tD")
        peer.send(b"1\t1\topen_table\n0\t1\t1\n")

    monkeypatch.setattr(_session, "NEW_TYPES_S", 0.0)
    with users_of(conversation) as users:
        assert users.get(1) == (1, b"Ada", "2024-01-02 03:04:05")
        assert users.delete(1) == 1


def test_who_asks_for_text_asks_for_no_types(monkeypatch: pytest.MonkeyPatch) -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t2\t1\tAda\n")

    monkeypatch.setattr(_session, "NEW_TYPES_S", 0.0)
    with FakeServer(conversation) as server, rowsocket.connect(port=server.port, text=True) as connection:
        assert connection.open_index("app", "user", ["id", "name"]).get(1) == ("1", "Ada")


def test_what_fits_neither_the_old_types_nor_the_new_is_text_or_bytes() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(ONE_ROW[0])
        peer.send(b"0\t3\tone\t\xff\t\xc3\xbc\n")
        peer.expect(OPEN_AGAIN)
        peer.send(TYPES)

    with users_of(conversation) as users:
        assert users.get(1) == ("one", b"\xff", "ü")


def test_a_column_that_fits_neither_type_is_text_in_all_rows_and_the_others_are_not() -> None:
    """The table was altered, and altered back before the types were asked for again."""

    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(b"0\t>\t1\t0\t9\t0")
        peer.send(b"0\t3\t1\tAda\tnever\t2\t\x00\t2024-01-02 03:04:05\n")
        peer.expect(OPEN_AGAIN)
        peer.send(TYPES)

    with users_of(conversation) as users:
        assert users.find(0, ">", limit=9) == [(1, "Ada", "never"), (2, None, "2024-01-02 03:04:05")]


def test_a_row_is_not_lost_where_nobody_tells_the_new_types() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(b"0\t=\t1\t1\t1\t0\tD?")
        peer.send(b"0\t3\tone\t\x00\t\x00\n")
        peer.expect(OPEN_AGAIN)

    with users_of(conversation) as users:
        assert users.fetch_and_delete(1) == [("one", None, None)]


@dataclasses.dataclass
class Picky:
    id: int
    name: str
    seen: datetime.datetime

    def __post_init__(self) -> None:
        if self.name == "Bob":
            raise ValueError("not Bob")


def test_the_error_of_a_rows_own_class_is_that_requests_alone() -> None:
    bob = (ONE_ROW[0], b"0\t3\t1\tBob\t2024-01-02 03:04:05\n")
    with users_of(answering(bob, ONE_ROW)) as users:
        picky = users.as_objects(Picky)
        with pytest.raises(ValueError, match="not Bob"):
            picky.get(1)
        assert picky.get(1) == Picky(1, "Ada", SEEN)


def test_the_error_of_a_rows_own_class_is_one_tasks_alone() -> None:
    bob = (ONE_ROW[0], b"0\t3\t1\tBob\t2024-01-02 03:04:05\n")

    async def ask(port: int) -> None:
        async with await aio.connect(port=port, database="app") as connection:
            picky = (await connection.table("user", COLUMNS)).as_objects(Picky)
            both: list[Any] = await asyncio.gather(picky.get(1), picky.get(1), return_exceptions=True)
            assert str(both[0]) == "not Bob"
            assert both[1] == Picky(1, "Ada", SEEN)

    with FakeServer(answering(bob, ONE_ROW)) as server:
        asyncio.run(ask(server.port))
