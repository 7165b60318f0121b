# SPDX-License-Identifier: GPL-2.0-only
"""What connections cost in memory, seen from outside: the resident memory of the server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from support.mariadb import RowSocketServer, Start
from support.raw import RawConnection

CONNECTIONS = 2000
BYTES_PER_CONNECTION_MAX = 8 * 1024
# After the first round; the allocator's own unrest is about 300 bytes of it, and ends after some rounds.
ROUNDS = 4
MEBIBYTE = 1 << 20
BYTES_LEFT_BEHIND_MAX = 1024


def connect_many(server: RowSocketServer, stack: ExitStack) -> None:
    """Open connections as clients do: each opens two indexes and reads once, then is idle."""
    address = server.read_address()
    for _ in range(CONNECTIONS):
        connection = stack.enter_context(RawConnection(address))
        replies = connection.ask_all(b"P\t0\tapp\tt\t\tk,v", b"P\t1\tapp\tt\tby_v\tk\tv", b"0\t=\t1\t1")
        assert replies == [b"0\t1", b"0\t1", b"0\t2\t1\tone"]


def test_an_idle_connection_costs_little_and_gives_it_back(start: Start) -> None:
    server = start(RowSocketServer)
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (k INT PRIMARY KEY, v VARCHAR(20), KEY by_v (v))")
    server.sql("INSERT INTO app.t VALUES (1, 'one')")
    with server.raw("read") as warm:
        assert warm.ask_all(b"P\t0\tapp\tt\t\tk,v", b"0\t=\t1\t1") == [b"0\t1", b"0\t2\t1\tone"]
    before = server.memory_bytes()
    with ExitStack() as stack:
        connect_many(server, stack)
        assert server.counter("connections_read") == CONNECTIONS
        cost = (server.memory_bytes() - before) / CONNECTIONS
    assert cost <= BYTES_PER_CONNECTION_MAX
    server.wait_until("has closed them", lambda: server.counter("connections_read") == 0)
    once = server.memory_bytes()
    for _ in range(ROUNDS):
        with ExitStack() as stack:
            connect_many(server, stack)
        server.wait_until("has closed them", lambda: server.counter("connections_read") == 0)
    left_behind = (server.memory_bytes() - once) / (ROUNDS * CONNECTIONS)
    assert left_behind < BYTES_LEFT_BEHIND_MAX


def test_memory_of_a_flood_is_given_back_while_others_stay(start: Start) -> None:
    """Halves of large requests, between connections that keep small things in memory."""
    options = {
        "rowsocket-threads-read": 1,
        "loose-rowsocket-max-held-bytes": 1 << 30,
        "rowsocket-max-line-bytes": 64 << 20,
    }
    server = start(RowSocketServer, options)
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (k INT PRIMARY KEY, v VARCHAR(20))")
    opens = [b"P\t%d\tapp\tt\t\t%s" % (number, b",".join([b"k"] * (number + 1))) for number in range(40)]
    with ExitStack() as stay:
        with ExitStack() as flood:
            largest = flood.enter_context(RawConnection(server.read_address()))
            largest.send(b"0\t=\t1\t" + b"1" * (30 * MEBIBYTE))
            server.wait_until("has received it", lambda: server.counter("bytes_received") >= 30 * MEBIBYTE)
            largest.close()
            server.wait_until("has closed it", lambda: server.counter("connections_read") == 0)
            before = server.memory_bytes()
            for number in range(120):
                flooding = flood.enter_context(RawConnection(server.read_address()))
                flooding.send(b"0\t=\t1\t" + b"1" * MEBIBYTE)
                staying = stay.enter_context(RawConnection(server.read_address()))
                assert staying.ask_all(*(line + b",k" * number for line in opens)) == [b"0\t1"] * len(opens)
            server.wait_until("has received all", lambda: server.counter("bytes_received") >= 150 * MEBIBYTE)
            peak = server.memory_bytes()
        server.wait_until("has closed them", lambda: server.counter("connections_read") == 120)
        assert peak - before > 80 * MEBIBYTE
        assert server.memory_bytes() - before < 40 * MEBIBYTE


def test_large_requests_that_are_too_much_together_are_done_one_after_the_other(start: Start) -> None:
    """Lines of 2 MiB of 30 clients, where a worker may hold 26 MiB."""
    options = {
        "rowsocket-threads-write": 1,
        "rowsocket-max-line-bytes": 4 * MEBIBYTE,
        "rowsocket-max-reply-bytes": MEBIBYTE,
        "loose-rowsocket-max-held-bytes": MEBIBYTE,  # twice what one connection may hold, all the same
    }
    server = start(RowSocketServer, options)
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (k INT PRIMARY KEY, v LONGTEXT)")
    value = b"x" * (2 * MEBIBYTE)

    def insert(key: int) -> bytes:
        with server.raw("write") as client:
            assert client.ask(b"P\t0\tapp\tt\t\tk,v") == b"0\t1"
            return client.ask(b"0\t+\t2\t%d\t%s" % (key, value))

    with ThreadPoolExecutor(30) as clients:
        assert set(clients.map(insert, range(30))) == {b"0\t1"}
    assert server.value(f"SELECT COUNT(*) FROM app.t WHERE LENGTH(v) = {len(value)}") == 30


def test_a_reply_beyond_its_bound_is_refused_before_its_memory_is_taken(start: Start) -> None:
    # Another thread would read the row into memory of its own.
    server = start(
        RowSocketServer,
        {"rowsocket-max-reply-bytes": 1 << 20, "rowsocket-threads-read": 1, "rowsocket-threads-max": 0},
    )
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (k INT PRIMARY KEY, v LONGTEXT)")
    server.sql("INSERT INTO app.t VALUES (1, REPEAT('x', 8000000)), (2, REPEAT('x', 1040000))")
    with server.raw("read") as wire:
        assert wire.ask(b"P\t0\tapp\tt\t\tv\tv") == b"0\t1"
        assert (
            wire.ask(b"0\t=\t1\t1\t1\t0\tF\t<\t0\t") == b"0\t1"
        )  # the engine reads the row, nobody replies it
        peak = server.memory_peak_bytes()
        for _ in range(3):
            assert wire.ask(b"0\t=\t1\t1") == b"2\t1\treplylen"
        assert len(wire.ask(b"0\t=\t1\t2")) == len(b"0\t1\t") + 1040000
        assert server.memory_peak_bytes() - peak < 6 * MEBIBYTE
