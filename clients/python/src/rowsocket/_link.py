# SPDX-License-Identifier: MIT
"""What the blocking client does in its own way: one blocking socket, and waiting.

`aio/_link.py` has the same names for the asyncio client.
"""

from __future__ import annotations

import _socket
import contextlib
import os
import select
import socket
import ssl
import struct
import sys
import time
import weakref
from collections.abc import Iterable
from typing import Any, Callable, TypeVar

from rowsocket._index import IndexDescription, Request, RowRequest
from rowsocket._options import Deadline, Options
from rowsocket._places import Place as Place
from rowsocket._places import Places as Places
from rowsocket._protocol import Value
from rowsocket._requests import get_row, row_tail
from rowsocket._session import IndexIds, Pending, Session
from rowsocket._watch import LONGEST_WAIT_S, Watch
from rowsocket.errors import ConnectionLost, TransportError

T = TypeVar("T")
R = TypeVar("R")

RECEIVE_BYTES = 1 << 16
UNANSWERED_BYTES = 1 << 14
"""What fits a socket's send buffer even if the server does not read. More is sent while reading, since a
server stops reading from a client that does not take its replies."""
FRESH_S = 1.0
"""A connection that was silent for longer is looked at before it is used, in case the server has closed it.
Before a write, every connection is."""

WAIT_IN_RECEIVE_S = 0.005
"""So long, a socket's own `recv` waits; a longer wait is a poll's. A poll costs as much as half of all that
the client does for a request. But only a poll counts the time over signals: `recv` begins anew after each.
"""

Lock = contextlib.nullcontext
"""Holds nobody up: one thread at a time uses a connection, so nobody else can make its link."""


def pause(seconds: float) -> None:
    """Let time pass."""
    time.sleep(seconds)


class Link:
    """A connected socket with its session. Not thread-safe."""

    def __init__(self, options: Options, ids: IndexIds, connected: socket.socket) -> None:
        self._options = options
        self.session = Session(ids)
        self._socket = connected
        self._asks = _can_ask(connected, options.timeout)
        """Whether the link stands, and is one that `ask` is for."""
        self._waits_in_receive = _wait_in_receive(connected, self._asks)
        self._at_once = socket.MSG_DONTWAIT if self._waits_in_receive else 0
        """What a call on the socket is told that shall not wait."""
        self._tls = connected if isinstance(connected, ssl.SSLSocket) else None
        """The same, if it is inside TLS."""
        self._watch = Watch(connected)
        self._last_used_s = time.monotonic()
        _links.add(weakref.ref(self, _links.discard))

    @classmethod
    def connect(cls, options: Options, ids: IndexIds, deadline: Deadline) -> Link:
        """Return a connected link. Raises ConnectionLost, Timeout."""
        try:
            connected = _connect(options, deadline)
        except (socket.timeout, TimeoutError) as error:  # two types in Python 3.9
            raise options.timed_out("no connection") from error
        except OSError as error:
            raise options.not_connected(error) from error
        return cls(options, ids, connected)

    def close(self) -> None:
        """Close. Idempotent."""
        self._asks = False
        self._socket.close()

    def usable(self) -> bool:
        """False if the connection was closed, here or by the server (then it is closed here, too)."""
        if self._socket.fileno() < 0:
            return False
        if self.session.awaits_reply:  # a call was interrupted before it could say so
            self._break(ConnectionLost("interrupted", self._options.where()))
            return False
        if time.monotonic() - self._last_used_s >= FRESH_S and self._has_ended():
            self.close()
            return False
        return True

    ready = usable
    """The same, asked by who is about to use it."""

    def look(self) -> None:
        """See whether the server has closed the connection: `usable` is right after it."""
        if self._socket.fileno() >= 0 and self._has_ended():
            self.close()

    def _has_ended(self) -> bool:
        """True if something came that nobody asked for: the end, as a rule."""
        if not self._watch.has_input():
            return False
        if self._tls is None:
            return True
        try:
            self._tls.recv(1)
        except ssl.SSLWantReadError:  # TLS's own, a ticket for the next session, say
            return False
        except OSError:
            pass
        return True

    def ask(
        self,
        index: IndexDescription[Any],
        tail: bytes,
        request: Request[Any] | None,
        deadline: Deadline | None,
    ) -> tuple[Any, ...] | Pending[Any] | None:
        """Send one read and receive its answer, as `exchange` does; None if it is a case for that: then
        nothing was done. The deadline is now's if none is given.

        request  None: a `get` of an index that `has_plain_rows`. If all goes as it nearly always does, this
                 returns its row, and makes nothing that could tell more
        """
        now_s = time.monotonic()
        if not self._asks or now_s - self._last_used_s >= FRESH_S:
            return None
        session = self.session
        opened = session.begin_alone(index, now_s)
        if opened is None:
            return None
        self._last_used_s = now_s
        unsent = opened.begin + tail + b"\n"
        data = b""
        try:
            sent = self._socket.send(unsent, self._at_once)
            if sent == len(unsent):
                unsent = b""
                if not self._waits_in_receive:
                    self._watch.has_input(WAIT_IN_RECEIVE_S)
                data = self._socket.recv(RECEIVE_BYTES)
                row = opened.plain_row(data) if request is None else None
                if row is not None:
                    session.asks_alone = False
                    return row
            else:
                unsent = unsent[sent:]
        except BlockingIOError:  # it takes longer
            pass
        except BaseException as error:
            pending = session.go_on_alone(request or RowRequest(index, tail), opened)
            self._end_by(error)
            return pending
        pending = session.go_on_alone(request or RowRequest(index, tail), opened)
        try:
            session.feed(data)
            if not pending.done:
                deadline = deadline or Deadline(self._options.timeout, now_s)
                if unsent:
                    self._send(unsent, deadline)
                while not pending.done:
                    self._receive_polled(deadline)
        except BaseException as error:
            self._end_by(error)
        return pending

    def exchange(self, data: bytes, last: Pending[Any], deadline: Deadline) -> None:
        """Send, and receive until the last of the requests is settled.

        If that fails, whoever waits is told so and the link is closed.
        """
        if last.done:
            return
        try:
            self._send(data, deadline)
            while not last.done:
                self._receive(deadline)
        except BaseException as error:
            self._end_by(error)
        self._last_used_s = time.monotonic()

    def _end_by(self, error: BaseException) -> None:
        """Close, and tell whoever waits why. Raises what is no failure of the connection, a KeyboardInterrupt
        as a rule: the replies under way would be taken for those of the next call.
        """
        if isinstance(error, TransportError):
            self._break(error)
        elif isinstance(error, (socket.timeout, TimeoutError)):
            self._break(self._options.timed_out("no answer"))
        elif isinstance(error, OSError):
            self._break(ConnectionLost("lost", f"{self._options.where()}: {error}"))
        else:
            self._break(ConnectionLost("interrupted", self._options.where()))
            raise error

    def _break(self, error: TransportError) -> None:
        self.session.fail(error)
        self.close()

    def _send(self, data: bytes, deadline: Deadline) -> None:
        if self._tls is not None:
            self._send_inside_tls(self._tls, memoryview(data), deadline)
            return
        sent = 0
        if len(data) <= UNANSWERED_BYTES:
            try:
                sent = self._socket.send(data, self._at_once)
            except BlockingIOError:
                sent = 0
            if sent == len(data):
                return
        rest = memoryview(data)[sent:]
        while rest:
            readable, writable = self._ready(True, deadline)
            if readable:
                self._receive_polled(deadline)
            if writable:
                with contextlib.suppress(BlockingIOError):  # the kernel thought better of it
                    rest = rest[self._socket.send(rest[:UNANSWERED_BYTES], self._at_once) :]

    def _send_inside_tls(self, stream: ssl.SSLSocket, rest: memoryview, deadline: Deadline) -> None:
        """A poll cannot tell whether TLS can send: it is tried, and what it waits for is waited for."""
        while rest:
            for_write = True
            try:
                rest = rest[stream.send(rest[:UNANSWERED_BYTES]) :]
                continue
            except ssl.SSLWantWriteError:
                pass
            except ssl.SSLWantReadError:
                for_write = False
            readable, _ = self._ready(for_write, deadline)
            if readable:
                with contextlib.suppress(ssl.SSLWantReadError):
                    self._feed(stream.recv(RECEIVE_BYTES))
                while stream.pending():
                    self._feed(stream.recv(RECEIVE_BYTES))

    def _receive(self, deadline: Deadline) -> None:
        if self._waits_in_receive and deadline.allows(WAIT_IN_RECEIVE_S):
            try:
                data = self._socket.recv(RECEIVE_BYTES)
            except BlockingIOError:  # that was not long enough
                pass
            else:
                self._feed(data)
                return
        self._receive_polled(deadline)

    def _receive_polled(self, deadline: Deadline) -> None:
        remaining_s = deadline.remaining_s()
        self._stand()
        if self._tls is None or not self._tls.pending():
            while not self._watch.has_input(remaining_s):
                self._stand()
                remaining_s = deadline.remaining_s()
        try:
            data = self._socket.recv(RECEIVE_BYTES, self._at_once)
        except (BlockingIOError, ssl.SSLWantReadError):  # nothing, or less than a record of TLS
            return
        except ssl.SSLWantWriteError:  # TLS answers something of its own first
            self._ready(True, deadline)
            return
        self._feed(data)

    def _ready(self, for_write: bool, deadline: Deadline) -> tuple[bool, bool]:
        """Whether the socket is readable (or has ended) and, if asked, writable. Waits until one of them is
        true, if that takes no longer than LONGEST_WAIT_S.
        """
        remaining_s = deadline.remaining_s()
        wait_s = LONGEST_WAIT_S if remaining_s is None else min(remaining_s, LONGEST_WAIT_S)
        number = self._stand()
        if not hasattr(select, "poll"):
            readable, writable, _ = select.select([number], [number] if for_write else [], [], wait_s)
            return bool(readable), bool(writable)
        poll = select.poll()
        poll.register(number, select.POLLIN | (select.POLLOUT if for_write else 0))
        events = sum(event for _, event in poll.poll(wait_s * 1000))
        return bool(events & ~select.POLLOUT), bool(events & select.POLLOUT)

    def _stand(self) -> int:
        """The number of the socket's file. Raises ConnectionLost where a signal's handler, which came in the
        middle of a call, has closed this link to have one of its own. The number may be that one's now.
        """
        number = self._socket.fileno()
        if number < 0:
            raise ConnectionLost("interrupted", self._options.where())
        return number

    def _feed(self, data: bytes) -> None:
        if not data:
            raise ConnectionLost("lost", f"{self._options.where()} closed the connection")
        self.session.feed(data)


class ShortWay:
    """A base of the connection, with a shorter way for the commonest call: one read, on a link that was used
    just now. What does not go well is left to the long way.
    """

    _options: Options
    _link: Link | None
    _closed: bool
    _run: Callable[..., None]
    _run_failed: Callable[[list[Pending[Any]], Deadline], None]
    _take_new_types: Callable[[Link, list[Pending[Any]], Deadline], bool]

    def _execute(self, request: Request[T], deadline: Deadline | None = None) -> T:
        link, index, answer = self._link, request.description, None
        if link is not None and index is not None and not request.writes and not request.in_group:
            answer = link.ask(index, request.tail, request, deadline)
        return self._result(request, link, answer, deadline)

    def _get(
        self,
        index: IndexDescription[R],
        key: tuple[Value, ...],
        columns: str | Iterable[str] | None,
        deadline: Deadline | None = None,
    ) -> R | None:
        link = self._link
        if link is None or columns is not None or not index.has_plain_rows:
            return self._execute(get_row(index, key, columns), deadline)
        tail = row_tail(index, key)
        answer = link.ask(index, tail, None, deadline)
        if type(answer) is tuple:
            return answer  # type: ignore[return-value]  # an R: `cast` would be a call for each row
        return self._result(RowRequest(index, tail), link, answer, deadline)

    def _result(self, request: Request[T], link: Link | None, answer: object, deadline: Deadline | None) -> T:
        """The result of a request to which the link has this answer: the request, or that it was not sent."""
        if link is None or not isinstance(answer, Pending):
            answer = Pending(request)
            self._run([answer], deadline)
        elif answer._error is not None:
            deadline = deadline or Deadline(self._options.timeout)
            if not self._take_new_types(link, [answer], deadline):
                self._run_failed([answer], deadline)
        result: T = answer.result()
        return result


_links: set[weakref.ref[Link]] = set()
"""Not a WeakSet, which takes a link out by code of Python: what a signal's handler raises in that is lost."""


def _close_copies() -> None:
    """In a child, after a fork: close its copies of the parent's sockets; the parent does not notice. Two
    processes that talk on one connection would get each other's answers.
    """
    for link in [reference() for reference in _links]:
        if link is not None:
            link.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)


def _can_ask(connected: socket.socket, timeout_s: float | None) -> bool:
    """Whether WAIT_IN_RECEIVE_S is little of what a call may take, and the socket is the system's own.

    TLS reads on its own until it has a record. A stand-in for the socket, as gevent's, waits without end.
    """
    return (
        (timeout_s is None or timeout_s > 10 * WAIT_IN_RECEIVE_S)
        and isinstance(connected, _socket.socket)
        and not isinstance(connected, ssl.SSLSocket)
    )


def _wait_in_receive(connected: socket.socket, can: bool) -> bool:
    """Let the socket's `recv` wait for WAIT_IN_RECEIVE_S, if it can; False if it shall not wait at all.

    Of a Unix socket, it would also wake when what was sent was received.
    """
    can = can and sys.platform == "linux" and connected.family != socket.AF_UNIX
    if can:
        seconds, microseconds = divmod(int(WAIT_IN_RECEIVE_S * 1_000_000), 1_000_000)
        wait = struct.pack("@ll", seconds, microseconds)
        try:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
        except OSError:  # this system's time looks otherwise
            can = False
    connected.settimeout(None if can else 0.0)  # any other time, and Python polls before each call
    return can


def _connect(options: Options, deadline: Deadline) -> socket.socket:
    context = options.tls_context  # may raise, where a file of it is missing
    connected = _connect_plain(options, deadline)
    if context is None:
        return connected
    try:
        connected.settimeout(deadline.remaining_s())
        return context.wrap_socket(connected, server_hostname=options.host)
    except BaseException:
        connected.close()
        raise


def _connect_plain(options: Options, deadline: Deadline) -> socket.socket:
    if options.unix_socket is not None:
        return _connect_to(socket.AF_UNIX, options.unix_socket, deadline.remaining_s())
    addresses = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)
    for left, (family, _, _, _, address) in zip(range(len(addresses), 0, -1), addresses):
        # Not socket.create_connection: that gives each address the whole time.
        remaining_s = deadline.remaining_s()
        try:
            connected = _connect_to(family, address, None if remaining_s is None else remaining_s / left)
        except OSError:
            if left == 1:
                raise
        else:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connected
    raise OSError(f"{options.host} has no address")


def _connect_to(family: int, address: Any, timeout_s: float | None) -> socket.socket:
    connected = socket.socket(family, socket.SOCK_STREAM)
    try:
        connected.settimeout(timeout_s)
        connected.connect(address)
    except BaseException:
        connected.close()
        raise
    return connected
