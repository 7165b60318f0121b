# SPDX-License-Identifier: GPL-2.0-only
"""The pair of server and source that is known by its files' checksums, for when the lists offer none.

Debian's lists name one version of MariaDB in each suite. From the hour a new one is listed until its source
is on the mirror, that version cannot be built against, and the one before is in no list. The files of the one
before stay in the mirror's pool for some time. `pinned_pairs.toml` keeps their names and checksums.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rowsocket_x.console import run
from rowsocket_x.private_apt import PrivateApt
from rowsocket_x.server_series import Series

PINNED_PAIRS = Path(__file__).with_name("pinned_pairs.toml")


@dataclass(frozen=True)
class PinnedPair:
    """One version of a server, whose files are asked for by name."""

    version: str
    pool: str
    """The folder of its files, relative to the mirror's address."""
    source: Mapping[str, str]
    """The SHA-256 of each file of its source, by the file's name."""
    packages: Mapping[str, tuple[str, str]]
    """Of each package, by its name: the file's name and its SHA-256."""

    def download_source(self, private: PrivateApt, into: Path) -> None:
        """Download the files of the source. Raises `Problem`."""
        for name, sha256 in self.source.items():
            private.download_file(f"{self.pool}/{name}", sha256, into)

    def download(self, private: PrivateApt, packages: tuple[str, ...], into: Path) -> list[Path]:
        """Download packages, each by its name, and return their files. Raises `Problem`."""
        files = [self.packages[package] for package in packages]
        return [private.download_file(f"{self.pool}/{name}", sha256, into) for name, sha256 in files]


def pinned(series: Series) -> PinnedPair | None:
    """The pair of a series, or None where it is known for another architecture alone."""
    known = _read()
    architecture = known["architecture"]
    if architecture != _architecture():
        return None
    pair = known[series]
    version = pair["version"].partition(":")[2]  # files are named without the epoch
    upstream = version.rpartition("-")[0]
    source = {
        f"mariadb_{upstream if end.startswith('orig') else version}.{end}": sha256
        for end, sha256 in pair["source"].items()
    }
    packages = {
        package: (f"{package}_{version}_{of}.deb", sha256)
        for of in (architecture, "all")
        for package, sha256 in pair[of].items()
    }
    return PinnedPair(pair["version"], known["pool"], source, packages)


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(PINNED_PAIRS.read_text())


@cache
def _architecture() -> str:
    return run(["dpkg", "--print-architecture"], what="asking dpkg for the architecture").strip()
