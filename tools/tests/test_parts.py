# SPDX-License-Identifier: GPL-2.0-only
from pathlib import Path

import pytest

from rowsocket_x import parts
from rowsocket_x.console import Problem
from rowsocket_x.parts import Part, Settings
from rowsocket_x.paths import ROOT
from rowsocket_x.reports import Outcome
from rowsocket_x.server_series import Series


def test_a_name_selects_itself_and_its_variants() -> None:
    assert {part.name for part in parts.select(["unit"])} == {"unit-release", "unit-asan", "unit-tsan"}
    assert [part.name for part in parts.select(["tools"])] == ["tools"]


def test_smoke_is_run_where_it_is_named_and_not_with_everything() -> None:
    assert [part.name for part in parts.select(["smoke"], Series.V11_8)] == ["smoke"]
    for series in Series:
        assert "smoke" not in {part.name for part in parts.select([], series)}


def test_another_server_selects_the_parts_that_depend_on_it() -> None:
    names = {part.name for part in parts.select([], Series.V11_8)}
    assert {"vectors", "replication"} <= names and not {"tools", "unit-release", "fuzz"} & names


def test_the_last_line_says_which_parts_another_server_leaves_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def passes(settings: Settings) -> Outcome:
        return Outcome(passed=1)

    made = [Part("tools", passes), Part("vectors", passes, on_server=True), Part("bench", passes)]
    monkeypatch.setattr(parts, "all_parts", lambda: made)
    last_lines = []
    for names, series in (([], Series.V11_8), (["tools"], Series.V11_8), ([], Series.V10_11)):
        parts.run_parts(names, Settings(series=series))
        last_lines.append(capsys.readouterr().out.splitlines()[-1])
    assert last_lines == [
        "1 passed, 0 failed, 0 skipped (not for MariaDB 11.8: tools, bench)",
        "1 passed, 0 failed, 0 skipped",
        "3 passed, 0 failed, 0 skipped",
    ]


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(Problem, match="no part nonsense"):
        parts.select(["nonsense"])


def test_every_folder_of_tests_is_a_part() -> None:
    """So that it fails when its files vanish. What is missing belongs into PLAIN_PARTS or
    SERVER_PARTS of parts.py."""
    folders = [*(ROOT / "tests").iterdir(), *(ROOT / "clients").glob("*/tests")]
    there = {str(one.relative_to(ROOT)) for one in folders if next(one.rglob(parts.TEST_FILES), None)}
    assert there - {*parts.PLAIN_PARTS.values(), *parts.SERVER_PARTS.values()} == set()


def test_a_part_whose_files_vanished_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    monkeypatch.setattr(parts, "server_environment", lambda series: {})
    (tmp_path / "tests/vectors").mkdir(parents=True)
    assert not parts.run_parts(["vectors"], Settings())
    assert "there is no test_*.py in tests/vectors" in capsys.readouterr().out


def ending_with(code: int, report: str, log_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """What comes of a test runner that writes this report and ends with this code."""
    monkeypatch.setattr(parts, "LOGS", log_folder)
    command = ["sh", "-c", f"echo '{report}' > \"$1\"; exit {code}", "runner"]
    return parts.counted("part", "a runner", command, Settings(), {})


def test_a_runner_that_finds_nothing_to_run_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ctest does, which then ends with 0."""
    outcome = ending_with(0, '<testsuite tests="0"/>', tmp_path, monkeypatch)
    assert outcome.failed == 1 and "found no test" in outcome.details[0]


def test_a_runner_that_ends_badly_after_good_tests_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = ending_with(3, '<testsuite tests="2"/>', tmp_path, monkeypatch)
    assert (outcome.passed, outcome.failed) == (2, 1) and "ended with 3" in outcome.details[0]


def last_line_of(
    outcomes: list[Outcome], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[bool, str]:
    made = [Part("part", lambda settings, outcome=outcome: outcome) for outcome in outcomes]  # type: ignore[misc]
    monkeypatch.setattr(parts, "all_parts", lambda: made)
    clean = parts.run_parts([], Settings())
    return clean, capsys.readouterr().out.splitlines()[-1]


def test_the_last_line_counts_all_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = [Outcome(passed=3), Outcome(passed=4, skipped=2), Outcome(skipped=1)]
    assert last_line_of(outcomes, monkeypatch, capsys) == (True, "7 passed, 0 failed, 3 skipped")


def test_one_failure_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = [Outcome(passed=3), Outcome(failed=1)]
    assert last_line_of(outcomes, monkeypatch, capsys) == (False, "3 passed, 1 failed, 0 skipped")


def test_a_run_of_nothing_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert last_line_of([Outcome()], monkeypatch, capsys) == (False, "0 passed, 0 failed, 0 skipped")


def test_a_part_that_cannot_be_built_is_a_failure_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cannot(settings: Settings) -> Outcome:
        raise Problem("the build failed", "do this")

    fine = Part("fine", lambda settings: Outcome(passed=1))
    monkeypatch.setattr(parts, "all_parts", lambda: [Part("broken", cannot), fine])
    assert not parts.run_parts([], Settings())
    assert capsys.readouterr().out.splitlines()[1:3] == ["    the build failed", "    do this"]
