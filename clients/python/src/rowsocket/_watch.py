# SPDX-License-Identifier: MIT
"""A look at a socket, for both clients, and waiting for it."""

from __future__ import annotations

import select
from typing import Protocol

LONGEST_WAIT_S = 1.0
"""Who wants to wait longer looks whether the socket is still open, and waits again. A signal's handler may
have closed it meanwhile, which does not end the wait.
"""


class HasFileno(Protocol):
    """A socket."""

    def fileno(self) -> int:
        """The number of its file."""
        ...


class Watch:
    """Tells whether something came in on a socket that is open, be it the end."""

    def __init__(self, watched: HasFileno) -> None:
        self._watched = watched
        self._poll: select.poll | None = None
        if hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(watched, select.POLLIN)

    def has_input(self, wait_s: float | None = 0.0) -> bool:
        """True if there is something to receive, or it has ended, within so many seconds; None is for ever.
        False may come before, if the time is long.
        """
        if wait_s is None or wait_s > LONGEST_WAIT_S:
            wait_s = LONGEST_WAIT_S
        if self._poll is not None:
            return bool(self._poll.poll(wait_s * 1000))
        return bool(select.select([self._watched], [], [], wait_s)[0])
