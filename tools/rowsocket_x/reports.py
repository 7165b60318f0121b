# SPDX-License-Identifier: GPL-2.0-only
"""What came of a test runner: counts and complaints out of its JUnit report, as ctest and pytest write it.

A test that is left out must be on the list of expected_skips.toml, which says why: else it counts as failed,
so that nothing that is missing on a machine makes tests disappear unseen.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

FAILURES_TOLD_MAX = 5
MESSAGE_LINES_MAX = 5
"""Of what the runner gives as the reason: it stands first, as a log that is cut keeps its beginning."""
FIRST_LINES_MAX = 10
LAST_LINES_MAX = 15
_NOT_RUN = ("disabled", "notrun")
"""As ctest and GoogleTest say it."""
EXPECTED_SKIPS = Path(__file__).with_name("expected_skips.toml")


@dataclass
class Outcome:
    """What came of one part of the tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    ran: str = ""
    """What ran, in a few words."""
    details: list[str] = field(default_factory=list)
    """Lines to show below the part's own line: why something failed."""

    def count(self, other: "Outcome") -> None:
        """The tests of another one are counted here, too."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


@dataclass(frozen=True)
class Skip:
    """A test that was left out, or (with patterns in both) one that may be."""

    test: str
    message: str


@cache
def expected_skips() -> tuple[Skip, ...]:
    """The list of expected_skips.toml."""
    return parse_skips(EXPECTED_SKIPS.read_text())


def parse_skips(text: str) -> tuple[Skip, ...]:
    """The entries of such a list. Raises KeyError where one does not say why."""
    entries = tomllib.loads(text).get("skip", [])
    assert all(entry["why"].strip() for entry in entries)
    return tuple(Skip(entry["test"], entry["message"]) for entry in entries)


def read(path: Path, expected: Sequence[Skip]) -> Outcome:
    """The counts of a report; a test that is left out and not expected to be counts as failed."""
    outcome = Outcome()
    root = ElementTree.parse(path).getroot()
    for suite in [root] if root.tag == "testsuite" else root.iter("testsuite"):
        counts = {
            name: int(suite.get(name) or 0) for name in ("tests", "failures", "errors", "skipped", "disabled")
        }
        failed = counts["failures"] + counts["errors"]
        skipped = counts["skipped"] + counts["disabled"]
        outcome.failed += failed
        outcome.skipped += skipped
        outcome.passed += counts["tests"] - failed - skipped
    unexpected = [skip for skip in _skips(root) if not is_expected(skip, expected)]
    outcome.skipped -= len(unexpected)
    outcome.failed += len(unexpected)
    outcome.details += [*_failures(root), *_unexpected(unexpected)]
    return outcome


def read_programs(path: Path, folder: Path, expected: Sequence[Skip]) -> Outcome:
    """The counts of the reports that GoogleTest's programs wrote into a folder, PROGRAM.xml.

    ctest's own report knows programs, not tests. It tells what theirs cannot: a program that crashed, hung or
    ended too early has no report, and one in which the sanitizer found a leak at its end has a good one.
    """
    outcome = Outcome()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        program = case.get("name") or ""
        report = folder / f"{program}.xml"
        own = read(report, expected) if report.is_file() else Outcome()
        outcome.count(own)
        outcome.details += own.details
        if own.failed == 0 and (_complaint(case) is not None or own.passed + own.skipped == 0):
            outcome.failed += 1
            outcome.details += [f"FAILED {program}: no test of it did, or it has told of none"]
            outcome.details += [f"  {line}" for line in _ends(_told(case).splitlines())]
    return outcome


def is_expected(skip: Skip, expected: Iterable[Skip]) -> bool:
    """Whether a test that was left out is on the list with what it says."""
    return any(
        fnmatchcase(skip.test, one.test) and fnmatchcase(skip.message, one.message) for one in expected
    )


def _skips(root: ElementTree.Element) -> list[Skip]:
    """The tests that were left out. A runner says so by a tag, and for a disabled one by its status.

    One that is expected to fail was run, and says in the source why it fails.
    """
    found = []
    for case in root.iter("testcase"):
        tag = case.find("skipped")
        if tag is not None and tag.get("type") == "pytest.xfail":
            continue
        if tag is not None or case.get("status") in _NOT_RUN:
            found.append(Skip(_name(case), (tag.get("message") if tag is not None else None) or "disabled"))
    return found


def _unexpected(skips: Sequence[Skip]) -> list[str]:
    if not skips:
        return []
    hint = "install what is missing, or say why it cannot be had in tools/rowsocket_x/expected_skips.toml"
    return [*(f"SKIPPED {skip.test}: {skip.message}" for skip in skips), hint]


def _failures(root: ElementTree.Element) -> list[str]:
    """The names of the tests that failed. For the first few, why, and both ends of what they printed."""
    lines = []
    failed = [
        (case, complaint) for case in root.iter("testcase") if (complaint := _complaint(case)) is not None
    ]
    for number, (case, complaint) in enumerate(failed):
        lines.append(f"FAILED {_name(case)}")
        if number < FAILURES_TOLD_MAX:
            message = (complaint.get("message") or "").strip().splitlines()
            told = [*message[:MESSAGE_LINES_MAX], *_ends(_told(case).splitlines())]
            lines += [f"  {line}" for line in told]
    return lines


def _told(case: ElementTree.Element) -> str:
    complaint = _complaint(case)
    text = complaint.text if complaint is not None else None
    return (text or case.findtext("system-out") or "").strip()


def _ends(lines: list[str]) -> list[str]:
    left_out = len(lines) - FIRST_LINES_MAX - LAST_LINES_MAX
    if left_out <= 0:
        return lines
    return [*lines[:FIRST_LINES_MAX], f"... {left_out} more lines ...", *lines[-LAST_LINES_MAX:]]


def _name(case: ElementTree.Element) -> str:
    return "::".join(filter(None, (case.get("classname"), case.get("name"))))


def _complaint(case: ElementTree.Element) -> ElementTree.Element | None:
    failure = case.find("failure")
    return case.find("error") if failure is None else failure
