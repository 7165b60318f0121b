# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket. `rowsocket` has one thread of each kind, because it has one core.

`rowsocket-defaults` has as many threads as RowSocket takes by itself. The others are `rowsocket` in a server
with one setting changed (docs/operating.md advises on them).
"""

from __future__ import annotations

from pathlib import Path

from bench.harness.measuring import Target
from bench.harness.peers.database import DatabasePeer, line_address, options_of
from bench.harness.scenario import Case
from bench.harness.servers import RowSocketOverTcp, Server, Servers

from support.mariadb import Options

ONE_THREAD: Options = {"loose-rowsocket-threads-read": 1, "loose-rowsocket-threads-write": 1}
SETTINGS: dict[str, Options] = {
    "rowsocket": ONE_THREAD,
    "rowsocket-defaults": {"loose-rowsocket-threads-write": 0},
    "rowsocket-32-readers": {**ONE_THREAD, "loose-rowsocket-threads-read": 32},
    "rowsocket-huge-pages": {**ONE_THREAD, "large-pages": None},
    "rowsocket-eight-hash-parts": {**ONE_THREAD, "innodb-adaptive-hash-index-parts": 8},
    "rowsocket-no-hash-index": {**ONE_THREAD, "innodb-adaptive-hash-index": "OFF"},
}
HUGE_BYTES_MIN = 2400 << 20
"""The buffer pool of 2 GiB and what else the server takes."""


class RowSocket(DatabasePeer):
    """The plugin, asked with its extensions where a workload has a request that needs them."""

    protocol = "rowsocket"
    over_unix_sockets = True

    def __init__(self, servers: Servers, name: str, options: Options) -> None:
        super().__init__(servers, name)
        self.options = options

    def cannot(self, case: Case) -> str:
        """The machine must have set huge pages aside; without them the server would only warn."""
        if "large-pages" in self.options and huge_bytes() < HUGE_BYTES_MIN:
            return f"no huge pages: sysctl vm.nr_hugepages={HUGE_BYTES_MIN >> 21}"
        return super().cannot(case)

    def database_server(self, case: Case) -> Server:
        """A server with the plugin."""
        return self.servers.database(
            RowSocketOverTcp, {**options_of(case, binlog=case.binlog), **self.options}
        )

    def target(self, case: Case) -> Target:
        """The read port, or the write port for whatever writes."""
        server = self.prepared(case)
        writes = case.asked().writes
        if case.transport == "unix":
            assert server.sql is not None
            socket = Path(server.sql.folder) / ("rs-write" if writes else "rs-read")
            return self.target_at(case, server, str(socket))
        return self.target_at(case, server, line_address(server, write=writes))


def huge_bytes() -> int:
    """How much memory is set aside for huge pages, taken (by our own server, once it runs) or not."""
    info = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(info["HugePages_Total"]) * int(info["Hugepagesize"].split()[0]) << 10
