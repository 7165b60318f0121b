# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench --compare A B`: what changed from one result folder to another.

Two runs are two hours of a machine, so figures of one peer are not compared as they stand: a peer's figure is divided by the
original's (or, where it took no part, by the echo floor's) of the same round, and those ratios are compared. Where the two runs'
spreads overlap, the difference is noise.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.harness.figures import Key, Results, Spread, ratios, spread, spread_text
from bench.harness.results import Folder
from bench.harness.summary import OURS, aligned, main_figure

YARDSTICKS = ("original", "echo", "sql-prepared")


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
        """Whether the spreads overlap."""
        return self.before.overlaps(self.after)


def _yardstick(first: Results, second: Results, scenario: str, case: str, figure: str) -> str:
    for peer in YARDSTICKS:
        if first.values(figure, scenario, case, peer) and second.values(figure, scenario, case, peer):
            return peer
    return ""


def _relative(results: Results, key: Key, figure: str, against: str) -> Spread | None:
    scenario, case, peer = key
    own = results.values(figure, scenario, case, peer)
    return spread(ratios(own, results.values(figure, scenario, case, against)) if against else own)


def changes(first: Folder, second: Folder) -> list[Change]:
    """RowSocket's and the other peers' changes, of what both runs measured."""
    found = []
    for key in first.results.reports:
        if key not in second.results.reports:
            continue
        scenario, case, peer = key
        figure = main_figure(first.results, scenario)
        against = _yardstick(first.results, second.results, scenario, case, figure)
        if peer == against:
            continue
        before = _relative(first.results, key, figure, against)
        after = _relative(second.results, key, figure, against)
        if before and after:
            found.append(Change(key, figure, against, before, after))
    return sorted(found, key=lambda change: (not change.key[2].startswith(OURS), change.is_noise))


def text(first: Folder, second: Folder) -> str:
    """A table for the terminal: RowSocket first, what is more than noise before the rest."""
    table = [["scenario", "case", "peer", "figure", "before", "after", "change"]]
    for change in changes(first, second):
        figure = f"{change.figure} / {change.against}'s" if change.against else change.figure
        verdict = f"{change.percent:+.1f} %" + (" (noise)" if change.is_noise else "")
        table.append([*change.key, figure, spread_text(change.before), spread_text(change.after), verdict])
    head = f"before: {_run(first)}\nafter:  {_run(second)}"
    return f"{head}\n\n{aligned(table)}" if len(table) > 1 else f"{head}\n\nthe two runs have nothing in common"


def _run(folder: Folder) -> str:
    facts = folder.facts
    return f"{facts.get('time', '?')}, commit {facts.get('commit', '?')}, {facts.get('cpu', '?')}, {facts.get('mariadb', '?')}"
