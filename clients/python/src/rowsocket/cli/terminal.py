# SPDX-License-Identifier: MIT
"""A terminal whose whole screen shows pictures, one in the place of the other, until a key ends it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, Literal

try:
    import termios
    import tty
except ModuleNotFoundError:  # not on Windows
    termios = tty = None  # type: ignore[assignment]

from rowsocket.cli.output import is_terminal

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
"""Another screen than that of the shell, no cursor, no going on in the next line at the end of one."""
LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
HOME, LINE, REST_OF_SCREEN = "\x1b[H", "\x1b[2K", "\x1b[J"
BEGIN, SHOWN = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know these show what is between them at once."""
DEFAULT_SIZE = 80, 24
RESIZED, STOP = b"r", b"z"
QUITS = b"qQ\x03"

Event = Literal["due", "resized", "quit"]


def can_show() -> bool:
    """Whether standard output is such a terminal."""
    return is_terminal(sys.stdout) and termios is not None and os.environ.get("TERM", "dumb") != "dumb"


def size() -> tuple[int, int]:
    """Columns and lines of the terminal now."""
    try:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns = lines = 0
    return columns or DEFAULT_SIZE[0], lines or DEFAULT_SIZE[1]


class Screen:
    """The terminal while `pictures` lasts."""

    def __init__(self) -> None:
        self._keys = sys.stdin.fileno() if is_terminal(sys.stdin) else None
        self._was: Any = None if self._keys is None else termios.tcgetattr(self._keys)
        self._woken, self._wake = os.pipe()

    def show(self, lines: Sequence[str]) -> None:
        """In the place of what was shown. The lines fit."""
        # What was there is erased first: behind a full line the cursor stands on its last character.
        *above, last = lines
        picture = "\n".join([*(LINE + line for line in above), REST_OF_SCREEN + last])
        sys.stdout.write(f"{BEGIN}{HOME}{picture}{SHOWN}")
        sys.stdout.flush()

    def wait(self, seconds: float) -> Event:
        """What comes first: the end of the time, another size, or q."""
        end_s = time.monotonic() + seconds
        while True:
            watched = [self._woken] + ([] if self._keys is None else [self._keys])
            ready, _, _ = select.select(watched, [], [], max(end_s - time.monotonic(), 0))
            if self._woken in ready:
                if STOP in os.read(self._woken, 1024):
                    self._stop()
                return "resized"
            if not ready:
                return "due"
            typed = os.read(ready[0], 1024)
            if not typed or any(key in QUITS for key in typed):
                return "quit"

    def enter(self) -> None:
        """Take the terminal."""
        if self._keys is not None:
            tty.setcbreak(self._keys, termios.TCSANOW)
        sys.stdout.write(ENTER)
        sys.stdout.flush()

    def leave(self) -> None:
        """Give it back."""
        sys.stdout.write(LEAVE)
        sys.stdout.flush()
        if self._keys is not None:
            termios.tcsetattr(self._keys, termios.TCSANOW, self._was)

    def close(self) -> None:
        """Give back what `Screen` took."""
        os.close(self._woken)
        os.close(self._wake)

    def _stop(self) -> None:
        """Ctrl-Z: the shell gets its terminal, and later this goes on."""
        self.leave()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # stands still here
        signal.signal(signal.SIGTSTP, handler)
        self.enter()

    # Handlers of signals, which may come while something is being written.

    def on_resize(self, number: int, frame: FrameType | None) -> None:
        """Another size."""
        os.write(self._wake, RESIZED)

    def on_stop(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z."""
        os.write(self._wake, STOP)

    def on_end(self, number: int, frame: FrameType | None) -> None:
        """SIGTERM: the terminal is given back first."""
        sys.exit(128 + number)


@contextlib.contextmanager
def pictures() -> Iterator[Screen]:
    """The screen is the pictures' own within."""
    screen = Screen()
    handlers = {
        signal.SIGWINCH: screen.on_resize,
        signal.SIGTSTP: screen.on_stop,
        signal.SIGTERM: screen.on_end,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    screen.enter()
    try:
        yield screen
    finally:
        screen.leave()
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        screen.close()
