# SPDX-License-Identifier: GPL-2.0-only
"""Fetches the servers that RowSocket is measured against, as Debian ships them, into `.rowsocket/peers`; and
programs of others that its tests run.

With them come the libraries that this machine lacks: apt is asked what it would install.
"""

from pathlib import Path

from rowsocket_x import server_series
from rowsocket_x.console import step
from rowsocket_x.paths import STATE

PACKAGES = ("memcached", "libmemcached-tools", "redis-server", "redis-tools", "sysbench", "fio")
PROGRAMS = ("memcached", "memccapable", "redis-server", "sysbench", "fio")

TREE = STATE / "peers"


def fetch() -> Path:
    """The tree that holds the programs. Raises `Problem`."""
    if not all((TREE / "usr/bin" / program).exists() for program in PROGRAMS):
        apt = server_series.apt()
        apt.require_lists()
        with step("downloading " + ", ".join(PROGRAMS)):
            apt.unpack(sorted({*PACKAGES, *apt.would_install(PACKAGES)}), TREE)
    return TREE
