# SPDX-License-Identifier: GPL-2.0-only
"""Where this machine gets its Debian packages from, and the same mirrors for any other Debian release.

apt itself is asked, so both formats of its configuration are known. The private sources name a release's own
suites alone (release, updates, security), and always ask for sources too, which a stock machine does not.
"""

import platform
from collections.abc import Iterable
from dataclasses import dataclass

from rowsocket_x.console import run

_SUITES = ("", "-updates", "-security")
_DEFAULTS = {"": "http://deb.debian.org/debian", "-security": "http://deb.debian.org/debian-security"}


@dataclass(frozen=True)
class Mirror:
    """One suite at one address."""

    uri: str
    suite: str

    def lines(self, keyring: str) -> list[str]:
        """Its entries for a sources.list, packages and sources, signed by a key of `keyring`."""
        return [f"{kind} [signed-by={keyring}] {self.uri} {self.suite} main" for kind in ("deb", "deb-src")]


def machine_mirrors() -> list[Mirror]:
    """The enabled mirrors of this machine with a component main, but those known to be somebody else's."""
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(ORIGIN)"]
    shown = run([*words, "Created-By: Packages", "Component: main"], what="asking apt for its mirrors")
    return parse(shown)


def parse(shown: str) -> list[Mirror]:
    """Lines of an address, a suite, and who made the packages (nothing while apt does not know it)."""
    rows = [line.split(maxsplit=2) for line in shown.splitlines()]
    debian = [row for row in rows if len(row) == 2 or (len(row) == 3 and row[2] in ("Debian", "$(ORIGIN)"))]
    return list(dict.fromkeys(Mirror(row[0].rstrip("/"), row[1]) for row in debian))


def mirrors_of(codename: str, mirrors: Iterable[Mirror], machine: str) -> list[Mirror]:
    """The mirrors of the Debian release `codename`, made from those of a machine with the release `machine`.

    MariaDB's own archive uses Debian's suite names, but its packages come without the sources in Debian's
    form.
    """
    ours: dict[str, str] = {}
    for mirror in mirrors:
        if "mariadb" not in mirror.uri.lower():
            ours.setdefault(mirror.suite, mirror.uri)
    found = {end: ours[machine + end] for end in _SUITES if machine + end in ours}
    return [Mirror(uri, codename + end) for end, uri in {**_DEFAULTS, **found}.items()]


def release_codename() -> str:
    """The Debian release of this machine, `bookworm` where it does not say."""
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "bookworm")
    except OSError:
        return "bookworm"
