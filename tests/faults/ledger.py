# SPDX-License-Identifier: GPL-2.0-only
"""What one client was told of its writes, and whether a server that came back from a crash agrees.

Each row is written with the same number in two columns, so that half a row shows. A write that got no answer may be there or
not: the promise is about those that were acknowledged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Ledger:
    """One client's account of its writes."""

    acknowledged: dict[int, int] = field(default_factory=dict)
    """Row id to the last value that was acknowledged."""
    unanswered: dict[int, int] = field(default_factory=dict)
    """Row id to a value whose write has no answer yet."""
    increments: int = 0
    """Acknowledged increments of the client's own counter."""
    increment_unanswered: bool = False

    def begin(self, row: int, value: int) -> None:
        """A write is sent."""
        self.unanswered[row] = value

    def end(self, row: int) -> None:
        """It was acknowledged."""
        self.acknowledged[row] = self.unanswered.pop(row)

    def lost(self, values: Mapping[int, int]) -> list[int]:
        """The rows whose acknowledged value is not there, nor a later one of which nothing is known."""
        return [
            row
            for row, value in self.acknowledged.items()
            if values.get(row) not in ({value, self.unanswered[row]} if row in self.unanswered else {value})
        ]

    def is_counter_possible(self, counter: int) -> bool:
        """The counter holds every acknowledged increment, and at most one that has no answer."""
        return self.increments <= counter <= self.increments + self.increment_unanswered
