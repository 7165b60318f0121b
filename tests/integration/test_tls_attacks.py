# SPDX-License-Identifier: GPL-2.0-only
"""Handshakes that are cut, left open or no handshakes at all: bounded, and nobody else is hurt."""

from __future__ import annotations

import contextlib
import random
import resource
import ssl

import pytest

from support.certificates import Authority, prepare_row
from support.mariadb import RowSocketServer, Start
from support.raw import RawConnection

OPEN = b"P\t0\td\tt\t\tid,a"
FIND = b"0\t=\t1\t1"
OK = b"0\t1"
ROW = b"0\t2\t1\t10"

HANDSHAKES_MAX = 1024
"""limits::handshakes_max"""
TIMEOUT_S = 10
"""limits::handshake_timeout_ms"""


def client_hello(authority: Authority) -> bytes:
    """The first bytes of a client."""
    outgoing = ssl.MemoryBIO()
    session = authority.context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()


def client_bytes(authority: Authority, server: RowSocketServer) -> list[bytes]:
    """All that a client sends until it is in, in the pieces between which it waits."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = authority.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    pieces = []
    with RawConnection(server.read_address()) as raw:
        while True:
            try:
                session.do_handshake()
                pieces.append(outgoing.read())
                return pieces
            except ssl.SSLWantReadError:
                if piece := outgoing.read():
                    pieces.append(piece)
                    raw.send(piece)
                incoming.write(raw.socket.recv(1 << 16))


def is_served(server: RowSocketServer, context: ssl.SSLContext) -> bool:
    """A new client comes in and reads its row."""
    with server.raw("read", context) as client:
        return client.ask_all(OPEN, FIND) == [OK, ROW]


def test_a_handshake_may_be_cut_at_every_byte(secured: RowSocketServer, authority: Authority) -> None:
    hello = client_hello(authority)
    failed = secured.counter("tls_handshakes_failed")
    for end in range(1, len(hello)):
        with secured.raw("read") as raw:
            raw.send(hello[:end])
    secured.wait_until(
        "saw them go", lambda: secured.counter("tls_handshakes_failed") == failed + len(hello) - 1
    )
    secured.wait_until("counts none", lambda: secured.counter("connections_read") == 0)
    assert is_served(secured, authority.context())


def test_the_last_flight_may_be_cut_at_every_byte(secured: RowSocketServer, authority: Authority) -> None:
    finished = client_bytes(authority, secured)[-1]
    secured.wait_until("counts none", lambda: secured.counter("connections_read") == 0)
    failed = secured.counter("tls_handshakes_failed")
    for end in range(len(finished)):
        with secured.raw("read") as raw:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            session = authority.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
            with contextlib.suppress(ssl.SSLWantReadError):
                session.do_handshake()
            raw.send(outgoing.read())
            while True:
                incoming.write(raw.socket.recv(1 << 16))
                with contextlib.suppress(ssl.SSLWantReadError):
                    session.do_handshake()
                    break
            raw.send(outgoing.read()[:end])
    secured.wait_until(
        "saw them go", lambda: secured.counter("tls_handshakes_failed") == failed + len(finished)
    )
    assert is_served(secured, authority.context())


@pytest.mark.parametrize("seed", range(3))
def test_garbage_behind_the_first_byte_is_no_handshake(
    secured: RowSocketServer, authority: Authority, seed: int
) -> None:
    chance = random.Random(seed)
    hello = client_hello(authority)
    for _ in range(100):
        data = bytearray(hello)
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(1, len(data))] = chance.randrange(256)
        with secured.raw("write") as raw, contextlib.suppress(ConnectionError):
            raw.send(bytes(data) if chance.random() < 0.7 else b"\x16" + chance.randbytes(400))
            raw.send(OPEN + b"\n" + FIND + b"\n")
    secured.wait_until("closed them", lambda: secured.counter("connections_write") == 0)
    assert is_served(secured, authority.context())
    assert secured.counter("connections_tls") <= 1


def test_plain_requests_behind_a_handshake_are_not_served(
    secured: RowSocketServer, authority: Authority
) -> None:
    requests = secured.counter("requests_open_index")
    with secured.raw("read") as raw:
        raw.send(client_hello(authority) + (OPEN + b"\n") * 10)
        with contextlib.suppress(ConnectionError):
            while raw.socket.recv(1 << 16):
                pass
    assert secured.counter("requests_open_index") == requests


@pytest.mark.slow
def test_a_thousand_half_handshakes_hurt_nobody_and_end(start: Start, authority: Authority) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    server = start(RowSocketServer, {**authority.server_options(), "open-files-limit": 8192})
    prepare_row(server)
    hello = client_hello(authority)
    context = authority.context()
    try:
        with contextlib.ExitStack() as stack:
            inside = stack.enter_context(server.raw("read", context))
            plain = stack.enter_context(server.raw("read"))
            for client in (inside, plain):
                assert client.ask(OPEN) == OK
            before_bytes = server.memory_bytes()
            for number in range(2 * HANDSHAKES_MAX):
                half = stack.enter_context(server.raw("read"))
                half.send(hello if number % 2 else hello[: len(hello) // 2])
                if number % 100 == 0:
                    assert inside.ask(FIND) == ROW
                    assert plain.ask(FIND) == ROW
            server.wait_until(
                "has dropped the oldest",
                lambda: server.counter("tls_handshakes_failed") >= HANDSHAKES_MAX,
            )
            held_bytes = server.memory_bytes() - before_bytes
            assert held_bytes < HANDSHAKES_MAX * 100_000
            assert is_served(server, context)
            for _ in range(100):
                assert inside.ask(FIND) == ROW
                assert plain.ask(FIND) == ROW
            server.wait_until(
                "has ended them",
                lambda: server.counter("tls_handshakes_failed") >= 2 * HANDSHAKES_MAX,
                timeout_s=4 * TIMEOUT_S,
            )
            server.wait_until("closed them", lambda: server.counter("connections_read") == 2)
            assert inside.ask(FIND) == ROW
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_server_stops_in_the_middle_of_handshakes(start: Start, authority: Authority) -> None:
    server = start(RowSocketServer, authority.server_options())
    hello = client_hello(authority)
    with contextlib.ExitStack() as stack:
        for number in range(50):
            stack.enter_context(server.raw("read")).send(hello[: 1 + number])
        stack.enter_context(server.raw("write", authority.context())).send(b"P")
        server.stop()


def test_the_plugin_is_uninstalled_in_the_middle_of_handshakes(start: Start, authority: Authority) -> None:
    server = start(RowSocketServer, authority.server_options())
    hello = client_hello(authority)
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            for number in range(20):
                stack.enter_context(server.raw("read")).send(hello[: 1 + number])
            stack.enter_context(server.raw("write", authority.context())).send(b"P")
            server.sql("UNINSTALL SONAME 'rowsocket'")
            server.sql("INSTALL SONAME 'rowsocket'")
    prepare_row(server)
    assert is_served(server, authority.context())
