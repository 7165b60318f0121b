# SPDX-License-Identifier: GPL-2.0-only
"""Redis without persistence: it keeps nothing over a restart, so beside writes it stands for "memory only"."""

from __future__ import annotations

from bench.harness.peers.key_value import KeyValuePeer
from bench.harness.servers import Servers


class Redis(KeyValuePeer):
    """redis-server."""

    program = "redis-server"

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "redis")

    def command(self, program: str, port: int) -> list[str]:
        """No snapshots and no append-only file."""
        options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--maxclients", "4096"]
        return [program, *options]
