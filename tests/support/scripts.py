# SPDX-License-Identifier: GPL-2.0-only
"""Scripts of SQL, with DELIMITER, as the client `mariadb` takes them."""

from __future__ import annotations

import subprocess

from support.mariadb import MariaDB


def feed(server: MariaDB, statements: str) -> None:
    """Pipe them into the client `mariadb`. Raises CalledProcessError."""
    client = str(server.tree.program("mariadb"))
    command = [client, "--no-defaults", f"--socket={server.socket}", "--user=root"]
    environment = server.tree.environment()
    subprocess.run(command, input=statements, text=True, check=True, env=environment, timeout=60)
