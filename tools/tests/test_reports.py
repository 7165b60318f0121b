# SPDX-License-Identifier: GPL-2.0-only
from pathlib import Path

import pytest

from rowsocket_x import reports
from rowsocket_x.reports import Outcome, Skip

CTEST = """\
<testsuite tests="3" failures="0" disabled="1" skipped="1">
  <testcase name="runs" classname="runs" status="run"/> <testcase name="skips" classname="skips"
  status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase> <testcase name="off"
  classname="off" status="disabled"/>
</testsuite>"""
PYTEST = """\
<testsuites><testsuite tests="9" failures="2" errors="1" skipped="1">
  <testcase classname="tests.faults.test_disk" name="test_full"><skipped message="takes root"/></testcase>
</testsuite></testsuites>"""
TAKES_ROOT = Skip("tests.faults.test_disk::*", "takes root")


def outcome_of(path: Path, report: str, *expected: Skip) -> Outcome:
    (path / "report.xml").write_text(report)
    return reports.read(path / "report.xml", expected)


def test_a_report_of_ctest_is_counted(tmp_path: Path) -> None:
    everything = [Skip("skips::skips", "*"), Skip("off::off", "disabled")]
    outcome = outcome_of(tmp_path, CTEST, *everything)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (1, 0, 2)


def test_a_report_of_pytest_is_counted(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, PYTEST, TAKES_ROOT)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (5, 3, 1)


def test_a_skip_that_is_not_on_the_list_fails_and_is_named(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, PYTEST)
    assert (outcome.failed, outcome.skipped) == (4, 0)
    assert outcome.details[0] == "SKIPPED tests.faults.test_disk::test_full: takes root"


def test_a_test_that_is_expected_to_fail_need_not_be_on_the_list(tmp_path: Path) -> None:
    report = PYTEST.replace("<skipped", '<skipped type="pytest.xfail"')
    outcome = outcome_of(tmp_path, report)
    assert (outcome.failed, outcome.skipped) == (3, 1)


def test_a_disabled_test_is_a_skip_that_must_be_on_the_list(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, CTEST, Skip("skips::skips", "*"))
    assert outcome.details[0] == "SKIPPED off::off: disabled"


@pytest.mark.parametrize("other", [Skip("tests.faults.test_crash::*", "*"), Skip("*", "there is no disk")])
def test_another_test_or_another_message_is_another_skip(other: Skip) -> None:
    assert not reports.is_expected(Skip("tests.faults.test_disk::test_full", "takes root"), [other])


def test_a_failure_is_told_with_the_end_of_its_output(tmp_path: Path) -> None:
    report = (
        '<testsuite tests="2" failures="1"><testcase classname="a" name="fine"/>'
        '<testcase classname="a" name="bad"><failure message="x">first\nlast</failure></testcase></testsuite>'
    )
    assert outcome_of(tmp_path, report).details == ["FAILED a::bad", "  x", "  first", "  last"]


def failing(reason: str, text: str = "") -> str:
    """The report of one test, which failed."""
    return (
        '<testsuite tests="1" failures="1"><testcase classname="a" name="bad">'
        f'<failure message="{reason}">{text}</failure></testcase></testsuite>'
    )


def test_of_a_long_reason_the_beginning_is_told(tmp_path: Path) -> None:
    reason = "&#10;".join(f"reason {number}" for number in range(1, 101))
    told = outcome_of(tmp_path, failing(reason)).details
    assert told == ["FAILED a::bad", *(f"  reason {number}" for number in range(1, 6))]


def test_of_a_long_output_both_ends_are_told(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(1, 101))
    told = outcome_of(tmp_path, failing("x", text)).details
    assert told[2] == "  line 1" and told[-1] == "  line 100" and "  ... 75 more lines ..." in told


PROGRAMS = """\
<testsuite tests="2"><testcase name="good_test" classname="good_test" status="run"/>
  <testcase name="bad_test" classname="bad_test" status="fail"><failure message="Failed"/>
  <system-out>the program said this</system-out></testcase></testsuite>"""
GOOD = """\
<testsuites tests="3" failures="0" disabled="1"><testsuite name="A" tests="3" failures="0" disabled="1">
  <testcase name="one" status="run" classname="A"/><testcase name="two" status="run" classname="A"/>
  <testcase name="DISABLED_three" status="notrun" classname="A"/></testsuite></testsuites>"""
DISABLED = Skip("A::DISABLED_three", "disabled")


def outcome_of_programs(path: Path, **reports_by_program: str) -> Outcome:
    """What comes of two programs, the second of which ctest says failed."""
    (path / "ctest.xml").write_text(PROGRAMS)
    (path / "programs").mkdir()
    for program, report in reports_by_program.items():
        (path / f"programs/{program}.xml").write_text(report)
    return reports.read_programs(path / "ctest.xml", path / "programs", [DISABLED])


def test_the_tests_of_programs_are_counted_and_not_the_programs(tmp_path: Path) -> None:
    outcome = outcome_of_programs(tmp_path, good_test=GOOD, bad_test=failing("x"))
    assert (outcome.passed, outcome.failed, outcome.skipped) == (2, 1, 1)
    assert outcome.details == ["FAILED a::bad", "  x"]


def test_a_program_that_crashed_has_failed_with_what_it_said(tmp_path: Path) -> None:
    outcome = outcome_of_programs(tmp_path, good_test=GOOD)
    assert (outcome.passed, outcome.failed) == (2, 1)
    assert outcome.details[0].startswith("FAILED bad_test") and outcome.details[1:] == [
        "  the program said this"
    ]


def test_a_program_that_told_of_no_test_has_failed(tmp_path: Path) -> None:
    outcome = outcome_of_programs(tmp_path, bad_test=failing("x"))
    assert (outcome.passed, outcome.failed) == (0, 2)


def test_a_program_that_ended_badly_after_good_tests_has_failed(tmp_path: Path) -> None:
    outcome = outcome_of_programs(tmp_path, good_test=GOOD, bad_test=GOOD)
    assert (outcome.passed, outcome.failed) == (4, 1)


def test_an_entry_of_the_list_must_say_why() -> None:
    with pytest.raises(KeyError, match="why"):
        reports.parse_skips('[[skip]]\ntest = "a::b"\nmessage = "c"\n')


def test_the_projects_own_list_can_be_read() -> None:
    assert reports.expected_skips()
