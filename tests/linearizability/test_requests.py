# SPDX-License-Identifier: GPL-2.0-only
"""What replies say of the rows: a success, nothing done, or nothing known."""

from __future__ import annotations

import pytest

from linearizability.history import Operation, Step
from linearizability.requests import Answer, Group, Request, RowsRead, Strange


def one(do: str, *lines: bytes) -> tuple[Step, Answer]:
    step = Step(7, do, 50, 40)
    request = Request([Operation("7", 0, 0, [step])], [step])
    request.lines += lines
    return step, request.answer()


def group(*lines: bytes) -> tuple[list[Step], Answer]:
    """A group of an insert of row 1 and an increment of row 2, answered so."""
    steps = [Step(1, "insert", 50), Step(2, "increment", 1)]
    request = Group([Operation(str(step.key), 0, 0, [step]) for step in steps], steps, must=True)
    request.lines += lines
    assert request.line_count() == len(lines)
    return steps, request.answer()


@pytest.mark.parametrize(
    ("do", "reply", "result"),
    [
        ("read", b"0\t1\t33", 33),
        ("read", b"0\t1", None),
        ("increment", b"0\t1\t34", 34),
        ("increment", b"0\t1", None),
        ("swap", b"0\t1\t33", 33),
        ("insert", b"0\t1", 1),
        ("insert", b"1\t1\t121", 0),
        ("update", b"0\t1\t1", 1),
        ("compare_and_set", b"0\t1\t0", 0),
        ("delete", b"0\t1\t1", 1),
    ],
)
def test_a_reply_that_tells_of_the_row_is_a_result(do: str, reply: bytes, result: int | None) -> None:
    step, answer = one(do, reply)
    assert (step.result, answer.operations) == (result, [Operation("7", 0, 0, [step])])


@pytest.mark.parametrize("reply", [b"1\t1\t149", b"1\t1\t1317", b"1\t1\tcommit"])
def test_an_error_that_says_that_nothing_was_done_is_no_operation(reply: bytes) -> None:
    assert one("update", reply)[1] == Answer([], reply)


def test_any_other_error_leaves_open_what_was_done() -> None:
    assert one("update", b"1\t1\t120")[1] == Answer(None, b"1\t1\t120")


@pytest.mark.parametrize("reply", [b"0\t1\tfive", b"0\t2\t5", b"0\t1", b"1\t1\t121"])
def test_a_success_that_is_none_is_noticed(reply: bytes) -> None:
    with pytest.raises(Strange):
        one("update", reply)


def test_a_group_has_an_operation_for_each_row() -> None:
    steps, answer = group(b"0\t1", b"0\t1", b"0\t1\t9", b"0\t1")
    assert [step.result for step in steps] == [1, 9]
    assert answer.operations == [Operation("1", 0, 0, [steps[0]]), Operation("2", 0, 0, [steps[1]])]


def test_of_a_group_that_failed_the_failed_member_tells_of_its_row() -> None:
    _, answer = group(b"0\t1", b"1\t1\t121", b"1\t1\tgroup", b"1\t1\tgroup")
    assert answer == Answer([Operation("1", 0, 0, [Step(1, "insert", 50, result=0)])], b"1\t1\t121")
    _, answer = group(b"0\t1", b"1\t1\tgroup", b"1\t1\tunchanged", b"1\t1\tgroup")
    assert answer == Answer(
        [Operation("2", 0, 0, [Step(2, "increment", 1, result=None)])], b"1\t1\tunchanged"
    )


@pytest.mark.parametrize(
    "lines",
    [
        (b"0\t1", b"1\t1\tgroup", b"1\t1\t149", b"1\t1\tgroup"),
        (b"0\t1", b"1\t1\tcommit", b"1\t1\tcommit", b"1\t1\tcommit"),
        (b"1\t1\tlock_tables", b"2\t1\tgroup", b"2\t1\tgroup", b"2\t1\tgroup"),
    ],
)
def test_a_group_that_was_not_done_is_no_operation(lines: tuple[bytes, ...]) -> None:
    assert group(*lines)[1].operations == []


def test_a_group_with_another_error_leaves_open_what_was_done() -> None:
    assert group(b"0\t1", b"1\t1\tgroup", b"1\t1\t120", b"1\t1\tgroup")[1].operations is None


def test_a_find_of_several_rows_tells_which_are_there() -> None:
    steps = [Step(1, "read"), Step(2, "read")]
    request = RowsRead([Operation("1-2", 0, 0, steps)], steps, b"")
    request.lines.append(b"0\t2\t2\t55")
    assert request.answer().operations == [
        Operation("1-2", 0, 0, [Step(1, "read"), Step(2, "read", result=55)])
    ]
