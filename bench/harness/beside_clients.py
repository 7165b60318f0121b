# SPDX-License-Identifier: GPL-2.0-only
"""The clients of the cases of `./x bench fair`: threads of the harness that send, and take what comes."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from typing import cast

from bench.harness.servers import RowSocketOverTcp

from support.raw import RawConnection

Stop = threading.Event


def connect(server: RowSocketOverTcp, port: str, timeout_s: float = 1.0) -> RawConnection:
    """To one of the ports, `read` or `write`."""
    address = server.write_address() if port == "write" else server.read_address()
    return RawConnection(address, timeout_s=timeout_s)


def clients(
    count: int, server: RowSocketOverTcp, port: str, stop: Stop, opens: bytes, request: bytes
) -> list[threading.Thread]:
    """So many clients that send the request, take whatever comes for it, and send it again."""
    ends = request.count(b"\n")

    def one() -> None:
        with connect(server, port) as wire:
            wire.ask(opens)
            threading.Thread(target=_send_all, args=(wire.socket, request), daemon=True).start()
            seen = 0
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    piece = wire.socket.recv(1 << 20)
                    if not piece:
                        return
                    seen += piece.count(b"\n")
                    if seen == ends:
                        seen = 0
                        sender = threading.Thread(target=_send_all, args=(wire.socket, request), daemon=True)
                        sender.start()

    threads = [threading.Thread(target=one, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def newcomers(
    count: int, server: RowSocketOverTcp, port: str, stop: Stop, opens: bytes, request: bytes
) -> list[threading.Thread]:
    """So many clients that connect anew for each request."""
    lines = opens + b"\n" + request
    ends = lines.count(b"\n")

    def one() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError), connect(server, port) as wire:
                wire.socket.sendall(lines)
                seen = 0
                while seen < ends and (piece := wire.socket.recv(1 << 16)):
                    seen += piece.count(b"\n")

    threads = [threading.Thread(target=one, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def light_clients(
    count: int, server: RowSocketOverTcp, port: str, stop: Stop, opens: bytes, request: bytes
) -> list[threading.Thread]:
    """So many clients that one thread serves, since each request costs the server little more than a thread
    of its own would cost. A reply has one line.
    """

    def serve() -> None:
        with contextlib.ExitStack() as stack, selectors.DefaultSelector() as sockets:
            for _ in range(count):
                wire = stack.enter_context(connect(server, port))
                wire.ask(opens)
                wire.socket.sendall(request)
                sockets.register(wire.socket, selectors.EVENT_READ)
            while not stop.is_set():
                for key, _ in sockets.select(0.1):
                    ready = cast(socket.socket, key.fileobj)
                    if ready.recv(1 << 16).endswith(b"\n"):
                        ready.sendall(request)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return [thread]


def _send_all(wire: socket.socket, request: bytes) -> None:
    """While another thread receives: a server that waits for its replies to be taken reads nothing."""
    at = 0
    with contextlib.suppress(OSError):
        while at < len(request):
            with contextlib.suppress(TimeoutError):
                at += wire.send(request[at : at + (1 << 18)])


def nonblocking(address: tuple[str, int]) -> socket.socket:
    """A socket that waits for nothing."""
    wire = socket.create_connection(address)
    wire.setblocking(False)
    return wire
