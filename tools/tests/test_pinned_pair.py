# SPDX-License-Identifier: GPL-2.0-only
from collections.abc import Callable
from pathlib import Path

import pytest

from rowsocket_x import apt_sources, network, pinned_pair, server_fetch, server_series
from rowsocket_x.console import Problem
from rowsocket_x.pinned_pair import PinnedPair, pinned
from rowsocket_x.private_apt import PrivateApt
from rowsocket_x.server_series import Series

NEWEST, KNOWN = "1:11.8.9+ds-0+deb13u1", "1:11.8.6-0+deb13u1"
PAIR = PinnedPair(
    KNOWN,
    "pool/main/m/mariadb",
    {"mariadb_11.8.6.orig.tar.gz": "aa", "mariadb_11.8.6-0+deb13u1.debian.tar.xz": "bb"},
    {
        "mariadb-server": ("mariadb-server_11.8.6_amd64.deb", "cc"),
        "mariadb-server-core": ("mariadb-server-core_11.8.6_amd64.deb", "dd"),
    },
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is asked of the mirror: path and checksum of each file."""
    files: list[tuple[str, str]] = []

    def download_file(_apt: PrivateApt, path: str, sha256: str, into: Path) -> Path:
        files.append((path, sha256))
        return into / path.rpartition("/")[2]

    monkeypatch.setattr(PrivateApt, "download_file", download_file)
    return files


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Makes a mirror that lists versions and has the files of some; returns the versions that are tried."""

    def make(*, listed: list[str], has: list[str]) -> list[str]:
        tried: list[str] = []

        def fetch(_series: Series, _apt: PrivateApt, version: str) -> server_fetch.Server:
            tried.append(version)
            if version not in has:
                raise Problem("downloading the source failed")
            return server_fetch.Server(version, tmp_path, tmp_path)

        monkeypatch.setattr(server_fetch, "_fetch_version", fetch)
        monkeypatch.setattr(server_fetch, "_RECORD", tmp_path / "server.json")
        monkeypatch.setattr(server_fetch, "pinned", lambda _series: PAIR)
        monkeypatch.setattr(server_series, "STATE", tmp_path)
        monkeypatch.setattr(server_series, "fetch_keyring", lambda _series: None)
        monkeypatch.setattr(PrivateApt, "update", lambda _apt: None)
        for kind in ("binary_versions", "source_versions"):
            monkeypatch.setattr(PrivateApt, kind, lambda _apt, _name: listed)
        return tried

    return make


def test_a_known_pair_stands_in_for_a_version_whose_source_is_not_there_yet(
    mirror: Callable[..., list[str]],
) -> None:
    tried = mirror(listed=[NEWEST], has=[KNOWN])
    assert server_fetch.fetch(Series.V11_8).version == KNOWN
    assert tried == [NEWEST, KNOWN]


def test_a_newer_version_is_taken_before_the_known_pair(mirror: Callable[..., list[str]]) -> None:
    tried = mirror(listed=[NEWEST], has=[NEWEST, KNOWN])
    assert server_fetch.fetch(Series.V11_8).version == NEWEST
    assert tried == [NEWEST]


def test_the_last_problem_is_told_where_nothing_can_be_had(mirror: Callable[..., list[str]]) -> None:
    tried = mirror(listed=[NEWEST], has=[])
    with pytest.raises(Problem, match="downloading the source failed"):
        server_fetch.fetch(Series.V11_8)
    assert tried == [NEWEST, KNOWN]


def test_files_are_asked_for_with_their_checksums(asked: list[tuple[str, str]], tmp_path: Path) -> None:
    PAIR.download_source(PrivateApt(tmp_path, "trixie"), tmp_path)
    packages = PAIR.download(PrivateApt(tmp_path, "trixie"), ("mariadb-server-core",), tmp_path)
    assert [path.name for path in packages] == ["mariadb-server-core_11.8.6_amd64.deb"]
    assert asked == [
        ("pool/main/m/mariadb/mariadb_11.8.6.orig.tar.gz", "aa"),
        ("pool/main/m/mariadb/mariadb_11.8.6-0+deb13u1.debian.tar.xz", "bb"),
        ("pool/main/m/mariadb/mariadb-server-core_11.8.6_amd64.deb", "dd"),
    ]


def test_a_file_is_asked_of_the_mirror_of_its_own_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(network, "fetch", lambda words, **_rest: commands.append(words))
    monkeypatch.setattr(apt_sources, "machine_mirrors", list)
    PrivateApt(tmp_path, "trixie").download_file("pool/a_1.deb", "ee", tmp_path)
    address = "http://deb.debian.org/debian/pool/a_1.deb"
    assert [str(word) for word in commands[0][3:]] == [
        "download-file",
        address,
        str(tmp_path / "a_1.deb"),
        "SHA256:ee",
    ]


@pytest.mark.parametrize("series", Series)
def test_the_pair_of_each_series_is_whole(series: Series, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned_pair, "_architecture", lambda: "amd64")
    pair = pinned(series)
    assert pair is not None and pair.version.startswith(f"1:{series}.")
    assert {*pair.packages} == {*server_fetch.SERVER_PACKAGES, server_fetch.ROCKSDB_PACKAGE}
    assert len(pair.source) == 2


def test_files_are_named_as_debian_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        "architecture": "amd64",
        "pool": "pool",
        "11.8": {
            "version": "1:11.8.6-0+deb13u1",
            "source": {"orig.tar.gz": "aa", "debian.tar.xz": "bb"},
            "amd64": {"mariadb-server": "cc"},
            "all": {"mariadb-common": "dd"},
        },
    }
    monkeypatch.setattr(pinned_pair, "_architecture", lambda: "amd64")
    monkeypatch.setattr(pinned_pair, "_read", lambda: known)
    pair = pinned(Series.V11_8)
    assert pair is not None
    assert pair.source == {
        "mariadb_11.8.6.orig.tar.gz": "aa",
        "mariadb_11.8.6-0+deb13u1.debian.tar.xz": "bb",
    }
    assert pair.packages == {
        "mariadb-server": ("mariadb-server_11.8.6-0+deb13u1_amd64.deb", "cc"),
        "mariadb-common": ("mariadb-common_11.8.6-0+deb13u1_all.deb", "dd"),
    }


def test_another_architecture_has_no_known_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned_pair, "_architecture", lambda: "arm64")
    assert pinned(Series.V11_8) is None
