# SPDX-License-Identifier: GPL-2.0-only
"""A program at a terminal (a pty): what is typed, what is seen, how large it is."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

TIMEOUT_S = 120.0
HOME = "\x1b[H"
SHOWN = "\x1b[?2026l"
_ESCAPES = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")


class Terminal:
    """One program from its beginning to its end; at its end it is killed if it still runs."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], columns: int = 100, lines: int = 30
    ) -> None:
        self._command, self._environment = command, {**environment, "TERM": "xterm"}
        self._size = columns, lines
        self.text = ""
        """All that it wrote, with its escapes."""

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        self.resize(*self._size)
        for name in ("COLUMNS", "LINES"):
            self._environment.pop(name, None)
        self.process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._slave = slave
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._slave)
        os.close(self._master)

    def resize(self, columns: int, lines: int) -> None:
        """Another size, which the program is told of."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, text: str) -> None:
        """As with a keyboard."""
        os.write(self._master, text.encode())

    def send(self, number: signal.Signals) -> None:
        """A signal."""
        self.process.send_signal(number)

    def is_raw(self) -> bool:
        """Whether the program, not the terminal, shows what is typed."""
        return not termios.tcgetattr(self._slave)[3] & termios.ECHO

    def until(self, what: str, condition: Callable[[], bool]) -> None:
        """Read what it writes until `condition` holds."""
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, f"not in {TIMEOUT_S} s: {what}\n{self.text}"
            self._read(0.05)

    def end(self) -> int:
        """Read until it has ended; its exit code."""
        self.until("it ends", lambda: self.process.poll() is not None)
        self._read(0)
        return self.process.wait()

    def picture(self) -> list[str]:
        """The lines of the last whole picture; none as long as there is none."""
        pictures = self.text.split(HOME)[1:]
        whole = [one for one in pictures if SHOWN in one]
        if not whole:
            return []
        shown = whole[-1].partition(SHOWN)[0]
        return [_ESCAPES.sub("", line) for line in shown.split("\r\n")]

    def _read(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            with contextlib.suppress(OSError):
                self.text += os.read(self._master, 65536).decode("utf-8", "replace")
            seconds = 0
