# SPDX-License-Identifier: GPL-2.0-only
"""`./x test`: the parts of the test suite, each a command whose results are counted.

    tools                       unit tests of ./x itself
    unit-release, -asan, -tsan  the C++ unit tests, as shipped and under the sanitizers
    client-LANGUAGE             a client library's own tests
    bench                       the comparison's own arithmetic
    vectors, integration, ...   one part for each folder of tests/ that holds test files, on real servers
    fuzz                        every fuzzing program for a short while, from its committed corpus

A part that cannot be built counts as one failure and the others go on. One line per part says what ran; the last line counts all.
"""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from rowsocket_x import build, fuzzing, server_fetch
from rowsocket_x.build import Preset
from rowsocket_x.console import Problem, tail
from rowsocket_x.paths import LOGS, ROOT, VENV

PART_SECONDS_MAX = 1200.0
FAILURES_TOLD_MAX = 5
FAILURE_LINES_MAX = 25
_FOLDER_ORDER = ("vectors", "integration", "differential", "compatibility", "faults", "regress")


@dataclass
class Outcome:
    """What came of one part."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    ran: str = ""
    """What ran, in a few words."""
    details: list[str] = field(default_factory=list)
    """Lines to show below the part's own line: why something failed."""


@dataclass(frozen=True)
class Settings:
    """What the user asked of all parts."""

    pytest_arguments: Sequence[str] = ()
    fuzz_seconds: int = 10
    verbose: bool = False


@dataclass(frozen=True)
class Part:
    """One part: its name, what it needs built first, and how to run it."""

    name: str
    run: Callable[[Settings], Outcome]


def all_parts() -> list[Part]:
    """Every part, in the order in which they run: the quick ones first."""
    parts = [Part("tools", lambda settings: _pytest("tools", "tools/tests", settings, {}))]
    parts += [
        _ctest_part("unit-release", Preset.RELEASE),
        _ctest_part("unit-asan", Preset.DEBUG),
        _ctest_part("unit-tsan", Preset.TSAN),
    ]
    for folder in sorted((ROOT / "clients").glob("*/tests")):
        if _holds_tests(folder):
            parts.append(_pytest_part(f"client-{folder.parent.name}", folder))
    parts.append(_pytest_part("bench", ROOT / "bench"))
    folders = sorted((ROOT / "tests").iterdir(), key=_position)
    parts += [_pytest_part(folder.name, folder) for folder in folders if _holds_tests(folder)]
    parts.append(Part("fuzz", _fuzz))
    return parts


def select(names: Sequence[str]) -> list[Part]:
    """The parts that the names choose; a name also stands for those that begin with it and a dash (`unit`)."""
    parts = all_parts()
    for name in names:
        if not any(_chooses(name, part) for part in parts):
            raise Problem(f"there is no part {name}", "parts: " + " ".join(part.name for part in parts))
    return [part for part in parts if not names or any(_chooses(name, part) for name in names)]


def run_parts(names: Sequence[str], settings: Settings) -> bool:
    """Run parts, print their lines and the final count; whether all passed (and anything ran at all)."""
    total = Outcome()
    for part in select(names):
        start_s = time.monotonic()
        try:
            outcome = part.run(settings)
        except Problem as problem:
            outcome = Outcome(failed=1, ran="could not run", details=[problem.what, *problem.hints])
        skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
        counts = f"{outcome.passed} passed, {outcome.failed} failed{skipped}"
        print(f"{part.name:<14} {counts} in {time.monotonic() - start_s:.0f} s ({outcome.ran})", flush=True)
        for line in outcome.details:
            print(f"    {line}", flush=True)
        total.passed += outcome.passed
        total.failed += outcome.failed
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return total.failed == 0 and total.passed > 0


def junit_outcome(path: Path) -> Outcome:
    """The counts of a JUnit report, as ctest and pytest write it."""
    outcome = Outcome()
    root = ElementTree.parse(path).getroot()
    for suite in [root] if root.tag == "testsuite" else root.iter("testsuite"):
        counts = {name: int(suite.get(name) or 0) for name in ("tests", "failures", "errors", "skipped", "disabled")}
        failed = counts["failures"] + counts["errors"]
        skipped = counts["skipped"] + counts["disabled"]
        outcome.failed += failed
        outcome.skipped += skipped
        outcome.passed += counts["tests"] - failed - skipped
    return outcome


def junit_failures(path: Path) -> list[str]:
    """What a JUnit report says of the tests that failed: each one's name, and for the first few the end of what it printed."""
    lines = []
    failed = [case for case in ElementTree.parse(path).getroot().iter("testcase") if _complaint(case) is not None]
    for number, case in enumerate(failed):
        lines.append("FAILED " + "::".join(filter(None, (case.get("classname"), case.get("name")))))
        if number < FAILURES_TOLD_MAX:
            complaint = _complaint(case)
            text = (complaint.text if complaint is not None else "") or case.findtext("system-out") or ""
            lines += [f"  {line}" for line in text.strip().splitlines()[-FAILURE_LINES_MAX:]]
    return lines


def _complaint(case: ElementTree.Element) -> ElementTree.Element | None:
    failure = case.find("failure")
    return case.find("error") if failure is None else failure


def _position(folder: Path) -> tuple[int, str]:
    known = folder.name in _FOLDER_ORDER
    return (_FOLDER_ORDER.index(folder.name) if known else len(_FOLDER_ORDER), folder.name)


def _holds_tests(folder: Path) -> bool:
    return folder.is_dir() and next(folder.rglob("test_*.py"), None) is not None


def _chooses(name: str, part: Part) -> bool:
    return part.name == name or part.name.startswith(name + "-")


def _pytest_part(name: str, folder: Path) -> Part:
    return Part(name, lambda settings: _pytest(name, str(folder.relative_to(ROOT)), settings, server_environment()))


def _ctest_part(name: str, preset: Preset) -> Part:
    return Part(name, lambda settings: _ctest(name, preset, settings))


def server_environment() -> Mapping[str, str]:
    """What the tests on real servers need to know (see tests/support/mariadb.py)."""
    plugin = build.plugin(build.build(Preset.RELEASE))
    server = server_fetch.require()
    return {
        "ROWSOCKET_SERVER_TREE": str(server.tree),
        "ROWSOCKET_SOURCE_TREE": str(server.headers),
        "ROWSOCKET_PLUGIN_DIR": str(plugin.parent),
        "ROWSOCKET_BUILD_DIR": str(build.folder_of(Preset.RELEASE)),
    }


def _pytest(name: str, folder: str, settings: Settings, environment: Mapping[str, str]) -> Outcome:
    command = [str(VENV / "bin/python"), "-m", "pytest", folder, *settings.pytest_arguments]
    return counted(name, f"pytest {folder}", [*command, "--junitxml"], settings, environment)


def _ctest(name: str, preset: Preset, settings: Settings) -> Outcome:
    folder = build.build(preset)
    command = [*build.without_address_randomisation(preset), "ctest", "--test-dir", str(folder), "--output-on-failure"]
    options = ["-j", str(os.cpu_count() or 1), "--timeout", "300", "--output-junit"]
    return counted(name, f"ctest, {preset} build", [*command, *options], settings, {})


def report_of(name: str) -> Path:
    """The JUnit report of a part's last run."""
    return LOGS / f"test-{name}.xml"


def counted(
    name: str,
    ran: str,
    command: Sequence[str],
    settings: Settings,
    environment: Mapping[str, str],
    seconds_max: float = PART_SECONDS_MAX,
) -> Outcome:
    """Run a test runner that writes a JUnit report to the file that comes as its last argument, and count from that."""
    report, log = report_of(name), LOGS / f"test-{name}.log"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    code = _run_logged([*command, str(report)], log, settings, {**build.environment(), **environment}, seconds_max)
    outcome = junit_outcome(report) if report.is_file() else Outcome()
    outcome.ran = ran
    if code != 0 and outcome.failed == 0:
        outcome.failed = 1  # the runner itself failed: it crashed, ran out of time, or found nothing to run
        outcome.details.append(f"the test runner ended with {code}")
    if outcome.failed:
        told = junit_failures(report) if report.is_file() else []
        outcome.details += [*(told or tail(log, 40).splitlines()), f"all of the output: {log}"]
    return outcome


def _run_logged(
    command: Sequence[str], log: Path, settings: Settings, environment: Mapping[str, str], seconds_max: float
) -> str | int:
    """Run to the end with the output in `log` (and on the terminal when verbose); the exit code, or a text on a time-out."""
    with log.open("wb") as sink:
        output = None if settings.verbose else sink
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            return process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            return f"nothing: stopped after {seconds_max:.0f} s"
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _fuzz(settings: Settings) -> Outcome:
    folder = build.build(Preset.FUZZ)
    outcome = Outcome(ran=f"libFuzzer with ASan and UBSan, {settings.fuzz_seconds} s each")
    for program in fuzzing.programs(folder):
        complaint = fuzzing.run_briefly(program, settings.fuzz_seconds)
        if complaint:
            outcome.failed += 1
            outcome.details += complaint
        else:
            outcome.passed += 1
    return outcome
