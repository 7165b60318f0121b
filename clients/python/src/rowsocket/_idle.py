# SPDX-License-Identifier: MIT
"""The unused connections of a pool. No input or output here."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Generic, TypeVar

C = TypeVar("C")


class Idle(Generic[C]):
    """The unused connections, the last used on top. Threads may share it.

    No lock is around it, as around `Places`: a signal's handler that uses the pool, too, would wait for it
    for ever. Each step is one call of a deque, which is whole by itself.
    """

    def __init__(self, idle_timeout_s: float) -> None:
        self._idle_timeout_s = idle_timeout_s
        self._unused: collections.deque[tuple[C, float]] = collections.deque()
        """Each with the time since when it is unused. The one that was used last is the last."""
        self.closed = False
        """True after `close`."""

    def take(self, now_s: float) -> tuple[C | None, Sequence[C]]:
        """The connection used last (None: make one), and those to close because they were unused for too
        long.
        """
        unused = self._unused
        oldest_s = now_s - self._idle_timeout_s
        expired: Sequence[C] = ()
        try:
            if unused[0][1] < oldest_s:
                expired = self._take_expired(oldest_s)
            return unused.pop()[0], expired
        except IndexError:
            return None, expired

    def _take_expired(self, oldest_s: float) -> list[C]:
        expired: list[C] = []
        unused = self._unused
        try:
            while unused[0][1] < oldest_s:
                first = unused.popleft()
                if first[1] >= oldest_s:  # another thread has taken the one that was looked at
                    unused.appendleft(first)
                    break
                expired.append(first[0])
        except IndexError:  # none is left
            pass
        return expired

    def give_back(self, connection: C, now_s: float) -> bool:
        """A connection is unused again. False if it is to be closed instead, because the pool is."""
        if self.closed:
            return False
        one = (connection, now_s)
        self._unused.append(one)
        if self.closed:  # just now: either `close` finds it, or this does
            try:
                self._unused.remove(one)
            except ValueError:
                return True
            return False
        return True

    def close(self) -> list[C]:
        """Keep none from now on: every unused connection, to be closed."""
        self.closed = True
        unused: list[C] = []
        try:
            while True:
                unused.append(self._unused.popleft()[0])
        except IndexError:
            return unused
