# SPDX-License-Identifier: MIT
"""A look at a socket, for both clients."""

from __future__ import annotations

import select
from typing import Protocol


class HasFileno(Protocol):
    """A socket."""

    def fileno(self) -> int:
        """The number of its file."""
        ...


class Watch:
    """Tells whether something came in on a socket that is open, be it the end. Waits for nothing."""

    def __init__(self, watched: HasFileno) -> None:
        self._watched = watched
        self._poll: select.poll | None = None
        if hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(watched, select.POLLIN)

    def has_input(self) -> bool:
        """True if there is something to receive, or it has ended."""
        if self._poll is not None:
            return bool(self._poll.poll(0))
        return bool(select.select([self._watched], [], [], 0)[0])
