# SPDX-License-Identifier: GPL-2.0-only
"""Each reason to refuse a write has its own code, and leaves the row as it was.

Disks that are full are in tests/faults, time limits in test_time_limits.py, servers that are read-only in
test_read_only.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection

PARENT = "CREATE TABLE parent (id INT PRIMARY KEY)"
TABLE = (
    "CREATE TABLE t (id INT PRIMARY KEY, n TINYINT NOT NULL CHECK (n <> 13), s VARCHAR(4), u INT UNIQUE, p"
    " INT,"
    " g INT AS (n + 1) VIRTUAL, FOREIGN KEY (p) REFERENCES parent (id))"
)


@pytest.fixture
def wire(server: RowSocketServer, database: Database) -> Iterator[RawConnection]:
    """`t` opened as 1 and its parent as 2, on the write port."""
    for statement in (PARENT, TABLE, "INSERT INTO parent VALUES (1)"):
        database.sql(statement)
    database.sql("INSERT INTO t (id, n, s, u, p) VALUES (1, 1, 'one', 10, 1), (2, 2, 'two', 20, NULL)")
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "n,s,u,p,id,g", "n") == [b"0", b"1"]
        assert connection.tokens("P", 2, database.name, "parent", "", "id") == [b"0", b"1"]
        yield connection


def tables(database: Database) -> list[object]:
    return [database.sql(f"SELECT * FROM {name} ORDER BY id") for name in ("t", "parent")]


UPDATES: dict[str, tuple[list[str | int | None], str]] = {
    "a value that is none": ([1, "=", 1, 1, 1, 0, "U", "x"], "1366"),
    "a value out of range": ([1, "=", 1, 1, 1, 0, "U", 128], "1264"),
    "a text that is too long": ([1, "=", 1, 1, 1, 0, "U", 1, "12345"], "1406"),
    "NULL where it may not be": ([1, "=", 1, 1, 1, 0, "U", None], "1048"),
    "a CHECK constraint": ([1, "=", 1, 1, 1, 0, "U", 13], "4025"),
    "a duplicate key": ([1, "=", 1, 1, 1, 0, "U", 1, "x", 20], "121"),
    "a parent that is missing": ([1, "=", 1, 1, 1, 0, "U", 1, "x", 10, 7], "151"),
    "a child that is left": ([2, "=", 1, 1, 1, 0, "D"], "152"),
    "a generated column": ([1, "=", 1, 1, 1, 0, "U", 1, "x", 10, 1, 1, 5], "1906"),
    "an increment out of range": ([1, "=", 1, 1, 1, 0, "+", 127], "1264"),
    "no number to add": ([1, "=", 1, 1, 1, 0, "+", "x"], "1292"),
    "a column without a default": ([1, "++", 1, 1, 9, "C", "id"], "1364"),
}


@pytest.mark.parametrize("reason", UPDATES)
def test_what_does_not_fit_has_its_code_and_changes_nothing(
    wire: RawConnection, database: Database, reason: str
) -> None:
    request, code = UPDATES[reason]
    before = tables(database)
    assert wire.tokens(*request) == [b"1", b"1", code.encode()]
    assert tables(database) == before


MISTAKES: dict[str, list[str | int]] = {
    "cmd": ["X"],
    "stmtnum": [77, "=", 1, 1],
    "op": [1, "~", 1, 1],
    "klen": [1, "=", 0],
    "fldnum": [1, "++", 9, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "kpnum": [1, "=", 2, 1, 2],
    "fld": [1, "=", 1, 1, 1, 0, "C", "nope"],
    "invalueslen": [1, "=", 1, 1, 1, 0, "@", 0, 0],
    "filtertype": [1, "=", 1, 1, 1, 0, "F", "~", 0, 1],
    "filterfld": [1, "=", 1, 1, 1, 0, "F", "=", 9, 1],
    "modop": [1, "=", 1, 1, 1, 0, "X"],
    "syntax": [1, "=", 1, 1, "x", 0],
}


@pytest.mark.parametrize("code", MISTAKES)
def test_a_mistake_in_the_request_has_its_code_and_costs_nothing_else(
    wire: RawConnection, database: Database, code: str
) -> None:
    before = tables(database)
    assert wire.tokens(*MISTAKES[code]) == [b"2", b"1", code.encode()]
    assert wire.tokens(1, "=", 1, 1)[2:4] == [b"1", b"one"]
    assert tables(database) == before


def test_a_deadlock_with_sql_costs_no_client_anything(
    wire: RawConnection, server: RowSocketServer, database: Database
) -> None:
    """The turn is executed again where InnoDB undoes it; where it undoes SQL, it goes on."""
    with database.session() as sql, ThreadPoolExecutor(1) as thread:
        sql.execute("BEGIN")
        sql.execute("UPDATE t SET s = 'sql' WHERE id = 2")
        parked = server.counter("parked")
        wire.send(b"1\t=\t1\t1\t1\t0\tU\t5\n1\t=\t1\t2\t1\t0\tU\t6\n")
        server.wait_until(
            "waits for the row", lambda: row_lock_waits(server) > 0 or server.counter("parked") > parked
        )
        other = thread.submit(sql.execute, "UPDATE t SET s = 'sql' WHERE id = 1")
        try:
            other.result(timeout=120)
            sql.execute("COMMIT")
        except Exception:  # InnoDB chose SQL
            sql.execute("ROLLBACK")
        assert wire.lines(2) == [b"0\t1\t1"] * 2
    assert database.sql("SELECT n FROM t ORDER BY id") == [(5,), (6,)]


def row_lock_waits(server: RowSocketServer) -> int:
    return int(server.status("Innodb_row_lock_current_waits")["Innodb_row_lock_current_waits"])
