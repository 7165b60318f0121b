# SPDX-License-Identifier: GPL-2.0-only
"""What one client was told of its writes, and what a server that came back from a crash still has of them.

A client's writes are a sequence: the server executes them in order, and an answer to one covers those before
it. So whatever the server has kept must be what the first n of them leave behind, for some n: one less than
were acknowledged is a loss, and no n at all is damage. The changes of an atomic group are kept all or not at
all: no n lies within one. A server that refuses changes may have refused some of those whose answers never
came: these are kept, each one or not, behind all that were acknowledged. Nothing here knows of servers or
threads; a ledger belongs to one client.

Rows are made from their id and value alone, so that half of a row, or a mixture of two, shows.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Row = tuple[int, int, str, int]
TEXT_LENGTH_MAX = 700
NO_SUCH_ROW = "no such row"
"""How a change of a row is refused that is not there: it would be so without a fault, too."""
Change = tuple[int, int | None, bool]
"""Row id; the value it has from then on, None: deleted; whether the next change is of the same atomic
group."""


def row_of(row_id: int, value: int) -> Row:
    """The whole row: id, value, a text whose length changes with the value, and a checksum of the three."""
    text = f"{row_id}/{value}/" + "x" * (value * 37 % TEXT_LENGTH_MAX)
    return row_id, value, text, zlib.crc32(f"{row_id},{value},{text}".encode())


def partial_rows(rows: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Those rows that are not what `row_of` makes of their id and value."""
    return [row for row in rows if tuple(row) != row_of(int(str(row[0])), int(str(row[1])))]


@dataclass
class Ledger:
    """One client's account of its writes, in the order in which it sent them.

    Note a change before it is sent (`sent`), and then what came of it: `acknowledged`, `refused`, or neither
    if no answer came.
    """

    changes: list[Change] = field(default_factory=list)
    acknowledged_count: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    """How many changes were refused, by the text of the error."""

    def sent(self, row_id: int, value: int | None, *, group_goes_on: bool = False) -> None:
        """A change is about to be sent; whether the next one is of the same atomic group."""
        self.changes.append((row_id, value, group_goes_on))

    def acknowledged(self) -> None:
        """The oldest change without an answer was acknowledged."""
        assert self.acknowledged_count < len(self.changes), "an answer to nothing"
        self.acknowledged_count += 1

    def refused(self, why: str) -> None:
        """The oldest change without an answer was refused: it must not be seen anywhere."""
        del self.changes[self.acknowledged_count]
        self.outcomes[why] += 1

    def kept(self, values: Mapping[int, int]) -> int | None:
        """The largest n so that the client's first n changes leave exactly `values` (row id to value); None:
        there is no such n.

        `values` are the rows of this client only, and the client began with none.
        """
        state: dict[int, int] = {}
        wrong = len(values)  # rows, of the state and of `values`, in which the two differ
        kept = 0 if wrong == 0 else None
        for count, (row_id, value, group_goes_on) in enumerate(self.changes, 1):
            wrong -= state.get(row_id) != values.get(row_id)
            if value is None:
                state.pop(row_id, None)
            else:
                state[row_id] = value
            wrong += state.get(row_id) != values.get(row_id)
            if wrong == 0 and not group_goes_on:
                kept = count
        return kept

    def lost(self, values: Mapping[int, int]) -> int:
        """How many acknowledged changes the server no longer has; raises Damaged if what it has is nobody's
        doing."""
        kept = self.kept(values)
        if kept is not None:
            return max(0, self.acknowledged_count - kept)
        if self.outcomes.keys() <= {NO_SUCH_ROW} or not self._kept_some_unanswered(values):
            raise Damaged(self._damage(values))
        return 0

    def _kept_some_unanswered(self, values: Mapping[int, int]) -> bool:
        """All that was acknowledged, and some of the rest, leaves these values."""
        groups: list[list[Change]] = [[]]
        for change in self.changes[self.acknowledged_count :]:
            groups[-1].append(change)
            if not change[2]:
                groups.append([])
        reached = [self._after(self.changes[: self.acknowledged_count], {})]
        for group in groups:
            reached += [after for before in reached if (after := self._after(group, before)) not in reached]
        return dict(values) in reached

    @staticmethod
    def _after(changes: Iterable[Change], before: Mapping[int, int]) -> dict[int, int]:
        state = dict(before)
        for row_id, value, _ in changes:
            if value is None:
                state.pop(row_id, None)
            else:
                state[row_id] = value
        return state

    def _damage(self, values: Mapping[int, int]) -> str:
        state = {row_id: value for row_id, value, _ in self.changes[: self.acknowledged_count]}
        rows = [row_id for row_id in sorted({*state, *values}) if state.get(row_id) != values.get(row_id)]
        shown = [f"{row_id}: {values.get(row_id)} instead of {state.get(row_id)}" for row_id in rows[:10]]
        unanswered = self.changes[self.acknowledged_count :]
        return (
            f"{len(rows)} rows are not as acknowledged: {shown}; {len(unanswered)} without an answer:"
            f" {unanswered[:10]}"
        )


class Damaged(AssertionError):
    """What the server has was left by no sequence of the client's writes."""
