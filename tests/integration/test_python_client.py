# SPDX-License-Identifier: GPL-2.0-only
"""What the Python client makes of a real server's rows, types, errors and time zone."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import zoneinfo
from collections.abc import Iterator
from typing import Any

import pytest

import rowsocket
from rowsocket import aio
from support.mariadb import Database, OriginalServer, RowSocketServer

COLUMNS: dict[str, tuple[str, Any]] = {
    "small": ("TINYINT UNSIGNED", 255),
    "big": ("BIGINT UNSIGNED", 2**64 - 1),
    "filled": ("INT(5) ZEROFILL", 42),
    "the_year": ("YEAR", 2024),
    "price": ("DECIMAL(20,4)", decimal.Decimal("-12.3400")),
    "ratio": ("DOUBLE", 0.1),
    "part": ("FLOAT", 0.5),
    "born": ("DATE", datetime.date(1815, 12, 10)),
    "seen": ("DATETIME(6)", datetime.datetime(2024, 2, 29, 1, 2, 3, 4)),
    "changed": ("TIMESTAMP(3) NULL", datetime.datetime(2024, 7, 1, 12, 0, 0, 500000)),
    "lasted": ("TIME(2)", -datetime.timedelta(hours=100, milliseconds=250)),
    "name": ("VARCHAR(40)", "Ada\t🐬\n"),
    "old_name": ("VARCHAR(40) CHARACTER SET latin1", "Müller"),
    "story": ("TEXT", "a\0b"),
    "state": ("ENUM('on','off')", "off"),
    "flags": ("SET('a','b')", "a,b"),
    "document": ("JSON", '{"a": 1}'),
    "number": ("UUID", "123e4567-e89b-12d3-a456-426655440000"),
    "address": ("INET6", "2001:db8::1"),
    "short_bytes": ("BINARY(4)", b"\0\1\2\xff"),
    "long_bytes": ("LONGBLOB", bytes(range(256))),
    "bits": ("BIT(9)", b"\x01\xff"),
}
"""Of each type a value, as it is sent and as it is read."""


@pytest.fixture
def client(server: RowSocketServer, database: Database) -> Iterator[rowsocket.Connection]:
    """A client with typed values on the write port."""
    with rowsocket.connect(*server.write_address(), database=database.name) as connection:
        yield connection


def test_what_was_sent_is_read_and_is_of_the_same_type(
    database: Database, client: rowsocket.Connection
) -> None:
    definition = ", ".join(f"{name} {sql_type}" for name, (sql_type, _) in COLUMNS.items())
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, {definition}) CHARSET utf8mb4")
    t = client.table("t", ["id", *COLUMNS]).as_dicts()
    sent = {"id": 1, **{name: value for name, (_, value) in COLUMNS.items()}}
    t.insert(sent)
    t.insert({"id": 2})
    read = t.get(1)
    assert read == sent
    assert read is not None
    assert {name: type(value) for name, value in read.items()} == {
        name: type(value) for name, value in sent.items()
    }
    assert t.get(2) == {"id": 2, **dict.fromkeys(COLUMNS)}


def test_every_type_is_told_as_the_information_schema_words_it(
    server: RowSocketServer, database: Database
) -> None:
    definition = ", ".join(f"{name} {sql_type}" for name, (sql_type, _) in COLUMNS.items())
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, {definition}) CHARSET utf8mb4")
    query = "SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = %s"
    types: dict[str, str] = {str(name): str(word) for name, word in database.sql(query, [database.name])}
    with server.raw("read") as raw:
        names = ",".join(types)
        reply = raw.ask(f"P\t1\t{database.name}\tt\t\t{names}\t\ttypes".encode())
    assert reply.decode().split("\t")[2:] == list(types.values())


def test_a_key_may_be_of_any_of_the_types(database: Database, client: rowsocket.Connection) -> None:
    database.sql("CREATE TABLE t (day DATE, at TIME, price DECIMAL(5,2), PRIMARY KEY (day, at, price))")
    t = client.table("t", ["day", "at", "price"])
    row = (datetime.date(2024, 2, 29), datetime.timedelta(minutes=90), decimal.Decimal("1.50"))
    t.insert(row)
    assert t.get(*row) == row


@dataclasses.dataclass
class Page:
    url: str
    visits: int = 0
    title: str | None = None


def test_rows_of_a_dataclass_and_values_by_name(database: Database, client: rowsocket.Connection) -> None:
    database.sql("CREATE TABLE page (url VARCHAR(99) PRIMARY KEY, visits INT NOT NULL, title VARCHAR(99))")
    pages = client.table("page", Page)
    pages.insert(Page("/a", 1, "A"))
    assert pages.update("/a", {"title": "B"}) == 1
    assert pages.get("/a") == Page("/a", 1, "B")
    assert pages.update_and_fetch("/a", {"title": None}) == [Page("/a", 1, None)]
    assert pages.get("/a", columns=["url", "title"]) == Page("/a")
    pages.upsert({"url": "/a", "visits": 5}, add=["visits"])
    pages.insert_many([Page("/b", 2), Page("/c", 3)])
    assert [page.visits for page in pages.find("", ">=", limit=None)] == [6, 2, 3]


def test_after_alter_table_the_types_are_the_new_ones(
    database: Database, client: rowsocket.Connection
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    t = client.table("t", ["v"])
    t._executor.table("t", ["id", "v"]).insert([1, 7])
    assert t.get(1) == (7,)
    database.sql("ALTER TABLE t MODIFY v VARCHAR(20)")
    database.sql("UPDATE t SET v = 'seven'")
    assert t.get(1) == ("seven",)
    assert t.get(1) == ("seven",)


def test_an_instant_comes_back_whatever_the_zones(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NULL, naive DATETIME)")
    database.sql("INSERT INTO t VALUES (1, FROM_UNIXTIME(1719828000), '2024-07-01 12:00:00')")
    offset = database.value("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP, NOW())")
    zone = datetime.timezone(datetime.timedelta(seconds=int(offset)))
    with rowsocket.connect(*server.write_address(), database=database.name, time_zone=zone) as connection:
        t = connection.table("t", ["id", "at", "naive"])
        row = t.get(1)
        assert row is not None
        assert row[1].timestamp() == 1719828000
        assert row[2] == datetime.datetime(2024, 7, 1, 12)
        instant = datetime.datetime(2024, 1, 1, 15, tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo"))
        t.update(1, {"at": instant})
    assert database.value("SELECT UNIX_TIMESTAMP(at) FROM t") == instant.timestamp()


def test_a_mistyped_column_is_named_in_the_error(database: Database, client: rowsocket.Connection) -> None:
    database.sql("CREATE TABLE user (id INT PRIMARY KEY)")
    with pytest.raises(rowsocket.RequestError, match=f"no column 'custmer' in {database.name}.user"):
        client.table("user", ["id", "custmer"])
    with pytest.raises(rowsocket.RequestError, match=f"no index 'by_name' in {database.name}.user"):
        client.table("user", ["id"], index="by_name")


def test_detail_is_for_the_connections_that_asked_for_it(
    server: RowSocketServer, database: Database, client: rowsocket.Connection
) -> None:
    database.sql("CREATE TABLE user (id INT PRIMARY KEY, n TINYINT)")
    users = client.table("user", ["id", "n"])
    with pytest.raises(rowsocket.InvalidValue) as raised:
        users.insert([1, 1000])
    assert raised.value.detail
    with (
        rowsocket.connect(*server.write_address(), text=True) as plain,
        pytest.raises(rowsocket.InvalidValue) as raised,
    ):
        plain.open_index(database.name, "user", ["id", "n"]).insert([1, 1000])
    assert not raised.value.detail


def test_tasks_share_a_connection(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))")

    async def work() -> None:
        async with await aio.connect(*server.write_address(), database=database.name) as connection:
            t = await connection.table("t", ["id", "v"])
            await asyncio.gather(*(t.insert([number, f"value {number}"]) for number in range(200)))
            rows = await asyncio.gather(*(t.get(number) for number in range(200)))
            assert rows == [(number, f"value {number}") for number in range(200)]
            assert await connection.ping() > 0

    asyncio.run(work())


def test_the_original_plugin_gives_text(original: OriginalServer) -> None:
    original.sql("CREATE DATABASE typed")
    original.sql("CREATE TABLE typed.t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB")
    original.sql("INSERT INTO typed.t VALUES (1, 'one')")
    with rowsocket.connect(unix_socket=str(original.folder / "hs-read")) as connection:
        assert connection.open_index("typed", "t", ["id", "v"]).get(1) == ("1", "one")
        assert connection.ping() > 0
