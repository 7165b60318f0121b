# SPDX-License-Identifier: GPL-2.0-only
"""A client library of Go that knows nothing of RowSocket: go-redis, with RESP2 and RESP3."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.go_programs import build
from support.resp import RespServer

SOURCE = Path(__file__).parent / "go_redis"


def test_go_redis(emptied: RespServer, tmp_path: Path) -> None:
    program = build(SOURCE, tmp_path / "go_redis")
    done = subprocess.run(
        [program, f"127.0.0.1:{emptied.resp_port}"], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
