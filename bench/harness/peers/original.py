# SPDX-License-Identifier: GPL-2.0-only
"""The original HandlerSocket, as Debian ships it with MariaDB. It writes no binlog events, so it gets no binlog either."""

from __future__ import annotations

from bench.harness import generator
from bench.harness.peers.database import DatabasePeer, options_of, port_of
from bench.harness.scenario import Case
from bench.harness.servers import OriginalOverTcp, Server, Servers


class Original(DatabasePeer):
    """handlersocket.so."""

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "original")

    def cannot(self, case: Case) -> str:
        """It has no unix socket that we would measure, and not the extensions."""
        protocols = generator.describe(self.servers.environment.load, case.workload)["protocols"]
        if "handlersocket" not in protocols:
            return "the workload needs an extension"
        return "measured over TCP only" if case.transport == "unix" else ""

    def database_server(self, case: Case) -> Server:
        """A server with the plugin."""
        return self.servers.database(OriginalOverTcp, options_of(case, binlog=False))

    def target(self, case: Case) -> generator.Target:
        """The read port, or the write port for whatever writes."""
        server = self.prepared(case)
        load = self.servers.environment.load
        writes = bool(generator.describe(load, case.workload)["writes"])
        port = str(port_of(server, write=writes))
        return generator.Target(self.name, "handlersocket", server, ("--port", port), load, case.workload)
