# SPDX-License-Identifier: GPL-2.0-only
"""Client libraries of Node.js that know nothing of RowSocket: ioredis and node-redis, from npm's registry."""

from __future__ import annotations

import os
from pathlib import Path

from support.commands import run
from support.node_programs import install
from support.resp import RespServer

TOUR = Path(__file__).with_name("node_tour.js")


def test_ioredis_and_node_redis(emptied: RespServer, tmp_path: Path) -> None:
    folder = install(tmp_path, "ioredis@5.4.1", "redis@4.7.1")
    environment = {**os.environ, "NODE_PATH": str(folder / "node_modules")}
    assert run(["node", TOUR, str(emptied.resp_port)], environment=environment) == ""
