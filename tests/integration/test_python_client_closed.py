# SPDX-License-Identifier: GPL-2.0-only
"""The Python client's writes on a connection that the server has closed while nobody used it."""

from __future__ import annotations

import asyncio
import select
from typing import Any

import pytest

import rowsocket
from rowsocket import aio
from support.certificates import Authority
from support.kills import close_all
from support.mariadb import RowSocketServer

WAYS = ("tcp", "unix", "tls", "tls over unix")


def options_of(server: RowSocketServer, authority: Authority, way: str) -> dict[str, Any]:
    """What connects in this way."""
    options: dict[str, Any] = {"host": "localhost", "port": server.write_port, "database": "d"}
    if way.endswith("unix"):
        options["unix_socket"] = str(server.folder / "write")
    if way.startswith("tls"):
        options["tls_ca"] = str(authority.file)
    return options


def closed_by(server: RowSocketServer, connected: Any) -> None:
    """The server closes the socket of a client, and the client's machine knows it. Nothing of the client
    runs."""
    close_all(server)
    watch = select.poll()
    watch.register(connected.fileno(), select.POLLIN | select.POLLRDHUP)
    server.wait_until("has closed it", lambda: any(event & select.POLLRDHUP for _, event in watch.poll(100)))


def socket_of(connection: rowsocket.Connection) -> Any:
    """The socket of a connection."""
    assert connection._link is not None
    return connection._link._socket


def socket_of_transport(connection: aio.Connection) -> Any:
    """The socket of a connection of asyncio."""
    assert connection._link is not None
    assert connection._link._transport is not None
    return connection._link._transport.get_extra_info("socket")


@pytest.fixture
def counted(secured: RowSocketServer) -> RowSocketServer:
    """`d.n` counts the writes in its one row."""
    secured.sql("CREATE OR REPLACE TABLE d.n (id INT PRIMARY KEY, n INT)")
    secured.sql("INSERT INTO d.n VALUES (1, 0)")
    return secured


@pytest.mark.parametrize("way", WAYS)
def test_a_write_goes_over_a_new_connection(counted: RowSocketServer, authority: Authority, way: str) -> None:
    with rowsocket.connect(**options_of(counted, authority, way)) as connection:
        n = connection.table("n", ["n"])
        n.increment(1)
        closed_by(counted, socket_of(connection))
        assert n.increment(1) == 1
        closed_by(counted, socket_of(connection))
        with connection.group() as group:
            group.increment(n, 1)
        closed_by(counted, socket_of(connection))
        with connection.pipeline() as pipe:
            row = pipe.get(n, 1)
            pipe.increment(n, 1)
        assert row.result() == (3,)
    assert counted.value("SELECT n FROM d.n") == 4


def test_a_write_of_a_pool_goes_over_a_new_connection(counted: RowSocketServer, authority: Authority) -> None:
    with rowsocket.ConnectionPool(**options_of(counted, authority, "tcp")) as pool:
        n = pool.table("n", ["n"])
        with pool.connection() as one, pool.connection() as other:
            for connection in (one, other):
                connection.ping()  # what a worker has not met yet is not closed with it
            sockets = [socket_of(one), socket_of(other)]
        for connected in sockets:
            closed_by(counted, connected)
        assert [n.increment(1) for _ in sockets] == [1, 1]
    assert counted.value("SELECT n FROM d.n") == 2


@pytest.mark.parametrize("way", WAYS)
def test_a_write_of_asyncio_goes_over_a_new_connection(
    counted: RowSocketServer, authority: Authority, way: str
) -> None:
    async def work() -> None:
        async with await aio.connect(**options_of(counted, authority, way)) as connection:
            n = await connection.table("n", ["n"])
            await n.increment(1)
            closed_by(counted, socket_of_transport(connection))
            assert await n.increment(1) == 1
            closed_by(counted, socket_of_transport(connection))
            async with connection.group() as group:
                group.increment(n, 1)
            closed_by(counted, socket_of_transport(connection))
            assert await asyncio.gather(*(n.increment(1) for _ in range(5))) == [1] * 5

    asyncio.run(work())
    assert counted.value("SELECT n FROM d.n") == 8


def test_a_write_of_an_asyncio_pool_goes_over_a_new_connection(
    counted: RowSocketServer, authority: Authority
) -> None:
    async def work() -> None:
        async with aio.ConnectionPool(**options_of(counted, authority, "tcp")) as pool:
            n = await pool.table("n", ["n"])
            async with pool.connection() as one, pool.connection() as other:
                for connection in (one, other):
                    await connection.ping()  # what a worker has not met yet is not closed with it
                sockets = [socket_of_transport(one), socket_of_transport(other)]
            for connected in sockets:
                closed_by(counted, connected)
            assert await n.increment(1) == 1
            assert await n.increment(1) == 1

    asyncio.run(work())
    assert counted.value("SELECT n FROM d.n") == 2


def test_who_does_not_reconnect_is_told_that_nothing_was_done(
    counted: RowSocketServer, authority: Authority
) -> None:
    options = options_of(counted, authority, "tcp")
    with rowsocket.connect(**options, reconnect=False) as connection:
        n = connection.table("n", ["n"])
        closed_by(counted, socket_of(connection))
        with pytest.raises(rowsocket.ConnectionLost) as raised:
            n.increment(1)
        assert not raised.value.outcome_unknown

    async def work() -> None:
        async with await aio.connect(**options, reconnect=False) as connection:
            n = await connection.table("n", ["n"])
            closed_by(counted, socket_of_transport(connection))
            with pytest.raises(rowsocket.ConnectionLost) as raised:
                await n.increment(1)
            assert not raised.value.outcome_unknown

    asyncio.run(work())
    assert counted.value("SELECT n FROM d.n") == 0
