# SPDX-License-Identifier: GPL-2.0-only
"""An apt of our own: its sources, lists and cache lie under `.rowsocket/apt`, so that nothing of the system changes.

It only ever downloads. The machine's proxies and certificates still apply, as its configuration is read first and ours over it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rowsocket_x import apt_sources
from rowsocket_x.console import Problem, run

# Ours is read last, so it takes away the hooks that would clean the system's own cache after an update.
_CONFIGURATION = """\
Dir::Etc::SourceList "{home}/sources.list";
Dir::Etc::SourceParts "-";
Dir::State "{home}/state";
Dir::State::Lists "{home}/lists";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "{home}/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "2";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear Acquire::IndexTargets::deb::DEP-11-icons-hidpi;
"""

_NETWORK_HINTS = (
    "is there a network? The package mirrors are those of this machine's /etc/apt",
    "a proxy is set in /etc/apt/apt.conf.d or with http_proxy",
)


@dataclass(frozen=True)
class PrivateApt:
    """An apt whose every folder lies in `home`."""

    home: Path

    def prepare(self) -> None:
        """Write the configuration from the machine's own mirrors. Cheap; done anew each time."""
        for name in ("state", "lists/partial", "cache/archives/partial"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        mirrors = apt_sources.debian_mirrors(apt_sources.machine_mirrors(), apt_sources.release_codename())
        lines = [line for mirror in mirrors for line in mirror.lines()]
        (self.home / "sources.list").write_text("\n".join(lines) + "\n")
        (self.home / "apt.conf").write_text(_CONFIGURATION.format(home=self.home))

    def update(self) -> None:
        """Fetch the package and source lists. Raises `Problem` when the network says no."""
        self._run("apt-get", "-q", "update", what="fetching the package lists")
        if not self.package_lists():
            raise Problem("fetching the package lists brought none", *_NETWORK_HINTS)

    def binary_versions(self, package: str) -> list[str]:
        """The versions of a package that the lists offer."""
        return _policy_versions(self._run("apt-cache", "madison", package, what="reading the package lists"), "Packages")

    def source_versions(self, source: str) -> list[str]:
        """The versions of a source package that the lists offer."""
        shown = self._run("apt-cache", "showsrc", "--only-source", source, what="reading the source lists")
        return re.findall(r"^Version: (\S+)$", shown, re.MULTILINE)

    def download_source(self, source: str, version: str, into: Path) -> None:
        """Download (not unpack) a source package. Raises `Problem` when any of its files is not to be had."""
        into.mkdir(parents=True, exist_ok=True)
        words = ("apt-get", "-q", "source", "--download-only", "--only-source", f"{source}={version}")
        self._run(*words, what=f"downloading the source of {source} {version}", cwd=into)

    def download(self, packages: list[str], into: Path) -> list[Path]:
        """Download packages (each `name` or `name=version`) and return their files."""
        into.mkdir(parents=True, exist_ok=True)
        self._run("apt-get", "-q", "download", *packages, what="downloading the server's packages", cwd=into)
        return sorted(into.glob("*.deb"))

    def would_install(self, packages: Sequence[str]) -> list[str]:
        """What an installation of these packages would bring to this machine; nothing is installed."""
        words = ("apt-get", "-q", "install", "--simulate", "--no-install-recommends", *packages)
        return re.findall(r"^Inst (\S+)", self._run(*words, what="asking what is missing"), re.MULTILINE)

    def package_lists(self) -> list[Path]:
        """The downloaded `Packages` lists, compressed or not."""
        shown = self._run("apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Packages", what="finding the lists")
        return [Path(line) for line in shown.splitlines() if Path(line).is_file()]

    def read_list(self, path: Path) -> str:
        """The text of a list, decompressed by apt's own helper."""
        return self._run("/usr/lib/apt/apt-helper", "cat-file", str(path), what=f"reading {path.name}")

    def _run(self, program: str, *words: str, what: str, cwd: Path | None = None) -> str:
        return run([program, "-c", self.home / "apt.conf", *words], what=what, hints=_NETWORK_HINTS, cwd=cwd)


def _policy_versions(madison: str, kind: str) -> list[str]:
    """Versions in the output of `apt-cache madison`: lines `name | version | address suite/component arch kind`."""
    rows = [[field.strip() for field in line.split("|")] for line in madison.splitlines()]
    return [row[1] for row in rows if len(row) == 3 and row[2].endswith(kind)]
