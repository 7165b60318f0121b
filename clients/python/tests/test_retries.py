# SPDX-License-Identifier: MIT
"""What is tried again, and what is not."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

import rowsocket
import rowsocket.aio
from fake_server import FakeServer, Peer
from typed_table import COLUMNS, answering, opens, users_of

DEADLOCK = b"1\t1\t149\n"


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
