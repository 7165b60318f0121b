# SPDX-License-Identifier: GPL-2.0-only
"""Reads where this machine gets its Debian packages from, in both of apt's formats, and writes that down for a private apt.

Pure text in, text out. The private sources name the Debian release's own suites alone (release, updates, security), and always
ask for sources too, which a stock machine does not.
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mirror:
    """One suite at one address; `signed_by` is the path of a key ring, or empty for the system's default ones."""

    uri: str
    suite: str
    signed_by: str = ""

    def lines(self) -> list[str]:
        """The entries of a one-line sources.list for it, packages and sources."""
        options = f"[signed-by={self.signed_by}] " if self.signed_by else ""
        return [f"{kind} {options}{self.uri} {self.suite} main" for kind in ("deb", "deb-src")]


def parse_one_line(text: str) -> list[Mirror]:
    """The enabled binary entries with component main of a `*.list` file."""
    mirrors = []
    for line in text.splitlines():
        entry = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s+(.*)$", line.partition("#")[0])
        if entry is None or "main" not in entry[4].split():
            continue
        options = dict(word.partition("=")[::2] for word in shlex.split(entry[1] or ""))
        mirrors.append(Mirror(entry[2], entry[3], options.get("signed-by", "")))
    return mirrors


def parse_deb822(text: str) -> list[Mirror]:
    """The enabled binary stanzas with component main of a `*.sources` file. Keys written into the file itself are left out."""
    mirrors = []
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if not line.startswith("#")]
        fields: dict[str, str] = {}
        name = ""
        for line in lines:
            if line[:1] in (" ", "\t"):
                fields[name] = f"{fields.get(name, '')} {line.strip()}"
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                fields[name] = value.strip()
        enabled = fields.get("enabled", "yes").lower() not in ("no", "false", "0", "off")
        if not enabled or "deb" not in fields.get("types", "").split() or "main" not in fields.get("components", "").split():
            continue
        signed_by = fields.get("signed-by", "")
        if not signed_by.startswith("/"):
            signed_by = ""
        mirrors += [
            Mirror(uri, suite, signed_by) for uri in fields.get("uris", "").split() for suite in fields.get("suites", "").split()
        ]
    return mirrors


def debian_mirrors(mirrors: Iterable[Mirror], codename: str) -> list[Mirror]:
    """Those of them that are the Debian release `codename` itself, each once; a default where there is none.

    MariaDB's own archive uses Debian's suite names, but its packages come without the sources in Debian's form.
    """
    suites = {codename, f"{codename}-updates", f"{codename}-security"}
    found = list(dict.fromkeys(m for m in mirrors if m.suite in suites and "mariadb" not in m.uri.lower()))
    if any(mirror.suite == codename for mirror in found):
        return found
    default = Mirror("http://deb.debian.org/debian", codename)
    return [default, *found] if found else [default, Mirror("http://deb.debian.org/debian-security", f"{codename}-security")]


def machine_mirrors(etc: Path = Path("/etc/apt")) -> list[Mirror]:
    """Every enabled mirror that this machine is configured with."""
    mirrors: list[Mirror] = []
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        if not path.is_file():
            continue
        if path.suffix == ".list":
            mirrors += parse_one_line(path.read_text(errors="replace"))
        elif path.suffix == ".sources":
            mirrors += parse_deb822(path.read_text(errors="replace"))
    return mirrors


def release_codename(os_release: Path = Path("/etc/os-release")) -> str:
    """The Debian release of this machine, `bookworm` where it does not say."""
    match = re.search(r'^VERSION_CODENAME="?(\w+)', os_release.read_text() if os_release.is_file() else "", re.MULTILINE)
    return match[1] if match else "bookworm"
