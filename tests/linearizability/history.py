# SPDX-License-Identifier: GPL-2.0-only
"""A history of concurrent clients: what each operation asked of which row, when, and what it was told.

All times are nanoseconds of one monotonic clock, taken in one process: before the request is handed to the
socket, and after its reply was taken from there. So an operation that was answered before another was sent
took effect before it, whoever asked.

A *register* is what is checked by itself: one row, or a pair of rows that finds read and groups change
together. An operation on a register is *steps*, which take effect at one instant. The checker (checker/)
reads what `write` writes, and says what it means.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Step:
    """One thing done to one row.

    `result` is what the reply says: of a "read" the value, of an "increment" the new one, of a "swap" the old
    one (None: no such row); of an "insert", "update", "compare_and_set" or "delete" how many rows it changed.
    It means nothing before there is a reply.
    """

    key: int
    do: str
    value: int = 0
    expected: int = 0
    result: int | None = None


@dataclass(slots=True)
class Operation:
    """Steps on one register.

    `returned_ns` is None where no reply came: it happened at any time after `called_ns`, or never.
    """

    register: str
    client: int
    called_ns: int
    steps: list[Step]
    returned_ns: int | None = None

    def changes(self) -> bool:
        """Whether it does anything but read."""
        return any(step.do != "read" for step in self.steps)

    def as_json(self) -> str:
        record = {
            "register": self.register,
            "client": self.client,
            "call": self.called_ns,
            "return": self.returned_ns,
            "steps": [asdict(step) for step in self.steps],
        }
        return json.dumps(record)


@dataclass
class History:
    """The operations of all clients. Those that surely did nothing, and tell nothing, are only counted."""

    operations: list[Operation] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    """How many requests were answered with an error that says that nothing was done, by its text."""

    def add(self, operations: Iterable[Operation]) -> None:
        self.operations += operations

    def without_reply_count(self) -> int:
        """How many operations have an unknown outcome."""
        return sum(operation.returned_ns is None for operation in self.operations)

    def successes(self) -> Counter[str]:
        """How many steps of each kind found what they asked for, or changed a row."""
        answered = [operation for operation in self.operations if operation.returned_ns is not None]
        return Counter(step.do for operation in answered for step in operation.steps if step.result)

    def write(self, path: Path) -> None:
        """Write it for the checker: JSON lines."""
        with path.open("w") as file:
            file.writelines(operation.as_json() + "\n" for operation in self.operations)
