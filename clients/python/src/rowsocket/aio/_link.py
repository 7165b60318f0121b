# SPDX-License-Identifier: MIT
"""What the asyncio client does in its own way: one connection of the event loop, and waiting.

`rowsocket/_link.py` has the same names for the blocking client.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import math
import socket
import time
from collections.abc import Coroutine
from typing import Any, cast

from rowsocket._options import Deadline, Options
from rowsocket._session import IndexIds, Pending, Session
from rowsocket._watch import Watch
from rowsocket.errors import ConnectionLost, RowSocketError, TransportError

TIMED_OUT = (TimeoutError, asyncio.TimeoutError)  # two types before Python 3.11

CLOSED = "closed the connection"
READING_TURNS = 5
"""After so many turns of its own, the event loop has read what had come before them."""

Lock = asyncio.Lock
"""Lets one task at a time make the link of a connection."""


class Place:
    """A place of a pool. Only their number counts: a task always comes to where it gives its place back."""


PLACE = Place()


class Places:
    """The places of a pool; each connection that is in use takes one. They belong to the event loop that asks
    for one first.
    """

    def __init__(self, count: int) -> None:
        self._free_count = count
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()
        """Of tasks, the first one first. One that is done waits no longer."""

    async def take(self, deadline: Deadline) -> Place:
        """Wait for a place; `release` gives it back. Raises TimeoutError, and RuntimeError in another event
        loop.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        _check_loop(self._loop, "pool")
        if self._free_count > 0:
            self._free_count -= 1
            return PLACE
        remaining_s = deadline.remaining_s()
        # No wait_for: before Python 3.12 it forgets a cancellation that meets the moment a place comes free.
        comes = self._loop.create_future()
        timer = None if remaining_s is None else self._loop.call_later(remaining_s, _time_out, comes)
        self._waiting.append(comes)
        try:
            await comes
        except BaseException:
            if comes.done() and not comes.cancelled() and comes.exception() is None:
                self.add()  # the place came, and the task was cancelled before it went on
            with contextlib.suppress(ValueError):
                self._waiting.remove(comes)
            raise
        finally:
            if timer is not None:
                timer.cancel()
        return PLACE

    def release(self, place: Place) -> None:
        """Give a place back."""
        self.add()

    def add(self) -> None:
        """Let there be one place more."""
        while self._waiting:
            comes = self._waiting.popleft()
            if not comes.done():
                comes.set_result(None)
                return
        self._free_count += 1


class ShortWay:
    """Nothing: the event loop is the only way. A base of the connection."""


def _time_out(comes: asyncio.Future[None]) -> None:
    if not comes.done():
        comes.set_exception(TimeoutError())


async def _within(connecting: Coroutine[Any, Any, Any], seconds: float | None) -> None:
    """Wait for so long. Raises TimeoutError. A cancellation of the task that waits is one, whenever it comes:
    asyncio.wait_for forgets some before Python 3.12.
    """
    task = asyncio.ensure_future(connecting)
    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
    except BaseException:
        task.cancel()
        raise
    if not done:
        task.cancel()
        await asyncio.wait([task])
        if task.cancelled():
            raise TimeoutError
    task.result()


def _check_loop(loop: asyncio.AbstractEventLoop, what: str) -> None:
    if loop is not asyncio.get_running_loop():
        raise RuntimeError(f"this {what} belongs to the event loop that used it first: make one in each")


async def pause(seconds: float) -> None:
    """Let time pass; other tasks go on."""
    await asyncio.sleep(seconds)


class Waiter:
    """A task that waits for an answer."""

    __slots__ = ("end_s", "last", "settled")

    def __init__(self, last: Pending[Any], settled: asyncio.Future[None], end_s: float | None) -> None:
        self.last = last
        self.settled = settled
        self.end_s = end_s
        """When it waits no longer, by time.monotonic(); None = never."""


class Link(asyncio.Protocol):
    """One connection from its connect to its close, with its session.

    What all tasks send in one turn of the event loop leaves together, with one write at the turn's end. One
    timer serves all who wait.
    """

    def __init__(self, options: Options, ids: IndexIds) -> None:
        self._options = options
        self.session = Session(ids)
        self._transport: asyncio.Transport | None = None
        self._watch: Watch | None = None
        self._loop = asyncio.get_running_loop()
        self._unsent: list[bytes] = []
        self._waiting: collections.deque[Waiter] = collections.deque()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_end_s = math.inf
        self._has_ended = False

    @classmethod
    async def connect(cls, options: Options, ids: IndexIds, deadline: Deadline) -> Link:
        """Return a connected link. Raises ConnectionLost, Timeout."""
        loop = asyncio.get_running_loop()
        link = cls(options, ids)
        try:
            remaining_s = deadline.remaining_s()
            if options.unix_socket is None:
                connecting = loop.create_connection(
                    lambda: link, options.host, options.port, ssl=options.tls_context
                )
            else:
                connecting = loop.create_unix_connection(
                    lambda: link,
                    options.unix_socket,
                    ssl=options.tls_context,
                    server_hostname=None if options.tls_context is None else options.host,
                )
            await _within(connecting, remaining_s)
        except TIMED_OUT as error:
            raise options.timed_out("no connection") from error
        except OSError as error:
            raise options.not_connected(error) from error
        except BaseException:  # cancelled, and the connection may be there at this moment
            if link._transport is not None:
                link._transport.abort()
            raise
        return link

    def close(self) -> None:
        """Close at the user's wish. Idempotent. Raises RuntimeError in another event loop than its own, if
        that is not closed.
        """
        if self._loop.is_closed():
            self._end_without_loop()
        else:
            _check_loop(self._loop, "connection")
        self._fail(ConnectionLost("closed", "this connection was closed by its user"))

    def _end_without_loop(self) -> None:
        """End the connection, whose transport can do nothing any more."""
        transport, self._transport = self._transport, None
        connected = None if transport is None else transport.get_extra_info("socket")
        if connected is None:
            return
        with (
            contextlib.suppress(OSError),
            socket.fromfd(connected.fileno(), connected.family, connected.type) as same,
        ):
            same.shutdown(socket.SHUT_RDWR)

    def usable(self) -> bool:
        """True while the connection stands, as far as can be seen from here."""
        return self._transport is not None and not self._transport.is_closing()

    def ready(self) -> bool:
        """The same, asked by who is about to use it. Raises RuntimeError in another event loop.

        The first of a turn is looked at: that asks the system, each time. Others would get asyncio's own
        RuntimeError as soon as they wait.
        """
        if not self._unsent:
            _check_loop(self._loop, "connection")
        return self.usable()

    async def look(self) -> None:
        """See whether the server has closed the connection: `usable` is right after it.

        What came is read by the event loop, at its next turns. If somebody waits for an answer, it may be
        that.
        """
        turns = 0
        while (
            turns < READING_TURNS
            and self._watch is not None
            and not self._waiting
            and self.usable()
            and self._watch.has_input()
        ):
            await asyncio.sleep(0)
            turns += 1

    async def exchange(self, data: bytes, last: Pending[Any], deadline: Deadline) -> None:
        """Send, and wait until the last of the requests is settled."""
        if last.done:
            return
        if self._has_ended:  # since it was looked at, and nobody would tell it again
            self._fail(self._lost())
            return
        if not self._unsent:
            self._loop.call_soon(self._send_all)
        self._unsent.append(data)
        settled: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(Waiter(last, settled, deadline.end_s))
        if deadline.end_s is not None and deadline.end_s < self._timer_end_s:
            self._set_timer(deadline.end_s)
        await settled

    def _send_all(self) -> None:
        data = b"".join(self._unsent)
        self._unsent.clear()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _set_timer(self, end_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_end_s = end_s
        self._timer = self._loop.call_later(max(0.0, end_s - time.monotonic()), self._end_waits)

    def _end_waits(self) -> None:
        """The timer: close if somebody has waited too long. Nobody can be answered then; the others are told
        that the connection was lost.
        """
        self._timer, self._timer_end_s = None, math.inf
        ends_s = [
            waiter.end_s
            for waiter in self._waiting
            if waiter.end_s is not None and not waiter.settled.done()  # done: it was cancelled
        ]
        if not ends_s:
            return
        now_s = time.monotonic()
        if min(ends_s) > now_s:
            self._set_timer(min(ends_s))
            return
        late = self._options.timed_out("no answer")
        lost = ConnectionLost("lost", f"closed, since another request had {late.detail}")
        for waiter in self._waiting:
            is_late = waiter.end_s is not None and waiter.end_s <= now_s
            self.session.fail(late if is_late else lost, waiter.last)
        self._fail(lost)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # which uvloop's says to be, and is not
        connected = transport.get_extra_info("socket")
        self._watch = None if connected is None else Watch(connected)

    def data_received(self, data: bytes) -> None:
        try:
            self.session.feed(data)
        except TransportError as error:
            self._fail(error)
        except BaseException:  # of a signal's handler
            self._fail(ConnectionLost("interrupted", self._options.where()))
            raise
        else:
            self._wake_settled()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(self._lost(exc))

    def _lost(self, error: Exception | None = None) -> ConnectionLost:
        return ConnectionLost("lost", f"{self._options.where()}: {error or CLOSED}")

    def _fail(self, error: RowSocketError) -> None:
        """Close at once, with this error for everybody who waits. Idempotent."""
        self._has_ended = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._timer_end_s = None, math.inf
        if self._transport is not None:
            self._transport.abort()
        self.session.fail(error)
        self._wake_settled()

    def _wake_settled(self) -> None:
        while self._waiting and self._waiting[0].last.done:
            settled = self._waiting.popleft().settled
            if not settled.done():  # else it was cancelled
                settled.set_result(None)
