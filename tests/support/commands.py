# SPDX-License-Identifier: GPL-2.0-only
"""Programs that tests run to the end."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

TIMEOUT_S = 120.0


def run(command: Sequence[str | Path], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """Run a program; what it prints. A failure fails the test with the output, one that lasts raises TimeoutExpired."""
    done = subprocess.run(
        command,
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
