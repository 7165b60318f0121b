# SPDX-License-Identifier: GPL-2.0-only
"""Threads of a test, whose errors the test is to see."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable


class Threads:
    """Each runs one function once. What goes wrong in them, whatever it is, is kept in `errors`."""

    def __init__(self, functions: Iterable[Callable[[], None]]) -> None:
        self.errors: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(function,), daemon=True) for function in functions
        ]

    def _run(self, function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            self.errors.append(error)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait until all have ended, for so long on each; False if one goes on."""
        for thread in self._threads:
            thread.join(timeout_s)
        return not any(thread.is_alive() for thread in self._threads)

    def raise_error(self) -> None:
        """Raise the first error of any thread."""
        if self.errors:
            raise self.errors[0]
