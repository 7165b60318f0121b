# SPDX-License-Identifier: GPL-2.0-only
"""Rules that triggers keep by what they read of other tables.

As in SQL, what is read stays as it is until the commit.
"""

from __future__ import annotations

import pytest

from support.gate import gate, open_ids, wait_at_gate, with_gated_table
from support.locks import assert_waits, wait_for_state
from support.mariadb import Database, Options, RowSocketServer, Start

REQUESTS = {
    "INSERT": b"1\t+\t2\t2\t0",
    "UPDATE": b"1\t=\t1\t1\t1\t0\tU\t1\t5",
    "DELETE": b"1\t=\t1\t1\t1\t0\tD",
}


@pytest.mark.parametrize("event", REQUESTS)
def test_what_a_trigger_has_read_is_not_changed_before_the_commit(start: Start, event: str) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO t VALUES (1, 0)")
    database.sql("CREATE TABLE rule (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO rule VALUES (1, 1)")
    database.sql(f"""
        CREATE TRIGGER keeps BEFORE {event} ON t FOR EACH ROW BEGIN
          IF (SELECT n FROM rule WHERE id = 1) = 0 THEN SIGNAL SQLSTATE '45000'; END IF;
          DO GET_LOCK('gate', 60);
        END
    """)
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "t", "id,n"))
        with gate(database):
            client.send(REQUESTS[event] + b"\n")
            wait_at_gate(server)  # the trigger has read the rule
            assert_waits(other, "SET STATEMENT innodb_lock_wait_timeout = 1 FOR UPDATE rule SET n = 0")
        assert client.line().startswith(b"0\t1")
        other.execute("UPDATE rule SET n = 0")


def test_a_row_that_a_trigger_has_not_found_does_not_come_before_the_commit(start: Start) -> None:
    """As in SQL, whose sessions have REPEATABLE READ here."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.sql("CREATE TABLE seat (id INT PRIMARY KEY, room INT NOT NULL)")
    database.sql("CREATE TABLE blocked (id INT PRIMARY KEY, room INT NOT NULL, KEY (room))")
    database.sql("INSERT INTO blocked VALUES (1, 1), (9, 9)")
    database.sql("""
        CREATE TRIGGER limits BEFORE INSERT ON seat FOR EACH ROW BEGIN
          IF EXISTS (SELECT * FROM blocked WHERE room = NEW.room) THEN SIGNAL SQLSTATE '45000'; END IF;
          DO GET_LOCK('gate', 60);
        END
    """)
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "seat", "id,room"))
        with gate(database):
            client.send(b"1\t+\t2\t2\t7\n")
            wait_at_gate(server)  # the trigger has looked
            assert_waits(
                other, "SET STATEMENT innodb_lock_wait_timeout = 1 FOR INSERT INTO blocked VALUES (2, 7)"
            )
        assert client.line() == b"0\t1"


def test_where_the_server_wants_read_committed_a_change_does_not_lock_what_its_trigger_reads(
    start: Start,
) -> None:
    """InnoDB's rule for UPDATE in SQL."""
    server = start(
        RowSocketServer,
        {"loose-rowsocket-threads-write": 1, "transaction-isolation": "READ-COMMITTED"},
    )
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO t VALUES (1, 0)")
    database.sql("CREATE TABLE read_only (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO read_only VALUES (1, 7)")
    database.sql("""
        CREATE TRIGGER copies BEFORE UPDATE ON t FOR EACH ROW
          SET NEW.n = (SELECT n FROM read_only WHERE id = 1)
    """)
    with server.raw("write") as client, database.session() as other:
        other.execute("BEGIN")
        other.execute("UPDATE read_only SET n = 8")
        replies = client.ask_all(b"P\t1\tapp\tt\t\tn", b"1\t=\t1\t1\t1\t0\tU\t1")
        other.execute("ROLLBACK")
    assert replies == [b"0\t1", b"0\t1\t1"]
    assert database.sql("SELECT n FROM t") == [(7,)]


READS_INTO = """
    CREATE TRIGGER looks BEFORE INSERT ON t FOR EACH ROW BEGIN
      DECLARE seen INT;
      SELECT n INTO seen FROM rule WHERE id = 1;
      SET NEW.n = seen;
      IF NEW.id = 1 THEN DO GET_LOCK('gate', 60); END IF;
    END
"""


def with_reads_into(
    start: Start, options: Options, engine: str = "InnoDB"
) -> tuple[RowSocketServer, Database]:
    server = start(
        RowSocketServer,
        {
            "loose-rowsocket-threads-write": 1,
            "log-bin": "binlog",
            "log-bin-trust-function-creators": 1,
            **options,
        },
    )
    database = Database(server, "app")
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE={engine}")
    database.sql("CREATE TABLE rule (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO rule VALUES (1, 1)")
    database.sql(READS_INTO)
    return server, database


@pytest.mark.parametrize(
    ("binlog_format", "isolation", "engine", "is_locked"),
    [
        ("MIXED", "REPEATABLE-READ", "InnoDB", True),
        ("STATEMENT", "REPEATABLE-READ", "InnoDB", True),
        ("ROW", "REPEATABLE-READ", "InnoDB", False),
        ("ROW", "SERIALIZABLE", "InnoDB", True),
        ("MIXED", "READ-COMMITTED", "InnoDB", True),
        ("ROW", "READ-COMMITTED", "InnoDB", False),
        ("MIXED", "REPEATABLE-READ", "ROCKSDB", True),
    ],
)
def test_what_a_trigger_reads_into_a_variable_is_locked_where_it_is_for_sql(
    start: Start, binlog_format: str, isolation: str, engine: str, is_locked: bool
) -> None:
    """`engine` is that of the table that has the trigger. SQL was asked the same."""
    options: Options = {
        "binlog-format": binlog_format,
        "transaction-isolation": isolation,
        **({"plugin-load-add": "rowsocket;ha_rocksdb"} if engine == "ROCKSDB" else {}),
    }
    server, database = with_reads_into(start, options, engine)
    change = "SET STATEMENT innodb_lock_wait_timeout = 1 FOR UPDATE rule SET n = n + 1"
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "t", "id"))
        with gate(database):
            client.send(b"1\t+\t1\t1\n")
            wait_at_gate(server)  # the trigger has read
            if is_locked:
                assert_waits(other, change)
            else:
                other.execute(change)
        assert client.line() == b"0\t1"


def test_where_the_server_wants_serializable_a_trigger_of_rocksdb_reads(start: Start) -> None:
    """RocksDB has no more than REPEATABLE READ."""
    server, database = with_reads_into(start, {"plugin-load-add": "rowsocket;ha_rocksdb"}, "ROCKSDB")
    server.sql("SET GLOBAL tx_isolation = 'SERIALIZABLE'")
    with server.raw("write") as client:
        open_ids(client, database, (1, "t", "id,n"))
        assert client.ask_all(b"1\t+\t1\t2", b"1\t=\t1\t2") == [b"0\t1", b"0\t2\t2\t1"]


def test_no_row_comes_into_a_table_of_myisam_that_a_trigger_has_read(start: Start) -> None:
    """MyISAM takes inserts behind its last row beside who only reads it: SQL's triggers lock it for them."""
    server, database = with_reads_into(start, {"binlog-format": "MIXED"})
    database.sql("ALTER TABLE rule ENGINE=MyISAM")
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "t", "id"))
        with gate(database):
            client.send(b"1\t+\t1\t1\n")
            wait_at_gate(server)  # the trigger has read
            assert_waits(other, "SET STATEMENT lock_wait_timeout = 1 FOR INSERT INTO rule VALUES (2, 2)")
        assert client.line() == b"0\t1"


def test_each_request_of_a_turn_reads_what_is_there_when_it_runs(start: Start) -> None:
    """Also where its trigger reads from a snapshot, as one before it has."""
    server, database = with_reads_into(start, {"binlog-format": "ROW"})
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "t", "id"))
        with gate(database):
            client.send(b"1\t+\t1\t1\n1\t+\t1\t2\n")
            wait_at_gate(server)  # the first one's trigger has read
            other.execute("UPDATE rule SET n = 2")
        assert client.lines(2) == [b"0\t1"] * 2
    assert database.sql("SELECT id, n FROM t") == [(1, 1), (2, 2)]


def test_what_stands_behind_a_trigger_that_waited_reads_what_is_there_by_then(start: Start) -> None:
    """A trigger, and a find: one transaction is for all of them."""
    server, database = with_reads_into(start, {"binlog-format": "ROW", "loose-rowsocket-threads-max": 0})
    database.sql("DROP TRIGGER looks")
    database.sql(READS_INTO.replace("GET_LOCK('gate', 60)", "GET_LOCK('gate', 60) + RELEASE_LOCK('gate')"))
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "t", "id"), (2, "rule", "n"))
        with gate(database):
            client.send(b"1\t+\t1\t3\n2\t=\t1\t1\n1\t+\t1\t1\n1\t+\t1\t2\n2\t=\t1\t1\n")
            wait_at_gate(server)  # the trigger has read for row 1
            other.execute("UPDATE rule SET n = 2")
        assert client.lines(5) == [b"0\t1", b"0\t1\t1", b"0\t1", b"0\t1", b"0\t1\t2"]
    assert database.sql("SELECT id, n FROM t") == [(1, 1), (2, 2), (3, 1)]


def test_a_lock_that_a_trigger_takes_is_held_until_the_commit(start: Start) -> None:
    """What it guards is not to be seen before. Behind the commit the next client may have it."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER guards BEFORE INSERT ON t FOR EACH ROW DO GET_LOCK('section', 60)")
    is_free = "SELECT IS_FREE_LOCK('section')"
    with server.raw("write") as client, database.session() as backup:
        open_ids(client, database, (1, "t", "id"))
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            backup.execute(f"BACKUP STAGE {stage}")
        client.send(b"1\t+\t1\t1\n")
        wait_for_state(server, "Waiting for backup lock", of_worker=True)
        assert database.value(is_free) == 0
        backup.execute("BACKUP STAGE END")
        assert client.line() == b"0\t1"
    server.wait_until("is free", lambda: database.value(is_free) == 1)


def test_a_lock_that_a_trigger_takes_is_not_held_for_the_next_request(start: Start) -> None:
    """That one is of the same turn, and would share the commit."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    with_gated_table(database)
    database.sql("CREATE TRIGGER guards BEFORE INSERT ON t FOR EACH ROW DO GET_LOCK('section', 60)")
    with server.raw("write") as client:
        open_ids(client, database, (1, "t", "id"), (2, "gated", "id"))
        with gate(database):
            client.send(b"1\t+\t1\t1\n2\t+\t1\t1\n")
            wait_at_gate(server)
            assert database.value("SELECT IS_FREE_LOCK('section')") == 1
        assert client.lines(2) == [b"0\t1"] * 2


def test_what_a_trigger_reads_in_a_group_is_locked_until_the_commit(start: Start) -> None:
    """And is as new as in SQL, whatever the group has found before."""
    server, database = with_reads_into(start, {"binlog-format": "MIXED"})
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "t", "id"), (2, "rule", "id"))
        other.execute("SET SESSION innodb_lock_wait_timeout = 1")
        with gate(database):
            client.send(b"G\n2\t=\t1\t1\n1\t+\t1\t2\n1\t+\t1\t1\nE\n")
            wait_at_gate(server)  # both triggers have read
            assert_waits(other, "UPDATE rule SET n = n + 1")
        assert client.lines(5)[-1] == b"0\t1"
