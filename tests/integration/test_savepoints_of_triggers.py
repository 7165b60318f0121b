# SPDX-License-Identifier: GPL-2.0-only
"""Triggers with a SAVEPOINT: what a request did is undone as a whole, and it is no matter of other clients.

Where a statement fails, InnoDB goes back to the savepoint only, and RocksDB can not go back beside changes of
others. So such a request has a transaction of its own.
"""

from __future__ import annotations

import pytest

from support.binlog import assert_binlog_equals_tables
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, Options, RowSocketServer, Start

OPTIONS: Options = {"loose-rowsocket-threads-write": 1, "log-bin": "binlog", "binlog-format": "ROW"}
INSERT = b"1\t+\t2\t%d\t%d"
REFUSED_N = 7


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    return start(RowSocketServer, OPTIONS)


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    """The trigger notes each row of `t`, and refuses one behind its savepoint."""
    database = Database(server, "app")
    database.script("""
        CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL);
        CREATE TABLE plain (id INT PRIMARY KEY, n INT NOT NULL);
        CREATE TABLE log (n INT);
        CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL);
        INSERT INTO counter VALUES (1, 0)""")
    database.sql(f"""
        CREATE TRIGGER notes AFTER INSERT ON t FOR EACH ROW BEGIN
          INSERT INTO log VALUES (NEW.n);
          SAVEPOINT noted;
          UPDATE counter SET n = n + 1;
          IF NEW.n = {REFUSED_N} THEN SIGNAL SQLSTATE '45000'; END IF;
        END
    """)
    return database


REQUESTS = {
    "alone": [INSERT % (1, REFUSED_N)],
    "behind a plain write": [b"2\t+\t2\t1\t1", INSERT % (1, REFUSED_N)],
    "before a plain write": [INSERT % (1, REFUSED_N), b"2\t+\t2\t1\t1"],
    "behind one that is done": [INSERT % (2, 2), INSERT % (1, REFUSED_N)],
    "a group": [b"G", INSERT % (2, 2), b"2\t+\t2\t1\t1", INSERT % (1, REFUSED_N), b"E"],
    "rows that stand alone": [b"1\t++\t2\t3\t2\t2\t1\t%d\t3\t3\tE" % REFUSED_N],
}
DONE = {"behind one that is done": {2}, "rows that stand alone": {2, 3}}


@pytest.mark.parametrize("case", REQUESTS)
def test_nothing_of_a_refused_request_is_left(server: RowSocketServer, database: Database, case: str) -> None:
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid,n", b"P\t2\tapp\tplain\t\tid,n") == [b"0\t1"] * 2
        client.ask_all(*REQUESTS[case])
    done = DONE.get(case, set())
    assert {row[0] for row in database.sql("SELECT id FROM t")} == done
    assert {row[0] for row in database.sql("SELECT n FROM log")} == done
    assert database.value("SELECT n FROM counter") == len(done)
    assert_binlog_equals_tables(server)


def test_a_request_that_waits_behind_its_savepoint_is_done_once(
    server: RowSocketServer, database: Database
) -> None:
    with server.raw("write") as client, database.session() as other:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n") == b"0\t1"
        other.execute("BEGIN")
        other.execute("UPDATE counter SET n = n")
        client.send(INSERT % (1, 1) + b"\n")
        server.wait_until(
            "waits for the counter", lambda: server.status("Rowsocket_parked")["Rowsocket_parked"] != "0"
        )
        other.execute("COMMIT")
        assert client.line() == b"0\t1"
    assert database.sql("SELECT id FROM t") == [(1,)]
    assert database.sql("SELECT n FROM log") == [(1,)]
    assert database.value("SELECT n FROM counter") == 1
    assert_binlog_equals_tables(server)


def test_requests_beside_one_that_goes_back_to_a_savepoint_are_done_in_rocksdb(start: Start) -> None:
    server = start(RowSocketServer, {**OPTIONS, "plugin-load-add": "rowsocket;ha_rocksdb"})
    database = Database(server, "app")
    database.script("""
        CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=ROCKSDB;
        CREATE TABLE plain (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=ROCKSDB""")
    database.sql("""
        CREATE TRIGGER goes_back BEFORE INSERT ON t FOR EACH ROW BEGIN
          SAVEPOINT before_all; ROLLBACK TO SAVEPOINT before_all;
        END
    """)
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid,n", b"P\t2\tapp\tplain\t\tid,n") == [b"0\t1"] * 2
        replies = client.ask_all(b"2\t+\t2\t1\t1", INSERT % (1, 1), b"2\t+\t2\t2\t2")
    assert replies == [b"0\t1"] * 3
    assert database.sql("SELECT id FROM plain") == [(1,), (2,)]


@pytest.mark.parametrize(("kind", "written"), [("OUTFILE", "5\n"), ("DUMPFILE", "5")])
def test_a_file_that_a_trigger_writes_is_written_once_by_a_request_that_waits(
    server: RowSocketServer, database: Database, kind: str, written: str
) -> None:
    """Behind the file it waits for a row in place: a second try would find the file."""
    file = server.folder / "written"
    database.sql("CREATE TABLE files (id INT PRIMARY KEY)")
    database.sql(f"""
        CREATE TRIGGER writes BEFORE INSERT ON files FOR EACH ROW BEGIN
          SELECT NEW.id INTO {kind} '{file}';
          UPDATE counter SET n = n + 1;
        END
    """)
    with server.raw("write") as client, database.session() as other:
        assert client.ask(b"P\t1\tapp\tfiles\t\tid") == b"0\t1"
        other.execute("BEGIN")
        other.execute("UPDATE counter SET n = n")
        client.send(b"1\t+\t1\t5\n")
        wait_for_a_row_lock_wait(server)
        other.execute("COMMIT")
        assert client.line() == b"0\t1"
    assert file.read_text() == written
    assert database.value("SELECT n FROM counter") == 1


def test_a_table_whose_trigger_writes_files_no_more_is_one_with_transactions_again(
    server: RowSocketServer, database: Database
) -> None:
    """A client has it open all the time."""
    database.sql("CREATE TABLE files (id INT PRIMARY KEY)")
    writes = "CREATE OR REPLACE TRIGGER writes BEFORE INSERT ON files FOR EACH ROW"
    group = [b"G", b"1\t+\t1\t1", b"E"]
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tfiles\t\tid") == b"0\t1"
        database.sql(f"{writes} SELECT NEW.id INTO OUTFILE '{server.folder / 'written'}'")
        assert client.ask_all(*group)[1] == b"1\t1\tnotrans"
        database.sql(f"{writes} SET @seen = 1")
        assert client.ask_all(*group) == [b"0\t1"] * 3
    assert database.sql("SELECT id FROM files") == [(1,)]


def test_a_request_that_fails_by_itself_is_not_tried_again_and_again(
    server: RowSocketServer, database: Database
) -> None:
    """Once in the turn, and once alone, whatever it fails by: a duplicate, say."""
    database.sql("CREATE SEQUENCE drawn")
    database.sql("CREATE TABLE draws (id INT PRIMARY KEY)")
    database.sql("""
        CREATE TRIGGER draws BEFORE INSERT ON draws FOR EACH ROW BEGIN
          SAVEPOINT before_all;
          SET NEW.id = NEW.id + 0 * NEXTVAL(drawn);
        END
    """)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tdraws\t\tid") == b"0\t1"
        assert client.ask_all(b"1\t+\t1\t1", b"1\t+\t1\t1") == [b"0\t1", b"1\t1\t121"]
    assert database.value("SELECT NEXTVAL(drawn)") <= 1 + 2 + 1


def test_of_a_request_whose_package_goes_back_to_a_savepoint_nothing_is_left(
    server: RowSocketServer, database: Database
) -> None:
    """The savepoint is in the first part of the package, which runs before the function that is called."""
    database.sql("CREATE TABLE numbered (id INT PRIMARY KEY, n INT)")
    database.sql("SET SESSION sql_mode = ORACLE")
    database.sql("CREATE PACKAGE refuses AS FUNCTION it(n INT) RETURN INT; END")
    database.sql(f"""
        CREATE PACKAGE BODY refuses AS
          FUNCTION it(n INT) RETURN INT AS BEGIN
            IF n = {REFUSED_N} THEN SIGNAL SQLSTATE '45000'; END IF;
            RETURN n;
          END;
        BEGIN
          INSERT INTO log VALUES (0);
          SAVEPOINT begun;
        END
    """)
    database.sql("CREATE TRIGGER calls BEFORE INSERT ON numbered FOR EACH ROW :NEW.n := refuses.it(:NEW.n)")
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tnumbered\t\tid,n", b"P\t2\tapp\tplain\t\tid,n") == [b"0\t1"] * 2
        replies = client.ask_all(b"2\t+\t2\t1\t1", INSERT % (1, REFUSED_N), b"2\t+\t2\t2\t2")
    assert [reply[:1] for reply in replies] == [b"0", b"1", b"0"]
    assert database.sql("SELECT n FROM log") == []
    assert database.sql("SELECT id FROM plain") == [(1,), (2,)]
    assert_binlog_equals_tables(server)
