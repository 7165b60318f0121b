# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench tls`: what TLS costs the server, for RowSocket's finds and for prepared statements of SQL.

The load is that of the scenarios point and point_pipelined. SQL is asked by sysbench. A round measures each
client on the plain port and then inside TLS, and the next round the other way round. So a slow minute of the
machine hits both. The handshakes are over before it is measured.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from bench.harness.data import Template
from bench.harness.environment import Environment
from bench.harness.facts import gather
from bench.harness.figures import Report, median_interval, number
from bench.harness.measuring import Run
from bench.harness.peers.rowsocket import ONE_THREAD, RowSocket
from bench.harness.peers.sysbench import AUTHORITY_FILE, CLIENT, Sysbench
from bench.harness.player import Tls
from bench.harness.progress import Progress
from bench.harness.scenario import Case
from bench.harness.servers import Servers

from support.certificates import Authority

FIGURE = "server_cpu_us_per_request"
PLAIN, TLS_1_3, TLS_1_2 = "plain", "TLSv1.3", "TLSv1.2"
WAYS = {"rowsocket": (PLAIN, TLS_1_3, TLS_1_2), "sysbench": (PLAIN, TLS_1_3)}
CASE = Case("tls", workload="point")
DEPTH_1, DEPTH_16 = "RowSocket, 1 in flight", "RowSocket, 16 in flight"
SESSIONS = {"prepared SQL, 100 sessions": 100, "prepared SQL, 8 sessions": 8}
"""Of sysbench, whose own figures spread less with few sessions."""
MEASUREMENTS = 2 * len(WAYS["rowsocket"]) + len(SESSIONS) * len(WAYS["sysbench"])
"""Of a round."""
GOALS = {DEPTH_1: 2.5, DEPTH_16: 0.3}
"""At most so many µs more per request with TLS 1.3."""


@dataclass
class Measured:
    """A client's rounds, by the way in which it was asked."""

    name: str
    ways: Sequence[str]
    measure: Callable[[Run], Report]
    reports: dict[str, list[Report]] = field(default_factory=dict)

    def us(self, way: str) -> list[float]:
        """Microseconds of the server's processor time per request, round by round."""
        return [float(report[FIGURE]) for report in self.reports[way]]

    def more_us(self, way: str) -> list[float]:
        """What the way costs more than the plain one, round by round."""
        return [inside - plain for inside, plain in zip(self.us(way), self.us(PLAIN), strict=True)]

    def busy(self, way: str) -> float:
        """How many cores the server kept busy."""
        return statistics.median(float(report["server_busy"]) for report in self.reports[way])


def run(
    environment: Environment,
    folder: Path,
    progress: Progress,
    *,
    rounds: int,
    seconds: float,
    rows_max: int | None = None,
) -> list[Measured]:
    """All rounds. Raises WrongAnswer, ServerFailure."""
    case = replace(CASE, rows=min(CASE.rows, rows_max or CASE.rows))
    template = Template(lambda: servers.folder, [case], progress.say)
    with (
        tempfile.TemporaryDirectory(prefix="rs-bench-tls-") as made,
        Servers(environment, progress.say, template) as servers,
        (folder / "tls.jsonl").open("w", encoding="utf-8") as lines,
    ):

        def note(line: Mapping[str, object]) -> None:
            print(json.dumps(line), file=lines, flush=True)

        note({"kind": "facts", **gather(environment), "rounds": rounds, "seconds": seconds})
        authority = Authority(Path(made))
        (authority.folder / AUTHORITY_FILE).symlink_to(authority.file)
        authority.sign(CLIENT)
        found = _clients(servers, case, authority)
        for round_number in range(1, rounds + 1):
            for one in found:
                for way in one.ways if round_number % 2 else reversed(one.ways):
                    tls = None if way == PLAIN else Tls(authority.file, way)
                    report = one.measure(Run(seconds=seconds, seed=round_number, tls=tls))
                    one.reports.setdefault(way, []).append(report)
                    note({"kind": "run", "client": one.name, "way": way, "round": round_number, **report})
                    progress.measured(f"{one.name}, {way}: {report[FIGURE]:.2f} µs")
    return found


def _clients(servers: Servers, case: Case, authority: Authority) -> list[Measured]:
    options = {**ONE_THREAD, **authority.server_options()}
    rowsocket = RowSocket(servers, "rowsocket", options)
    found = [
        Measured(name, WAYS["rowsocket"], partial(rowsocket.measure, replace(case, in_flight=depth)))
        for name, depth in ((DEPTH_1, 1), (DEPTH_16, 16))
    ]
    sysbench = Sysbench(servers, options)
    reason = sysbench.cannot(case)
    if reason:
        servers.say(f"SQL is left out: {reason}")
        return found
    return found + [
        Measured(name, WAYS["sysbench"], partial(sysbench.steady, replace(case, connections=sessions)))
        for name, sessions in SESSIONS.items()
    ]


def table(found: Sequence[Measured]) -> str:
    """The medians of the rounds, how certain what TLS costs more is, and the goals."""
    lines = [
        "| client | plain, µs | inside | µs | more, µs | 95 % of the median | cores busy, plain and inside |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        for way in one.ways[1:]:
            more = median_interval(one.more_us(way))
            plain, inside = statistics.median(one.us(PLAIN)), statistics.median(one.us(way))
            lines.append(
                f"| {one.name} | {number(plain)} | {way} | {number(inside)} | {more.median:.2f} |"
                f" {more.least:.2f} to {more.most:.2f} | {one.busy(PLAIN):.2f}, {one.busy(way):.2f} |"
            )
    lines.append("")
    for one in found:
        if one.name in GOALS:
            more_us, most_us = statistics.median(one.more_us(TLS_1_3)), GOALS[one.name]
            verdict = "met" if more_us <= most_us else "NOT MET"
            lines.append(
                f"- {one.name}: {more_us:.2f} µs more with {TLS_1_3} (goal: at most {most_us}): {verdict}."
            )
    return "\n".join(lines)
