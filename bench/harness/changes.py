# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench --compare A B`: what changed from one result folder to another, and what is noise.

Two runs are two hours of a machine, so figures of one peer are not compared as they stand: a peer's figure is divided by the
original's (or, where it took no part, by the echo floor's) of the same round, and those ratios are compared. Where the two runs'
spreads overlap, the difference is noise. fsyncs and the percentages of an idle machine need no yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.harness.figures import Key, Results, Spread, ratios, spread, spread_text
from bench.harness.results import Folder
from bench.harness.summary import OURS, aligned, main_figure

YARDSTICKS = ("original", "echo", "sql-prepared")
MORE_IS_BETTER = ("requests_per_s",)
ABSOLUTE = ("fsyncs_per_row", "idle_cpu_us_per_s")
"""Figures that do not depend on how fast the machine is at the moment."""
PERCENT_MIN = 2.0
"""Less is called noise however close the rounds lie to each other."""
RUN_FACTS = (
    *("cpu", "cpus", "kernel", "tcp_congestion_control", "mariadb"),
    *("commit", "compiler", "server_options", "rounds", "seconds"),
)
"""Whatever of these differs may be the reason of a change."""


@dataclass(frozen=True)
class Change:
    """One peer at one case, before and after. `against` is the yardstick; empty = the figures themselves."""

    key: Key
    figure: str
    against: str
    before: Spread
    after: Spread

    @property
    def percent(self) -> float:
        """How much more it is after; below 0 = less."""
        return (self.after.median / self.before.median - 1) * 100 if self.before.median else 0.0

    @property
    def is_noise(self) -> bool:
        """Whether the spreads overlap, or the medians are next to each other."""
        return self.before.overlaps(self.after) or abs(self.percent) < PERCENT_MIN

    @property
    def verdict(self) -> str:
        """In one word."""
        if self.is_noise:
            return "noise"
        return "better" if (self.after.median > self.before.median) == (self.figure in MORE_IS_BETTER) else "WORSE"


def _yardstick(first: Results, second: Results, scenario: str, case: str, figure: str) -> str:
    for peer in () if figure in ABSOLUTE else YARDSTICKS:
        if first.values(figure, scenario, case, peer) and second.values(figure, scenario, case, peer):
            return peer
    return ""


def _relative(results: Results, key: Key, figure: str, against: str) -> Spread | None:
    scenario, case, peer = key
    own = results.values(figure, scenario, case, peer)
    return spread(ratios(own, results.values(figure, scenario, case, against)) if against else own)


def _figures(folder: Folder, scenario: str) -> list[str]:
    """What is compared: the main figure, the tail where the load is a fixed rate, and the fsyncs of writes."""
    is_open = any(case.mode == "open" for one in folder.scenarios if one.name == scenario for case in one.cases)
    return [main_figure(folder.results, scenario), *(["p99_us"] if is_open else []), "fsyncs_per_row"]


def changes(first: Folder, second: Folder) -> list[Change]:
    """RowSocket's and the other peers' changes, of what both runs measured."""
    found = []
    for key in first.results.reports:
        if key not in second.results.reports:
            continue
        scenario, case, peer = key
        for figure in _figures(first, scenario):
            against = _yardstick(first.results, second.results, scenario, case, figure)
            if peer == against:
                continue
            before = _relative(first.results, key, figure, against)
            after = _relative(second.results, key, figure, against)
            if before and after:
                found.append(Change(key, figure, against, before, after))
    return sorted(found, key=lambda change: (change.is_noise, not change.key[2].startswith(OURS)))


def text(first: Folder, second: Folder) -> str:
    """For the terminal: how the runs differ, what changed, RowSocket first, and then what is noise."""
    found = changes(first, second)
    parts = [_heads(first, second)]
    if not found:
        return "\n\n".join([*parts, "the two runs have nothing in common"])
    changed = [change for change in found if not change.is_noise]
    noise = [change for change in found if change.is_noise]
    if changed:
        beyond = f"by more than {PERCENT_MIN:g} %, and no round of one run lies among the other's"
        parts.append(f"CHANGED: {len(changed)} of {len(found)} figures, {beyond}\n{_table(changed)}")
    else:
        parts.append(f"NOTHING CHANGED: all {len(found)} figures lie within the noise")
    if noise:
        parts.append(f"noise: {len(noise)} of {len(found)} figures, whose spreads overlap\n{_table(noise)}")
    alone = [_alone(name, one, other) for name, one, other in (("before", first, second), ("after", second, first))]
    return "\n\n".join([*parts, *filter(None, alone)])


def _table(some: Sequence[Change]) -> str:
    table = [["scenario", "case", "peer", "figure", "before", "after", "change", ""]]
    for change in some:
        figure = f"{change.figure} / {change.against}'s" if change.against else change.figure
        spreads = (spread_text(change.before), spread_text(change.after))
        table.append([*change.key, figure, *spreads, f"{change.percent:+.1f} %", change.verdict])
    return aligned(table)


def _heads(first: Folder, second: Folder) -> str:
    lines = [f"{name:7} {_run(folder)}" for name, folder in (("before:", first), ("after:", second))]
    for name in RUN_FACTS:
        before, after = first.facts.get(name), second.facts.get(name)
        if before != after:
            lines.append(f"differs: {name}: {before} -> {after}")
    rounds = [min((len(reports) for reports in folder.results.reports.values()), default=0) for folder in (first, second)]
    if all(rounds):
        one_in = math.comb(sum(rounds), rounds[0]) // 2
        lines.append(f"with {rounds[0]} and {rounds[1]} rounds, about 1 in {one_in} figures seems changed by chance alone")
    return "\n".join(lines)


def _run(folder: Folder) -> str:
    facts = folder.facts
    return f"{facts.get('time', '?')}, commit {facts.get('commit', '?')}, {facts.get('cpu', '?')}, {facts.get('mariadb', '?')}"


def _alone(name: str, folder: Folder, other: Folder) -> str:
    """What only one of the two measured."""
    missing = [" ".join(filter(None, key)) for key in folder.results.reports if key not in other.results.reports]
    return f"only measured {name}: {len(missing)}: {', '.join(missing)}" if missing else ""
