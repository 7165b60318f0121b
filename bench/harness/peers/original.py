# SPDX-License-Identifier: GPL-2.0-only
"""The original HandlerSocket, as Debian ships it. It writes no binlog events, so it gets no binlog."""

from __future__ import annotations

from bench.harness.measuring import Target
from bench.harness.peers.database import DatabasePeer, line_address, options_of
from bench.harness.scenario import Case
from bench.harness.servers import OriginalOverTcp, Server, Servers


class Original(DatabasePeer):
    """handlersocket.so."""

    protocol = "handlersocket"

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "original")

    def database_server(self, case: Case) -> Server:
        """A server with the plugin."""
        return self.servers.database(OriginalOverTcp, options_of(case, binlog=False))

    def target(self, case: Case) -> Target:
        """The read port, or the write port for whatever writes."""
        server = self.prepared(case)
        return self.target_at(case, server, line_address(server, write=case.asked().writes))
