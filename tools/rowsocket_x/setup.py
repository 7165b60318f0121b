# SPDX-License-Identifier: GPL-2.0-only
"""`./x setup`: everything that a build and a run need, each thing only where it is missing."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from rowsocket_x import machine, server_fetch
from rowsocket_x.paths import STATE


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    STATE.mkdir(exist_ok=True)
    with (STATE / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def packages() -> None:
    """The system packages alone: enough for a build without a server."""
    with _one_at_a_time():
        machine.install_missing_packages()


def everything(*, renew: bool = False) -> server_fetch.Server:
    """System packages, the matched server and its headers. Fast when all of it is there."""
    with _one_at_a_time():
        machine.install_missing_packages()
        return server_fetch.fetch(renew=renew)
