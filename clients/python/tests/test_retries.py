# SPDX-License-Identifier: MIT
"""What is tried again, and what is not."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Callable

import pytest

import rowsocket
import rowsocket.aio
from fake_server import Conversation, FakeServer, Peer, has_time
from typed_table import COLUMNS, TYPES, answering, opens, users_of

DEADLOCK = b"1\t1\t149\n"
LOCKED = b"1\t1\tlock_tables\n"
STOPS = b"1\t1\tshutdown\n"
MISSING = b"1\t1\topen_table\n"


def test_a_refusal_that_passes_is_tried_again() -> None:
    line = b"0\t=\t1\t1\t1\t0\tD"
    with users_of(answering((line, DEADLOCK), (line, DEADLOCK), (line, b"0\t1\t1\n")), retries=2) as users:
        assert users.delete(1) == 1


def test_retries_come_to_an_end() -> None:
    line = b"0\t=\t1\t1\t1\t0\tD"
    conversation = answering((line, DEADLOCK), (line, DEADLOCK))
    with users_of(conversation, retries=1) as users, pytest.raises(rowsocket.Deadlock):
        users.delete(1)


def test_what_would_fail_again_is_not_tried_again() -> None:
    conversation = answering((b"0\t+\t1\t1", b"1\t1\t121\n"))
    with users_of(conversation, retries=5) as users, pytest.raises(rowsocket.DuplicateKey):
        users.insert([1])


def test_a_write_that_was_ended_in_the_middle_is_not_tried_again() -> None:
    conversation = answering((b"0\t=\t1\t1\t1\t0\tD", b"1\t1\t1317\n"))
    with users_of(conversation, retries=5) as users, pytest.raises(rowsocket.EngineError) as raised:
        users.delete(1)
    assert raised.value.retryable


def test_of_a_pipeline_only_what_failed_is_tried_again() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(b"0\t=\t1\t1\t1\t0\tD", b"0\t=\t1\t2\t1\t0\tD")
        peer.send(b"0\t1\t1\n" + DEADLOCK)
        peer.expect(b"0\t=\t1\t2\t1\t0\tD")
        peer.send(b"0\t1\t1\n")

    with users_of(conversation, retries=1) as users:
        with users._executor.pipeline() as pipe:
            one, two = pipe.delete(users, 1), pipe.delete(users, 2)
        assert (one.result(), two.result()) == (1, 1)


def test_of_a_pipeline_nothing_is_tried_again_behind_what_followed_it() -> None:
    delete, get = b"0\t=\t1\t%d\t1\t0\tD", b"0\t=\t1\t%d\t1\t0"

    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(get % 1, delete % 1, delete % 2, delete % 3, get % 3, get % 4, delete % 5)
        peer.send(DEADLOCK + DEADLOCK + b"0\t1\t1\n" + DEADLOCK + b"0\t3\n" + DEADLOCK + DEADLOCK)
        peer.expect(get % 4, delete % 5)
        peer.send(b"0\t3\n0\t1\t1\n")

    with users_of(conversation, retries=1) as users:
        with users._executor.pipeline() as pipe:
            read, write = pipe.get(users, 1), pipe.delete(users, 1)
            pipe.delete(users, 2)
            write_before_read = pipe.delete(users, 3)
            pipe.get(users, 3)
            last_read, last_write = pipe.get(users, 4), pipe.delete(users, 5)
        assert type(read.error) is type(write.error) is type(write_before_read.error) is rowsocket.Deadlock
        assert (last_read.result(), last_write.result()) == (None, 1)


def test_a_group_is_tried_again_as_a_whole() -> None:
    lines = (b"G", b"0\t=\t1\t1\t1\t0\tD", b"0\t=\t1\t2\t1\t0\tD", b"E")

    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.expect(*lines)
        peer.send(b"0\t1\n1\t1\tgroup\n" + DEADLOCK + b"1\t1\tgroup\n")
        peer.expect(*lines)
        peer.send(b"0\t1\n0\t1\t1\n0\t1\t1\n0\t1\n")

    with users_of(conversation, retries=1) as users:
        with users._executor.group() as group:
            group.delete(users, 1)
            group.delete(users, 2)
        assert group.results() == [1, 1]


def answers_opens(*replies: bytes) -> Conversation:
    """Each open_index gets the next reply. After the last one, nobody asks again."""

    def conversation(peer: Peer) -> None:
        for reply in replies:
            opens(peer, reply=reply)
        peer.until_closed()

    return conversation


def by_connection(port: int, retries: int) -> None:
    with rowsocket.connect(port=port, retries=retries) as connection:
        connection.open_index("app", "user", COLUMNS)


def by_table(port: int, retries: int) -> None:
    with rowsocket.connect(port=port, retries=retries, database="app") as connection:
        connection.table("user", COLUMNS)


def by_pool(port: int, retries: int) -> None:
    with rowsocket.ConnectionPool(port=port, retries=retries, max_size=1) as pool:
        pool.open_index("app", "user", COLUMNS)


def by_asyncio_connection(port: int, retries: int) -> None:
    async def use() -> None:
        async with await rowsocket.aio.connect(port=port, retries=retries) as connection:
            await connection.open_index("app", "user", COLUMNS)

    asyncio.run(use())


def by_asyncio_pool(port: int, retries: int) -> None:
    async def use() -> None:
        async with rowsocket.aio.ConnectionPool(port=port, retries=retries, database="app") as pool:
            await pool.table("user", COLUMNS)

    asyncio.run(use())


every_way_to_open = pytest.mark.parametrize(
    "open_by", [by_connection, by_table, by_pool, by_asyncio_connection, by_asyncio_pool]
)


@every_way_to_open
def test_an_open_that_is_refused_for_a_reason_that_passes_is_tried_again(
    open_by: Callable[[int, int], None],
) -> None:
    with FakeServer(answers_opens(LOCKED, STOPS, TYPES)) as server:
        open_by(server.port, 2)


@every_way_to_open
def test_an_open_is_tried_again_as_often_as_was_said(open_by: Callable[[int, int], None]) -> None:
    with (
        FakeServer(answers_opens(LOCKED, STOPS)) as server,
        pytest.raises(rowsocket.ServerError, match="shutdown"),
    ):
        open_by(server.port, 1)


@every_way_to_open
def test_an_open_of_what_is_missing_is_not_tried_again(open_by: Callable[[int, int], None]) -> None:
    with FakeServer(answers_opens(MISSING)) as server, pytest.raises(rowsocket.OpenTableError):
        open_by(server.port, 5)


def test_an_open_is_tried_again_after_its_connection_was_lost_too() -> None:
    def is_lost(peer: Peer) -> None:
        peer.read()

    with FakeServer(is_lost, answers_opens(LOCKED, TYPES)) as server:
        by_connection(server.port, 1)


def test_what_was_opened_at_the_second_try_has_the_types_that_it_was_told_then() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer, reply=LOCKED)
        opens(peer)
        peer.expect(b"0\t=\t1\t1\t1\t0")
        peer.send(b"0\t3\t1\tAda\t\0\n")

    with users_of(conversation, retries=1) as users:
        assert users.get(1) == (1, "Ada", None)


def is_locked_for_good(peer: Peer) -> None:
    while peer.read():
        peer.send(LOCKED)


def test_an_open_is_tried_again_within_the_timeout() -> None:
    with (
        FakeServer(is_locked_for_good) as server,
        rowsocket.connect(port=server.port, retries=1000) as connection,
    ):
        has_time(connection, 0.2)  # 1000 pauses would take longer than this
        with pytest.raises((rowsocket.OpenTableError, rowsocket.Timeout)):
            connection.open_index("app", "user", COLUMNS)


def test_an_open_by_a_pool_is_tried_again_within_the_timeout() -> None:
    with (
        FakeServer(is_locked_for_good) as server,
        rowsocket.ConnectionPool(port=server.port, retries=1000) as pool,
    ):
        with pool.connection():
            pass  # so that it is made
        has_time(pool, 0.2)
        with pytest.raises((rowsocket.OpenTableError, rowsocket.Timeout)):
            pool.open_index("app", "user", COLUMNS)


def test_a_lost_write_is_never_tried_again() -> None:
    def conversation(peer: Peer) -> None:
        opens(peer)
        peer.read()

    with users_of(conversation, retries=5) as users, pytest.raises(rowsocket.ConnectionLost) as raised:
        users.delete(1)
    assert raised.value.outcome_unknown


def test_a_login_that_is_lost_is_tried_again() -> None:
    def stops(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")  # and closes, as a server does that shuts down

    def logs_in(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")
        peer.send(b"0\t1\n")

    async def connect_by_aio(port: int) -> None:
        connection = await rowsocket.aio.connect(port=port, user="app", password="hush", retries=2)
        await connection.close()

    with FakeServer(stops, stops, logs_in) as server:
        rowsocket.connect(port=server.port, user="app", password="hush", retries=2).close()
    with FakeServer(stops, stops, logs_in) as server:
        asyncio.run(connect_by_aio(server.port))
    with FakeServer(stops, stops) as server, pytest.raises(rowsocket.ConnectionLost):
        rowsocket.connect(port=server.port, user="app", password="hush", retries=1)


def test_a_read_that_was_not_sent_is_tried_as_often_as_a_login() -> None:
    def logs_in(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")
        peer.send(b"0\t1\n")
        opens(peer)

    def stops(peer: Peer) -> None:
        peer.expect(b"A\t2\tapp\thush")

    with (
        FakeServer(logs_in, stops, stops) as server,
        rowsocket.connect(
            port=server.port, user="app", password="hush", database="app", retries=1
        ) as connection,
    ):
        users = connection.table("user", COLUMNS)
        while connection._ready_link() is not None:
            connection._link.look()  # type: ignore[union-attr]
        with pytest.raises(rowsocket.ConnectionLost):
            users.get(1)


def test_what_other_settings_would_mend_is_not_tried_again(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(rowsocket.TlsRefused, match=r"missing\.pem") as raised:
            rowsocket.connect(port=port, tls_ca=missing, retries=1000, timeout=None)
        assert not raised.value.retryable
        with pytest.raises(rowsocket.TlsRefused, match=r"missing\.pem"):
            asyncio.run(rowsocket.aio.connect(port=port, tls_ca=missing, retries=1000, timeout=None))


def test_a_refused_connection_is_tried_again_within_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(rowsocket.ConnectionLost):
        rowsocket.connect(port=port, retries=2, timeout=5.0)
    with pytest.raises(rowsocket.errors.TransportError):  # 1000 pauses would take longer than this
        rowsocket.connect(port=port, retries=1000, timeout=0.2)
