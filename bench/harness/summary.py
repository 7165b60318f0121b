# SPDX-License-Identifier: GPL-2.0-only
"""The end of a run on the terminal: one line per scenario, case and peer, then the goals, met or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.harness.figures import Results, number, ratios, spread, spread_text
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


def main_tables(results: Results) -> list[tuple[str, str, list[list[str]]]]:
    """What most readers want: title, note and cells of two tables; none if no main scenario was measured."""
    found = {name: label for name, label in MAIN.items() if results.cases(name)}
    if not found:
        return []
    brackets = "In brackets: how many times RowSocket's, the median of the rounds' own quotients."
    cpu = ("CPU time", f"Of the server, per request, in µs. Less is better. {brackets}")
    rate = ("Requests per second", f"More is better. {brackets}")
    cpu_figures = ("server_cpu_us_per_request", "server_cpu_us_per_key")
    rate_figures = ("requests_per_s", "keys_per_s")
    return [
        (*told, _main_rows(results, found, *figures))
        for told, figures in ((cpu, cpu_figures), (rate, rate_figures))
    ]


def _main_rows(
    results: Results, scenarios: Mapping[str, str], figure: str, figure_per_key: str
) -> list[list[str]]:
    table = [["main case", *MAIN_PEERS.values()]]
    for name, label in scenarios.items():
        told = figure_per_key if name in PER_KEY else figure
        table.append([label, *(_main_cell(results, told, name, peer) for peer in MAIN_PEERS)])
    return table


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
