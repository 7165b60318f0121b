# SPDX-License-Identifier: MIT
"""The asyncio client against a server that does what the test says."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Coroutine
from typing import Any

import pytest

import rowsocket
from fake_server import FakeServer, Peer, has_time
from rowsocket import aio
from rowsocket._index import Request
from rowsocket._options import Deadline
from rowsocket._session import Pending
from rowsocket.aio._link import Link, Places
from test_pool import echo_keys


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 30))


def test_requests_and_rows_are_those_of_the_blocking_client() -> None:
    def conversation(peer: Peer) -> None:
        peer.expect(b"A\t1\tsecret")
        peer.send(b"0\t1\n")
        peer.open()
        peer.expect(b"0\t=\t1\t1\t1\t0", b"0\t+\t2\t2\tb")
        peer.send(b"0\t2\t1\t\x00\n1\t1\t121\n", piece_bytes=3)

    async def client(port: int) -> None:
        async with await aio.connect(port=port, secret="secret", text=True) as connection:
            users = (await connection.open_index("app", "user", ["id", "name"])).as_dicts()
            async with connection.pipeline() as pipe:
                found, inserted = pipe.get(users, 1), pipe.insert(users, [2, "b"])
            assert found.result() == {"id": "1", "name": None}
            assert isinstance(inserted.error, rowsocket.DuplicateKey)

    with FakeServer(conversation) as server:
        run(client(server.port))


def test_tasks_share_a_connection_and_each_gets_its_own_answer() -> None:
    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            rows = await asyncio.gather(*(users.get(key) for key in range(500)))
            assert rows == [(str(key),) for key in range(500)]

    with FakeServer(echo_keys) as server:
        run(client(server.port))


def test_tasks_may_use_an_index_that_is_still_being_opened() -> None:
    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:

            async def one(key: int) -> None:
                assert await (await connection.open_index("app", "user", ["id"])).get(key) == (str(key),)

            await asyncio.gather(*map(one, range(20)))

    with FakeServer(echo_keys) as server:
        run(client(server.port))


def test_a_cancelled_call_leaves_the_answers_of_the_others_in_place() -> None:
    sent = threading.Event()

    def conversation(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.expect(b"0\t=\t1\t1\t1\t0")
        sent.set()
        peer.expect(b"0\t=\t1\t2\t1\t0")
        peer.send(b"0\t1\t1\n0\t1\t2\n")

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            cancelled = asyncio.create_task(users.get(1))
            await asyncio.to_thread(sent.wait, 10)
            cancelled.cancel()
            assert await users.get(2) == ("2",)

    with FakeServer(conversation) as server:
        run(client(server.port))


def test_reads_are_sent_once_more_and_writes_are_not() -> None:
    def lost(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()

    def again(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t1\t1\n")
        peer.expect(b"0\t=\t1\t1\t1\t0\tD")

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            assert await users.get(1) == ("1",)
            with pytest.raises(rowsocket.ConnectionLost) as raised:
                await users.delete(1)
            assert raised.value.outcome_unknown

    with FakeServer(lost, again) as server:
        run(client(server.port))


def test_an_answer_that_does_not_come_is_a_timeout() -> None:
    gave_up = threading.Event()

    def silent(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()
        assert gave_up.wait(10)

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            has_time(connection, 0.2)
            with pytest.raises(rowsocket.Timeout) as raised:
                await users.delete(1)
            has_time(connection)
            assert raised.value.outcome_unknown
            gave_up.set()
            assert await users.get(1) == ("1",)

    with FakeServer(silent, echo_keys) as server:
        run(client(server.port))


def test_what_is_no_reply_fails_everybody_who_waits() -> None:
    def noise(peer: Peer) -> None:
        peer.open(columns=b"id")
        for _ in range(3):
            peer.read()
        peer.send(b"HTTP/1.1 400 Bad Request\n")
        peer.until_closed()

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            errors = await asyncio.gather(*(users.get(key) for key in range(3)), return_exceptions=True)
            assert [type(error) for error in errors] == [rowsocket.ProtocolError] * 3

    with FakeServer(noise) as server:
        run(client(server.port))


def test_a_wrong_secret_and_no_server() -> None:
    def refuses(peer: Peer) -> None:
        peer.read()
        peer.send(b"3\t1\tunauth\n")

    async def client(port: int) -> None:
        with pytest.raises(rowsocket.AuthenticationError):
            await aio.connect(port=port, secret="wrong", text=True)

    async def nobody(port: int) -> None:
        with pytest.raises(rowsocket.ConnectionLost):
            await aio.connect(port=port, text=True)

    with FakeServer(refuses) as server:
        run(client(server.port))
    run(nobody(server.port))


def test_a_connection_and_a_pool_log_in() -> None:
    def logs_in(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")
        peer.send(b"0\t1\n")
        peer.until_closed()

    async def client(port: int) -> None:
        async with await aio.connect(port=port, user="app", password="hush"):
            pass
        async with aio.ConnectionPool(port=port, user="app", password="hush") as pool, pool.connection():
            pass

    with FakeServer(logs_in, logs_in) as server:
        run(client(server.port))


def test_a_pool_is_bounded_and_opens_indexes_where_needed() -> None:
    async def client(port: int) -> None:
        async with aio.ConnectionPool(port=port, max_size=2, text=True) as pool:
            users = await pool.open_index("app", "user", ["id"])
            rows = await asyncio.gather(*(users.get(key) for key in range(100)))
            assert rows == [(str(key),) for key in range(100)]

    with FakeServer(echo_keys, echo_keys, together=True) as server:
        run(client(server.port))


def test_who_finds_no_free_connection_in_the_pool_waits_at_most_the_timeout() -> None:
    async def client(port: int) -> None:
        async with aio.ConnectionPool(port=port, max_size=1, text=True) as pool:
            async with pool.connection():
                has_time(pool, 0.1)
                with pytest.raises(rowsocket.Timeout):
                    await pool.open_index("app", "user", ["id"])
                has_time(pool)
            assert await (await pool.open_index("app", "user", ["id"])).get(1) == ("1",)

    with FakeServer(echo_keys) as server:
        run(client(server.port))


def test_who_has_no_time_left_for_a_place_of_the_pool_leaves_nothing_behind() -> None:
    """Python would warn of what was made to be awaited, and never was."""

    async def client() -> None:
        places = Places(1)
        await places.take(Deadline(None))
        with pytest.raises(TimeoutError):
            await places.take(Deadline(0.0))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(client())
    assert [str(warning.message) for warning in caught] == []


def test_who_waits_for_a_connection_is_told_that_the_pool_was_closed() -> None:
    async def client(port: int) -> None:
        async with aio.ConnectionPool(port=port, max_size=1, timeout=None, text=True) as pool:
            users = await pool.open_index("app", "user", ["id"])
            async with pool.connection():
                waiting = [asyncio.create_task(users.get(key)) for key in range(2)]
                await pool.close()
                errors = await asyncio.gather(*waiting, return_exceptions=True)
                assert [type(error) for error in errors] == [rowsocket.ConnectionLost] * 2

    with FakeServer(echo_keys) as server:
        run(client(server.port))


# ── more than one event loop ────────────────────────────────────────────────────────────────────────────────

OTHER_LOOP = "event loop that used it first"


def until_closed(peer: Peer) -> None:
    """Answer every find, and wait for the end."""
    echo_keys(peer)
    peer.until_closed()


def test_a_connection_of_a_loop_that_is_over_says_so_and_can_be_closed() -> None:
    async def begin(port: int) -> tuple[aio.Connection, aio.Index[Any]]:
        connection = await aio.connect(port=port, text=True)
        users = await connection.open_index("app", "user", ["id"])
        assert await users.get(1) == ("1",)
        return connection, users

    async def go_on(connection: aio.Connection, users: aio.Index[Any]) -> None:
        with pytest.raises(RuntimeError, match=OTHER_LOOP):
            await users.get(1)
        with pytest.raises(RuntimeError, match=OTHER_LOOP):
            await users.update(1, [2])
        with pytest.raises(RuntimeError, match=OTHER_LOOP):
            await connection.open_index("app", "user", ["name"])
        await connection.close()
        with pytest.raises(rowsocket.ConnectionLost, match="closed by its user"):
            await users.get(1)

    with FakeServer(until_closed) as server:
        asyncio.run(go_on(*asyncio.run(begin(server.port))))


def test_a_pool_of_a_loop_that_is_over_says_so_and_can_be_closed() -> None:
    async def begin(pool: aio.ConnectionPool) -> aio.Index[Any]:
        users = await pool.open_index("app", "user", ["id"])
        assert await users.get(1) == ("1",)
        return users

    async def go_on(pool: aio.ConnectionPool, users: aio.Index[Any]) -> None:
        with pytest.raises(RuntimeError, match=OTHER_LOOP):
            await users.get(1)
        with pytest.raises(RuntimeError, match=OTHER_LOOP):
            async with pool.connection():
                pass
        await pool.close()

    with FakeServer(until_closed) as server:
        pool = aio.ConnectionPool(port=server.port, text=True)
        asyncio.run(go_on(pool, asyncio.run(begin(pool))))


def test_a_pool_that_was_made_outside_belongs_to_the_loop_that_uses_it() -> None:
    async def use(pool: aio.ConnectionPool) -> None:
        async with pool:
            users = await pool.open_index("app", "user", ["id"])
            rows = await asyncio.gather(*(users.get(key) for key in range(20)))
            assert rows == [(str(key),) for key in range(20)]

    with FakeServer(echo_keys) as server:
        run(use(aio.ConnectionPool(port=server.port, max_size=1, text=True)))


def test_two_loops_at_a_time_do_not_share_a_connection() -> None:
    async def other(connection: aio.Connection, users: aio.Index[Any]) -> None:
        with pytest.raises(RuntimeError, match=OTHER_LOOP):
            await users.get(1)
        with pytest.raises(RuntimeError, match=OTHER_LOOP):
            await connection.close()

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            await asyncio.to_thread(asyncio.run, other(connection, users))
            assert await users.get(1) == ("1",)

    with FakeServer(echo_keys) as server:
        run(client(server.port))


class OtherTransport:
    """As that of uvloop: it does what an asyncio.Transport does, and is none."""

    def __init__(self, same: Any) -> None:
        self._same = same

    def __getattr__(self, name: str) -> Any:
        return getattr(self._same, name)


def test_the_transport_of_another_kind_of_event_loop_will_do() -> None:
    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            assert connection._link is not None
            connection._link.connection_made(OtherTransport(connection._link._transport))  # type: ignore[arg-type]
            users = await connection.open_index("app", "user", ["id"])
            assert await users.get(1) == ("1",)

    with FakeServer(echo_keys) as server:
        run(client(server.port))


# ── one connection, many tasks ──────────────────────────────────────────────────────────────────────────────


LONG_ENOUGH_FOR_ANOTHER_S = 2.0
"""To send a request behind one that will wait for so long."""


def test_who_has_waited_too_long_takes_the_time_of_nobody_else() -> None:
    """The connection of a task that gives up is closed. A read that was sent behind it goes over another."""
    first_sent, second_sent = threading.Event(), threading.Event()

    def silent(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.expect(b"0\t=\t1\t1\t1\t0")
        first_sent.set()
        peer.expect(b"0\t=\t1\t2\t1\t0")
        second_sent.set()
        peer.until_closed()

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            has_time(connection, LONG_ENOUGH_FOR_ANOTHER_S)
            first = asyncio.create_task(users.get(1))
            await asyncio.to_thread(first_sent.wait, 10)
            has_time(connection)
            second = asyncio.create_task(users.get(2))
            with pytest.raises(rowsocket.Timeout):
                await first
            assert second_sent.wait(10)
            assert await second == ("2",)

    with FakeServer(silent, echo_keys) as server:
        run(client(server.port))


def test_a_write_behind_one_that_waited_too_long_has_an_unknown_outcome() -> None:
    sent = threading.Event()

    def silent(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.expect(b"0\t=\t1\t1\t1\t0")
        sent.set()
        peer.expect(b"0\t=\t1\t2\t1\t0\tD")
        peer.until_closed()

    async def client(port: int) -> None:
        async with await aio.connect(port=port, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            has_time(connection, LONG_ENOUGH_FOR_ANOTHER_S)
            first = asyncio.create_task(users.get(1))
            await asyncio.to_thread(sent.wait, 10)
            has_time(connection)
            with pytest.raises(rowsocket.ConnectionLost) as raised:
                await users.delete(2)
            assert raised.value.outcome_unknown
            with pytest.raises(rowsocket.Timeout):
                await first

    with FakeServer(silent) as server:
        run(client(server.port))


@pytest.mark.parametrize("turns", range(6))
def test_a_cancellation_that_meets_a_place_that_comes_free_is_one(turns: int) -> None:
    """The event loop has gone on for so many turns since then."""

    async def client() -> None:
        places = Places(1)
        place = await places.take(Deadline(None))
        waits = asyncio.create_task(places.take(Deadline(10)))
        await asyncio.sleep(0)
        places.release(place)
        for _ in range(turns):
            await asyncio.sleep(0)
        if waits.cancel():
            with pytest.raises(asyncio.CancelledError):
                await waits
        else:
            places.release(await waits)
        await places.take(Deadline(0.001))

    run(client())


@pytest.mark.parametrize("turns", range(12))
def test_a_cancellation_that_meets_a_connection_that_is_made_is_one(turns: int) -> None:
    """The event loop has gone on for so many turns since the task began."""

    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async def client() -> None:
        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        connecting = asyncio.create_task(aio.connect(port=port, text=True))
        for _ in range(turns):
            await asyncio.sleep(0)
        if connecting.cancel():
            with pytest.raises(asyncio.CancelledError):
                await connecting
        else:
            await (await connecting).close()
        server.close()

    run(client())


def test_who_waits_for_a_place_and_gives_up_takes_none() -> None:
    async def client() -> None:
        places = Places(1)
        place = await places.take(Deadline(None))
        with pytest.raises(TimeoutError):
            await places.take(Deadline(0.001))
        cancelled = asyncio.create_task(places.take(Deadline(10)))
        patient = asyncio.create_task(places.take(Deadline(10)))
        await asyncio.sleep(0)
        cancelled.cancel()
        places.release(place)
        assert await patient is not None

    run(client())


def test_a_login_that_is_cancelled_leaves_no_connection_open() -> None:
    asked = threading.Event()

    def never_lets_in(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")
        asked.set()
        peer.until_closed()

    async def client(port: int) -> None:
        connecting = asyncio.create_task(aio.connect(port=port, user="app", password="hush"))
        await asyncio.to_thread(asked.wait, 10)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        await asyncio.to_thread(server._thread.join, 10)

    with FakeServer(never_lets_in) as server:
        run(client(server.port))


def test_a_connection_that_is_closed_while_it_is_made_anew_stays_closed() -> None:
    asked, goes_on = threading.Event(), threading.Event()

    def lets_in(peer: Peer) -> None:
        peer.expect(b"A\t1\tsecret")
        peer.send(b"0\t1\n")

    def lets_in_late(peer: Peer) -> None:
        peer.expect(b"A\t1\tsecret")
        asked.set()
        assert goes_on.wait(10)
        peer.send(b"0\t1\n")
        peer.until_closed()

    async def client(port: int) -> None:
        connection = await aio.connect(port=port, secret="secret", text=True)
        opening = asyncio.create_task(connection.open_index("app", "user", ["id"]))
        await asyncio.to_thread(asked.wait, 10)
        await connection.close()
        goes_on.set()
        with pytest.raises(rowsocket.ConnectionLost, match="closed by its user"):
            await opening
        await asyncio.to_thread(server._thread.join, 10)

    with FakeServer(lets_in, lets_in_late) as server:
        run(client(server.port))


async def lose(link: Link) -> None:
    """The connection is lost, and the event loop has told so."""
    link.connection_lost(ConnectionResetError())
    for _ in range(3):  # turns of the event loop, in which the transport tells the same
        await asyncio.sleep(0)


def test_a_connection_that_is_lost_before_it_is_used_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the moment at which it is made and the one at which the task goes on."""
    connect = Link.connect

    async def connect_and_lose(*arguments: Any) -> Link:
        link = await connect(*arguments)
        await lose(link)
        return link

    async def client(port: int) -> None:
        async with await aio.connect(port=port, timeout=None, text=True) as connection:
            users = await connection.open_index("app", "user", ["id"])
            assert connection._link is not None
            await lose(connection._link)
            monkeypatch.setattr(Link, "connect", connect_and_lose)
            with pytest.raises(rowsocket.ConnectionLost):
                await users.get(1)
            with pytest.raises(rowsocket.ConnectionLost) as raised:
                await users.delete(1)
            assert not raised.value.outcome_unknown

    with FakeServer(until_closed, *[Peer.until_closed] * 2) as server:
        run(client(server.port))


def test_what_is_asked_of_a_connection_that_was_lost_meanwhile_fails_at_once() -> None:
    async def client(port: int) -> None:
        async with await aio.connect(port=port, timeout=None, text=True) as connection:
            link = connection._link
            assert link is not None
            await lose(link)
            pending = Pending(Request(None, b"G", True, lambda _: None))
            await link.exchange(link.session.encode([pending]), pending, Deadline(None))
            assert isinstance(pending.error, rowsocket.ConnectionLost)

    with FakeServer(until_closed) as server:
        run(client(server.port))
