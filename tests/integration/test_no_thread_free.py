# SPDX-License-Identifier: GPL-2.0-only
"""More long requests than threads: those that have none leave the loop to the others, and begin again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

FEW_THREADS = {"rowsocket-threads-read": 1, "rowsocket-threads-write": 1, "rowsocket-threads-max": 4}
MANY = 12
ROWS = 20_000
KEYS = 9_999
KEY_LIST = b"\t".join([b"1"] * KEYS)
ENDLESS = b"0\t=\t1\t1\t1000000000\t0\t@\t0\t%d\t%s\tF\t=\t0\t-1\n" % (KEYS, KEY_LIST)
"""Walks over all rows 10,000 times, and finds none that its filter passes."""


def with_rows(server: RowSocketServer) -> Database:
    """A database with `t`: rows with one value in `same`, and 0 in `n`."""
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, same INT, n INT, KEY (same))")
    database.sql(f"INSERT INTO t SELECT seq, 1, 0 FROM seq_1_to_{ROWS}")
    return database


@contextlib.contextmanager
def endless_finds(server: RowSocketServer, port: str, count: int) -> Iterator[list[RawConnection]]:
    """So many clients, each with a find that does not come to its end. No thread is left."""
    with contextlib.ExitStack() as connections:
        finds = [connections.enter_context(server.raw(port)) for _ in range(count)]
        for find in finds:
            find.ask(b"P\t0\td\tt\tsame\tid\tid")
            find.send(ENDLESS)
        server.wait_until("no thread is left", lambda: server.counter("stand_ins_missed") > 0)
        yield finds


@pytest.mark.parametrize("port", ["read", "write"])
def test_more_endless_finds_than_threads_keep_nobody_else(start: Start, port: str) -> None:
    server = start(RowSocketServer, FEW_THREADS)
    with_rows(server)
    with endless_finds(server, port, MANY), server.raw(port) as other:
        other.ask(b"P\t0\td\tt\t\tid")
        for key in range(1, 200):
            assert other.ask(b"0\t=\t1\t%d" % key) == b"0\t1\t%d" % key
    server.wait_until("all are gone", lambda: server.counter(f"connections_{port}") == 0)


def test_an_update_without_a_thread_is_done_once_when_one_is_free(start: Start) -> None:
    server = start(RowSocketServer, FEW_THREADS)
    database = with_rows(server)
    with server.raw("write") as writer, server.raw("write") as other:
        writer.ask(b"P\t0\td\tt\t\tn")
        other.ask(b"P\t0\td\tt\t\tid")
        with endless_finds(server, "write", MANY):
            writer.send(b"0\t>=\t1\t0\t%d\t0\t+\t1\n" % ROWS)
            for key in range(1, 200):
                assert other.ask(b"0\t=\t1\t%d" % key) == b"0\t1\t%d" % key
        assert writer.line() == b"0\t1\t%d" % ROWS
    assert database.sql("SELECT n, COUNT(*) FROM t GROUP BY n") == [(1, ROWS)]


def test_a_group_without_a_thread_is_done_once_when_one_is_free(start: Start) -> None:
    server = start(RowSocketServer, FEW_THREADS)
    database = with_rows(server)
    updates = b"".join(b"0\t>=\t1\t0\t%d\t0\t+\t1\n" % ROWS for _ in range(2))
    with server.raw("write") as writer:
        writer.ask(b"P\t0\td\tt\t\tn")
        with endless_finds(server, "write", MANY):
            writer.send(b"G\n" + updates + b"E\n")
            with server.raw("write") as other:
                other.ask(b"P\t0\td\tt\t\tid")
                for key in range(1, 200):
                    assert other.ask(b"0\t=\t1\t%d" % key) == b"0\t1\t%d" % key
        lines = [writer.line() for _ in range(4)]
    assert lines[1:3] == [b"0\t1\t%d" % ROWS] * 2
    assert database.sql("SELECT n, COUNT(*) FROM t GROUP BY n") == [(2, ROWS)]


def test_the_time_of_a_request_without_a_thread_is_bounded(start: Start) -> None:
    server = start(RowSocketServer, FEW_THREADS | {"rowsocket-max-request-ms": 1000})
    with_rows(server)
    with endless_finds(server, "read", MANY) as finds:
        assert [find.line() for find in finds] == [b"2\t1\trequesttime"] * MANY
