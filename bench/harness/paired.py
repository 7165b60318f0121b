# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench --against PLUGIN.so`: the old build of rowsocket.so and the new one, in turn, in one server.

Both builds are measured in the same server process, so rows, buffer pool and hash index are the same memory.
Before each measurement the plugin is uninstalled, and the build whose turn it is gets installed. So each
measurement has its own places in memory. Luck with those places becomes part of the spread, and not of the
difference.

A round measures every case once with each build. The build that comes first in a round comes second in the
next one. The quotient new / old is taken within each round.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.harness.environment import Missing
from bench.harness.figures import Report, Results, Spread, median_interval, number, quartiles, ratios
from bench.harness.measuring import Run
from bench.harness.peers.database import options_of
from bench.harness.peers.rowsocket import ONE_THREAD, RowSocket
from bench.harness.progress import Progress
from bench.harness.results import Writer
from bench.harness.runner import brief, with_derived
from bench.harness.scenario import Case, Scenario, ScenarioMistake
from bench.harness.servers import RowSocketOverTcp, Server, Servers
from bench.harness.summary import aligned

from support.tree import ServerFailure

SCENARIOS = ("point", "point_pipelined", "in_50", "range", "insert")
"""What is measured when no scenario is named: the first case of each."""
ROUNDS = 12
ROUNDS_MIN = 6
"""Fewer give no interval of 95 % certainty."""
SECONDS = 1.0

OLD, NEW = "old", "new"
LIBRARIES = {OLD: "rowsocket_old", NEW: "rowsocket"}
"""The names under which the server finds the two builds."""
VARIABLE = "ROWSOCKET_AGAINST_PLUGIN"
"""Names the old build's file."""
FIGURE = "server_cpu_us_per_request"


class EitherBuild(RowSocketOverTcp):
    """A server that can load either build, and begins with neither."""

    def defaults(self) -> dict[str, str | int | None]:
        """Options of mariadbd."""
        return {name: value for name, value in super().defaults().items() if name != "plugin-load-add"}

    def plugin_folder(self) -> str:
        """The folder of the new build, with the old one beside it."""
        folder = super().plugin_folder()
        (Path(folder) / f"{LIBRARIES[OLD]}.so").symlink_to(os.environ[VARIABLE])
        return folder


class Build(RowSocket):
    """One of the two builds, as a peer."""

    def __init__(self, servers: Servers, name: str) -> None:
        super().__init__(servers, name, ONE_THREAD)

    def database_server(self, case: Case) -> Server:
        """The server that both builds share."""
        return self.servers.database(EitherBuild, {**options_of(case, binlog=case.binlog), **self.options})

    def measure(self, case: Case, run: Run) -> Report:
        """Install the build, and measure once. Raises WrongAnswer, ServerFailure."""
        install(self.database_server(case), LIBRARIES[self.name])
        return super().measure(case, run)


def install(server: Server, library: str) -> None:
    """Load a build into the server in the place of the one that is there. Raises ServerFailure."""
    assert server.sql is not None
    for loaded in installed(server):
        server.sql.sql(f"UNINSTALL SONAME '{loaded}'")
    server.sql.sql(f"INSTALL SONAME '{library}'")
    if installed(server) != [library]:
        raise ServerFailure(
            f"the server has {installed(server)} loaded instead of {library}: a build cannot be unloaded"
        )


def installed(server: Server) -> list[str]:
    """The builds that the server has loaded, by the names of `LIBRARIES`."""
    assert server.sql is not None
    query = "SELECT DISTINCT plugin_library FROM information_schema.plugins WHERE plugin_name = 'rowsocket'"
    return [str(library).removesuffix(".so") for (library,) in server.sql.sql(query)]


def chosen(scenarios: Sequence[Scenario], names: Sequence[str], rows_max: int | None = None) -> list[Case]:
    """All cases of the named scenarios; without names the first case of each of `SCENARIOS`.

    Raises ScenarioMistake.
    """
    known = {one.name: one for one in scenarios}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ScenarioMistake(f"there is no scenario {unknown[0]}; there are: {' '.join(known)}")
    cases = [case for name in names for case in known[name].cases] or [
        known[name].cases[0] for name in SCENARIOS
    ]
    for case in cases:
        if case.mode != "closed":
            raise ScenarioMistake(f"{case.scenario}: two builds are compared in closed loops only")
    return [replace(case, rows=min(case.rows, rows_max or case.rows)) for case in cases]


def measure(
    cases: Sequence[Case],
    servers: Servers,
    writer: Writer,
    progress: Progress,
    *,
    rounds: int,
    seconds: float,
) -> None:
    """All rounds. Raises WrongAnswer, ServerFailure."""
    builds = {name: Build(servers, name) for name in LIBRARIES}
    for number_of_round in range(1, rounds + 1):
        order = (OLD, NEW) if number_of_round % 2 else (NEW, OLD)
        for case in cases:
            for name in order:
                report = with_derived(builds[name].measure(case, Run(seconds=seconds, seed=number_of_round)))
                writer.measured(case, name, number_of_round, report)
                what = " ".join(filter(None, [case.scenario, case.label]))
                progress.measured(f"{what}, round {number_of_round} of {rounds}, {name}: {brief(report)}")


def plugin_file(path: Path) -> Path:
    """The old build's file, absolute. Raises Missing."""
    if not path.is_file():
        raise Missing(f"--against names no file: {path}")
    return path.resolve()


@dataclass(frozen=True)
class Difference:
    """The two builds at one case. The quotients new / old are those of the rounds."""

    scenario: str
    case: str
    old_us: float
    new_us: float
    quotients: tuple[float, ...]

    @property
    def quartiles(self) -> Spread:
        """Median, lower and upper quartile of the quotients."""
        return quartiles(self.quotients)

    @property
    def interval(self) -> Spread:
        """Where the true median lies with 95 % certainty, by the rounds' own noise."""
        return median_interval(self.quotients)

    @property
    def is_noise(self) -> bool:
        """Whether two equal builds could look like that."""
        return self.interval.least <= 1 <= self.interval.most

    @property
    def verdict(self) -> str:
        """In a few words."""
        if len(self.quotients) < ROUNDS_MIN:
            return f"fewer than {ROUNDS_MIN} rounds tell nothing"
        if self.is_noise:
            return "inside the noise"
        percent = (self.quartiles.median - 1) * 100
        return f"{abs(percent):.1f} % {'SLOWER' if percent > 0 else 'faster'}"


def differences(results: Results) -> list[Difference]:
    """Every case that both builds were measured at."""
    found = []
    for scenario in results.scenarios():
        for case in results.cases(scenario):
            old, new = (results.values(FIGURE, scenario, case, build) for build in (OLD, NEW))
            quotients = ratios(new, old)
            if quotients:
                medians = (quartiles(old).median, quartiles(new).median)
                found.append(Difference(scenario, case, *medians, tuple(quotients)))
    return found


def text(results: Results) -> str:
    """The table for the terminal."""
    table = [["scenario", "case", "old us", "new us", "new / old", "quartiles", "95 % of the median", ""]]
    for one in differences(results):
        middle, sure = one.quartiles, one.interval
        table.append(
            [
                *(one.scenario, one.case, number(one.old_us), number(one.new_us), f"{middle.median:.3f}"),
                f"{middle.least:.3f} - {middle.most:.3f}",
                f"{sure.least:.3f} - {sure.most:.3f}",
                one.verdict,
            ]
        )
    rounds = min((len(reports) for reports in results.reports.values()), default=0)
    about = (
        f"server CPU time per request, {rounds} rounds; new / old is the median of the rounds' own quotients"
    )
    rule = "inside the noise: the interval in which the median lies with 95 % certainty holds 1"
    return "\n".join([about, rule, "", aligned(table)])
