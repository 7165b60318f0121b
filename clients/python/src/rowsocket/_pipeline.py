# SPDX-License-Identifier: MIT
"""What the sync and the asyncio pipeline share: collecting requests, and what became of them."""

from __future__ import annotations

from typing import Any, TypeVar

from rowsocket._requests import Request
from rowsocket._session import Pending
from rowsocket.errors import ConnectionLost, TransportError

T = TypeVar("T")


class Collected:
    """The requests of a pipeline: those that wait to be sent, and all of them."""

    def __init__(self) -> None:
        self._unsent: list[Pending[Any]] = []
        self._all: list[Pending[Any]] = []

    def _add(self, request: Request[T]) -> Pending[T]:
        pending = Pending(request)
        self._unsent.append(pending)
        self._all.append(pending)
        return pending

    def _take_unsent(self) -> list[Pending[Any]]:
        unsent, self._unsent = self._unsent, []
        return unsent

    def __len__(self) -> int:
        """How many requests were added."""
        return len(self._all)

    def check(self) -> None:
        """Raise the first error of any request that was sent, in the order of the requests."""
        for pending in self._all:
            if pending.error is not None:
                raise pending.error


def raise_lost(pendings: list[Pending[Any]]) -> None:
    """Raise if the connection failed: that a request was refused is its own matter, that nobody answers is everybody's."""
    lost = [pending.error for pending in pendings if isinstance(pending.error, TransportError)]
    if lost:
        raise next((error for error in lost if error.outcome_unknown), lost[0])


def lost_reads(pendings: list[Pending[Any]]) -> list[Pending[Any]]:
    """The requests that can be sent again after the connection was lost: none if a write is among those without an answer."""
    lost = [pending for pending in pendings if isinstance(pending.error, ConnectionLost)]
    return [] if any(pending.writes for pending in lost) else lost
