# SPDX-License-Identifier: GPL-2.0-only
"""TCP ports that a test chooses itself, as more than one program has to know them before any listens.

A port that the system hands out and takes back may be handed out again before it is used: to a server of a
test that runs beside, or to any client. So these lie outside of the range that the system hands out from, and
each belongs to one process of the tests for as long as that lives.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

_HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 15_000
_HIGHEST = 65_535
_TRIES = 10_000

_claims: list[socket.socket] = []
"""Names of unix sockets, which the kernel gives back at the end of the process."""


def free_ports(count: int) -> list[int]:
    """Different TCP ports of loopback that nobody uses, or chooses here, while this process lives.

    Raises AssertionError where there are too few.
    """
    found: list[int] = []
    candidates = _candidates()
    for port in random.SystemRandom().sample(candidates, min(len(candidates), _TRIES)):
        if len(found) == count:
            break
        if _is_free(port) and _claim(port):
            found.append(port)
    assert len(found) == count, f"no {count} free ports of loopback"
    return found


def _candidates() -> list[int]:
    """Those that the system hands to nobody; all of them where it hands out nearly every one."""
    first, last = map(int, _HANDED_OUT.read_text().split())
    return [port for port in range(_LOWEST, _HIGHEST) if not first <= port <= last] or list(
        range(_LOWEST, _HIGHEST)
    )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _claim(port: int) -> bool:
    """Keep others that choose in this way from it."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0rowsocket-test-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True
