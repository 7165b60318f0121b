# SPDX-License-Identifier: GPL-2.0-only
"""Private MariaDB servers for tests.

Every server runs from the unpacked tree that the environment names, on a data directory of its own below /tmp
(short, because the path of a unix socket is limited to 107 bytes), listens on loopback only, and is stopped
by its own process id. The data directory is made once per test session and copied for every further server,
which takes a fraction of a second.

Who starts a server stops it: use it as a context manager, or through the fixtures of tests/conftest.py.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import pymysql

from support.raw import RawConnection
from support.tree import ServerFailure, ServerTree, environment_path

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 120.0
WAIT_TIMEOUT_S = 120.0
"""None of these is waited for when all is well: they say that something hangs, on any machine."""
VALGRIND_FACTOR = 6.0

Options = Mapping[str, str | int | None]
Row = tuple[Any, ...]


class MariaDB:
    """One running server. `options` are mariadbd's own, without the dashes; a value of None stands for a bare
    flag."""

    def __init__(
        self,
        tree: ServerTree,
        template: Path,
        options: Options | None = None,
        *,
        valgrind: Sequence[str] | None = None,
    ) -> None:
        self.tree = tree
        self.template = template
        self.folder = Path(tempfile.mkdtemp(prefix="rs-", dir="/tmp"))
        self.data = self.folder / "data"
        self.socket = self.folder / "sql"
        self.error_log = self.folder / "error.log"
        self.options: dict[str, str | int | None] = {**self.defaults(), **(options or {})}
        self.valgrind = valgrind
        self.process: subprocess.Popen[bytes] | None = None
        self._session: pymysql.connections.Connection[pymysql.cursors.Cursor] | None = None
        self._session_lock = threading.Lock()
        self.killed_in: set[Path] = set()
        """Files of the binlog in which `crash` found the server writing."""
        (self.folder / "tmp").mkdir()
        shutil.copytree(template, self.data)

    def defaults(self) -> dict[str, str | int | None]:
        """Options of every server: small, on loopback, with a binlog that does not by itself choose row
        events."""
        return {
            "datadir": str(self.data),
            "tmpdir": str(self.folder / "tmp"),
            "socket": str(self.socket),
            "pid-file": str(self.folder / "pid"),
            "log-error": str(self.error_log),
            "skip-networking": None,
            "server-id": 1,
            "log-bin": "binlog",
            "binlog-format": "MIXED",
            "innodb-buffer-pool-size": "64M",
            "innodb-log-file-size": "8M",
            "innodb-undo-tablespaces": 0,
            "innodb-flush-log-at-trx-commit": 2,
            # Else InnoDB may take old log for new after a kill -9: see the known faults in docs/operating.md.
            "innodb-log-file-buffering": "ON",
            "innodb-adaptive-hash-index": "ON",
            "performance-schema": "OFF",
            "character-set-server": "utf8mb4",
            "plugin-dir": str(self.tree.plugins),
        }

    def environment(self) -> dict[str, str]:
        """The variables of the process."""
        return self.tree.environment()

    # ── start and stop ──────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start and wait until SQL is served; raises ServerFailure with the error log."""
        prefix = (
            ["valgrind", *self.valgrind, f"--log-file={self.folder / 'valgrind.log'}"]
            if self.valgrind is not None
            else []
        )
        options = [
            f"--{name}" if value is None else f"--{name}={value}" for name, value in self.options.items()
        ]
        command = [*prefix, str(self.tree.mariadbd), *self.tree.arguments(), *options]
        with (self.folder / "output.log").open("ab") as output:
            self.process = subprocess.Popen(
                command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        self.wait_until("serves SQL", self._serves_sql, START_TIMEOUT_S)

    def _serves_sql(self) -> bool:
        try:
            self.connect().close()
        except pymysql.err.OperationalError:
            return False
        return True

    def wait_until(self, what: str, condition: Callable[[], bool], timeout_s: float = WAIT_TIMEOUT_S) -> None:
        """Poll until `condition` holds; raises ServerFailure after `timeout_s` seconds, or when the server
        ends before."""
        deadline = time.monotonic() + timeout_s * (VALGRIND_FACTOR if self.valgrind is not None else 1)
        while not condition():
            if not self.alive():
                raise ServerFailure(
                    f"the server ended ({self.exit_text()}) before it {what}\n{self.log_tail()}"
                )
            if time.monotonic() > deadline:
                raise ServerFailure(
                    f"the server has not come to this in {timeout_s} s: {what}\n{self.log_tail()}"
                )
            time.sleep(0.01)

    def alive(self) -> bool:
        """True while the process runs."""
        return self.process is not None and self.process.poll() is None

    def exit_text(self) -> str:
        """How the process ended."""
        code = self.process.poll() if self.process else None
        return (
            f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
        )

    def stop(self) -> None:
        """Shut down as an operator would; raises ServerFailure if the server had died, does not end, or ends
        badly."""
        if self.process is None:
            return
        self._close_session()
        process = self.process
        died = process.poll() is not None
        if not died:
            process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(STOP_TIMEOUT_S * (VALGRIND_FACTOR if self.valgrind is not None else 1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.process = None
            raise ServerFailure(
                f"the server did not shut down in {STOP_TIMEOUT_S} s\n{self.log_tail()}"
            ) from None
        text = self.exit_text()
        self.process = None
        if died or code != 0:
            raise ServerFailure(
                f"the server {'died' if died else 'shut down badly'}: {text}\n{self.log_tail()}"
            )

    def crash(self) -> None:
        """Kill the process where it stands; `start` brings it back on the same data."""
        self._close_session()
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            self.killed_in.update(sorted(self.data.glob("binlog.[0-9]*[0-9]"))[-1:])

    def restart(self, options: Options | None = None) -> None:
        """Stop, change options, start on the same data."""
        self.stop()
        self.options.update(options or {})
        self.start()

    def remove(self) -> None:
        """Stop and delete the data directory."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            if self.process is not None:
                self.process.kill()
                self.process.wait()
                self.process = None
            self.remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    # ── SQL ─────────────────────────────────────────────────────────────────────────────────────────────────

    def connect(
        self, database: str | None = None, read_timeout_s: float = 120
    ) -> pymysql.connections.Connection[pymysql.cursors.Cursor]:
        """A new SQL connection as root, autocommit, utf8mb4; raises pymysql.err.OperationalError."""
        return pymysql.connect(
            unix_socket=str(self.socket),
            user="root",
            database=database,
            autocommit=True,
            charset="utf8mb4",
            read_timeout=read_timeout_s,
        )

    def sql(
        self, statement: str, parameters: Sequence[object] | None = None, database: str | None = None
    ) -> list[Row]:
        """Execute one statement; the rows. Thread-safe; leave no state in the session, which all callers
        share.

        Raises pymysql.err.MySQLError.
        """
        with self._session_lock:
            if self._session is None or not self._session.open:  # what cut a statement closed it
                self._session = self.connect()
            with self._session.cursor() as cursor:
                if database is not None:
                    self._session.select_db(database)
                cursor.execute(statement, parameters)
                return list(cursor.fetchall())

    def _close_session(self) -> None:
        with self._session_lock:
            if self._session is not None:
                with contextlib.suppress(pymysql.err.Error, OSError):
                    self._session.close()
                self._session = None

    def value(self, query: str, parameters: Sequence[object] | None = None) -> Any:
        """The first value of the first row."""
        return self.sql(query, parameters)[0][0]

    def status(self, pattern: str) -> dict[str, str]:
        """SHOW GLOBAL STATUS LIKE pattern."""
        return {str(name): str(value) for name, value in self.sql("SHOW GLOBAL STATUS LIKE %s", [pattern])}

    # ── what it says and costs ──────────────────────────────────────────────────────────────────────────────

    def log_text(self) -> str:
        """The whole error log."""
        return self.error_log.read_text(errors="replace") if self.error_log.exists() else ""

    def log_tail(self, line_count: int = 60) -> str:
        """The last lines of the error log and of what the process printed."""
        output = self.folder / "output.log"
        text = self.log_text() + (output.read_text(errors="replace") if output.exists() else "")
        return "\n".join([f"--- error log of {self.folder} ---", *text.splitlines()[-line_count:]])

    def memory_bytes(self) -> int:
        """Resident memory of the server process."""
        return self._memory("VmRSS")

    def memory_peak_bytes(self) -> int:
        """The most resident memory that the server process has had."""
        return self._memory("VmHWM")

    def _memory(self, name: str) -> int:
        assert self.process is not None
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
        raise ServerFailure(f"no {name}: the server has ended")


class HandlerSocketServer(MariaDB):
    """A server that answers the HandlerSocket protocol, whoever implements it there."""

    @property
    def resp_port(self) -> int:
        """The TCP port that serves RESP for tables; 0 = none."""
        return int(self.status("Rowsocket_port_resp")["Rowsocket_port_resp"])

    def read_address(self) -> tuple[str, int] | str:
        """Where reads are served: (address, TCP port) or the path of a unix socket."""
        raise NotImplementedError

    def write_address(self) -> tuple[str, int] | str:
        """Where writes are served."""
        raise NotImplementedError

    def raw(self, port: str, tls: ssl.SSLContext | None = None) -> RawConnection:
        """A new raw connection to the "read" or the "write" port."""
        return RawConnection(self.read_address() if port == "read" else self.write_address(), tls=tls)


class RowSocketServer(HandlerSocketServer):
    """A server with rowsocket.so, on ports that the system chose."""

    def defaults(self) -> dict[str, str | int | None]:
        return {
            **super().defaults(),
            "plugin-dir": self.plugin_folder(),
            "plugin-maturity": "experimental",
            "plugin-load-add": "rowsocket",
            "loose-rowsocket-port-read": 0,
            "loose-rowsocket-port-write": 0,
            "loose-rowsocket-anonymous-account": "root@localhost",  # who logs in says so
            "loose-rowsocket-threads-write": 2,  # on any machine: what writers do to each other is to be seen
        }

    def plugin_folder(self) -> str:
        """The server loads plugins from one folder only: one with the tree's own plugins and ours."""
        folder = self.folder / "plugins"
        folder.mkdir()
        for plugin in [
            *self.tree.plugins.glob("*.so"),
            environment_path("ROWSOCKET_PLUGIN_DIR") / "rowsocket.so",
        ]:
            (folder / plugin.name).symlink_to(plugin)
        return str(folder)

    @property
    def read_port(self) -> int:
        """The TCP port that serves reads."""
        return int(self.status("Rowsocket_port_read")["Rowsocket_port_read"])

    @property
    def write_port(self) -> int:
        """The TCP port that serves writes."""
        return int(self.status("Rowsocket_port_write")["Rowsocket_port_write"])

    @property
    def memcached_port(self) -> int:
        """The TCP port that serves the memcached protocol; 0 = none."""
        return int(self.status("Rowsocket_port_memcached")["Rowsocket_port_memcached"])

    def read_address(self) -> tuple[str, int]:
        return ("127.0.0.1", self.read_port)

    def write_address(self) -> tuple[str, int]:
        return ("127.0.0.1", self.write_port)

    def counter(self, name: str) -> int:
        """The status value `Rowsocket_<name>`."""
        return int(self.status(f"Rowsocket_{name}")[f"Rowsocket_{name}"])


class DrilledServer(RowSocketServer):
    """A server whose requests wait until a stand-in has their worker, though they need not
    (src/server/drill.h)."""

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "ROWSOCKET_STAND_IN_DRILL": "1"}


class OriginalServer(HandlerSocketServer):
    """A server with the original handlersocket.so, on unix sockets: the reference for compatibility.

    It is asked only what it survives; `raise_if_dead` in the vectors says otherwise.
    """

    def defaults(self) -> dict[str, str | int | None]:
        return {
            **super().defaults(),
            "plugin-maturity": "beta",
            "plugin-load-add": "handlersocket",
            "loose-handlersocket-address": "/",
            "loose-handlersocket-port": str(self.folder / "hs-read"),
            "loose-handlersocket-port-wr": str(self.folder / "hs-write"),
            "loose-handlersocket-threads": 2,
            "loose-handlersocket-plain-secret": "",
            "loose-handlersocket-plain-secret-wr": "",
            "loose-handlersocket-verbose": 0,
        }

    def read_address(self) -> str:
        return str(self.options["loose-handlersocket-port"])

    def write_address(self) -> str:
        return str(self.options["loose-handlersocket-port-wr"])


AnyServer = TypeVar("AnyServer", bound=MariaDB)


class Start(Protocol):
    """What the fixture `start` is: start a further server for this test."""

    def __call__(
        self, kind: type[AnyServer], options: Options | None = None, *, valgrind: Sequence[str] | None = None
    ) -> AnyServer: ...


class Database:
    """A database of one test: fresh, and dropped at its end."""

    def __init__(self, server: MariaDB, name: str) -> None:
        self.server = server
        self.name = name
        self._connection = server.connect()
        self.sql(f"CREATE DATABASE `{name}`")
        self.sql(f"USE `{name}`")

    def sql(self, statement: str, parameters: Sequence[object] | None = None) -> list[Row]:
        """Execute one statement with this database as the default; the rows. Raises
        pymysql.err.MySQLError."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    def script(self, statements: str) -> None:
        """Execute statements separated by lines that end with a semicolon."""
        for statement in filter(str.strip, statements.split(";\n")):
            self.sql(statement.strip().rstrip(";"))

    def value(self, query: str, parameters: Sequence[object] | None = None) -> Any:
        """The first value of the first row."""
        return self.sql(query, parameters)[0][0]

    @contextlib.contextmanager
    def session(self) -> Iterator[pymysql.cursors.Cursor]:
        """A second SQL session in this database, for what happens beside."""
        with contextlib.closing(self.server.connect(self.name)) as connection, connection.cursor() as cursor:
            yield cursor

    def drop(self) -> None:
        """Drop the database; whoever still holds a lock on its tables makes this fail after 60 seconds."""
        self._connection.close()  # and with it what a test that failed has left: locks, a backup's stage
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION lock_wait_timeout = 60")
            cursor.execute(f"DROP DATABASE `{self.name}`")
