# SPDX-License-Identifier: GPL-2.0-only
"""The end of a run on the terminal: one line per scenario, case and peer, then the goals, met or not."""

from __future__ import annotations

from collections.abc import Sequence

from bench.harness.figures import Results, ratios, spread, spread_text
from bench.harness.goals import Verdict, judge
from bench.harness.results import Folder

COLUMNS = {
    "server_cpu_us_per_request": "CPU us/request",
    "requests_per_s": "requests/s",
    "p50_us": "p50 us",
    "p99_us": "p99 us",
    "fsyncs_per_row": "fsyncs/row",
    "idle_cpu_us_per_s": "idle CPU us/s",
}
OURS = "rowsocket"


def main_figure(results: Results, scenario: str) -> str:
    """The figure by which a scenario's peers are compared: CPU time per key, or what there is instead."""
    peers, cases = results.peers(scenario), results.cases(scenario)
    for figure in ("server_cpu_us_per_key", "idle_cpu_us_per_s"):
        if any(results.values(figure, scenario, case, peer) for case in cases for peer in peers):
            return figure
    return "requests_per_s"


def times_ours(results: Results, scenario: str, case: str, peer: str) -> str:
    """How many times RowSocket's CPU time (per key) the peer takes, round by round."""
    figure = main_figure(results, scenario)
    ours = results.values(figure, scenario, case, OURS)
    if peer == OURS or not ours:
        return ""
    return spread_text(spread(ratios(results.values(figure, scenario, case, peer), ours)))


def rows(folder: Folder) -> list[list[str]]:
    """The table's cells, the header first; columns without any figure are left out."""
    results = folder.results
    used = {
        name: title
        for name, title in COLUMNS.items()
        if any(name in r for runs in results.reports.values() for r in runs)
    }
    table = [["scenario", "case", "peer", *used.values(), "CPU per key / RowSocket's"]]
    for scenario, case, peer in results.reports:
        cells = [spread_text(results.spread(name, scenario, case, peer)) for name in used]
        table.append([scenario, case, peer, *cells, times_ours(results, scenario, case, peer)])
    return table


def aligned(table: Sequence[Sequence[str]]) -> str:
    """Cells in columns; repeated words at the left are left out."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = []
    above: Sequence[str] = [""] * len(widths)
    for row in table:
        same = 0
        while same < 2 and row[same] == above[same]:
            same += 1
        shown = ["" if column < same else cell for column, cell in enumerate(row)]
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(shown, widths, strict=True)).rstrip())
        above = row
    return "\n".join(lines)


def goals_text(verdicts: Sequence[Verdict]) -> str:
    """One line per goal."""
    table = [["goal", "", "bound", "measured", ""]]
    for verdict in verdicts:
        table.append(
            [verdict.scenario, verdict.goal.text, verdict.bound, spread_text(verdict.ratio), verdict.word]
        )
    met = sum(verdict.met is True for verdict in verdicts)
    return f"{aligned(table)}\n{met} of {len(verdicts)} goals met"


def text(folder: Folder) -> str:
    """The whole of it. Figures are `median (least - most)` over the rounds."""
    parts = [aligned(rows(folder))]
    verdicts = judge(folder.results, folder.scenarios)
    if verdicts:
        parts.append(goals_text(verdicts))
    if folder.left_out:
        parts.append("not measured:\n" + "\n".join(f"  {line}" for line in folder.left_out))
    return "\n\n".join(parts)
