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


def environment_of(server: RowSocketServer, database: str = DATABASE, **more: str) -> dict[str, str]:
    """What the command is told of a server."""
    url = f"rowsocket://127.0.0.1:{server.write_port}/{database}"
    return {**environment(), "ROWSOCKET_URL": url, **more}


def environment() -> dict[str, str]:
    """That of a command that is told of no server."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}


def runner(server: RowSocketServer, database: str = DATABASE, **always: str) -> Run:
    """run("get", "user", "1"): the command, with its output."""
    return command_runner(**environment_of(server, database, **always))


def command_runner(**always: str) -> Run:
    """The same of no server."""

    def one(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rowsocket", *words],
            env={**environment(), **always, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return one
