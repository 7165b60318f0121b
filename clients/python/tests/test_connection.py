# SPDX-License-Identifier: MIT
"""The blocking client against a server that does what the test says."""

from __future__ import annotations

import os
import threading

import pytest

import rowsocket
from fake_server import FakeServer, Peer, has_time
from rowsocket import Connection, Filter, Index, TextRow, While
from rowsocket._options import Options


def open_users(server: FakeServer, **options: object) -> tuple[Connection, Index[TextRow]]:
    connection = rowsocket.connect(port=server.port, **options, text=True)  # type: ignore[arg-type]
    return connection, connection.open_index("app", "user", ["id", "name"])


def test_a_row_is_a_tuple_and_its_absence_none() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t2\t1\tAda\n")
        peer.expect(b"0\t=\t1\t2\t1\t0")
        peer.send(b"0\t2\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        assert users.get(1) == ("1", "Ada")
        assert users.get(2) is None
        connection.close()


@pytest.mark.parametrize("piece_bytes", [1, 2, 7, 1000])
def test_a_reply_may_come_in_pieces(piece_bytes: int) -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t>\t1\t0\t3\t0")
        peer.send(b"0\t2\t1\t\x00\t2\t\t3\ta\x01Ib\n", piece_bytes)

    with FakeServer(conversation) as server:
        _, users = open_users(server)
        assert users.find(0, ">", limit=3) == [("1", None), ("2", ""), ("3", "a\tb")]


def test_rows_as_dicts() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.read()
        peer.send(b"0\t2\t1\tAda\n")

    with FakeServer(conversation) as server:
        _, users = open_users(server)
        assert users.as_dicts().get(1) == {"id": "1", "name": "Ada"}


def test_bytes_of_a_raw_index() -> None:
    def conversation(peer: Peer) -> None:
        peer.open(rest=b"\traw")
        peer.read()
        peer.send(b"0\t2\t1\t\xff\x01\x40\n")

    with FakeServer(conversation) as server, rowsocket.connect(port=server.port, text=True) as connection:
        users = connection.open_index("app", "user", "id,name", raw=True)
        assert users.get(1) == (b"1", b"\xff\0")


def test_a_value_that_is_no_text_is_this_requests_error_alone() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        for reply in (b"0\t2\t1\t\xff\n", b"0\t2\t1\tAda\n"):
            peer.read()
            peer.send(reply)

    with FakeServer(conversation) as server:
        _, users = open_users(server)
        with pytest.raises(UnicodeDecodeError, match="decode=False"):
            users.get(1)
        assert users.get(1) == ("1", "Ada")


def test_every_request_as_it_travels() -> None:
    asked: list[bytes] = []

    def conversation(peer: Peer) -> None:
        peer.open(rest=b"age,city")
        while line := peer.read():
            asked.append(line)
            peer.send(b"0\t1\t3\n" if b"?" not in line and line.split(b"\t")[-1] != b"find" else b"0\t2\n")

    with FakeServer(conversation) as server, rowsocket.connect(port=server.port, text=True) as connection:
        users = connection.open_index("app", "user", ["id", "name"], filter_columns=("age", "city"))
        assert users.insert([None, "Ada"]) == 3
        assert users.insert({"name": "Ada", "id": 7}) == 3
        assert users.update(7, {"id": 8}) == 3
        assert (
            users.update((7, "x"), [8, "y"], ">=", limit=2, offset=1, filters=[Filter("city", "!=", None)])
            == 3
        )
        assert (
            users.delete(7, "<", limit=None, filters=[While("age", ">=", 18), Filter("city", "=", "Oslo")])
            == 3
        )
        assert users.increment(7) == 3
        assert users.decrement(7, [1, 2]) == 3
        assert users.fetch_and_update(7, [8]) == []
        assert users.fetch_and_delete(7) == []
        assert users.fetch_and_increment(7) == []
        assert users.fetch_and_decrement(7, 5) == []
    assert asked == [
        b"0\t+\t2\t\x00\tAda",
        b"0\t+\t2\t7\tAda",
        b"0\t=\t1\t7\t1\t0\tU\t8",
        b"0\t>=\t2\t7\tx\t2\t1\tF\t!=\t1\t\x00\tU\t8\ty",
        b"0\t<\t1\t7\t2147483647\t0\tW\t>=\t0\t18\tF\t=\t1\tOslo\tD",
        b"0\t=\t1\t7\t1\t0\t+\t1",
        b"0\t=\t1\t7\t1\t0\t-\t1\t2",
        b"0\t=\t1\t7\t1\t0\tU?\t8",
        b"0\t=\t1\t7\t1\t0\tD?",
        b"0\t=\t1\t7\t1\t0\t+?\t1",
        b"0\t=\t1\t7\t1\t0\t-?\t5",
    ]


def test_in_lists_as_they_travel() -> None:
    asked: list[bytes] = []

    def conversation(peer: Peer) -> None:
        peer.open()
        while line := peer.read():
            asked.append(line)
            peer.send(b"0\t2\t1\tAda\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        assert users.find_in([1, None]) == [("1", "Ada")]
        assert users.find_in(["x"], ">=", key="first", in_part=1, limit=9, offset=2) == [("1", "Ada")]
        assert users.find_in([]) == []
        assert users.fetch_and_delete((), in_values=[1, 2], limit=None) == [("1", "Ada")]
        with pytest.raises(ValueError, match="empty"):
            users.delete((), in_values=[])
        connection.close()
    assert asked == [
        b"0\t=\t1\t\t2147483647\t0\t@\t0\t2\t1\t\x00",
        b"0\t>=\t2\tfirst\t\t9\t2\t@\t1\t1\tx",
        b"0\t=\t1\t\t2147483647\t0\t@\t0\t1\t\x00",
        b"0\t=\t1\t\t2147483647\t0\t@\t0\t2\t1\t2\tD?",
    ]


def test_insert_without_a_generated_id_gives_none() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        for reply in (b"0\t1\n", b"0\t1\t0\n", b"0\t1\t18446744073709551615\n"):
            peer.read()
            peer.send(reply)

    with FakeServer(conversation) as server:
        _, users = open_users(server)
        assert [users.insert([1, "a"]) for _ in range(3)] == [None, None, 2**64 - 1]


def test_mistakes_are_seen_before_anything_is_sent() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.until_closed()

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        for wrong in (
            lambda: users.find(1, "=="),  # type: ignore[arg-type]
            lambda: users.find(1, limit=0),
            lambda: users.find(1, offset=-1),
            lambda: users.find(1, filters=[Filter("age", "=", 1)]),
            lambda: users.update(1, {"nmae": "no column of the index"}),
            lambda: users.insert([1, 2, 3]),
            lambda: users.find_in([1], in_part=1),
            lambda: connection.open_index("app", "user", ["a,b"]),
            lambda: connection.open_index("app", "us\ter", []),
        ):
            with pytest.raises(ValueError):
                wrong()
        with pytest.raises(TypeError):
            users.insert("ab")
        connection.close()


def test_a_secret_is_presented_first() -> None:
    def conversation(peer: Peer) -> None:
        peer.expect(b"A\t1\tpass\x01Iword")
        peer.send(b"0\t1\n")
        peer.open()

    with FakeServer(conversation) as server:
        open_users(server, secret="pass\tword")


def test_a_wrong_secret_is_an_authentication_error() -> None:
    def conversation(peer: Peer) -> None:
        peer.expect(b"A\t1\twrong")
        peer.send(b"3\t1\tunauth\n")
        peer.until_closed()

    with FakeServer(conversation) as server, pytest.raises(rowsocket.AuthenticationError) as raised:
        rowsocket.connect(port=server.port, secret="wrong", text=True)
    assert (raised.value.code, raised.value.text) == (3, "unauth")
    assert str(raised.value) == f"127.0.0.1:{server.port} refused the secret (3 unauth)"


@pytest.mark.parametrize(
    ("login", "line"),
    [
        ({"user": "app", "password": "pass\tword"}, b"A\t2\tapp\tpass\x01Iword"),
        ({"user": "J\u00fcrgen\t", "password": ""}, b"A\t2\tJ\xc3\xbcrgen\x01I\t"),
        ({"user": "app"}, b"A\t2\tapp"),
    ],
)
def test_an_account_logs_in_first(login: dict[str, str], line: bytes) -> None:
    def conversation(peer: Peer) -> None:
        peer.expect(line)
        peer.send(b"0\t1\n")
        peer.open()

    with FakeServer(conversation) as server:
        open_users(server, **login)


def test_a_refused_login_tells_nobody_the_password() -> None:
    def refuses(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")
        peer.send(b"3\t1\tunauth\n")
        peer.until_closed()

    with FakeServer(refuses) as server, pytest.raises(rowsocket.AuthenticationError) as raised:
        rowsocket.connect(f"rowsocket://app:hush@127.0.0.1:{server.port}")
    assert "hush" not in f"{raised.value} {raised.value!r}"
    assert str(raised.value) == (
        f"127.0.0.1:{server.port} refused the user 'app': the password is wrong, or it may not log in from"
        " here (3 unauth)"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (Options(user="app"), "127.0.0.1:9998 refused the user 'app': it needs a password"),
        (Options("::1", user="app"), "[::1]:9998 refused the user 'app'"),
        (Options(unix_socket="/run/rs", user="app", password="hush"), "/run/rs refused the user 'app'"),
        (Options("localhost", user="app", password="hush"), "from here (3 unauth)"),
        (Options("db", user="app", password="hush", tls=True), "from here (3 unauth)"),
        (Options("db", user="app", password="hush"), "; and a password is taken inside TLS"),
        (Options("192.0.2.1", user="app", password="hush"), "; and a password is taken inside TLS"),
    ],
)
def test_the_error_of_a_login_says_whom_where_and_perhaps_why(options: Options, sentence: str) -> None:
    said = str(options.login_failed(rowsocket.AuthenticationError(3, "unauth", "log in first")))
    assert sentence in said
    assert "hush" not in said


def test_what_is_no_refusal_of_a_login_stays_as_it_is() -> None:
    for error in (rowsocket.ConnectionLost("lost"), rowsocket.AuthenticationError(3, "tls", "use TLS")):
        assert Options(user="app").login_failed(error) is error
    assert str(rowsocket.AuthenticationError(3, "tls", "use TLS")) == "use TLS (3 tls)"


def test_a_new_connection_logs_in_again() -> None:
    def answers_once(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")
        peer.send(b"0\t1\n")
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t2\t1\tAda\n")

    with FakeServer(answers_once, answers_once) as server:
        _, users = open_users(server, user="app", password="hush")
        assert [users.get(1), users.get(1)] == [("1", "Ada")] * 2


def test_an_error_leaves_the_connection_good() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.read()
        peer.send(b"1\t1\t121\tDuplicate entry\n")
        peer.read()
        peer.send(b"0\t1\t5\n")

    with FakeServer(conversation) as server:
        _, users = open_users(server)
        with pytest.raises(rowsocket.DuplicateKey) as raised:
            users.insert([1, "a"])
        assert (raised.value.number, raised.value.detail) == (121, "Duplicate entry")
        assert users.insert([2, "b"]) == 5


def test_a_read_is_sent_once_more_after_its_connection_was_lost() -> None:
    def lost_mid_reply(peer: Peer) -> None:
        peer.expect(b"A\t1\ts")
        peer.send(b"0\t1\n")
        peer.open()
        peer.read()
        peer.send(b"0\t2\t1\tA")
        peer.reset()

    def again(peer: Peer) -> None:
        peer.expect(b"A\t1\ts")
        peer.send(b"0\t1\n")
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t2\t1\tAda\n")

    with FakeServer(lost_mid_reply, again) as server:
        _, users = open_users(server, secret="s")
        assert users.get(1) == ("1", "Ada")


def test_a_read_is_not_sent_a_third_time() -> None:
    def lost(peer: Peer) -> None:
        peer.open()
        peer.read()

    with FakeServer(lost, lost) as server:
        _, users = open_users(server)
        with pytest.raises(rowsocket.ConnectionLost) as raised:
            users.get(1)
        assert not raised.value.outcome_unknown


def test_a_write_is_never_sent_again_and_its_outcome_is_unknown() -> None:
    def lost(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t+\t2\t1\ta")

    def next_call(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t2\n")

    with FakeServer(lost, next_call) as server:
        _, users = open_users(server)
        with pytest.raises(rowsocket.ConnectionLost) as raised:
            users.insert([1, "a"])
        assert raised.value.outcome_unknown
        assert users.get(1) is None


def test_the_outcome_of_a_group_is_unknown_without_the_answer_to_its_end() -> None:
    def lost(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", b"0\t+\t2\t1\ta", b"E")
        peer.send(b"0\t1\n0\t1\n")

    with FakeServer(lost) as server:
        connection, users = open_users(server)
        with pytest.raises(rowsocket.ConnectionLost) as raised, connection.group() as group:
            group.insert(users, [1, "a"])
        assert raised.value.outcome_unknown
        assert not raised.value.retryable


def test_without_reconnect_a_lost_connection_stays_lost() -> None:
    def lost(peer: Peer) -> None:
        peer.open()
        peer.read()

    with FakeServer(lost) as server:
        _, users = open_users(server, reconnect=False)
        for _ in range(2):
            with pytest.raises(rowsocket.ConnectionLost):
                users.get(1)


def test_a_connection_that_was_closed_while_idle_is_replaced_before_a_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rowsocket._link.FRESH_S", -1.0)
    closed = threading.Event()

    def closes(peer: Peer) -> None:
        peer.open()
        peer.close()
        closed.set()

    def takes_the_write(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t+\t2\t1\ta")
        peer.send(b"0\t1\n")

    with FakeServer(closes, takes_the_write) as server:
        _, users = open_users(server)
        assert closed.wait(10)
        assert users.insert([1, "a"]) is None


def test_an_answer_that_does_not_come_is_a_timeout_and_is_not_mistaken_for_the_next() -> None:
    gave_up = threading.Event()

    def silent(peer: Peer) -> None:
        peer.open()
        peer.read()
        assert gave_up.wait(10)

    def answers(peer: Peer) -> None:
        peer.open()
        peer.read()
        peer.send(b"0\t2\t2\tBob\n")

    with FakeServer(silent, answers) as server:
        connection, users = open_users(server)
        has_time(connection, 0.2)
        with pytest.raises(rowsocket.Timeout) as raised:
            users.update(1, [1])
        has_time(connection)
        assert raised.value.outcome_unknown
        gave_up.set()
        assert users.get(2) == ("2", "Bob")


def test_what_is_no_reply_closes_the_connection() -> None:
    def noise(peer: Peer) -> None:
        peer.open()
        peer.read()
        peer.send(b"HTTP/1.1 400 Bad Request\n")
        peer.until_closed()

    with FakeServer(noise) as server:
        _, users = open_users(server)
        with pytest.raises(rowsocket.ProtocolError):
            users.get(1)


@pytest.mark.parametrize("reply", [b"0\t3\t1\t2\t3\n", b"0\t2\t1\n", b"0\t2\t1\t\x01\x20\n"])
def test_rows_of_the_wrong_shape_close_the_connection(reply: bytes) -> None:
    def wrong_shape(peer: Peer) -> None:
        peer.open()
        peer.read()
        peer.send(reply)
        peer.until_closed()

    with FakeServer(wrong_shape) as server:
        _, users = open_users(server)
        with pytest.raises(rowsocket.ProtocolError):
            users.get(1)


def test_no_server_is_a_lost_connection() -> None:
    with FakeServer() as server:
        pass
    with pytest.raises(rowsocket.ConnectionLost, match=f"127.0.0.1:{server.port}") as raised:
        rowsocket.connect(port=server.port, text=True)
    assert not raised.value.outcome_unknown


def test_opening_twice_costs_one_request_and_two_descriptions_have_two_ids() -> None:
    def conversation(peer: Peer) -> None:
        peer.open(0)
        peer.open(1, b"id")
        peer.open(5, b"name")
        peer.expect(b"1\t=\t1\t1\t1\t0")
        peer.send(b"0\t1\t1\n")

    with FakeServer(conversation) as server:
        connection, _ = open_users(server)
        connection.open_index("app", "user", ["id", "name"])
        ids = connection.open_index("app", "user", ["id"])
        connection.open_index("app", "user", ["name"], id=5)
        with pytest.raises(ValueError, match="id 5"):
            connection.open_index("app", "user", [], id=5)
        assert ids.get(1) == ("1",)


def test_an_index_that_can_not_be_opened_again_fails_its_own_requests_only() -> None:
    def first(peer: Peer) -> None:
        peer.open(0)
        peer.open(1, b"id")
        peer.read()

    def second(peer: Peer) -> None:
        peer.open(0)
        peer.expect(b"P\t1\tapp\tuser\tPRIMARY\tid\t", b"0\t=\t1\t1\t1\t0", b"1\t=\t1\t1\t1\t0")
        peer.send(b"1\t1\topen_table\n0\t2\n2\t1\tstmtnum\n")

    with FakeServer(first, second) as server:
        connection, users = open_users(server)
        ids = connection.open_index("app", "user", ["id"])
        with connection.pipeline() as pipe:
            good, bad = pipe.get(users, 1), pipe.get(ids, 1)
        assert good.result() is None
        with pytest.raises(rowsocket.OpenTableError):
            bad.result()


def test_a_pipeline_is_one_send_and_keeps_each_requests_error() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0", b"0\t+\t2\t1\ta", b"0\t=\t1\t2\t1\t0\tD")
        peer.send(b"0\t2\t1\tAda\n1\t1\t121\n0\t1\t1\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with connection.pipeline() as pipe:
            found, inserted, deleted = pipe.get(users, 1), pipe.insert(users, [1, "a"]), pipe.delete(users, 2)
            with pytest.raises(RuntimeError):
                found.result()
        assert (found.result(), deleted.result()) == (("1", "Ada"), 1)
        with pytest.raises(rowsocket.DuplicateKey):
            inserted.result()
        with pytest.raises(rowsocket.DuplicateKey):
            pipe.check()


def test_a_pipeline_that_is_left_by_an_exception_sends_nothing() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.until_closed()

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with pytest.raises(KeyError), connection.pipeline() as pipe:
            pipe.insert(users, [1, "a"])
            raise KeyError
        connection.close()


def test_a_pipeline_cut_off_in_the_middle_of_writes_says_which_were_answered() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.read()
        peer.send(b"0\t1\t1\n0\t")
        peer.reset()

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        pipe = connection.pipeline()
        answered, unknown, read = pipe.delete(users, 1), pipe.delete(users, 2), pipe.get(users, 3)
        with pytest.raises(rowsocket.ConnectionLost) as raised:
            pipe.flush()
        assert raised.value.outcome_unknown
        assert answered.result() == 1
        assert isinstance(unknown.error, rowsocket.ConnectionLost)
        assert unknown.error.outcome_unknown
        assert isinstance(read.error, rowsocket.ConnectionLost)
        assert not read.error.outcome_unknown


def test_a_pipeline_larger_than_all_buffers_does_not_deadlock() -> None:
    count = 20_000
    row = b"0\t2\t1\t" + b"x" * 1000 + b"\n"

    def answers_as_it_reads(peer: Peer) -> None:
        peer.open()
        for _ in range(count):
            peer.read()
            peer.send(row)

    with FakeServer(answers_as_it_reads) as server:
        connection, users = open_users(server)
        with connection.pipeline() as pipe:
            found = [pipe.find(users, "k" * 500) for _ in range(count)]
        assert sum(len(one.result()) for one in found) == count


def test_a_closed_connection_stays_closed() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.until_closed()

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        connection.close()
        connection.close()
        with pytest.raises(rowsocket.ConnectionLost, match="closed by its user"):
            users.get(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_after_a_fork_parent_and_child_have_a_connection_each() -> None:
    def of_the_parent(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t2\t1\tparent\n")
        peer.until_closed()

    def of_the_child(peer: Peer) -> None:
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t2\t1\tchild\n")

    with FakeServer(of_the_parent, of_the_child, together=True) as server:
        connection, users = open_users(server)
        child = os.fork()
        if child == 0:
            os._exit(0 if users.get(1) == ("1", "child") else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert users.get(1) == ("1", "parent")
        connection.close()
