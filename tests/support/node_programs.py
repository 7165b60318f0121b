# SPDX-License-Identifier: GPL-2.0-only
"""Packages of npm that tests need."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def install(folder: Path, *packages: str) -> Path:
    """Make `folder` one in which `require` finds the packages, given as name@version. Skips the test where
    they can not be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node or npm is not there: apt-get install nodejs npm")
    (folder / "package.json").write_text("{}")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"]
    done = subprocess.run(
        ["npm", "install", *options, *packages],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CI": "1"},
    )
    if done.returncode != 0:
        pytest.skip(f"npm could not fetch {' and '.join(packages)}: {done.stderr[-300:]}")
    return folder
