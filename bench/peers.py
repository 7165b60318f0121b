# SPDX-License-Identifier: GPL-2.0-only
"""The servers that compare.py measures: private ones, each with the same million rows, all on one core.

Every peer has one thread for reads and one for writes, because it has one core. The rows are made once and copied for each
server. What stands in a row is said in user_table.h, by which the generator checks every answer.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.mariadb import (  # noqa: E402
    HandlerSocketServer,
    MariaDB,
    Options,
    RowSocketServer,
    ServerFailure,
    ServerTree,
    environment_path,
    initialise,
)

# The hash index has a cell for every 512 bytes of the buffer pool, in eight parts of which one index uses one: with a small pool
# its chains are long, and every figure is mostly their cache misses. 2 GiB gives a million rows half a million cells.
SERVER_OPTIONS: Options = {
    "skip-log-bin": None,
    "innodb-buffer-pool-size": "2G",
    "innodb-log-file-size": "256M",
    "innodb-flush-log-at-trx-commit": 1,
    "innodb-adaptive-hash-index": "ON",
}


@dataclass(frozen=True)
class Peer:
    """A running server, as the generator sees it."""

    name: str
    protocol: str
    pid: int
    read_port: int
    write_port: int
    sql: MariaDB | None = None  # None = it has no rows that could be counted


class OriginalOverTcp(HandlerSocketServer):
    """The original with one thread of each kind, on loopback TCP."""

    def defaults(self) -> dict[str, str | int | None]:
        """Options of mariadbd. The original cannot say which port it got, so they are chosen here."""
        return {
            **super().defaults(),
            "plugin-maturity": "beta",
            "plugin-load-add": "handlersocket",
            "loose-handlersocket-address": "127.0.0.1",
            "loose-handlersocket-port": free_port(),
            "loose-handlersocket-port-wr": free_port(),
            "loose-handlersocket-threads": 1,
            "loose-handlersocket-threads-wr": 1,
            "loose-handlersocket-plain-secret": "",
            "loose-handlersocket-plain-secret-wr": "",
            "loose-handlersocket-verbose": 0,
            **SERVER_OPTIONS,
        }

    def read_address(self) -> tuple[str, int]:
        """Where reads are served."""
        return ("127.0.0.1", int(str(self.options["loose-handlersocket-port"])))

    def write_address(self) -> tuple[str, int]:
        """Where writes are served."""
        return ("127.0.0.1", int(str(self.options["loose-handlersocket-port-wr"])))


class RowSocketOverTcp(RowSocketServer):
    """RowSocket with one thread of each kind, on loopback TCP."""

    def defaults(self) -> dict[str, str | int | None]:
        """Options of mariadbd."""
        return {
            **super().defaults(),
            "loose-rowsocket-threads-read": 1,
            "loose-rowsocket-threads-write": 1,
            **SERVER_OPTIONS,
        }


def server_tree() -> ServerTree:
    """The unpacked server that ROWSOCKET_SERVER_TREE names; raises ServerFailure if it is not there."""
    return ServerTree(environment_path("ROWSOCKET_SERVER_TREE"))


def free_port() -> int:
    """A loopback TCP port that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pin(pid: int, cpu: int) -> None:
    """Keep all threads of a process, and those they will start, on one core."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), {cpu})


@contextlib.contextmanager
def filled_data(tree: ServerTree, row_count: int) -> Iterator[Path]:
    """A data directory with `row_count` rows in bench.user, to be copied; removed at the end. Raises ServerFailure."""
    folder = Path(tempfile.mkdtemp(prefix="rs-bench-", dir="/tmp"))
    try:
        initialise(tree, folder / "empty")
        server = MariaDB(tree, folder / "empty", SERVER_OPTIONS)
        try:
            server.start()
            fill(server, row_count)
            server.stop()
            shutil.copytree(server.data, folder / "filled")
        finally:
            server.remove()
        yield folder / "filled"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(server: MariaDB, row_count: int) -> None:
    """Make the `user` table with keys 1..row_count; user_table.h says what its rows hold."""
    server.sql("CREATE DATABASE bench")
    server.sql(
        "CREATE TABLE bench.user (user_id INT UNSIGNED PRIMARY KEY, user_name VARCHAR(50), user_email VARCHAR(255),"
        " created DATETIME) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
    )
    server.sql(
        "INSERT INTO bench.user SELECT seq, CONCAT('user', seq), CONCAT('user', seq, '@example.com'),"
        f" '2026-01-01' + INTERVAL seq % 86400 SECOND FROM seq_1_to_{row_count}",
        database="bench",
    )


def warm(server: MariaDB) -> None:
    """Bring every page of the table into the buffer pool."""
    server.sql("SELECT SUM(LENGTH(user_email)) FROM bench.user")


def port_of(address: tuple[str, int] | str) -> int:
    """The port of a TCP address."""
    assert isinstance(address, tuple)
    return address[1]


@contextlib.contextmanager
def database_peer(name: str, server: HandlerSocketServer, cpu: int) -> Iterator[Peer]:
    """Start a server, warm it and pin it to a core; stopped and removed at the end. Raises ServerFailure."""
    with server:
        warm(server)
        assert server.process is not None
        pin(server.process.pid, cpu)
        try:
            ports = port_of(server.read_address()), port_of(server.write_address())
        except KeyError:
            raise ServerFailure(f"{name} is not loaded\n{server.log_tail()}") from None
        yield Peer(name, "handlersocket", server.process.pid, *ports, server)


@contextlib.contextmanager
def floor_peer(program: Path, cpu: int) -> Iterator[Peer]:
    """Start the echo server on a core; killed at the end."""
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            pin(process.pid, cpu)
            yield Peer("floor", "floor", process.pid, port, port)
        finally:
            process.kill()
