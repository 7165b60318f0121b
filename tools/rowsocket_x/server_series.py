# SPDX-License-Identifier: GPL-2.0-only
"""The series of MariaDB that the plugin is built for, and the Debian release that each comes with."""

from enum import StrEnum

from rowsocket_x import apt_sources
from rowsocket_x.paths import STATE
from rowsocket_x.private_apt import PrivateApt


class Series(StrEnum):
    """A series of MariaDB, by its name on the command line."""

    V10_11 = "10.11"
    V11_8 = "11.8"

    @property
    def codename(self) -> str:
        """The Debian release that ships it."""
        return {Series.V10_11: "bookworm", Series.V11_8: "trixie"}[self]

    @property
    def is_foreign(self) -> bool:
        """Whether it comes from another Debian release than this machine's, whose libraries it needs."""
        return self.codename != apt_sources.release_codename()


DEFAULT = Series.V10_11


def apt(series: Series = DEFAULT) -> PrivateApt:
    """The project's private apt that knows the packages of this series."""
    return _foreign_apt(series.codename) if series.is_foreign else _apt_of(series.codename)


def _apt_of(codename: str) -> PrivateApt:
    return PrivateApt(STATE / f"apt-{codename}", codename)


def _foreign_apt(codename: str) -> PrivateApt:
    """An apt of another release: nothing counts as installed; its keys are the newest of this release.

    Debian puts the keys of its next release into the key ring package of this one, which the machine's own
    keys vouch for. So the chain of trust begins with the machine.
    """
    home = STATE / f"apt-{codename}"
    home.mkdir(parents=True, exist_ok=True)
    installed = home / "status"
    installed.touch()
    keyring = home / "keyring"
    return PrivateApt(home, codename, keyring / "usr/share/keyrings/debian-archive-keyring.gpg", installed)


def fetch_keyring(series: Series) -> None:
    """Fetch the keys of a foreign series' release where they are not there yet. Raises `Problem`."""
    target = apt(series).keyring
    if not series.is_foreign or target.is_file():
        return
    native = _apt_of(apt_sources.release_codename())
    native.require_lists()
    native.unpack(["debian-archive-keyring"], target.parents[3])
