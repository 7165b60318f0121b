# SPDX-License-Identifier: GPL-2.0-only
"""What a peer is: something that can be measured at a case. `PlayedPeer` is a peer that the player asks."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bench.harness import measuring
from bench.harness.figures import Report
from bench.harness.measuring import Run, Target
from bench.harness.scenario import Case
from bench.harness.servers import Server, Servers
from bench.traffic import PROTOCOLS, protocols_of
from bench.traffic.protocol import Address


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


class PlayedPeer(Peer):
    """A peer that bench/player speaks to."""

    protocol = ""
    """The name of its protocol; empty = its own name."""
    over_unix_sockets = False

    def cannot(self, case: Case) -> str:
        """Why it takes no part in a case; empty if it does."""
        if (self.protocol or self.name) not in protocols_of(case.asked()):
            return "no such request"
        return "measured over TCP only" if case.transport == "unix" and not self.over_unix_sockets else ""

    @abstractmethod
    def target(self, case: Case) -> Target:
        """The running server, with the case's rows in it. Raises ServerFailure."""

    def target_at(self, case: Case, server: Server, address: Address, protocol: str = "") -> Target:
        """A target with the case's workload."""
        kind = PROTOCOLS[protocol or self.protocol or self.name]
        return Target(
            self.name, kind(case.asked(), case.database), server, address, self.servers.environment.player
        )

    def measure(self, case: Case, run: Run) -> Report:
        """Measure once, and count what the server wrote. Raises WrongAnswer, ServerFailure."""
        target = self.target(case)
        if case.mode == "idle":
            return measuring.measure_idle(target, case, run.seconds)
        return measuring.measure(target, case, run)

    def server(self, case: Case) -> Server | None:
        """The server behind `target`."""
        return self.target(case).server
