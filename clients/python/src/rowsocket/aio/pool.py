# SPDX-License-Identifier: MIT
"""A pool of asyncio connections that tasks share."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rowsocket._idle import Idle
from rowsocket._index import IndexDescription
from rowsocket._options import DEFAULT_TIMEOUT_S, Deadline, Options
from rowsocket._session import Pending
from rowsocket.aio.connection import TIMED_OUT, Connection, Executor
from rowsocket.errors import ConnectionLost, RowSocketError

if TYPE_CHECKING:
    from typing_extensions import Self


class ConnectionPool(Executor):
    """At most `max_size` connections, made when needed, as `rowsocket.ConnectionPool`; to be used in one event loop."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 9998,
        *,
        unix_socket: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_S,
        secret: str | None = None,
        reconnect: bool = True,
        max_size: int = 10,
        idle_timeout: float = 300.0,
    ) -> None:
        self._options = Options(host, port, unix_socket, timeout, secret, reconnect)
        self._idle: Idle[Connection] = Idle(max_size, idle_timeout)
        self._free = asyncio.Semaphore(max_size)
        self._closed = False

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Borrow a connection for a with block. Raises Timeout if none comes free in time, and what `connect` raises."""
        borrowed = await self._take()
        try:
            yield borrowed
        finally:
            await self._give_back(borrowed)

    async def close(self) -> None:
        """Close the idle connections now, and the borrowed ones when they come back. Idempotent."""
        self._closed = True
        for connection in self._idle.take_all():
            await connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def _take(self) -> Connection:
        deadline = Deadline(self._options.timeout)
        try:
            await asyncio.wait_for(self._free.acquire(), deadline.remaining_s())
        except TIMED_OUT:
            raise self._options.timed_out(f"none of {self._idle.max_size} connections came free") from None
        if self._closed:
            self._free.release()
            raise ConnectionLost("closed", "this pool was closed by its user")
        connection, expired = self._idle.take(time.monotonic())
        try:
            for old in expired:
                await old.close()
            if connection is None:
                connection = Connection(self._options)
                await connection._connected(deadline)
            return connection
        except BaseException:
            self._idle.forget()
            self._free.release()
            raise

    async def _give_back(self, connection: Connection) -> None:
        if connection.usable and not self._closed:
            self._idle.give_back(connection, time.monotonic())
        else:
            self._idle.forget()
            await connection.close()
        self._free.release()

    async def _run(self, pendings: list[Pending[Any]]) -> None:
        try:
            connection = await self._take()
        except RowSocketError as error:
            for pending in pendings:
                pending._refuse(error)
            return
        try:
            await connection._run(pendings)
        finally:
            await self._give_back(connection)

    async def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        if id is not None:
            raise ValueError("a pool chooses the ids of its indexes")
        async with self.connection() as connection:
            await connection._open(description, None)
