# SPDX-License-Identifier: GPL-2.0-only
"""Rounds: every peer once at every case (A B C, A B C, ...), so that a slow minute hits all of them alike."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from bench.harness.budget import Plan
from bench.harness.figures import Report, number
from bench.harness.measuring import Run
from bench.harness.peers.base import Peer
from bench.harness.progress import Progress
from bench.harness.results import Writer
from bench.harness.scenario import Case, Scenario

PEAK_SECONDS = 1.0


def measurements(plan: Plan) -> int:
    """How many a plan will take, if every peer can take part."""
    return plan.rounds * sum(scenario.runs_per_round() for scenario in plan.scenarios)


def run_plan(
    plan: Plan, peers: Mapping[str, Peer], writer: Writer, progress: Progress, deadline_s: float | None = None
) -> None:
    """Measure every scenario of the plan; those that would begin after the deadline (monotonic) are left out.

    Raises WrongAnswer, ServerFailure.
    """
    for scenario in plan.left_out:
        writer.left_out(f"{scenario.name}: no time left in the budget")
    for scenario in plan.scenarios:
        if deadline_s is not None and time.monotonic() > deadline_s:
            writer.left_out(f"{scenario.name}: the budget was used up")
            progress.skipped(plan.rounds * scenario.runs_per_round())
            continue
        writer.scenario(scenario)
        run_scenario(scenario, peers, writer, plan, progress)


def run_scenario(
    scenario: Scenario, peers: Mapping[str, Peer], writer: Writer, plan: Plan, progress: Progress
) -> None:
    """All rounds of one scenario. Raises WrongAnswer, ServerFailure."""
    contestants = [
        (case, peer) for case in scenario.cases for peer in _contestants(scenario, case, peers, writer)
    ]
    progress.skipped(plan.rounds * (scenario.runs_per_round() - len(contestants)))
    rates = {
        case.label: _rate(case, [peer for own, peer in contestants if own == case], progress)
        for case in scenario.cases
    }
    for round_number in range(1, plan.rounds + 1):
        for case, peer in contestants:
            run = Run(seconds=plan.seconds, seed=round_number, rate=rates[case.label])
            report = with_derived(peer.measure(as_asked(scenario, case, peer.name), run))
            writer.measured(case, peer.name, round_number, report)
            what = (
                f"{scenario.name} {case.label}, round {round_number} of {plan.rounds}, {peer.name}".replace(
                    " ,", ","
                )
            )
            progress.measured(f"{what}: {brief(report)}")


def as_asked(scenario: Scenario, case: Case, peer: str) -> Case:
    """The case as a peer is asked it: some need another workload for the same work."""
    return replace(case, **dict(scenario.proxies.get(peer, {})))


def _contestants(scenario: Scenario, case: Case, peers: Mapping[str, Peer], writer: Writer) -> list[Peer]:
    able = []
    for name in scenario.peers:
        reason = peers[name].cannot(as_asked(scenario, case, name)) if name in peers else "nobody knows it"
        if reason:
            writer.left_out(f"{scenario.name} {case.label}, {name}: {reason}".replace(" ,", ","))
        else:
            able.append(peers[name])
    return able


def _rate(case: Case, contestants: list[Peer], progress: Progress) -> float:
    """Requests per second of an open loop, else 0: a share of the slowest peer's peak, measured here."""
    if case.mode != "open":
        return 0.0
    peaks = {}
    for peer in contestants:
        report = peer.measure(replace(case, mode="closed"), Run(seconds=PEAK_SECONDS))
        peaks[peer.name] = float(report["requests_per_s"])
    rate = case.load * min(peaks.values(), default=0.0)
    told = ", ".join(f"{name} {peak:,.0f}" for name, peak in peaks.items())
    progress.say(f"{case.scenario} {case.label}: {rate:,.0f}/s are due, of peaks {told}")
    return rate


def with_derived(report: Report) -> Report:
    """The report with figures per key and in sensible units, and without the empty ones."""
    derived = {key: value for key, value in report.items() if value is not None}
    keys = report.get("keys_per_request") or 1
    if "server_cpu_us_per_request" in derived:
        derived["server_cpu_us_per_key"] = derived["server_cpu_us_per_request"] / keys
    if "server_peak_bytes" in derived:
        derived["server_peak_mib"] = derived["server_peak_bytes"] / 2**20
    return derived


def brief(report: Report) -> str:
    """The most telling figures on one line."""
    parts = {
        "server_cpu_us_per_request": "us CPU",
        "requests_per_s": "/s",
        "p99_us": "us p99",
        "fsyncs_per_row": "fsyncs per row",
        "idle_cpu_us_per_s": "us CPU per s",
    }
    return ", ".join(
        f"{number(report[name])} {unit}" for name, unit in parts.items() if report.get(name) is not None
    )
