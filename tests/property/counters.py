# SPDX-License-Identifier: GPL-2.0-only
"""Counters that all clients increment: what was acknowledged to anybody must be seen by everybody, and add up
at the end."""

from __future__ import annotations

import math
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from property.books import COUNTER_IDS, BookMember, request_line


class Totals:
    """What all clients together know of the counters of one table."""

    def __init__(self, *, counts_others: bool, sees_all: bool) -> None:
        self.counts_others = counts_others
        """Whether triggers count here as well."""
        self.sees_all = sees_all
        """Whether a read sees what was acknowledged before, wherever that was."""
        self.books: list[CounterBook] = []
        self.sent: Counter[int] = Counter()
        self._lock = threading.Lock()

    def will_send(self, counter: int, amount: int) -> None:
        """An increment is about to be sent."""
        with self._lock:
            self.sent[counter] += amount

    def acknowledged(self, counter: int) -> int:
        """The sum of what was acknowledged to anybody until now."""
        return sum(book.settled[counter] for book in self.books)

    def floor(self, counter: int) -> int:
        """No read that is sent from now on may find less."""
        return self.acknowledged(counter) if self.sees_all else 0

    def unknown(self, counter: int) -> int:
        """The sum of what was not answered."""
        return sum(book.unknown[counter] for book in self.books)


@dataclass
class CounterBook:
    """One client's part of the counters of one table."""

    opened: str
    totals: Totals
    is_transactional: bool = True
    acknowledged: Counter[int] = field(default_factory=Counter)
    unknown: Counter[int] = field(default_factory=Counter)
    settled: Counter[int] = field(default_factory=Counter)
    """What was acknowledged, as other clients may see it: without what is only tried and undone."""

    def settle(self) -> None:
        """What is in the book is so."""
        self.settled = self.acknowledged.copy()

    def copy(self) -> CounterBook:
        return CounterBook(
            self.opened, self.totals, self.is_transactional, self.acknowledged.copy(), self.unknown.copy()
        )

    def take(self, other: CounterBook) -> None:
        self.acknowledged = other.acknowledged.copy()

    def undone(self, was: CounterBook) -> None:
        self.take(was)

    def becomes_unknown(self, was: CounterBook) -> None:
        """Whether what came since `was` was done is not known."""
        self.unknown += self.acknowledged - was.acknowledged
        self.take(was)

    def member(self, choose: random.Random, reads_only: bool, ids: Sequence[int] = COUNTER_IDS) -> BookMember:
        """A random request."""
        counter = choose.choice(ids)
        floor = self.totals.floor(counter)
        if reads_only or choose.random() < 0.3:
            line = request_line(self.opened, "=", 1, counter)
            return BookMember(
                self, line, lambda: None, False, self.is_transactional, self._is_value(counter, floor)
            )
        amount = choose.randint(1, 3)
        self.totals.will_send(counter, amount)

        def act(reply: bytes | None) -> bytes | None:
            self.acknowledged[counter] += amount
            return reply

        if choose.random() < 0.5:
            line = request_line(self.opened, "=", 1, counter, 1, 0, "+!", amount)
            accept = self._is_value(counter, floor + amount)
            return self._increment(line, lambda: act(None), accept)
        line = request_line(self.opened, "=", 1, counter, 1, 0, "+", amount)
        return self._increment(line, lambda: act(b"0\t1\t1"), lambda reply: False)

    def _increment(
        self, line: bytes, act: Callable[[], bytes | None], accept: Callable[[bytes], bool]
    ) -> BookMember:
        """`act` in this book, which any table keeps that has no transactions."""
        return BookMember(
            self, line, act, True, self.is_transactional, accept, keeps_changes=not self.is_transactional
        )

    def _is_value(self, counter: int, floor: int) -> Callable[[bytes], bool]:
        """Whether it is the value of a counter that has at least `floor`, and no more than anybody sent."""

        def accept(reply: bytes) -> bool:
            found = re.fullmatch(rb"0\t1\t(\d+)", reply)
            most = math.inf if self.totals.counts_others else self.totals.sent[counter]
            return found is not None and floor <= int(found[1]) <= most

        return accept
