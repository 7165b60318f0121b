# SPDX-License-Identifier: GPL-2.0-only
"""What was done to a server, in its order: one JSON array per line, which replay.py can do again.

    [0, "run", seed, plugins]            the first line
    [seconds, who, what, text]

`who` is a connection or an SQL session; `what` is "open read", "open write", "send", "close", "reset" or
"sql". Bytes are written as the characters U+0000 to U+00FF.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

Event = tuple[float, str, str, str]


class Journal:
    """Writes events from all threads."""

    def __init__(self, path: Path, seed: int, plugins: tuple[str, ...]) -> None:
        self._file = path.open("w")
        self._lock = threading.Lock()
        self._began_s = time.monotonic()
        self._file.write(json.dumps((0, "run", str(seed), " ".join(plugins))) + "\n")

    def note(self, who: str, what: str, data: bytes = b"") -> None:
        """Write an event."""
        event = (round(time.monotonic() - self._began_s, 4), who, what, data.decode("latin-1"))
        line = json.dumps(event)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    def close(self) -> None:
        """No more events."""
        self._file.close()


def read(path: Path) -> tuple[Event, list[Event]]:
    """The first line and the events of a journal."""
    first, *events = (_event(line) for line in path.read_text().splitlines())
    return first, events


def write(path: Path, first: Event, events: list[Event]) -> None:
    """A journal of these events."""
    path.write_text("".join(json.dumps(event) + "\n" for event in (first, *events)))


def _event(line: str) -> Event:
    seconds, who, what, text = json.loads(line)
    return float(seconds), str(who), str(what), str(text)
