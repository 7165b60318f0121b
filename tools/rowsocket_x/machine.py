# SPDX-License-Identifier: GPL-2.0-only
"""System packages in layers: which ones a verb needs, which are missing, and installing those through apt.

Where nothing is missing, no root is needed and apt is not even asked.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from enum import Enum

from rowsocket_x import apt_sources, network
from rowsocket_x.console import Problem, run, say, step


class Layer(Enum):
    """What system packages are needed for. The names are those that a package has in Debian 12."""

    RUN = (
        # To build the plugin.
        "ca-certificates",
        "ccache",
        "cmake",
        "g++",
        "libsodium-dev",
        "libssl-dev",
        "liburing-dev",
        "ninja-build",
        "patch",
        "xz-utils",
        # What the unpacked server is linked with (the Depends of mariadb-server-core and
        # mariadb-client-core).
        "libaio1",
        "libcrypt1",
        "libedit2",
        "libncurses6",
        "libnuma1",
        "libpcre2-8-0",
        "libssl3",
        "libstdc++6",
        "libsystemd0",
        "liburing2",
        "zlib1g",
    )
    """To build the plugin and to run a server with it."""

    BUILD = ("libgmock-dev", "libgtest-dev", "librapidcheck-dev", "nlohmann-json3-dev")
    """To build everything else: the unit tests and the load generator."""

    FUZZ = ("clang-14", "libclang-rt-14-dev", "llvm-14")
    """To build the fuzzing programs."""

    CHECK = ("clang-14", "findutils", "git")
    """For the checks that a compiler does."""

    PACKAGE = (
        "debhelper",
        "debootstrap",
        "dh-python",
        "dpkg-dev",
        "git",
        "lintian",
        "pybuild-plugin-pyproject",
        "python3-all",
        "python3-hatchling",
    )
    """To make Debian packages."""

    TEST = ("gcc", "libdbd-mariadb-perl", "libdbi-perl", "libperl-dev", "make", "perl", "valgrind")
    """For the tests on real servers: a library of faults, the original's Perl client, and valgrind.

    Beside them, by their commands: Node.js for a client, and Go for the checker of histories.
    """


_COMMANDS: Mapping[Layer, Mapping[str, str]] = {
    Layer.RUN: {"nc": "netcat-openbsd"},
    Layer.TEST: {"go": "golang-go", "node": "nodejs", "npm": "npm", "tclsh": "tcl"},
}
"""Needed as a command, from wherever it comes; the package is only installed where the command is missing."""


_RENAMED: Mapping[str, Mapping[str, str]] = {"trixie": {"libaio1": "libaio1t64", "libssl3": "libssl3t64"}}
"""By the codename of a Debian release: packages that have another name there."""


def packages_of(layers: Sequence[Layer], codename: str) -> list[str]:
    """The packages of these layers as a Debian release names them, each once."""
    renamed = _RENAMED.get(codename, {})
    named = (renamed.get(package, package) for layer in layers for package in layer.value)
    return list(dict.fromkeys(named))


def missing_packages(layers: Sequence[Layer]) -> list[str]:
    """The packages of these layers that are not installed."""
    wanted = packages_of(layers, apt_sources.release_codename())
    known = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *wanted],
        capture_output=True,
        text=True,
    ).stdout
    installed = {line.split()[0] for line in known.splitlines() if line.endswith(" installed")}
    missing = [package for package in wanted if package not in installed]
    commands = {command: package for layer in layers for command, package in _COMMANDS.get(layer, {}).items()}
    return missing + [package for command, package in commands.items() if shutil.which(command) is None]


def install_missing_packages(*layers: Layer) -> None:
    """Install what is missing of these layers.

    Raises `Problem` with the exact command when there is neither root nor sudo.
    """
    if shutil.which("dpkg-query") is None:
        raise Problem(
            "this is no Debian system", "RowSocket's set-up knows Debian 12; see docs/operating.md for others"
        )
    missing = missing_packages(layers)
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    network.require(f"installing {len(missing)} missing system packages")
    say(f"installing {len(missing)} missing packages: {' '.join(missing)}")
    as_root = _become_root(missing, command)
    hints = ("as root: apt-get update && " + " ".join(command),)
    with step("apt-get update"):
        # One of the machine's mirrors may be out of order for long, so only a network that gives nothing
        # counts.
        said = run(
            [*as_root, "apt-get", "-q", "-o", "Acquire::Retries=1", "update"],
            what="apt-get update",
            hints=hints,
        )
        if network.names_trouble(said) and not re.search(r"^(Get|Hit):", said, re.MULTILINE):
            lines = [f"| {line}" for line in said.splitlines()]
            raise network.NetworkProblem("the network does not answer: apt reaches no mirror", *lines, *hints)
    with step("apt-get install"):
        # sudo does not hand on the environment, so it is set behind it
        words = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", *command]
        network.fetch(words, what="apt-get install", hints=hints)


def _become_root(missing: Sequence[str], command: Sequence[str]) -> list[str]:
    """What to put before a command that needs root."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        what = f"{len(missing)} packages are missing and there is neither root nor sudo"
        raise Problem(what, "as root: " + " ".join(command))
    subprocess.run(["sudo", "--validate"])  # asks for the password now, not from below a spinner
    return ["sudo"]
