# SPDX-License-Identifier: MIT
"""How long a call may take, against a server that does what the test says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import rowsocket
import rowsocket._session
import rowsocket.aio.connection
import rowsocket.connection
from fake_server import FakeServer, Peer
from rowsocket import ConnectionPool, aio
from rowsocket._options import LONGEST_TIMEOUT_S
from rowsocket._session import Session
from test_aio import until_closed
from test_pool import echo_keys

MORE_THAN_A_SOCKET_TAKES_AT_ONCE = "x" * 100_000


@pytest.mark.parametrize("timeout", [60, LONGEST_TIMEOUT_S, None])
def test_any_timeout_will_do_for_a_large_request(timeout: float | None) -> None:
    """The system's own calls take no number of any size."""
    with (
        FakeServer(echo_keys) as server,
        rowsocket.connect(port=server.port, timeout=timeout, text=True) as connection,
    ):
        texts = connection.open_index("app", "user", ["id"])
        assert texts.get(MORE_THAN_A_SOCKET_TAKES_AT_ONCE) == (MORE_THAN_A_SOCKET_TAKES_AT_ONCE,)


@pytest.mark.parametrize("timeout", [60, LONGEST_TIMEOUT_S, None])
def test_any_timeout_will_do_for_a_pool(timeout: float | None) -> None:
    with (
        FakeServer(echo_keys) as server,
        ConnectionPool(port=server.port, timeout=timeout, max_size=10**9, text=True) as pool,
    ):
        assert pool.open_index("app", "user", ["id"]).get(1) == ("1",)


def refuse(*_: Any) -> None:
    raise AssertionError("the request got a time of its own, beside that of the wait for a connection")


def test_the_wait_for_a_connection_of_a_pool_is_part_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(echo_keys) as server, ConnectionPool(port=server.port, text=True) as pool:
        monkeypatch.setattr(rowsocket.connection, "Deadline", refuse)
        assert pool.open_index("app", "user", ["id"]).get(1) == ("1",)


def test_the_wait_for_a_connection_of_an_asyncio_pool_is_part_of_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def client(port: int) -> None:
        async with aio.ConnectionPool(port=port, text=True) as pool:
            assert await (await pool.open_index("app", "user", ["id"])).get(1) == ("1",)

    with FakeServer(echo_keys) as server:
        monkeypatch.setattr(rowsocket.aio.connection, "Deadline", refuse)
        asyncio.run(client(server.port))


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_an_index_whose_opening_was_interrupted_is_opened_by_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def one_key(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()
        peer.send(b"0\t1\t2\n")
        peer.until_closed()

    with FakeServer(one_key) as server, rowsocket.connect(port=server.port, text=True) as one:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(rowsocket._session, "_Opening", interrupt)
            one.open_index("app", "user", ["id"])
        assert one.open_index("app", "user", ["id"]).get(2) == ("2",)


def test_an_interrupt_takes_no_place_of_a_pool_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes when the connection goes back."""
    with (
        FakeServer(echo_keys, echo_keys, together=True) as server,
        ConnectionPool(port=server.port, max_size=1, timeout=60, text=True) as pool,
    ):
        users = pool.open_index("app", "user", ["id"])
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(rowsocket.Connection, "usable", property(interrupt))
            users.get(1)
        assert users.get(2) == ("2",)


@pytest.mark.parametrize("way", ["encode", "begin_alone"])
def test_a_call_that_is_interrupted_before_it_sends_takes_no_reply_of_the_next(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Ctrl-C, at any moment."""
    encode = getattr(Session, way)

    def encode_and_be_interrupted(self: Session, *words: Any) -> None:
        encode(self, *words)
        raise KeyboardInterrupt

    with FakeServer(until_closed, echo_keys) as server, rowsocket.connect(port=server.port, text=True) as one:
        users = one.open_index("app", "user", ["id"])
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Session, way, encode_and_be_interrupted)
            if way == "encode":  # what is sent alone takes the shorter way
                with one.pipeline() as pipe:
                    pipe.get(users, 1)
            users.get(1)
        assert users.get(2) == ("2",)
