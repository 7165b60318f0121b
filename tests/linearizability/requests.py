# SPDX-License-Identifier: GPL-2.0-only
"""Requests of the protocol and what their replies say of the rows of one table: a key `k` and a number `v`.

A request is sent as one piece, and knows the operations that it consists of. Where it reads or changes
several rows, each is an operation of its own; but the rows of a pair are read and changed by one operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linearizability.history import Operation, Step

DATABASE = "history"
TABLE = f"{DATABASE}.kv"

VALUES, ROWS = 0, 1
"""The ids of the opened indexes: the value, which is the filter, too; the key and the value."""

OPEN_LINES = f"P\t{VALUES}\t{DATABASE}\tkv\t\tv\tv\nP\t{ROWS}\t{DATABASE}\tkv\t\tk,v\n".encode()
"""What each connection sends first."""

READS = ("read", "increment", "swap")
"""Steps whose reply is a value."""

OK = b"0\t1"
DUPLICATE = b"1\t1\t121"
UNCHANGED = b"1\t1\tunchanged"
UNDONE = (b"1\t1\tgroup", b"2\t1\tgroup")
"""What those members of a group are told that did not fail themselves."""

_ERRORS = ("146", "149", "188", "1205", "1213", "1317", "lock_tables", "open_table", "commit", "shutdown")
NOTHING_DONE = frozenset(f"1\t1\t{error}".encode() for error in _ERRORS)
"""Errors of which docs/protocol/handlersocket.md says that nothing of the request was done."""


def line(step: Step) -> bytes:
    """The request line of one step, with its LF."""
    key, value = step.key, step.value
    if step.do == "insert":
        return b"%d\t+\t2\t%d\t%d\n" % (ROWS, key, value)
    found = b"%d\t=\t1\t%d" % (VALUES, key)
    if step.do == "read":
        return found + b"\n"
    if step.do == "update":
        return found + b"\t1\t0\tU\t%d\n" % value
    if step.do == "swap":
        return found + b"\t1\t0\tU?\t%d\n" % value
    if step.do == "compare_and_set":
        return found + b"\t1\t0\tF\t=\t0\t%d\tU\t%d\n" % (step.expected, value)
    if step.do == "increment":
        return found + b"\t1\t0\t+!\t%d\n" % value
    assert step.do == "delete", step.do
    return found + b"\t1\t0\tD\n"


class Strange(AssertionError):
    """A reply that the protocol does not have."""


class Answer(NamedTuple):
    """What the reply to a request says. `operations` is None where it leaves open what was done."""

    operations: list[Operation] | None
    error: bytes | None = None


class Request:
    """One request: its bytes, its steps in the order of their replies, the operations that they belong to."""

    def __init__(
        self, operations: Sequence[Operation], steps: Sequence[Step], text: bytes | None = None
    ) -> None:
        self.operations = operations
        self.steps = steps
        self.text = line(steps[0]) if text is None else text
        self.lines: list[bytes] = []

    def name(self) -> int:
        """What the history calls who sent it."""
        return self.operations[0].client

    def line_count(self) -> int:
        """How many lines the reply has."""
        return 1

    def answer(self) -> Answer:
        """What the reply says, once all its lines are there. Raises Strange."""
        error = self._error()
        if error is None:
            try:
                self._note_results()
            except (ValueError, IndexError) as why:
                raise Strange(f"{self.text!r} was answered {self.lines!r}") from why
            return Answer(list(self.operations))
        if error in (DUPLICATE, UNCHANGED):
            return Answer([self._failed(error)], error)
        return Answer([] if error in NOTHING_DONE else None, error)

    def _error(self) -> bytes | None:
        reply = self.lines[0]
        return None if reply[:2] == b"0\t" else reply

    def _note_results(self) -> None:
        note_result(self.steps[0], self.lines[0])

    def _failed_step(self, error: bytes) -> Step:
        return self.steps[0]

    def _failed(self, error: bytes) -> Operation:
        """The step that failed says of its row that it is there, or that there was nothing to change."""
        step = self._failed_step(error)
        if (step.do == "insert") != (error == DUPLICATE):
            raise Strange(f"{self.text!r} was answered {self.lines!r}")
        step.result = None if step.do in READS else 0
        operation = next(operation for operation in self.operations if step in operation.steps)
        return Operation(operation.register, operation.client, operation.called_ns, [step])


class RowsRead(Request):
    """A find of several rows, with their keys: an IN list or a range."""

    def _note_results(self) -> None:
        tokens = self.lines[0].split(b"\t")[2:]
        values = dict(zip(map(int, tokens[::2]), map(int, tokens[1::2]), strict=True))
        for step in self.steps:
            step.result = values.pop(step.key, None)
        if values:
            raise ValueError("rows that were not asked for")


class Group(Request):
    """Requests between `G` and `E`."""

    def __init__(self, operations: Sequence[Operation], steps: Sequence[Step], *, must: bool) -> None:
        super().__init__(
            operations, steps, b"".join([b"G\tmust\n" if must else b"G\n", *map(line, steps), b"E\n"])
        )

    def line_count(self) -> int:
        return len(self.steps) + 2

    def _error(self) -> bytes | None:
        if self.lines[-1] == OK:
            return None
        errors = {line for line in self.lines if line[:2] != b"0\t" and line not in UNDONE}
        return errors.pop() if len(errors) == 1 else b" | ".join(self.lines)

    def _note_results(self) -> None:
        if self.lines[0] != OK:
            raise ValueError("an end without a beginning")
        for step, reply in zip(self.steps, self.lines[1:-1], strict=True):
            note_result(step, reply)

    def _failed_step(self, error: bytes) -> Step:
        return self.steps[self.lines.index(error) - 1]


def note_result(step: Step, reply: bytes) -> None:
    """Take over what the reply to a step that succeeded says. Raises ValueError, IndexError if it is none."""
    tokens = reply.split(b"\t")
    if tokens[:2] != [b"0", b"1"]:
        raise ValueError(reply)
    if step.do in READS:
        step.result = int(tokens[2]) if len(tokens) > 2 else None
    else:
        step.result = 1 if step.do == "insert" else int(tokens[2])
