# SPDX-License-Identifier: GPL-2.0-only
"""SQL over TCP, one session per connection, autocommit: as text, and prepared. It is served by the server that has RowSocket
loaded, as a user of RowSocket would have it; an idle RowSocket costs it nothing (the scenario `idle`).
"""

from __future__ import annotations

from bench.harness import generator
from bench.harness.peers.database import DatabasePeer, options_of
from bench.harness.peers.rowsocket import ONE_THREAD
from bench.harness.scenario import Case
from bench.harness.servers import RowSocketOverTcp, Server


class Sql(DatabasePeer):
    """`sql-text` or `sql-prepared`."""

    def cannot(self, case: Case) -> str:
        """The generator may have been built without MariaDB's client, and a session has one request at a time."""
        if self.name not in generator.describe(self.servers.environment.load, case.workload)["protocols"]:
            return "the generator does not offer it"
        return ""

    def database_server(self, case: Case) -> Server:
        """The server of the peer `rowsocket`."""
        return self.servers.database(RowSocketOverTcp, {**options_of(case, binlog=case.binlog), **ONE_THREAD})

    def target(self, case: Case) -> generator.Target:
        """The SQL port."""
        server = self.prepared(case)
        assert server.sql is not None
        address = ("--port", str(server.sql.options["port"]))
        if case.transport == "unix":
            address = ("--socket", str(server.sql.socket))
        return generator.Target(self.name, self.name, server, address, self.servers.environment.load, case.workload)
