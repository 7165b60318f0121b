# SPDX-License-Identifier: GPL-2.0-only
"""A request costs its own client: whoever else is on the same worker goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from support.gate import gate, open_ids, wait_at_gate, with_gated_table
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

ONE_WORKER = {"rowsocket-threads-read": 1, "rowsocket-threads-write": 1, "rowsocket-threads-max": 8}
KEYS = 9_999


def with_rows(server: RowSocketServer) -> Database:
    """A database with `t`: 20,000 rows with one value in `same`."""
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, same INT, KEY (same))")
    database.sql("INSERT INTO t SELECT seq, 1 FROM seq_1_to_20000")
    return database


@contextlib.contextmanager
def endless_find(server: RowSocketServer, port: str) -> Iterator[RawConnection]:
    """Walks over all rows 10,000 times, and finds none that its filter passes. KILL ends it."""
    with server.raw(port) as connection:
        connection.ask(b"P\t0\td\tt\tsame\tid\tid")
        keys = b"\t".join([b"1"] * KEYS)
        connection.send(b"0\t=\t1\t1\t1000000000\t0\t@\t0\t%d\t%s\tF\t=\t0\t-1\n" % (KEYS, keys))
        try:
            yield connection
        finally:
            for row in server.sql("SHOW PROCESSLIST"):
                if row[1] == "rowsocket":
                    server.sql(f"KILL QUERY {row[0]}")


@pytest.mark.parametrize("port", ["read", "write"])
def test_an_endless_find_holds_up_no_other_client(start: Start, port: str) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    with_rows(server)
    with server.raw(port) as other, endless_find(server, port):
        other.ask(b"P\t0\td\tt\t\tid")
        for key in range(1, 50):
            assert other.ask(b"0\t=\t1\t%d" % key) == b"0\t1\t%d" % key
    assert server.counter("hand_overs") >= 1


def test_many_endless_finds_use_as_many_threads_as_are_allowed(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER | {"rowsocket-threads-max": 4})
    with_rows(server)
    with contextlib.ExitStack() as finds, server.raw("write") as other:
        for _ in range(3):
            finds.enter_context(endless_find(server, "read"))
        server.wait_until("no thread is left", lambda: server.counter("stand_ins_missed") > 0)
        other.ask(b"P\t0\td\tt\t\tid")
        assert other.ask(b"0\t=\t1\t1") == b"0\t1\t1"
        sessions = [row for row in server.sql("SHOW PROCESSLIST") if row[1] == "rowsocket"]
        assert len(sessions) == 4


def test_a_write_that_waits_in_a_trigger_holds_up_no_other_client(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    database = Database(server, "d")
    with_gated_table(database)
    with server.raw("write") as waiting, server.raw("write") as other:
        open_ids(waiting, database, (1, "gated", "id"))
        open_ids(other, database, (1, "t", "id,n"))
        with gate(database):
            waiting.send(b"1\t+\t1\t1\n")
            wait_at_gate(server)
            assert other.ask(b"1\t+\t2\t1\t5") == b"0\t1"
            assert database.sql("SELECT id, n FROM t") == [(1, 5)]
        assert waiting.line() == b"0\t1"
    assert database.sql("SELECT id FROM gated") == [(1,)]


def test_a_worker_without_stand_ins_serves_as_before(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER | {"rowsocket-threads-max": 0})
    with_rows(server)
    with server.raw("read") as client:
        client.ask(b"P\t0\td\tt\t\tid")
        assert client.ask(b"0\t=\t1\t7") == b"0\t1\t7"
    assert server.counter("hand_overs") == 0
