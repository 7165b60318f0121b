# SPDX-License-Identifier: GPL-2.0-only
"""Fetches others' own tests into `.rowsocket`: of servers, out of Debian's source packages; of Django, out of
its source distribution.
"""

import importlib.metadata
import tempfile
from pathlib import Path

from rowsocket_x import network, python_layers, server_series
from rowsocket_x.console import Problem, run, step
from rowsocket_x.paths import STATE, VENV


def memcached() -> Path:
    """The folder that holds memcached's `t/`. Raises `Problem`."""
    return _fetch("memcached", "t")


def redis() -> Path:
    """The folder that holds Redis's `tests/`. Raises `Problem`."""
    return _fetch("redis", "tests")


def django() -> Path:
    """The folder with the `tests/` of the Django that is installed, and its `version`. Raises `Problem`."""
    python_layers.require(python_layers.Layer.TEST)
    version = importlib.metadata.version("Django")
    tree = STATE / f"django-{version}"
    if (tree / "version").is_file():
        return tree
    STATE.mkdir(exist_ok=True)
    pip = [str(VENV / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--retries", "1", "--quiet"]
    with (
        step(f"downloading the tests of Django {version}"),
        tempfile.TemporaryDirectory(prefix="fetch-", dir=STATE) as name,
    ):
        options = ["--no-cache-dir", "--no-deps", "--no-binary=:all:", f"--dest={name}", f"Django=={version}"]
        network.fetch([*pip, "download", *options], what=f"fetching the source of Django {version}")
        (archive,) = Path(name).glob("*.tar.gz")
        unpacked = Path(name) / "tree"
        unpacked.mkdir()
        pattern = ["--wildcards", "--strip-components=1", "*/tests/cache", "*/tests/sessions_tests"]
        run(["tar", "-xf", archive, "-C", unpacked, *pattern], what="unpacking the tests of Django")
        (unpacked / "version").write_text(f"{version}\n")
        unpacked.rename(tree)
    return tree


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
