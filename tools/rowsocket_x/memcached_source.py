# SPDX-License-Identifier: GPL-2.0-only
"""Fetches memcached's own tests, out of Debian's source package of it, into `.rowsocket/memcached`."""

import tempfile
from pathlib import Path

from rowsocket_x import server_series
from rowsocket_x.console import Problem, run, step
from rowsocket_x.paths import STATE

TREE = STATE / "memcached"
"""What the source package holds under its first folder: t/, and nothing else of it."""


def fetch() -> Path:
    """The folder that holds `t/`. Raises `Problem`."""
    if (TREE / "t").is_dir():
        return TREE
    apt = server_series.apt()
    apt.require_lists()
    versions = apt.source_versions("memcached")
    if not versions:
        raise Problem("the package lists offer no source of memcached", "is deb-src among the mirrors?")
    STATE.mkdir(exist_ok=True)
    with (
        step(f"downloading the source of memcached {versions[0]}"),
        tempfile.TemporaryDirectory(prefix="fetch-", dir=STATE) as name,
    ):
        scratch = Path(name)
        apt.download_source("memcached", versions[0], scratch)
        (archive,) = scratch.glob("*.orig.tar.xz")
        unpacked = scratch / "tree"
        unpacked.mkdir()
        pattern = ["--wildcards", "--strip-components=1", "*/t"]
        run(["tar", "-xf", archive, "-C", unpacked, *pattern], what="unpacking memcached's tests")
        unpacked.rename(TREE)
    return TREE
