# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench cold`: single rows of a table of which a tenth fits into memory, so that most requests wait for
a page. RowSocket as it comes, with numbers of workers set by hand, and prepared SQL, in turn; beside them
what the disk gives to fio.

The servers are on one core, as in all benchmarks but `fair`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bench.harness import scenario
from bench.harness.data import Template
from bench.harness.environment import Environment
from bench.harness.facts import gather
from bench.harness.figures import Report, number
from bench.harness.measuring import Run
from bench.harness.peers.base import Peer
from bench.harness.peers.rowsocket import ONE_THREAD, RowSocket
from bench.harness.peers.sql import Sql
from bench.harness.progress import Progress
from bench.harness.servers import Servers

WITHOUT_STAND_INS = {"loose-rowsocket-threads-max": 0}
BY_HAND = {
    f"{readers} readers by hand": {**ONE_THREAD, **WITHOUT_STAND_INS, "loose-rowsocket-threads-read": readers}
    for readers in (1, 8, 32)
}
DEFAULT, SQL = "default settings", "prepared SQL"
FIO_JOBS = (1, 32)
FIO_SECONDS = 3
DEFAULT_SHARE_MIN = 0.95
SQL_TIMES_MIN = 1.8


def run(
    environment: Environment,
    folder: Path,
    progress: Progress,
    *,
    rounds: int,
    seconds: float,
    rows_max: int | None = None,
) -> dict[str, list[Report]]:
    """The reports of each peer. Raises WrongAnswer, ServerFailure."""
    (case,) = next(one for one in scenario.load() if one.name == "beyond_memory").cases
    case = replace(case, rows=min(case.rows, rows_max or case.rows))
    template = Template(lambda: servers.folder, [case], progress.say)
    with Servers(environment, progress.say, template) as servers, (folder / "cold.jsonl").open("w") as file:

        def note(line: Mapping[str, object]) -> None:
            file.write(json.dumps(line, default=str) + "\n")
            file.flush()

        servers.warm_up_seconds = 2.0
        note({"kind": "facts", **gather(environment), "rounds": rounds, "seconds": seconds})
        peers: dict[str, Peer] = {
            DEFAULT: RowSocket(servers, "rowsocket-defaults", {}),
            **{name: RowSocket(servers, name, options) for name, options in BY_HAND.items()},
            SQL: Sql(servers, "sql-prepared"),
        }
        found: dict[str, list[Report]] = {name: [] for name in peers}
        for number_of_round in range(1, rounds + 1):
            for name, peer in peers.items():
                report = peer.measure(case, Run(seconds=seconds, seed=number_of_round))
                found[name].append(report)
                note({"kind": "run", "peer": name, "round": number_of_round, **report})
                progress.measured(
                    f"{name}: {report['requests_per_s']:,.0f} /s,"
                    f" {report['server_cpu_us_per_request']:.1f} us CPU, {report['server_busy']:.2f} busy"
                )
            for jobs in FIO_JOBS:
                pages = fio(environment, servers.folder, jobs)
                if pages is not None:
                    found.setdefault(f"fio, {jobs} in flight", []).append({"requests_per_s": pages})
                    note({"kind": "fio", "jobs": jobs, "pages_per_s": pages})
                    progress.measured(f"fio, {jobs} in flight: {pages:,.0f} pages/s")
    return found


def fio(environment: Environment, folder: Path, jobs: int) -> float | None:
    """Random pages of 16 KiB read in a second, with so many in flight; None without fio."""
    program = environment.program("fio")
    if program is None:
        return None
    words = {
        "name": "pages",
        "filename": folder / "fio-pages",
        "size": "1G",
        "rw": "randread",
        "bs": "16k",
        "direct": 1,
        "ioengine": "psync",
        "thread": 1,
        "numjobs": jobs,
        "group_reporting": 1,
        "time_based": 1,
        "runtime": FIO_SECONDS,
        "output-format": "json",
    }
    done = subprocess.run(
        [program, *(f"--{name}={value}" for name, value in words.items())],
        capture_output=True,
        check=False,
        env=environment.of_peers(),
    )
    if done.returncode != 0:
        return None
    return float(json.loads(done.stdout[done.stdout.index(b"{") :])["jobs"][0]["read"]["iops"])


def table(found: Mapping[str, list[Report]]) -> str:
    """The page's table, with the goals below it."""

    def middle(name: str, figure: str) -> float:
        return statistics.median(float(report[figure]) for report in found[name])

    lines = ["| | requests/s | µs CPU per request | cores busy | p99 |", "|---|---|---|---|---|"]
    for name, reports in found.items():
        if "server_busy" in reports[0]:
            lines.append(
                f"| {name} | {number(middle(name, 'requests_per_s'))} |"
                f" {number(middle(name, 'server_cpu_us_per_request'))} |"
                f" {middle(name, 'server_busy'):.2f} | {middle(name, 'p99_us') / 1000:.1f} ms |"
            )
        else:
            lines.append(f"| {name}, pages of 16 KiB | {number(middle(name, 'requests_per_s'))} | | | |")

    def quotient(name: str) -> float:
        return statistics.median(
            float(one["requests_per_s"] / other["requests_per_s"])
            for one, other in zip(found[DEFAULT], found[name], strict=True)
        )

    best = max(BY_HAND, key=lambda name: middle(name, "requests_per_s"))
    goals = (
        (f"of {best}", quotient(best), DEFAULT_SHARE_MIN),
        (f"times {SQL}", quotient(SQL), SQL_TIMES_MIN),
    )
    lines.append("")
    lines += [
        f"- Default settings have {value:.2f} {what} (goal: at least {least}):"
        f" {'met' if value >= least else 'NOT MET'}."
        for what, value, least in goals
    ]
    return "\n".join(lines)
