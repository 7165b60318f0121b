# SPDX-License-Identifier: GPL-2.0-only
"""TIMESTAMP where the clock of the time zone is put forward or back: keys, IN lists and filters find what
SQL's comparison of what the clock shows finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection
from support.time_zones import SUMMER, add_summer
from support.tree import ServerTree

# In UTC.
ROWS = [
    *("2024-03-31 00:59:59", "2024-03-31 01:00:00", "2024-03-31 01:30:00"),
    *("2024-10-26 23:59:59", "2024-10-27 00:00:00", "2024-10-27 00:29:59", "2024-10-27 00:30:00"),
    *("2024-10-27 00:30:01", "2024-10-27 00:59:59", "2024-10-27 01:00:00", "2024-10-27 01:29:59"),
    *("2024-10-27 01:30:00", "2024-10-27 01:30:01", "2024-10-27 01:59:59", "2024-10-27 02:00:00"),
]
# As the clock shows them.
KEYS = [
    *("2024-03-31 01:59:59", "2024-03-31 01:59:59.7", "2024-03-31 02:00:00", "2024-03-31 02:30:00"),
    *("2024-03-31 02:30:00.3", "2024-03-31 02:30:00.7", "2024-03-31 02:59:59.999999", "2024-03-31 03:00:00"),
    *("2024-03-31 03:00:00.3", "2024-10-27 01:59:59", "2024-10-27 02:00:00", "2024-10-27 02:30:00"),
    *("2024-10-27 02:30:00.3", "2024-10-27 02:29:59", "2024-10-27 02:59:59.9999999", "2024-10-27 03:00:00"),
]
OPERATORS = ("=", "<", "<=", ">", ">=")
INDEXES = {"k": "v", "down": "v DESC", "last": "n, v", "first": "v, n", "words": "v, w"}


@pytest.fixture(scope="module")
def summer(tree: ServerTree, template: Path) -> Iterator[Database]:
    """A database of a server in a time zone that changes its clock."""
    with RowSocketServer(tree, template) as server:
        add_summer(server)
        server.sql(f"SET GLOBAL time_zone = '{SUMMER}'")
        yield Database(server, "d")


class Times:
    """A table `t` with ROWS, each with three fractions, in a TIMESTAMP `v`."""

    def __init__(self, database: Database, wire: RawConnection, digits: int, engine: str) -> None:
        self.database, self.wire = database, wire
        keys = ", ".join(f"KEY {name} ({parts})" for name, parts in INDEXES.items())
        database.sql("SET time_zone = '+00:00'")
        database.sql(
            "CREATE OR REPLACE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT DEFAULT 1,"
            f" w VARCHAR(5) DEFAULT 'word', v TIMESTAMP({digits}) NOT NULL DEFAULT 0, {keys}) ENGINE={engine}"
        )
        for row in ROWS:
            for fraction in ("", ".3", ".7") if digits else ("",):
                database.sql("INSERT INTO t (v) VALUES (%s)", [row + fraction])
        database.sql("SET time_zone = 'Test/Summer'")
        for number, index in enumerate(["", *INDEXES]):
            assert wire.tokens("P", number, "d", "t", index, "id", "v") == [b"0", b"1"]

    def by_key(self, index: str, operator: str, key: str, *more: str | int) -> list[int]:
        number = 1 + list(INDEXES).index(index)
        values = {"last": (2, 1, key), "first": (2, key, 1)}.get(index, (1, key))
        return self.ids(number, operator, *values, 999, 0, *more)

    def by_filter(self, operator: str, value: str) -> list[int]:
        return self.ids(0, ">", 1, 0, 999, 0, "F", operator, 0, value)

    def by_sql(self, condition: str, *values: str) -> list[int]:
        query = f"SELECT id FROM t IGNORE INDEX ({', '.join(INDEXES)}) WHERE {condition} ORDER BY id"
        return [row[0] for row in self.database.sql(query, values)]

    def ids(self, *tokens: str | int) -> list[int]:
        reply = self.wire.tokens(*tokens)
        assert reply[0] == b"0", (tokens, reply)
        return sorted(int(value) for value in reply[2:])


@pytest.fixture
def times(summer: Database) -> Iterator[Callable[..., Times]]:
    """times(digits of a fraction, engine)"""
    assert isinstance(summer.server, RowSocketServer)
    with summer.server.raw("write") as wire:
        yield lambda digits, engine="InnoDB": Times(summer, wire, digits, engine)


@pytest.mark.parametrize("digits", [0, 3, 6])
@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_a_key_finds_what_sql_finds(times: Callable[..., Times], digits: int, engine: str) -> None:
    table = times(digits, engine)
    mirrored = str.maketrans("<>", "><")
    for operator in OPERATORS:
        for key in KEYS:
            expected = table.by_sql(f"v {operator} %s", key)
            for index in ("k", "last"):
                assert table.by_key(index, operator, key) == expected, (index, operator, key)
            expected = table.by_sql(f"v {operator.translate(mirrored)} %s", key)
            assert table.by_key("down", operator, key) == expected, (operator, key)
            expected = table.by_sql(f"(v, n) {operator} (%s, 1)", key)
            assert table.by_key("first", operator, key) == expected, (operator, key)


@pytest.mark.parametrize("digits", [0, 3])
def test_a_filter_finds_what_sql_finds(times: Callable[..., Times], digits: int) -> None:
    table = times(digits)
    for operator in (*OPERATORS, "!="):
        for value in KEYS:
            assert table.by_filter(operator, value) == table.by_sql(f"v {operator} %s", value), value


@pytest.mark.parametrize("digits", [0, 3])
def test_lists_ranges_and_prefixes_find_what_sql_finds(times: Callable[..., Times], digits: int) -> None:
    table = times(digits)
    assert table.by_key("k", "=", "", "@", 0, len(KEYS), *KEYS) == table.by_sql(
        f"v IN ({', '.join(['%s'] * len(KEYS))})", *KEYS
    )
    for key in KEYS:
        assert table.by_key("k", "=", key, "R") == table.by_sql("v = %s", key), key
        words = table.ids(1 + list(INDEXES).index("words"), "^=", 2, key, "wo", 999, 0)
        assert words == table.by_sql("v = %s AND w LIKE 'wo%%'", key), key
        for end in KEYS:
            expected = table.by_sql("v >= %s AND v < %s", key, end)
            assert table.by_key("k", ">=", key, "T", "<", 1, end) == expected, (key, end)
            assert table.by_key("k", "<", end, "T", ">=", 1, key) == expected, (key, end)


def test_a_change_meets_the_rows_of_both_hours(times: Callable[..., Times]) -> None:
    table = times(0)
    changed = table.by_sql("v = '2024-10-27 02:30:00'")
    assert len(changed) == 2
    assert table.wire.tokens(1, "=", 1, "2024-10-27 02:30:00", 9, 0, "U", 1000)[0] != b"0"  # two of one id
    assert table.wire.tokens(1, "=", 1, "2024-10-27 02:30:00", 9, 0, "D") == [b"0", b"1", b"2"]
    assert table.by_sql("v = '2024-10-27 02:30:00'") == []


# The system's own zones, as POSIX writes them: half an hour of summer time, and two hours.
SYSTEM_ZONES = {
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0": ("2023-09-30 14:30", "2024-04-06 14:00"),
    "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3": ("2023-03-25 23:30", "2023-10-28 23:30"),
}
QUARTERS = range(0, 4 * 3600, 900)


@pytest.mark.parametrize("zone", SYSTEM_ZONES)
def test_the_clock_of_the_system_may_change_by_other_than_an_hour(
    tree: ServerTree, template: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    with RowSocketServer(tree, template) as server, server.raw("read") as wire:
        database = Database(server, "d")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v TIMESTAMP NOT NULL, KEY k (v))")
        database.sql("SET time_zone = '+00:00'")
        starts = [datetime.fromisoformat(text) for text in SYSTEM_ZONES[zone]]
        for moment in (start + timedelta(seconds=after) for start in starts for after in QUARTERS):
            database.sql("INSERT INTO t (v) VALUES (%s)", [moment])
        database.sql("SET time_zone = 'SYSTEM'")
        offset = timedelta(hours=10.5 if zone.startswith("<+10") else 0)
        keys = [start + offset + timedelta(seconds=after) for start in starts for after in QUARTERS]
        assert wire.tokens("P", 1, "d", "t", "k", "id") == [b"0", b"1"]
        assert wire.tokens("P", 2, "d", "t", "", "id", "v") == [b"0", b"1"]
        for operator in OPERATORS:
            for key in map(str, keys):
                query = f"SELECT id FROM t IGNORE INDEX (k) WHERE v {operator} %s ORDER BY id"
                expected = [row[0] for row in database.sql(query, [key])]
                by_key = wire.tokens(1, operator, 1, key, 99, 0)
                assert sorted(map(int, by_key[2:])) == expected, (operator, key)
                by_filter = wire.tokens(2, ">", 1, 0, 99, 0, "F", operator, 0, key)
                assert sorted(map(int, by_filter[2:])) == expected, (operator, key)
