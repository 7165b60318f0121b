# SPDX-License-Identifier: GPL-2.0-only
"""Requests inside TLS that wait or take long, on threads of their own: the connection goes with them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from support.certificates import Authority, prepare_row
from support.mariadb import RowSocketServer, Start
from support.raw import RawConnection

OK = b"0\t1"
CHANGED = b"0\t1\t1"
LARGE_BYTES = 3_000_000
ONE_WORKER = {"rowsocket-threads-read": 1, "rowsocket-threads-write": 1, "rowsocket-port-read": 65536}


@pytest.fixture
def one_worker(start: Start, authority: Authority) -> RowSocketServer:
    """One worker for all; `d.t` has the row (1, 10), and `d.large` a large one."""
    server = start(RowSocketServer, {**authority.server_options(), **ONE_WORKER, "max-allowed-packet": "16M"})
    prepare_row(server)
    server.sql("CREATE TABLE d.large (id INT PRIMARY KEY, value LONGTEXT)")
    server.sql(f"INSERT INTO d.large VALUES (1, REPEAT('x', {LARGE_BYTES}))")
    return server


def increment(connection: RawConnection) -> None:
    """Ask for one more in the row."""
    connection.send(b"0\t=\t1\t1\t1\t0\t+\t1\n")


def test_a_request_that_waits_for_a_row_holds_up_no_other_client(
    one_worker: RowSocketServer, authority: Authority
) -> None:
    context = authority.context()
    with one_worker.raw("write", context) as waiting, one_worker.raw("write", context) as other:
        assert waiting.ask(b"P\t0\td\tt\t\ta") == OK
        assert waiting.ask(b"P\t1\td\tlarge\t\tvalue") == OK
        assert other.ask(b"P\t0\td\tlarge\t\tid") == OK
        with held_row(one_worker):
            increment(waiting)
            waiting.send(b"1\t=\t1\t1\n")  # stands behind it
            one_worker.wait_until("waits on a thread of its own", lambda: has_waited(one_worker))
            for _ in range(100):
                assert other.ask(b"0\t=\t1\t1") == b"0\t1\t1"
        assert waiting.line() == CHANGED
        assert waiting.line() == b"0\t1\t" + b"x" * LARGE_BYTES
    assert one_worker.value("SELECT a FROM d.t") == 11


def test_a_large_reply_of_a_request_that_took_long_comes_whole(
    one_worker: RowSocketServer, authority: Authority
) -> None:
    """The thread that ran the request sends its reply, while another one has the worker."""
    one_worker.sql("INSERT INTO d.large SELECT seq, '' FROM d.seq_2_to_200000")
    context = authority.context()
    with one_worker.raw("write", context) as long, one_worker.raw("write", context) as other:
        assert long.ask(b"P\t0\td\tlarge\t\tid,value") == OK
        assert other.ask(b"P\t0\td\tt\t\ta") == OK
        before = one_worker.counter("hand_overs")
        for _ in range(5):
            long.send(b"0\t>=\t1\t1\t200000\t0\n")
            assert other.ask(b"0\t=\t1\t1") == b"0\t1\t10"
            line = long.line()
            assert line.startswith(b"0\t2\t1\t" + b"x" * LARGE_BYTES + b"\t2\t")
            assert line.endswith(b"\t200000\t")
        assert one_worker.counter("hand_overs") > before


def test_a_client_that_goes_while_its_request_waits_is_forgotten(
    one_worker: RowSocketServer, authority: Authority
) -> None:
    with held_row(one_worker):
        with one_worker.raw("write", authority.context()) as waiting:
            assert waiting.ask(b"P\t0\td\tt\t\ta") == OK
            increment(waiting)
            one_worker.wait_until("waits on a thread of its own", lambda: has_waited(one_worker))
        one_worker.wait_until("is stopped", lambda: one_worker.counter("requests_stopped") == 1)
    one_worker.wait_until("is closed", lambda: one_worker.counter("connections_tls") == 0)
    assert one_worker.value("SELECT a FROM d.t") == 10


def has_waited(server: RowSocketServer) -> bool:
    """A request went to a thread of its own."""
    return server.counter("waited_alone") > 0


@contextlib.contextmanager
def held_row(server: RowSocketServer) -> Iterator[None]:
    """A transaction of SQL holds the row."""
    with contextlib.closing(server.connect("d")) as connection, connection.cursor() as session:
        session.execute("BEGIN")
        session.execute("SELECT * FROM d.t WHERE id = 1 FOR UPDATE")
        yield
        session.execute("COMMIT")
