# SPDX-License-Identifier: MIT
"""What would put a client out of step with its server, so that it took one request's reply for another's: a
failed open, a reply too many, a call that is interrupted, a pool that is closed while its connections are
out."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from typing import Callable

import pytest

import rowsocket
import rowsocket.aio
from fake_server import FakeServer, Peer
from rowsocket import ConnectionPool

OPEN = b"P\t0\tapp\tuser\tPRIMARY\tid\t"
GET = b"0\t=\t1\t%d\t1\t0"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where the tests were started in the background, which ignores
    it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def in_step(peer: Peer) -> None:
    """What a new connection is asked after the one before lost its step."""
    peer.expect(OPEN, GET % 2)
    peer.send(b"0\t1\n0\t1\t2\n")


def refuses_the_first_open(peer: Peer) -> None:
    peer.expect(OPEN)
    peer.send(b"1\t1\topen_table\n")
    peer.expect(OPEN)
    peer.send(b"0\t1\n")
    peer.expect(GET % 1)
    peer.send(b"0\t1\t1\n")


def test_an_open_that_failed_is_tried_again() -> None:
    with (
        FakeServer(refuses_the_first_open) as server,
        rowsocket.connect(port=server.port, text=True) as connection,
    ):
        with pytest.raises(rowsocket.OpenTableError):
            connection.open_index("app", "user", ["id"])
        assert connection.open_index("app", "user", ["id"]).get(1) == ("1",)


def test_an_open_that_failed_is_tried_again_by_an_asyncio_connection() -> None:
    async def use(port: int) -> None:
        async with await rowsocket.aio.connect(port=port, text=True) as connection:
            with pytest.raises(rowsocket.OpenTableError):
                await connection.open_index("app", "user", ["id"])
            users = await connection.open_index("app", "user", ["id"])
            assert await users.get(1) == ("1",)

    with FakeServer(refuses_the_first_open) as server:
        asyncio.run(use(server.port))


def test_an_open_that_failed_before_a_request_is_tried_again_by_the_next() -> None:
    def loses_the_index(peer: Peer) -> None:
        peer.expect(OPEN)
        peer.send(b"0\t1\n")
        peer.read()

    def opens_it_at_the_second_try(peer: Peer) -> None:
        peer.expect(OPEN, GET % 1)
        peer.send(b"1\t1\topen_table\n2\t1\tstmtnum\n")
        peer.expect(OPEN, GET % 2)
        peer.send(b"0\t1\n0\t1\t2\n")

    with FakeServer(loses_the_index, opens_it_at_the_second_try) as server:
        users = rowsocket.connect(port=server.port, text=True).open_index("app", "user", ["id"])
        with pytest.raises(rowsocket.OpenTableError):
            users.get(1)
        assert users.get(2) == ("2",)


def test_a_reply_too_many_breaks_the_connection() -> None:
    def says_too_much(peer: Peer) -> None:
        peer.expect(OPEN)
        peer.send(b"0\t1\n")
        peer.expect(GET % 1)
        peer.send(b"0\t1\t1\n0\t1\t99\n")
        peer.until_closed()

    with FakeServer(says_too_much, in_step) as server:
        users = rowsocket.connect(port=server.port, text=True).open_index("app", "user", ["id"])
        assert users.get(1) == ("1",)
        assert users.get(2) == ("2",)


DELETE = b"0\t=\t1\t%d\t1\t0\tD"


def says_that_it_ends(answer: bytes) -> Callable[[Peer], None]:
    """A server that closes a connection behind this answer, but later than the next request would come."""

    def conversation(peer: Peer) -> None:
        peer.expect(OPEN)
        peer.send(b"0\t1\n")
        peer.expect(DELETE % 1)
        peer.send(answer + b"\n")
        peer.until_closed()

    return conversation


@pytest.mark.parametrize("answer", [b"2\t1\ttoolong", b"3\t1\ttls"])
def test_an_answer_that_ends_the_connection_ends_it_here_too(answer: bytes) -> None:
    with FakeServer(says_that_it_ends(answer), in_step) as server:
        users = rowsocket.connect(port=server.port, text=True).open_index("app", "user", ["id"])
        with pytest.raises(rowsocket.ServerError, match=r"toolong|tls"):
            users.delete(1)
        assert users.get(2) == ("2",)


@pytest.mark.parametrize("answer", [b"2\t1\ttoolong", b"3\t1\ttls"])
def test_an_answer_that_ends_the_connection_ends_that_of_asyncio_too(answer: bytes) -> None:
    async def use(port: int) -> None:
        async with await rowsocket.aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            with pytest.raises(rowsocket.ServerError, match=r"toolong|tls"):
                await users.delete(1)
            assert await users.get(2) == ("2",)

    with FakeServer(says_that_it_ends(answer), in_step) as server:
        asyncio.run(use(server.port))


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_call_breaks_the_connection() -> None:
    def interrupts(peer: Peer) -> None:
        peer.expect(OPEN)
        peer.send(b"0\t1\n")
        peer.expect(GET % 1)
        os.kill(os.getpid(), signal.SIGINT)
        peer.until_closed()

    with FakeServer(interrupts, in_step) as server:
        users = rowsocket.connect(port=server.port, text=True).open_index("app", "user", ["id"])
        with pytest.raises(KeyboardInterrupt):
            users.get(1)
        assert users.get(2) == ("2",)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_write_is_not_sent_again() -> None:
    def interrupts(peer: Peer) -> None:
        peer.expect(OPEN)
        peer.send(b"0\t1\n")
        peer.expect(b"0\t=\t1\t1\t1\t0\tD")
        os.kill(os.getpid(), signal.SIGINT)
        peer.until_closed()

    with FakeServer(interrupts) as server:
        users = rowsocket.connect(port=server.port, text=True).open_index("app", "user", ["id"])
        with pytest.raises(KeyboardInterrupt):
            users.delete(1)


def test_a_pool_that_was_closed_closes_the_connections_that_come_back() -> None:
    came_back = threading.Event()

    def conversation(peer: Peer) -> None:
        peer.expect(OPEN)
        peer.send(b"0\t1\n")
        peer.until_closed()
        came_back.set()

    with FakeServer(conversation) as server:
        pool = ConnectionPool(port=server.port, text=True)
        with pool.connection() as connection:
            connection.open_index("app", "user", ["id"])
            pool.close()
            assert not came_back.is_set()
        assert came_back.wait(10)
        with pytest.raises(rowsocket.ConnectionLost), pool.connection():
            pass


def test_an_asyncio_pool_that_was_closed_closes_the_connections_that_come_back() -> None:
    came_back = threading.Event()

    def conversation(peer: Peer) -> None:
        peer.expect(OPEN)
        peer.send(b"0\t1\n")
        peer.until_closed()
        came_back.set()

    async def use(port: int) -> None:
        pool = rowsocket.aio.ConnectionPool(port=port, text=True)
        async with pool.connection() as connection:
            await connection.open_index("app", "user", ["id"])
            await pool.close()
            assert not came_back.is_set()
        assert await asyncio.to_thread(came_back.wait, 10)
        with pytest.raises(rowsocket.ConnectionLost):
            async with pool.connection():
                pass

    with FakeServer(conversation) as server:
        asyncio.run(use(server.port))
