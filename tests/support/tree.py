# SPDX-License-Identifier: GPL-2.0-only
"""An unpacked MariaDB server, and empty data directories for it.

ROWSOCKET_SERVER_TREE   root of the unpacked server (usr/sbin/mariadbd, usr/share/mysql, ...)
ROWSOCKET_PLUGIN_DIR    folder that holds rowsocket.so
"""

from __future__ import annotations

import os
import subprocess
from functools import cached_property
from pathlib import Path


class ServerFailure(Exception):
    """A server did not start, did not stop, or died; the text ends with the tail of its error log."""


def environment_path(name: str) -> Path:
    """The folder that the environment variable `name` names; raises ServerFailure if it is not there."""
    value = os.environ.get(name)
    if not value or not Path(value).is_dir():
        raise ServerFailure(f"{name}={value!r} is no folder: run the tests through ./x test, which sets it")
    return Path(value).resolve()


class ServerTree:
    """An unpacked server: where its programs and files are."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mariadbd = root / "usr/sbin/mariadbd"
        self.plugins = root / "usr/lib/mysql/plugin"
        self.has_own_loader = (root / "runtime").is_dir()
        """Its programs are of another Debian release, started by that release's loader (`./x setup`)."""

    def program(self, name: str) -> Path:
        """A program of the tree, e.g. `mariadb-binlog`."""
        return self.root / "usr/bin" / name

    def version(self) -> str:
        """What the server calls its version, such as `10.11.18-MariaDB-0+deb12u1`."""
        command = [str(self.mariadbd), "--no-defaults", "--version"]
        shown = subprocess.run(command, env=self.environment(), capture_output=True, text=True, check=True)
        return shown.stdout.partition(" Ver ")[2].split()[0]

    @cached_property
    def series(self) -> str:
        """Of its releases, such as `10.11`."""
        return ".".join(self.version().split(".")[:2])

    def environment(self) -> dict[str, str]:
        """What the tree's programs need: shared libraries that stand beside them."""
        own = self.root / "usr/lib/x86_64-linux-gnu"
        libraries = [own, *map(Path, filter(None, [os.environ.get("LD_LIBRARY_PATH")]))]
        return {
            **os.environ,
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
            "ROWSOCKET_ABORT_ON_BROKEN_INVARIANTS": "1",
        }

    def arguments(self) -> list[str]:
        """Options of mariadbd that make it find its files."""
        older, newer = self.root / "usr/share/mysql", self.root / "usr/share/mariadb"
        share = newer if newer.is_dir() else older
        return [
            "--no-defaults",
            f"--basedir={self.root / 'usr'}",
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            *(["--user=root"] if os.geteuid() == 0 else []),
        ]


def initialise(tree: ServerTree, data: Path) -> None:
    """Make an empty data directory with a root account that needs no password; raises ServerFailure."""
    scratch = data.with_name(
        data.name + ".tmp"
    )  # a server clears what it finds in its tmpdir: never share one
    scratch.mkdir(exist_ok=True)
    command = [
        str(tree.program("mariadb-install-db")),
        *tree.arguments(),
        f"--datadir={data}",
        f"--tmpdir={scratch}",
        "--auth-root-authentication-method=normal",
        "--innodb-log-file-size=8M",
        "--innodb-undo-tablespaces=0",
        "--skip-test-db",
    ]
    done = subprocess.run(
        command,
        env=tree.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ServerFailure(f"mariadb-install-db failed ({done.returncode}):\n{done.stdout}")


def peer_program(name: str) -> list[str]:
    """A program of the tree that ROWSOCKET_PEERS names, with the libraries that it brings."""
    tree = environment_path("ROWSOCKET_PEERS")
    libraries = ":".join(str(path) for path in sorted((tree / "usr/lib").glob("*-linux-gnu")))
    return ["env", f"LD_LIBRARY_PATH={libraries}", str(tree / "usr/bin" / name)]
