# SPDX-License-Identifier: GPL-2.0-only
"""One trial: choose changes, compile them all into one build, and see of each whether a test notices it."""

import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from rowsocket_x import build, parts, setup
from rowsocket_x.console import Problem, progress, run, step, tail
from rowsocket_x.mutants import changes
from rowsocket_x.mutants.changes import Change
from rowsocket_x.mutants.state import CHANGES_MAX, State
from rowsocket_x.mutants.suites import Baseline, ServerTests, UnitTests, likely
from rowsocket_x.paths import BUILD, LOGS, ROOT
from rowsocket_x.server_series import DEFAULT

FOLDER = BUILD / "mutants"
RESULTS = FOLDER / "results.jsonl"
"""One line per change of the last trial, written as soon as it is known."""

SERVER_PARTS = ("integration", "differential", "memcached", "resp")
"""The parts of `./x test` whose tests on real servers may notice a change."""

AT_A_TIME = 2
_BUILDS_MAX = 10
_SWITCH = Path(__file__).parent / "switch.h"
_NOT_THE_PRODUCT = re.compile(
    r"test|fuzz|fixture|conformance|engine/memory|handler_floor|cursor_probe|model|echo|drill"
)
_LINE_OF_ERROR = re.compile(r"(src/[\w/.]+):(\d+):")


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    seed: int
    count: int
    under: Sequence[str]
    """Folders or files, from the root of the project, that are changed."""
    servers: bool
    """Whether tests on real servers run for what the unit tests do not notice."""
    seconds_max: float
    """How long the unit tests, and those on servers, may take per change, by what they take without one."""


@dataclass(frozen=True)
class Verdict:
    """What became of a change: the test that noticed it, or None."""

    number: int
    change: str
    noticed_by: str | None
    tests: int
    """How many tests come by the changed line, of those that ran."""


def run_trial(options: Options) -> None:
    """Make a trial, and print what the tests do not notice. Raises `Problem` where it cannot be made."""
    if options.count > CHANGES_MAX:
        raise Problem(f"at most {CHANGES_MAX} changes fit into one build")
    chosen = changes.choose(_offered(options.under), options.seed, options.count)
    if not chosen:
        raise Problem(f"no line to change under {' '.join(options.under)}", "name folders such as src/exec")
    built, numbered = _build(dict(enumerate(chosen, start=1)))
    trial = _Trial(built, numbered)
    verdicts = trial.by_unit_tests(options.seconds_max)
    if options.servers:
        unnoticed = [number for number, verdict in verdicts.items() if verdict.noticed_by is None]
        verdicts |= trial.by_server_tests(unnoticed, options.seconds_max)
    _tell(list(verdicts.values()), options.seed)


def _offered(under: Sequence[str]) -> list[Change]:
    offered: list[Change] = []
    for name in _tracked(*(under or ["src"])):
        if name.startswith("src/") and name.endswith((".cc", ".h")) and not _NOT_THE_PRODUCT.search(name):
            offered += changes.of_source(name, (ROOT / name).read_text())
    return offered


def _tracked(*under: str) -> list[str]:
    listed = run(["git", "ls-files", "--", *under], what="listing the project's files", cwd=ROOT)
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def _write_changed_project(tree: Path, numbered: Mapping[int, Change]) -> None:
    """A copy with the changes in it. What is the same already is left alone, for the next build."""
    for name in _tracked("src", "cmake", "CMakeLists.txt", "CMakePresets.json"):
        content = (ROOT / name).read_bytes()
        own = {number: change for number, change in numbered.items() if change.file == name}
        if own:
            content = changes.put_in(content.decode(), own).encode()
        path = tree / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _build(numbered: Mapping[int, Change]) -> tuple[Path, Mapping[int, Change]]:
    """Compile the changes in; those whose lines the compiler refuses are left out."""
    setup.packages(*build.Preset.RELEASE.packages)
    tree, folder, log = FOLDER / "tree", FOLDER / "build-mutants", LOGS / "build-mutants.log"
    flags = {"CXXFLAGS": f"-include {_SWITCH} -w"}
    headers = f"-DROWSOCKET_SERVER_HEADERS={setup.server(DEFAULT).headers}"
    _write_changed_project(tree, numbered)
    build.run_cmake(build.Preset.RELEASE, folder, [headers], source=tree, further_environment=flags)
    with step(f"building with {len(numbered)} changes"):
        for _ in range(_BUILDS_MAX):
            with log.open("wb") as sink:
                done = subprocess.run(
                    ["cmake", "--build", str(folder), "--", "-k", "0"],
                    cwd=tree,
                    env={**build.environment(), **flags},
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                )
            if done.returncode == 0:
                return folder, numbered
            refused = {(file, int(line)) for file, line in _LINE_OF_ERROR.findall(log.read_text())}
            kept = {
                number: change
                for number, change in numbered.items()
                if (change.file, change.line) not in refused
            }
            if len(kept) == len(numbered):
                break
            numbered = kept
            _write_changed_project(tree, numbered)
    raise Problem("the build with the changes failed", *tail(log, 20).splitlines(), f"all of it: {log}")


class _Trial:
    """The changes of one build, tried one after the other."""

    def __init__(self, folder: Path, numbered: Mapping[int, Change]) -> None:
        self._folder = folder
        self._numbered = numbered
        self._states: SimpleQueue[State] = SimpleQueue()
        for slot in range(AT_A_TIME):
            own = State(FOLDER / f"slot-{slot}.state")
            own.make()
            self._states.put(own)
        RESULTS.write_text("")

    def by_unit_tests(self, seconds_max: float) -> dict[int, Verdict]:
        """Try every change with unit tests that come by it."""
        unit_tests = UnitTests(self._folder)
        own = self._states.get()
        with step("the unit tests without a change"):
            tests = unit_tests.tests(own)
        self._states.put(own)

        def judge(number: int, own: State) -> Verdict:
            chosen = likely(tests, number, seconds_max)
            return self._verdict(number, unit_tests.notice(own, chosen), chosen)

        return self._each("changes, by unit tests", judge, list(self._numbered))

    def by_server_tests(self, numbers: Sequence[int], seconds_max: float) -> dict[int, Verdict]:
        """Try these changes with tests on real servers that come by them."""
        servers = ServerTests(FOLDER / "reached", *_server_places(self._folder))
        with step("the tests on servers without a change"):
            tests = servers.tests()

        def judge(number: int, own: State) -> Verdict:
            chosen = likely(tests, number, seconds_max)
            noticed_by = servers.notice(own, chosen, own.path.with_suffix(".log")) if chosen else None
            return self._verdict(number, noticed_by, chosen)

        return self._each("changes, by tests on servers", judge, numbers)

    def _each(
        self, title: str, judge: Callable[[int, State], Verdict], numbers: Sequence[int]
    ) -> dict[int, Verdict]:
        def with_state(number: int) -> Verdict:
            own = self._states.get()
            own.turn_on(number)
            try:
                return judge(number, own)
            finally:
                own.turn_on(0)
                self._states.put(own)

        verdicts = {}
        with progress(title, len(numbers)) as done, ThreadPoolExecutor(AT_A_TIME) as pool:
            for verdict in pool.map(with_state, numbers):
                verdicts[verdict.number] = verdict
                with RESULTS.open("a") as file:
                    file.write(json.dumps(asdict(verdict)) + "\n")
                done(1)
        return verdicts

    def _verdict(self, number: int, noticed_by: str | None, tests: Sequence[Baseline]) -> Verdict:
        return Verdict(number, str(self._numbered[number]), noticed_by, len(tests))


def _server_places(folder: Path) -> tuple[list[str], Mapping[str, str]]:
    environment: dict[str, str] = {}
    for part in SERVER_PARTS:
        environment |= parts.environment_of(part)
    environment |= {
        "ROWSOCKET_PLUGIN_DIR": str(build.plugin(folder).parent),
        "ROWSOCKET_BUILD_DIR": str(folder),
    }
    return [parts.SERVER_PARTS[part] for part in SERVER_PARTS], environment


def _tell(verdicts: Sequence[Verdict], seed: int) -> None:
    tried, noticed = Counter[str](), Counter[str]()
    for verdict in verdicts:
        folder = "/".join(verdict.change.split("/")[:2])
        tried[folder] += 1
        noticed[folder] += verdict.noticed_by is not None
        if verdict.noticed_by is None:
            print(f"{verdict.change} ({verdict.tests} tests come by)")
    for folder in sorted(tried):
        print(f"{folder:<16} {noticed[folder]} of {tried[folder]} noticed")
    print(f"seed {seed}: {noticed.total()} of {tried.total()} noticed; each with its test: {RESULTS}")


def any_seed() -> int:
    """A seed for a trial that was given none."""
    return random.randrange(1 << 31)
