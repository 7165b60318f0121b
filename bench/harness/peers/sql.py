# SPDX-License-Identifier: GPL-2.0-only
"""SQL over TCP, one session per connection, autocommit: as text, and prepared.

The server is one that has RowSocket loaded, as a user of RowSocket would have it. RowSocket costs nothing
while it is idle (the scenario `idle`).
"""

from __future__ import annotations

from bench.harness.measuring import Target
from bench.harness.peers.database import DatabasePeer, options_of
from bench.harness.peers.rowsocket import ONE_THREAD
from bench.harness.scenario import Case
from bench.harness.servers import RowSocketOverTcp, Server


class Sql(DatabasePeer):
    """`sql-text` or `sql-prepared`."""

    over_unix_sockets = True

    def database_server(self, case: Case) -> Server:
        """The server of the peer `rowsocket`."""
        return self.servers.database(RowSocketOverTcp, {**options_of(case, binlog=case.binlog), **ONE_THREAD})

    def target(self, case: Case) -> Target:
        """The SQL port."""
        server = self.prepared(case)
        assert server.sql is not None
        if case.transport == "unix":
            return self.target_at(case, server, str(server.sql.socket))
        return self.target_at(case, server, ("127.0.0.1", int(str(server.sql.options["port"]))))
