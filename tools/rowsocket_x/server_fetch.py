# SPDX-License-Identifier: GPL-2.0-only
"""Fetches the matched pair: a MariaDB server and its private headers of the same version.

Debian's archive can offer a binary before its source can be downloaded. So the versions that the lists have
as both are tried newest first, the source before the binaries, and the first that really comes is taken. A
pair that is known by its checksums is one of them, also when no list has it any more (pinned_pair.py).

No root is needed, and several versions can stand side by side; `.rowsocket/server.json` names the one in use
of each series.

RocksDB comes with it: an engine that RowSocket serves, in a package of its own.
"""

import json
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from rowsocket_x import network, server_headers, server_runtime, server_series, versions
from rowsocket_x.console import Problem, console, run, say, step
from rowsocket_x.paths import STATE
from rowsocket_x.pinned_pair import PinnedPair, pinned
from rowsocket_x.private_apt import PrivateApt
from rowsocket_x.server_series import DEFAULT, Series

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
INSTALLABLE_PACKAGES = (
    "mariadb-server",
    "mariadb-server-core",
    "mariadb-client",
    "mariadb-client-core",
    "mariadb-common",
)
"""What makes a server on a machine, with what else apt finds by itself."""

ROCKSDB = "usr/lib/mysql/plugin/ha_rocksdb.so"
ROCKSDB_PACKAGE = "mariadb-plugin-rocksdb"
ROCKSDB_LIBRARY = "libsnappy1v5"
"""What RocksDB needs and the server does not."""

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
        return (self.tree / "usr/sbin/mariadbd").is_file() and (
            self.headers / "generated/my_config.h"
        ).is_file()


def current(series: Series = DEFAULT) -> Server | None:
    """The server of a series that set-up fetched, or None when there is none (or only a part)."""
    version = _recorded().get(series)
    server = _server(version) if version else None
    return server if server is not None and server.is_complete() else None


def require(series: Series = DEFAULT) -> Server:
    """The fetched server of a series. Raises `Problem` when set-up has not run."""
    server = current(series)
    if server is None:
        raise Problem(
            f"MariaDB {series} is not set up yet",
            f"./x setup --server {series} fetches it (about 150 MB, once)",
        )
    return server


def fetch(series: Series = DEFAULT, *, renew: bool = False) -> Server:
    """Fetch the newest version that can be had as both, unless there is one (`renew` looks for a newer)."""
    have = current(series)
    if have is not None and not renew:
        _add_rocksdb(series, have)
        return have
    server_series.fetch_keyring(series)
    private = server_series.apt(series)
    with step(f"fetching the package lists of Debian {series.codename}"):
        private.update()
    known = pinned(series)
    offered = versions.candidates(
        private.binary_versions("mariadb-server"), private.source_versions(SOURCE), series
    )
    if known is not None and known.version not in offered:
        offered = versions.newest_first([*offered, known.version])
    if not offered:
        raise Problem(
            f"no MariaDB {series} is offered both as packages and as source",
            f"it is looked for in Debian {series.codename}; do the mirrors of /etc/apt have that release?",
        )
    for version in offered:
        try:
            server = _fetch_version(series, private, version)
        except network.NetworkProblem:
            raise
        except Problem as problem:
            if version == offered[-1]:
                raise
            reason = problem.what.partition(" (exit code")[0]
            say(
                f"MariaDB {version} cannot be had as both packages and source ({reason}); trying an older one"
            )
            continue
        _record(series, server)
        return server
    raise AssertionError("the last version either came or raised")


def _server(version: str) -> Server:
    name = version.partition(":")[2] or version  # without the epoch, whose colon would upset search paths
    return Server(version, STATE / "server" / name, STATE / "source" / name)


def _recorded() -> dict[str, str]:
    """The version in use of each series."""
    try:
        return dict(json.loads(_RECORD.read_text()))
    except (OSError, ValueError):
        return {}


def _record(series: Series, server: Server) -> None:
    scratch = _RECORD.with_suffix(".new")
    scratch.write_text(json.dumps({**_recorded(), series: server.version}) + "\n")
    scratch.replace(_RECORD)


def _fetch_version(series: Series, private: PrivateApt, version: str) -> Server:
    server = _server(version)
    if server.is_complete():
        return server
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=STATE) as scratch_name:
        scratch = Path(scratch_name)
        with console.status(f"downloading the source of MariaDB {version} (115 MB)"):
            _download_source(series, private, version, scratch / "downloads")
        with step(f"downloading MariaDB {version}"):
            packages = _download(series, private, version, SERVER_PACKAGES, scratch / "debs")
            packages += private.download(OTHER_PACKAGES, scratch / "other-debs")
            libraries = (
                server_runtime.download(private, scratch / "library-debs") if series.is_foreign else []
            )
        with step("unpacking the server and its headers"):
            _unpack(packages, scratch / "tree")
            if series.is_foreign:
                server_runtime.add(libraries, scratch / "tree")
            server_headers.unpack_source(scratch / "downloads", scratch / "headers")
            server_headers.add_generated(scratch / "tree/usr/include/mariadb/server", scratch / "headers")
            for unneeded in (scratch / "tree/usr/lib").glob("*/libmariadbd.a"):  # the embedded server
                unneeded.unlink()
            server_headers.prove(scratch / "headers")
        _add_rocksdb(series, replace(server, tree=scratch / "tree"))
        _move_into_place(scratch / "headers", server.headers)
        _move_into_place(scratch / "tree", server.tree)
    return server


def _add_rocksdb(series: Series, server: Server) -> None:
    """Unpack RocksDB into the server's tree where it is missing. Raises `Problem`."""
    if (server.tree / ROCKSDB).is_file():
        return
    private = server_series.apt(series)
    private.require_lists()
    with (
        step("downloading RocksDB for it"),
        tempfile.TemporaryDirectory(prefix="fetch-", dir=STATE) as scratch,
    ):
        packages = _download(series, private, server.version, (ROCKSDB_PACKAGE,), Path(scratch) / "debs")
        packages += private.download([ROCKSDB_LIBRARY], Path(scratch) / "library-debs")
        _unpack(packages, server.tree)


def _download_source(series: Series, private: PrivateApt, version: str, into: Path) -> None:
    known = _pinned_as(series, version)
    if known is not None:
        known.download_source(private, into)
    else:
        private.download_source(SOURCE, version, into)


def download_installable(series: Series, into: Path) -> list[Path]:
    """Download the packages that install the server of a series here, which no list may offer any more.

    Raises `Problem`.
    """
    private = server_series.apt(series)
    private.require_lists()
    return _download(series, private, require(series).version, INSTALLABLE_PACKAGES, into)


def _download(
    series: Series, private: PrivateApt, version: str, packages: tuple[str, ...], into: Path
) -> list[Path]:
    """Download packages of this version of the server, and return their files."""
    known = _pinned_as(series, version)
    if known is not None:
        return known.download(private, packages, into)
    return private.download([f"{name}={version}" for name in packages], into)


def _pinned_as(series: Series, version: str) -> PinnedPair | None:
    known = pinned(series)
    return known if known is not None and known.version == version else None


def _unpack(packages: list[Path], tree: Path) -> None:
    for package in packages:
        run(["dpkg", "-x", package, tree], what=f"unpacking {package.name}", hints=("is the disk full?",))


def _move_into_place(made: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(target)
    made.rename(target)
