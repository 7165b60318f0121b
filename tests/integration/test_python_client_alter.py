# SPDX-License-Identifier: GPL-2.0-only
"""The Python client's values after ALTER TABLE has given a column another type."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
from collections.abc import Callable
from typing import Any

import pytest

import rowsocket
from rowsocket import _session, aio
from support.mariadb import Database, RowSocketServer

TEXT = "VARCHAR(20) CHARACTER SET utf8mb4"

NOTICED: list[tuple[str, str, str, Any]] = [
    ("DATE", TEXT, "'ü'", "ü"),
    ("DATE", TEXT, "'2024-1-1'", "2024-1-1"),
    ("DATE", "DATETIME", "'2024-02-29 01:02:03'", datetime.datetime(2024, 2, 29, 1, 2, 3)),
    ("DATETIME", TEXT, "'ü'", "ü"),
    ("DATETIME", "DATE", "'2024-02-29'", datetime.date(2024, 2, 29)),
    ("TIME", TEXT, "'ü'", "ü"),
    ("TIME", "DATETIME", "'2024-02-29 01:02:03'", datetime.datetime(2024, 2, 29, 1, 2, 3)),
    ("DECIMAL(5,2)", TEXT, "'ü'", "ü"),
    ("INT", TEXT, "'ü'", "ü"),
    ("INT", "DECIMAL(5,2)", "1.5", decimal.Decimal("1.50")),
    ("DOUBLE", TEXT, "'ü'", "ü"),
    (TEXT, "VARBINARY(20)", "x'FF00'", b"\xff\0"),
    (TEXT, "BLOB", "x'FF00'", b"\xff\0"),
]
"""A column's type before and after, and a value that the type before can not have: as SQL, and as it is
read."""

UNNOTICED: list[tuple[str, str, str, Any, Any]] = [
    (TEXT, "INT", "5", "5", 5),
    (TEXT, "DATE", "'2024-02-29'", "2024-02-29", datetime.date(2024, 2, 29)),
    ("VARBINARY(20)", TEXT, "'a'", b"a", "a"),
    ("DECIMAL(5,2)", "INT", "5", decimal.Decimal(5), 5),
    ("DOUBLE", "INT", "5", 5.0, 5),
]
"""The same with a value that could be of both types: as SQL, as it is read at first, and later."""

READ = ("connection", "pool", "asyncio connection", "asyncio pool")


def around(
    kind: str, address: tuple[str, int], database: str, alter: Callable[[], None], reads: int = 1
) -> list[Any]:
    """What the row is before `alter`, and then `reads` times, to a client of this kind."""
    return {
        "connection": lambda: _around(rowsocket.connect(*address, database=database), alter, reads),
        "pool": lambda: _around(rowsocket.ConnectionPool(*address, database=database), alter, reads),
        "asyncio connection": lambda: asyncio.run(_around_connection(address, database, alter, reads)),
        "asyncio pool": lambda: asyncio.run(_around_pool(address, database, alter, reads)),
    }[kind]()


def _around(
    client: rowsocket.Connection | rowsocket.ConnectionPool, alter: Callable[[], None], reads: int
) -> list[Any]:
    with client:
        t = client.table("t", ["v"])
        before = t.get(1)
        alter()
        return [before, *(t.get(1) for _ in range(reads))]


async def _around_connection(
    address: tuple[str, int], database: str, alter: Callable[[], None], reads: int
) -> list[Any]:
    return await _around_awaited(await aio.connect(*address, database=database), alter, reads)


async def _around_pool(
    address: tuple[str, int], database: str, alter: Callable[[], None], reads: int
) -> list[Any]:
    return await _around_awaited(aio.ConnectionPool(*address, database=database), alter, reads)


async def _around_awaited(
    client: aio.Connection | aio.ConnectionPool, alter: Callable[[], None], reads: int
) -> list[Any]:
    async with client:
        t = await client.table("t", ["v"])
        before = await t.get(1)
        alter()
        return [before, *(await asyncio.gather(*(t.get(1) for _ in range(reads))))]


def altered(database: Database, sql_type: str, value: str) -> Callable[[], None]:
    """What gives the column another type, and then a value."""

    def alter() -> None:
        database.sql(f"ALTER TABLE t MODIFY v {sql_type}")
        database.sql(f"UPDATE t SET v = {value}")

    return alter


def table(database: Database, sql_type: str) -> None:
    """The table, with one row without a value."""
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, v {sql_type})")
    database.sql("INSERT INTO t VALUES (1, NULL)")


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize(("before", "after", "value", "read"), NOTICED)
def test_a_value_that_the_old_type_can_not_be_is_of_the_new_one_at_once(
    server: RowSocketServer, database: Database, kind: str, before: str, after: str, value: str, read: Any
) -> None:
    table(database, before)
    alter = altered(database, after, value)
    rows = around(kind, server.read_address(), database.name, alter, reads=3)
    assert [(row, type(row[0])) for row in rows[1:]] == [((read,), type(read))] * 3


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize(("before", "after", "value", "read"), [(*case[:3], case[4]) for case in UNNOTICED])
def test_a_value_of_both_types_is_of_the_new_one_once_the_types_are_old(
    server: RowSocketServer,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    before: str,
    after: str,
    value: str,
    read: Any,
) -> None:
    monkeypatch.setattr(_session, "NEW_TYPES_S", 0.0)
    table(database, before)
    rows = around(kind, server.read_address(), database.name, altered(database, after, value))
    assert [(row, type(row[0])) for row in rows[1:]] == [((read,), type(read))]


@pytest.mark.parametrize(("before", "after", "value", "read"), [case[:4] for case in UNNOTICED])
def test_a_value_of_both_types_is_of_the_old_one_until_then(
    server: RowSocketServer,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    after: str,
    value: str,
    read: Any,
) -> None:
    monkeypatch.setattr(_session, "NEW_TYPES_S", 1e9)
    table(database, before)
    rows = around("connection", server.read_address(), database.name, altered(database, after, value))
    assert [(row, type(row[0])) for row in rows[1:]] == [((read,), type(read))]


@dataclasses.dataclass
class Named:
    id: int
    v: Any


def test_rows_with_names_are_of_the_new_types_too(server: RowSocketServer, database: Database) -> None:
    table(database, "DATE")
    with rowsocket.connect(*server.read_address(), database=database.name) as client:
        objects, dicts = client.table("t", Named), client.table("t", ["v"]).as_dicts()
        assert objects.get(1) == Named(1, None)
        assert dicts.get(1) == {"v": None}
        altered(database, TEXT, "'ü'")()
        assert objects.get(1) == Named(1, "ü")
        assert dicts.get(1) == {"v": "ü"}


def test_a_model_is_not_asked_to_take_a_value_of_the_wrong_type(
    server: RowSocketServer, database: Database
) -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", v=(decimal.Decimal | None, ...))
    table(database, "INT")
    with rowsocket.connect(*server.read_address(), database=database.name) as client:
        t = client.table("t", model)
        assert t.get(1) == model(v=None)
        altered(database, "DECIMAL(5,2)", "1.5")()
        assert t.get(1) == model(v=decimal.Decimal("1.50"))


def test_a_write_that_returns_rows_is_done_once(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, v DATE, n INT DEFAULT 0)")
    database.sql("INSERT INTO t (id) VALUES (1)")
    with rowsocket.connect(*server.write_address(), database=database.name) as client:
        t = client.table("t", ["n", "v"])
        assert t.increment_and_fetch(1) == [(1, None)]
        altered(database, TEXT, "'ü'")()
        assert t.increment_and_fetch(1) == [(2, "ü")]
        altered(database, "VARBINARY(20)", "x'FF'")()
        with client.group() as group:
            changed, read = group.increment_and_fetch(t, 1), group.get(t, 1)
        assert (changed.result(), read.result()) == ([(3, b"\xff")], (3, b"\xff"))
    assert database.value("SELECT n FROM t") == 3


def test_all_requests_of_a_pipeline_are_of_the_new_types(server: RowSocketServer, database: Database) -> None:
    table(database, "DATE")
    with rowsocket.connect(*server.read_address(), database=database.name) as client:
        indexes = [client.table("t", columns) for columns in (["v"], ["id", "v"])]
        altered(database, TEXT, "'ü'")()
        with client.pipeline() as pipe:
            rows = [pipe.get(index, 1) for index in indexes * 2]
        assert [row.result() for row in rows] == [("ü",), (1, "ü")] * 2


def test_a_column_that_is_gone_is_an_error_and_the_others_go_on(
    server: RowSocketServer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_session, "NEW_TYPES_S", 0.0)
    table(database, "INT")
    with rowsocket.connect(*server.read_address(), database=database.name) as client:
        gone, stays = client.table("t", ["v"]), client.table("t", ["id"])
        assert (gone.get(1), stays.get(1)) == ((None,), (1,))
        database.sql("ALTER TABLE t DROP v")
        with pytest.raises(rowsocket.RequestError, match="fld"):
            gone.get(1)
        assert stays.get(1) == (1,)
        database.sql("ALTER TABLE t ADD v VARCHAR(9) DEFAULT 'back'")
        assert gone.get(1) == ("back",)
