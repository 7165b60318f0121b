# SPDX-License-Identifier: GPL-2.0-only
"""What memcached and Redis have in common: they hold nothing until the generator fills them, request by request."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from bench.harness import generator
from bench.harness.peers.base import GeneratorPeer
from bench.harness.scenario import Case

FILL_CONNECTIONS = 20
FILL_IN_FLIGHT = 16
FILL_SECONDS_MAX = 300.0


class KeyValuePeer(GeneratorPeer):
    """One of them; its name is the protocol's."""

    program = ""

    def cannot(self, case: Case) -> str:
        """Not every workload can be asked of a key-value store, and its program may not be there."""
        if self.name not in generator.describe(self.servers.environment.load, case.workload)["protocols"]:
            return "no such request"
        if self.servers.environment.program(self.program) is None:
            return f"{self.program} is not there"
        return "measured over TCP only" if case.transport == "unix" else ""

    @abstractmethod
    def command(self, program: str, port: int) -> list[str]:
        """The command line of its server."""

    def target(self, case: Case) -> generator.Target:
        """The server, filled."""
        program = self.servers.environment.program(self.program)
        assert program is not None
        server = self.servers.program(self.name, lambda port: self.command(program, port), self.servers.environment.of_peers())
        address = ("--port", str(server.port))
        target = generator.Target(self.name, self.name, server, address, self.servers.environment.load, case.workload)
        self._fill(target, case)
        return target

    def _fill(self, target: generator.Target, case: Case) -> None:
        case = replace(case, settings=case.table_settings, zipf=0.0, keys=1, connections=FILL_CONNECTIONS)
        case = replace(case, in_flight=FILL_IN_FLIGHT)
        for workload in case.fill.split():
            table = str(generator.describe(target.load, workload)["table"])
            filled = f"{workload} {case.rows} {case.table_settings}"
            mark = f"{table} holds "
            if mark + filled in target.server.warmed:
                continue
            if len(case.fill.split()) == 1:
                target.server.warmed = {known for known in target.server.warmed if not known.startswith(mark)}
            self.servers.say(f"filling {self.name} with {case.rows:,} rows of {table}")
            fill = generator.Target(self.name, self.name, target.server, target.address, target.load, workload)
            command = [*generator.arguments(fill, case), "--first-key", "1", "--requests", str(case.rows)]
            generator.run(command, f"{self.name}, filling", FILL_SECONDS_MAX)
            target.server.warmed.add(mark + filled)
