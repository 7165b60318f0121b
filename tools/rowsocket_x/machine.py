# SPDX-License-Identifier: GPL-2.0-only
"""System packages: which ones are needed, which are missing, and installing those through apt.

Where nothing is missing, no root is needed and apt is not even asked.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping

from rowsocket_x.console import Problem, run, say, step

BUILD_PACKAGES = (
    "ca-certificates",
    "g++",
    "cmake",
    "ninja-build",
    "ccache",
    "pkg-config",
    "libssl-dev",
    "libgtest-dev",
    "libgmock-dev",
    "librapidcheck-dev",
    "nlohmann-json3-dev",
    "dpkg-dev",
    "patch",
    "python3-venv",
)
FUZZING_PACKAGES = ("clang-14", "libclang-rt-14-dev", "llvm-14", "valgrind")

# For the tests with Perl's Net::HandlerSocket, which is compiled from the server's source.
COMPATIBILITY_PACKAGES = ("libperl-dev", "libdbi-perl", "libdbd-mariadb-perl")

# What the unpacked server and its tools are linked with or run by (the Depends of mariadb-server-core, -client-core and -backup).
RUNTIME_PACKAGES = (
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
    "perl",
    "zlib1g",
)

COMMANDS: Mapping[str, str] = {"node": "nodejs", "nc": "netcat-openbsd"}
"""Needed as a command, from wherever it comes; the package is only installed where the command is missing."""


def missing_packages() -> list[str]:
    """The packages above that are not installed."""
    wanted = [*BUILD_PACKAGES, *FUZZING_PACKAGES, *COMPATIBILITY_PACKAGES, *RUNTIME_PACKAGES]
    known = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *wanted], capture_output=True, text=True
    ).stdout
    installed = {line.split()[0] for line in known.splitlines() if line.endswith(" installed")}
    missing = [package for package in wanted if package not in installed]
    missing += [package for command, package in COMMANDS.items() if shutil.which(command) is None]
    return missing


def install_missing_packages() -> None:
    """Install what is missing. Raises `Problem` with the exact command when there is neither root nor sudo."""
    if shutil.which("dpkg-query") is None:
        raise Problem("this is no Debian system", "RowSocket's set-up knows Debian 12; see docs/operating.md for others")
    missing = missing_packages()
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() == 0:
        as_root: list[str] = []
    elif shutil.which("sudo"):
        as_root = ["sudo"]
        subprocess.run(["sudo", "--validate"])  # asks for the password now, not from below a spinner
    else:
        raise Problem(f"{len(missing)} packages are missing and there is neither root nor sudo", "as root: " + " ".join(command))
    say(f"installing {len(missing)} missing packages: {' '.join(missing)}")
    hints = ("is there a network?", "as root: apt-get update && " + " ".join(command))
    with step("apt-get update"):
        run([*as_root, "apt-get", "-q", "update"], what="apt-get update", hints=hints)
    with step("apt-get install"):
        # sudo does not hand on the environment, so it is set behind it
        run([*as_root, "env", "DEBIAN_FRONTEND=noninteractive", *command], what="apt-get install", hints=hints)
