# SPDX-License-Identifier: GPL-2.0-only
"""The same figures as the report's as Markdown: for readers of the repository, and to quote from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.harness import summary
from bench.harness.figures import spread_text
from bench.harness.goals import Verdict, judge
from bench.harness.results import Folder

FACTS = (
    "time",
    "command",
    "commit",
    "rounds",
    "seconds",
    "cpu",
    "cpus",
    "memory",
    "kernel",
    "distribution",
    "load_average_before",
)
VERSIONS = ("mariadb", "memcached", "redis", "sysbench", "compiler", "tcp_congestion_control", "server_options")


def text(folder: Folder) -> str:
    """The whole page."""
    parts = ["# Figures of one run", _facts(folder)]
    verdicts = judge(folder.results, folder.scenarios)
    if verdicts:
        parts += ["## Goals", _goals(verdicts)]
    header, *rows = summary.rows(folder)
    for scenario in folder.scenarios:
        own = [row[1:] for row in rows if row[0] == scenario.name]
        parts += [f"## {scenario.name}", f"{scenario.about}.", _table(header[1:], _without_empty(own))] if own else []
    if folder.left_out:
        parts += ["## Not measured", "\n".join(f"- {line}" for line in folder.left_out)]
    return "\n\n".join(parts) + "\n"


def _facts(folder: Folder) -> str:
    return _table(["", ""], [[name, str(folder.facts.get(name, ""))] for name in (*FACTS, *VERSIONS)])


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
    lines = [[header[column] for column in kept], ["---"] * len(kept), *([row[column] for column in kept] for row in body)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
