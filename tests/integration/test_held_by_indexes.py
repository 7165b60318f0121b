# SPDX-License-Identifier: GPL-2.0-only
"""What one client can make the server hold is bounded."""

from __future__ import annotations

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


def test_the_opened_indexes_of_one_connection_take_no_more_than_it_may_hold(start: Start) -> None:
    """rowsocket_max_held_bytes is 256 MiB, and rowsocket_max_indexes 4096: ten times as many as here."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-read": 1})
    server.sql("CREATE DATABASE app")
    server.sql(f"CREATE TABLE app.t (id INT PRIMARY KEY, {ONE} INT, {OTHER} INT)")
    with server.raw("read") as modest:
        assert modest.ask(f"P\t1\tapp\tt\t\t{ONE}".encode()) == b"0\t1"
        before = server.memory_bytes()
        for _ in range(3):  # what a closed connection had open is given back
            with server.raw("read") as greedy:
                opened, most = open_until_closed(greedy, server)
            assert opened < 400
            assert (most - before) // MEBIBYTE < 300
        assert modest.ask(b"1\t=\t1\t1") == b"0\t1"
    assert "holds most of too much memory" in server.log_text()
