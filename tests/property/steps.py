# SPDX-License-Identifier: GPL-2.0-only
"""What a client sends as one thing, and what must come back: a request, or a group of them.

A member asks something of a book, which is a part of what its client knows: `run` makes it happen there, and
gives the reply that must come. A refusal is another matter: somebody else was in the way, nothing has
happened, and whether such a reply may come depends on what is going on beside (`Refusals`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol, Self

from property.rows import Refused

OK = b"0\t1"
UNDONE = b"1\t1\tgroup"
REFUSED_AS_A_WHOLE = b"2\t1\tgroup"
NOT_OPENED = b"2\t1\tstmtnum"
UNCHANGED = b"1\t1\tunchanged"
NO_TRANSACTIONS = b"1\t1\tnotrans"
AFTER_THE_CHANGE = frozenset({"1290", "1317", "1927"})
"""Errors of read_only and of KILL, which a commit may meet as well. A table without transactions has the
change by then, and keeps it, as in SQL; one with transactions does not."""
TOO_MANY_ROWS = "1180"
CHANGES_OF_A_ROW_MAX = 6
"""A row that replaces two others, and what a trigger writes of each of the three."""
_GTID = re.compile(rb"0\t1\t(\d+-\d+-\d+)?")


class Wrong(AssertionError):
    """A reply that is right for nothing."""


class Unknown(Exception):
    """A reply that does not tell whether the request was done."""


class Book(Protocol):
    """What a client knows of some rows."""

    def copy(self) -> Self:
        """The same, to go back to."""

    def take(self, other: Self) -> None:
        """Become as `other` is."""

    def undone(self, was: Self) -> None:
        """What was done since `was` has been undone by the server; what cannot be undone may be there."""


class Member(Protocol):
    """One request."""

    @property
    def line(self) -> bytes:
        """As it is sent."""

    @property
    def book(self) -> Book:
        """What it asks something of."""

    @property
    def is_write(self) -> bool:
        """Whether it may change rows."""

    @property
    def is_for_groups(self) -> bool:
        """Whether all that it does can be undone."""

    @property
    def has_one_phase(self) -> bool:
        """Whether its table's engine has no first phase of a commit: not beside changes, even to read."""

    @property
    def keeps_changes(self) -> bool:
        """Whether a change is in its table as soon as it is made, and stays there whatever comes after it."""

    @property
    def rows(self) -> int:
        """How many rows it inserts each for itself; 0 if it is no such insert."""

    @property
    def touches(self) -> int:
        """How many rows it may change at most, but for those that it replaces, their history, and what
        triggers do."""

    def run(self, reply: bytes | None, refusals: Refusals | None) -> bytes | None:
        """Do it in the book; the reply that must come, None if `accepts` has to look. Raises `Refused`.

        What came tells which of several rows were refused because of others; without it, none was.
        """

    def changed(self) -> int:
        """How many rows the last `run` changed."""

    def accepts(self, reply: bytes) -> bool:
        """Whether a reply is right that `run` could not foretell."""

    def refused(self) -> None:
        """The server refused it: nothing was done but what cannot be undone."""


class Step(Protocol):
    """What is sent as one thing."""

    @property
    def lines(self) -> list[bytes]:
        """As it is sent."""

    @property
    def members(self) -> Sequence[Member]:
        """The requests that books know."""

    def settle(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """Compare the replies with what is known; raises `Wrong`."""

    def pretend(self) -> None:
        """Do it in the books, with what is known of its replies."""

    def knows(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """These replies came, behind one that does not tell whether its step was done."""

    def unanswered(self) -> None:
        """No reply has come, and none will: note what the books of its members do not say."""


@dataclass
class Refusals:
    """Which errors may come because of others, and how often each came."""

    allowed: frozenset[str]
    unknown: frozenset[str] = frozenset()
    """Those that do not tell whether the request was done."""
    seen: Counter[str] = field(default_factory=Counter)
    rows_max: int = 0
    """How many rows a transaction may change; 0 = any number."""
    touches: int = 0
    """How many rows the step at hand may change: the sum of its members' `touches`."""
    unopened: bool = False
    """Whether an open_index was refused just now, so that its id means nothing."""

    def is_one(self, reply: bytes) -> bool:
        """Whether this reply refuses, and may. Raises `Unknown`."""
        code, _, text = reply.partition(b"\t1\t")
        error = text.split(b"\t")[0].decode(errors="replace")
        if code == b"1" and error in self.unknown:
            raise Unknown(error)
        is_allowed = error in self.allowed or (error == TOO_MANY_ROWS and self._may_be_too_many_rows())
        return (code == b"1" and is_allowed) or (self.unopened and reply.startswith(NOT_OPENED))

    def _may_be_too_many_rows(self) -> bool:
        return 0 < self.rows_max < self.touches * CHANGES_OF_A_ROW_MAX

    def is_one_of_a_change(self, reply: bytes) -> bool:
        """The same for a change that is kept. Raises `Unknown` also if it may have been made before."""
        is_one = self.is_one(reply)
        if is_one and reply.split(b"\t")[2].decode() in AFTER_THE_CHANGE:
            raise Unknown(reply.decode())
        return is_one

    def note(self, reply: bytes) -> None:
        """It has come."""
        self.seen[reply.split(b"\t")[2].decode()] += 1


def _expect(expected: bytes, reply: bytes, line: bytes) -> None:
    if reply != expected:
        raise Wrong(f"{line!r}\n  was answered {reply!r}\n  instead of   {expected!r}")


def _no_row_of(rows: int, reply: bytes | None, refusals: Refusals | None) -> bytes:
    """The reply to rows that a group cannot insert, each for itself. Others may be in a row's way before."""
    outcomes = reply.split(b"\t")[2::2] if reply is not None and refusals is not None else []
    no_row = [b"!notrans"] * rows
    for number, outcome in enumerate(outcomes[:rows]):
        if refusals is not None and outcome[:1] == b"!" and refusals.is_one(b"1\t1\t" + outcome[1:]):
            no_row[number] = outcome
    return b"\t".join([b"0\t2", *(outcome + b"\t\0" for outcome in no_row)])


def is_refused_group(replies: Sequence[bytes], refused: Collection[bytes]) -> bool:
    """Whether these are the replies to a group whose beginning, one member or commit was refused."""
    others = {reply for reply in replies[1:] if reply not in refused}
    if replies[0] != OK:
        return replies[0] in refused and others == {REFUSED_AS_A_WHOLE}
    by_commit = len(set(replies[1:])) == 1
    return by_commit or (sum(reply in refused for reply in replies[1:]) == 1 and others <= {UNDONE})


@dataclass
class Alone:
    """A request that stands for itself."""

    member: Member
    reply: bytes | None = None
    refusals: Refusals | None = None

    @property
    def lines(self) -> list[bytes]:
        return [self.member.line]

    def knows(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """Of rows that are each for themselves, the reply says which were refused."""
        self.reply, self.refusals = replies[0], refusals

    @property
    def members(self) -> list[Member]:
        return [self.member]

    def unanswered(self) -> None:
        """What its books do not say of it."""

    def settle(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """Compare the reply with the book; raises `Wrong`."""
        reply = replies[0]
        keeps = self.member.is_write and self.member.keeps_changes
        if refusals.is_one_of_a_change(reply) if keeps else refusals.is_one(reply):
            refusals.note(reply)
            self.member.refused()
            return
        try:
            expected = self.member.run(reply, refusals)
        except Refused as refused:
            expected = refused.reply
        if expected is not None:
            _expect(expected, reply, self.member.line)
        elif not self.member.accepts(reply):
            raise Wrong(f"{self.member.line!r} was answered {reply!r}")

    def pretend(self) -> None:
        """Do it in the book."""
        with suppress(Refused):
            try:
                self.member.run(self.reply, self.refusals)
            except Unknown:  # this reply does not tell it, either
                self.member.run(None, None)


@dataclass
class Group:
    """An atomic group of requests."""

    members: list[Member]
    must: bool = False
    gtid: bool = False
    replies: Sequence[bytes] = ()
    refusals: Refusals | None = None

    @property
    def lines(self) -> list[bytes]:
        begin = b"G" + (b"\tmust" if self.must else b"") + (b"\tgtid" if self.gtid else b"")
        return [begin, *(member.line for member in self.members), b"E"]

    def knows(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """As of a request alone."""
        self.replies, self.refusals = replies, refusals

    def unanswered(self) -> None:
        """What its books do not say of it."""

    def settle(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """Compare the replies with the books; raises `Wrong`."""
        inner = replies[1:-1]
        refused = [reply for reply in replies if refusals.is_one(reply)]
        if refused:
            refusals.note(refused[0])
            self._settle_refused(replies, set(refused))
            return
        before = [(member.book, member.book.copy()) for member in self.members]
        expected, failed = self._run(inner, refusals)
        if failed is not None:
            self._undo(before)
            expected = [
                UNDONE if number != failed else expected[failed] for number in range(len(self.members))
            ]
        ends = (
            [UNDONE]
            if failed is not None
            else [replies[-1]]
            if self.gtid and _GTID.fullmatch(replies[-1])
            else [OK]
        )
        wanted = [OK, *expected, *ends]
        asked: list[Member | None] = [None, *self.members, None]
        for line, right, reply, member in zip(self.lines, wanted, replies, asked, strict=True):
            if reply != right and (right is not None or member is None or not member.accepts(reply)):
                pairs = "\n  ".join(
                    f"{one!r} -> {answer!r}" for one, answer in zip(self.lines, replies, strict=True)
                )
                raise Wrong(f"in a group:\n  {pairs}\n  {line!r} was answered {reply!r}, not {right!r}")

    def pretend(self) -> None:
        """Do it in the books."""
        before = [(member.book, member.book.copy()) for member in self.members]
        try:
            failed = self._run(self.replies[1:-1] or [None] * len(self.members), self.refusals)[1]
        except Unknown:  # these replies do not tell it, either
            failed = 0
        if failed is not None:
            self._undo(before)

    def _run(
        self, replies: Sequence[bytes | None], refusals: Refusals | None
    ) -> tuple[list[bytes | None], int | None]:
        """The replies up to the first member that cannot be done, and the number of that.

        A table without transactions may be noticed before any member runs.
        """
        expected: list[bytes | None] = []
        writes = any(one.is_write for one in self.members)
        unfit = [
            number
            for number, one in enumerate(self.members)
            if (one.is_write and not one.is_for_groups) or (writes and one.has_one_phase)
        ]
        for number in unfit:
            if replies[number] == NO_TRANSACTIONS:
                return [*[None] * number, NO_TRANSACTIONS], number
        for number, (member, reply) in enumerate(zip(self.members, replies, strict=True)):
            try:
                if number in unfit and member.rows:
                    expected.append(_no_row_of(member.rows, reply, refusals))
                    continue
                if number in unfit:
                    raise Refused(NO_TRANSACTIONS)
                expected.append(member.run(reply, refusals))
                if self.must and member.is_write and member.changed() == 0:
                    raise Refused(UNCHANGED)
            except Refused as refused:
                expected[number:] = [refused.reply]
                return expected, number
        return expected, None

    def _undo(self, before: list[tuple[Book, Book]]) -> None:
        for book, was in reversed(before):
            book.undone(was)

    def _settle_refused(self, replies: Sequence[bytes], refused: Collection[bytes]) -> None:
        """One member was refused, or the commit and so all of them, or the group itself: nothing was done."""
        if not is_refused_group(replies, refused):
            raise Wrong(f"group {self.lines!r} was answered {list(replies)!r}")
        for member in self.members:
            member.refused()
