# SPDX-License-Identifier: MIT
"""A pool of asyncio connections that tasks share."""

from __future__ import annotations

import contextlib
import datetime
import ssl
import time
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from rowsocket._idle import Idle
from rowsocket._index import IndexDescription, Request
from rowsocket._options import DEFAULT_TIMEOUT_S, Deadline, options_of
from rowsocket._protocol import Value
from rowsocket._session import Pending
from rowsocket.errors import ConnectionLost, RowSocketError

from ._link import Places
from .connection import Connection
from .executor import Executor

if TYPE_CHECKING:
    from typing_extensions import Self


T = TypeVar("T")
R = TypeVar("R")


class ConnectionPool(Executor):
    """At most `max_size` connections, made when needed, for any number of tasks at a time.

        pool = ConnectionPool(port=9999, max_size=8)
        users = await pool.open_index("app", "user", ["id", "name"])  # for any task
        await users.get(42)  # each call borrows a connection
        async with pool.connection() as connection: ...  # borrow one for longer

    max_size      the most connections at a time; who needs one more waits, at most `timeout` seconds
    idle_timeout  seconds after which an unused connection is closed; choose it below the server's
                  rowsocket_idle_timeout

    The other arguments are those of `connect`. Indexes are opened on each connection when first needed there.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 9998,
        *,
        unix_socket: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_S,
        user: str | None = None,
        password: str | None = None,
        secret: str | None = None,
        reconnect: bool = True,
        database: str | None = None,
        text: bool = False,
        detail: bool | None = None,
        time_zone: str | datetime.tzinfo | None = None,
        retries: int = 0,
        tls: bool | ssl.SSLContext | None = None,
        tls_ca: str | None = None,
        tls_cert: str | None = None,
        tls_key: str | None = None,
        max_size: int = 10,
        idle_timeout: float = 300.0,
    ) -> None:
        self._options = options_of(
            host,
            port=port,
            unix_socket=unix_socket,
            timeout=timeout,
            user=user,
            password=password,
            secret=secret,
            reconnect=reconnect,
            database=database,
            text=text,
            detail=detail,
            time_zone=time_zone,
            retries=retries,
            tls=tls,
            tls_ca=tls_ca,
            tls_cert=tls_cert,
            tls_key=tls_key,
        )
        if max_size < 1 or idle_timeout <= 0:
            raise ValueError("max_size: at least 1; idle_timeout: more than 0 seconds")
        self._max_size = max_size
        self._places = Places(max_size)
        self._idle: Idle[Connection] = Idle(idle_timeout)

    def __repr__(self) -> str:
        state = "closed" if self._idle.closed else f"at most {self._max_size} connections"
        return f"<ConnectionPool to {self._options.where()}: {state}>"

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Borrow a connection for a with block.

        Raises Timeout if none comes free in time, and what `connect` raises.
        """
        borrowed = await self._take(Deadline(self._options.timeout))
        try:
            yield borrowed
        finally:
            await self._give_back(borrowed)

    async def close(self) -> None:
        """Close the idle connections now, and the borrowed ones when they come back. Idempotent."""
        unused = self._idle.close()
        self._places.add()  # who waits for a place finds the pool closed, and wakes the next
        for connection in unused:
            await connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _take(self, deadline: Deadline) -> Connection:
        try:
            place = await self._places.take(deadline)
        except TimeoutError:
            raise self._options.timed_out(f"none of {self._max_size} connections came free") from None
        try:
            if self._idle.closed:
                raise ConnectionLost("closed", "this pool was closed by its user")
            connection, expired = self._idle.take(time.monotonic())
            for old in expired:
                await old.close()
            if connection is None:
                connection = Connection(self._options)
                await connection._connected(deadline)
            connection._place = place
            return connection
        except BaseException:
            self._places.release(place)
            raise

    async def _give_back(self, connection: Connection) -> None:
        place, connection._place = connection._place, None  # before another one can take it, with its own
        assert place is not None, "not borrowed"
        try:
            if not (connection.usable and self._idle.give_back(connection, time.monotonic())):
                await connection.close()
        finally:  # also of a Ctrl-C meanwhile
            self._places.release(place)

    async def _run(self, pendings: list[Pending[Any]], deadline: Deadline | None = None) -> None:
        deadline = deadline or Deadline(self._options.timeout)
        try:
            connection = await self._take(deadline)
        except RowSocketError as error:
            for pending in pendings:
                pending._refuse(error)
            return
        try:
            await connection._run(pendings, deadline)
        finally:
            await self._give_back(connection)

    async def _execute(self, request: Request[T], deadline: Deadline | None = None) -> T:
        deadline = deadline or Deadline(self._options.timeout)
        connection = await self._take(deadline)
        try:
            return await connection._execute(request, deadline)
        finally:
            await self._give_back(connection)

    async def _get(
        self,
        index: IndexDescription[R],
        key: tuple[Value, ...],
        columns: str | Iterable[str] | None,
        deadline: Deadline | None = None,
    ) -> R | None:
        deadline = deadline or Deadline(self._options.timeout)
        connection = await self._take(deadline)
        try:
            return await connection._get(index, key, columns, deadline)
        finally:
            await self._give_back(connection)

    async def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        if id is not None:
            raise ValueError("a pool chooses the ids of its indexes")
        deadline = Deadline(self._options.timeout)
        connection = await self._take(deadline)
        try:
            await connection._open_within(description, None, deadline)
        finally:
            await self._give_back(connection)
