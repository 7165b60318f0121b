# SPDX-License-Identifier: MIT
"""The pool of blocking connections against a server that does what the test says."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import rowsocket
from fake_server import FakeServer, Peer, has_time
from rowsocket import ConnectionPool


def echo_keys(peer: Peer) -> None:
    """Answer every find with its key as the one column."""
    while line := peer.read():
        peer.send(b"0\t1\n" if line.startswith(b"P") else b"0\t1\t%s\n" % line.split(b"\t")[3])


def test_calls_borrow_a_connection_and_open_the_index_on_it_once() -> None:
    def conversation(peer: Peer) -> None:
        peer.open(columns=b"id")
        for _ in range(2):
            peer.read()
            peer.send(b"0\t1\t7\n")

    with FakeServer(conversation) as server, ConnectionPool(port=server.port, text=True) as pool:
        users = pool.open_index("app", "user", ["id"])
        assert [users.get(7), users.get(7)] == [("7",), ("7",)]


def test_each_connection_of_a_pool_logs_in() -> None:
    def logs_in(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")
        peer.send(b"0\t1\n")
        peer.until_closed()

    with (
        FakeServer(logs_in, logs_in, together=True) as server,
        ConnectionPool(port=server.port, user="app", password="hush") as pool,
        pool.connection() as one,
        pool.connection() as other,
    ):
        assert "hush" not in f"{pool!r} {one!r} {other!r}"


def test_threads_share_a_bounded_number_of_connections() -> None:
    with (
        FakeServer(*[echo_keys] * 3, together=True) as server,
        ConnectionPool(port=server.port, max_size=3, text=True) as pool,
        ThreadPoolExecutor(12) as threads,
    ):
        users = pool.open_index("app", "user", ["id"])
        with pool.connection(), pool.connection():
            pass  # so that all three are made
        with pool.connection(), pool.connection(), pool.connection():
            pass
        assert list(threads.map(users.get, range(300))) == [(str(key),) for key in range(300)]


def test_who_finds_no_free_connection_waits_at_most_the_timeout() -> None:
    with (
        FakeServer(echo_keys) as server,
        ConnectionPool(port=server.port, max_size=1, text=True) as pool,
    ):
        with pool.connection(), pytest.raises(rowsocket.Timeout) as raised:
            has_time(pool, 0.1)
            pool.open_index("app", "user", ["id"])
        has_time(pool)
        assert not raised.value.outcome_unknown
        assert pool.open_index("app", "user", ["id"]).get(3) == ("3",)


def test_a_waiting_thread_gets_the_connection_that_comes_back() -> None:
    with (
        FakeServer(echo_keys) as server,
        ConnectionPool(port=server.port, max_size=1, text=True) as pool,
        ThreadPoolExecutor(1) as threads,
    ):
        users = pool.open_index("app", "user", ["id"])
        with pool.connection():
            waiting = threads.submit(users.get, 5)
        assert waiting.result(10) == ("5",)


def test_a_broken_connection_is_not_kept() -> None:
    def breaks(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()

    with (
        FakeServer(breaks, echo_keys) as server,
        ConnectionPool(port=server.port, max_size=1, text=True) as pool,
    ):
        users = pool.open_index("app", "user", ["id"])
        with pytest.raises(rowsocket.ConnectionLost):
            users.delete(1)
        assert users.get(2) == ("2",)


def test_a_failed_connect_gives_its_place_back() -> None:
    with FakeServer() as server:
        pass
    with ConnectionPool(port=server.port, max_size=1, text=True) as pool:
        for _ in range(2):
            with pytest.raises(rowsocket.ConnectionLost, match="127"):
                pool.open_index("app", "user", ["id"])


def test_connections_unused_for_too_long_are_closed() -> None:
    closed = threading.Event()

    def first(peer: Peer) -> None:
        peer.until_closed()
        closed.set()

    with (
        FakeServer(first, echo_keys) as server,
        ConnectionPool(port=server.port, idle_timeout=1e-9, text=True) as pool,
    ):
        with pool.connection():
            pass
        with pool.connection() as connection:
            assert connection.open_index("app", "user", ["id"]).get(1) == ("1",)
            assert closed.wait(10)


def test_a_pipeline_of_a_pool_uses_one_connection() -> None:
    with FakeServer(echo_keys) as server, ConnectionPool(port=server.port, max_size=1, text=True) as pool:
        users = pool.open_index("app", "user", ["id"])
        with pool.pipeline() as pipe:
            found = [pipe.get(users, key) for key in range(5)]
        assert [one.result() for one in found] == [(str(key),) for key in range(5)]


def test_a_closed_pool_gives_no_connection_and_lets_none_stand() -> None:
    with FakeServer(echo_keys) as server:
        pool = ConnectionPool(port=server.port, text=True)
        users = pool.open_index("app", "user", ["id"])
        pool.close()
        with pytest.raises(rowsocket.ConnectionLost, match="closed by its user"):
            users.get(1)


def test_who_waits_for_a_connection_is_told_that_the_pool_was_closed() -> None:
    with (
        FakeServer(echo_keys) as server,
        ConnectionPool(port=server.port, max_size=1, timeout=None, text=True) as pool,
        ThreadPoolExecutor(2) as threads,
    ):
        users = pool.open_index("app", "user", ["id"])
        with pool.connection():
            waiting = [threads.submit(users.get, key) for key in range(2)]
            pool.close()
            for one in waiting:
                assert isinstance(one.exception(10), rowsocket.ConnectionLost)
