# SPDX-License-Identifier: GPL-2.0-only
"""The version of Debian packages, such as `0.1.0+git20261130.014819.1655.198af530+deb12`.

It tells the commit that a package is made from. apt installs a package over another one where its version is
the higher one: so the time of the commit stands before its name, and behind the time how many commits there
are up to it, since a rebase makes many in one second. A tree that differs from its commit has the time of the
packaging, and says so.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rowsocket_x.console import Problem, run
from rowsocket_x.paths import ROOT
from rowsocket_x.server_series import Series

_RELEASES = {"bookworm": 12, "trixie": 13}
"""The numbers of Debian's releases."""
_NAME_LENGTH = 8
_NEEDS_CLONE = ("the version of a package tells its commit, so ./x package needs a clone that git knows",)


@dataclass(frozen=True)
class Commit:
    """What a tree of sources is."""

    name: str
    """Short, in hexadecimal digits."""
    number: int
    """How many there are up to it, itself included."""
    time: datetime
    is_changed: bool
    """Whether the tree has other files than the commit."""


def commit_of(tree: Path) -> Commit:
    """The commit of a clone. Raises `Problem` where it is none."""
    name, seconds = _git(tree, "log", "-1", "--format=%H %ct").split()
    top = Path(_git(tree, "rev-parse", "--show-toplevel"))
    if top.resolve() != tree.resolve():
        raise Problem(f"{tree} is no clone, but in one: {top}", *_NEEDS_CLONE)
    number = int(_git(tree, "rev-list", "--count", "HEAD"))
    is_changed = _git(tree, "status", "--porcelain", "--untracked-files=normal") != ""
    time = datetime.now(UTC) if is_changed else datetime.fromtimestamp(int(seconds), UTC)
    return Commit(name[:_NAME_LENGTH], number, time, is_changed)


def version_of(series: Series, commit: Commit) -> str:
    """The version of the packages for the Debian release of a series."""
    found = re.search(
        r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text().partition("project")[2]
    )
    assert found is not None
    changed = ".changed" if commit.is_changed else ""
    source = f"{commit.time:%Y%m%d.%H%M%S}.{commit.number}.{commit.name}{changed}"
    return f"{found[1]}+git{source}+deb{_RELEASES[series.codename]}"


def _git(tree: Path, *words: str) -> str:
    return run(["git", *words], what=f"git {words[0]}", hints=_NEEDS_CLONE, cwd=tree).strip()
