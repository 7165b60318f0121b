# SPDX-License-Identifier: GPL-2.0-only
"""What existing clients send and the original took is served, as long as no stored value is altered silently;
unless strict."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection, token

TIMES = {
    "DATE": ["0000-00-00", "2024-00-00", "2024-00-15", "2024-02-28", "2024-02-29", "2024-03-01"],
    "DATETIME": ["0000-00-00 00:00:00", "2024-02-28 00:00:00", "2024-02-29 12:00:00", "2024-03-01 00:00:00"],
    "DATETIME(3)": ["0000-00-00 00:00:00", "2024-02-29 12:00:00.001", "2024-02-29 12:00:00.002"],
    "TIMESTAMP": [
        "0000-00-00 00:00:00",
        "1999-12-31 23:59:59",
        "2024-02-28 00:00:00",
        "2024-02-29 12:00:00",
        "2024-03-01 00:00:00",
        "2038-01-19 03:14:07",
    ],
    "TIME": ["-10:00:00", "00:00:00", "10:00:00", "830:00:00"],
}
NO_TIMES = [
    "0000-00-00",
    "",
    "abc",
    "2024-02-30",
    "2024-13-01",
    "2024-02-29x",
    "2024-00-00",
    "99:99:99",
    "1",
    "-1",
    "10000-01-01",
]
NO_TIMES += [
    "2024-02-29 25:00:00",
    "2024-02-29 12:00:00.0015",
    "2000-00-00",
    "2024-03-00",
    "1900-01-01",
    "2100-01-01",
    "25:00:00",
    "2024-02-30 12:00:00",
]

NUMBERS = {
    "INT": ["-5", "0", "1", "12", "2147483647"],
    "TINYINT UNSIGNED": ["0", "1", "12", "255"],
    "BIGINT": ["-5", "0", "12", "9223372036854775807"],
    "DECIMAL(6,2)": ["-5.50", "0.00", "12.00", "12.34"],
    "DOUBLE": ["-5.5", "0", "12", "12.25"],
}
NO_NUMBERS = ["abc", "12abc", "12.3.4", " 12 ", "-", "1e1", "1e1x", "-5x", "12,5", "0x10", " 1e1", "\t12x"]

OPERATORS = ("=", "<", "<=", ">", ">=")


@pytest.fixture
def relaxed(server: RowSocketServer, database: Database) -> Database:
    """A database whose SQL session stores any date."""
    database.sql("SET sql_mode = 'ALLOW_INVALID_DATES'")
    return database


def with_values(database: Database, column_type: str, values: list[str]) -> None:
    """A table `t` of these values of a type, with an index on them."""
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v {column_type} NULL, KEY v (v))")
    for value in values:
        database.sql("INSERT INTO t (v) VALUES (%s)", [value])


def found(wire: RawConnection, number: int, operator: str, *rest: object) -> list[int]:
    """The ids that a find gives, in order."""
    reply = wire.tokens(number, operator, *rest)  # type: ignore[arg-type]
    assert reply[0] == b"0", reply
    return sorted(int(value) for value in reply[2:])


@pytest.mark.parametrize("column_type", [*TIMES, *NUMBERS])
def test_a_key_or_filter_that_is_no_value_finds_what_sql_finds(
    relaxed: Database, raw: Callable[[str], RawConnection], column_type: str
) -> None:
    with_values(relaxed, column_type, (TIMES | NUMBERS)[column_type])
    wire = raw("read")
    assert wire.tokens("P", 1, relaxed.name, "t", "v", "id") == [b"0", b"1"]
    assert wire.tokens("P", 2, relaxed.name, "t", "", "id", "v") == [b"0", b"1"]
    for operator, value in itertools.product(OPERATORS, NO_TIMES if column_type in TIMES else NO_NUMBERS):
        query = f"SELECT id FROM t IGNORE INDEX (v) WHERE v {operator} %s ORDER BY id"
        expected = [row[0] for row in relaxed.sql(query, [value])]
        assert found(wire, 1, operator, 1, value, 99, 0) == expected, (operator, value, "key")
        filtered = found(wire, 2, ">", 1, 0, 99, 0, "F", operator, 0, value)
        assert filtered == expected, (operator, value, "filter")


@pytest.fixture
def writing(database: Database, raw: Callable[[str], RawConnection]) -> RawConnection:
    """A connection with the columns `id` and `n` of a table under id 1, and `n` alone under id 2."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT, m INT)")
    database.sql("INSERT INTO t VALUES (1, 10, 20)")
    wire = raw("write")
    for number, columns in ((1, "id,n"), (2, "n"), (3, "n,m")):
        assert wire.tokens("P", number, database.name, "t", "", columns) == [b"0", b"1"]
    return wire


def test_values_beyond_the_columns_are_dropped(database: Database, writing: RawConnection) -> None:
    assert writing.tokens(1, "+", 5, 2, 20, 7, "x", None) == [b"0", b"1"]
    assert writing.tokens(2, "=", 1, 1, 1, 0, "U", 11, 99, "x") == [b"0", b"1", b"1"]
    assert writing.tokens(2, "=", 1, 1, 1, 0, "+", 1, 99, "x") == [b"0", b"1", b"1"]
    assert database.sql("SELECT * FROM t ORDER BY id") == [(1, 12, 20), (2, 20, None)]


def test_an_empty_amount_leaves_a_number_alone(database: Database, writing: RawConnection) -> None:
    assert writing.tokens(3, "=", 1, 1, 1, 0, "+", "", 5) == [b"0", b"1", b"1"]
    assert writing.tokens(3, "=", 1, 1, 1, 0, "-", 3, "") == [b"0", b"1", b"1"]
    assert database.sql("SELECT * FROM t") == [(1, 7, 25)]


def test_lenience_is_counted_and_noted_once_per_connection(
    server: RowSocketServer, writing: RawConnection
) -> None:
    counted, log_before = server.counter("requests_lenient"), len(server.log_text())
    for number in range(3):
        assert writing.tokens(1, "+", 3, 50 + number, 1, 1) == [b"0", b"1"]
    assert writing.tokens(1, "+", 2, 60, 1) == [b"0", b"1"]
    assert server.counter("requests_lenient") == counted + 3
    assert server.log_text()[log_before:].count("rowsocket_strict would refuse") == 1


@pytest.fixture
def strict(start: Start) -> Iterator[tuple[Database, RawConnection]]:
    """A strict server, with the table of `writing`, and `d`, whose key is a date."""
    server = start(RowSocketServer, {"rowsocket-strict": "ON"})
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    database.sql("CREATE TABLE d (v DATE PRIMARY KEY)")
    with server.raw("write") as wire:
        assert wire.ask_all(b"P\t1\td\tt\t\tid,n", b"P\t2\td\tt\t\tn", b"P\t3\td\td\t\tv\tv") == [b"0\t1"] * 3
        yield database, wire


STRICT = {
    "surplus in an insert": (b"1\t+\t3\t1\t1\t1", b"2\t1\tfldnum"),
    "surplus in an update": (b"2\t=\t1\t1\t1\t0\tU\t1\t1", b"2\t1\tfldnum"),
    "surplus in an increment": (b"2\t=\t1\t1\t1\t0\t+\t1\t1", b"2\t1\tfldnum"),
    "an empty amount": (b"2\t=\t1\t1\t1\t0\t+\t", b"1\t1\t1292"),
    "a key that is no number": (b"1\t=\t1\tabc", b"1\t1\t1366"),
    "a key that is no date": (b"3\t=\t1\tabc", b"1\t1\t1292"),
    "a filter that is no date": (b"3\t>\t1\t2000-01-01\t1\t0\tF\t=\t0\tabc", b"1\t1\t1292"),
}


@pytest.mark.parametrize("what", STRICT)
def test_a_strict_server_refuses(strict: tuple[Database, RawConnection], what: str) -> None:
    database, wire = strict
    database.sql("INSERT INTO t VALUES (1, 1)")
    request, reply = STRICT[what]
    assert wire.ask(request) == reply
    assert database.sql("SELECT * FROM t") == [(1, 1)]


def test_strictness_can_be_changed_while_the_server_runs(strict: tuple[Database, RawConnection]) -> None:
    database, wire = strict
    surplus = b"\t".join([b"1", b"+", b"3", b"5", b"1", token("x")])
    assert wire.ask(surplus) == b"2\t1\tfldnum"
    database.sql("SET GLOBAL rowsocket_strict = OFF")
    assert wire.ask(surplus) == b"0\t1"
    assert wire.tokens(3, "=", 1, "abc") == [b"0", b"1"]


def test_a_find_that_compares_as_sql_does_leaves_writes_as_strict_as_they_were(
    database: Database, raw: Callable[[str], RawConnection]
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, d DATE, n TINYINT, v VARCHAR(3), KEY d (d), KEY n (n))")
    wire = raw("write")
    for number, index, columns in ((1, "d", "id,d"), (2, "n", "id,n"), (3, "", "id,v")):
        assert wire.tokens("P", number, database.name, "t", index, columns) == [b"0", b"1"]
    inserts = [b"1\t+\t2\t1\t2001-02-30", b"2\t+\t2\t1\t128", b"3\t+\t2\t1\tabcd"]
    refusals = [b"1\t1\t1292", b"1\t1\t1264", b"1\t1\t1406"]
    for find in (b"1\t=\t1\t2001-02-30", b"1\t>\t1\tabc", b"2\t<\t1\tabc", b"2\t=\t1\t128"):
        requests = [request for insert in inserts for request in (find, insert)]
        assert wire.ask_all(*requests) == [reply for refusal in refusals for reply in (b"0\t2", refusal)], (
            find
        )


@pytest.mark.parametrize("column_type", ["INT", "DECIMAL(6,2)", "DOUBLE", "YEAR"])
def test_an_empty_key_is_0_also_where_the_server_is_strict(
    strict: tuple[Database, RawConnection], column_type: str
) -> None:
    database, wire = strict
    database.sql(f"CREATE TABLE e (id INT PRIMARY KEY, v {column_type}, KEY v (v))")
    database.sql("INSERT INTO e VALUES (1, 0), (2, 2001)")
    assert wire.ask(b"P\t4\td\te\tv\tid\tv") == b"0\t1"
    assert wire.ask(b"4\t=\t1\t\t9\t0") == b"0\t1\t1"
    assert wire.ask(b"4\t>\t1\t\t9\t0") == b"0\t1\t2"
