# SPDX-License-Identifier: MIT
"""What the blocking client does in its own way: one blocking socket, and waiting.

`aio/_link.py` has the same names for the asyncio client.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
import threading
import time
import weakref
from typing import Any

from rowsocket._options import Deadline, Options
from rowsocket._session import IndexIds, Pending, Session
from rowsocket._watch import Watch
from rowsocket.errors import ConnectionLost, TransportError

RECEIVE_BYTES = 1 << 16
UNANSWERED_BYTES = 1 << 14
"""What fits a socket's send buffer even if the server does not read. More is sent while reading, since a
server stops reading from a client that does not take its replies."""
FRESH_S = 1.0
"""A connection that was silent for longer is looked at before it is used, in case the server has closed it.
Before a write, every connection is."""

Lock = contextlib.nullcontext
"""Holds nobody up: one thread at a time uses a connection, so nobody else can make its link."""


class Places(threading.Semaphore):
    """The places of a pool; each connection that is in use takes one."""

    def take(self, deadline: Deadline) -> None:
        """Wait for a place; `release` gives it back. Raises TimeoutError."""
        if not self.acquire(timeout=deadline.remaining_s()):
            raise TimeoutError


def pause(seconds: float) -> None:
    """Let time pass."""
    time.sleep(seconds)


class Link:
    """A connected socket with its session. Not thread-safe."""

    def __init__(self, options: Options, ids: IndexIds, connected: socket.socket) -> None:
        self._options = options
        self.session = Session(ids)
        self._socket = connected
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
        if not isinstance(self._socket, ssl.SSLSocket):
            return True
        try:
            self._socket.settimeout(0.0)
            self._socket.recv(1)
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
        if len(data) <= UNANSWERED_BYTES:
            self._socket.settimeout(deadline.remaining_s())
            self._socket.sendall(data)
            return
        if isinstance(self._socket, ssl.SSLSocket):
            self._send_inside_tls(self._socket, memoryview(data), deadline)
            return
        rest = memoryview(data)
        while rest:
            readable, writable = _ready(self._socket, True, deadline.remaining_s())
            if readable:
                self._receive(deadline)
            if writable:
                self._socket.settimeout(deadline.remaining_s())
                rest = rest[self._socket.send(rest[:UNANSWERED_BYTES]) :]

    def _send_inside_tls(self, stream: ssl.SSLSocket, rest: memoryview, deadline: Deadline) -> None:
        """A poll cannot tell whether TLS can send: it is tried, and what it waits for is waited for."""
        while rest:
            stream.settimeout(0.0)
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
        self._socket.settimeout(deadline.remaining_s())
        self._feed(self._socket.recv(RECEIVE_BYTES))

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
    seconds.
    """
    if not hasattr(select, "poll"):
        readable, writable, _ = select.select([waiting], [waiting] if for_write else [], [], timeout_s)
        return bool(readable), bool(writable)
    poll = select.poll()
    poll.register(waiting, select.POLLIN | (select.POLLOUT if for_write else 0))
    events = sum(event for _, event in poll.poll(None if timeout_s is None else timeout_s * 1000))
    return bool(events & ~select.POLLOUT), bool(events & select.POLLOUT)
