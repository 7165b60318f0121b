# SPDX-License-Identifier: GPL-2.0-only
"""Fetches the servers that RowSocket is measured against, as Debian ships them, into `.rowsocket/peers`; nothing is installed.

With them come the libraries that this machine lacks: apt is asked what it would install.
"""

import tempfile
from pathlib import Path

from rowsocket_x import server_fetch
from rowsocket_x.console import run, step
from rowsocket_x.paths import STATE

PACKAGES = ("memcached", "redis-server", "redis-tools", "sysbench")
PROGRAMS = ("memcached", "redis-server", "sysbench")

TREE = STATE / "peers"


def fetch() -> Path:
    """The tree that holds the programs. Raises `Problem`."""
    if all((TREE / "usr/bin" / program).exists() for program in PROGRAMS):
        return TREE
    STATE.mkdir(exist_ok=True)
    apt = server_fetch.apt()
    apt.prepare()
    if not apt.package_lists():
        with step("fetching the package lists"):
            apt.update()
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=STATE) as scratch, step("downloading " + ", ".join(PROGRAMS)):
        wanted = sorted({*PACKAGES, *apt.would_install(PACKAGES)})
        for package in apt.download(wanted, Path(scratch)):
            run(["dpkg", "-x", package, TREE], what=f"unpacking {package.name}", hints=("is the disk full?",))
    return TREE
