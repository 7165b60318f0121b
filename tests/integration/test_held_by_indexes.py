# SPDX-License-Identifier: GPL-2.0-only
"""What one client can make the server hold is bounded."""

from __future__ import annotations

import contextlib

import pytest

from support.mariadb import RowSocketServer, Start
from support.raw import ConnectionClosed, RawConnection

ONE, OTHER = "a" * 64, "b" * 64
MEBIBYTE = 1 << 20


def columns(number: int) -> bytes:
    """4000 names, another list for each number."""
    return ",".join([ONE] * 3988 + [OTHER if number >> bit & 1 else ONE for bit in range(12)]).encode()


def open_until_closed(client: RawConnection, server: RowSocketServer) -> tuple[int, int]:
    """How many indexes it had open when it was closed, and the most memory of the server on the way, in
    bytes."""
    most = 0
    for number in range(400):
        try:
            client.ask(b"P\t%d\tapp\tt\t\t%s\t%s" % (number, columns(number), columns(number)))
        except (ConnectionClosed, ConnectionResetError, BrokenPipeError):
            return number, most
        most = max(most, server.memory_bytes())
    return 400, most


@pytest.mark.parametrize(
    ("threads_max", "mebibytes_max"), [(0, 300), (64, 360)], ids=["without stand-ins", "with stand-ins"]
)
def test_the_opened_indexes_of_one_connection_take_no_more_than_it_may_hold(
    start: Start, threads_max: int, mebibytes_max: int
) -> None:
    """rowsocket_max_held_bytes is 256 MiB, and rowsocket_max_indexes 4096: ten times as many as here. Opening
    such an index takes so long that stand-ins take over, and each resolves names for itself. Each stand-in
    also has a session and memory for a turn, which are not held for clients."""
    options = {"loose-rowsocket-threads-read": 1, "loose-rowsocket-threads-max": threads_max}
    server = start(RowSocketServer, options)
    server.sql("CREATE DATABASE app")
    server.sql(f"CREATE TABLE app.t (id INT PRIMARY KEY, {ONE} INT, {OTHER} INT)")
    with server.raw("read") as modest:
        assert modest.ask(f"P\t1\tapp\tt\t\t{ONE}".encode()) == b"0\t1"
        before = server.memory_bytes()
        for _ in range(8):  # what a closed connection had open is given back
            with server.raw("read") as greedy:
                opened, most = open_until_closed(greedy, server)
            assert opened < 400
            assert (most - before) // MEBIBYTE < mebibytes_max
        assert modest.ask(b"1\t=\t1\t1") == b"0\t1"
    assert "holds most of too much memory" in server.log_text()


def test_what_stand_ins_resolved_is_counted_and_given_back(start: Start) -> None:
    """Finds that walk for long make another thread serve the ids of everybody else, again and again."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-read": 1, "loose-rowsocket-threads-max": 16})
    server.sql("CREATE DATABASE app")
    server.sql(f"CREATE TABLE app.t (id INT PRIMARY KEY, {ONE} INT, {OTHER} INT)")
    server.sql("INSERT INTO t SELECT seq, 1, 1 FROM seq_1_to_1000", database="app")
    endless = b"0\t=\t1\t1\t1000000000\t0\t@\t0\t9999\t" + b"\t".join([b"1"] * 9999) + b"\tF\t=\t0\t-1"
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.raw("read")) for _ in range(13)]
        greedy, walkers = clients[0], clients[1:]
        assert greedy.ask(b"P\t300\tapp\tt\t\tid") == b"0\t1"
        before = server.memory_bytes()
        ids = range(200)
        for number in ids:
            assert greedy.ask(b"P\t%d\tapp\tt\t\t%s" % (number, columns(number))) == b"0\t1"
        most = 0
        for walker in walkers:
            assert walker.ask(f"P\t0\tapp\tt\t\tid\t{ONE}".encode()) == b"0\t1"
            walker.send(endless + b"\n")
            for number in ids:
                assert greedy.ask(b"%d\t=\t1\t0" % number) == b"0\t4000"
            most = max(most, server.memory_bytes())
        assert (most - before) // MEBIBYTE < 300
