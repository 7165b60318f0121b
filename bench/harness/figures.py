# SPDX-License-Identifier: GPL-2.0-only
"""Arithmetic over rounds: medians, spreads, and ratios, which are taken within each round.

A machine's speed drifts by more than peers differ. But a slow minute hits all peers of a round alike.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Report = dict[str, Any]
"""What came of one measurement, by the names of results.jsonl."""


@dataclass(frozen=True)
class Spread:
    """The median of some rounds, with the least and the most."""

    median: float
    least: float
    most: float

    def overlaps(self, other: Spread) -> bool:
        """Whether the two could be the same figure seen through noise."""
        return self.least <= other.most and other.least <= self.most


def spread(values: Iterable[float]) -> Spread | None:
    """The spread of values; None of nothing."""
    known = list(values)
    return Spread(statistics.median(known), min(known), max(known)) if known else None


def quartiles(values: Sequence[float]) -> Spread:
    """The median with the lower and the upper quartile of at least one value."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(middle, lower, upper)


def median_interval(values: Sequence[float], certainty: float = 0.95) -> Spread:
    """The median of at least one value, with the interval in which the true median lies with this certainty.

    The interval begins and ends at one of the values. How the values are distributed does not matter: each
    lies above the true median with probability one half, so the binomial distribution says how many do. Fewer
    than six values give no such certainty; then the interval is from the least to the most.
    """
    ordered = sorted(values)
    count = len(ordered)
    outside = 0
    below = 0.0  # the probability that at most `outside` values lie on one side
    while True:
        below += math.comb(count, outside) / 2**count
        if 2 * below > 1 - certainty:
            break
        outside += 1
    place = max(outside - 1, 0)
    return Spread(statistics.median(ordered), ordered[place], ordered[count - 1 - place])


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> list[float]:
    """The quotients round by round, over the rounds that both have; none where the divisor is 0."""
    return [a / b for a, b in zip(numerators, denominators, strict=False) if b]


def sums(parts: Sequence[Sequence[float]]) -> list[float]:
    """The sums round by round, over the rounds that all have."""
    return [sum(values) for values in zip(*parts, strict=False)]


Key = tuple[str, str, str]
"""Scenario, case, peer."""


@dataclass
class Results:
    """The reports of every round, in the order in which they were made."""

    reports: dict[Key, list[Report]] = field(default_factory=dict)

    def add(self, scenario: str, case: str, peer: str, report: Report) -> None:
        """Take a report as the peer's next round."""
        self.reports.setdefault((scenario, case, peer), []).append(report)

    def values(self, figure: str, scenario: str, case: str, peer: str) -> list[float]:
        """A figure by round; empty where the peer took no part or the figure is not known."""
        reports = self.reports.get((scenario, case, peer), [])
        return [float(report[figure]) for report in reports if report.get(figure) is not None]

    def spread(self, figure: str, scenario: str, case: str, peer: str) -> Spread | None:
        """The spread of a figure."""
        return spread(self.values(figure, scenario, case, peer))

    def scenarios(self) -> list[str]:
        """The names of all scenarios, in order."""
        return list(dict.fromkeys(key[0] for key in self.reports))

    def cases(self, scenario: str) -> list[str]:
        """The labels of a scenario's cases, in order."""
        return list(dict.fromkeys(key[1] for key in self.reports if key[0] == scenario))

    def peers(self, scenario: str) -> list[str]:
        """Who took part in a scenario, in order."""
        return list(dict.fromkeys(key[2] for key in self.reports if key[0] == scenario))


def number(value: float) -> str:
    """A number for people: three digits that mean something, thousands apart."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}" if abs(value) >= 0.1 else f"{value:.2g}"


def spread_text(value: Spread | None) -> str:
    """The text `median (least - most)`; "-" of nothing."""
    return "-" if value is None else f"{number(value.median)} ({number(value.least)} - {number(value.most)})"
