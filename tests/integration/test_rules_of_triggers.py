# SPDX-License-Identifier: GPL-2.0-only
"""Rules that triggers keep by what they read of other tables.

As in SQL, what is read stays as it is until the commit.
"""

from __future__ import annotations

import pymysql
import pytest

from support.gate import gate, open_ids, wait_at_gate
from support.mariadb import Database, RowSocketServer, Start

LOCK_WAIT_TIMEOUT = 1205
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
            with pytest.raises(pymysql.err.OperationalError) as raised:
                other.execute("SET STATEMENT innodb_lock_wait_timeout = 1 FOR UPDATE rule SET n = 0")
            assert raised.value.args[0] == LOCK_WAIT_TIMEOUT
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
            with pytest.raises(pymysql.err.OperationalError) as raised:
                other.execute("SET STATEMENT innodb_lock_wait_timeout = 1 FOR INSERT INTO blocked VALUES (2, 7)")
            assert raised.value.args[0] == LOCK_WAIT_TIMEOUT
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
