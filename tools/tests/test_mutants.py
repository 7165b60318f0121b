# SPDX-License-Identifier: GPL-2.0-only
"""What `./x mutants` changes in a source, and how it reads what tests come by."""

from pathlib import Path

import pytest

from rowsocket_x.mutants import changes, suites
from rowsocket_x.mutants.state import State
from rowsocket_x.mutants.suites import Baseline


def kinds(*lines: str) -> list[tuple[str, str]]:
    return [(change.kind, change.new) for change in changes.of_source("src/a.cc", "\n".join(lines))]


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("  if (a && b) {", {"drops a": "  if ((MUTANT(@) || (a)) && b) {"}),
        ("  if (f(a || b) || c) return;", {"drops c": "  if (f(a || b) || (!MUTANT(@) && (c))) return;"}),
        ("  } else if (a) {", {"never": "  } else if (!MUTANT(@) && (a)) {"}),
        ("  while (a) {", {"never": "  while (!MUTANT(@) && (a)) {"}),
        ("  return true;", {"the other answer": "  return !MUTANT(@);"}),
        ("  return a < b;", {"< is <=": "  return (MUTANT(@) ? a <= b : a < b);"}),
        ("  return a && b;", {"drops b": "  return a && (MUTANT(@) || (b));"}),
        ("  rows.clear();", {"no call": "  if (!MUTANT(@)) rows.clear();"}),
        ("  rows_ += f(1);", {"no assignment": "  if (!MUTANT(@)) rows_ += f(1);"}),
        ("  ++rows_;", {"not counted": "  if (!MUTANT(@)) ++rows_;"}),
        ("  rows = last - 1;", {"without 1": "  rows = last - (MUTANT(@) ? 0 : 1);"}),
    ],
)
def test_a_line_is_changed_behind_a_switch(line: str, new: dict[str, str]) -> None:
    found = dict(kinds("void f() {", line, "}"))
    for kind, text in new.items():
        assert found[kind] == text


@pytest.mark.parametrize(
    "line",
    [
        "  // if (a) {",
        "  if (Row* row = find(); row) {",
        "  if (Row* row = find()) {",
        "  constexpr int rows = last - 1;",
        "  return (a && b) || c ? d : e;",
        "  using rows = map(a);",
        "int rows = last - 1;",
    ],
)
def test_what_no_switch_can_stand_in_is_left_alone(line: str) -> None:
    assert kinds("void f() {", line, "}") == []


def test_a_call_that_goes_on_from_the_line_before_is_left_alone() -> None:
    assert kinds("  const Rows rows =", "      find(a);") == []


def test_what_runs_while_it_is_compiled_is_left_alone() -> None:
    assert kinds("  constexpr int f(int a) {", "    if (a) return;", "  }", "  ++a;") == [
        ("not counted", "  if (!MUTANT(@)) ++a;")
    ]


def test_the_same_seed_chooses_the_same_changes_and_one_per_line() -> None:
    source = "\n".join(["void f() {", *["  if (a && b) {"] * 20])
    offered = list(changes.of_source("src/a.cc", source))
    chosen = changes.choose(offered, seed=3, count=10)
    assert chosen == changes.choose(offered, seed=3, count=10)
    assert len({change.line for change in chosen}) == len(chosen) == 10


def test_a_change_is_put_in_with_its_number() -> None:
    source = "void f() {\n  ++rows_;\n  ++bytes_;\n}"
    (_, bytes_) = changes.of_source("src/a.cc", source)
    assert changes.put_in(source, {7: bytes_}) == ("void f() {\n  ++rows_;\n  if (!MUTANT(7)) ++bytes_;\n}")


def test_a_state_tells_what_was_come_by_until_it_is_forgotten(tmp_path: Path) -> None:
    state = State(tmp_path / "state")
    state.make()
    state.turn_on(259)
    marks = bytearray(state.path.read_bytes())
    assert marks[:4] == (259).to_bytes(4, "little")
    marks[4096 + 17] = 1
    state.path.write_bytes(marks)
    assert state.reached() == [17]
    state.forget_reached()
    assert state.reached() == []


def test_the_likely_tests_come_by_little_else_or_by_most_within_the_time() -> None:
    everything = Baseline("a::everything", 1.0, frozenset(range(100)))
    half = Baseline("a::half", 5.0, frozenset(range(50)))
    special = Baseline("b::special", 8.0, frozenset({7}))
    slow = Baseline("b::slow", 90.0, frozenset({7, 8}))
    other = Baseline("c::other", 1.0, frozenset({8}))
    tests = [half, everything, special, slow, other]
    assert suites.likely(tests, 7, seconds_max=200) == [special, everything, slow, half]
    assert suites.likely(tests, 7, seconds_max=14) == [special, everything, half]
    assert suites.likely([slow], 7, seconds_max=10) == [slow]
    assert suites.likely([slow], 9, seconds_max=10) == []
