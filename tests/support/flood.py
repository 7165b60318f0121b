# SPDX-License-Identifier: GPL-2.0-only
"""Requests that never cease: a worker that serves one of these connections has always more to do, and is
never idle."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

from support.raw import ConnectionClosed, RawConnection
from support.threads import Threads

REQUESTS_SENT_AT_ONCE = 20_000
REQUESTS_UNDER_WAY = 100_000
JOIN_TIMEOUT_S = 120.0


class Flood:
    """Asks the same over and over on one connection, without waiting for replies, until the end of the `with`
    block.

    There it takes all that are still to come, and raises AssertionError if any reply was another than
    `right`.
    """

    def __init__(self, connection: RawConnection, request: bytes, right: bytes) -> None:
        self._socket = connection.socket
        self._piece = (request + b"\n") * REQUESTS_SENT_AT_ONCE
        self._right = right + b"\n"
        self._stop = threading.Event()
        self._done_sending = threading.Event()
        self._sent = 0
        self._replies = 0
        self._wrong = b""
        self._threads = Threads((self._send, self._receive))

    @property
    def replies(self) -> int:
        """How many right replies have come so far."""
        return self._replies

    def wait_for_more(self, timeout_s: float = JOIN_TIMEOUT_S) -> None:
        """Wait until one more reply has come; raises AssertionError when it lasts."""
        before = self._replies
        deadline = time.monotonic() + timeout_s
        while self._replies == before:
            assert time.monotonic() < deadline, f"the connection stands still after {before} replies"
            time.sleep(0.002)

    def _send(self) -> None:
        try:
            while not self._stop.is_set():
                if self._sent - self._replies < REQUESTS_UNDER_WAY:
                    self._socket.sendall(self._piece)
                    self._sent += REQUESTS_SENT_AT_ONCE
                else:
                    time.sleep(0.001)
        finally:
            self._done_sending.set()

    def _receive(self) -> None:
        rest = b""
        while not self._wrong and not (self._done_sending.is_set() and self._replies == self._sent):
            received = self._socket.recv(1 << 20)
            if not received:
                raise ConnectionClosed(f"closed after {self._replies} of {self._sent} replies")
            whole, newline, behind = (rest + received).rpartition(b"\n")
            lines = whole + newline
            count = len(lines) // len(self._right)
            if lines != self._right * count:
                self._wrong = next(line for line in lines.split(b"\n") if line + b"\n" != self._right)
            rest = behind
            self._replies += count

    def __enter__(self) -> Self:
        self._threads.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._threads.join(JOIN_TIMEOUT_S)
        if error is None:
            assert not self._wrong, self._wrong
            self._threads.raise_error()
            assert self._replies == self._sent, f"{self._replies} of {self._sent} replies came"
