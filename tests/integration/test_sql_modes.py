# SPDX-License-Identifier: GPL-2.0-only
"""What the server's settings change about values: rounding, NULL in a TIMESTAMP, names without case. As SQL
decides."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Literal

import pymysql
import pytest

import rowsocket
from rowsocket import Connection, Filter
from support.mariadb import Database, RowSocketServer, Start
from support.twins import Twins

ROWS = {
    "TIME(0)": ["-00:00:02", "-00:00:01", "00:00:00", "10:00:00", "10:00:01", "10:00:02", "23:59:59"],
    "TIME(3)": ["-00:00:01.500", "10:00:00.001", "10:00:00.002", "10:00:00.003"],
    # A month 0 lies between the last second of a year and the first of the next.
    "DATE": ["2019-12-30", "2019-12-31", "2020-00-00", "2020-01-01"],
    "DATETIME(0)": [
        "2019-12-31 23:59:59",
        "2020-00-00 00:00:00",
        "2020-01-01 00:00:00",
        "2024-02-29 23:59:58",
        "2024-02-29 23:59:59",
        "2024-03-01 00:00:00",
        "2024-03-01 00:00:01",
    ],
    "DATETIME(3)": [
        "2019-12-31 23:59:59.999",
        "2020-00-00 00:00:00.000",
        "2024-02-29 23:59:59.998",
        "2024-02-29 23:59:59.999",
        "2024-03-01 00:00:00.000",
    ],
}
SEARCHED = {
    "TIME(0)": [
        "10:00:00.4",
        "10:00:00.5",
        "10:00:00.6",
        "10:00:00.999999",
        "-00:00:01.5",
        "-00:00:01.4",
        "23:59:59.7",
    ],
    "TIME(3)": ["10:00:00.0014", "10:00:00.0015", "10:00:00.0025", "-00:00:01.5005"],
    "DATE": [
        "2019-12-31 23:59:59.5",
        "2019-12-31 23:59:59.4",
        "2019-12-31 12:00:00",
        "2019-12-30 23:59:59.9",
    ],
    "DATETIME(0)": [
        "2019-12-31 23:59:59.5",
        "2024-02-29 23:59:59.4",
        "2024-02-29 23:59:59.5",
        "2024-02-29 23:59:58.9",
        "2024-03-01 00:00:00.1",
    ],
    "DATETIME(3)": [
        "2019-12-31 23:59:59.9995",
        "2024-02-29 23:59:59.9984",
        "2024-02-29 23:59:59.9985",
        "2024-02-29 23:59:59.9995",
    ],
}


@pytest.fixture
def rounding(start: Start) -> Iterator[tuple[Database, Connection]]:
    """A server that rounds fractions of a second."""
    server = start(RowSocketServer, {"sql-mode": "STRICT_TRANS_TABLES,TIME_ROUND_FRACTIONAL"})
    database = Database(server, "d")
    with rowsocket.connect(*server.write_address(), text=True) as writer:
        yield database, writer


@pytest.mark.parametrize("column_type", ROWS)
def test_ranges_and_filters_of_times_where_fractions_are_rounded(
    rounding: tuple[Database, Connection], column_type: str
) -> None:
    database, writer = rounding
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v {column_type}, KEY v (v))")
    for value in ROWS[column_type]:
        database.sql("INSERT INTO t (v) VALUES (%s)", [value])
    by_value = writer.open_index("d", "t", "id", "v")
    by_id = writer.open_index("d", "t", "id", "PRIMARY", "v")
    sql_type = "TIME(6)" if column_type.startswith("TIME") else "DATETIME(6)"
    operators: tuple[Literal["<", "<=", "=", ">=", ">"], ...] = ("<", "<=", "=", ">=", ">")
    for operator, value in itertools.product(operators, SEARCHED[column_type]):
        query = f"SELECT id FROM t IGNORE INDEX (v) WHERE v {operator} CAST(%s AS {sql_type}) ORDER BY id"
        expected = [str(row[0]) for row in database.sql(query, [value])]
        in_range = sorted(str(row[0]) for row in by_value.find(value, op=operator, limit=None))
        filtered = [
            str(row[0]) for row in by_id.find(0, op=">", limit=None, filters=[Filter("v", operator, value)])
        ]
        assert (in_range, filtered) == (expected, expected), (operator, value)


@pytest.mark.parametrize("setting", ["ON", "OFF"])
@pytest.mark.parametrize("trigger", [False, True])
def test_null_into_a_timestamp_that_may_not_be_null_is_now(start: Start, setting: str, trigger: bool) -> None:
    server = start(RowSocketServer, {"explicit-defaults-for-timestamp": setting})
    database = Database(server, "d")
    with (
        rowsocket.connect(*server.write_address(), text=True) as writer,
        contextlib.closing(
            Twins(database, writer, "id INT PRIMARY KEY, v TIMESTAMP NOT NULL, w TIMESTAMP(3) NOT NULL")
        ) as twins,
    ):
        if trigger:
            for name in ("t", "twin"):
                database.sql(
                    f"CREATE TRIGGER {name}_b BEFORE INSERT ON {name} FOR EACH ROW SET NEW.id = NEW.id + 1"
                )
        index = twins.index("id,v,w")
        index.insert([1, None, None])
        index.insert([5, "2024-01-01 00:00:00", "2024-01-01 00:00:00"])
        index.update(6 if trigger else 5, [6 if trigger else 5, None])
        twins.sql(
            "INSERT INTO twin VALUES (1, NULL, NULL), (5, '2024-01-01 00:00:00', '2024-01-01 00:00:00')"
        )
        twins.sql("UPDATE twin SET v = NULL WHERE id >= 5")
        columns = "id, v >= NOW() - INTERVAL 1 MINUTE, w >= NOW() - INTERVAL 1 MINUTE"
        assert twins.rows(columns) == twins.sql(f"SELECT {columns} FROM twin ORDER BY 1")


@pytest.mark.parametrize(
    "database_name, table", [("MÜNCHEN", "STRASSE"), ("Ärger", "Straße"), ("ДОМ", "Улица")]
)
def test_names_without_case_are_those_that_sql_finds(start: Start, database_name: str, table: str) -> None:
    server = start(RowSocketServer, {"lower-case-table-names": 1})
    server.sql(f"CREATE DATABASE `{database_name}`")
    server.sql(f"CREATE TABLE `{database_name}`.`{table}` (id INT PRIMARY KEY)")
    with server.raw("write") as wire:
        assert wire.tokens("P", 1, database_name, table, "", "id") == [b"0", b"1"]
        assert wire.tokens("P", 2, database_name.lower(), table.lower(), "", "id") == [b"0", b"1"]
        assert wire.tokens(1, "+", 1, 1) == [b"0", b"1"]
    assert server.sql(f"SELECT * FROM `{database_name}`.`{table}`") == [(1,)]


@pytest.mark.parametrize(
    ("mode", "default"),
    [
        ("NO_ZERO_DATE", "DATE NOT NULL DEFAULT '0000-00-00'"),
        ("NO_ZERO_DATE", "DATETIME DEFAULT '0000-00-00' ON UPDATE CURRENT_TIMESTAMP"),
        ("NO_ZERO_IN_DATE", "DATETIME DEFAULT '2020-00-00'"),
    ],
)
def test_a_default_that_the_mode_forbids_by_now_is_refused_as_in_sql(
    start: Start, mode: str, default: str
) -> None:
    server = start(RowSocketServer, {"sql-mode": f"STRICT_TRANS_TABLES,{mode}"})
    database = Database(server, "app")
    database.sql("SET SESSION sql_mode = ''")
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, d {default}, n DATE, s DATETIME DEFAULT NOW())")
    database.sql("SET SESSION sql_mode = DEFAULT")
    with pytest.raises(pymysql.err.OperationalError, match="1978"):
        database.sql("INSERT INTO t (id) VALUES (1)")
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tt\t\tid,d") == [b"0\t1"] * 2
        assert client.ask(b"1\t+\t1\t1") == b"1\t1\t1978"
        assert client.ask(b"2\t+\t2\t1\t2020-01-01") == b"0\t1"


SETS_IT = {
    "a trigger that sets it": (
        "DATE NOT NULL DEFAULT '0000-00-00'",
        "CREATE TRIGGER sets BEFORE INSERT ON t FOR EACH ROW SET NEW.d = '2020-01-01'",
        [b"1\t+\t2\t1\t5", b"1\t++\t2\t1\t2\t5\tR", b"1\t++\t2\t1\t3\t5\tU\t1"],
    ),
    "an upsert that sets it to the time": (
        "DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00' ON UPDATE CURRENT_TIMESTAMP",
        "",
        [b"1\t++\t2\t1\t1\t5\tU\t1", b"1\t++\t2\t1\t1\t6\tU\t1"],
    ),
}


@pytest.mark.parametrize("kind", SETS_IT)
def test_a_forbidden_default_of_a_column_that_the_request_can_set_is_not_looked_at(
    start: Start, kind: str
) -> None:
    definition, trigger, requests = SETS_IT[kind]
    server = start(RowSocketServer, {"sql-mode": "STRICT_TRANS_TABLES,NO_ZERO_DATE"})
    database = Database(server, "app")
    database.sql("SET SESSION sql_mode = ''")
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, n INT, d {definition})")
    database.sql("SET SESSION sql_mode = DEFAULT")
    if trigger:
        database.sql(trigger)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n,d") == b"0\t1"
        assert {reply[:2] for reply in client.ask_all(*requests)} == {b"0\t"}


def test_a_forbidden_default_that_no_trigger_sets_is_refused_whatever_sql_did_with_the_table(
    start: Start,
) -> None:
    server = start(RowSocketServer, {"sql-mode": "STRICT_TRANS_TABLES,NO_ZERO_DATE"})
    database = Database(server, "app")
    database.sql("SET SESSION sql_mode = ''")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT, d DATE NOT NULL DEFAULT '0000-00-00')")
    database.sql("SET SESSION sql_mode = DEFAULT")
    database.sql("CREATE TRIGGER sets_another BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 7")
    database.sql("INSERT INTO t VALUES (1, 1, '2020-01-02'), (2, 2, '2020-01-01')")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        assert client.ask(b"1\t+\t1\t3") == b"1\t1\t1978"
        assert database.sql("SELECT id FROM t ORDER BY d") == [(2,), (1,)]
        assert client.ask(b"1\t+\t1\t3") == b"1\t1\t1978"


def test_what_is_odd_in_an_expression_of_the_session_is_a_warning_for_each_request(start: Start) -> None:
    """The server prepares such an expression for each statement, before it is strict."""
    server = start(RowSocketServer, {"sql-mode": "STRICT_ALL_TABLES"})
    database = Database(server, "app")
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at DATETIME, n INT,"
        " x VARCHAR(99) DEFAULT (CONCAT(at IN ('2020-01-01', 'no time'), CURRENT_USER())))"
    )
    for number in range(3):
        database.sql(f"INSERT INTO t (id, at) VALUES ({number}, '2020-01-01')")
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid,at", b"P\t2\tapp\tt\t\tn") == [b"0\t1"] * 2
        for number in range(3, 6):
            assert client.ask(b"1\t+\t2\t%d\t2020-01-01" % number) == b"0\t1"
            assert client.ask(b"2\t=\t1\t%d\t1\t0\tU\t7" % number) == b"0\t1\t1"
    assert len(database.sql("SELECT DISTINCT LEFT(x, 2) FROM t")) == 1


def test_a_name_is_as_long_as_in_sql_however_many_bytes_it_has(
    server: RowSocketServer, database: Database
) -> None:
    name, column, index = "名" * 45, "列" * 64, "鍵" * 64
    database.sql(f"CREATE TABLE `{name}` (id INT PRIMARY KEY, `{column}` INT, KEY `{index}` (`{column}`))")
    database.sql(f"INSERT INTO `{name}` VALUES (1, 7)")
    with server.raw("read") as wire:
        assert wire.tokens("P", 1, database.name, name, index, column) == [b"0", b"1"]
        assert wire.tokens(1, "=", 1, 7) == [b"0", b"1", b"7"]
