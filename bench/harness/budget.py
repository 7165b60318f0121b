# SPDX-License-Identifier: GPL-2.0-only
"""How long each measurement may take, and which scenarios are left out, so that a run ends in time.

A real run never has fewer than five rounds, because the spread is what makes a figure worth anything. First
the measurements become shorter, down to a second. Then the least important scenarios are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.harness.scenario import Scenario

ROUNDS = 5
SECONDS = 3.0
SECONDS_MIN = 1.0
QUICK_ROUNDS = 3
QUICK_SECONDS = 0.5

RUN_OVERHEAD_S = 1.2
"""Connecting, warming up and the server's counters, for each measurement."""
SET_UP_S = 90.0
"""Filling and starting the servers that nearly all scenarios share."""
SCENARIO_SET_UP_S = 12.0
"""Warming tables, and a server of its own where one is needed; once for each scenario."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and for how long each time."""

    scenarios: tuple[Scenario, ...]
    left_out: tuple[Scenario, ...]
    rounds: int
    seconds: float


def seconds_needed(scenarios: Sequence[Scenario], rounds: int, seconds: float) -> float:
    """What a run of these takes, roughly."""
    runs = rounds * sum(scenario.runs_per_round() for scenario in scenarios)
    return SET_UP_S + SCENARIO_SET_UP_S * len(scenarios) + runs * (seconds + RUN_OVERHEAD_S)


def plan(scenarios: Sequence[Scenario], *, quick: bool, budget_minutes: float | None) -> Plan:
    """Fit scenarios, the most important first, into the budget; without one all run at full length."""
    rounds, longest, shortest = (
        (QUICK_ROUNDS, QUICK_SECONDS, QUICK_SECONDS) if quick else (ROUNDS, SECONDS, SECONDS_MIN)
    )
    if budget_minutes is None:
        return Plan(tuple(scenarios), (), rounds, longest)
    budget_s = budget_minutes * 60
    kept = list(scenarios)
    while len(kept) > 1 and seconds_needed(kept, rounds, shortest) > budget_s:
        kept.pop()
    runs = rounds * sum(scenario.runs_per_round() for scenario in kept)
    spare_s = budget_s - seconds_needed(kept, rounds, shortest)
    seconds = min(longest, max(shortest, shortest + spare_s / runs))
    return Plan(tuple(kept), tuple(scenarios[len(kept) :]), rounds, round(seconds, 1))


def with_overrides(made: Plan, rounds: int | None, seconds: float | None) -> Plan:
    """The plan with what the user set by hand."""
    return replace(made, rounds=rounds or made.rounds, seconds=seconds or made.seconds)
