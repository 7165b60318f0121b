# SPDX-License-Identifier: GPL-2.0-only
"""The command `rowsocket` and its page, docs/command.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from support.mariadb import RowSocketServer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/command.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATABASE = "shop"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def blocks(language: str) -> list[str]:
    """The code blocks of the page."""
    return [str(text) for name, text in BLOCK.findall(PAGE) if name == language]


def sql_url(server: RowSocketServer) -> str:
    """How the command reaches SQL."""
    return f"mysql://root@/?unix_socket={server.socket}"


def runner(server: RowSocketServer, database: str = DATABASE, **always: str) -> Run:
    """run("get", "user", "1"): the command, with its output."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
        "ROWSOCKET_URL": f"rowsocket://127.0.0.1:{server.write_port}/{database}",
        **always,
    }

    def one(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rowsocket", *words],
            env={**environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return one
