# SPDX-License-Identifier: GPL-2.0-only
"""Whether a goal is met: its ratio round by round, and on which side of the bound the median lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bench.harness.figures import Results, Spread, ratios, spread, sums
from bench.harness.scenario import Goal, Scenario


@dataclass(frozen=True)
class Verdict:
    """What came of one goal. `ratio` is None when a peer of it was not measured."""

    scenario: str
    goal: Goal
    ratio: Spread | None

    @property
    def met(self) -> bool | None:
        """Whether the median keeps the bounds; None = not measured."""
        if self.ratio is None:
            return None
        low, high = self.goal.at_least, self.goal.at_most
        return (low is None or self.ratio.median >= low) and (high is None or self.ratio.median <= high)

    @property
    def word(self) -> str:
        """The verdict in one or two words."""
        return {True: "met", False: "NOT MET", None: "not measured"}[self.met]

    @property
    def bound(self) -> str:
        """The bound as text."""
        low, high = self.goal.at_least, self.goal.at_most
        return " ".join(
            filter(
                None, [f">= {low:g}" if low is not None else "", f"<= {high:g}" if high is not None else ""]
            )
        )


def values(results: Results, scenario: Scenario, figure: str, ratio: str) -> list[float]:
    """The ratio by round: `a / b`, where each side is a sum of peers; without a divisor the figure itself."""
    above, _, below = ratio.partition(" / ")
    numerators = _sum(results, scenario, figure, above)
    return ratios(numerators, _sum(results, scenario, figure, below)) if below else numerators


def _sum(results: Results, scenario: Scenario, figure: str, terms: str) -> list[float]:
    parts = []
    for term in terms.split("+"):
        peer, _, label = term.strip().partition("@")
        parts.append(results.values(figure, scenario.name, label or scenario.cases[0].label, peer))
    return sums(parts)


def judge(results: Results, scenarios: Iterable[Scenario]) -> list[Verdict]:
    """The verdicts on all goals of the scenarios that were measured at all."""
    measured = set(results.scenarios())
    return [
        Verdict(scenario.name, goal, spread(values(results, scenario, goal.figure, goal.ratio)))
        for scenario in scenarios
        if scenario.name in measured
        for goal in scenario.goals
    ]
