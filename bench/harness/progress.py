# SPDX-License-Identifier: GPL-2.0-only
"""What a run says on the terminal: one line for each measurement, and below them how far it is.

The bar is drawn over itself, so there is none where the output is no terminal. There each line begins with
the percentage.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

BAR_LETTERS = 24
CLEAR_LINE = "\r\x1b[2K"


class Progress:
    """Counts measurements against how many there will be."""

    def __init__(self, out: TextIO, total: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._total = max(total, 1)
        self._now_s = now_s
        self._start_s = now_s()
        self._done = 0
        self._has_bar = out.isatty()

    def say(self, line: str) -> None:
        """A line that stays."""
        self._write(line if self._has_bar else f"[{self._percent():3.0f} %] {line}")

    def skipped(self, measurements: int) -> None:
        """So many will not be made."""
        self._total = max(self._total - measurements, 1)

    def measured(self, line: str) -> None:
        """One measurement was made; the line says what came of it."""
        self._done += 1
        self.say(line)

    def end(self) -> None:
        """Take the bar away."""
        if self._has_bar:
            self._out.write(CLEAR_LINE)
            self._out.flush()

    def _percent(self) -> float:
        return min(100.0, 100 * self._done / self._total)

    def _write(self, line: str) -> None:
        if self._has_bar:
            self._out.write(f"{CLEAR_LINE}{line}\n{self.bar()}")
        else:
            self._out.write(line + "\n")
        self._out.flush()

    def bar(self) -> str:
        """How far it is, and how long the rest will take if it goes on like this."""
        full = round(BAR_LETTERS * self._percent() / 100)
        left = ""
        if 0 < self._done < self._total:
            left_s = (self._now_s() - self._start_s) / self._done * (self._total - self._done)
            left = f", about {left_s // 60:.0f}:{left_s % 60:02.0f} left"
        bar = "#" * full + "-" * (BAR_LETTERS - full)
        return f"[{bar}] {self._percent():.0f} %, {self._done} of {self._total}{left}"
