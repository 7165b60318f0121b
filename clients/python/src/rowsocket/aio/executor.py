# SPDX-License-Identifier: MIT
"""What a connection and a pool of the asyncio client share: `Executor`; and what they make: `Index`,
`Pipeline`, `Group`.
"""

from __future__ import annotations

import abc
import functools
import time
from collections.abc import Coroutine, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Generic, Literal, Optional, TypeVar, overload

from rowsocket import _inserts, _requests
from rowsocket._index import IndexDescription, Request, as_dicts, as_objects, describe
from rowsocket._options import Deadline, Options
from rowsocket._pipeline import Collected, CollectedGroup, raise_lost
from rowsocket._protocol import Value
from rowsocket._rows import field_names
from rowsocket._session import Pending
from rowsocket.errors import RequestError

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec, Self

    P = ParamSpec("P")

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")

Row = tuple[Any, ...]
"""A row of Python values: `int`, `str`, `datetime`, `None` and so on, by the columns' SQL types."""
TextRow = tuple[Optional[str], ...]
BytesRow = tuple[Optional[bytes], ...]


def _executed(
    build: Callable[Concatenate[IndexDescription[R], P], Request[T]],
) -> Callable[Concatenate[Index[R], P], Coroutine[Any, Any, T]]:
    """The method of `Index` that sends the request and returns its result."""

    def method(self: Index[R], /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._executor._execute(build(self.description, *args, **kwargs))

    functools.update_wrapper(method, build)
    return method


_EMPTY_GROUP = (b"G", b"E")
"""A request that asks for nothing, and is no error."""


class Executor(abc.ABC):
    """What can execute requests: a connection or a pool."""

    _options: Options

    @abc.abstractmethod
    async def _run(self, pendings: list[Pending[Any]], deadline: Deadline | None = None) -> None:
        """Settle all of them, each with its result or error."""

    @abc.abstractmethod
    async def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        """Open an index now. Raises RowSocketError."""

    async def _execute(self, request: Request[T], deadline: Deadline | None = None) -> T:
        pending = Pending(request)
        await self._run([pending], deadline)
        return pending.result()

    def _get(
        self,
        index: IndexDescription[R],
        key: tuple[Value, ...],
        columns: str | Iterable[str] | None,
        deadline: Deadline | None = None,
    ) -> Coroutine[Any, Any, R | None]:
        return self._execute(_requests.get_row(index, key, columns), deadline)

    @overload
    async def open_index(
        self,
        database: str,
        table: str,
        columns: str | Iterable[str],
        index: str | int = ...,
        filter_columns: str | Iterable[str] = ...,
        *,
        text: Literal[True],
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
        text: bool | None = ...,
        decode: Literal[True] = ...,
        raw: Literal[False] = ...,
        id: int | None = ...,
    ) -> Index[Row]: ...

    @overload
    async def open_index(
        self,
        database: str,
        table: str,
        columns: str | Iterable[str],
        index: str | int = ...,
        filter_columns: str | Iterable[str] = ...,
        *,
        text: None = ...,
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
        text: bool | None = None,
        decode: bool = True,
        raw: bool = False,
        id: int | None = None,
    ) -> Index[Any]:
        """Open an index of a table.

        columns         what reads return and writes set, as names or one comma-separated text
        index           by name, or by number in the order of SHOW INDEX
        filter_columns  what `Filter` and `While` may name
        text            True: values are str (UTF-8), as the server prints them; False: Python values by the
                        columns' SQL types; None: as the connection was told
        decode          False: values are bytes
        raw             True: text columns are the bytes of their own charset, unconverted (RowSocket only);
                        values are bytes
        id              the number under which the server knows the index; chosen when None

        Opening what is open costs nothing. Raises OpenTableError, RequestError (no such index or column),
        ValueError.
        """
        options = self._options
        description = describe(
            database,
            table,
            columns,
            index,
            filter_columns,
            values=options.values(text, decode),
            raw=raw,
            detail=options.wants_detail(),
            zone=options.time_zone,
        )
        await self._open(description, id)
        return Index(self, description)

    @overload
    async def table(
        self,
        table: str,
        columns: type[T],
        index: str | int = ...,
        filter_columns: str | Iterable[str] = ...,
    ) -> Index[T]: ...

    @overload
    async def table(
        self,
        table: str,
        columns: str | Iterable[str],
        index: str | int = ...,
        filter_columns: str | Iterable[str] = ...,
    ) -> Index[Row]: ...

    async def table(
        self,
        table: str,
        columns: str | Iterable[str] | type[Any],
        index: str | int = "PRIMARY",
        filter_columns: str | Iterable[str] = (),
    ) -> Index[Any]:
        """Open an index of a table of the connection's database, or of `database.table`.

        columns  names; or a dataclass or a pydantic model, of whose fields a row then consists

        The rest is as in `open_index`. Raises what that raises, ValueError if there is no database, and
        TypeError for a class that rows can not be made of, as a dataclass with a field of init=False.
        """
        database, name = self._options.database_of(table)
        if isinstance(columns, type):
            opened = await self.open_index(database, name, field_names(columns), index, filter_columns)
            return opened.as_objects(columns)
        return await self.open_index(database, name, columns, index, filter_columns)

    async def ping(self) -> float:
        """Ask the server for nothing; how many seconds its answer took.

        Connects anew if need be. Raises TransportError, AuthenticationError.
        """
        begin_s = time.perf_counter()
        pendings = [Pending(Request(None, line, False, lambda _: None)) for line in _EMPTY_GROUP]
        await self._run(list(pendings))
        for pending in pendings:
            # What does not know groups says so, and has answered all the same.
            if pending.error is not None and not isinstance(pending.error, RequestError):
                raise pending.error
        return time.perf_counter() - begin_s

    def pipeline(self) -> Pipeline:
        """Collect requests and send them at once; see `Pipeline`."""
        return Pipeline(self)

    def group(self, *, must: bool = False, gtid: bool = False) -> Group:
        """Collect requests that commit together or not at all; see `Group`.

        must  a write that changes no row (a `compare_and_set`, a `decrement`) fails the group with
              `NothingChanged`
        gtid  `Group.gtid` is to be the GTID of the commit, for who will read from a replica
        """
        return Group(self, must, gtid)


class Index(Generic[R]):
    """An opened index of a table. `R` is what a row is returned as."""

    def __init__(self, executor: Executor, description: IndexDescription[R]) -> None:
        self._executor = executor
        self.description = description

    def as_dicts(self: Index[tuple[V, ...]]) -> Index[dict[str, V]]:
        """The same index with rows returned as dicts by column name."""
        return Index(self._executor, as_dicts(self.description))

    def as_objects(self, kind: type[T]) -> Index[T]:
        """The same index with rows returned as objects of a dataclass or a pydantic model.

        Its fields have the names of the columns. Raises TypeError for another class, and for a dataclass with
        a field of init=False.
        """
        return Index(self._executor, as_objects(self.description, kind))

    def __repr__(self) -> str:
        names = self.description
        return f"<Index {names.index} of {names.database}.{names.table}: {', '.join(names.columns)}>"

    def get(
        self, /, *key: Value, columns: str | Iterable[str] | None = None
    ) -> Coroutine[Any, Any, R | None]:
        """The first row with this key, given as one value per key part; None if there is none.

        columns  instead of the index's (RowSocket only)
        """
        # What `_executed` would make of it hands the arguments on one by one, and nothing is called so often.
        return self._executor._get(self.description, key, columns)

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
    """Requests that are sent at once when the async with block ends (or at `flush`), and answered in order.

        async with connection.pipeline() as pipe:
            ada = pipe.get(users, 1)
            gone = pipe.delete(users, 2)
        print(ada.result(), gone.result())

    A refused request raises from its own `result()`; `check()` raises the first such error. If the connection
    fails, `flush` raises. An exception inside the block sends nothing. The requests are not one transaction.
    """

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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self.flush()


class Group(CollectedGroup):
    """Requests that commit together or not at all, sent when the async with block ends (RowSocket only).

        async with connection.group(must=True) as group:
            group.decrement(accounts, 1, 100)
            group.increment(accounts, 2, 100)

    If one of them fails, nothing is done, and the block raises its error; the others have `UndoneWithGroup`.
    An exception inside the block sends nothing. Tables without transactions (`NoTransactions`) can be no part
    of a group. It is never sent twice.
    """

    def __init__(self, executor: Executor, must: bool, gtid: bool) -> None:
        super().__init__(must, gtid)
        self._executor = executor

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self._executor._run(self._take_lines())
            self._raise_failure()
