# SPDX-License-Identifier: GPL-2.0-only
"""The file that switches a change on and tells which changes were come by (switch.h has its layout)."""

import struct
from pathlib import Path

NAME = "ROWSOCKET_MUTANTS_STATE"
"""The environment variable with the file's name, for every process that is tried."""

REACHED_FOLDER = "ROWSOCKET_MUTANTS_REACHED"
"""The environment variable with the folder where tests on servers write what they came by (reached.py)."""

CHANGES_MAX = 60_000
_REACHED_AT_BYTE = 4096
_BYTES = 65_536


class State:
    """One such file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Make the file, with no change on; servers of another user may write it, too."""
        self.path.write_bytes(bytes(_BYTES))
        self.path.chmod(0o666)

    def turn_on(self, change: int) -> None:
        """Turn a change on, by its number from 1; 0 turns off whichever is on."""
        with self.path.open("r+b") as file:
            file.write(struct.pack("=i", change))

    def forget_reached(self) -> None:
        """Forget which changes were come by."""
        with self.path.open("r+b") as file:
            file.seek(_REACHED_AT_BYTE)
            file.write(bytes(_BYTES - _REACHED_AT_BYTE))

    def reached(self) -> list[int]:
        """The changes that were come by since they were last forgotten, on or not."""
        marks = self.path.read_bytes()[_REACHED_AT_BYTE:]
        return [change for change, mark in enumerate(marks) if mark]
