# SPDX-License-Identifier: GPL-2.0-only
"""`./x test`: the parts of the test suite, each a command whose results are counted.

    tools                       unit tests of ./x itself
    site                        the documents as a site: its links, navigation and search
    unit-release, -asan, -tsan  the C++ unit tests, as shipped and under the sanitizers
    client-LANGUAGE             a client library's own tests
    bench                       the comparison's own arithmetic, and small runs of all that it measures
    vectors, integration, ...   the folders of tests/, on real servers
    fuzz-server                 fuzzed requests into a real server, also under valgrind
    smoke                       a few minutes of the above, for a second server; only where it is named
    fuzz                        every fuzzing program for a short while, one on each core, from its corpus

Each part is named below with the folder of its tests, so that one whose files vanish fails. A part that
cannot be built counts as one failure and the others go on. One line per part says what ran; the last line
counts all.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rowsocket_x import (
    benchmark,
    build,
    fuzzing,
    peer_tests,
    peers_fetch,
    python_layers,
    reports,
    server_fetch,
    setup,
)
from rowsocket_x.build import Preset
from rowsocket_x.console import Problem, tail
from rowsocket_x.machine import Layer
from rowsocket_x.paths import GO_CACHE, LOGS, ROOT, VENV
from rowsocket_x.reports import Outcome, Skip
from rowsocket_x.server_series import DEFAULT, Series

PART_SECONDS_MAX = 2400.0
"""Of a part that hangs."""

UNIT_PARTS: Mapping[str, Preset] = {
    "unit-release": Preset.RELEASE,
    "unit-asan": Preset.DEBUG,
    "unit-tsan": Preset.TSAN,
}

PLAIN_PARTS: Mapping[str, str] = {"tools": "tools/tests", "site": "tests/site"}
"""The parts that need nothing built, with their folders."""

SERVER_PARTS: Mapping[str, str] = {
    "readme": "tests/readme",
    "client-python": "clients/python/tests",
    "bench": "bench",
    "vectors": "tests/vectors",
    "integration": "tests/integration",
    "differential": "tests/differential",
    "compatibility": "tests/compatibility",
    "memcached": "tests/memcached",
    "resp": "tests/resp",
    "django": "tests/django_cache",
    "monitoring": "tests/monitoring",
    "faults": "tests/faults",
    "replication": "tests/replication",
    "linearizability": "tests/linearizability",
    "property": "tests/property",
    "fuzz-server": "tests/fuzz_server",
}
"""The parts that run on real servers, in their order, with their folders.

A new folder of tests is added here.
"""

SIDE_BY_SIDE = (
    "bench",
    "client-python",
    "integration",
    "differential",
    "memcached",
    "resp",
    "django",
    "monitoring",
    "faults",
    "replication",
    "property",
    "smoke",
)
"""The parts whose files run beside each other, each on servers of its own: most of their time is waiting."""

FILES_AT_A_TIME = "3"
"""Of each of these parts, whatever the number of cores."""

SMOKE = tuple(
    f"tests/integration/test_{name}.py"
    for name in (
        "code_of_tables",
        "foreign_keys",
        "full_disk",
        "grants",
        "groups",
        "inserts",
        "logging_in",
        "online_alter",
        "plugin",
        "rocksdb_snapshot",
        "temporary_space",
        "triggers_of_columns",
        "triggers_that_skip",
        "types",
        "upgraded_tables",
        "vector_indexes",
        "writes",
    )
)
"""The files of the part `smoke`: what depends on the series of the server, in a few minutes."""

TEST_FILES = "test_*.py"


@dataclass(frozen=True)
class Settings:
    """What the user asked of all parts."""

    pytest_arguments: Sequence[str] = ()
    fuzz_seconds: int = 10
    verbose: bool = False
    series: Series = DEFAULT


@dataclass(frozen=True)
class Part:
    """One part: its name, how to run it, and whether what it does depends on the server."""

    name: str
    run: Callable[[Settings], Outcome]
    on_server: bool = False
    only_named: bool = False
    """It repeats what other parts do: no part of everything."""


def all_parts() -> list[Part]:
    """Every part, in the order in which they run: the quick ones first."""
    parts = [_plain_part(name, folder) for name, folder in PLAIN_PARTS.items()]
    parts += [_ctest_part(name, preset) for name, preset in UNIT_PARTS.items()]
    parts += [_pytest_part(name, folder) for name, folder in SERVER_PARTS.items()]
    return [*parts, Part("fuzz", _fuzz), Part("smoke", _smoke, on_server=True, only_named=True)]


def select(names: Sequence[str], series: Series = DEFAULT) -> list[Part]:
    """The parts that the names choose; a name also stands for those that begin with it and a dash (`unit`).

    Without names all of them; for another server than the default one those that depend on the server.
    """
    parts = all_parts()
    for name in names:
        if not any(_chooses(name, part) for part in parts):
            raise Problem(f"there is no part {name}", "parts: " + " ".join(part.name for part in parts))
    if names:
        return [part for part in parts if any(_chooses(name, part) for name in names)]
    return [part for part in parts if not part.only_named and (part.on_server or series is DEFAULT)]


def left_out(names: Sequence[str], series: Series) -> list[str]:
    """The parts of everything that are not run because another server than the default one is asked for.

    None of them runs on that server: they need none, or (`bench`) measure beside peers on the default one.
    """
    if names:
        return []
    chosen = {part.name for part in select([], series)}
    return [part.name for part in select([], DEFAULT) if part.name not in chosen]


def run_parts(names: Sequence[str], settings: Settings) -> bool:
    """Run parts, print their lines and the final count; whether all passed (and anything ran at all)."""
    total = Outcome()
    for part in select(names, settings.series):
        start_s = time.monotonic()
        try:
            outcome = part.run(settings)
        except Problem as problem:
            outcome = Outcome(failed=1, ran="could not run", details=[problem.what, *problem.hints])
        print(
            f"{part.name:<14} {_counts(outcome)} in {time.monotonic() - start_s:.0f} s ({outcome.ran})",
            flush=True,
        )
        for line in outcome.details:
            print(f"    {line}", flush=True)
        total.count(outcome)
    missing = left_out(names, settings.series)
    note = f" (not for MariaDB {settings.series}: {', '.join(missing)})" if missing else ""
    print(_counts(total) + note, flush=True)
    return total.failed == 0 and total.passed > 0


def server_environment(series: Series = DEFAULT, preset: Preset = Preset.RELEASE) -> Mapping[str, str]:
    """What the tests on real servers need to know (see tests/support/mariadb.py)."""
    setup.packages(*preset.packages, Layer.TEST)
    folder = build.build(preset, series=series)
    server = server_fetch.require(series)
    GO_CACHE.mkdir(exist_ok=True)
    return {
        "ROWSOCKET_SERVER_TREE": str(server.tree),
        "ROWSOCKET_SOURCE_TREE": str(server.headers),
        "ROWSOCKET_PLUGIN_DIR": str(build.plugin(folder).parent),
        "ROWSOCKET_BUILD_DIR": str(folder),
        "ROWSOCKET_GO_CACHE": str(GO_CACHE),
    }


def counted(
    name: str,
    ran: str,
    command: Sequence[str],
    settings: Settings,
    environment: Mapping[str, str],
    seconds_max: float = PART_SECONDS_MAX,
    read: Callable[[Path, Sequence[Skip]], Outcome] = reports.read,
) -> Outcome:
    """Run a test runner that writes a JUnit report into the file of its last argument; count from that."""
    report, log = report_of(name), LOGS / f"test-{name}.log"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    words = [*command, str(report)]
    code = _run_logged(words, log, settings, {**build.environment(), **environment}, seconds_max)
    outcome = read(report, reports.expected_skips()) if report.is_file() else Outcome()
    outcome.ran = ran
    if outcome.failed == 0 and (code != 0 or outcome.passed + outcome.skipped == 0):
        outcome.failed = 1  # the runner itself failed: it crashed, ran out of time, or found nothing to run
        said = f"ended with {code}" if code != 0 else "found no test"
        outcome.details += [f"the test runner {said}", *tail(log, 40).splitlines()]
    if outcome.failed:
        outcome.details.append(f"all of the output: {log}")
    return outcome


def report_of(name: str) -> Path:
    """The JUnit report of a part's last run."""
    return LOGS / f"test-{name}.xml"


def _counts(outcome: Outcome) -> str:
    return f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"


def _chooses(name: str, part: Part) -> bool:
    return part.name == name or part.name.startswith(name + "-")


def _plain_part(name: str, folder: str) -> Part:
    return Part(name, lambda settings: _pytest(name, folder, settings, {}))


def environment_of(name: str, series: Series = DEFAULT) -> Mapping[str, str]:
    """What the tests of a part on real servers need to know. All that they need is fetched and built."""
    environment = dict(server_environment(series))
    if name == "bench":
        environment |= benchmark.variables(Path(environment["ROWSOCKET_BUILD_DIR"]), series)
    own = {"memcached": ("MEMCACHED", peer_tests.memcached), "resp": ("REDIS", peer_tests.redis)}.get(name)
    if own is not None:
        peer, source = own
        environment |= {
            "ROWSOCKET_PEERS": str(peers_fetch.fetch()),
            f"ROWSOCKET_{peer}_SOURCE": str(source()),
        }
    if name == "monitoring":
        environment["ROWSOCKET_MONITORS"] = str(peers_fetch.fetch_monitors())
    if name == "django":
        environment["ROWSOCKET_DJANGO_SOURCE"] = str(peer_tests.django())
    return environment


def _pytest_part(name: str, folder: str) -> Part:
    return Part(
        name,
        lambda settings: _pytest(name, folder, settings, environment_of(name, settings.series)),
        on_server=name != "bench",
    )


def _ctest_part(name: str, preset: Preset) -> Part:
    return Part(name, lambda settings: _ctest(name, preset, settings))


def _smoke(settings: Settings) -> Outcome:
    environment = server_environment(settings.series, Preset.PLUGIN)
    return _run_pytest("smoke", SMOKE, f"MariaDB {settings.series}", settings, environment)


def _pytest(name: str, folder: str, settings: Settings, environment: Mapping[str, str]) -> Outcome:
    if next((ROOT / folder).rglob(TEST_FILES), None) is None:
        raise Problem(
            f"there is no {TEST_FILES} in {folder}", "the part is named in tools/rowsocket_x/parts.py"
        )
    return _run_pytest(name, [folder], f"pytest {folder}", settings, environment)


def _run_pytest(
    name: str, places: Sequence[str], ran: str, settings: Settings, environment: Mapping[str, str]
) -> Outcome:
    python_layers.require(python_layers.Layer.TEST, python_layers.Layer.BENCH)
    command = [str(VENV / "bin/python"), "-m", "pytest", *places, *settings.pytest_arguments]
    if name in SIDE_BY_SIDE and not settings.pytest_arguments:
        command += ["-n", FILES_AT_A_TIME, "--dist", "loadfile"]
    return counted(name, ran, [*command, "--junitxml"], settings, environment)


def _ctest(name: str, preset: Preset, settings: Settings) -> Outcome:
    """Run the programs of a build, each whole: a process for each test takes several times as long."""
    folder = build.build(preset)
    programs = report_of(name).with_suffix("")
    if programs.exists():
        shutil.rmtree(programs)
    # What somebody has chosen for a run by hand would leave out tests here.
    chosen = [f"--unset={word}" for word in os.environ if word.startswith("GTEST_")]
    command = [
        "env",
        *chosen,
        f"GTEST_OUTPUT=xml:{programs}/",
        *build.without_address_randomisation(preset),
        "ctest",
        "--test-dir",
        str(folder),
        "--output-on-failure",
    ]
    options = ["-j", str(os.cpu_count() or 1), "--timeout", "600", "--output-junit"]
    return counted(
        name,
        f"ctest, {preset} build",
        [*command, *options],
        settings,
        {},
        read=lambda report, expected: reports.read_programs(report, programs, expected),
    )


def _run_logged(
    command: Sequence[str], log: Path, settings: Settings, environment: Mapping[str, str], seconds_max: float
) -> str | int:
    """Run to the end with the output in `log`, or on the terminal; the exit code, or why it has none."""
    with log.open("wb") as sink:
        output = None if settings.verbose else sink
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
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
    with ThreadPoolExecutor(os.cpu_count()) as cores:
        complaints = cores.map(
            lambda program: fuzzing.run_briefly(program, settings.fuzz_seconds), fuzzing.programs(folder)
        )
    for complaint in complaints:
        if complaint:
            outcome.failed += 1
            outcome.details += complaint
        else:
            outcome.passed += 1
    return outcome
