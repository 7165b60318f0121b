# SPDX-License-Identifier: GPL-2.0-only
"""What the peers inside MariaDB have in common: a case's durability, and a warm table."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from bench.harness.measuring import load_of
from bench.harness.peers.base import PlayedPeer
from bench.harness.player import play
from bench.harness.scenario import Case
from bench.harness.servers import OriginalOverTcp, RowSocketOverTcp, Server
from bench.traffic import protocols_of
from bench.traffic.protocol import Address

WARM_UP_CONNECTIONS = 50
WARM_UP_IN_FLIGHT = 16


def options_of(case: Case, *, binlog: bool) -> dict[str, str | int | None]:
    """The options that a case asks of its server and that cannot be changed while it runs."""
    options: dict[str, str | int | None] = {} if binlog else {"skip-log-bin": None}
    if case.buffer_pool != Case.buffer_pool:
        options["innodb-buffer-pool-size"] = case.buffer_pool
    return options


class DatabasePeer(PlayedPeer):
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
        """Read every row into the buffer pool, and often enough for InnoDB to have built its hash index."""
        workload = case.asked()
        table = f"{case.database}.{workload.table.name}"
        if table in server.warmed or server.sql is None:
            return
        server.warmed.add(table)
        if not workload.table.copies:
            server.sql.sql(f"CHECKSUM TABLE {table}")
        if workload.writes or "handlersocket" not in protocols_of(workload):
            return
        target = self.target_at(case, server, line_address(server, write=False), "handlersocket")
        load = load_of(target, replace(case, in_flight=WARM_UP_IN_FLIGHT, connections=WARM_UP_CONNECTIONS))
        seconds = self.servers.warm_up_seconds * max(1, case.rows / 1_000_000)
        play(
            target.player,
            target.protocol,
            target.address,
            replace(load, seconds=seconds, warm_up_s=0.0),
            "warming up",
        )


def line_address(server: Server, *, write: bool) -> Address:
    """Where the HandlerSocket protocol is served over TCP."""
    assert isinstance(server.sql, OriginalOverTcp | RowSocketOverTcp)
    return server.sql.write_address() if write else server.sql.read_address()
