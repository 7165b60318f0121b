# SPDX-License-Identifier: GPL-2.0-only
"""Generated columns, defaults and checks are computed from their own row.

Where a table has no number in its statement (`TABLE::map`), the server takes the columns of the table for
constants in expressions, and keeps what it has computed with the first row.
"""

from __future__ import annotations

import pytest

from support.mariadb import Database, RowSocketServer

ZONES = [b"+03:00", b"+01:00", b"+05:00", b"-02:00"]
INSERTS = [b"1\t+\t3\t%d\t2020-01-01 10:00:00\t%s" % (number, zone) for number, zone in enumerate(ZONES)]
IN_UTC = "CONVERT_TZ(local, zone, '+00:00')"
COLUMNS = {
    "stored": f"AS ({IN_UTC}) PERSISTENT",
    "virtual": f"AS ({IN_UTC}) VIRTUAL",
    "a default": f"DEFAULT ({IN_UTC})",
}


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM"])
@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_is_computed_from_its_own_row(
    server: RowSocketServer, database: Database, engine: str, column: str
) -> None:
    database.sql(f"""
        CREATE TABLE t (id INT PRIMARY KEY, local DATETIME, zone VARCHAR(10), utc DATETIME {COLUMNS[column]})
        ENGINE={engine}
    """)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\t%s\tt\t\tid,local,zone" % database.name.encode()) == b"0\t1"
        assert client.ask_all(*INSERTS) == [b"0\t1"] * len(ZONES)
    assert database.sql("SELECT HOUR(utc) FROM t ORDER BY id") == [(7,), (9,), (5,), (12,)]


def test_a_check_is_decided_by_its_own_row(server: RowSocketServer, database: Database) -> None:
    database.sql(f"""
        CREATE TABLE t (id INT PRIMARY KEY, local DATETIME, zone VARCHAR(10), CHECK (HOUR({IN_UTC}) > 6))
    """)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\t%s\tt\t\tid,local,zone" % database.name.encode()) == b"0\t1"
        assert client.ask_all(*INSERTS) == [b"0\t1", b"0\t1", b"1\t1\t4025", b"0\t1"]


@pytest.mark.parametrize("before", ["SELECT * FROM t", "CHECK TABLE t", "FLUSH TABLES t"])
def test_a_column_with_a_value_of_the_session_is_computed_from_its_own_row(
    server: RowSocketServer, database: Database, before: str
) -> None:
    """Its expression is prepared anew for each statement. CHECK TABLE leaves a table that has no number."""
    database.sql("""
        CREATE TABLE t (id INT PRIMARY KEY, n INT, text VARCHAR(9),
          less VARCHAR(99) AS (CONCAT(n < text, IF(CURRENT_USER() = '', 'nobody', ''))))
    """)
    database.sql("INSERT INTO t (id, n, text) VALUES (1, 5, '9'), (2, 5, '1'), (3, 5, '9')")
    database.sql(before)
    with server.raw("read") as client:
        assert client.ask(b"P\t1\t%s\tt\t\tless" % database.name.encode()) == b"0\t1"
        for _ in range(2):
            assert client.ask(b"1\t>=\t1\t1\t9\t0") == b"0\t1\t1\t0\t1"


@pytest.mark.parametrize("before", ["SELECT * FROM t", "CHECK TABLE t", "FLUSH TABLES t"])
def test_a_default_with_a_value_of_the_session_is_computed_from_its_own_row_beside_a_trigger(
    server: RowSocketServer, database: Database, before: str
) -> None:
    """Such a table is opened for each request."""
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, n INT, text VARCHAR(9),
          less VARCHAR(99) DEFAULT (CONCAT(n < text, IF(CURRENT_USER() = '', 'nobody', ''))));
        CREATE TRIGGER looks BEFORE INSERT ON t FOR EACH ROW SET @seen = 1"""
    )
    with server.raw("write") as client:
        assert client.ask(b"P\t1\t%s\tt\t\tid,n,text" % database.name.encode()) == b"0\t1"
        for first in (1, 4):
            database.sql(before)
            rows = [(first, 5, 9), (first + 1, 5, 1), (first + 2, 5, 9)]
            assert client.tokens(1, "++", 3, 3, *(value for row in rows for value in row))[:2] == [b"0", b"2"]
    assert database.sql("SELECT less FROM t ORDER BY id") == [("1",), ("0",), ("1",)] * 2


@pytest.mark.parametrize("column", ["AS ({}) VIRTUAL", "DEFAULT ({})"], ids=["virtual", "a default"])
def test_a_list_of_constants_beside_a_value_of_the_session_is_prepared_once_for_a_statement(
    server: RowSocketServer, database: Database, column: str
) -> None:
    """DAYNAME has the language of the session. What prepares the list twice writes behind its memory."""
    is_free = "DAYNAME(day) IN ('Saturday', 'Sunday')"
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, day DATE, is_free BOOLEAN {column.format(is_free)})")
    name = database.name.encode()
    with server.raw("write") as client:
        opened = [b"P\t1\t%s\tt\t\tid,day" % name, b"P\t2\t%s\tt\t\tis_free" % name]
        assert client.ask_all(*opened) == [b"0\t1"] * 2
        for id, day in enumerate((b"2026-11-28", b"2026-11-30", b"2026-11-29")):
            assert client.ask(b"1\t+\t2\t%d\t%s" % (id, day)) == b"0\t1"
        assert client.ask(b"2\t>=\t1\t0\t9\t0") == b"0\t1\t1\t0\t1"
    assert database.sql("SELECT is_free FROM t ORDER BY id") == [(1,), (0,), (1,)]


def test_an_indexed_column_of_a_child_follows_a_cascade_by_its_own_row(
    server: RowSocketServer, database: Database
) -> None:
    """InnoDB computes it in the opening of the child that came with that of the parent."""
    database.script(
        f"""CREATE TABLE parent (id INT PRIMARY KEY, k INT UNIQUE);
        CREATE TABLE child (id INT PRIMARY KEY, k INT, local DATETIME, zone VARCHAR(10),
          utc DATETIME AS ({IN_UTC} + INTERVAL k MINUTE) VIRTUAL, KEY utc (utc),
          FOREIGN KEY (k) REFERENCES parent (k) ON UPDATE CASCADE);
        INSERT INTO parent VALUES (1, 1)"""
    )
    for number, zone in enumerate(ZONES):
        values = f"{number}, 1, '2020-01-01 10:00:00', '{zone.decode()}'"
        database.sql(f"INSERT INTO child (id, k, local, zone) VALUES ({values})")
    database.sql("FLUSH TABLES child")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\t%s\tparent\t\tk" % database.name.encode()) == b"0\t1"
        assert client.ask(b"1\t=\t1\t1\t1\t0\tU\t2") == b"0\t1\t1"
    in_index = "SELECT HOUR(utc), MINUTE(utc) FROM child FORCE INDEX (utc) ORDER BY utc"
    assert database.sql(in_index) == [(5, 2), (7, 2), (9, 2), (12, 2)]


def test_the_database_in_an_expression_that_is_computed_while_it_is_prepared_is_the_tables(
    server: RowSocketServer, database: Database
) -> None:
    """A constant that is joined to text of another character set is computed then."""
    other = Database(server, f"{database.name}_other")
    where = "CONCAT(CONVERT('in ' USING utf8mb4), IFNULL(DATABASE(), 'none'))"
    for one in (database, other):
        one.sql(f"""
            CREATE TABLE t (id INT PRIMARY KEY, made VARCHAR(99) CHARSET utf8mb4 DEFAULT ({where}),
              seen VARCHAR(99) CHARSET utf8mb4 AS ({where}))
        """)
    with server.raw("write") as client:
        for number, one in enumerate((database, other)):
            name = one.name.encode()
            assert client.ask(b"P\t%d\t%s\tt\t\tid" % (number, name)) == b"0\t1"
            assert client.ask(b"P\t%d\t%s\tt\t\tmade,seen" % (number + 2, name)) == b"0\t1"
        for id in range(3):
            for number, one in enumerate((database, other)):
                place = b"in " + one.name.encode()
                assert client.ask(b"%d\t+\t1\t%d" % (number, id)) == b"0\t1"
                assert client.ask(b"%d\t=\t1\t%d" % (number + 2, id)) == b"0\t2\t%s\t%s" % (place, place)


@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_beside_a_value_of_the_session_what_does_not_fit_into_a_generated_column_is_refused(
    server: RowSocketServer, database: Database, engine: str
) -> None:
    database.sql(f"""
        CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9), made_by VARCHAR(99) DEFAULT (CURRENT_USER()),
          twice VARCHAR(9) AS (CONCAT(name, name)) PERSISTENT)
        ENGINE={engine}
    """)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\t%s\tt\t\tid,name" % database.name.encode()) == b"0\t1"
        for _ in range(2):
            assert client.ask(b"1\t+\t2\t1\tlonger") == b"1\t1\t1406"
        assert client.ask(b"1\t+\t2\t1\tfits") == b"0\t1"
        assert client.ask(b"1\t=\t1\t1\t1\t0\tU\t1\tlonger") == b"1\t1\t1406"
    assert database.sql("SELECT id, twice FROM t") == [(1, "fitsfits")]
