# SPDX-License-Identifier: GPL-2.0-only
"""`./x package --prove`: installs the packages in a bare Debian, with Debian's own MariaDB, and uses them.

debootstrap makes the bare Debian, in a folder of its own that is removed at the end. What is done inside is
`packaging/prove-in-root.sh`. It takes root, the network and some minutes.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rowsocket_x import apt_sources, server_fetch, server_series
from rowsocket_x.console import Problem, run, say, step
from rowsocket_x.paths import LOGS, ROOT
from rowsocket_x.server_series import Series


def prove(series: Series, packages: Sequence[Path]) -> None:
    """Raises `Problem` with what the proof said last."""
    if os.geteuid() != 0:
        raise Problem("a bare Debian is made as root", "run this as root, or in a container where you are")
    server = server_fetch.require(series)
    with tempfile.TemporaryDirectory(prefix="rs-root-", dir="/tmp") as place:
        root = Path(place) / "root"
        with step(f"making a bare Debian {series.codename}"):
            _make(root, series)
        (root / "packages").mkdir()
        for package in packages:
            shutil.copy(package, root / "packages")
        shutil.copytree(packages[0].parent / "server", root / "packages/server")
        _copy_tests(packages[0].parent / "tree/debian", root / "packages/source/debian")
        shutil.copy(ROOT / "packaging/prove-in-root.sh", root / "prove")
        log = LOGS / f"prove-{series}.log"
        release = server.version.partition(":")[2].partition("-")[0]
        with step("installing and using the packages in it"), _mounted(root):
            words: list[str | Path] = ["unshare", "--pid", "--fork", "--kill-child"]
            words += ["chroot", root, "/prove", server.version, release]
            run(words, what="the proof", log=log)
        for line in log.read_text().splitlines():
            if line.startswith("== "):
                say(line.removeprefix("== "))


def _make(root: Path, series: Series) -> None:
    mirrors = apt_sources.mirrors_of(
        series.codename, apt_sources.machine_mirrors(), apt_sources.release_codename()
    )
    server_series.fetch_keyring(series)
    keyring = server_series.apt(series).keyring
    options = ["--variant=minbase", "--include=ca-certificates", f"--keyring={keyring}"]
    run(
        ["debootstrap", *options, series.codename, root, mirrors[0].uri],
        what="debootstrap",
        hints=("is the package debootstrap installed?",),
        log=LOGS / f"debootstrap-{series.codename}.log",
    )
    lines = [f"deb {mirror.uri} {mirror.suite} main" for mirror in mirrors]
    (root / "etc/apt/sources.list").write_text("\n".join(lines) + "\n")


def _copy_tests(debian: Path, into: Path) -> None:
    """What autopkgtest wants of a source package."""
    shutil.copytree(debian / "tests", into / "tests")
    for name in ("control", "changelog"):
        shutil.copy(debian / name, into)


@contextmanager
def _mounted(root: Path) -> Iterator[None]:
    """With /proc. (debootstrap has made the few devices that are needed.)"""
    run(["mount", "-t", "proc", "proc", root / "proc"], what="mounting /proc")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", root / "proc"], check=False)
