# SPDX-License-Identifier: GPL-2.0-only
"""What a peer is: something that can be measured at a case. Most are asked by the generator; `GeneratorPeer` is those."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from bench.harness import generator
from bench.harness.figures import Report
from bench.harness.scenario import Case
from bench.harness.servers import Server, Servers


@dataclass(frozen=True)
class Run:
    """How to measure, once."""

    seconds: float
    seed: int = 1
    rate: float = 0.0
    """Requests per second of the open loop; 0 = closed."""
    warm_up_seconds: float = 0.5


class Peer(ABC):
    """One peer. It starts its server when it is first asked, and `Servers` ends it."""

    def __init__(self, servers: Servers, name: str) -> None:
        self.servers = servers
        self.name = name

    def cannot(self, case: Case) -> str:
        """Why it takes no part in a case; empty if it does."""
        del case
        return ""

    @abstractmethod
    def measure(self, case: Case, run: Run) -> Report:
        """Measure once. Raises WrongAnswer, ServerFailure."""

    def server(self, case: Case) -> Server | None:
        """Its server with the case's rows in it, for `./x profile`; None if it has none of its own."""
        del case
        return None


class GeneratorPeer(Peer):
    """A peer that bench/load speaks to."""

    @abstractmethod
    def target(self, case: Case) -> generator.Target:
        """The running server, with the case's rows in it. Raises ServerFailure."""

    def measure(self, case: Case, run: Run) -> Report:
        """Measure once, and count what the server wrote. Raises WrongAnswer, ServerFailure."""
        target = self.target(case)
        if case.mode == "idle":
            return generator.measure_idle(target, case, run.seconds)
        return generator.measure(
            target, case, seconds=run.seconds, seed=run.seed, rate=run.rate, warm_up_seconds=run.warm_up_seconds
        )

    def server(self, case: Case) -> Server | None:
        """The server behind `target`."""
        return self.target(case).server
