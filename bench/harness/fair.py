# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench fair`: what 100 clients that read single rows, or 50 that insert rows, get alone and beside
somebody who keeps the server busy or waiting (beside.py).

The server has RowSocket's default settings and all cores, and so has the load generator. Each round measures
a case alone and then beside, so that a slow minute of the machine hits both.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from bench.harness import beside
from bench.harness.data import Template
from bench.harness.environment import Environment
from bench.harness.facts import gather
from bench.harness.figures import Report, number
from bench.harness.player import Load, play
from bench.harness.progress import Progress
from bench.harness.scenario import Case
from bench.harness.servers import RowSocketOverTcp, Server, Servers, pin
from bench.traffic import PROTOCOLS

ROWS = 100_000
READING = Case("fair", workload="point", rows=ROWS, connections=100)
WRITING = Case("fair", workload="insert", rows=ROWS, connections=50)
SHARE_MIN = 0.5
P99_MORE_MS_MAX = 20.0
LONGEST_MORE_MS_MAX = 200.0
COUNTERS = ("hand_overs", "stand_ins_missed", "waited_alone", "parked")
WIDTH, ROW_HEIGHT, LEFT, RIGHT = 860, 74, 250, 16
FIRST_US, LAST_US = 20.0, 5_000_000.0
BINS_PER_DECADE = 12


@dataclass
class Measured:
    """A case's rounds."""

    name: str
    port: str
    alone: list[Report] = field(default_factory=list)
    besides: list[Report] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """What is left of the throughput: the median of the rounds' quotients."""
        return statistics.median(
            float(one["requests_per_s"] / other["requests_per_s"])
            for one, other in zip(self.besides, self.alone, strict=True)
        )

    def more_ms(self, figure: str) -> float:
        """How much more it is beside: the median of the rounds' differences."""
        return statistics.median(
            float(one[figure] - other[figure]) / 1000
            for one, other in zip(self.besides, self.alone, strict=True)
        )

    @property
    def missed(self) -> str:
        """Which bounds are not kept; empty if all are."""
        bounds = (
            ("share", self.share >= SHARE_MIN),
            ("p99", self.more_ms("p99_us") <= P99_MORE_MS_MAX),
            ("longest", self.more_ms("max_us") <= LONGEST_MORE_MS_MAX),
        )
        return ", ".join(name for name, is_kept in bounds if not is_kept)


def chosen(names: Sequence[str]) -> list[beside.Beside]:
    """The cases whose names hold one of `names`; without names all."""
    return [one for one in beside.CASES if not names or any(name in one.name for name in names)]


def run(
    environment: Environment,
    folder: Path,
    progress: Progress,
    names: Sequence[str],
    *,
    rounds: int,
    seconds: float,
    threads_max: int | None = None,
) -> list[Measured]:
    """All rounds of the cases whose names hold one of `names`; without names of all. Raises WrongAnswer,
    ServerFailure.
    """
    cases = chosen(names)
    found = {one.name: Measured(one.name, one.port) for one in cases}
    options: dict[str, str | int | None] = {
        "skip-log-bin": None,
        "loose-rowsocket-threads-read": 0,
        "loose-rowsocket-threads-write": 0,
    }
    if threads_max is not None:
        options["loose-rowsocket-threads-max"] = threads_max
    template = Template(lambda: servers.folder, [READING, WRITING], progress.say)
    with Servers(environment, progress.say, template) as servers, _lines(folder) as note:
        note({"kind": "facts", **gather(environment), "rounds": rounds, "seconds": seconds})
        server = servers.database(RowSocketOverTcp, options)
        pin(server.pid, range(os.cpu_count() or 1))  # the other benchmarks keep a server on one core
        sql = server.sql
        assert isinstance(sql, RowSocketOverTcp)
        for statement in (*beside.TABLES, beside.TRIGGER):
            sql.sql(statement, database="mysql")
        for round_number in range(1, rounds + 1):
            for one in cases:
                measured = found[one.name]
                case = WRITING if one.writers else READING
                round_s = max(seconds, one.seconds_min)
                measured.alone.append(_play(environment, server, case, one.port, round_s))
                before = _counters(sql)
                with one.running(sql):
                    measured.besides.append(_play(environment, server, case, one.port, round_s))
                after = _counters(sql)
                measured.counters = {name: after[name] - before[name] for name in COUNTERS}
                for kind, report in (("alone", measured.alone[-1]), ("beside", measured.besides[-1])):
                    note({"kind": kind, "case": one.name, "round": round_number, **report})
                progress.measured(f"{one.name}: {_words(measured)}")
    return list(found.values())


def _play(environment: Environment, server: Server, case: Case, port: str, seconds: float) -> Report:
    sql = server.sql
    assert isinstance(sql, RowSocketOverTcp)
    address = sql.write_address() if port == "write" else sql.read_address()
    load = Load(
        connections=case.connections,
        seconds=seconds,
        warm_up_s=0.3,
        server_pid=server.pid,
        first_key=server.next_keys.get(case.database, 0),
    )
    report = play(
        environment.player, PROTOCOLS["rowsocket"](case.asked(), case.database), address, load, "fair"
    )
    if case.asked().writes:
        server.next_keys[case.database] = report["next_key"]
    return report


def _counters(server: RowSocketOverTcp) -> dict[str, int]:
    return {name: server.counter(name) for name in COUNTERS}


@contextlib.contextmanager
def _lines(folder: Path) -> Iterator[Callable[[Mapping[str, object]], None]]:
    with (folder / "fair.jsonl").open("w", encoding="utf-8") as file:

        def note(line: Mapping[str, object]) -> None:
            file.write(json.dumps(line, default=str) + "\n")
            file.flush()

        yield note


def _words(measured: Measured) -> str:
    one, other = measured.besides[-1], measured.alone[-1]
    return (
        f"{other['requests_per_s']:,.0f} -> {one['requests_per_s']:,.0f} /s,"
        f" p99 {other['p99_us'] / 1000:.1f} -> {one['p99_us'] / 1000:.1f} ms,"
        f" longest {other['max_us'] / 1000:.0f} -> {one['max_us'] / 1000:.0f} ms, {measured.counters}"
    )


def table(measured: Sequence[Measured]) -> str:
    """The page's table; the cases that miss a bound come first, the worst of them before all others."""
    lines = [
        "| beside | requests/s alone | beside | share | p99 more | longest more | missed |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in sorted(measured, key=lambda case: (not case.missed, case.share)):
        alone, besides = (
            statistics.median(report["requests_per_s"] for report in reports)
            for reports in (one.alone, one.besides)
        )
        lines.append(
            f"| {one.name} | {number(alone)} | {number(besides)} | {one.share:.2f} |"
            f" {one.more_ms('p99_us'):.1f} ms | {one.more_ms('max_us'):.0f} ms | {one.missed or '-'} |"
        )
    return "\n".join(lines)


def _bins(reports: Sequence[Report]) -> list[float]:
    """The share of the requests in each bin of the picture."""
    count = round(math.log10(LAST_US / FIRST_US) * BINS_PER_DECADE) + 1
    bins = [0.0] * count
    for report in reports:
        for up_to_us, requests in report["latency_buckets"]:
            place = math.log10(max(up_to_us, FIRST_US) / FIRST_US) * BINS_PER_DECADE
            bins[min(int(place), count - 1)] += requests
    total = sum(bins) or 1.0
    return [requests / total for requests in bins]


def picture(measured: Sequence[Measured]) -> str:
    """Histograms of the latency, one row a case: alone grey, beside blue. The height is the logarithm of the
    share, so that one request of 100,000 is seen.
    """
    height = ROW_HEIGHT * len(measured) + 40
    out = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"'
            ' font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    plot = WIDTH - LEFT - RIGHT
    decades = math.log10(LAST_US / FIRST_US)

    def at_x(microseconds: float) -> float:
        return LEFT + plot * math.log10(microseconds / FIRST_US) / decades

    bottom = ROW_HEIGHT * len(measured) + 6
    for microseconds, name in ((100, "0.1 ms"), (1e3, "1 ms"), (1e4, "10 ms"), (1e5, "100 ms"), (1e6, "1 s")):
        x = at_x(microseconds)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{name}</text>')
    for row, one in enumerate(measured):
        base = ROW_HEIGHT * (row + 1)
        out.append(f'<text x="8" y="{base - 34}">{escape(one.name)}</text>')
        out.append(f'<text x="8" y="{base - 18}" fill="#666">share {one.share:.2f}</text>')
        for reports, fill in ((one.alone, "#bbb"), (one.besides, "#2a6fdb")):
            bins = _bins(reports)
            width = plot / (len(bins) - 1)
            for place, share in enumerate(bins):
                tall = (ROW_HEIGHT - 12) * max(0.0, 1 + math.log10(share) / 5) if share else 0.0
                if tall:
                    out.append(
                        f'<rect x="{LEFT + place * width:.1f}" y="{base - tall:.1f}" width="{width:.1f}"'
                        f' height="{tall:.1f}" fill="{fill}" fill-opacity="0.55"/>'
                    )
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" stroke="#888"/>')
    return "\n".join([*out, "</svg>", ""])
