# SPDX-License-Identifier: GPL-2.0-only
"""The first floor: a server that sends a typical reply and looks nothing up. One process for each reply."""

from __future__ import annotations

from bench.harness.measuring import Target
from bench.harness.peers.base import PlayedPeer
from bench.harness.scenario import Case
from bench.harness.servers import Servers
from bench.traffic import PROTOCOLS


class Echo(PlayedPeer):
    """bench/echo_server. It answers requests of the HandlerSocket protocol."""

    protocol = "floor"

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "echo")

    def target(self, case: Case) -> Target:
        """The server that gives this case's replies."""
        workload = case.asked()
        reply = PROTOCOLS["floor"](workload).reply(workload.requests[0]).encode("latin-1")
        server = self.servers.announced("echo_server", [str(self.servers.environment.echo_server)], reply)
        return self.target_at(case, server, ("127.0.0.1", server.port))
