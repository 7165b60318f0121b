# SPDX-License-Identifier: GPL-2.0-only
"""A client: some connections, its books, and batches of random requests whose every reply it knows
beforehand.

A batch is sent in one piece over one of its connections, its replies are compared with the books, and the
next batch goes over another one: what was acknowledged on one connection must be seen on all, of whichever
worker and port.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from property import bank, ingredients
from property.bank import BANK, Bank, Customer
from property.books import (
    BOOK_IDS,
    COUNTERS,
    FAMILY,
    MYISAM_COUNTERS,
    NUMBERED,
    SEQUENCED,
    OwnedMember,
    an_alias,
    book_open_line,
)
from property.counters import CounterBook, Totals
from property.family import FamilyBook
from property.ingredients import (
    ALIASES,
    CHANGES,
    CONNECTIONS,
    FAILING,
    FINDS,
    GROUPS,
    INSERTS,
    MANY,
    READ_PORT,
    SHORT_CONNECTIONS,
)
from property.requests import (
    IDS,
    Owner,
    a_change,
    a_read,
    an_insert,
    find_line,
    insert_line,
    many_inserts,
    open_line,
)
from property.rows import Find, OwnRows
from property.shapes import AUDITED, BY_NAME
from property.steps import OK, Alone, Group, Member, Refusals, Step, Unknown, Wrong
from property.tokens import TokenBook
from property.unknown import settle_unknown
from support.mariadb import RowSocketServer
from support.raw import ConnectionClosed, RawConnection

BATCH_MAX = 24
BATCH_MAX_WHERE_CONNECTIONS_BREAK = 6
GROUP_MAX = 5
ANSWER_TIMEOUT_S = 60.0
LOG_LENGTH = 3000


@dataclass
class Exchange:
    """A line that was sent, and what came back."""

    at_s: float
    connection: str
    line: bytes
    reply: bytes | None = None


def without_detail(reply: bytes) -> bytes:
    """An error without its sentence for people, which is for those who read the log of a failure."""
    return reply if reply.startswith(b"0") else b"\t".join(reply.split(b"\t")[:3])


class Link:
    """One connection and what was opened on it."""

    def __init__(self, server: RowSocketServer, port: str, name: str) -> None:
        self.server, self.port, self.name = server, port, name
        self.opened: set[int] = set()
        self._address = self._where()
        self._raw = RawConnection(self._address, ANSWER_TIMEOUT_S)

    def _where(self) -> tuple[str, int] | str:
        return self.server.read_address() if self.port == "read" else self.server.write_address()

    def renew(self) -> None:
        """Close, and connect anew."""
        self._raw.close()
        self.opened.clear()
        self._raw = RawConnection(self._address, ANSWER_TIMEOUT_S)

    def move(self) -> None:
        """Connect to where the server serves now: after a start it may be elsewhere."""
        self._address = self._where()
        self.renew()

    def send(self, data: bytes) -> None:
        self._raw.send(data)

    def line(self) -> bytes:
        return self._raw.line()

    def close(self) -> None:
        self._raw.close()


@dataclass
class Books:
    """All that one client knows."""

    owned: dict[str, OwnRows]
    counters: dict[str, CounterBook]
    family: FamilyBook | None
    tokens: dict[str, TokenBook]
    customer: Customer | None


def make_books(owner: Owner, mix: frozenset[str], totals: dict[str, Totals], bank: Bank) -> Books:
    """Empty books for what is in the mix."""
    counters = {name: CounterBook(name, totals[name], name != "mcounter") for name in totals}
    for book in counters.values():
        book.totals.books.append(book)
    return Books(
        {name: OwnRows(shape) for name, shape in BY_NAME.items() if name in mix},
        counters,
        FamilyBook(owner) if FAMILY in mix else None,
        {name: TokenBook(name, owner, mix) for name in (NUMBERED, SEQUENCED) if name in mix},
        Customer(bank) if BANK in mix else None,
    )


def make_totals(mix: frozenset[str], *, sees_all: bool) -> dict[str, Totals]:
    """The counters that all clients share, by what they open."""
    opened = {COUNTERS: "counter", MYISAM_COUNTERS: "mcounter", "audited": "audited_audit"}
    return {
        name: Totals(counts_others=name == "audited_audit", sees_all=sees_all)
        for ingredient, name in opened.items()
        if ingredient in mix
    }


Makes = Callable[[bool], Member | None]
"""Makes a random member; the argument says whether it may only read."""


class Client:
    """A client and its books."""

    def __init__(
        self,
        server: RowSocketServer,
        number: int,
        mix: frozenset[str],
        seed: int,
        refusals: Refusals,
        books: Books,
    ) -> None:
        self.server = server
        self.owner = Owner(number)
        self.mix = mix
        self.books = books
        self.refusals = refusals
        self.log: deque[Exchange] = deque(maxlen=LOG_LENGTH)
        self.answers = 0
        self.choose = random.Random(f"{seed}/client {number}")
        ports = [
            "write",
            *(["write"] if CONNECTIONS in mix else []),
            *(["read", "read"] if READ_PORT in mix else []),
        ]
        self.unsettled: list[Step] = []
        """What was sent and has no reply yet."""
        self.links = [Link(server, port, f"client {number} {port} {nth}") for nth, port in enumerate(ports)]
        self._sources = self._all_sources()

    def close(self) -> None:
        for link in self.links:
            link.close()

    # ---- what to ask

    def _all_sources(self) -> list[Makes]:
        sources: list[Makes] = []
        for own in self.books.owned.values():
            sources += self._sources_of(own)
        for book in self.books.counters.values():
            ids = range(AUDITED) if book.opened == "audited_audit" else None
            sources += [self._counter_source(book, ids)] * 2
        for other in (self.books.family, *self.books.tokens.values()):
            if other is not None:
                sources += [self._book_source(other)] * 2
        return sources

    def _sources_of(self, own: OwnRows) -> list[Makes]:
        choose, owner, mix = self.choose, self.owner, self.mix

        def find(request: Find) -> Member:
            return OwnedMember(own, request, find_line(own.shape, request))

        def read(_: bool) -> Member | None:
            return find(a_read(choose, owner, own))

        def change(reads_only: bool) -> Member | None:
            return None if reads_only else find(a_change(choose, owner, own, mix))

        def insert(reads_only: bool) -> Member | None:
            if reads_only:
                return None
            request = an_insert(choose, owner, own, mix)
            return OwnedMember(own, request, insert_line(own.shape, request))

        def many(reads_only: bool) -> Member | None:
            if reads_only:
                return None
            request = many_inserts(choose, owner, own, mix)
            return OwnedMember(own, request, insert_line(own.shape, request))

        makers = {FINDS: read, CHANGES: change, INSERTS: insert, MANY: many}
        return [make for name, make in makers.items() if name in mix]

    def _counter_source(self, book: CounterBook, ids: range | None) -> Makes:
        if ids is None:
            return lambda reads_only: book.member(self.choose, reads_only)
        return lambda reads_only: book.member(self.choose, reads_only, ids)

    def _book_source(self, book: FamilyBook | TokenBook) -> Makes:
        return lambda reads_only: book.member(self.choose, reads_only)

    def _members(self, count: int, reads_only: bool) -> list[Member]:
        made = (self.choose.choice(self._sources)(reads_only) for _ in range(count if self._sources else 0))
        return [member for member in made if member is not None]

    def _group(self, reads_only: bool) -> Group | None:
        members = self._members(self.choose.randint(1, GROUP_MAX), reads_only)
        if FAILING in self.mix and not reads_only and self.choose.random() < 0.4:
            place = self.choose.randint(0, len(members))
            members[place:place] = self._failing()
        if not members:
            return None
        each = any(one.rows for one in members)  # may change nothing
        return Group(members, must=not each and self.choose.random() < 0.3, gtid=self.choose.random() < 0.2)

    def _failing(self) -> list[Member]:
        """An insert of a row that is there, if there is one."""
        there = [own for own in self.books.owned.values() if own.rows and own.shape.is_transactional]
        if not there:
            return []
        own = self.choose.choice(there)
        row = self.choose.choice(list(own.rows.values()))
        request = an_insert(self.choose, self.owner, own, self.mix)
        request = type(request)(((row.id, *request.rows[0][1:]),), is_plain=True)
        return [OwnedMember(own, request, insert_line(own.shape, request))]

    def _batch(self, reads_only: bool) -> list[Step]:
        steps: list[Step] = []
        most = BATCH_MAX if not self._may_break() else BATCH_MAX_WHERE_CONNECTIONS_BREAK
        for _ in range(self.choose.choice((1, 1, 2, 4, self.choose.randint(1, most)))):
            if ALIASES in self.mix and self.choose.random() < 0.05:
                steps.append(Alone(an_alias(self.choose)))
            elif self.books.customer is not None and self.choose.random() < 0.15:
                steps.append(self.books.customer.step(self.choose, reads_only, GROUPS in self.mix))
            elif GROUPS in self.mix and self.choose.random() < 0.25:
                group = self._group(reads_only)
                steps += [group] if group is not None else []
            else:
                steps += [Alone(member) for member in self._members(1, reads_only)]
        return steps[:most]

    def _may_break(self) -> bool:
        return bool(self.mix & ingredients.BREAKING)

    # ---- asking

    def work(self) -> None:
        """One batch over one connection.

        Raises `Wrong`; `ConnectionClosed` or TimeoutError where no reply came, and `Unknown` where one does
        not tell.
        """
        link = self.choose.choice(self.links)
        if SHORT_CONNECTIONS in self.mix and self.choose.random() < 0.1:
            link.renew()
        steps = self._batch(link.port == "read")
        if not steps:
            return
        opens = self._opens(link, steps)
        lines = [*opens.values(), *(line for step in steps for line in step.lines)]
        sent = [Exchange(time.monotonic(), link.name, line) for line in lines]
        self.log += sent
        link.send(b"".join(line + b"\n" for line in lines))
        replies = iter(sent)

        def next_reply() -> bytes:
            exchange = next(replies)
            exchange.reply = link.line()
            self.answers += 1
            return without_detail(exchange.reply)

        self.unsettled = list(steps)
        self.refusals.unopened = False
        for number in opens:
            reply = next_reply()
            self.refusals.unopened |= reply != OK
            if reply == OK:
                link.opened.add(number)
            elif not self.refusals.is_one(reply):
                raise Wrong(f"{opens[number]!r} was answered {reply!r}")
        for number, step in enumerate(steps):
            replies_of_it = [next_reply() for _ in step.lines]
            self.refusals.touches = sum(member.touches for member in step.members)
            try:
                step.settle(replies_of_it, self.refusals)
            except Unknown:
                with suppress(ConnectionClosed):
                    for later in steps[number + 1 :]:  # all of the batch is over before somebody looks
                        self.refusals.touches = sum(member.touches for member in later.members)
                        later.knows([next_reply() for _ in later.lines], self.refusals)
                raise
            self.unsettled.pop(0)
            self._settle_counters()

    def come_back(self, read: Callable[[str], list[tuple[Any, ...]]]) -> None:
        """After connections broke: see what was done of what was not answered, and connect anew.

        `read` executes SQL. Raises `Wrong` if the rows are nobody's doing.
        """
        self.settle_unknown(read)
        for link in self.links:
            link.move()

    def settle_unknown(self, read: Callable[[str], list[tuple[Any, ...]]]) -> None:
        """See what was done of what was not answered."""
        settle_unknown(self.unsettled, self.owner, read)
        self.unsettled = []
        self._settle_counters()

    def _settle_counters(self) -> None:
        for book in self.books.counters.values():
            book.settle()

    def _opens(self, link: Link, steps: list[Step]) -> dict[int, bytes]:
        """What must be opened on this connection before."""
        numbers = {
            int(line.split(b"\t")[0]) for step in steps for line in step.lines if line[:1].isdigit()
        } - link.opened
        return {number: _OPEN_LINES[number] for number in sorted(numbers)}

    def last_second(self) -> list[str]:
        """What was sent and answered at the end."""
        if not self.log:
            return []
        end_s = self.log[-1].at_s
        last = [one for one in self.log if one.at_s > end_s - 1]
        return [f"{one.at_s - end_s:+.4f} {one.connection}: {one.line!r} -> {one.reply!r}" for one in last]


DATABASE = "d"
_OPEN_LINES = {
    **{number: open_line(DATABASE, BY_NAME[shape], index) for (shape, index), number in IDS.items()},
    **{number: book_open_line(DATABASE, name) for name, number in BOOK_IDS.items()},
    **bank.OPEN_LINES,
}
