# SPDX-License-Identifier: GPL-2.0-only
"""Where things are.

Everything that `./x` makes lies inside the project folder, in places that git ignores.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STATE = ROOT / ".rowsocket"
"""What set-up fetched: the private apt configuration, unpacked servers and headers, compiler cache."""

GO_CACHE = STATE / "go"
"""The module that the checker of histories (tests/linearizability) is built with, and what Go made of it."""

VENV = ROOT / ".venv"
BUILD = ROOT / "build"
VAR = ROOT / "var"
"""Default data directory of `./x run`."""

LOGS = BUILD / "logs"
"""Output of long commands, kept so that a failure can be read in full."""
