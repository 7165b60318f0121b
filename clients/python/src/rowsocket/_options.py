# SPDX-License-Identifier: MIT
"""What the sync and the asyncio connection are told: where the server is, and how long to wait for it."""

from __future__ import annotations

import dataclasses
import time

from rowsocket.errors import Timeout

DEFAULT_TIMEOUT_S = 10.0


@dataclasses.dataclass(frozen=True)
class Options:
    """Where and how to connect."""

    host: str
    port: int
    unix_socket: str | None
    timeout: float | None
    secret: str | None
    reconnect: bool

    def __post_init__(self) -> None:
        if self.timeout is not None and self.timeout <= 0:
            raise ValueError("timeout: more than 0 seconds, or None to wait for ever")

    def where(self) -> str:
        """The address, for messages."""
        return self.unix_socket if self.unix_socket is not None else f"{self.host}:{self.port}"

    def timed_out(self, what: str) -> Timeout:
        """The error for what has not come in time."""
        return Timeout("timeout", f"{what} within {self.timeout} s from {self.where()}")


class Deadline:
    """When a call has to be over. `timeout_s` None is never."""

    def __init__(self, timeout_s: float | None) -> None:
        self._end = None if timeout_s is None else time.monotonic() + timeout_s

    def remaining_s(self) -> float | None:
        """Seconds left; None = no end. Raises TimeoutError when there are none left."""
        if self._end is None:
            return None
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        return remaining
