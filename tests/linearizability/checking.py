# SPDX-License-Identifier: GPL-2.0-only
"""The checker, a Go program around Porcupine (checker/): how it is built, and how it is asked."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from linearizability.history import History
from support import go_programs

SOURCE = Path(__file__).parent / "checker"
TIME_LIMIT_S = 600.0

LINEARIZABLE, NOT_LINEARIZABLE, UNREADABLE, UNDECIDED = range(4)
"""How the program ends."""


class Verdict(NamedTuple):
    """How the checker ended and what it said."""

    code: int
    said: str


def build(folder: Path) -> Path:
    """Build the program, whose one module is Porcupine, into a folder. Raises go_programs.NoProgram."""
    return go_programs.build(SOURCE, folder / "checker")


class Checker:
    """The built program."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def verdict(self, history: History, folder: Path, *, time_limit_s: float = TIME_LIMIT_S) -> Verdict:
        """Check a history, which is kept in `folder`, with pictures of what is not linearizable."""
        file = folder / "history.jsonl"
        history.write(file)
        return self.verdict_on_file(file, time_limit_s=time_limit_s)

    def verdict_on_file(self, file: Path, *, time_limit_s: float = TIME_LIMIT_S) -> Verdict:
        """The same for a history that was written before."""
        options = ["-time-limit", f"{time_limit_s}s", "-pictures", str(file.parent)]
        command = [str(self._program), *options, str(file)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return Verdict(done.returncode, done.stdout + done.stderr)

    def check(self, history: History) -> None:
        """Raises AssertionError if the history is not linearizable, or that is not known; then it is kept."""
        folder = Path(tempfile.mkdtemp(prefix="rs-history-", dir="/tmp"))
        verdict = self.verdict(history, folder)
        print(verdict.said)
        assert verdict.code == LINEARIZABLE, f"{verdict.said}the history and pictures are kept in {folder}"
        shutil.rmtree(folder)
