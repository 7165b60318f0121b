# SPDX-License-Identifier: GPL-2.0-only
"""Makes an unpacked server of another Debian release run here, through that release's own libraries.

A newer server wants a newer C library than this machine has. A program cannot choose its C library by a
search path alone, because the kernel starts it with the machine's loader. So each program of the tree is
moved aside, and a small script in its place starts it through the tree's loader:

    usr/sbin/mariadbd            the script: what callers start, as in any other tree
    usr/sbin/mariadbd.program    the program
    runtime/                     the other release's libraries, with its loader

The script becomes the program (exec), so process ids and signals are the program's. Programs of this machine
that the server starts are not touched by any of it, because nothing goes through the environment.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from rowsocket_x.console import Problem, run
from rowsocket_x.private_apt import PrivateApt

PACKAGES = ("mariadb-server-core", "mariadb-client-core", "mariadb-backup", "galera-4")
"""What must run; with the packages that they need in turn come their libraries."""

_RUNTIME = "runtime"
_MOVED = ".program"

_SCRIPT = """\
#!/bin/sh
# Made by ./x setup: starts a program of another Debian release through that release's own loader.
here=$(readlink -f "$0")
tree=${{here%/{place}}}
runtime=$tree/runtime
exec "$runtime/{loader}" --library-path "$runtime/{libraries}:$tree/{libraries}" \\
  --argv0 "$0" "$here{moved}" "$@"
"""


def download(private: PrivateApt, into: Path) -> list[Path]:
    """Download the packages that hold the server's libraries, down to the C library."""
    return private.download([name for name in private.would_install(PACKAGES) if name not in PACKAGES], into)


def add(packages: Sequence[Path], tree: Path) -> None:
    """Unpack library packages beside the server in `tree`, and put the scripts in place of its programs."""
    for package in packages:
        run(["dpkg", "-x", package, tree / _RUNTIME], what=f"unpacking {package.name}")
    put_scripts(tree)


def put_scripts(tree: Path) -> None:
    """Put the scripts in place of the programs of `tree`, whose libraries are there."""
    loader = _loader(tree / _RUNTIME)
    for folder in ("usr/bin", "usr/sbin"):
        for program in sorted((tree / folder).iterdir()):
            if not program.is_symlink() and _is_program(program):
                _put_script(program, tree, loader)


def _loader(runtime: Path) -> Path:
    """The loader of the unpacked C library, relative to `runtime`; its folder is the one of the libraries."""
    found = sorted((runtime / "usr/lib").glob("*/ld-linux-*.so.*"))
    if len(found) != 1:
        raise Problem(
            "the other Debian release's C library has no loader where it is looked for (usr/lib/*/ld-linux-*)"
        )
    return found[0].relative_to(runtime)


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return os.access(path, os.X_OK) and file.read(4) == b"\x7fELF"


def _put_script(program: Path, tree: Path, loader: Path) -> None:
    program.rename(program.with_name(program.name + _MOVED))
    place = program.relative_to(tree)
    words = {
        "place": place,
        "runtime": _RUNTIME,
        "loader": loader,
        "libraries": loader.parent,
        "moved": _MOVED,
    }
    program.write_text(_SCRIPT.format(**words))
    program.chmod(0o755)
