# SPDX-License-Identifier: GPL-2.0-only
"""What connections cost in memory, seen from outside: the resident memory of the server."""

from __future__ import annotations

import resource
from contextlib import ExitStack

from support.mariadb import RowSocketServer, Start
from support.raw import RawConnection

CONNECTIONS = 2000
BYTES_PER_CONNECTION_MAX = 8 * 1024
# After the first round; the allocator's own unrest is about 300 bytes of it, and ends after some rounds.
ROUNDS = 4
BYTES_LEFT_BEHIND_MAX = 1024


def connect_many(server: RowSocketServer, stack: ExitStack) -> None:
    """Open connections as clients do: each opens two indexes and reads once, then is idle."""
    address = server.read_address()
    for _ in range(CONNECTIONS):
        connection = stack.enter_context(RawConnection(address))
        replies = connection.ask_all(b"P\t0\tapp\tt\t\tk,v", b"P\t1\tapp\tt\tby_v\tk\tv", b"0\t=\t1\t1")
        assert replies == [b"0\t1", b"0\t1", b"0\t2\t1\tone"]


def test_an_idle_connection_costs_little_and_gives_it_back(start: Start) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, CONNECTIONS + 1000)), hard))
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
