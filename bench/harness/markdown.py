# SPDX-License-Identifier: GPL-2.0-only
"""figures.md: a run's figures for readers of the repository, and to quote from. The main ones come first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from bench.harness import summary
from bench.harness.figures import spread_text
from bench.harness.goals import Verdict, judge
from bench.harness.results import Folder

FACTS = (
    *("time", "command", "commit", "rounds", "seconds", "cpu", "cpus", "last_level_cache", "memory"),
    *("kernel", "distribution", "load_average_before"),
    *("mariadb", "memcached", "redis", "sysbench", "compiler", "tcp_congestion_control", "server_options"),
)

LINE = 110
"""Letters of a line of prose."""


def text(folder: Folder) -> str:
    """The whole page."""
    parts = ["# Figures of one run"]
    for title, note, (header, *rows) in summary.main_tables(folder.results):
        parts += [f"## {title}", textwrap.fill(note, LINE), _table(header, rows)]
    verdicts = judge(folder.results, folder.scenarios)
    if verdicts:
        met = sum(verdict.met is True for verdict in verdicts)
        parts += ["## Goals", f"{met} of {len(verdicts)} are met.", _goals(verdicts)]
    header, *rows = summary.rows(folder)
    for scenario in folder.scenarios:
        own = [row[1:] for row in rows if row[0] == scenario.name]
        if own:
            about = textwrap.fill(f"{scenario.about}.", LINE)
            parts += [f"## {scenario.name}", about, _table(header[1:], _without_empty(own))]
    if folder.left_out:
        parts += ["## Not measured", "\n".join(f"- {line}" for line in folder.left_out)]
    return "\n\n".join([*parts, "## The run", _facts(folder)]) + "\n"


def _facts(folder: Folder) -> str:
    """A list, because some facts are too long for the cell of a table."""
    known = [f"{name.replace('_', ' ')}: {folder.facts[name]}" for name in FACTS if name in folder.facts]
    return "\n".join(
        textwrap.fill(f"- {fact}", LINE, subsequent_indent="  ", break_on_hyphens=False) for fact in known
    )


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
