# SPDX-License-Identifier: GPL-2.0-only
"""The ledger sees what it is there to see."""

from __future__ import annotations

import pytest

from faults.ledger import NO_SUCH_ROW, Damaged, Ledger, partial_rows, row_of


@pytest.fixture
def ledger() -> Ledger:
    """Two inserts, an update, a delete, another insert: all acknowledged; and an update without an answer."""
    ledger = Ledger()
    for row_id, value in ((1, 10), (2, 20), (1, 11), (2, None), (3, 30)):
        ledger.sent(row_id, value)
        ledger.acknowledged()
    ledger.sent(3, 31)
    return ledger


def test_what_was_acknowledged_is_no_loss(ledger: Ledger) -> None:
    assert ledger.lost({1: 11, 3: 30}) == 0


def test_a_write_without_an_answer_may_be_there(ledger: Ledger) -> None:
    assert ledger.lost({1: 11, 3: 31}) == 0


def test_a_missing_insert_a_resurrected_row_and_an_old_value_are_losses(ledger: Ledger) -> None:
    assert ledger.lost({1: 11}) == 1
    assert ledger.lost({1: 11, 2: 20}) == 2
    assert ledger.lost({1: 10, 2: 20}) == 3
    assert ledger.lost({}) == 5


@pytest.mark.parametrize(
    "values", [{1: 10, 3: 30}, {3: 30}, {1: 11, 2: 20, 3: 30}, {1: 11, 3: 32}, {1: 11, 3: 30, 4: 40}]
)
def test_a_hole_before_what_was_kept_is_damage(ledger: Ledger, values: dict[int, int]) -> None:
    with pytest.raises(Damaged):
        ledger.lost(values)


def test_half_of_a_group_is_damage(ledger: Ledger) -> None:
    ledger.refused("commit")
    for row_id, value, group_goes_on in ((4, 40, True), (5, 50, True), (3, None, False)):
        ledger.sent(row_id, value, group_goes_on=group_goes_on)
    assert ledger.lost({1: 11, 3: 30}) == 0
    assert ledger.lost({1: 11, 4: 40, 5: 50}) == 0
    for half in ({1: 11, 3: 30, 4: 40}, {1: 11, 3: 30, 4: 40, 5: 50}, {1: 11, 5: 50}):
        with pytest.raises(Damaged):
            ledger.lost(half)


def test_of_a_server_that_refuses_a_write_without_an_answer_may_be_missing_in_the_middle(
    ledger: Ledger,
) -> None:
    ledger.sent(4, 40)
    for row_id, value, group_goes_on in ((5, 50, True), (6, 60, False)):
        ledger.sent(row_id, value, group_goes_on=group_goes_on)
    kept_first_and_last = {1: 11, 3: 31, 5: 50, 6: 60}
    with pytest.raises(Damaged):
        ledger.lost(kept_first_and_last)
    ledger.outcomes[NO_SUCH_ROW] += 1
    with pytest.raises(Damaged):
        ledger.lost(kept_first_and_last)
    ledger.outcomes["135"] += 1
    assert ledger.lost(kept_first_and_last) == 0
    for damaged in ({1: 11, 3: 31, 5: 50}, {3: 31, 5: 50, 6: 60}, {1: 11, 3: 32, 5: 50, 6: 60}):
        with pytest.raises(Damaged):
            ledger.lost(damaged)


def test_a_refused_write_must_not_be_there(ledger: Ledger) -> None:
    ledger.refused("commit")
    assert ledger.outcomes == {"commit": 1}
    assert ledger.lost({1: 11, 3: 30}) == 0
    with pytest.raises(Damaged):
        ledger.lost({1: 11, 3: 31})


def test_a_row_that_is_half_of_another_is_partial() -> None:
    whole, other = row_of(7, 1), row_of(7, 2)
    assert partial_rows([whole, other]) == []
    mixed = [
        (*whole[:2], *other[2:]),
        (*whole[:3], other[3]),
        (whole[0], 3, *whole[2:]),
        (*whole[:2], whole[2][:-1], whole[3]),
    ]
    assert partial_rows(mixed) == mixed
