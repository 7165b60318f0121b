# SPDX-License-Identifier: MIT
"""Groups of requests, of both clients, against a server that does what the test says."""

from __future__ import annotations

import asyncio

import pytest

import rowsocket
from fake_server import FakeServer, Peer
from rowsocket import Connection, Index, TextRow, aio

TAKE, GIVE = b"0\t=\t1\t1\t1\t0\t-\t100", b"0\t=\t1\t2\t1\t0\t+\t100"


def open_users(server: FakeServer) -> tuple[Connection, Index[TextRow]]:
    connection = rowsocket.connect(port=server.port, text=True)
    return connection, connection.open_index("app", "user", ["id", "name"])


def test_a_group_is_sent_as_one_and_gives_its_results_and_its_gtid() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G\tmust\tgtid", TAKE, b"0\t=\t1\t1\t1\t0", b"E")
        peer.send(b"0\t1\n0\t1\t1\n0\t2\t1\tAda\n0\t1\t0-1-42\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with connection.group(must=True, gtid=True) as group:
            taken, row = group.decrement(users, 1, 100), group.get(users, 1)
        assert (taken.result(), row.result()) == (1, ("1", "Ada"))
        assert group.results() == [1, ("1", "Ada")]
        assert group.gtid == "0-1-42"


@pytest.mark.parametrize("end", [b"0\t1\n", b"0\t1\t\n"])
def test_a_group_without_a_gtid_has_none(end: bytes) -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", TAKE, b"E")
        peer.send(b"0\t1\n0\t1\t1\n" + end)

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with connection.group() as group:
            group.decrement(users, 1, 100)
        assert group.gtid is None


def test_the_reason_why_nothing_was_done_is_raised_and_the_others_know_it() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G\tmust", GIVE, TAKE, b"E")
        peer.send(b"0\t1\n1\t1\tgroup\n1\t1\tunchanged\n1\t1\tgroup\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with pytest.raises(rowsocket.NothingChanged), connection.group(must=True) as group:
            given, taken = group.increment(users, 2, 100), group.decrement(users, 1, 100)
        assert isinstance(given.error, rowsocket.UndoneWithGroup)
        assert given.error.cause is taken.error
        assert not given.error.retryable
        with pytest.raises(rowsocket.UndoneWithGroup):
            group.gtid  # noqa: B018


def test_a_group_undone_by_a_deadlock_can_be_tried_again() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", GIVE, TAKE, b"E")
        peer.send(b"0\t1\n1\t1\tgroup\n1\t1\t149\n1\t1\tgroup\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with pytest.raises(rowsocket.Deadlock) as raised, connection.group() as group:
            given, _ = group.increment(users, 2, 100), group.decrement(users, 1, 100)
        assert raised.value.retryable
        assert isinstance(given.error, rowsocket.UndoneWithGroup)
        assert given.error.retryable


def test_a_group_that_is_refused_as_a_whole_raises_why() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", TAKE, b"E")
        peer.send(b"2\t1\ttoolong\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with pytest.raises(rowsocket.RequestError, match="toolong"), connection.group() as group:
            group.decrement(users, 1, 100)


def test_a_group_opens_its_indexes_before_it_begins() -> None:
    def first(peer: Peer) -> None:
        peer.open()
        peer.open(1, b"id")

    def second(peer: Peer) -> None:
        peer.open()
        peer.open(1, b"id")
        peer.expect(b"G", TAKE, b"1\t=\t1\t1\t1\t0", b"E")
        peer.send(b"0\t1\n0\t1\t1\n0\t1\t1\n0\t1\n")

    with FakeServer(first, second) as server:
        connection, users = open_users(server)
        ids = connection.open_index("app", "user", ["id"])
        connection._link.close()  # type: ignore[union-attr]
        with connection.group() as group:
            group.decrement(users, 1, 100)
            group.get(ids, 1)
        assert group.results() == [1, ("1",)]


def test_a_group_is_never_sent_again_and_its_outcome_is_unknown() -> None:
    def lost(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", b"0\t=\t1\t1\t1\t0", TAKE, b"E")
        peer.send(b"0\t1\n")

    with FakeServer(lost) as server:
        connection, users = open_users(server)
        with pytest.raises(rowsocket.ConnectionLost) as raised, connection.group() as group:
            read = group.get(users, 1)
            group.decrement(users, 1, 100)
        assert raised.value.outcome_unknown
        assert not raised.value.retryable
        assert isinstance(read.error, rowsocket.ConnectionLost)


def test_a_group_that_is_left_by_an_exception_sends_nothing() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.until_closed()

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with pytest.raises(KeyError), connection.group() as group:
            group.delete(users, 1)
            raise KeyError
        connection.close()


def test_nothing_is_added_to_a_group_that_was_sent() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", b"E")
        peer.send(b"0\t1\n0\t1\n")

    with FakeServer(conversation) as server:
        connection, users = open_users(server)
        with connection.group() as group:
            pass
        with pytest.raises(RuntimeError):
            group.delete(users, 1)


def test_groups_of_asyncio_tasks_do_not_mix() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        for _ in range(50):
            peer.expect(b"G")
            amount = peer.read().rpartition(b"\t")[2]
            peer.expect(b"E")
            peer.send(b"0\t1\n0\t1\t%s\n0\t1\t0-1-%s\n" % (amount, amount))

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id", "name"])

            async def one(amount: int) -> None:
                async with connection.group() as group:
                    added = group.increment(users, 1, amount)
                assert added.result() == amount
                assert group.gtid == f"0-1-{amount}"

            await asyncio.gather(*(one(amount) for amount in range(50)))

    with FakeServer(conversation) as server:
        asyncio.run(asyncio.wait_for(client(server.port), 30))


def test_an_asyncio_group_raises_why_nothing_was_done() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", TAKE, b"E")
        peer.send(b"0\t1\n1\t1\tnotrans\n1\t1\tgroup\n")

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id", "name"])
            with pytest.raises(rowsocket.NoTransactions):
                async with connection.group() as group:
                    group.decrement(users, 1, 100)

    with FakeServer(conversation) as server:
        asyncio.run(asyncio.wait_for(client(server.port), 30))


def test_a_group_of_a_pool_uses_one_connection() -> None:
    def conversation(peer: Peer) -> None:
        peer.open()
        peer.expect(b"G", TAKE, GIVE, b"E")
        peer.send(b"0\t1\n0\t1\t1\n0\t1\t1\n0\t1\n")

    with FakeServer(conversation) as server, rowsocket.ConnectionPool(port=server.port, text=True) as pool:
        users = pool.open_index("app", "user", ["id", "name"])
        with pool.group() as group:
            group.decrement(users, 1, 100)
            group.increment(users, 2, 100)
        assert group.results() == [1, 1]
