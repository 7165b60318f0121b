# SPDX-License-Identifier: GPL-2.0-only
"""What can notice a change: the programs of unit tests, and the tests on real servers."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowsocket_x import python_layers
from rowsocket_x.console import Problem, say
from rowsocket_x.mutants import state
from rowsocket_x.mutants.state import State
from rowsocket_x.paths import ROOT, VENV

_REACHED = "rowsocket_x.mutants.reached"
"""The plugin of pytest that writes down what tests come by; only pytest can import it."""

START_SECONDS = 20.0
"""What a run may take beyond four times what it took without a change: more is a hang, and noticed."""

_FAILED, _INTERRUPTED = 1, 2
"""How pytest ends when tests failed, and when it was cut off."""


@dataclass(frozen=True)
class Baseline:
    """A test without changes: how long it took, and which changes it came by."""

    name: str
    seconds: float
    reached: frozenset[int]


class UnitTests:
    """The unit tests: each suite of each program is one test."""

    def __init__(self, build: Path) -> None:
        self._commands: dict[str, list[str]] = {}
        for program in sorted(build.rglob("*_test")):
            if program.is_file() and os.access(program, os.X_OK):
                for suite in _suites_of(program):
                    words = [str(program), f"--gtest_filter={suite}.*"]
                    self._commands[f"{program.name} {suite}"] = words

    def tests(self, own: State) -> list[Baseline]:
        """Run every suite once. One that fails by itself is left out, and named."""
        tests = []
        for name in self._commands:
            own.forget_reached()
            start_s = time.monotonic()
            if self._passes(name, own, 600.0):
                tests.append(Baseline(name, time.monotonic() - start_s, frozenset(own.reached())))
            else:
                say(f"{name} fails without a change: left out")
        return tests

    def notice(self, own: State, tests: Sequence[Baseline]) -> str | None:
        """The first of the tests that notices the change that is on."""
        for test in tests:
            if not self._passes(test.name, own, START_SECONDS + 4 * test.seconds):
                return test.name
        return None

    def _passes(self, name: str, own: State, seconds_max: float) -> bool:
        environment = {**os.environ, state.NAME: str(own.path), "GTEST_FAIL_FAST": "1"}
        try:
            done = subprocess.run(
                self._commands[name],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds_max,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def _suites_of(program: Path) -> list[str]:
    listed = subprocess.run(
        [program, "--gtest_list_tests"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return [line.split()[0][:-1] for line in listed.stdout.splitlines() if re.match(r"\S+\.( |$)", line)]


class ServerTests:
    """The tests of some folders of tests/, on servers with the changed plugin."""

    def __init__(self, folder: Path, places: Sequence[str], environment: Mapping[str, str]) -> None:
        python_layers.require(python_layers.Layer.TEST, python_layers.Layer.BENCH)
        self._folder = folder
        self._places = places
        self._environment = {**os.environ, **environment}
        self._words = [str(VENV / "bin/python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]

    def tests(self) -> list[Baseline]:
        """Run all of them once, two at a time. One that fails by itself is left out, and named."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        environment = {
            **self._environment,
            "PYTHONPATH": str(ROOT / "tools"),
            state.REACHED_FOLDER: str(self._folder),
        }
        plugin = ["-p", _REACHED, "-n", "2", "--dist", "loadfile"]
        with (self._folder / "output.log").open("wb") as log:
            subprocess.run(
                [*self._words, *plugin, *self._places],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        tests = []
        for line in _lines(self._folder):
            if line["passed"]:
                tests.append(Baseline(line["test"], line["seconds"], frozenset(line["reached"])))
            else:
                say(f"{line['test']} fails without a change: left out")
        if not tests:
            raise Problem("no test on a real server ran", f"the output: {self._folder / 'output.log'}")
        return tests

    def notice(self, own: State, tests: Sequence[Baseline], log: Path) -> str | None:
        """The first of the tests that notices the change that is on, or how the run ended instead."""
        names = log.with_suffix(".tests")
        names.write_text("\n".join(test.name for test in _by_file(tests)))
        seconds_max = START_SECONDS + 4 * sum(test.seconds for test in tests)
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [*self._words, "-x", "-rfE", "--tb=no", f"@{names}"],
                cwd=ROOT,
                env={**self._environment, state.NAME: str(own.path)},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
            try:
                code = process.wait(seconds_max)
            except subprocess.TimeoutExpired:
                return f"a run of more than {seconds_max:.0f} s"
            finally:
                _end_all_of(own)
                process.wait()
        if code == 0:
            return None
        if code not in (_FAILED, _INTERRUPTED) and code > 0:
            raise Problem(f"pytest ended with {code}", f"its output: {log}")
        text = log.read_text(errors="replace").splitlines()
        failed = [line for line in text if line.startswith(("FAILED ", "ERROR "))]
        return failed[0].split()[1] if failed else f"pytest, which ended with {code}"


def likely(tests: Sequence[Baseline], change: int, seconds_max: float) -> list[Baseline]:
    """The tests that come by a change, within a time: by turns one that comes by little else, and one that
    comes by most.

    The former are about the changed line. The latter try everything, and notice what happens in each request.
    At least one test is chosen where one comes by.
    """
    coming_by = sorted(
        (test for test in tests if change in test.reached),
        key=lambda test: (len(test.reached), test.seconds),
    )
    by_turns = [
        coming_by[-1 - position // 2] if position % 2 else coming_by[position // 2]
        for position in range(len(coming_by))
    ]
    chosen: list[Baseline] = []
    for test in by_turns:
        if not chosen or test.seconds + sum(one.seconds for one in chosen) <= seconds_max:
            chosen.append(test)
    return chosen


def _by_file(tests: Sequence[Baseline]) -> list[Baseline]:
    """The same tests, those of one file together: they share what was started for them."""
    files = {test.name.split("::")[0]: position for position, test in reversed(list(enumerate(tests)))}
    return sorted(tests, key=lambda test: files[test.name.split("::")[0]])


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            yield json.loads(line)


def _end_all_of(own: State) -> None:
    """End every process that was started with a state: a changed server may not end by itself."""
    mark = f"{state.NAME}={own.path}\0".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
