# SPDX-License-Identifier: GPL-2.0-only
"""memcached and Redis, with one thread each because they have one core. The player fills them."""

from __future__ import annotations

from dataclasses import replace

from bench.harness.measuring import Target, load_of
from bench.harness.peers.base import PlayedPeer
from bench.harness.player import play
from bench.harness.scenario import Case
from bench.harness.servers import Servers
from bench.traffic.workloads import Workload

FILL_CONNECTIONS = 20
FILL_IN_FLIGHT = 16

COMMANDS = {
    # 4 GiB, so that nothing is evicted.
    "memcached": "memcached -u root -l 127.0.0.1 -p {port} -U 0 -t 1 -c 4096 -m 4096",
    # No snapshots and no append-only file, so it keeps nothing over a restart: beside writes it means "memory
    # only".
    "redis": "redis-server --bind 127.0.0.1 --port {port} --save  --appendonly no --maxclients 4096",
}


COMMANDS["redis-hash"] = COMMANDS["redis"]
"""The same, asked for hashes: of a server of its own."""


class KeyValuePeer(PlayedPeer):
    """One of them; its name is the protocol's."""

    def __init__(self, servers: Servers, name: str) -> None:
        super().__init__(servers, name)
        self.program, *self.options = COMMANDS[name].split(" ")

    def cannot(self, case: Case) -> str:
        """Not every workload can be asked of a key-value store, and its program may not be there."""
        missing = self.servers.environment.program(self.program) is None
        return super().cannot(case) or (f"{self.program} is not there" if missing else "")

    def target(self, case: Case) -> Target:
        """The server, filled."""
        environment = self.servers.environment
        program = environment.program(self.program)
        assert program is not None
        server = self.servers.program(
            self.name,
            lambda port: [program, *(option.format(port=port) for option in self.options)],
            environment.of_peers(),
        )
        target = self.target_at(case, server, ("127.0.0.1", server.port))
        for store in case.asked().stores():
            self._fill(target, case, store)
        return target

    def _fill(self, target: Target, case: Case, store: Workload) -> None:
        """Store every row, unless this is what the server holds under these names already."""
        name = f"{store.table.name} {store.requests[0].value_columns} of "
        holds = f"{name}{case.rows} rows, {case.table_settings}"
        warmed = target.server.warmed
        if holds in warmed:
            return
        warmed -= {known for known in warmed if known.startswith(name)}
        self.servers.say(f"filling {self.name} with {case.rows:,} rows of {store.table.name}")
        load = load_of(
            target, replace(case, connections=FILL_CONNECTIONS, in_flight=FILL_IN_FLIGHT, zipf=0.0)
        )
        protocol = type(target.protocol)(store)
        play(
            target.player, protocol, target.address, replace(load, requests=case.rows), f"filling {self.name}"
        )
        warmed.add(holds)
