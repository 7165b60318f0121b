# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket. `rowsocket` has one thread of each kind, as it has one core; `rowsocket-defaults` what it takes by itself."""

from __future__ import annotations

from pathlib import Path

from bench.harness import generator
from bench.harness.peers.database import DatabasePeer, options_of, port_of
from bench.harness.scenario import Case
from bench.harness.servers import RowSocketOverTcp, Server, Servers

from support.mariadb import Options

ONE_THREAD: Options = {"loose-rowsocket-threads-read": 1, "loose-rowsocket-threads-write": 1}


class RowSocket(DatabasePeer):
    """The plugin, asked with its extensions where a workload has a request that needs them."""

    def __init__(self, servers: Servers, name: str, options: Options) -> None:
        super().__init__(servers, name)
        self.options = options

    def database_server(self, case: Case) -> Server:
        """A server with the plugin."""
        return self.servers.database(RowSocketOverTcp, {**options_of(case, binlog=case.binlog), **self.options})

    def target(self, case: Case) -> generator.Target:
        """The read port, or the write port for whatever writes."""
        server = self.prepared(case)
        load = self.servers.environment.load
        writes = bool(generator.describe(load, case.workload)["writes"])
        address = ("--port", str(port_of(server, write=writes)))
        if case.transport == "unix":
            assert server.sql is not None
            address = ("--socket", str(Path(server.sql.folder) / ("rs-write" if writes else "rs-read")))
        return generator.Target(self.name, "rowsocket", server, address, load, case.workload)
