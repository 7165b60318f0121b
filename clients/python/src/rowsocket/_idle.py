# SPDX-License-Identifier: MIT
"""Which connections of a pool are there to be taken. No locks and no waiting: those are the pools' own."""

from __future__ import annotations

from typing import Generic, TypeVar

C = TypeVar("C")


class Idle(Generic[C]):
    """The unused connections, the last used on top, and how many are in use."""

    def __init__(self, max_size: int, idle_timeout_s: float) -> None:
        if max_size < 1 or idle_timeout_s <= 0:
            raise ValueError("max_size: at least 1; idle_timeout: more than 0 seconds")
        self.max_size = max_size
        self._idle_timeout_s = idle_timeout_s
        self._unused: list[tuple[C, float]] = []
        self._taken_count = 0

    def can_take(self) -> bool:
        """True if `take` is allowed."""
        return self._taken_count < self.max_size

    def take(self, now_s: float) -> tuple[C | None, list[C]]:
        """The connection used last (None: make one), and those to close because they were unused for too long."""
        self._taken_count += 1
        oldest_s = now_s - self._idle_timeout_s
        expired = [connection for connection, since_s in self._unused if since_s < oldest_s]
        del self._unused[: len(expired)]
        return (self._unused.pop()[0] if self._unused else None), expired

    def give_back(self, connection: C, now_s: float) -> None:
        """A taken connection is unused again."""
        self._taken_count -= 1
        self._unused.append((connection, now_s))

    def forget(self) -> None:
        """A taken connection is no more."""
        self._taken_count -= 1

    def take_all(self) -> list[C]:
        """Every unused connection, to be closed."""
        unused, self._unused = [connection for connection, _ in self._unused], []
        return unused
