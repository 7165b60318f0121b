# SPDX-License-Identifier: GPL-2.0-only
"""Who is measured. A new peer is one file of this folder and its line in `make`."""

from __future__ import annotations

from bench.harness.peers.base import Peer
from bench.harness.peers.echo import Echo
from bench.harness.peers.handler_floor import HandlerFloor
from bench.harness.peers.key_value import COMMANDS, KeyValuePeer
from bench.harness.peers.original import Original
from bench.harness.peers.other_doors import DOORS, OtherDoor
from bench.harness.peers.rowsocket import SETTINGS, RowSocket
from bench.harness.peers.sql import Sql
from bench.harness.peers.sysbench import Sysbench
from bench.harness.servers import Servers


def make(servers: Servers) -> dict[str, Peer]:
    """All peers, by name. None of them starts anything before it is asked to measure."""
    peers: list[Peer] = [
        *(RowSocket(servers, name, options) for name, options in SETTINGS.items()),
        Original(servers),
        Sql(servers, "sql-prepared"),
        Sql(servers, "sql-text"),
        *(KeyValuePeer(servers, name) for name in COMMANDS),
        *(OtherDoor(servers, name) for name in DOORS),
        Sysbench(servers),
        Echo(servers),
        HandlerFloor(servers),
    ]
    return {peer.name: peer for peer in peers}
