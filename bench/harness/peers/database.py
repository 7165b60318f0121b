# SPDX-License-Identifier: GPL-2.0-only
"""What the peers inside MariaDB have in common: durability settings of a case, and a table that is warm before it is measured."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from bench.harness import generator
from bench.harness.peers.base import GeneratorPeer
from bench.harness.scenario import Case
from bench.harness.servers import OriginalOverTcp, RowSocketOverTcp, Server

WARM_UP_CONNECTIONS = 50
WARM_UP_IN_FLIGHT = 16


def options_of(case: Case, *, binlog: bool) -> dict[str, str | int | None]:
    """The options that a case asks of its server and that cannot be changed while it runs."""
    options: dict[str, str | int | None] = {} if binlog else {"skip-log-bin": None}
    if case.buffer_pool != Case.buffer_pool:
        options["innodb-buffer-pool-size"] = case.buffer_pool
    return options


class DatabasePeer(GeneratorPeer):
    """A peer whose server is a MariaDB."""

    @abstractmethod
    def database_server(self, case: Case) -> Server:
        """Its server, as it stands."""

    def prepared(self, case: Case) -> Server:
        """Its server with the case's durability, the table warm. Raises ServerFailure, WrongAnswer."""
        server = self.database_server(case)
        server.set_global("innodb_flush_log_at_trx_commit", case.flush)
        if server.sql is not None and "skip-log-bin" not in server.sql.options:
            server.set_global("sync_binlog", case.sync_binlog)
        self._warm(server, case)
        return server

    def _warm(self, server: Server, case: Case) -> None:
        """Bring the table into the buffer pool, and read every row often enough for InnoDB to have built its hash index."""
        described = generator.describe(self.servers.environment.load, case.workload)
        table = f"{case.database}.{described['table']}"
        if table in server.warmed or server.sql is None:
            return
        server.warmed.add(table)
        server.sql.sql(f"CHECKSUM TABLE {table}")
        if described["writes"] or "handlersocket" not in described["protocols"]:
            return
        port = port_of(server, write=False)
        target = generator.Target(
            f"{self.name} (warm-up)", "handlersocket", server, ("--port", str(port)), self.servers.environment.load, case.workload
        )
        warm_case = replace(case, in_flight=WARM_UP_IN_FLIGHT, connections=WARM_UP_CONNECTIONS)
        seconds = self.servers.warm_up_seconds * max(1, case.rows / 1_000_000)
        command = [*generator.arguments(target, warm_case), "--seconds", str(seconds), "--warm-up", "0"]
        generator.run(command, target.peer, seconds)


def port_of(server: Server, *, write: bool) -> int:
    """The TCP port of the HandlerSocket protocol."""
    assert isinstance(server.sql, OriginalOverTcp | RowSocketOverTcp)
    return (server.sql.write_address() if write else server.sql.read_address())[1]
