# SPDX-License-Identifier: GPL-2.0-only
"""Programs that tests run to the end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

TIMEOUT_S = 120.0


def run(
    command: Sequence[str | Path],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    standard_input: Path | None = None,
) -> str:
    """Run a program; what it prints. A failure fails the test with the output, one that lasts raises
    TimeoutExpired.

    `standard_input` is the file that it reads there, by default none.
    """
    with (standard_input or Path(os.devnull)).open("rb") as source:
        done = subprocess.run(
            command,
            stdin=source,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout
