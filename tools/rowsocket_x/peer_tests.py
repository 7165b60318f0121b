# SPDX-License-Identifier: GPL-2.0-only
"""Fetches other servers' own tests, out of Debian's source packages of them, into `.rowsocket`."""

import tempfile
from pathlib import Path

from rowsocket_x import server_series
from rowsocket_x.console import Problem, run, step
from rowsocket_x.paths import STATE


def memcached() -> Path:
    """The folder that holds memcached's `t/`. Raises `Problem`."""
    return _fetch("memcached", "t")


def redis() -> Path:
    """The folder that holds Redis's `tests/`. Raises `Problem`."""
    return _fetch("redis", "tests")


def _fetch(source: str, folder: str) -> Path:
    """A folder that holds what the source package has under its first folder: `folder`, and nothing else."""
    tree = STATE / source
    if (tree / folder).is_dir():
        return tree
    apt = server_series.apt()
    apt.require_lists()
    versions = apt.source_versions(source)
    if not versions:
        raise Problem(f"the package lists offer no source of {source}", "is deb-src among the mirrors?")
    STATE.mkdir(exist_ok=True)
    with (
        step(f"downloading the source of {source} {versions[0]}"),
        tempfile.TemporaryDirectory(prefix="fetch-", dir=STATE) as name,
    ):
        scratch = Path(name)
        apt.download_source(source, versions[0], scratch)
        (archive,) = scratch.glob("*.orig.tar.*z")
        unpacked = scratch / "tree"
        unpacked.mkdir()
        pattern = ["--wildcards", "--strip-components=1", f"*/{folder}"]
        run(["tar", "-xf", archive, "-C", unpacked, *pattern], what=f"unpacking the tests of {source}")
        unpacked.rename(tree)
    return tree
