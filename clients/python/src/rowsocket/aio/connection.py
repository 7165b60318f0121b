# SPDX-License-Identifier: MIT
"""The asyncio client: `connect`, `Connection`, `Index`, `Pipeline`, `Group`, as in `rowsocket.connection`."""

from __future__ import annotations

import abc
import asyncio
import collections
import functools
from collections.abc import Coroutine, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Generic, Literal, TypeVar, overload

from rowsocket import _inserts, _requests
from rowsocket._index import IndexDescription, Request, as_dicts, describe
from rowsocket._options import DEFAULT_TIMEOUT_S, Deadline, Options
from rowsocket._pipeline import Collected, CollectedGroup, lost_reads, raise_lost
from rowsocket._session import IndexIds, Pending, Session
from rowsocket.connection import BytesRow, TextRow
from rowsocket.errors import ConnectionLost, ProtocolError, RowSocketError

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec, Self

    P = ParamSpec("P")

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")

TIMED_OUT = (TimeoutError, asyncio.TimeoutError)  # two types before Python 3.11


def _executed(
    build: Callable[Concatenate[IndexDescription[R], P], Request[T]],
) -> Callable[Concatenate[Index[R], P], Coroutine[Any, Any, T]]:
    """Make the method of `Index` that sends the request and is awaited for its result."""

    def method(self: Index[R], /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._executor._execute(build(self.description, *args, **kwargs))

    functools.update_wrapper(method, build)
    return method


class Executor(abc.ABC):
    """What can execute requests: a connection or a pool."""

    @abc.abstractmethod
    async def _run(self, pendings: list[Pending[Any]]) -> None:
        """Settle all of them, each with its result or error."""

    @abc.abstractmethod
    async def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        """Open an index now. Raises RowSocketError."""

    async def _execute(self, request: Request[T]) -> T:
        pending = Pending(request)
        await self._run([pending])
        return pending.result()

    @overload
    async def open_index(
        self,
        database: str,
        table: str,
        columns: str | Iterable[str],
        index: str | int = ...,
        filter_columns: str | Iterable[str] = ...,
        *,
        decode: Literal[True] = ...,
        raw: Literal[False] = ...,
        id: int | None = ...,
    ) -> Index[TextRow]: ...

    @overload
    async def open_index(
        self,
        database: str,
        table: str,
        columns: str | Iterable[str],
        index: str | int = ...,
        filter_columns: str | Iterable[str] = ...,
        *,
        decode: bool = ...,
        raw: bool = ...,
        id: int | None = ...,
    ) -> Index[BytesRow]: ...

    async def open_index(
        self,
        database: str,
        table: str,
        columns: str | Iterable[str],
        index: str | int = "PRIMARY",
        filter_columns: str | Iterable[str] = (),
        *,
        decode: bool = True,
        raw: bool = False,
        id: int | None = None,
    ) -> Index[Any]:
        """Open an index of a table, as `rowsocket.Connection.open_index`."""
        description = describe(database, table, columns, index, filter_columns, decode, raw)
        await self._open(description, id)
        return Index(self, description)

    def pipeline(self) -> Pipeline:
        """Collect requests and send them at once; see `Pipeline`."""
        return Pipeline(self)

    def group(self, *, must: bool = False, gtid: bool = False) -> Group:
        """Collect requests that commit together or not at all; see `Group`.

        must  a write that changes no row (a `compare_and_set`, a `decrement`) fails the group with `NothingChanged`
        gtid  `Group.gtid` is to be the GTID of the commit, for who will read from a replica
        """
        return Group(self, must, gtid)


class Index(Generic[R]):
    """An opened index of a table. `R` is what a row is returned as."""

    def __init__(self, executor: Executor, description: IndexDescription[R]) -> None:
        self._executor = executor
        self.description = description

    def as_dicts(self: Index[tuple[V, ...]]) -> Index[dict[str, V]]:
        """Return the same index with rows as dicts by column name."""
        return Index(self._executor, as_dicts(self.description))

    get = _executed(_requests.get)
    find = _executed(_requests.find)
    find_in = _executed(_requests.find_in)
    find_keys = _executed(_requests.find_keys)
    starts_with = _executed(_requests.starts_with)
    count = _executed(_requests.count)
    insert = _executed(_inserts.insert)
    insert_many = _executed(_inserts.insert_many)
    insert_ignore = _executed(_inserts.insert_ignore)
    replace = _executed(_inserts.replace)
    upsert = _executed(_inserts.upsert)
    update = _executed(_requests.update)
    delete = _executed(_requests.delete)
    increment = _executed(_requests.increment)
    decrement = _executed(_requests.decrement)
    update_keys = _executed(_requests.update_keys)
    delete_keys = _executed(_requests.delete_keys)
    compare_and_set = _executed(_requests.compare_and_set)
    fetch_and_update = _executed(_requests.fetch_and_update)
    fetch_and_delete = _executed(_requests.fetch_and_delete)
    fetch_and_increment = _executed(_requests.fetch_and_increment)
    fetch_and_decrement = _executed(_requests.fetch_and_decrement)
    update_and_fetch = _executed(_requests.update_and_fetch)
    increment_and_fetch = _executed(_requests.increment_and_fetch)
    decrement_and_fetch = _executed(_requests.decrement_and_fetch)


class Pipeline(Collected):
    """Requests that are sent at once when the async with block ends (or at `flush`); otherwise as `rowsocket.Pipeline`."""

    def __init__(self, executor: Executor) -> None:
        super().__init__()
        self._executor = executor

    async def flush(self) -> None:
        """Send what was added and wait for the answers. Raises TransportError."""
        unsent = self._take_unsent()
        if unsent:
            await self._executor._run(unsent)
            raise_lost(unsent)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            await self.flush()


class Group(CollectedGroup):
    """Requests that commit together or not at all, sent when the async with block ends; otherwise as `rowsocket.Group`."""

    def __init__(self, executor: Executor, must: bool, gtid: bool) -> None:
        super().__init__(must, gtid)
        self._executor = executor

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            await self._executor._run(self._take_lines())
            self._raise_failure()


class _Link(asyncio.Protocol):
    """One connection from its connect to its close."""

    def __init__(self, options: Options, ids: IndexIds) -> None:
        self._options = options
        self.session = Session(ids)
        self._transport: asyncio.Transport | None = None
        self._waiting: collections.deque[tuple[Pending[Any], asyncio.Future[None]]] = collections.deque()

    @property
    def usable(self) -> bool:
        """True while the connection stands, as far as can be seen from here."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            self.session.feed(data)
        except ProtocolError as error:
            self.fail(error)
        else:
            self._wake_settled()

    def connection_lost(self, exc: Exception | None) -> None:
        self.fail(ConnectionLost("lost", f"{self._options.where()}: {exc or 'closed the connection'}"))

    def fail(self, error: RowSocketError) -> None:
        """Close at once, with this error for everybody who waits. Idempotent."""
        if self._transport is not None:
            self._transport.abort()
        self.session.fail(error)
        self._wake_settled()

    async def exchange(self, data: bytes, last: Pending[Any], deadline: Deadline) -> None:
        """Send, and wait until the last of the requests is settled."""
        if last.done:
            return
        assert self._transport is not None
        self._transport.write(data)
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((last, settled))
        try:
            await asyncio.wait_for(settled, deadline.remaining_s())
        except TIMED_OUT:
            self.fail(self._options.timed_out("no answer"))

    def _wake_settled(self) -> None:
        while self._waiting and self._waiting[0][0].done:
            settled = self._waiting.popleft()[1]
            if not settled.done():  # else it was cancelled
                settled.set_result(None)


class Connection(Executor):
    """A connection to a read or a write port, made with `connect`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._ids = IndexIds()
        self._link: _Link | None = None
        self._connecting = asyncio.Lock()
        self._closed = False

    async def close(self) -> None:
        """Close for good. Idempotent."""
        self._closed = True
        if self._link is not None:
            self._link.fail(ConnectionLost("closed", "this connection was closed by its user"))

    @property
    def usable(self) -> bool:
        """True if the connection stands, as far as can be seen from here."""
        return self._link is not None and self._link.usable

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def _connected(self, deadline: Deadline) -> _Link:
        """Return a usable link: the one that is there, or a new one. Raises ConnectionLost, Timeout, AuthenticationError."""
        async with self._connecting:
            if self._closed:
                raise ConnectionLost("closed", "this connection was closed by its user")
            if self._link is not None:
                if self._link.usable:
                    return self._link
                if not self._options.reconnect:
                    raise ConnectionLost("lost", f"{self._options.where()}: lost before, and reconnect is off")
            self._link = await self._make_link(deadline)
            return self._link

    async def _make_link(self, deadline: Deadline) -> _Link:
        link = _Link(self._options, self._ids)
        loop = asyncio.get_running_loop()
        where = self._options
        try:
            if where.unix_socket is None:
                await asyncio.wait_for(loop.create_connection(lambda: link, where.host, where.port), deadline.remaining_s())
            else:
                await asyncio.wait_for(loop.create_unix_connection(lambda: link, where.unix_socket), deadline.remaining_s())
        except TIMED_OUT as error:
            raise where.timed_out("no connection") from error
        except OSError as error:
            raise ConnectionLost("connect", f"{where.where()}: {error}") from error
        if where.secret is not None:
            data, authenticated = link.session.authenticate(where.secret)
            await link.exchange(data, authenticated, deadline)
            if authenticated.error is not None:
                link.fail(ConnectionLost("closed", "not authenticated"))
                raise authenticated.error
        return link

    async def _run(self, pendings: list[Pending[Any]]) -> None:
        deadline = Deadline(self._options.timeout)
        await self._run_once(pendings, deadline)
        again = lost_reads(pendings)
        if again and self._options.reconnect and not self._closed:
            for pending in again:
                pending._send_again()
            await self._run_once(again, deadline)

    async def _run_once(self, pendings: list[Pending[Any]], deadline: Deadline) -> None:
        try:
            link = await self._connected(deadline)
        except RowSocketError as error:  # nothing was sent
            for pending in pendings:
                pending._refuse(error)
        else:
            await link.exchange(link.session.encode(pendings), pendings[-1], deadline)

    async def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        self._ids.id_of(description, id)
        deadline = Deadline(self._options.timeout)
        for last_try in (False, True):
            link = await self._connected(deadline)
            data, opened = link.session.open(description)
            await link.exchange(data, opened, deadline)
            if opened.error is None:
                return
            if last_try or not lost_reads([opened]) or not self._options.reconnect:
                raise opened.error


async def connect(
    host: str = "127.0.0.1",
    port: int = 9998,
    *,
    unix_socket: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT_S,
    secret: str | None = None,
    reconnect: bool = True,
) -> Connection:
    """Connect, as `rowsocket.connect`."""
    connection = Connection(Options(host, port, unix_socket, timeout, secret, reconnect))
    await connection._connected(Deadline(timeout))
    return connection
