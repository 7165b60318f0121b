# SPDX-License-Identifier: GPL-2.0-only
"""A BEFORE trigger may leave a row as it is: SIGNAL SQLSTATE '02TRG', since MariaDB 11.8. In older servers
this signal is an error. Either way a request does what SQL does.
"""

from __future__ import annotations

from collections.abc import Callable

import pymysql
import pytest

from support.mariadb import Database
from support.raw import RawConnection

Raw = Callable[[str], RawConnection]

CHANGES = {
    "set": ("UPDATE", b"1\t>=\t1\t0\t9\t0\tU\t7", "UPDATE twin SET n = 7"),
    "add": ("UPDATE", b"1\t>=\t1\t0\t9\t0\t+\t1", "UPDATE twin SET n = n + 1"),
    "delete": ("DELETE", b"1\t>=\t1\t0\t9\t0\tD", "DELETE FROM twin"),
}
INSERTS = {
    "insert": ("INSERT", b"", ""),
    "or keep": ("INSERT", b"\tI", ""),
    "or change": ("UPDATE", b"\tU\t1", " ON DUPLICATE KEY UPDATE n = VALUES(n)"),
    "replace": ("DELETE", b"\tR", ""),
}


@pytest.fixture(autouse=True)
def tables(database: Database) -> None:
    for table in ("t", "twin"):
        database.sql(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT, KEY (n))")
        database.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2), (3, 3)")
        database.sql(f"CREATE TABLE after_{table} (id INT)")


def skip_row_2(database: Database, event: str) -> None:
    """On both tables triggers leave the row 2 as it is, and write down which rows the event came to."""
    row = "NEW" if event == "INSERT" else "OLD"
    for table in ("t", "twin"):
        on = f"{event} ON {table} FOR EACH ROW"
        database.sql(
            f"CREATE TRIGGER skip_{table} BEFORE {on} IF {row}.id = 2 THEN SIGNAL SQLSTATE '02TRG'; END IF"
        )
        database.sql(f"CREATE TRIGGER see_{table} AFTER {on} INSERT INTO after_{table} VALUES ({row}.id)")


def in_sql(database: Database, statement: str) -> int | None:
    """How many rows the statement changes; None where it fails."""
    with database.session() as cursor:
        try:
            return cursor.execute(statement)
        except pymysql.err.MySQLError:
            return None


def reply(wire: RawConnection, request: bytes) -> list[bytes] | None:
    """The values of the reply; None after an error."""
    status, _, *values = wire.ask(request).split(b"\t")
    return values if status == b"0" else None


def assert_twins_are_equal(database: Database) -> None:
    for query in ("SELECT * FROM {} ORDER BY id", "SELECT * FROM after_{} ORDER BY id"):
        assert database.sql(query.format("t")) == database.sql(query.format("twin"))


@pytest.mark.parametrize("index", ["PRIMARY", "n"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_row_that_a_trigger_skips_is_not_changed(
    database: Database, raw: Raw, name: str, index: str
) -> None:
    event, request, statement = CHANGES[name]
    skip_row_2(database, event)
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", index, "n" if event == "UPDATE" else "id") == [b"0", b"1"]
    changed = reply(wire, request)
    assert (changed and int(changed[0])) == in_sql(database, statement)
    assert_twins_are_equal(database)


@pytest.mark.parametrize("name", INSERTS)
def test_a_row_that_a_trigger_skips_is_not_inserted(database: Database, raw: Raw, name: str) -> None:
    event, clause, on_duplicate = INSERTS[name]
    if event == "INSERT":
        database.sql("DELETE FROM t WHERE id = 2")
        database.sql("DELETE FROM twin WHERE id = 2")
    skip_row_2(database, event)
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", "id,n") == [b"0", b"1"]
    outcomes = reply(wire, b"1\t++\t2\t2\t2\t7\t4\t7" + clause)
    verb = {"or keep": "INSERT IGNORE", "replace": "REPLACE"}.get(name, "INSERT")
    changed = in_sql(database, f"{verb} INTO twin VALUES (2, 7), (4, 7){on_duplicate}")
    assert (outcomes and sum(map(int, outcomes[::2]))) == changed
    assert_twins_are_equal(database)
