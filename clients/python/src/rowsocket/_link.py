# SPDX-License-Identifier: MIT
"""What the blocking client does in its own way: one blocking socket, and waiting.

`aio/_link.py` has the same names for the asyncio client.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import ssl
import time
import weakref
from typing import Any

from rowsocket._options import Deadline, Options
from rowsocket._session import IndexIds, Pending, Session
from rowsocket._watch import LONGEST_WAIT_S, Watch
from rowsocket.errors import ConnectionLost, TransportError

RECEIVE_BYTES = 1 << 16
UNANSWERED_BYTES = 1 << 14
"""What fits a socket's send buffer even if the server does not read. More is sent while reading, since a
server stops reading from a client that does not take its replies."""
FRESH_S = 1.0
"""A connection that was silent for longer is looked at before it is used, in case the server has closed it.
Before a write, every connection is."""

PLACES_MAX = 1 << 16
"""There are no more ports to connect from."""

Lock = contextlib.nullcontext
"""Holds nobody up: one thread at a time uses a connection, so nobody else can make its link."""


class Places:
    """The places of a pool; each connection that is in use takes one. They are what a queue holds, since
    queues are written in C, and semaphores in Python.
    """

    def __init__(self, count: int) -> None:
        self._free: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(min(count, PLACES_MAX)):
            self._free.put(None)

    def take(self, deadline: Deadline) -> None:
        """Wait for a place; `release` gives it back. Raises TimeoutError."""
        try:
            self._free.get(timeout=deadline.remaining_s())
        except queue.Empty:
            raise TimeoutError from None

    def release(self) -> None:
        """Give a place back."""
        self._free.put(None)


def pause(seconds: float) -> None:
    """Let time pass."""
    time.sleep(seconds)


class Link:
    """A connected socket with its session. Not thread-safe."""

    def __init__(self, options: Options, ids: IndexIds, connected: socket.socket) -> None:
        self._options = options
        self.session = Session(ids)
        connected.settimeout(0.0)  # waiting is done here: Python would poll before it sends, too
        self._socket = connected
        self._tls = connected if isinstance(connected, ssl.SSLSocket) else None
        """The same, if it is inside TLS."""
        self._watch = Watch(connected)
        self._last_used_s = time.monotonic()
        _links.add(self)

    @classmethod
    def connect(cls, options: Options, ids: IndexIds, deadline: Deadline) -> Link:
        """Return a connected link. Raises ConnectionLost, Timeout."""
        try:
            connected = _connect(options, deadline)
        except (socket.timeout, TimeoutError) as error:  # two types in Python 3.9
            raise options.timed_out("no connection") from error
        except OSError as error:
            raise ConnectionLost("connect", f"{options.where()}: {error}") from error
        return cls(options, ids, connected)

    def close(self) -> None:
        """Close. Idempotent."""
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
        except TransportError as error:
            self._break(error)
        except (socket.timeout, TimeoutError):
            self._break(self._options.timed_out("no answer"))
        except OSError as error:
            self._break(ConnectionLost("lost", f"{self._options.where()}: {error}"))
        except (
            BaseException
        ):  # KeyboardInterrupt: the replies under way would be taken for those of the next call
            self._break(ConnectionLost("interrupted", self._options.where()))
            raise
        self._last_used_s = time.monotonic()

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
                sent = self._socket.send(data)
            except BlockingIOError:
                sent = 0
            if sent == len(data):
                return
        rest = memoryview(data)[sent:]
        while rest:
            readable, writable = _ready(self._socket, True, deadline.remaining_s())
            if readable:
                self._receive(deadline)
            if writable:
                with contextlib.suppress(BlockingIOError):  # the kernel thought better of it
                    rest = rest[self._socket.send(rest[:UNANSWERED_BYTES]) :]

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
            readable, _ = _ready(stream, for_write, deadline.remaining_s())
            if readable:
                with contextlib.suppress(ssl.SSLWantReadError):
                    self._feed(stream.recv(RECEIVE_BYTES))
                while stream.pending():
                    self._feed(stream.recv(RECEIVE_BYTES))

    def _receive(self, deadline: Deadline) -> None:
        remaining_s = deadline.remaining_s()
        if self._tls is None or not self._tls.pending():
            while not self._watch.has_input(remaining_s):
                remaining_s = deadline.remaining_s()
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError):  # nothing, or less than a record of TLS
            return
        except ssl.SSLWantWriteError:  # TLS answers something of its own first
            _ready(self._socket, True, deadline.remaining_s())
            return
        self._feed(data)

    def _feed(self, data: bytes) -> None:
        if not data:
            raise ConnectionLost("lost", f"{self._options.where()} closed the connection")
        self.session.feed(data)


_links: weakref.WeakSet[Link] = weakref.WeakSet()


def _close_copies() -> None:
    """In a child, after a fork: close its copies of the parent's sockets; the parent does not notice. Two
    processes that talk on one connection would get each other's answers.
    """
    for link in list(_links):
        link.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)


def _connect(options: Options, deadline: Deadline) -> socket.socket:
    context = options.tls_context  # may raise, where a file of it is missing
    connected = _connect_plain(options, deadline.remaining_s())
    if context is None:
        return connected
    try:
        connected.settimeout(deadline.remaining_s())
        return context.wrap_socket(connected, server_hostname=options.host)
    except BaseException:
        connected.close()
        raise


def _connect_plain(options: Options, timeout_s: float | None) -> socket.socket:
    if options.unix_socket is None:
        connected = socket.create_connection((options.host, options.port), timeout_s)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.settimeout(timeout_s)
        connected.connect(options.unix_socket)
    except BaseException:
        connected.close()
        raise
    return connected


def _ready(waiting: socket.socket, for_write: bool, timeout_s: float | None) -> tuple[bool, bool]:
    """Wait until the socket is readable (or has ended) or, if asked, writable. Both False after `timeout_s`
    seconds, or before if those are many.
    """
    timeout_s = LONGEST_WAIT_S if timeout_s is None else min(timeout_s, LONGEST_WAIT_S)
    if not hasattr(select, "poll"):
        readable, writable, _ = select.select([waiting], [waiting] if for_write else [], [], timeout_s)
        return bool(readable), bool(writable)
    poll = select.poll()
    poll.register(waiting, select.POLLIN | (select.POLLOUT if for_write else 0))
    events = sum(event for _, event in poll.poll(timeout_s * 1000))
    return bool(events & ~select.POLLOUT), bool(events & select.POLLOUT)
