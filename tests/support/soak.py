# SPDX-License-Identifier: GPL-2.0-only
"""How often and how long a test repeats what it tests: its own figure in `./x test`, far longer in
`./x soak`.

    ROWSOCKET_SOAK_SECONDS   a soak: go on for so long (shared equally by the tests of the run that ask for
                             the fixture `soak`)
    ROWSOCKET_FAULT_TRIALS   exactly so many trials, whatever else is said
    ROWSOCKET_SOAK_SEED      where `Soak.random` begins, so that a run's choices can be made again

A test that wants to be soaked takes the fixture `soak`, repeats with `for trial in soak.trials(5)` or works
for `soak.duration_s(60)`, and tells what it saw with `soak.saw("acknowledged writes", 3000)`. Each trial must
leave nothing behind: a server that it starts is removed by it. `./x soak` prints what was seen, and
tools/rowsocket_x/soaks.py lists the soaks.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator

import pytest

ONLY_AS_A_SOAK = pytest.mark.skipif(
    not any(
        os.environ.get(f"ROWSOCKET_{name}") for name in ("SOAK_SECONDS", "FAULT_TRIALS", "SOAK_SEED", "MIX")
    ),
    reason="only as a soak",
)
"""For random tests that meet faults of the server's own: tools/rowsocket_x/expected_skips.toml names them."""


class Soak:
    """The budget of one test, and what it saw. `tests_in_the_run` share the seconds."""

    def __init__(self, tests_in_the_run: int = 1) -> None:
        self.seed = int(os.environ.get("ROWSOCKET_SOAK_SEED") or random.randrange(1 << 32))
        self.random = random.Random(self.seed)
        self.seen: Counter[str] = Counter()
        self.notes: dict[str, str] = {}
        self._trials = int(os.environ.get("ROWSOCKET_FAULT_TRIALS") or 0)
        self._soak_s = float(os.environ.get("ROWSOCKET_SOAK_SECONDS") or 0) / max(1, tests_in_the_run)

    def is_long(self) -> bool:
        """Whether this is a soak: what is otherwise always the same may be left to chance."""
        return self._soak_s > 0 or self._trials > 0

    def duration_s(self, default_s: float) -> float:
        """For how long to work, in seconds."""
        return self._soak_s or default_s

    def trials(self, default_count: int) -> Iterator[int]:
        """0, 1, 2, ...: one for each trial to make, at least one. Those that were finished are counted."""
        count = self._trials or (None if self._soak_s else default_count)
        end_s = time.monotonic() + self._soak_s
        trial = 0
        while (trial < count) if count is not None else (trial == 0 or time.monotonic() < end_s):
            yield trial
            trial += 1
            self.saw("trials")

    def saw(self, what: str, count: int = 1) -> None:
        """Add to a count that is reported at the end."""
        self.seen[what] += count

    def note(self, what: str, value: str) -> None:
        """Report something that is no sum, such as `note("longest wait", "12 ms")`."""
        self.notes[what] = value

    def report(self) -> dict[str, str]:
        """What was seen, in the order in which it was first mentioned."""
        return {**{what: f"{count:,}" for what, count in self.seen.items()}, **self.notes}
