# SPDX-License-Identifier: GPL-2.0-only
"""Stored routines that triggers call. A session keeps them, fitted to the tables that they have met."""

from __future__ import annotations

import pytest

from support.mariadb import Database, RowSocketServer, Start

FUNCTIONS = 24
STATEMENTS = 60
"""Such a function takes a megabyte."""


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    return start(
        RowSocketServer,
        {
            "loose-rowsocket-threads-write": 1,
            "log-bin-trust-function-creators": "ON",
            "stored-program-cache": 2,
            "character-set-server": "latin1",
        },
    )


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    return database


def test_a_routine_is_fitted_to_the_temporary_table_of_each_request(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE log (n INT, first VARCHAR(9), second VARCHAR(9))")
    database.sql("""
        CREATE PROCEDURE notes(n INT) BEGIN
          IF n = 0 THEN
            CREATE TEMPORARY TABLE made AS SELECT n, 'debit' a, 'credit' b;
          ELSE
            CREATE TEMPORARY TABLE made AS SELECT n, 'credit' b, 'debit' a;
          END IF;
          INSERT INTO log SELECT * FROM made;
          DROP TEMPORARY TABLE made;
        END
    """)
    database.sql("CREATE TRIGGER notes BEFORE INSERT ON t FOR EACH ROW CALL notes(NEW.n)")
    numbers = [0, 1, 0, 1]
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        replies = client.ask_all(*[b"1\t+\t1\t%d" % number for number in numbers])
    assert [reply[:3] for reply in replies] == [b"0\t1"] * len(numbers)
    words = [("debit", "credit"), ("credit", "debit")]
    assert database.sql("SELECT * FROM log") == [(number, *words[number]) for number in numbers]


def test_a_routine_is_fitted_to_a_table_that_was_altered(server: RowSocketServer, database: Database) -> None:
    """As in a new session of SQL. An old one keeps what the routine knew of the table."""
    database.sql("CREATE TABLE source (id INT PRIMARY KEY, a INT)")
    database.sql("CREATE TABLE log (id INT, a INT)")
    database.sql("INSERT INTO source VALUES (1, 11)")
    database.sql("CREATE PROCEDURE notes(n INT) INSERT INTO log SELECT * FROM source WHERE id = n")
    database.sql("CREATE TRIGGER notes BEFORE INSERT ON t FOR EACH ROW CALL notes(NEW.n)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        assert client.ask(b"1\t+\t1\t1") == b"0\t1\t1"
        for table in ("source", "log"):
            database.sql(f"ALTER TABLE {table} MODIFY a INT FIRST")
        assert client.ask(b"1\t+\t1\t1") == b"0\t1\t2"
        for table in ("source", "log"):
            database.sql(f"ALTER TABLE {table} ADD b INT DEFAULT 3")
        assert client.ask(b"1\t+\t1\t1") == b"0\t1\t3"
    assert database.sql("SELECT id, a, b FROM log") == [(1, 11, 3)] * 3


def test_a_temporary_table_has_the_character_set_of_the_database(server: RowSocketServer) -> None:
    wide = Database(server, "wide")
    wide.sql("ALTER DATABASE wide CHARACTER SET utf8mb4 COLLATE utf8mb4_czech_ci")
    wide.sql("CREATE TABLE t (id INT PRIMARY KEY, text VARCHAR(9), seen VARCHAR(99))")
    wide.sql("""
        CREATE PROCEDURE looks(INOUT text VARCHAR(9), OUT seen VARCHAR(99)) BEGIN
          CREATE TEMPORARY TABLE made (text VARCHAR(9));
          INSERT INTO made VALUES (text);
          SELECT made.text, CONCAT(COLLATION(made.text), ' ', @@collation_database) INTO text, seen FROM made;
          DROP TEMPORARY TABLE made;
        END
    """)
    wide.sql("CREATE TRIGGER looks BEFORE INSERT ON t FOR EACH ROW CALL looks(NEW.text, NEW.seen)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\twide\tt\t\tid,text") == b"0\t1"
        assert client.ask("1\t+\t2\t1\tžluť".encode()) == b"0\t1"
    assert wide.sql("SELECT text, seen FROM t") == [("žluť", "utf8mb4_czech_ci utf8mb4_czech_ci")]


def test_no_more_routines_are_kept_than_the_server_is_told_to(
    server: RowSocketServer, database: Database
) -> None:
    body = "; ".join(f"SET a = IF(n > {number}, n + {number}, n - {number})" for number in range(STATEMENTS))

    def used_bytes_behind_a_call(function: str) -> int:
        database.sql(
            f"CREATE FUNCTION {function}(n INT) RETURNS INT BEGIN DECLARE a INT; {body}; RETURN a; END"
        )
        trigger = f"BEFORE INSERT ON t FOR EACH ROW SET NEW.n = {function}(NEW.n)"
        database.sql(f"CREATE OR REPLACE TRIGGER calls {trigger}")
        assert client.ask(b"1\t+\t1\t5").startswith(b"0\t1")
        database.sql("DROP TRIGGER calls")
        database.sql(f"DROP FUNCTION {function}")
        return int(server.status("Memory_used")["Memory_used"])

    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        used = [used_bytes_behind_a_call(f"f{number}") for number in range(FUNCTIONS)]
    assert used[-1] - used[3] < 10_000_000  # 20 functions are 20,000,000
