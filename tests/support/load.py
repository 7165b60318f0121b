# SPDX-License-Identifier: GPL-2.0-only
"""Clients that go on while a test does something else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Self

from support.threads import Threads

Operation = Callable[[], None]
JOIN_TIMEOUT_S = 120.0


class Load:
    """Threads that each repeat an operation until the end of the `with` block, which raises the first error
    of any of them.

    `make(number, stack)` makes the operation of one thread; what it opens it enters into `stack`. All are
    made before the block begins, and each operation has run once by then.
    """

    def __init__(self, thread_count: int, make: Callable[[int, ExitStack], Operation]) -> None:
        self._counts = [0] * thread_count
        self._stop = threading.Event()
        self._stack = ExitStack()
        self._operations = [make(number, self._stack) for number in range(thread_count)]
        self._threads = Threads(partial(self._run, number) for number in range(thread_count))

    def _run(self, number: int) -> None:
        while not self._stop.is_set():
            self._operations[number]()
            self._counts[number] += 1

    def operations(self) -> int:
        """How many operations have been done so far."""
        return sum(self._counts)

    def wait_for_more(self, timeout_s: float = JOIN_TIMEOUT_S) -> None:
        """Wait until every thread has done one more operation; raises the first error, or AssertionError when
        it lasts."""
        before = list(self._counts)
        deadline = time.monotonic() + timeout_s
        while any(now <= then for now, then in zip(self._counts, before, strict=True)):
            self.raise_error()
            assert time.monotonic() < deadline, f"some clients stand still: {before} then {self._counts}"
            time.sleep(0.002)

    def raise_error(self) -> None:
        """Raise the first error of any thread."""
        self._threads.raise_error()

    def __enter__(self) -> Self:
        self._threads.start()
        try:
            self.wait_for_more()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        if error is None:
            self.raise_error()

    def _end(self) -> None:
        self._stop.set()
        self._threads.join(JOIN_TIMEOUT_S)
        self._stack.close()
