# SPDX-License-Identifier: GPL-2.0-only
"""What a client takes for possible when requests were not answered."""

from __future__ import annotations

from typing import Any

import pytest

from property.books import OwnedMember
from property.requests import Owner, insert_line
from property.rows import Insert, OwnRows
from property.shapes import SHAPES
from property.steps import Alone, Group, Wrong
from property.unknown import settle_unknown

OWNER = Owner(0)
ROWS = tuple((OWNER.ids[number], 0, number, None) for number in range(4))
DONE_IN_PART = {
    "the first rows": (0, 1),
    "all but one": (0, 2, 3),
    "the first but one": (1, 2),
    "none": (),
    "all": (0, 1, 2, 3),
    "two that did not wait": (1, 3),
}
IMPOSSIBLE = {"a row of no request": (0, 4)}


def settled(done: tuple[int, ...], clause: str, *, in_group: bool = False) -> OwnRows:
    """The book after an insert of `ROWS` without an answer, where SQL sees these rows."""
    shape = next(shape for shape in SHAPES if shape.name == "plain")
    book = OwnRows(shape)
    insert = Insert(ROWS, clause=clause)

    def read(query: str) -> list[tuple[Any, ...]]:
        return [(OWNER.ids[number], 0, number, None, 0) for number in done]

    member = OwnedMember(book, insert, insert_line(shape, insert))
    settle_unknown([Group([member]) if in_group else Alone(member)], OWNER, read)
    return book


@pytest.mark.parametrize("done", DONE_IN_PART.values(), ids=DONE_IN_PART)
@pytest.mark.parametrize("in_group", [False, True], ids=["alone", "in a group"])
def test_rows_that_are_each_for_themselves_may_be_done_in_part(done: tuple[int, ...], in_group: bool) -> None:
    assert sorted(settled(done, "E", in_group=in_group).rows) == [OWNER.ids[number] for number in done]


@pytest.mark.parametrize("done", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_row_that_nobody_inserted_is_wrong(done: tuple[int, ...]) -> None:
    with pytest.raises(Wrong):
        settled(done, "E")


def test_other_rows_are_done_all_or_none() -> None:
    assert len(settled((0, 1, 2, 3), "").rows) == len(ROWS)
    with pytest.raises(Wrong):
        settled((0, 1), "")
