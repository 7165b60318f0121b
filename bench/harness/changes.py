# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench --compare A B`: what changed from one result folder to another, and what is noise.

The machine's speed is not the same in two runs. So a peer's figure is first divided by the original's figure
of the same round (or, where the original took no part, by the echo server's), and these quotients are
compared. Where the spreads of the two runs overlap, the difference is noise. Counts of fsyncs and the CPU
time of an idle server need no such divisor.

Processors differ in more than speed. So runs on two makes or models of processor are not compared at all.
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
    *("cpus", "last_level_cache", "kernel", "tcp_congestion_control", "mariadb"),
    *("commit", "compiler", "server_options", "rounds", "seconds"),
)
"""Whatever of these differs may be the reason of a change."""


class OtherProcessor(Exception):
    """The runs were made on different processors; the text names both."""


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
        is_more = self.after.median > self.before.median
        return "better" if is_more == (self.figure in MORE_IS_BETTER) else "WORSE"


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
    """What is compared: the main figure, the fsyncs of writes, and the tail of open loops."""
    cases = [case for one in folder.scenarios if one.name == scenario for case in one.cases]
    tail = ["p99_us"] if any(case.mode == "open" for case in cases) else []
    return [main_figure(folder.results, scenario), *tail, "fsyncs_per_row"]


def changes(first: Folder, second: Folder) -> list[Change]:
    """The changes of everything that both runs measured. RowSocket's come first."""
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
    """For the terminal: how the runs differ, what changed, and what is noise. Raises OtherProcessor."""
    before, after = first.facts.get("cpu"), second.facts.get("cpu")
    if before != after:
        raise OtherProcessor(
            "figures of different processors cannot be compared\n"
            f"  before: {before}\n  after:  {after}\n"
            "  run both on one machine; two builds are best compared with ./x bench --against PLUGIN.so"
        )
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
    alone = [_alone("before", first, second), _alone("after", second, first)]
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
    rounds = [min(map(len, folder.results.reports.values()), default=0) for folder in (first, second)]
    if all(rounds):
        one_in = math.comb(sum(rounds), rounds[0]) // 2
        by_chance = f"about 1 in {one_in} figures seems changed by chance alone"
        lines.append(f"with {rounds[0]} and {rounds[1]} rounds, {by_chance}")
    return "\n".join(lines)


def _run(folder: Folder) -> str:
    time, commit, cpu, mariadb = (
        folder.facts.get(name, "?") for name in ("time", "commit", "cpu", "mariadb")
    )
    return f"{time}, commit {commit}, {cpu}, {mariadb}"


def _alone(name: str, folder: Folder, other: Folder) -> str:
    """What only one of the two measured."""
    here, there = folder.results.reports, other.results.reports
    missing = [" ".join(filter(None, key)) for key in here if key not in there]
    return f"only measured {name}: {len(missing)}: {', '.join(missing)}" if missing else ""
