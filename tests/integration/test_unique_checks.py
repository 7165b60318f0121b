# SPDX-License-Identifier: GPL-2.0-only
"""With unique_checks and foreign_key_checks off InnoDB collects the rows for an empty table in a buffer, and
loses them where the settings change before the transaction ends. Rows that are acknowledged are kept."""

from __future__ import annotations

import pytest

from support.binlog import assert_binlog_equals_tables
from support.mariadb import Database, RowSocketServer, Start

DONE = b"0\t1"
INSERT_ONE = b"1\t+\t2\t1\t1"
SWITCH = "SET SESSION unique_checks = 0, foreign_key_checks = 0"


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    """One worker for writing."""
    return start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-error-detail": "ON"})


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    """Empty tables `t` and `log`."""
    database = Database(server, "app")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB;
        CREATE TABLE log (number INT AUTO_INCREMENT PRIMARY KEY, n INT) ENGINE=InnoDB;"""
    )
    return database


CASES = {
    "change": (b"1\t=\t1\t1\t1\t0\tU\t1\t7", b"0\t1\t1", [(1, 7)]),
    "delete": (b"1\t=\t1\t1\t1\t0\tD", b"0\t1\t1", []),
    "find": (b"1\t=\t1\t1", b"0\t2\t1\t1", [(1, 1)]),
    "upsert": (b"1\t++\t2\t1\t1\t9\tU\t1", b"0\t2\t2\t\0", [(1, 9)]),
}


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_a_row_of_an_empty_table_is_there_for_the_next_request(
    server: RowSocketServer, database: Database, case: str, grouped: bool
) -> None:
    """The global settings are off, as while a dump is loaded."""
    database.sql("SET GLOBAL unique_checks = 0, foreign_key_checks = 0")
    request, reply, rows = CASES[case]
    begin, end = ([b"G"], [b"E"]) if grouped else ([], [])
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n\tn") == DONE
        replies = client.ask_all(*begin, INSERT_ONE, request, *end)
    assert replies[len(begin) : len(begin) + 1] == [DONE]
    assert replies[len(begin) + 1] == reply
    assert list(database.sql("SELECT * FROM t")) == rows
    assert_binlog_equals_tables(server)


def test_a_duplicate_leaves_the_rows_of_other_requests(server: RowSocketServer, database: Database) -> None:
    database.sql("SET GLOBAL unique_checks = 0, foreign_key_checks = 0")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n") == DONE
        replies = client.ask_all(INSERT_ONE, b"1\t++\t2\t2\t2\t2\t1\t3", b"1\t+\t2\t9\t9")
    assert [reply[:3] for reply in replies] == [b"0\t1", b"1\t1", b"0\t1"]
    assert list(database.sql("SELECT * FROM t")) == [(1, 1), (9, 9)]
    assert_binlog_equals_tables(server)


@pytest.mark.parametrize("where", ["trigger", "routine", "second trigger"])
def test_a_trigger_that_switches_unique_checks_is_refused(
    server: RowSocketServer, database: Database, where: str
) -> None:
    """The server switches them on again when the trigger ends. SQL loses the rows, too, in a transaction of
    several statements."""
    body = f"BEGIN {SWITCH}; INSERT INTO log (n) VALUES (1); END"
    if where == "routine":
        database.sql(f"CREATE PROCEDURE writes_log() {body.upper()}")
        body = "CALL writes_log()"
    if where == "second trigger":
        database.sql("CREATE TRIGGER first AFTER INSERT ON t FOR EACH ROW SET @seen = NEW.id")
    database.sql(f"CREATE TRIGGER logs AFTER INSERT ON t FOR EACH ROW {body}")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n") == DONE
        reply = client.ask(INSERT_ONE)
    assert reply.startswith(b"1\t1\topen_table")
    assert b"names unique_checks" in reply
    assert list(database.sql("SELECT * FROM t")) == []
    assert_binlog_equals_tables(server)


def test_a_trigger_that_names_a_bulk_load_of_rocksdb_is_refused(
    server: RowSocketServer, database: Database
) -> None:
    """Its rows come into the table when the session ends: a worker's does not."""
    database.sql("CREATE TRIGGER loads AFTER INSERT ON t FOR EACH ROW SET @kept = 'rocksdb_bulk_load'")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n") == DONE
        assert b"names rocksdb_bulk_load" in client.ask(INSERT_ONE)


def test_a_trigger_that_a_request_can_not_fire_is_no_reason_to_refuse_it(
    server: RowSocketServer, database: Database
) -> None:
    database.sql(f"CREATE TRIGGER switches BEFORE DELETE ON t FOR EACH ROW BEGIN {SWITCH}; END")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n") == DONE
        assert client.ask(INSERT_ONE) == DONE
        assert client.ask(b"1\t=\t1\t1\t1\t0\tD").startswith(b"1\t1\topen_table")
    assert list(database.sql("SELECT * FROM t")) == [(1, 1)]


def test_other_settings_of_triggers_hold_for_the_trigger(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE child (n INT, FOREIGN KEY (n) REFERENCES t (id)) ENGINE=InnoDB")
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB")
    database.sql(
        """CREATE TRIGGER adds BEFORE INSERT ON parent FOR EACH ROW BEGIN
            SET SESSION foreign_key_checks = 0;
            INSERT INTO child VALUES (NEW.id + 100);
        END"""
    )
    with server.raw("write") as client:
        opened = client.ask_all(b"P\t1\tapp\tparent\t\tid", b"P\t2\tapp\tchild\tn\tn")
        assert opened == [DONE] * 2
        replies = client.ask_all(b"1\t+\t1\t1", b"2\t+\t1\t300", b"1\t+\t1\t2")
    assert [reply[:3] for reply in replies] == [b"0\t1", b"1\t1", b"0\t1"]
    assert list(database.sql("SELECT n FROM child")) == [(101,), (102,)]
    assert_binlog_equals_tables(server)
