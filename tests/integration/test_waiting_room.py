# SPDX-License-Identifier: GPL-2.0-only
"""What a request that waits for a lock on a thread of its own is in the way of, and when its time is over."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pymysql
import pytest

from support.gate import gate, wait_at_gate
from support.kills import kill
from support.locks import row_lock_waits, wait_for_a_row_lock_wait, waiting_for_a_row
from support.mariadb import Database, RowSocketServer, Start
from support.raw import ConnectionClosed, RawConnection

ONE_WORKER = {"rowsocket-threads-write": 1, "rowsocket-threads-max": 32}
INCREMENT = b"0\t=\t1\t1\t1\t0\t+\t1\n"
GROUP = b"G\n1\t+\t2\t7\t7\n" + INCREMENT + b"E\n"
"""Changes `b` first, and then the row of `a`."""
GROUP_DONE = [b"0\t1", b"0\t1", b"0\t1\t1", b"0\t1"]
DDL_WAITS_S = 20
"""The statements of SQL wait for so long: a fraction of the default of innodb_lock_wait_timeout."""

WAITING_FOR_METADATA = (
    "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'"
)


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    return start(RowSocketServer, ONE_WORKER)


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    database = Database(server, "d")
    database.sql("CREATE TABLE a (id INT PRIMARY KEY, n INT)")
    database.sql("CREATE TABLE b (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO a VALUES (1, 0)")
    return database


@contextlib.contextmanager
def client(server: RowSocketServer) -> Iterator[RawConnection]:
    with server.raw("write") as connection:
        assert connection.ask_all(b"P\t0\td\ta\t\tn", b"P\t1\td\tb\t\tid,n") == [b"0\t1"] * 2
        yield connection


@contextlib.contextmanager
def waiting(
    server: RowSocketServer, database: Database, request: bytes, reply: list[bytes]
) -> Iterator[None]:
    """The request of a client waits for the row of `a` on a thread of its own. Then it has this reply."""
    with client(server) as connection:
        with database.session() as holder:
            holder.execute("BEGIN")
            holder.execute("SELECT * FROM a WHERE id = 1 FOR UPDATE")
            connection.send(request)
            wait_for_a_row_lock_wait(server)
            yield
            holder.execute("COMMIT")
        assert connection.lines(len(reply)) == reply


@pytest.mark.parametrize(
    ("request_bytes", "reply", "statements"),
    [
        (INCREMENT, [b"0\t1\t1"], ["FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"]),
        (INCREMENT, [b"0\t1\t1"], ["SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0"]),
        (
            INCREMENT,
            [b"0\t1\t1"],
            [f"BACKUP STAGE {name}" for name in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT", "END")],
        ),
        (GROUP, GROUP_DONE, ["ALTER TABLE b ADD COLUMN more INT"]),
        (GROUP, GROUP_DONE, ["FLUSH TABLES b"]),
    ],
    ids=["read lock", "read_only", "backup", "ddl", "flush"],
)
def test_who_waits_for_a_row_is_in_nobodys_way(
    server: RowSocketServer,
    database: Database,
    request_bytes: bytes,
    reply: list[bytes],
    statements: list[str],
) -> None:
    with waiting(server, database, request_bytes, reply), database.session() as other:
        other.execute("SET lock_wait_timeout = %s", (DDL_WAITS_S,))
        for statement in statements:
            other.execute(statement)
    assert database.sql("SELECT n FROM a") == [(1,)]


def test_a_kill_behind_a_wait_that_gave_way_ends_the_next_wait(
    server: RowSocketServer, database: Database
) -> None:
    """It is no second way to let others pass, behind which the request is tried again."""
    with waiting(server, database, GROUP, GROUP_DONE), database.session() as other:
        other.execute("SET lock_wait_timeout = %s", (DDL_WAITS_S,))
        other.execute("ALTER TABLE b ADD COLUMN more INT")
    with client(server) as connection, database.session() as holder:
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM a WHERE id = 1 FOR UPDATE")
        connection.send(INCREMENT)
        server.wait_until("it waits alone", lambda: server.counter("waited_alone") == 2)
        for thread in waiting_for_a_row(server):
            kill(server, thread, "KILL QUERY")
        assert connection.line() == b"1\t1\t188", "HA_ERR_ABORTED_BY_USER"


def test_who_waits_for_no_row_is_not_interrupted_where_others_give_way(
    server: RowSocketServer, database: Database
) -> None:
    """The first request has had its row, and its trigger waits at the gate. The second one waits for that
    row. Each is in the way of an ALTER."""
    database.sql("CREATE SEQUENCE runs")
    database.sql("CREATE TABLE g (id INT PRIMARY KEY, run INT)")
    database.sql(
        "CREATE TRIGGER at_gate BEFORE INSERT ON g FOR EACH ROW BEGIN UPDATE a SET n = n + 1 WHERE id = 1;"
        " SET NEW.run = NEXTVAL(runs) + 0 * (GET_LOCK('gate', 20) + RELEASE_LOCK('gate')); END"
    )
    with contextlib.ExitStack() as stack:
        first, second = (stack.enter_context(client(server)) for _ in range(2))
        holder, altering, other = (stack.enter_context(database.session()) for _ in range(3))
        threads = stack.enter_context(ThreadPoolExecutor(1))
        assert first.ask(b"P\t2\td\tg\t\tid") == b"0\t1"
        with gate(database):
            holder.execute("BEGIN")
            holder.execute("SELECT * FROM a WHERE id = 1 FOR UPDATE")
            first.send(b"2\t+\t1\t1\n")
            wait_for_a_row_lock_wait(server)
            holder.execute("COMMIT")
            wait_at_gate(server)
            altered = threads.submit(altering.execute, "ALTER TABLE g ADD COLUMN more INT")
            server.wait_until("ALTER waits", lambda: server.value(WAITING_FOR_METADATA) == 1)
            second.send(GROUP)
            wait_for_a_row_lock_wait(server)
            other.execute("SET lock_wait_timeout = %s", (DDL_WAITS_S,))
            other.execute("ALTER TABLE b ADD COLUMN more INT")
        assert first.line() == b"0\t1"
        assert second.lines(4) == GROUP_DONE
        altered.result(20)
    assert database.sql("SELECT run FROM g") == [(1,)]


def test_what_no_rollback_takes_back_is_not_interrupted_where_others_give_way(
    server: RowSocketServer, database: Database
) -> None:
    """The first request has waited for its table, has its row in it, and its trigger waits for another one.
    The second one waits for that, too. Each is in the way of an ALTER."""
    database.sql("CREATE TABLE l (id INT PRIMARY KEY) ENGINE=Aria")
    database.sql("CREATE TRIGGER counts AFTER INSERT ON l FOR EACH ROW UPDATE a SET n = n + 1 WHERE id = 1")
    with contextlib.ExitStack() as stack:
        first, second = (stack.enter_context(client(server)) for _ in range(2))
        holder, altering, other = (stack.enter_context(database.session()) for _ in range(3))
        threads = stack.enter_context(ThreadPoolExecutor(1))
        assert first.ask(b"P\t2\td\tl\t\tid") == b"0\t1"
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM a WHERE id = 1 FOR UPDATE")
        altering.execute("LOCK TABLES l READ")
        first.send(b"2\t+\t1\t1\n")
        server.wait_until("it waits alone", lambda: server.counter("waited_alone") == 1)
        altering.execute("UNLOCK TABLES")
        wait_for_a_row_lock_wait(server)
        altered = threads.submit(altering.execute, "ALTER TABLE l ADD COLUMN more INT")
        server.wait_until("ALTER waits", lambda: server.value(WAITING_FOR_METADATA) == 1)
        second.send(GROUP)
        server.wait_until("both wait", lambda: row_lock_waits(server) == 2)
        other.execute("SET lock_wait_timeout = %s", (DDL_WAITS_S,))
        other.execute("ALTER TABLE b ADD COLUMN more INT")
        holder.execute("COMMIT")
        assert first.line() == b"0\t1"
        assert second.lines(4) == GROUP_DONE
        altered.result(20)
    assert database.sql("SELECT id FROM l") == [(1,)]
    assert database.sql("SELECT n FROM a") == [(2,)]


def test_who_waits_for_a_table_is_in_nobodys_way(server: RowSocketServer, database: Database) -> None:
    with client(server) as connection:
        with database.session() as holder, database.session() as other:
            holder.execute("LOCK TABLES a WRITE")
            connection.send(GROUP)
            server.wait_until("it waits alone", lambda: server.counter("waited_alone") == 1)
            other.execute("SET lock_wait_timeout = %s", (DDL_WAITS_S,))
            other.execute("ALTER TABLE b ADD COLUMN more INT")
            holder.execute("UNLOCK TABLES")
        assert connection.lines(4) == GROUP_DONE


def test_a_kill_of_the_thread_closes_the_client_that_waits_alone_and_no_other(
    server: RowSocketServer, database: Database
) -> None:
    ids = WAITING_FOR_METADATA.replace("COUNT(*)", "MAX(id)") + " AND host = 'rowsocket'"
    with client(server) as killed, client(server) as other, database.session() as holder:
        holder.execute("LOCK TABLES a WRITE")
        killed.send(INCREMENT)
        server.wait_until("it waits alone", lambda: server.counter("waited_alone") == 1)
        server.wait_until("for the table", lambda: server.value(ids) is not None)
        server.sql(f"KILL {server.value(ids)}")
        with pytest.raises(ConnectionClosed):
            killed.lines(2)  # the reply at most
        assert other.ask(b"1\t+\t2\t7\t7") == b"0\t1"
        holder.execute("UNLOCK TABLES")
    assert database.sql("SELECT n FROM a") == [(0,)]


def test_the_victim_of_a_metadata_deadlock_is_tried_again(
    server: RowSocketServer, database: Database
) -> None:
    """RENAME has `a` first and waits for `b`, which the group has, and the group waits for `a`."""
    renames = "RENAME TABLE a TO a2, b TO b2, a2 TO a, b2 TO b"
    with client(server) as connection:
        with database.session() as holder, database.session() as renaming:
            holder.execute("LOCK TABLES a WRITE")
            connection.send(GROUP)
            server.wait_until("the group waits", lambda: server.value(WAITING_FOR_METADATA) == 1)
            thread = threading.Thread(target=renaming.execute, args=(renames,))
            thread.start()
            server.wait_until("RENAME waits, too", lambda: server.value(WAITING_FOR_METADATA) == 2)
            holder.execute("UNLOCK TABLES")
            thread.join()
        assert connection.lines(4) == GROUP_DONE


@contextlib.contextmanager
def heavier(database: Database, first_id: int) -> Iterator[pymysql.cursors.Cursor]:
    """A session with a transaction that InnoDB undoes last, as it has changed most."""
    with database.session() as session:
        session.execute("BEGIN")
        session.execute(f"INSERT INTO much SELECT seq FROM seq_{first_id}_to_{first_id + 500}")
        yield session


def test_the_victim_of_one_deadlock_after_the_other_in_a_trigger_is_tried_again(
    server: RowSocketServer, database: Database
) -> None:
    """The trigger waits for the row of `a`, which one session has and then the next. Each of them comes to
    the row whose trigger it is."""
    database.sql("CREATE TABLE much (id INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER counts AFTER INSERT ON b FOR EACH ROW UPDATE a SET n = n + 1")
    come_to_it = "SELECT * FROM b WHERE id = 7 FOR UPDATE"

    def is_inserted() -> bool:
        uncommitted.execute("SELECT 1 FROM b WHERE id = 7")
        return uncommitted.fetchall() != ()

    with (
        client(server) as connection,
        database.session() as uncommitted,
        heavier(database, 1) as first,
        heavier(database, 1001) as second,
        ThreadPoolExecutor(1) as thread,
    ):
        uncommitted.execute("SET SESSION tx_isolation = 'READ-UNCOMMITTED'")
        first.execute("SELECT * FROM a FOR UPDATE")
        has_it = thread.submit(second.execute, "SELECT * FROM a FOR UPDATE")
        server.wait_until("the second waits", lambda: row_lock_waits(server) == 1)
        connection.send(b"1\t+\t2\t7\t7\n")
        server.wait_until("the request waits alone", lambda: server.counter("waited_alone") == 1)
        server.wait_until("in its trigger", lambda: is_inserted() and row_lock_waits(server) == 2)
        first.execute(come_to_it)
        server.wait_until("it is undone", lambda: not is_inserted())
        first.execute("COMMIT")
        has_it.result()
        server.wait_until("in its trigger again", lambda: is_inserted() and row_lock_waits(server) == 1)
        second.execute(come_to_it)
        second.execute("COMMIT")
        assert connection.line() == b"0\t1"
    assert database.sql("SELECT a.n, b.n FROM a, b") == [(1, 7)]


def test_a_row_of_rocksdb_is_waited_for_as_long_as_one_of_innodb(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER | {"plugin-load-add": "rowsocket;ha_rocksdb"})
    database = Database(server, "d")
    database.sql("CREATE TABLE a (id INT PRIMARY KEY, n INT) ENGINE=ROCKSDB")
    database.sql("INSERT INTO a VALUES (1, 0)")
    timeout_s = 4
    server.sql("SET GLOBAL innodb_lock_wait_timeout = %s", (timeout_s,))
    with server.raw("write") as connection, database.session() as holder:
        assert connection.ask(b"P\t0\td\ta\t\tn") == b"0\t1"
        holder.execute("BEGIN")
        holder.execute("UPDATE a SET n = 5")
        begin_s = time.monotonic()
        assert connection.ask(INCREMENT.rstrip()) == b"1\t1\t146"
        assert time.monotonic() - begin_s >= timeout_s - 0.001  # a worker's clock counts whole milliseconds
