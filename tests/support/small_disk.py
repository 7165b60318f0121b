# SPDX-License-Identifier: GPL-2.0-only
"""A disk that can be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[Path]:
    """A file system of this size at `folder`, which must not be in use at the end."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system takes root")
    folder.mkdir()
    mount: list[str | Path] = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "rowsocket-test", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
