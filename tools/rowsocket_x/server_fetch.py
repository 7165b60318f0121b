# SPDX-License-Identifier: GPL-2.0-only
"""Fetches the matched pair: a MariaDB server and the private headers of exactly that version, both into `.rowsocket/`.

Debian's security archive can offer a binary before its source can be downloaded. So the versions that the lists have as both are
tried newest first, the source before the binaries, and the first that really comes is taken. No root is needed, and several
versions can stand side by side; `.rowsocket/server.json` names the one in use.
"""

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rowsocket_x import debian_version, server_headers
from rowsocket_x.console import Problem, console, run, say, step
from rowsocket_x.paths import STATE
from rowsocket_x.private_apt import PrivateApt

SERIES = "10.11"
SOURCE = "mariadb"

# All of one version. The last one carries the generated headers.
SERVER_PACKAGES = (
    "mariadb-server",
    "mariadb-server-core",
    "mariadb-client",
    "mariadb-client-core",
    "mariadb-backup",
    "mariadb-common",
    "libmariadbd-dev",
)
OTHER_PACKAGES = ("galera-4",)

_RECORD = STATE / "server.json"


@dataclass(frozen=True)
class Server:
    """An unpacked server and its headers; both of the same Debian version."""

    version: str
    tree: Path
    """Root of the unpacked packages: usr/sbin/mariadbd and so on."""
    headers: Path
    """What the build calls ROWSOCKET_SERVER_HEADERS."""

    def is_complete(self) -> bool:
        """Whether both parts are there (each appears under its name only when it is whole)."""
        return (self.tree / "usr/sbin/mariadbd").is_file() and (self.headers / "generated/my_config.h").is_file()


def apt() -> PrivateApt:
    """The project's private apt."""
    return PrivateApt(STATE / "apt")


def current() -> Server | None:
    """The server that set-up fetched, or None when there is none (or only a part)."""
    try:
        record = json.loads(_RECORD.read_text())
        server = _server(record["version"])
    except (OSError, ValueError, KeyError):
        return None
    return server if server.is_complete() else None


def require() -> Server:
    """The fetched server. Raises `Problem` when set-up has not run."""
    server = current()
    if server is None:
        raise Problem("the MariaDB server is not set up yet", "./x setup fetches it (about 150 MB, once)")
    return server


def fetch(*, renew: bool = False) -> Server:
    """Fetch the newest version that can be had as both, unless one is there already (`renew` looks for a newer one)."""
    have = current()
    if have is not None and not renew:
        return have
    private = apt()
    private.prepare()
    with step("fetching the package lists"):
        private.update()
    versions = debian_version.candidates(private.binary_versions("mariadb-server"), private.source_versions(SOURCE), SERIES)
    if not versions:
        raise Problem(
            f"no MariaDB {SERIES} is offered both as packages and as source",
            "RowSocket's set-up is made for Debian 12 (bookworm); are its mirrors in /etc/apt?",
        )
    for version in versions:
        try:
            server = _fetch_version(private, version)
        except Problem as problem:
            if version == versions[-1]:
                raise
            reason = problem.what.partition(" (exit code")[0]
            say(f"MariaDB {version} cannot be had as both packages and source ({reason}); trying an older one")
            continue
        _record(server)
        return server
    raise AssertionError("the last version either came or raised")


def _server(version: str) -> Server:
    name = version.partition(":")[2] or version  # without the epoch, whose colon would upset search paths
    return Server(version, STATE / "server" / name, STATE / "source" / name)


def _record(server: Server) -> None:
    scratch = _RECORD.with_suffix(".new")
    scratch.write_text(json.dumps({"version": server.version}) + "\n")
    scratch.replace(_RECORD)


def _fetch_version(private: PrivateApt, version: str) -> Server:
    server = _server(version)
    if server.is_complete():
        return server
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=STATE) as scratch_name:
        scratch = Path(scratch_name)
        with console.status(f"downloading the source of MariaDB {version} (115 MB)"):
            private.download_source(SOURCE, version, scratch / "downloads")
        with step(f"downloading MariaDB {version}"):
            packages = private.download([f"{name}={version}" for name in SERVER_PACKAGES], scratch / "debs")
            packages += private.download(list(OTHER_PACKAGES), scratch / "other-debs")
        with step("unpacking the server and its headers"):
            for package in packages:
                run(["dpkg", "-x", package, scratch / "tree"], what=f"unpacking {package.name}", hints=("is the disk full?",))
            server_headers.unpack_source(scratch / "downloads", scratch / "headers")
            server_headers.add_generated(scratch / "tree/usr/include/mariadb/server", scratch / "headers")
            (scratch / "tree/usr/lib").joinpath(_machine_folder(scratch), "libmariadbd.a").unlink(missing_ok=True)
            server_headers.prove(scratch / "headers")
        _move_into_place(scratch / "headers", server.headers)
        _move_into_place(scratch / "tree", server.tree)
    return server


def _machine_folder(scratch: Path) -> str:
    """The folder of usr/lib that is named after the machine's architecture; it holds the embedded server, which nobody needs."""
    return next((path.parent.name for path in (scratch / "tree/usr/lib").glob("*/libmariadbd.a")), ".")


def _move_into_place(made: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(target)
    made.rename(target)
