# SPDX-License-Identifier: GPL-2.0-only
"""What the clients ask: random requests on a few hot rows or pairs, half of them on what was changed last.

Every value is new, so that it says which write a reader saw. The checker's work doubles with each operation
that is under way on a register beside others, or has no reply: so there are not too many of them at once. A
register that has had enough is left, and a fresh one takes its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from linearizability.history import Operation, Step
from linearizability.requests import ROWS, Group, Request, RowsRead

OPERATIONS_PER_REGISTER = 1500
UNKNOWN_PER_REGISTER = 4
UNDER_WAY_PER_REGISTER = 10
VALUES_APART = 1000
"""Increments stay below this, so that values made by them are new, too."""

CHANGES = {"swap": 3, "update": 1, "compare_and_set": 4, "increment": 4, "delete": 1, "insert": 1}
"""How often each change of a row that is there is asked for. One that is not there is mostly inserted."""


SHARE_OF_READS = 0.4
"""Of the requests of those who do not only follow others."""


@dataclass(eq=False)
class Register:
    """A row, or two; the values are those last heard of. A row that is not there has the value None."""

    name: str
    values: dict[int, int | None]
    asked: int = 0
    under_way: int = 0
    changes_under_way: int = 0
    unknown: int = 0

    def is_worn(self) -> bool:
        return self.asked >= OPERATIONS_PER_REGISTER or self.unknown >= UNKNOWN_PER_REGISTER

    def is_crowded(self) -> bool:
        return self.under_way >= UNDER_WAY_PER_REGISTER


class Workload:
    """Makes requests, and hears what came of them. Who sends one sets when its operations were called."""

    rows_of_each = 1
    hot_count = 6

    def __init__(self, random: Random) -> None:
        self.random = random
        self.registers: dict[str, Register] = {}
        self._keys = itertools.count(1)
        self._values = itertools.count(VALUES_APART, VALUES_APART)
        self._last_changed: Register | None = None
        self._just_changed: list[Register] = []
        self.hot = [self._fresh() for _ in range(self.hot_count)]

    def _fresh(self) -> Register:
        keys = list(itertools.islice(self._keys, self.rows_of_each))
        name = "-".join(map(str, keys))
        register = self.registers[name] = Register(name, dict.fromkeys(keys))
        return register

    # ── what is asked ──────────────────────────────────────────────────────────────────────────────────────

    def read_of(self, register: Register, client: int) -> Request:
        """A read of all rows of a register in one request."""
        raise NotImplementedError

    def random_read(self, client: int) -> Request:
        """A random request that only reads."""
        raise NotImplementedError

    def random_change(self, client: int) -> Request:
        """A random request that changes something."""
        raise NotImplementedError

    def random_request(self, client: int) -> Request:
        """A random request."""
        reads = self.random.random() < SHARE_OF_READS
        return self.random_read(client) if reads else self.random_change(client)

    def new_value(self) -> int:
        """One that no row ever had."""
        return next(self._values)

    def _hot_register(self) -> Register:
        """The one that was changed last, or any."""
        last = self._last_changed
        if last is not None and not last.is_worn() and not last.is_crowded() and self.random.random() < 0.5:
            return last
        return self._any_register()

    def _any_register(self, other_than: Register | None = None) -> Register:
        for place, register in enumerate(self.hot):
            if register.is_worn():
                self.hot[place] = self._fresh()
        others = [register for register in self.hot if register is not other_than]
        return self.random.choice([register for register in others if not register.is_crowded()] or others)

    def _operation(self, register: Register, client: int, steps: list[Step]) -> Operation:
        operation = Operation(register.name, client, 0, steps)
        register.asked += 1
        register.under_way += 1
        register.changes_under_way += operation.changes()
        return operation

    def _kind_of_change(self, *, row_is_there: bool) -> str:
        if not row_is_there and self.random.random() < 0.8:
            return "insert"
        return self.random.choices([*CHANGES], [*CHANGES.values()])[0]

    def _step(self, do: str, register: Register, key: int) -> Step:
        value = 1 if do == "increment" else self.new_value()
        return Step(key, do, value, (register.values[key] or 0) if do == "compare_and_set" else 0)

    # ── what came of it ────────────────────────────────────────────────────────────────────────────────────

    def heard(self, request: Request, operations: Iterable[Operation]) -> None:
        """A request was answered just now: these operations have taken place."""
        self._ended(request)
        for operation in operations:
            register = self.registers[operation.register]
            for step in operation.steps:
                if step.do in ("read", "increment"):  # of a swap, the value is what it was before
                    register.values[step.key] = step.result
                elif step.result:
                    register.values[step.key] = None if step.do == "delete" else step.value
                if step.do != "read" and step.result:
                    self._last_changed = register
                    self._just_changed.append(register)

    def left_open(self, request: Request) -> None:
        """Nobody will ever hear what came of a request."""
        self._ended(request)
        for operation in request.operations:
            self.registers[operation.register].unknown += operation.changes()

    def _ended(self, request: Request) -> None:
        for operation in request.operations:
            register = self.registers[operation.register]
            register.under_way -= 1
            register.changes_under_way -= operation.changes()

    def take_changed(self) -> list[Register]:
        """Those of which a change was heard since this was asked last."""
        changed, self._just_changed = self._just_changed, []
        return changed


class Rows(Workload):
    """Each row is a register: a request about two rows is an operation on each."""

    def read_of(self, register: Register, client: int) -> Request:
        [key] = register.values
        step = Step(key, "read")
        return Request([self._operation(register, client, [step])], [step])

    def random_read(self, client: int) -> Request:
        """One row; or two rows in one find, or in a group."""
        first = self._hot_register()
        if self.random.random() < 0.8:
            return self.read_of(first, client)
        second = self._any_register(other_than=first)
        steps = [Step(key, "read") for key in (*first.values, *second.values)]
        pairs = zip((first, second), steps, strict=True)
        operations = [self._operation(row, client, [step]) for row, step in pairs]
        if self.random.random() < 0.5:
            return Group(operations, steps, must=False)
        return RowsRead(operations, steps, in_list(*(step.key for step in steps)))

    def random_change(self, client: int) -> Request:
        """One row; or two rows in a group, each in its own way."""
        first = self._hot_register()
        step = self._change(first)
        operation = self._operation(first, client, [step])
        if self.random.random() < 0.75:
            return Request([operation], [step])
        second = self._any_register(other_than=first)
        other_step = self._change(second)
        operations = [operation, self._operation(second, client, [other_step])]
        return Group(operations, [step, other_step], must=self.random.random() < 0.5)

    def _change(self, row: Register) -> Step:
        [(key, value)] = row.values.items()
        return self._step(self._kind_of_change(row_is_there=value is not None), row, key)


class Pairs(Workload):
    """Each two rows are a register: groups change both, and a find reads both.

    The changes of a pair are sent one after the other. Two transactions that commit at the same instant are
    seen by InnoDB's snapshots in either order, since MariaDB lists the running transactions without a lock.
    So one snapshot may have only the first of two changes, and another snapshot only the second one.
    """

    rows_of_each = 2
    hot_count = 6

    def read_of(self, register: Register, client: int) -> Request:
        """An IN list, in either order, or a range."""
        low, high = register.values
        steps = [Step(key, "read") for key in register.values]
        text = self.random.choice((in_list(low, high), in_list(high, low), closed_range(low, high)))
        return RowsRead([self._operation(register, client, steps)], steps, text)

    def random_read(self, client: int) -> Request:
        return self.read_of(self._hot_register(), client)

    def _hot_registers(self) -> list[Register]:
        """All of them, the one that was changed last first."""
        first = self._hot_register()
        return [first, *(pair for pair in self.hot if pair is not first)]

    def random_change(self, client: int) -> Request:
        """The same change of both rows in a group, in either order; now and then of one of them, alone.

        A read, if all pairs are being changed.
        """
        pair = next(
            (pair for pair in self._hot_registers() if not pair.changes_under_way and not pair.unknown), None
        )
        if pair is None:
            return self.random_read(client)
        keys = list(pair.values)
        self.random.shuffle(keys)
        if self.random.random() < 0.3:
            step = self._step("increment", pair, keys[0])
            return Request([self._operation(pair, client, [step])], [step])
        do = self._kind_of_change(row_is_there=None not in pair.values.values())
        steps = [self._step(do, pair, key) for key in keys]
        return Group([self._operation(pair, client, steps)], steps, must=self.random.random() < 0.5)


def in_list(*keys: int) -> bytes:
    """A find of several rows by their keys."""
    values = b"\t".join(b"%d" % key for key in keys)
    return b"%d\t=\t1\t\t%d\t0\t@\t0\t%d\t%b\n" % (ROWS, len(keys), len(keys), values)


def closed_range(low: int, high: int) -> bytes:
    """A find of the rows from one key to another."""
    return b"%d\t>=\t1\t%d\t%d\t0\tT\t<=\t1\t%d\n" % (ROWS, low, high - low + 1, high)
