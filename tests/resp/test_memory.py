# SPDX-License-Identifier: GPL-2.0-only
"""What clients have the server remember of them is bounded: names, and commands between MULTI and EXEC."""

from __future__ import annotations

from contextlib import ExitStack

from support.mariadb import Start
from support.raw import ConnectionClosed
from support.resp import RespConnection, RespServer, encoded

MEBIBYTE = 2**20
COMMAND_BYTES = 15_000
COMMANDS = 200


def takes_all(client: RespConnection) -> bool:
    """Whether all commands were taken, and the connection is open."""
    try:
        return client.lines(COMMANDS + 1)[-1] == b"+QUEUED\r"
    except ConnectionClosed:
        return False


def is_served(client: RespConnection) -> bool:
    """Whether the connection is open still, with what it collected."""
    try:
        client.send(encoded("CLIENT", "ID"))  # refused between MULTI and EXEC
        return client.line().startswith(b"-ERR ")
    except (ConnectionClosed, ConnectionError):
        return False


def test_commands_that_wait_for_exec_count_as_held_memory(start: Start) -> None:
    held_bytes_max = 32 * MEBIBYTE
    server = start(
        RespServer,
        {
            "loose-rowsocket-max-held-bytes": held_bytes_max,
            "loose-rowsocket-max-line-bytes": 4 * MEBIBYTE,
            "loose-rowsocket-max-reply-bytes": MEBIBYTE,
            "loose-rowsocket-threads-write": 1,
        },
    )
    server.prepare()
    collected = encoded("MULTI") + COMMANDS * encoded("SET", "m", "z" * COMMAND_BYTES)
    with ExitStack() as stack:
        clients = [stack.enter_context(server.resp()) for _ in range(20)]
        for client in clients:
            client.send(collected)
        taken = [client for client in clients if takes_all(client)]
        open_still = [client for client in taken if is_served(client)]
        assert 0 < len(open_still) * COMMANDS * COMMAND_BYTES <= held_bytes_max
        with server.resp() as client:
            assert client.command("PING") == b"+PONG\r\n"


def test_commands_that_waited_for_exec_leave_no_memory_behind(start: Start) -> None:
    """What the allocator keeps of texts that grew is nobody's, and counts for nobody."""
    held_bytes_max = 256 * MEBIBYTE
    server = start(
        RespServer,
        {"loose-rowsocket-max-held-bytes": held_bytes_max, "loose-rowsocket-threads-write": 1},
    )
    server.prepare()
    with server.resp() as client:
        assert client.command("SET", "m", "z" * MEBIBYTE) == b"+OK\r\n"
    before = server.memory_bytes()
    collected = encoded("MULTI") + 8 * encoded("SET", "m", "z" * 1_000_000)
    for _ in range(2):
        with ExitStack() as stack:
            clients = [stack.enter_context(server.resp()) for _ in range(25)]
            for client in clients:
                client.send(collected)
                assert client.lines(9)[-1] == b"+QUEUED\r"
            assert server.memory_bytes() - before < held_bytes_max
        server.wait_until("has the memory back", lambda: server.memory_bytes() - before < 32 * MEBIBYTE)


def test_a_name_is_bounded(start: Start) -> None:
    server = start(RespServer)
    server.prepare()
    with server.resp() as client:
        assert client.command("CLIENT", "SETNAME", "n" * 256) == b"+OK\r\n"
        assert client.command("CLIENT", "SETNAME", "n" * 257).startswith(b"-ERR Client names ")
        assert client.command("HELLO", 3, "SETNAME", "n" * MEBIBYTE).startswith(b"-ERR Client names ")
