# SPDX-License-Identifier: GPL-2.0-only
"""KILL QUERY interrupts the request that is executed, and no other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from support.gate import gate, wait_at_gate, with_gated_table
from support.kills import kill_all
from support.mariadb import Database, RowSocketServer, Start

TABLE_WAIT = "Waiting for table level lock"


@pytest.mark.parametrize("how", ["KILL QUERY", "KILL SOFT QUERY"])
def test_requests_behind_the_one_that_was_killed_are_done(start: Start, how: str) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    with_gated_table(database)
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tgated\t\tid") == [b"0\t1"] * 2
        with gate(database):
            client.send(b"1\t+\t1\t1\n2\t+\t1\t7\n1\t+\t1\t2\n1\t=\t1\t1\n1\t+\t1\t3\n")
            wait_at_gate(server)
            worker = server.value("SELECT id FROM information_schema.processlist WHERE state = 'User lock'")
            server.sql(f"{how} {worker}")
            replies = client.lines(5)
    assert replies[1].startswith(b"1\t1\t")
    assert replies[:1] + replies[2:] == [b"0\t1", b"0\t1", b"0\t1\t1", b"0\t1"]


@pytest.mark.parametrize("how", ["KILL QUERY", "KILL SOFT QUERY"])
@pytest.mark.parametrize(
    ("before", "done"),
    [(b"1\t+\t1\t1", b"0\t1"), (b"2\t++\t1\t2\t8\t9\tE", b"0\t2\t1\t\0\t1\t\0")],
    ids=["a row", "rows that stay"],
)
def test_a_kill_that_came_between_two_requests_is_not_meant_for_the_next_one(
    start: Start, how: str, before: bytes, done: bytes
) -> None:
    """Rows that stay are committed one by one, and a KILL between two of them is for the request. A trigger
    of theirs writes to InnoDB."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.script("""
        CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE log (id INT);
        CREATE TABLE stays (id INT PRIMARY KEY) ENGINE=MyISAM;
        CREATE TRIGGER logs AFTER INSERT ON stays FOR EACH ROW INSERT INTO log VALUES (NEW.id)""")
    with server.raw("write") as client:
        replies = client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tstays\t\tid", before)
        assert replies == [b"0\t1", b"0\t1", done]
        kill_all(server, how)
        assert client.ask(b"1\t+\t1\t2") == b"0\t1"


def test_an_insert_that_is_killed_behind_a_commit_tries_none_of_the_rows_that_are_left(start: Start) -> None:
    """Its first row stays, since Aria takes nothing back. The next ones find the table locked by a reader."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.script(
        """CREATE TABLE a (id INT PRIMARY KEY) ENGINE=Aria;
        INSERT INTO a VALUES (100);
        CREATE TRIGGER at_gate BEFORE INSERT ON a FOR EACH ROW
            SET @passed = IF(NEW.id = 1, GET_LOCK('gate', 100) + RELEASE_LOCK('gate'), 0)"""
    )

    def waiting(who: str) -> list[int]:
        query = f"SELECT id FROM information_schema.processlist WHERE state = '{TABLE_WAIT}' AND {who}"
        return [row[0] for row in server.sql(query)]

    with (
        server.raw("write") as client,
        database.session() as holder,
        database.session() as reader,
        ThreadPoolExecutor(1) as thread,
    ):
        assert client.ask(b"P\t1\tapp\ta\t\tid") == b"0\t1"
        holder.execute("SELECT GET_LOCK('reader', 100)")
        with gate(database):
            client.send(b"1\t++\t1\t3\t1\t2\t3\tE\n")
            wait_at_gate(server)
            reading = thread.submit(reader.execute, "SELECT GET_LOCK('reader', 100) FROM a")
            server.wait_until("the reader waits", lambda: waiting("host <> 'rowsocket'") != [])
        server.wait_until("the second row waits", lambda: waiting("host = 'rowsocket'") != [])
        kill_all(server, "KILL QUERY")
        outcomes = client.line().split(b"\t")[2::2]
        holder.execute("SELECT RELEASE_LOCK('reader')")
        reading.result()
    assert outcomes == [b"1", b"!1317", b"!1317"]
    assert database.sql("SELECT id FROM a ORDER BY id") == [(1,), (100,)]


@pytest.mark.parametrize("how", ["KILL", "KILL SOFT"])
def test_behind_a_kill_a_table_is_waited_for_as_before(start: Start, how: str) -> None:
    """The thread serves others: that it is to end its waits was meant for the request that was killed."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0})
    database = Database(server, "app")
    with_gated_table(database)
    database.sql("CREATE TABLE locked (id INT PRIMARY KEY) ENGINE=MyISAM")
    database.sql("INSERT INTO locked VALUES (100), (200)")
    with (
        server.raw("write") as client,
        database.session() as holder,
        database.session() as reader,
        ThreadPoolExecutor(1) as thread,
    ):
        assert client.ask_all(b"P\t1\tapp\tgated\t\tid", b"P\t2\tapp\tlocked\t\tid") == [b"0\t1"] * 2
        with gate(database):
            client.send(b"1\t+\t1\t1\n")
            wait_at_gate(server)
            worker = server.value("SELECT id FROM information_schema.processlist WHERE state = 'User lock'")
            server.sql(f"{how} {worker}")
            assert client.line().startswith(b"1\t1\t")
        holder.execute("SELECT GET_LOCK('reader', 100)")
        reading = thread.submit(reader.execute, "SELECT GET_LOCK('reader', 100) FROM locked")
        wait_at_gate(server)
        client.send(b"2\t+\t1\t1\n")
        server.wait_until("the request is parked", lambda: server.counter("parked") > 0)
        holder.execute("SELECT RELEASE_LOCK('reader')")
        reading.result()
        assert client.line() == b"0\t1"
