# SPDX-License-Identifier: GPL-2.0-only
"""The second floor: lookups inside the server, without a network (src/mariadb/handler_floor)."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.harness.figures import Report
from bench.harness.measuring import Run
from bench.harness.peers.base import Peer
from bench.harness.peers.database import DatabasePeer
from bench.harness.peers.rowsocket import ONE_THREAD, RowSocket
from bench.harness.scenario import Case
from bench.harness.servers import Server, Servers
from bench.traffic.protocol import WrongAnswer

LIBRARY = "rowsocket_handler_floor"
WORKLOADS = ("point", "in")
"""Those that look rows of `user` up by their primary key."""


class HandlerFloor(Peer):
    """`ha_index_read_map` in a loop, in the server of the peer `rowsocket`."""

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "handler-floor")
        self._rowsocket: DatabasePeer = RowSocket(servers, "rowsocket", ONE_THREAD)

    def cannot(self, case: Case) -> str:
        """It only looks up."""
        if self.servers.environment.floor_plugin is None:
            return "its plugin is not built"
        return "" if case.workload in WORKLOADS else "no such lookup"

    def measure(self, case: Case, run: Run) -> Report:
        """As many lookups as take about the time. The figure is one request's: its keys times one lookup."""
        server = self._rowsocket.prepared(case)
        self._install(server)
        assert server.sql is not None
        keys = case.asked().keys.count
        server.sql.sql(
            f"SET GLOBAL {LIBRARY}_table = '{case.database}.user', GLOBAL {LIBRARY}_rows = {case.rows}"
        )
        server.sql.sql(f"SET GLOBAL {LIBRARY}_lookups = {max(1000, int(run.seconds * 700_000))}")
        lookups, found, cpu_ns = server.sql.sql(
            f"SELECT lookups, found, cpu_ns FROM information_schema.{LIBRARY}"
        )[0]
        if found != lookups:
            raise WrongAnswer(f"{self.name}: {found} of {lookups} rows were found")
        cpu_us = cpu_ns / lookups / 1000 * keys
        return {"protocol": self.name, "keys_per_request": keys, "server_cpu_us_per_request": cpu_us}

    def _install(self, server: Server) -> None:
        plugin = self.servers.environment.floor_plugin
        if LIBRARY in server.warmed or server.sql is None or plugin is None:
            return
        shutil.copy(plugin, Path(str(server.sql.value("SELECT @@plugin_dir"))) / plugin.name)
        server.sql.sql(f"INSTALL SONAME '{LIBRARY}'")
        server.warmed.add(LIBRARY)
