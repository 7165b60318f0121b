# SPDX-License-Identifier: MIT
# Made by make_sync.py from aio/connection.py: change that file, and run `python make_sync.py`.
"""The blocking client: `connect`, `Connection`, `Index`, `Pipeline`, `Group`."""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Generic, Literal, Optional, TypeVar, overload

from rowsocket import _inserts, _requests
from rowsocket._index import IndexDescription, Request, as_dicts, describe
from rowsocket._options import DEFAULT_TIMEOUT_S, Deadline, Options
from rowsocket._pipeline import Collected, CollectedGroup, lost_reads, raise_lost
from rowsocket._session import IndexIds, Pending
from rowsocket.errors import ConnectionLost, RowSocketError

from ._link import Link, Lock

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec, Self

    P = ParamSpec("P")

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")

TextRow = tuple[Optional[str], ...]
BytesRow = tuple[Optional[bytes], ...]


def _executed(
    build: Callable[Concatenate[IndexDescription[R], P], Request[T]],
) -> Callable[Concatenate[Index[R], P], T]:
    """The method of `Index` that sends the request and returns its result."""

    def method(self: Index[R], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._executor._execute(build(self.description, *args, **kwargs))

    functools.update_wrapper(method, build)
    return method


class Executor(abc.ABC):
    """What can execute requests: a connection or a pool."""

    @abc.abstractmethod
    def _run(self, pendings: list[Pending[Any]]) -> None:
        """Settle all of them, each with its result or error."""

    @abc.abstractmethod
    def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        """Open an index now. Raises RowSocketError."""

    def _execute(self, request: Request[T]) -> T:
        pending = Pending(request)
        self._run([pending])
        return pending.result()

    @overload
    def open_index(
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
    def open_index(
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

    def open_index(
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
        """Open an index of a table.

        columns         what reads return and writes set, as names or one comma-separated text
        index           by name, or by number in the order of SHOW INDEX
        filter_columns  what `Filter` and `While` may name
        decode          True: values are str (UTF-8); False: bytes
        raw             True: text columns are the bytes of their own charset, unconverted (RowSocket only);
                        values are bytes
        id              the number under which the server knows the index; chosen when None

        Opening what is open costs nothing. Raises OpenTableError, RequestError (no such index or column),
        ValueError.
        """
        description = describe(database, table, columns, index, filter_columns, decode, raw)
        self._open(description, id)
        return Index(self, description)

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
    """Requests that are sent at once when the with block ends (or at `flush`), and answered in order.

        with connection.pipeline() as pipe:
            ada = pipe.get(users, 1)
            gone = pipe.delete(users, 2)
        print(ada.result(), gone.result())

    A refused request raises from its own `result()`; `check()` raises the first such error. If the connection
    fails, `flush` raises. An exception inside the block sends nothing. The requests are not one transaction.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__()
        self._executor = executor

    def flush(self) -> None:
        """Send what was added and wait for the answers. Raises TransportError."""
        unsent = self._take_unsent()
        if unsent:
            self._executor._run(unsent)
            raise_lost(unsent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.flush()


class Group(CollectedGroup):
    """Requests that commit together or not at all, sent when the with block ends (RowSocket only).

        with connection.group(must=True) as group:
            group.decrement(accounts, 1, 100)
            group.increment(accounts, 2, 100)

    If one of them fails, nothing is done, and the block raises its error; the others have `UndoneWithGroup`.
    An exception inside the block sends nothing. Tables without transactions (`NoTransactions`) can be no part
    of a group. It is never sent twice.
    """

    def __init__(self, executor: Executor, must: bool, gtid: bool) -> None:
        super().__init__(must, gtid)
        self._executor = executor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._executor._run(self._take_lines())
            self._raise_failure()


class Connection(Executor):
    """A connection to a read or a write port, made with `connect`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._ids = IndexIds()
        self._link: Link | None = None
        self._connecting = Lock()
        self._closed = False

    def close(self) -> None:
        """Close for good. Idempotent."""
        self._closed = True
        if self._link is not None:
            self._link.close()

    @property
    def usable(self) -> bool:
        """True if the connection stands, as far as can be seen from here."""
        return self._link is not None and self._link.usable()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connected(self, deadline: Deadline) -> Link:
        """A usable link: the one that is there, or a new one.

        Raises ConnectionLost, Timeout, AuthenticationError.
        """
        with self._connecting:
            if self._closed:
                raise ConnectionLost("closed", "this connection was closed by its user")
            if self._link is not None:
                if self._link.usable():
                    return self._link
                if not self._options.reconnect:
                    where = self._options.where()
                    raise ConnectionLost("lost", f"{where}: lost before, and reconnect is off")
            self._link = self._make_link(deadline)
            return self._link

    def _make_link(self, deadline: Deadline) -> Link:
        link = Link.connect(self._options, self._ids, deadline)
        if self._options.secret is not None:
            data, authenticated = link.session.authenticate(self._options.secret)
            link.exchange(data, authenticated, deadline)
            if authenticated.error is not None:
                link.close()
                raise authenticated.error
        return link

    def _run(self, pendings: list[Pending[Any]]) -> None:
        deadline = Deadline(self._options.timeout)
        self._run_once(pendings, deadline)
        again = lost_reads(pendings)
        if again and self._options.reconnect and not self._closed:
            for pending in again:
                pending._send_again()
            self._run_once(again, deadline)

    def _run_once(self, pendings: list[Pending[Any]], deadline: Deadline) -> None:
        try:
            link = self._connected(deadline)
        except RowSocketError as error:  # nothing was sent
            for pending in pendings:
                pending._refuse(error)
        else:
            link.exchange(link.session.encode(pendings), pendings[-1], deadline)

    def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        self._ids.id_of(description, id)
        deadline = Deadline(self._options.timeout)
        for last_try in (False, True):
            link = self._connected(deadline)
            data, opened = link.session.open(description)
            link.exchange(data, opened, deadline)
            if opened.error is None:
                return
            if last_try or not lost_reads([opened]) or not self._options.reconnect:
                raise opened.error


def connect(
    host: str = "127.0.0.1",
    port: int = 9998,
    *,
    unix_socket: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT_S,
    secret: str | None = None,
    reconnect: bool = True,
) -> Connection:
    """Connect to a read port (9998 by default) or a write port (9999), which also reads.

    unix_socket  path of a unix socket, instead of host and port
    timeout      seconds that any call may take, this one included; None = for ever
    secret       presented on each connection made, if not None
    reconnect    after a lost connection, make a new one for the next call, with authentication and open
                 indexes
                 as before. A read whose connection was lost is sent once more; a write never is: it raises
                 with `outcome_unknown`

    Raises ConnectionLost, Timeout, AuthenticationError.
    """
    connection = Connection(Options(host, port, unix_socket, timeout, secret, reconnect))
    connection._connected(Deadline(timeout))
    return connection
