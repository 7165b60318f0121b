# SPDX-License-Identifier: GPL-2.0-only
"""One private MariaDB server, run from an unpacked tree on a folder of its own.

    DIR/mariadb/      the data directory
    DIR/plugins/      links to the server's own plugins and to rowsocket.so, as a server loads from one folder
    DIR/run/          sockets and pid file; elsewhere when DIR is too long for a socket's path
    DIR/error.log     the server's log
    DIR/server.cnf    settings, with the user's own file included last

The server is a child in a session of its own: Ctrl-C reaches only us, and it is told to stop when we die for
whatever reason.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeAlias

import pymysql

from rowsocket_x.console import Problem, run, tail

SOCKET_PATH_BYTES_MAX = 107
START_SECONDS_MAX = 120.0
FREE_BYTES_MIN = 1 << 30

WITH_PARENT = ("setpriv", "--pdeathsig", "TERM", "--")
"""Before a command: the kernel ends it when we die for whatever reason, so that no server is left behind."""

_SETTINGS = """\
# Made by ./x run at each start; put your own settings into a file and name it with --config.
[mariadbd]
bind-address = 127.0.0.1
character-set-server = utf8mb4
innodb-buffer-pool-size = 256M
skip-name-resolve
"""

Connection: TypeAlias = "pymysql.connections.Connection[pymysql.cursors.Cursor]"


class Instance:
    """A server on `folder`: `with Instance(...) as server: server.start(...)` stops it at the end."""

    def __init__(self, tree: Path, folder: Path, *, config: Path | None = None) -> None:
        self.tree = tree
        self.folder = folder.resolve()
        self.config = config
        self.data = self.folder / "mariadb"
        self.error_log = self.folder / "error.log"
        self.run_folder = self.folder / "run"
        self.process: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None
        self._short_folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        self._claim()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self._short_folder is not None:
            self._short_folder.cleanup()
        if self._lock is not None:
            self._lock.close()

    def socket_path(self, name: str) -> Path:
        """Where the unix socket `name` (sql, read or write) lies."""
        return self.run_folder / f"{name}.sock"

    def initialise(self) -> bool:
        """Make the data directory where there is none yet; whether it was made.

        It appears only when it is whole.
        """
        if self.data.is_dir():
            return False
        scratch = self.folder / "mariadb.new"
        shutil.rmtree(scratch, ignore_errors=True)
        # The server's script cannot stand spaces in paths, so it gets to see ours through links that have
        # none.
        with tempfile.TemporaryDirectory(prefix="rowsocket-", dir="/tmp") as links_name:
            tree, folder = Path(links_name) / "tree", Path(links_name) / "folder"
            tree.symlink_to(self.tree.resolve())
            folder.symlink_to(self.folder)
            command: list[str | Path] = [
                tree / "usr/bin/mariadb-install-db",
                "--no-defaults",
                *_tree_options(tree),
            ]
            command += [f"--datadir={folder / scratch.name}", "--auth-root-authentication-method=normal"]
            command += ["--skip-test-db", "--skip-name-resolve"]
            run(command, what="making the data directory", hints=("is the disk full?",))
        scratch.rename(self.data)
        return True

    def start(self, port: int, plugin: Path, options: Mapping[str, str | int]) -> None:
        """Start on a TCP port with a plugin loaded, and wait until SQL is served.

        Raises `Problem` with what the log says.
        """
        self._link_plugins(plugin)
        settings = self.folder / "server.cnf"
        settings.write_text(_SETTINGS + (f"!include {self.config.resolve()}\n" if self.config else ""))
        owned: dict[str, str | int | Path] = {
            "datadir": self.data,
            "socket": self.socket_path("sql"),
            "port": port,
            "pid-file": self.run_folder / "server.pid",
            "log-error": self.error_log,
            "plugin-dir": self.folder / "plugins",
            "plugin-maturity": "experimental",
            "plugin-load-add": plugin.stem,
            **options,
        }
        words = [f"--{name}={value}" for name, value in owned.items()]
        program = self.tree / "usr/sbin/mariadbd"
        self.error_log.unlink(missing_ok=True)
        with (self.folder / "output.log").open("wb") as output:
            self.process = subprocess.Popen(
                [*WITH_PARENT, program, f"--defaults-file={settings}", *_tree_options(self.tree), *words],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._wait_for("SQL is served", self._answers)

    def connect(self) -> Connection:
        """A SQL connection as root over the unix socket."""
        return pymysql.connect(
            unix_socket=str(self.socket_path("sql")), user="root", charset="utf8mb4", autocommit=True
        )

    def variables(self, statement: str) -> dict[str, str]:
        """The rows of a SHOW VARIABLES or SHOW STATUS statement."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return {str(name): str(value) for name, value in cursor.fetchall()}

    def stop(self) -> None:
        """Shut down and wait for the end. A signal to us meanwhile kills the server."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def log_tail(self, lines: int = 15) -> str:
        """What the server said last."""
        return tail(self.error_log, lines) or tail(self.folder / "output.log", lines)

    def _claim(self) -> None:
        """Make the folder ours: nobody else's files in it, nobody else serving from it, room on its disk."""
        if (
            self.folder.is_dir()
            and any(self.folder.iterdir())
            and not (self.folder / "rowsocket.lock").exists()
        ):
            raise Problem(
                f"{self.folder} holds other files",
                "give --data a new or empty folder, or one that ./x run made",
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = (self.folder / "rowsocket.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(
                f"another ./x run serves from {self.folder}", "stop it, or use another --data folder"
            ) from None
        free_bytes = shutil.disk_usage(self.folder).free
        if free_bytes < FREE_BYTES_MIN:
            raise Problem(
                f"only {free_bytes >> 20} MiB are free on the disk of {self.folder}",
                "1 GiB is needed: make room, or use --data",
            )
        if len(os.fsencode(self.run_folder / "write.sock")) > SOCKET_PATH_BYTES_MAX:
            self._short_folder = tempfile.TemporaryDirectory(prefix="rowsocket-", dir="/tmp")
            self.run_folder = Path(self._short_folder.name)
        self.run_folder.mkdir(exist_ok=True)

    def _link_plugins(self, plugin: Path) -> None:
        folder = self.folder / "plugins"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        paths = {path.name: path for path in [*(self.tree / "usr/lib/mysql/plugin").glob("*.so"), plugin]}
        for name, path in paths.items():
            (folder / name).symlink_to(path)

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except pymysql.err.OperationalError:
            return False
        return True

    def _wait_for(self, what: str, condition: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + START_SECONDS_MAX
        while not condition():
            assert self.process is not None
            if self.process.poll() is not None:
                raise self._diagnose(f"the server ended before {what} (exit code {self.process.returncode})")
            if time.monotonic() > deadline_s:
                raise self._diagnose(
                    f"the server has not come so far in {START_SECONDS_MAX:.0f} s that {what}"
                )
            time.sleep(0.05)

    def _diagnose(self, what: str) -> Problem:
        log = self.log_tail()
        errors = [line for line in log.splitlines() if "[ERROR]" in line]
        hints = [f"| {line}" for line in errors or log.splitlines()]
        if "No space left on device" in log or "Disk is full" in log:
            hints.append("the disk is full: make room, or use --data on another one")
        if "Address already in use" in log:
            hints.append(
                "a port is taken: choose another with --port-sql, --port-read, --port-write, "
                "--port-memcached or --port-resp (0 = any free one)"
            )
        if "unknown variable" in log or "unknown option" in log:
            hints.append("the file given with --config names a setting that this server does not know")
        return Problem(what, *hints, f"all of its log: {self.error_log}")


def _tree_options(tree: Path) -> list[str]:
    """What makes a server that was unpacked into `tree` find its files.

    Only root has to say that it means it.
    """
    older, newer = tree / "usr/share/mysql", tree / "usr/share/mariadb"
    share = newer if newer.is_dir() else older
    options = [
        f"--basedir={tree / 'usr'}",
        f"--lc-messages-dir={share}",
        f"--character-sets-dir={share / 'charsets'}",
    ]
    return [*options, "--user=root"] if os.geteuid() == 0 else options


def free_port() -> int:
    """A TCP port that is free on loopback at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def require_free_port(port: int, option: str) -> None:
    """Raise `Problem` when something listens on `port` of loopback already.

    `option` is what chooses another.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise Problem(
                f"port {port} is not allowed to this user",
                f"choose one above 1023 with {option} (0 = any free one)",
            ) from None
        except OSError:
            raise Problem(
                f"port {port} is taken by another program",
                f"choose another with {option} (0 = any free one), or see who has it: ss -ltnp 'sport = "
                f":{port}'",
            ) from None
