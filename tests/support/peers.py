# SPDX-License-Identifier: GPL-2.0-only
"""memcached and Redis themselves, as Debian ships them: one program each, on a unix socket of its own."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from support.raw import RawConnection
from support.tree import ServerFailure, peer_program

START_TIMEOUT_S = 60.0

OPTIONS = {
    "memcached": "-u root -s {socket} -t 1 -m 256",
    "redis-server": "--port 0 --unixsocket {socket} --save  --appendonly no --dir {folder}",
}


@contextlib.contextmanager
def peer(name: str) -> Iterator[str]:
    """A running program of OPTIONS: the path of its socket. Raises ServerFailure if it does not serve."""
    with tempfile.TemporaryDirectory(prefix="rs-peer-", dir="/tmp") as folder:
        socket = f"{folder}/socket"
        options = OPTIONS[name].format(socket=socket, folder=folder).split(" ")
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen([*peer_program(name), *options], stdout=output, stderr=output)
        try:
            _wait_until_it_serves(socket, log)
            yield socket
        finally:
            process.kill()
            process.wait()


def _wait_until_it_serves(socket: str, log: Path) -> None:
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s:
        with contextlib.suppress(OSError):
            RawConnection(socket).close()
            return
        time.sleep(0.01)
    raise ServerFailure(f"no one listens on {socket}: {log.read_text()}")
