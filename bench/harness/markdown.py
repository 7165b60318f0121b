# SPDX-License-Identifier: GPL-2.0-only
"""figures.md: a run's figures for readers of the repository, and to quote from. The main ones come first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.harness import summary
from bench.harness.figures import Results, number, ratios, spread, spread_text
from bench.harness.goals import Verdict, judge
from bench.harness.results import Folder
from bench.harness.summary import OURS

FACTS = (
    *("time", "command", "commit", "rounds", "seconds", "cpu", "cpus", "last_level_cache", "memory"),
    *("kernel", "distribution", "load_average_before"),
    *("mariadb", "memcached", "redis", "sysbench", "compiler", "tcp_congestion_control", "server_options"),
)

MAIN = {
    "point": "row by primary key, 1 request in flight",
    "point_pipelined": "the same, 16 in flight",
    "in_50": "50 keys in one request",
    "index_only": "value from the index alone",
    "range": "100 rows that follow each other",
    "latest": "the latest 3 of each of 200, per one of them",
    "mixed": "9 reads to 1 update, durable",
    "insert": "insert, durable",
    "update": "update, durable",
    "increment": "all increment one row, durable",
}
"""The scenarios of the main tables; the first case of each."""
MAIN_PEERS = {
    "rowsocket": "RowSocket",
    "original": "original",
    "sql-prepared": "prepared SQL",
    "memcached": "memcached",
    "redis": "Redis",
}
PER_KEY = ("latest",)
"""Told per key, as peers are asked for different numbers of keys at once."""


def text(folder: Folder) -> str:
    """The whole page."""
    parts = ["# Figures of one run", *_main(folder.results)]
    verdicts = judge(folder.results, folder.scenarios)
    if verdicts:
        met = sum(verdict.met is True for verdict in verdicts)
        parts += [f"## Goals: {met} of {len(verdicts)} met", _goals(verdicts)]
    header, *rows = summary.rows(folder)
    for scenario in folder.scenarios:
        own = [row[1:] for row in rows if row[0] == scenario.name]
        if own:
            parts += [f"## {scenario.name}", f"{scenario.about}.", _table(header[1:], _without_empty(own))]
    if folder.left_out:
        parts += ["## Not measured", "\n".join(f"- {line}" for line in folder.left_out)]
    return "\n\n".join([*parts, "## The run", _facts(folder)]) + "\n"


def _main(results: Results) -> list[str]:
    """What most readers want, as two tables."""
    found = {name: label for name, label in MAIN.items() if results.cases(name)}
    if not found:
        return []
    brackets = "In brackets: how many times RowSocket's, the median of the rounds' own quotients."
    parts = [
        "## Server CPU time per request, in µs",
        f"Less is better. {brackets}",
        _main_table(results, found, "cpu"),
    ]
    return [
        *parts,
        "## Requests per second",
        f"More is better. {brackets}",
        _main_table(results, found, "rate"),
    ]


def _main_table(results: Results, scenarios: dict[str, str], kind: str) -> str:
    rows = []
    for name, label in scenarios.items():
        figure = {
            "cpu": "server_cpu_us_per_key" if name in PER_KEY else "server_cpu_us_per_request",
            "rate": "keys_per_s" if name in PER_KEY else "requests_per_s",
        }[kind]
        rows.append([label, *(_main_cell(results, figure, name, peer) for peer in MAIN_PEERS)])
    return _table(["main case", *MAIN_PEERS.values()], rows)


def _main_cell(results: Results, figure: str, scenario: str, peer: str) -> str:
    case = results.cases(scenario)[0]
    values = results.values(figure, scenario, case, peer)
    own = spread(values)
    if own is None:
        return "-"
    if peer == OURS:
        return f"**{number(own.median)}**"
    quotient = spread(ratios(values, results.values(figure, scenario, case, OURS)))
    return f"{number(own.median)} ({number(quotient.median)} x)" if quotient else number(own.median)


def _facts(folder: Folder) -> str:
    return _table(["", ""], [[name, str(folder.facts[name])] for name in FACTS if name in folder.facts])


def _goals(verdicts: Iterable[Verdict]) -> str:
    return _table(
        ["scenario", "goal", "bound", "measured", ""],
        [[one.scenario, one.goal.text, one.bound, spread_text(one.ratio), one.word] for one in verdicts],
    )


def _without_empty(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[cell or "-" for cell in row] for row in rows]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of nothing but "-" are left out."""
    body = [list(row) for row in rows]
    kept = [column for column in range(len(header)) if any(row[column] != "-" for row in body)]
    ruled = [[header[column] for column in kept], ["---"] * len(kept)]
    lines = [*ruled, *([row[column] for column in kept] for row in body)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
