# SPDX-License-Identifier: GPL-2.0-only
from pathlib import Path

import pytest

from rowsocket_x import apt_sources, server_series
from rowsocket_x.private_apt import DEBIAN_KEYRING
from rowsocket_x.server_series import Series


@pytest.fixture(autouse=True)
def bookworm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with Debian 12, and nothing fetched."""
    monkeypatch.setattr(apt_sources, "release_codename", lambda: "bookworm")
    monkeypatch.setattr(server_series, "STATE", tmp_path)


def test_the_machines_own_release_is_asked_with_its_keys_and_what_is_installed() -> None:
    apt = server_series.apt(Series.V10_11)
    assert not Series.V10_11.is_foreign
    assert (apt.codename, apt.keyring, apt.installed) == (
        "bookworm",
        DEBIAN_KEYRING,
        Path("/var/lib/dpkg/status"),
    )


def test_another_release_is_asked_with_keys_of_its_own_and_as_if_nothing_were_installed(
    tmp_path: Path,
) -> None:
    """So that apt names the server's libraries down to the C library."""
    apt = server_series.apt(Series.V11_8)
    assert Series.V11_8.is_foreign and apt.codename == "trixie"
    assert apt.keyring.is_relative_to(tmp_path) and apt.installed.read_text() == ""
