# SPDX-License-Identifier: GPL-2.0-only
"""The version of a package tells its commit, and a later commit has a higher one."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rowsocket_x import versions
from rowsocket_x.console import Problem
from rowsocket_x.package_version import Commit, commit_of, version_of
from rowsocket_x.server_series import Series

LATE = datetime(2026, 11, 30, 1, 48, 19, tzinfo=UTC)
EARLY = datetime(2026, 11, 30, 1, 4, 9, tzinfo=UTC)


def version(time: datetime, name: str = "198af530", *, number: int = 1655, is_changed: bool = False) -> str:
    return version_of(Series.V10_11, Commit(name, number, time, is_changed))


def commit_at(tree: Path, time: datetime) -> None:
    """All files of the tree as a commit of that time."""
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    environment = {"GIT_COMMITTER_DATE": time.isoformat(), "PATH": "/usr/bin:/bin"}
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *who, *words], cwd=tree, env=environment, check=True)


def test_a_version_tells_the_commit_and_the_debian_release() -> None:
    commit = Commit("198af530", 1655, LATE, is_changed=False)
    assert version_of(Series.V10_11, commit).endswith("+git20261130.014819.1655.198af530+deb12")
    assert version_of(Series.V11_8, commit).endswith("+git20261130.014819.1655.198af530+deb13")


def test_a_later_commit_has_a_higher_version() -> None:
    assert versions.is_newer(version(LATE, "00000000"), version(EARLY, "ffffffff"))


def test_the_next_commit_of_the_same_second_has_a_higher_version() -> None:
    assert versions.is_newer(version(LATE, "00000000", number=1656), version(LATE, "ffffffff"))


def test_versions_are_higher_than_those_that_told_no_commit() -> None:
    assert versions.is_newer(version(EARLY), "0.1.0+deb12")


def test_a_tree_with_changes_says_so_and_is_higher_than_its_commit() -> None:
    changed = version(LATE, is_changed=True)
    assert "198af530.changed" in changed
    assert versions.is_newer(changed, version(LATE))


def test_a_clone_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one")
    commit_at(tmp_path, LATE)
    commit = commit_of(tmp_path)
    assert (commit.number, commit.time, commit.is_changed) == (1, LATE, False)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, check=True)
    assert head.stdout.decode().startswith(commit.name)


@pytest.mark.parametrize("file", ["file", "another"])
def test_a_file_that_is_not_committed_is_noticed(tmp_path: Path, file: str) -> None:
    (tmp_path / "file").write_text("one")
    commit_at(tmp_path, LATE)
    before = datetime.now(UTC)
    (tmp_path / file).write_text("two")
    commit = commit_of(tmp_path)
    assert commit.is_changed
    assert commit.time >= before


def test_what_is_no_clone_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="git log"):
        commit_of(tmp_path)


def test_what_only_lies_in_a_clone_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/file").write_text("one")
    commit_at(tmp_path, LATE)
    with pytest.raises(Problem, match="is no clone"):
        commit_of(tmp_path / "inside")
