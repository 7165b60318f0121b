# SPDX-License-Identifier: GPL-2.0-only
"""An apt of our own: its sources, lists and cache lie under `.rowsocket`; nothing of the system changes.

It only ever downloads. The machine's proxies and certificates still apply, as its configuration is read first
and ours over it.
"""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rowsocket_x import apt_sources, network
from rowsocket_x.console import run

# Ours is read last, so it takes away the hooks that would clean the system's own cache after an update.
_CONFIGURATION = """\
Dir::Etc::SourceList "{home}/sources.list";
Dir::Etc::SourceParts "-";
Dir::State "{home}/state";
Dir::State::Lists "{home}/lists";
Dir::State::status "{status}";
Dir::Cache "{home}/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "1";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear Acquire::IndexTargets::deb::DEP-11-icons-hidpi;
#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
"""

_HELPER = "/usr/lib/apt/apt-helper"
"""apt's own program for single files: the machine's proxies and certificates apply."""

DEBIAN_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class PrivateApt:
    """An apt whose every folder lies in `home`."""

    home: Path
    codename: str
    """The Debian release whose packages it knows."""
    keyring: Path = DEBIAN_KEYRING
    """Holds the keys that the release is signed with."""
    installed: Path = Path("/var/lib/dpkg/status")
    """What counts as installed when apt is asked what else a package needs."""

    def prepare(self) -> None:
        """Write the configuration from the machine's own mirrors. Cheap; done anew each time."""
        for name in ("state", "lists/partial", "cache/archives/partial"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        lines = [line for mirror in self._mirrors() for line in mirror.lines(str(self.keyring))]
        (self.home / "sources.list").write_text("\n".join(lines) + "\n")
        (self.home / "apt.conf").write_text(_CONFIGURATION.format(home=self.home, status=self.installed))

    def update(self) -> None:
        """Fetch the package and source lists. Raises `Problem` when any of them is not to be had."""
        self.prepare()
        self._fetch("apt-get", "-q", "update", "--error-on=any", what="fetching the package lists")

    def require_lists(self) -> None:
        """Fetch the package and source lists where there are none. Raises `Problem`."""
        self.prepare()
        if not any((self.home / "lists").glob("*_Packages*")):
            self.update()

    def binary_versions(self, package: str) -> list[str]:
        """The versions of a package that the lists offer."""
        return self._versions(package, "Packages")

    def source_versions(self, source: str) -> list[str]:
        """The versions of a source package that the lists offer."""
        return self._versions(source, "Sources")

    def download_source(self, source: str, version: str, into: Path) -> None:
        """Download (not unpack) a source package. Raises `Problem` when any of its files is not to be had."""
        into.mkdir(parents=True, exist_ok=True)
        words = ("apt-get", "-q", "source", "--download-only", "--only-source", f"{source}={version}")
        self._fetch(*words, what=f"downloading the source of {source} {version}", cwd=into)

    def download(self, packages: Sequence[str], into: Path) -> list[Path]:
        """Download packages (each `name` or `name=version`) and return their files."""
        into.mkdir(parents=True, exist_ok=True)
        self._fetch("apt-get", "-q", "download", *packages, what="downloading packages", cwd=into)
        return sorted(into.glob("*.deb"))

    def download_file(self, path: str, sha256: str, into: Path) -> Path:
        """Download one file of the release's mirror by its path there, and return it.

        Raises `Problem` when the file is not to be had, or is not the one with this checksum.
        """
        into.mkdir(parents=True, exist_ok=True)
        target = into / path.rpartition("/")[2]
        address = f"{self._mirrors()[0].uri}/{path}"
        words = (_HELPER, "download-file", address, str(target), f"SHA256:{sha256}")
        self._fetch(*words, what=f"downloading {target.name}")
        return target

    def unpack(self, packages: Sequence[str], into: Path) -> None:
        """Download packages and unpack them into one folder; nothing is installed."""
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=self.home) as scratch:
            for package in self.download(packages, Path(scratch)):
                run(
                    ["dpkg", "-x", package, into],
                    what=f"unpacking {package.name}",
                    hints=("is the disk full?",),
                )

    def would_install(self, packages: Sequence[str]) -> list[str]:
        """What an installation of these packages would bring to this machine; nothing is installed."""
        words = ("apt-get", "-q", "install", "--simulate", "--no-install-recommends", *packages)
        return re.findall(r"^Inst (\S+)", self._run(*words, what="asking what is missing"), re.MULTILINE)

    def newest_of_all(self) -> str:
        """The control stanzas of every package that the lists offer, each in its newest version."""
        return self._run("apt-cache", "dumpavail", what="reading the package lists")

    def _mirrors(self) -> list[apt_sources.Mirror]:
        """The mirrors of the release, the one of its first publication first."""
        machine = apt_sources.release_codename()
        return apt_sources.mirrors_of(self.codename, apt_sources.machine_mirrors(), machine)

    def _versions(self, name: str, kind: str) -> list[str]:
        """Versions out of lines `name | version | address suite/component architecture kind`."""
        shown = self._run("apt-cache", "madison", name, what="reading the package lists")
        rows = [[field.strip() for field in line.split("|")] for line in shown.splitlines()]
        return list(dict.fromkeys(row[1] for row in rows if len(row) == 3 and row[2].endswith(kind)))

    def _run(self, program: str, *words: str, what: str) -> str:
        return run([program, "-c", self.home / "apt.conf", *words], what=what)

    def _fetch(self, program: str, *words: str, what: str, cwd: Path | None = None) -> str:
        return network.fetch([program, "-c", self.home / "apt.conf", *words], what=what, cwd=cwd)
