# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket's doors for clients of memcached and of Redis, with one thread because it has one core.

Their rows are those of the benchmark's tables. The container `default` is of the case's table.
"""

from __future__ import annotations

import socket
import time

from bench.harness.measuring import Target
from bench.harness.peers.database import DatabasePeer, options_of
from bench.harness.peers.rowsocket import ONE_THREAD
from bench.harness.scenario import Case
from bench.harness.servers import RowSocketOverTcp, Server
from bench.traffic.protocol import dial
from bench.traffic.workloads import Workload

from support.mariadb import Options
from support.memcached import CONTAINERS, CREATE_CONTAINERS
from support.tree import ServerFailure

DOORS = {"rowsocket-memcached": "memcached", "rowsocket-resp": "resp", "rowsocket-hash": "resp"}
OPTIONS: Options = {
    **ONE_THREAD,
    "loose-rowsocket-port-memcached": 0,
    "loose-rowsocket-port-resp": 0,
    "loose-rowsocket-containers": CONTAINERS,
}
SERVED_WITHIN_S = 10.0


class OtherDoor(DatabasePeer):
    """One of them; its name is the protocol's."""

    def database_server(self, case: Case) -> Server:
        """A server with the plugin, and with these doors open."""
        return self.servers.database(RowSocketOverTcp, {**options_of(case, binlog=case.binlog), **OPTIONS})

    def target(self, case: Case) -> Target:
        """The door."""
        server = self.prepared(case)
        sql = server.sql
        assert isinstance(sql, RowSocketOverTcp)
        _contain(server, sql, case.database, case.asked())
        port = sql.memcached_port if DOORS[self.name] == "memcached" else sql.resp_port
        return self.target_at(case, server, ("127.0.0.1", port))


def _contain(server: Server, sql: RowSocketOverTcp, database: str, workload: Workload) -> None:
    """Make the workload's table the default container, and wait until it is. Raises ServerFailure."""
    table = workload.table
    container = f"{database}/{table.name}"
    if server.settings.get("container") == container:
        return
    sql.sql("CREATE DATABASE IF NOT EXISTS innodb_memcache")
    sql.sql(CREATE_CONTAINERS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))
    values = "|".join(workload.requests[0].value_columns.split(","))
    sql.sql(
        f"REPLACE INTO {CONTAINERS} VALUES ('default', %s, %s, %s, %s, '0', NULL, NULL, 'PRIMARY')",
        [database, table.name, next(iter(table.columns)), values],
    )
    deadline_s = time.monotonic() + SERVED_WITHIN_S
    with dial(("127.0.0.1", sql.memcached_port)) as connection:
        while container.encode() not in _ask(connection, b"get @@default\r\n"):
            if time.monotonic() > deadline_s:
                raise ServerFailure(f"RowSocket does not serve the container {container}")
            time.sleep(0.05)
    server.settings["container"] = container


def _ask(connection: socket.socket, command: bytes) -> bytes:
    """The reply, of which an END or an error is the last line."""
    connection.sendall(command)
    reply = b""
    while not reply.endswith(b"END\r\n") and b"ERROR" not in reply:
        reply += connection.recv(1000)
    return reply
