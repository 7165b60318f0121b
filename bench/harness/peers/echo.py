# SPDX-License-Identifier: GPL-2.0-only
"""The first floor: an epoll server that sends the bytes of a typical reply and looks nothing up. One process for each case."""

from __future__ import annotations

from bench.harness import generator
from bench.harness.peers.base import GeneratorPeer
from bench.harness.scenario import Case
from bench.harness.servers import Servers


class Echo(GeneratorPeer):
    """bench/echo_server."""

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "echo")

    def cannot(self, case: Case) -> str:
        """It answers requests of the HandlerSocket protocol."""
        protocols = generator.describe(self.servers.environment.load, case.workload)["protocols"]
        return "" if "floor" in protocols and case.transport == "tcp" else "no such request"

    def target(self, case: Case) -> generator.Target:
        """The server that gives this case's replies."""
        environment = self.servers.environment
        words = [str(environment.programs / "echo_server"), "--workload", case.workload, "--rows", str(case.rows)]
        words += [word for name, value in case.settings for word in ("--set", f"{name}={value}")]
        words += ["--keys", str(case.keys)] if case.keys else []
        server = self.servers.announced(" ".join(words), words)
        return generator.Target(self.name, "floor", server, ("--port", str(server.port)), environment.load, case.workload)
