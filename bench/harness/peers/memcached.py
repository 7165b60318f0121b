# SPDX-License-Identifier: GPL-2.0-only
"""memcached, one thread, because it has one core."""

from __future__ import annotations

from bench.harness.peers.key_value import KeyValuePeer
from bench.harness.servers import Servers


class Memcached(KeyValuePeer):
    """memcached."""

    program = "memcached"

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "memcached")

    def command(self, program: str, port: int) -> list[str]:
        """4 GiB, so that nothing is evicted."""
        return [program, "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-c", "4096", "-m", "4096"]
