# SPDX-License-Identifier: GPL-2.0-only
"""What was done to a server, in its order: one JSON array per line, which replay.py can do again.

    [seconds, who, what, text]

`who` is a connection or an SQL session; `what` is "open read", "open write", "send", "close", "reset" or "sql".
Bytes are written as the characters U+0000 to U+00FF.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path


class Journal:
    """Writes events from all threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("w")
        self._lock = threading.Lock()
        self._began_s = time.monotonic()

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
