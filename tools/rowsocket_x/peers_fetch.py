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

MONITORS = ("prometheus", "prometheus-mysqld-exporter", "prometheus-node-exporter")
"""What watches a server. Their programs have the names of their packages, and need no library of others."""

TREE = STATE / "peers"
MONITORS_TREE = STATE / "monitors"


def fetch_monitors() -> Path:
    """The tree that holds Prometheus (with promtool) and its exporters. Raises `Problem`."""
    if not all((MONITORS_TREE / "usr/bin" / program).exists() for program in MONITORS):
        apt = server_series.apt()
        apt.require_lists()
        with step("downloading " + ", ".join(MONITORS)):
            apt.unpack(MONITORS, MONITORS_TREE)
    return MONITORS_TREE


def fetch() -> Path:
    """The tree that holds the programs. Raises `Problem`."""
    if not all((TREE / "usr/bin" / program).exists() for program in PROGRAMS):
        apt = server_series.apt()
        apt.require_lists()
        with step("downloading " + ", ".join(PROGRAMS)):
            apt.unpack(sorted({*PACKAGES, *apt.would_install(PACKAGES)}), TREE)
    return TREE
