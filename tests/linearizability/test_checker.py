# SPDX-License-Identifier: GPL-2.0-only
"""The checker tells histories that are linearizable from those that are not: on a few operations each."""

from __future__ import annotations

from pathlib import Path

import pytest

from linearizability.checking import NOT_LINEARIZABLE, UNDECIDED, UNREADABLE, Checker, Verdict
from linearizability.history import History, Operation, Step

INSERTED = Operation("1", 0, 0, [Step(1, "insert", 5, result=1)], 10)


def read(value: int | None, called: int, returned: int) -> Operation:
    return Operation("1", 2, called, [Step(1, "read", result=value)], returned)


def verdict_of(checker: Checker, folder: Path, *operations: Operation) -> Verdict:
    return checker.verdict(History(list(operations)), folder)


CHANGED = Operation("1", 1, 20, [Step(1, "update", 6, result=1)], 30)
WITHOUT_REPLY = Operation("1", 1, 20, [Step(1, "update", 6)])


@pytest.mark.parametrize(
    "operations",
    [
        [CHANGED, read(6, 31, 40)],
        [CHANGED, read(5, 29, 40)],
        [CHANGED, read(6, 21, 25), read(6, 26, 40)],
        [WITHOUT_REPLY, read(5, 31, 40)],
        [WITHOUT_REPLY, read(5, 31, 40), read(6, 41, 50)],
        [Operation("1", 1, 20, [Step(1, "increment", 2, result=7)], 30), read(7, 31, 40)],
        [Operation("1", 1, 20, [Step(1, "swap", 8, result=5)], 30), read(8, 31, 40)],
        [Operation("1", 1, 20, [Step(1, "compare_and_set", 8, expected=5, result=1)], 30), read(8, 31, 40)],
        [Operation("1", 1, 20, [Step(1, "compare_and_set", 8, expected=4, result=0)], 30), read(5, 31, 40)],
        [Operation("1", 1, 20, [Step(1, "insert", 8, result=0)], 30), read(5, 31, 40)],
        [Operation("1", 1, 20, [Step(1, "delete", result=1)], 30), read(None, 31, 40)],
    ],
)
def test_a_linearizable_history_passes(checker: Checker, tmp_path: Path, operations: list[Operation]) -> None:
    assert verdict_of(checker, tmp_path, INSERTED, *operations).code == 0


@pytest.mark.parametrize(
    "operations",
    [
        [CHANGED, read(5, 31, 40)],
        [CHANGED, read(None, 31, 40)],
        [CHANGED, read(6, 21, 25), read(5, 26, 40)],
        [WITHOUT_REPLY, read(6, 31, 40), read(5, 41, 50)],
        [read(6, 11, 12), WITHOUT_REPLY],
        [Operation("1", 1, 20, [Step(1, "increment", 2, result=8)], 30)],
        [Operation("1", 1, 20, [Step(1, "swap", 8, result=4)], 30)],
        [Operation("1", 1, 20, [Step(1, "compare_and_set", 8, expected=4, result=1)], 30)],
        [Operation("1", 1, 20, [Step(1, "insert", 8, result=1)], 30)],
        [Operation("1", 1, 20, [Step(1, "delete", result=1)], 30), read(5, 31, 40)],
        [Operation("1", 1, 20, [Step(1, "update", 6, result=0)], 30)],
    ],
)
def test_any_other_history_is_refused(checker: Checker, tmp_path: Path, operations: list[Operation]) -> None:
    assert verdict_of(checker, tmp_path, INSERTED, *operations).code == NOT_LINEARIZABLE


def test_the_reply_that_nothing_explains_is_named_and_drawn(checker: Checker, tmp_path: Path) -> None:
    verdict = verdict_of(checker, tmp_path, INSERTED, CHANGED, read(5, 31, 40), read(6, 41, 50))
    assert "register 1 is not linearizable. The first reply, of 4, that nothing explains" in verdict.said
    assert verdict.said.splitlines()[1].strip() == "client    2, 31 to 40: read 1 -> 5"
    assert f"picture: {tmp_path / '1.html'}" in verdict.said
    assert "<html" in (tmp_path / "1.html").read_text()


def test_half_of_a_group_is_refused_in_a_register_of_two_rows(checker: Checker, tmp_path: Path) -> None:
    both = Operation("1-2", 0, 0, [Step(1, "insert", 5, result=1), Step(2, "insert", 5, result=1)], 10)

    def seen(first: int | None, second: int | None) -> Operation:
        return Operation("1-2", 1, 5, [Step(1, "read", result=first), Step(2, "read", result=second)], 15)

    assert verdict_of(checker, tmp_path, both, seen(5, 5)).code == 0
    assert verdict_of(checker, tmp_path, both, seen(None, None)).code == 0
    assert verdict_of(checker, tmp_path, both, seen(5, None)).code == NOT_LINEARIZABLE


def test_a_history_of_several_registers_is_refused_for_one_of_them(checker: Checker, tmp_path: Path) -> None:
    other = Operation("2", 1, 20, [Step(2, "read", result=5)], 30)
    assert verdict_of(checker, tmp_path, INSERTED, CHANGED, other).code == NOT_LINEARIZABLE


def test_what_is_not_decided_in_time_is_no_success(checker: Checker, tmp_path: Path) -> None:
    assert checker.verdict(History([INSERTED, CHANGED]), tmp_path, time_limit_s=0).code == UNDECIDED


@pytest.mark.parametrize("text", ["{", '{"steps": []}', '{"surprise": 1}', '{"steps": [{"do": "dance"}]}'])
def test_a_file_that_is_no_history_is_no_success(checker: Checker, tmp_path: Path, text: str) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text(text + "\n")
    assert checker.verdict_on_file(file).code == UNREADABLE


def test_a_refused_history_is_kept_and_its_place_is_told(checker: Checker) -> None:
    with pytest.raises(AssertionError, match="not linearizable") as told:
        checker.check(History([INSERTED, CHANGED, read(5, 31, 40)]))
    folder = Path(str(told.value).rsplit(" ", 1)[-1])
    assert sorted(path.name for path in folder.iterdir()) == ["1.html", "history.jsonl"]
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
