# SPDX-License-Identifier: GPL-2.0-only
"""Programs in Go that tests need: built with what their go.mod names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from support.tree import environment_path

BUILD_TIMEOUT_S = 600.0


class NoProgram(AssertionError):
    """A program could not be built; the text says what is missing."""


def build(source: Path, program: Path) -> Path:
    """Build the folder `source` into `program`. Raises NoProgram.

    Modules are fetched when they are missing, through the module proxy that this machine's Go is set to use.
    What Go keeps is in the folder that ROWSOCKET_GO_CACHE names.
    """
    if shutil.which("go") is None:
        raise NoProgram("there is no Go to build with: ./x setup, or apt-get install golang-go")
    cache = environment_path("ROWSOCKET_GO_CACHE")
    environment = {**os.environ, "GOMODCACHE": str(cache / "modules"), "GOCACHE": str(cache / "built")}
    done = subprocess.run(
        ["go", "build", "-modcacherw", "-buildvcs=false", "-o", str(program), "."],
        cwd=source,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILD_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        hint = "is there a network, and does `go env GOPROXY` name a proxy that can be reached?"
        raise NoProgram(f"go could not fetch or build {source.name}; {hint}\n{done.stdout}")
    return program
