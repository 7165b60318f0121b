# SPDX-License-Identifier: MIT
"""How `rowsocket warm` walks an index: it passes each row once and has an end, whatever keys turn into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from rowsocket.cli.warming import Pace, Target, walk

TARGET = Target("shop", "t", "k", ("v",), (None,), False, 0, None)


class Numbers:
    """An index of whole numbers that tells its keys as `tell` has them. `grow` is called for each request."""

    def __init__(self, values: list[int], tell: Callable[[int], int] = int) -> None:
        self.values = values
        self.tell = tell
        self.grow: Callable[[], None] = lambda: None

    def find(
        self, key: Any, op: str, *, limit: int, offset: int = 0, to: Any = None, reverse: bool = False
    ) -> list[tuple[int]]:
        """As the client's."""
        self.grow()
        found = self._between(key, op, to)[:: -1 if reverse else 1][offset : offset + limit]
        return [(self.tell(value),) for value in found]

    def count(self, key: Any, op: str, *, to: Any = None) -> int:
        """As the client's."""
        return len(self._between(key, op, to))

    def _between(self, key: Any, op: str, to: Any) -> list[int]:
        behind = [value for value in self.values if op == ">=" or value > key[0]]
        return [value for value in behind if to is None or value <= to[1][0]]


def walked(index: Numbers) -> int:
    """How many rows were read."""
    return sum(walk(cast(Any, index), TARGET, Pace(0)))


@pytest.mark.parametrize(
    "tell",
    [
        lambda value: value,
        lambda value: value // 100 * 100,
        lambda value: value // 100 * 100 + 100,
        lambda value: value // 3000 * 3000,
        lambda _: 0,
        lambda _: 10**6,
        lambda value: -value,
    ],
)
def test_each_row_is_read_once_whatever_its_key_turns_into(tell: Callable[[int], int]) -> None:
    for values in ([], [7], list(range(10_000)), [7] * 5000, [1] * 2500 + list(range(5000))):
        assert walked(Numbers(sorted(values), tell)) == len(values)


def test_a_walk_does_not_run_after_rows_that_are_added_quicker_than_it_reads() -> None:
    index = Numbers(list(range(5000)))
    index.grow = lambda: index.values.extend(range(index.values[-1] + 1, index.values[-1] + 2001))
    assert walked(index) >= 5000
