# SPDX-License-Identifier: GPL-2.0-only
"""The replies of many clients leave with one call of the system, where the kernel has io_uring for us."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pymysql
import pytest

from support.mariadb import RowSocketServer, Start
from support.plugin import make_table, opened
from support.raw import RawConnection


def ring_count(server: RowSocketServer) -> int:
    """How many rings the process has."""
    assert server.process is not None
    count = 0
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            count += "io_uring" in str(link.readlink())
    return count


def has_ring(server: RowSocketServer, clients: list[RawConnection]) -> bool:
    """Whether it has one when all have asked again. The kernel is asked for it when it is first needed."""
    for client in clients:
        client.send(b"1\t=\t1\t10\n")
    for client in clients:
        client.line()
    return ring_count(server) > 0


@pytest.mark.parametrize("io_uring", ["ON", "OFF"])
def test_clients_have_their_replies_with_and_without_it(start: Start, io_uring: str) -> None:
    # The engine would have rings of its own.
    server = start(RowSocketServer, {"loose-rowsocket-io-uring": io_uring, "innodb-use-native-aio": "OFF"})
    make_table(server)
    with contextlib.ExitStack() as stack:
        clients = [opened(stack.enter_context(server.raw("write"))) for _ in range(300)]
        for number, client in enumerate(clients):
            client.send(b"1\t+\t2\t%d\tof %d\n1\t=\t1\t%d\n" % (number + 10, number, number + 10))
        for number, client in enumerate(clients):
            assert client.line() == b"0\t1"
            assert client.line() == b"0\t2\t%d\tof %d" % (number + 10, number)
        if io_uring == "OFF":
            assert ring_count(server) == 0
        elif "goes on without io_uring" not in server.log_text():
            server.wait_until("two have their replies in one turn", lambda: has_ring(server, clients))


def test_it_is_chosen_at_start(server: RowSocketServer) -> None:
    with pytest.raises(pymysql.err.MySQLError, match="read only"):
        server.sql("SET GLOBAL rowsocket_io_uring = OFF")


def test_the_rings_go_with_the_plugin(start: Start) -> None:
    server = start(RowSocketServer, {"innodb-use-native-aio": "OFF"})
    make_table(server)
    with contextlib.ExitStack() as stack:
        clients = [opened(stack.enter_context(server.raw("write"))) for _ in range(50)]
        if "goes on without io_uring" not in server.log_text():
            server.wait_until("two have their replies in one turn", lambda: has_ring(server, clients))
    server.sql("UNINSTALL SONAME 'rowsocket'")
    assert ring_count(server) == 0
