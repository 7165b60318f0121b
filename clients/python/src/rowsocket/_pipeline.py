# SPDX-License-Identifier: MIT
"""What the sync and the asyncio pipelines and groups share: collecting requests, and what became of them."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable, Protocol, TypeVar

from rowsocket import _inserts, _requests
from rowsocket._index import IndexDescription, Request
from rowsocket._protocol import Reply, decode_text
from rowsocket._session import Pending
from rowsocket.errors import ConnectionLost, ServerError, TransportError, UndoneWithGroup

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")
R = TypeVar("R")


class Described(Protocol[R]):
    """A `rowsocket.Index` or a `rowsocket.aio.Index`."""

    @property
    def description(self) -> IndexDescription[R]:
        """What the index names."""
        ...


def _promised(
    build: Callable[Concatenate[IndexDescription[R], P], Request[T]],
) -> Callable[Concatenate[Collected, Described[R], P], Pending[T]]:
    """The method that adds the request and promises its result."""

    def method(self: Collected, index: Described[R], /, *args: P.args, **kwargs: P.kwargs) -> Pending[T]:
        return self._add(build(index.description, *args, **kwargs))

    functools.update_wrapper(method, build)
    return method


class Collected:
    """The requests of a pipeline or a group: those that wait to be sent, and all of them."""

    def __init__(self) -> None:
        self._unsent: list[Pending[Any]] = []
        self._all: list[Pending[Any]] = []

    def _add(self, request: Request[T]) -> Pending[T]:
        pending = Pending(request)
        self._unsent.append(pending)
        self._all.append(pending)
        return pending

    def _take_unsent(self) -> list[Pending[Any]]:
        unsent, self._unsent = self._unsent, []
        return unsent

    def __len__(self) -> int:
        """How many requests were added."""
        return len(self._all)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._all)} requests, {len(self._unsent)} of them not sent>"

    def check(self) -> None:
        """Raise the first error of any request that was sent, in the order of the requests."""
        for pending in self._all:
            if pending.error is not None:
                raise pending.error

    get = _promised(_requests.get)
    find = _promised(_requests.find)
    find_in = _promised(_requests.find_in)
    find_keys = _promised(_requests.find_keys)
    starts_with = _promised(_requests.starts_with)
    count = _promised(_requests.count)
    insert = _promised(_inserts.insert)
    insert_many = _promised(_inserts.insert_many)
    insert_ignore = _promised(_inserts.insert_ignore)
    replace = _promised(_inserts.replace)
    upsert = _promised(_inserts.upsert)
    update = _promised(_requests.update)
    delete = _promised(_requests.delete)
    increment = _promised(_requests.increment)
    decrement = _promised(_requests.decrement)
    update_keys = _promised(_requests.update_keys)
    delete_keys = _promised(_requests.delete_keys)
    compare_and_set = _promised(_requests.compare_and_set)
    fetch_and_update = _promised(_requests.fetch_and_update)
    fetch_and_delete = _promised(_requests.fetch_and_delete)
    fetch_and_increment = _promised(_requests.fetch_and_increment)
    fetch_and_decrement = _promised(_requests.fetch_and_decrement)
    update_and_fetch = _promised(_requests.update_and_fetch)
    increment_and_fetch = _promised(_requests.increment_and_fetch)
    decrement_and_fetch = _promised(_requests.decrement_and_fetch)


class CollectedGroup(Collected):
    """The requests of a group, which is sent once, as a whole."""

    def __init__(self, must: bool, gtid: bool) -> None:
        super().__init__()
        options = [option for option, is_asked in ((b"must", must), (b"gtid", gtid)) if is_asked]
        self._begin = Pending(
            Request(None, b"\t".join([b"G", *options]), False, lambda _: None, in_group=True)
        )
        self._end = Pending(Request(None, b"E", False, _gtid_of, in_group=True))
        self._sent = False

    @property
    def gtid(self) -> str | None:
        """The GTID of the commit, if it was asked for and something was written to a binlog. Raises as
        `Pending.result`.
        """
        return self._end.result()

    def results(self) -> list[Any]:
        """The result of each request, in order. Raises as `Pending.result`."""
        return [pending.result() for pending in self._all]

    def _add(self, request: Request[T]) -> Pending[T]:
        if self._sent:
            raise RuntimeError("this group has been sent: begin another one")
        return super()._add(_part_of_group(request))

    def _take_lines(self) -> list[Pending[Any]]:
        """What is to be sent, once."""
        self._sent = True
        # Whether a member that has its answer was done is known only when the end has one, too.
        writes = any(pending.writes for pending in self._all)
        self._end = Pending(Request(None, b"E", writes, _gtid_of, in_group=True))
        return [self._begin, *self._take_unsent(), self._end]

    def _raise_failure(self) -> None:
        """Raise why nothing was done, or that nobody answered."""
        if isinstance(self._begin.error, ServerError):
            raise self._begin.error
        raise_lost([*self._all, self._begin, self._end])
        errors = [pending.error for pending in (*self._all, self._end) if pending.error is not None]
        causes = [error for error in errors if not isinstance(error, UndoneWithGroup)]
        for error in errors:
            if causes and isinstance(error, UndoneWithGroup):
                error.cause = causes[0]
        if errors:
            raise (causes or errors)[0]


def _part_of_group(request: Request[T]) -> Request[T]:
    return Request(request.description, request.tail, request.writes, request.interpret, in_group=True)


def _gtid_of(reply: Reply) -> str | None:
    return (decode_text(reply.tokens[0]) or None) if reply.tokens else None


def raise_lost(pendings: Iterable[Pending[Any]]) -> None:
    """Raise if the connection failed: that a request was refused is its own matter, that nobody answers is
    everybody's.
    """
    lost = [pending.error for pending in pendings if isinstance(pending.error, TransportError)]
    if lost:
        raise next((error for error in lost if error.outcome_unknown), lost[0])


def are_sent_once(pendings: Iterable[Pending[Any]]) -> bool:
    """True if not all of them can be sent again after the connection was lost."""
    for pending in pendings:  # any() takes longer, and this is asked before each request
        request = pending._request
        if request.writes or request.in_group:
            return True
    return False


def have_succeeded(pendings: Iterable[Pending[Any]]) -> bool:
    """True if none of them has an error."""
    for pending in pendings:  # noqa: SIM110 as above
        if pending._error is not None:
            return False
    return True


def lost_reads(pendings: Iterable[Pending[Any]]) -> list[Pending[Any]]:
    """The requests that can be sent again after the connection was lost: none if a write or a group is
    without an answer.
    """
    lost = [pending for pending in pendings if isinstance(pending.error, ConnectionLost)]
    return [] if any(pending.writes or pending.in_group for pending in lost) else lost


def refused_for_now(pendings: list[Pending[Any]]) -> list[Pending[Any]]:
    """The requests that can be sent again since the server has refused them for a reason that passes, and so
    nothing of them was done. Of a group, which has no tables without transactions, it is all of them or none.

    None comes behind what followed it: a write goes behind nothing that was, or may have been, done, and a
    read behind no such write.
    """
    if not any(pending.in_group for pending in pendings):
        again: list[Pending[Any]] = []
        is_followed = False
        for pending in reversed(pendings):
            if not isinstance(pending.error, ServerError):
                if pending.writes:
                    break
                is_followed = True
            elif not pending.writes:
                if pending.error.retryable:
                    again.append(pending)
            elif pending.error._came_first and not is_followed:
                again.append(pending)
        return again[::-1]
    errors = [pending.error for pending in pendings if pending.error is not None]
    causes = [error for error in errors if not isinstance(error, UndoneWithGroup)]
    is_for_now = bool(causes) and all(isinstance(error, ServerError) and error.retryable for error in causes)
    return list(pendings) if is_for_now else []
