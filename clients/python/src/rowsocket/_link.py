# SPDX-License-Identifier: MIT
"""One blocking socket from its connect to its close. Not thread-safe."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Sequence
from typing import Any

from rowsocket._options import Deadline, Options
from rowsocket._session import IndexIds, Pending, Session
from rowsocket.errors import ConnectionLost, TransportError

RECEIVE_BYTES = 1 << 16
UNANSWERED_BYTES = 1 << 14
"""What fits a socket's send buffer even if the server does not read. More is sent while reading, since a server stops
reading from a client that does not take its replies."""
FRESH_S = 1.0
"""A connection that was silent for longer is looked at before it is used: the server may have closed it."""


class Link:
    """A connected socket with its session."""

    def __init__(self, options: Options, ids: IndexIds, deadline: Deadline) -> None:
        self._options = options
        self.session = Session(ids)
        self._last_used_s = time.monotonic()
        try:
            self._socket = _connect(options, deadline.remaining_s())
        except (socket.timeout, TimeoutError) as error:  # two types in Python 3.9
            raise options.timed_out("no connection") from error
        except OSError as error:
            raise ConnectionLost("connect", f"{options.where()}: {error}") from error

    def close(self) -> None:
        """Close. Idempotent."""
        self._socket.close()

    @property
    def closed(self) -> bool:
        """True after `close`, also by an error."""
        return self._socket.fileno() < 0

    def usable(self) -> bool:
        """False if the connection is known to be of no use: closed here or by the server."""
        if self.closed:
            return False
        if time.monotonic() - self._last_used_s < FRESH_S:
            return True
        return not any(_ready(self._socket, False, 0.0))

    def exchange(self, data: bytes, deadline: Deadline) -> None:
        """Send, and receive until every reply is there. If that fails, who waits is told so and the link is closed."""
        try:
            self._send(data, deadline)
            while not self.session.idle:
                self._receive(deadline)
        except TransportError as error:
            self._break(error)
        except (socket.timeout, TimeoutError):
            self._break(self._options.timed_out("no answer"))
        except OSError as error:
            self._break(ConnectionLost("lost", f"{self._options.where()}: {error}"))
        except BaseException:  # KeyboardInterrupt: the replies under way would be taken for those of the next call
            self._break(ConnectionLost("interrupted", self._options.where()))
            raise
        self._last_used_s = time.monotonic()

    def run(self, pendings: Sequence[Pending[Any]], deadline: Deadline) -> None:
        """Exchange requests for their replies."""
        self.exchange(self.session.encode(pendings), deadline)

    def _break(self, error: TransportError) -> None:
        self.session.fail(error)
        self.close()

    def _send(self, data: bytes, deadline: Deadline) -> None:
        if len(data) <= UNANSWERED_BYTES:
            self._socket.settimeout(deadline.remaining_s())
            self._socket.sendall(data)
            return
        rest = memoryview(data)
        while rest:
            readable, writable = _ready(self._socket, True, deadline.remaining_s())
            if readable:
                self._receive(deadline)
            if writable:
                self._socket.settimeout(deadline.remaining_s())
                rest = rest[self._socket.send(rest[:UNANSWERED_BYTES]) :]

    def _receive(self, deadline: Deadline) -> None:
        self._socket.settimeout(deadline.remaining_s())
        data = self._socket.recv(RECEIVE_BYTES)
        if not data:
            raise ConnectionLost("lost", f"{self._options.where()} closed the connection")
        self.session.feed(data)


def _connect(options: Options, timeout_s: float | None) -> socket.socket:
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
    """Wait until the socket is readable (or has ended) or, if asked, writable. Both False after `timeout_s` seconds."""
    if not hasattr(select, "poll"):
        readable, writable, _ = select.select([waiting], [waiting] if for_write else [], [], timeout_s)
        return bool(readable), bool(writable)
    poll = select.poll()
    poll.register(waiting, select.POLLIN | (select.POLLOUT if for_write else 0))
    events = sum(event for _, event in poll.poll(None if timeout_s is None else timeout_s * 1000))
    return bool(events & ~select.POLLOUT), bool(events & select.POLLOUT)
