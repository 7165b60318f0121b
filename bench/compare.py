# SPDX-License-Identifier: GPL-2.0-only
"""Measure RowSocket and the original HandlerSocket in turn, on this machine, in one run.

    ROWSOCKET_SERVER_TREE=... ROWSOCKET_PLUGIN_DIR=... python -m bench.compare --programs build/release/bench

Servers run on core 0, the generator on core 1. The figure is the server's CPU time per request, which does not depend on how fast
the generator is or who else uses the machine. Machines are noisy, so peers run in turn, round after round, and it is the ratios
within a round that count: the table gives their median and spread. Every answer is checked; a wrong one ends the comparison.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.peers import (
    OriginalOverTcp,
    Peer,
    RowSocketOverTcp,
    database_peer,
    filled_data,
    floor_peer,
    server_tree,
)

SERVER_CPU = 0
GENERATOR_CPU = 1
ORIGINAL = "original"
ROWSOCKET = "rowsocket"
FLOOR = "floor"

Report = dict[str, Any]


class WrongAnswer(Exception):
    """A peer failed a run; the text says how."""


@dataclass(frozen=True)
class Scenario:
    """What the generator asks for. `keys` is the number of keys in a request."""

    name: str
    workload: str
    in_flight: int
    keys: int = 1

    def arguments(self) -> list[str]:
        """The generator's options."""
        return ["--workload", self.workload, "--in-flight", str(self.in_flight), "--keys", str(self.keys)]


SCENARIOS = [
    Scenario("1 in flight", "point", 1),
    Scenario("16 in flight", "point", 16),
    Scenario("IN list of 50", "in", 1, 50),
    Scenario("insert", "insert", 1),
]
# Reads every row often enough for InnoDB to have built its adaptive hash index before anything is measured.
HASH_WARM_UP = Scenario("warm-up", "in", 16, 50)
DEFAULT_SCENARIOS = [scenario.name for scenario in SCENARIOS if scenario.workload != "insert"]


@dataclass
class Comparison:
    """The reports of every round, by scenario and peer; a round is one position in each list."""

    reports: dict[str, dict[str, list[Report]]] = field(default_factory=dict)

    def add(self, scenario: str, peer: str, report: Report) -> None:
        """Take a report as the peer's next round."""
        self.reports.setdefault(scenario, {}).setdefault(peer, []).append(report)

    def cpu_us(self, scenario: str, peer: str) -> list[float]:
        """Server CPU microseconds per request, by round; empty where the peer does not take part."""
        reports = self.reports.get(scenario, {}).get(peer, [])
        return [float(report["server_cpu_us_per_request"]) for report in reports]


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> list[float]:
    """The quotients round by round, over the rounds that both have."""
    return [a / b for a, b in zip(numerators, denominators, strict=False)]


def median_and_spread(values: Sequence[float]) -> str:
    """The text `median (least - most)`; "-" of nothing."""
    if not values:
        return "-"
    return f"{statistics.median(values):.2f} ({min(values):.2f} - {max(values):.2f})"


def table(comparison: Comparison, peer_names: Sequence[str]) -> str:
    """A Markdown table: the CPU microseconds per request of each peer, and how many times faster RowSocket is."""
    header = ["", *peer_names, f"{ORIGINAL} / {ROWSOCKET}"]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for scenario in comparison.reports:
        figures = {name: comparison.cpu_us(scenario, name) for name in (*peer_names, ORIGINAL, ROWSOCKET)}
        cells = [scenario, *(median_and_spread(figures[name]) for name in peer_names)]
        cells.append(median_and_spread(ratios(figures[ORIGINAL], figures[ROWSOCKET])))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


class Generator:
    """Runs bench/load against peers, and remembers which keys it has inserted into each."""

    def __init__(self, program: Path, options: argparse.Namespace) -> None:
        self.program = program
        self.options = options
        self.next_keys: dict[str, int] = {}

    def run(self, peer: Peer, scenario: Scenario, seed: int, seconds: float) -> Report:
        """One measured run; raises WrongAnswer."""
        first_key = self.next_keys.get(peer.name, self.options.rows + 1)
        writes = scenario.workload == "insert"
        settings: Mapping[str, object] = {
            "protocol": peer.protocol,
            "port": peer.write_port if writes else peer.read_port,
            "connections": self.options.connections,
            "rows": self.options.rows,
            "zipf": self.options.zipf,
            "seed": seed,
            "first-key": first_key,
            "seconds": seconds,
            "server-pid": peer.pid,
            "cpu": GENERATOR_CPU,
        }
        arguments = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
        done = subprocess.run([self.program, *scenario.arguments(), *arguments], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise WrongAnswer(f"{peer.name}, {scenario.name}: {done.stdout.strip() or 'the generator failed'}")
        report: Report = json.loads(done.stdout)
        if writes:
            self.next_keys[peer.name] = first_key + int(report["requests_in_all"])
            self.check_rows(peer)
        return report

    def check_rows(self, peer: Peer) -> None:
        """Raise WrongAnswer if the table does not hold exactly the rows that were acknowledged."""
        assert peer.sql is not None
        found = int(peer.sql.value("SELECT COUNT(*) FROM bench.user"))
        expected = self.next_keys[peer.name] - 1
        if found != expected:
            raise WrongAnswer(f"{peer.name}: {found} rows where {expected} were acknowledged")


def takes_part(peer: Peer, scenario: Scenario) -> bool:
    """The floor answers with one row, whatever it is asked."""
    return peer.name != FLOOR or scenario.workload == "point"


def compare(
    peers: Sequence[Peer], scenarios: Sequence[Scenario], generator: Generator, options: argparse.Namespace
) -> Comparison:
    """Warm every peer, then measure them in turn, round after round; raises WrongAnswer."""
    comparison = Comparison()
    for peer in peers:
        if takes_part(peer, HASH_WARM_UP):
            generator.run(peer, HASH_WARM_UP, seed=0, seconds=options.warm_up)
    for scenario in scenarios:
        contestants = [peer for peer in peers if takes_part(peer, scenario)]
        for round_number in range(1, options.rounds + 1):
            for peer in contestants:
                report = generator.run(peer, scenario, seed=round_number, seconds=options.seconds)
                comparison.add(scenario.name, peer.name, report)
                append_line(options.out, {"peer": peer.name, "scenario": scenario.name, "round": round_number, **report})
                print(
                    f"{scenario.name}, round {round_number}, {peer.name}: {report['server_cpu_us_per_request']:.2f} us,"
                    f" {report['requests_per_s']:.0f}/s, p99 {report['p99_us']:.0f} us",
                    file=sys.stderr,
                    flush=True,
                )
    return comparison


def append_line(path: Path | None, line: Mapping[str, object]) -> None:
    """Append one JSON line, with the time in UTC; nothing without a path."""
    if path is not None:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"time": now, **line}) + "\n")


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="folder with load and echo_server")
    parser.add_argument("--peers", nargs="+", default=[FLOOR, ORIGINAL, ROWSOCKET], choices=[FLOOR, ORIGINAL, ROWSOCKET])
    parser.add_argument(
        "--scenarios", nargs="+", default=DEFAULT_SCENARIOS, choices=[scenario.name for scenario in SCENARIOS], metavar="NAME"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--warm-up", type=float, default=8.0, help="seconds of load before the first round")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--zipf", type=float, default=0.0, help="exponent of the keys' distribution; 0 = uniform")
    parser.add_argument("--out", type=Path, help="append every run to this file, as JSON lines")
    return parser.parse_args(words)


def main() -> int:
    """Run the comparison; 0 unless a peer gave a wrong answer."""
    options = parse_arguments()
    tree = server_tree()
    scenarios = [scenario for scenario in SCENARIOS if scenario.name in options.scenarios]
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(filled_data(tree, options.rows))
        peers = []
        for name in options.peers:
            if name == FLOOR:
                peers.append(stack.enter_context(floor_peer(options.programs / "echo_server", SERVER_CPU)))
            else:
                kind = OriginalOverTcp if name == ORIGINAL else RowSocketOverTcp
                peers.append(stack.enter_context(database_peer(name, kind(tree, data), SERVER_CPU)))
        try:
            comparison = compare(peers, scenarios, Generator(options.programs / "load", options), options)
        except WrongAnswer as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 1
    print(table(comparison, options.peers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
