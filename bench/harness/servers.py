# SPDX-License-Identifier: GPL-2.0-only
"""The peers' servers: private ones on core 0, one for each set of options, started when first wanted.

Every database server begins with a copy of the same data directory, which is filled once (data.py). Several
peers and many cases share a server. So its settings and the keys that were inserted are remembered here.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness.environment import Environment

from support.mariadb import HandlerSocketServer, Options, RowSocketServer
from support.ports import free_ports
from support.tree import ServerFailure, ServerTree

ROOT = Path(__file__).resolve().parent.parent.parent
SERVER_CPU = 0
GENERATOR_CPU = 1
START_TIMEOUT_S = 20.0

# The hash index has a cell for every 512 bytes of the buffer pool. They are in parts, and one index uses one
# of them. With a small pool, or many parts, its chains are long: most of every figure is their cache misses.
# A scenario reads one table with one thread: further parts would be memory that no lookup can use.
DATABASE_OPTIONS: Options = {
    "innodb-buffer-pool-size": "2G",
    "innodb-log-file-size": "512M",
    "innodb-adaptive-hash-index": "ON",
    "innodb-adaptive-hash-index-parts": 1,
    "innodb-flush-log-at-trx-commit": 1,
    "bind-address": "127.0.0.1",
    "max-connections": 2000,
    "max-prepared-stmt-count": 1000000,
    "max-allowed-packet": "64M",
    "table-open-cache": 4000,
    "open-files-limit": 32768,
    "back-log": 2000,
    # Every session gets a thread of its own: how a cache of threads does is not what is measured.
    "thread-cache-size": 0,
    # One count per transaction, for "fsyncs per commit".
    "innodb-monitor-enable": "trx_rw_commits",
}


@dataclass
class Server:
    """A running server and what is remembered of it."""

    name: str
    pid: int
    sql: HandlerSocketServer | None = None
    """None = it is no database."""
    port: int = 0
    next_keys: dict[str, int] = field(default_factory=dict)
    """The first unused key, by database (or by what filled it)."""
    warmed: set[str] = field(default_factory=set)
    settings: dict[str, object] = field(default_factory=dict)
    """Global variables as last set."""

    def set_global(self, name: str, value: object) -> None:
        """Set a global variable of the database, unless it is so already."""
        assert self.sql is not None
        if self.settings.get(name) != value:
            self.sql.sql(f"SET GLOBAL {name} = {value}")
            self.settings[name] = value


class OriginalOverTcp(HandlerSocketServer):
    """The original with one thread of each kind, on loopback TCP."""

    def defaults(self) -> dict[str, str | int | None]:
        """Options of mariadbd. The original cannot say which port it got, so they are chosen here."""
        read_port, write_port = free_ports(2)
        return {
            **_over_tcp(super().defaults()),
            "plugin-maturity": "beta",
            "plugin-load-add": "handlersocket",
            "loose-handlersocket-address": "127.0.0.1",
            "loose-handlersocket-port": read_port,
            "loose-handlersocket-port-wr": write_port,
            "loose-handlersocket-threads": 1,
            "loose-handlersocket-threads-wr": 1,
            "loose-handlersocket-plain-secret": "",
            "loose-handlersocket-plain-secret-wr": "",
            "loose-handlersocket-verbose": 0,
        }

    def read_address(self) -> tuple[str, int]:
        """Where reads are served."""
        return ("127.0.0.1", int(str(self.options["loose-handlersocket-port"])))

    def write_address(self) -> tuple[str, int]:
        """Where writes are served."""
        return ("127.0.0.1", int(str(self.options["loose-handlersocket-port-wr"])))


class RowSocketOverTcp(RowSocketServer):
    """RowSocket on loopback TCP and on unix sockets, and SQL beside it."""

    def defaults(self) -> dict[str, str | int | None]:
        """Options of mariadbd."""
        return {
            **_over_tcp(super().defaults()),
            "loose-rowsocket-socket-read": str(self.folder / "rs-read"),
            "loose-rowsocket-socket-write": str(self.folder / "rs-write"),
        }


def _over_tcp(defaults: dict[str, str | int | None]) -> dict[str, str | int | None]:
    [port] = free_ports(1)
    return {
        **{name: value for name, value in defaults.items() if name != "skip-networking"},
        "port": port,
    }


class Servers:
    """Starts servers and ends them all when it is left."""

    def __init__(
        self, environment: Environment, say: Callable[[str], None], template: Callable[[ServerTree], Path]
    ) -> None:
        self.environment = environment
        self.say = say
        self.tree = ServerTree(environment.server_tree)
        self._template = template
        self.warm_up_seconds = 4.0
        self._running: dict[str, Server] = {}
        self._ends = contextlib.ExitStack()
        self.folder = Path(
            self._ends.enter_context(tempfile.TemporaryDirectory(prefix="rs-bench-", dir="/tmp"))
        )

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *unused: object) -> None:
        self._running.clear()
        self._ends.close()

    def database(self, kind: type[HandlerSocketServer], options: Options) -> Server:
        """The database server of this kind with these options. Raises ServerFailure."""
        key = f"{kind.__name__} {sorted(options.items(), key=str)}"
        if key not in self._running:
            self.say(
                f"starting {kind.__name__} {' '.join(f'{name}={value}' for name, value in options.items())}"
            )
            instance = kind(self.tree, self._template(self.tree), {**DATABASE_OPTIONS, **options})
            instance = self._ends.enter_context(instance)
            assert instance.process is not None
            pin(instance.process.pid, [SERVER_CPU])
            self._running[key] = Server(kind.__name__, instance.process.pid, instance)
        return self._running[key]

    def program(
        self, name: str, command: Callable[[int], Sequence[str]], environment: Mapping[str, str] | None = None
    ) -> Server:
        """A server that is no database; `command` makes its command line for a port. Raises ServerFailure."""
        if name not in self._running:
            self.say(f"starting {name}")
            [port] = free_ports(1)
            log = self._ends.enter_context((self.folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(
                list(command(port)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.folder,
            )
            self._ends.callback(_end, process)
            _wait_for_port(name, process, port, Path(log.name))
            pin(process.pid, [SERVER_CPU])
            self._running[name] = Server(name, process.pid, port=port)
        return self._running[name]

    def announced(self, name: str, command: Sequence[str], told: bytes) -> Server:
        """A server that reads `told` to its end, chooses a port, and prints it as its first line."""
        key = f"{name} {told!r}"
        if key not in self._running:
            process = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._ends.callback(_end, process)
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(told)
            process.stdin.close()
            line = process.stdout.readline()
            if not line.strip().isdigit():
                raise ServerFailure(f"{name} does not serve")
            pin(process.pid, [SERVER_CPU])
            self._running[key] = Server(name, process.pid, port=int(line))
        return self._running[key]


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _wait_for_port(name: str, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > deadline_s:
            raise ServerFailure(f"{name} does not serve:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.02)


def pin(pid: int, cores: Iterable[int]) -> None:
    """Keep all threads of a process, and those they will start, on these cores."""
    allowed = set(cores)
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), allowed)
