# SPDX-License-Identifier: GPL-2.0-only
"""A worker that waits for one table's lock does not hold up the DDL of others."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest

from support.gate import gate, open_ids, wait_at_gate, with_gated_table
from support.locks import deadlock_with_a_heavier_one, wait_for_state
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection


@contextlib.contextmanager
def sql_having_table(
    server: RowSocketServer, database: Database, wire: RawConnection, request: bytes, statement: str
) -> Iterator[None]:
    """The first row of the request waits at the gate. Behind it, SQL has the table for a statement, of which
    the condition is left out. The next row waits for the table until the block is left."""
    table_lock = "Waiting for table level lock"
    state = "SELECT state FROM information_schema.processlist WHERE id = %s"
    waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = %s"
    with database.session() as holder, database.session() as second:
        holder.execute("SELECT CONNECTION_ID()")
        [(holder_id,)] = holder.fetchall()
        second.execute("SELECT GET_LOCK('second', 100)")
        with gate(database):
            wire.send(request)
            wait_at_gate(server)
            holding = threading.Thread(target=holder.execute, args=(f"{statement} GET_LOCK('second', 60)",))
            holding.start()
            server.wait_until(
                "SQL waits for the table", lambda: server.value(state, [holder_id]) == table_lock
            )
        server.wait_until("SQL has the table", lambda: server.value(state, [holder_id]) == "User lock")
        server.wait_until("the next row waits for the table", lambda: server.value(waiting, [table_lock]) > 0)
        try:
            yield
        finally:
            second.execute("SELECT RELEASE_LOCK('second')")
            holding.join()


def test_who_waits_patiently_holds_no_other_table(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.script(
        """CREATE TABLE other (id INT PRIMARY KEY);
        CREATE TABLE log (id INT) ENGINE=MyISAM;
        CREATE TABLE t (id INT PRIMARY KEY);
        INSERT INTO log VALUES (0);
        CREATE TRIGGER logs BEFORE INSERT ON t FOR EACH ROW
            INSERT INTO log SELECT NEW.id FROM dual WHERE NEW.id <> 1 OR GET_LOCK('gate', 100) +
            RELEASE_LOCK('gate') > 0"""
    )
    with server.raw("write") as client, database.session() as ddl:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tother\t\tid") == [b"0\t1"] * 2
        request = b"2\t=\t1\t1\n1\t++\t1\t2\t1\t2\tE\n"
        with sql_having_table(server, database, client, request, "UPDATE log SET id = id WHERE"):
            ddl.execute("SET lock_wait_timeout = 40")
            ddl.execute("ALTER TABLE other ADD COLUMN n INT")
        assert client.lines(2)[1] == b"0\t2\t1\t\0\t1\t\0"


@pytest.mark.parametrize("engine", ["MyISAM", "Aria", "MEMORY"])
def test_rows_that_stand_alone_let_alter_table_pass(start: Start, engine: str) -> None:
    """ALTER TABLE has the table's lock from between two rows on, and waits for the metadata lock. So the rows
    go on without it, and on the table as it is then."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1, "lock-wait-timeout": 10})
    database = Database(server, "d")
    with_gated_table(database)
    database.sql(f"ALTER TABLE gated ENGINE = {engine}")
    with server.raw("write") as wire, server.raw("write") as other, database.session() as altering:
        open_ids(wire, database, (1, "gated", "id"))
        open_ids(other, database, (1, "t", "id"))
        with gate(database):
            wire.send(b"1\t++\t1\t4\t1\t2\t1\t3\tE\n")
            wait_at_gate(server)
            alter = threading.Thread(target=altering.execute, args=["ALTER TABLE gated COMMENT = 'altered'"])
            alter.start()
            server.wait_until(
                "ALTER TABLE waits",
                lambda: (
                    server.value(
                        "SELECT COUNT(*) FROM information_schema.processlist"
                        " WHERE info LIKE 'ALTER TABLE gated COMMENT%' AND state LIKE 'Waiting for%'"
                    )
                    == 1
                ),
            )
        assert wire.line() == b"0\t2\t1\t\0\t1\t\0\t!121\t\0\t1\t\0"
        alter.join(120)
        assert not alter.is_alive()
        assert other.ask(b"1\t+\t1\t1") == b"0\t1"
    assert database.sql("SELECT id FROM gated ORDER BY id") == [(1,), (2,), (3,)]
    assert server.counter("rows_inserted") == 4
    assert "altered" in str(database.sql("SHOW CREATE TABLE gated"))


@contextlib.contextmanager
def keeping_busy(wire: RawConnection) -> Iterator[list[bytes]]:
    """The connection has finds answered without a pause. These are the replies so far."""
    count = 3000
    finds = b"1\t=\t1\t1\n" * count
    replies: list[bytes] = []
    is_over = threading.Event()

    def ask() -> None:
        wire.send(finds)
        while not is_over.is_set():
            wire.send(finds)
            replies.extend(wire.lines(count))
        wire.lines(count)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield replies
    finally:
        is_over.set()
        asking.join()


def test_a_table_that_was_changed_for_good_is_waited_for_as_patiently_as_before(start: Start) -> None:
    """The end of a change that stays waits as SQL does. The next request of the worker does not, also where
    the worker has kept the table since then, as it does while it is busy. Without stand-ins, all its clients
    would wait with it."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0})
    database = Database(server, "d")
    database.sql("CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MyISAM")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    with server.raw("write") as wire, server.raw("write") as other, database.session() as holder:
        open_ids(wire, database, (1, "m", "id"))
        open_ids(other, database, (1, "t", "id"))
        statement = "UPDATE m SET id = id WHERE GET_LOCK('gate', 100) + RELEASE_LOCK('gate')"
        holding = threading.Thread(target=holder.execute, args=(statement,))
        with keeping_busy(other) as replies, gate(database):
            assert wire.ask(b"1\t+\t1\t1") == b"0\t1"
            holding.start()
            wait_for_state(server, "User lock", of_worker=False)
            wire.send(b"1\t+\t1\t2\n")
            server.wait_until("it is parked", lambda: server.counter("parked") > 0)
            before = len(replies)
            server.wait_until("others are served", lambda: len(replies) > before + 2)
        assert wire.line() == b"0\t1"
        holding.join()


def test_a_row_that_stands_alone_takes_no_row_with_it_that_was_committed_before(start: Start) -> None:
    """The third row loses its transaction to a deadlock, after the first one was committed."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE shared (id INT PRIMARY KEY, n INT);
        INSERT INTO shared VALUES (1, 0), (2, 0)"""
    )
    database.sql(
        """CREATE TRIGGER logs BEFORE INSERT ON t FOR EACH ROW BEGIN
            INSERT INTO log SELECT NEW.id FROM dual WHERE NEW.id <> 1 OR GET_LOCK('gate', 100) +
                RELEASE_LOCK('gate') > 0;
            IF NEW.id = 3 THEN
                UPDATE shared SET n = n + 1 WHERE id = 1;
                UPDATE shared SET n = n + 1 WHERE id = 2;
            END IF;
        END"""
    )
    request = b"1\t++\t1\t4\t1\t2\t3\t4\tE\n"
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        with (
            deadlock_with_a_heavier_one(database),
            sql_having_table(server, database, client, request, "UPDATE log SET id = id WHERE"),
        ):
            pass
        assert client.line() == b"0\t2\t1\t\0\t1\t\0\t!1213\t\0\t1\t\0"
    assert database.sql("SELECT id FROM t ORDER BY id") == [(1,), (2,), (4,)]
    assert database.sql("SELECT n FROM shared ORDER BY id") == [(10,), (10,)]
    assert server.counter("rows_inserted") == 3


def test_a_row_that_waits_in_place_ends_with_its_client(start: Start) -> None:
    """Without stand-ins, the other clients of the worker wait with it."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0})
    database = Database(server, "d")
    with_gated_table(database)
    database.sql("ALTER TABLE gated ENGINE = MyISAM")
    with server.raw("write") as other, contextlib.ExitStack() as stay:
        open_ids(other, database, (1, "t", "id"))
        leaving = stay.enter_context(server.raw("write"))
        open_ids(leaving, database, (1, "gated", "id"))
        request = b"1\t++\t1\t2\t1\t2\tE\n"
        with sql_having_table(server, database, leaving, request, "INSERT INTO gated SELECT 9 WHERE"):
            stay.close()
            assert other.ask(b"1\t+\t1\t1") == b"0\t1"
    assert database.sql("SELECT id FROM gated ORDER BY id") == [(1,), (9,)]


def test_who_has_waited_for_a_row_in_vain_saves_the_others_their_waits(start: Start) -> None:
    """Without stand-ins, each of them would keep all clients of the worker for as long."""
    clients_count = 20
    server = start(RowSocketServer, {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO t VALUES (1, 0)")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.raw("write")) for _ in range(clients_count)]
        for client in clients:
            open_ids(client, database, (1, "t", "n"))
        with database.session() as holder:
            holder.execute("BEGIN")
            holder.execute("SELECT * FROM t FOR UPDATE")
            waits_before = int(server.status("Innodb_row_lock_waits")["Innodb_row_lock_waits"])
            for client in clients:
                client.send(b"1\t=\t1\t1\t1\t0\t+\t1\n")
            server.wait_until("all are parked", lambda: server.counter("parked") == clients_count)
            waits = int(server.status("Innodb_row_lock_waits")["Innodb_row_lock_waits"]) - waits_before
            holder.execute("COMMIT")
        assert [client.line() for client in clients] == [b"0\t1\t1"] * clients_count
    assert 1 <= waits <= clients_count / 2


@pytest.mark.parametrize(
    "before", [b"2\t+\t1\t1", b"3\t++\t1\t2\t1\t2\tE"], ids=["a trigger", "rows that stay"]
)
def test_behind_requests_of_all_kinds_a_row_is_waited_for_as_shortly_as_before(
    start: Start, before: bytes
) -> None:
    """What a trigger may have set is set again as the server has it, but for how long rows are waited for in
    place. Rows that stay wait as long as they may, and those of others that come with them do not. Without
    stand-ins, all clients of the worker would wait for that long."""
    options = {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0, "innodb-lock-wait-timeout": 1000}
    server = start(RowSocketServer, options)
    database = Database(server, "app")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, n INT);
        INSERT INTO t VALUES (1, 0), (2, 0);
        CREATE TABLE with_trigger (id INT PRIMARY KEY);
        CREATE TRIGGER runs BEFORE INSERT ON with_trigger FOR EACH ROW SET @ran = 1;
        CREATE TABLE stays (id INT PRIMARY KEY) ENGINE=MyISAM;
        CREATE TRIGGER adds BEFORE INSERT ON stays FOR EACH ROW INSERT INTO t VALUES (NEW.id + 10, 0)"""
    )
    with server.raw("write") as client, server.raw("write") as other, database.session() as holder:
        open_ids(client, database, (1, "t", "n"), (2, "with_trigger", "id"), (3, "stays", "id"))
        open_ids(other, database, (1, "t", "n"))
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM t WHERE id = 1 FOR UPDATE")
        client.send(before + b"\n1\t=\t1\t1\t1\t0\t+\t1\n")
        server.wait_until("it waits", lambda: server.counter("parked") == 1)
        assert other.ask(b"1\t=\t1\t2\t1\t0\t+\t1") == b"0\t1\t1"
        holder.execute("COMMIT")
        assert client.line().startswith(b"0\t")
        assert client.line() == b"0\t1\t1"
