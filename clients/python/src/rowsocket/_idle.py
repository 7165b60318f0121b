# SPDX-License-Identifier: MIT
"""The unused connections of a pool. No input or output here."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

C = TypeVar("C")


class Idle(Generic[C]):
    """The unused connections, the last used on top. Threads may share it."""

    def __init__(self, idle_timeout_s: float) -> None:
        self._idle_timeout_s = idle_timeout_s
        self._unused: list[tuple[C, float]] = []
        self._closed = False
        self._lock = threading.Lock()  # guards the two above

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._closed

    def take(self, now_s: float) -> tuple[C | None, list[C]]:
        """The connection used last (None: make one), and those to close because they were unused for too
        long.
        """
        oldest_s = now_s - self._idle_timeout_s
        expired: list[C] = []
        with self._lock:
            unused = self._unused
            if unused and unused[0][1] < oldest_s:
                expired = [connection for connection, since_s in unused if since_s < oldest_s]
                del unused[: len(expired)]
            return (unused.pop()[0] if unused else None), expired

    def give_back(self, connection: C, now_s: float) -> bool:
        """A connection is unused again. False if it is to be closed instead, because the pool is."""
        with self._lock:
            if not self._closed:
                self._unused.append((connection, now_s))
            return not self._closed

    def close(self) -> list[C]:
        """Keep none from now on: every unused connection, to be closed."""
        with self._lock:
            self._closed = True
            unused, self._unused = [connection for connection, _ in self._unused], []
            return unused
