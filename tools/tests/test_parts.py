# SPDX-License-Identifier: GPL-2.0-only
from pathlib import Path

import pytest

from rowsocket_x import parts
from rowsocket_x.console import Problem
from rowsocket_x.parts import Outcome, Part, Settings


def outcome_of(path: Path, report: str) -> Outcome:
    path.write_text(report)
    return parts.junit_outcome(path)


def test_a_report_of_ctest_is_counted(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path / "r.xml", '<testsuite tests="9" failures="2" disabled="1" skipped="1"/>')
    assert (outcome.passed, outcome.failed, outcome.skipped) == (5, 2, 2)


def test_a_report_of_pytest_is_counted(tmp_path: Path) -> None:
    report = '<testsuites><testsuite tests="9" failures="2" errors="1" skipped="1"/></testsuites>'
    outcome = outcome_of(tmp_path / "r.xml", report)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (5, 3, 1)


def test_a_failure_is_told_with_the_end_of_its_output(tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    report.write_text(
        '<testsuite><testcase classname="a" name="fine"/>'
        '<testcase classname="a" name="bad"><failure message="x">first\nlast</failure></testcase></testsuite>'
    )
    assert parts.junit_failures(report) == ["FAILED a::bad", "  first", "  last"]


def test_a_name_selects_itself_and_its_variants() -> None:
    assert {part.name for part in parts.select(["unit"])} == {"unit-release", "unit-asan", "unit-tsan"}
    assert [part.name for part in parts.select(["tools"])] == ["tools"]


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(Problem, match="no part nonsense"):
        parts.select(["nonsense"])


def part_with(outcome: Outcome) -> Part:
    return Part("part", lambda settings: outcome)


def last_line_of(
    outcomes: list[Outcome], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[bool, str]:
    made = [part_with(outcome) for outcome in outcomes]
    monkeypatch.setattr(parts, "all_parts", lambda: made)
    clean = parts.run_parts([], Settings())
    return clean, capsys.readouterr().out.splitlines()[-1]


def test_the_last_line_counts_all_parts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [Outcome(passed=3), Outcome(passed=4, skipped=2)]
    assert last_line_of(outcomes, monkeypatch, capsys) == (True, "7 passed, 0 failed")


def test_one_failure_fails_the_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert last_line_of([Outcome(passed=3), Outcome(failed=1)], monkeypatch, capsys) == (False, "3 passed, 1 failed")


def test_a_run_of_nothing_is_no_success(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert last_line_of([Outcome()], monkeypatch, capsys) == (False, "0 passed, 0 failed")


def test_a_part_that_cannot_be_built_is_a_failure_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cannot(settings: Settings) -> Outcome:
        raise Problem("the build failed", "do this")

    monkeypatch.setattr(parts, "all_parts", lambda: [Part("broken", cannot), Part("fine", lambda settings: Outcome(passed=1))])
    assert not parts.run_parts([], Settings())
    assert capsys.readouterr().out.splitlines()[1:3] == ["    the build failed", "    do this"]
