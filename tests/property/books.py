# SPDX-License-Identifier: GPL-2.0-only
"""What clients know besides rows of shapes: the tables, how they are opened, and the requests that are made
of books.

Counters that all share are in counters.py, foreign keys in family.py, tables that give ids in tokens.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from property.ingredients import register
from property.requests import FIRST_FREE_ID, ROWS_PER_OWNER
from property.rows import Find, Insert, OwnRows
from property.steps import Book, Refusals
from support.raw import token

COUNTERS = register("counters", "shape", "counters that all clients increment, in InnoDB")
MYISAM_COUNTERS = register("myisam_counters", "shape", "counters that all clients increment, in MyISAM")
FAMILY = register(
    "family", "shape", "parents, children that follow them by cascades, and rows that refer to these"
)
NUMBERED = register("numbered", "shape", "AUTO_INCREMENT")
SEQUENCED = register("sequenced", "shape", "a default from a sequence")

COUNTER_IDS = range(4)
FAMILY_TABLES = ("parent", "child", "toy", "guard")
OPENED = {
    "counter": ("counter", "n", "id"),
    "mcounter": ("mcounter", "n", "id"),
    "audited_audit": ("audited_audit", "n", "id"),
    "parent": ("parent", "id,n", ""),
    "child": ("child", "id,parent,n", ""),
    "toy": ("toy", "id,child", ""),
    "guard": ("guard", "id,parent", ""),
    "numbered": ("numbered", "token,n", ""),
    "numbered_n": ("numbered", "n", ""),
    "sequenced": ("sequenced", "token", ""),
}
"""What books open: table, columns and filter columns."""
UNUSED_ID = FIRST_FREE_ID + 60
BOOK_IDS = {name: FIRST_FREE_ID + number for number, name in enumerate(OPENED)}
TABLES: dict[str, tuple[str, ...]] = {
    COUNTERS: (
        "CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT NOT NULL)",
        f"INSERT INTO counter SELECT seq, 0 FROM seq_0_to_{len(COUNTER_IDS) - 1}",
    ),
    MYISAM_COUNTERS: (
        "CREATE TABLE mcounter (id INT PRIMARY KEY, n BIGINT NOT NULL) ENGINE=MyISAM",
        f"INSERT INTO mcounter SELECT seq, 0 FROM seq_0_to_{len(COUNTER_IDS) - 1}",
    ),
    FAMILY: (
        "CREATE TABLE parent (id INT PRIMARY KEY, n INT NOT NULL)",
        (
            "CREATE TABLE child (id INT PRIMARY KEY, parent INT NOT NULL, n INT NOT NULL,"
            " twice INT AS (parent * 2) VIRTUAL,"
            " FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)"
        ),
        (
            "CREATE TABLE toy (id INT PRIMARY KEY, child INT NULL,"
            " FOREIGN KEY (child) REFERENCES child (id) ON DELETE SET NULL ON UPDATE CASCADE)"
        ),
        (
            "CREATE TABLE guard (id INT PRIMARY KEY, parent INT NOT NULL,"
            " FOREIGN KEY (parent) REFERENCES parent (id))"
        ),
    ),
    NUMBERED: (
        (
            "CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, token BIGINT NOT NULL,"
            " n INT NOT NULL DEFAULT 0,"
            " UNIQUE KEY by_token (token))"
        ),
    ),
    SEQUENCED: (
        "CREATE SEQUENCE ids CACHE 10",
        "CREATE TABLE sequenced (id BIGINT NOT NULL DEFAULT NEXTVAL(ids) PRIMARY KEY, token BIGINT NOT NULL)",
    ),
}


def book_open_line(database: str, name: str) -> bytes:
    """The open_index of what a book opens."""
    table, columns, filters = OPENED[name]
    return f"P\t{BOOK_IDS[name]}\t{database}\t{table}\t\t{columns}\t{filters}".encode()


def request_line(name: str, *tokens: bytes | str | int | None) -> bytes:
    """A request on what was opened under this name."""
    return b"\t".join(map(token, (BOOK_IDS[name], *tokens)))


@dataclass
class OwnedMember:
    """A request on rows of a shape."""

    book: OwnRows
    request: Find | Insert
    line: bytes

    @property
    def is_write(self) -> bool:
        return self.request.writes

    @property
    def is_for_groups(self) -> bool:
        return self.book.shape.is_for_groups

    @property
    def has_one_phase(self) -> bool:
        return self.book.shape.has_one_phase

    @property
    def keeps_changes(self) -> bool:
        return not self.book.shape.is_transactional

    @property
    def rows(self) -> int:
        return (
            len(self.request.rows) if isinstance(self.request, Insert) and self.request.clause == "E" else 0
        )

    @property
    def touches(self) -> int:
        if isinstance(self.request, Insert):
            return len(self.request.rows)
        return ROWS_PER_OWNER if self.is_write else 0

    def in_part(self, seen: Collection[tuple[Any, ...]]) -> Iterator[OwnedMember]:
        """What may be done of rows that are each for themselves, where SQL sees these rows.

        A KILL fails those behind it, or one that waits, or all that wait: any of them. So of all the parts
        only those are of use that leave what is seen, apart from what later requests make of it.
        """
        if not isinstance(self.request, Insert) or not self.rows:
            return
        rows = self.request.rows
        beginnings = [rows[:count] for count in range(1, len(rows) + 1)]
        without_one = [
            one[:number] + one[number + 1 :] for one in beginnings for number in range(len(one) - 1)
        ]
        values = {tuple(one[:4]) for one in seen}
        as_seen = tuple(row for row in rows if (*row[:3], row[3] or "") in values)
        ids = {one[0] for one in seen}
        with_seen_ids = tuple(row for row in rows if row[0] in ids)
        for part in [*beginnings[:-1], *without_one, as_seen, with_seen_ids]:
            yield replace(self, request=replace(self.request, rows=part))

    def run(self, reply: bytes | None, refusals: Refusals | None) -> bytes | None:
        if isinstance(self.request, Insert) and self.rows and reply is not None and refusals is not None:
            return self._run_each(self.request, reply.split(b"\t")[2::2], refusals)
        return self.book.do(self.request)

    def _run_each(self, request: Insert, outcomes: list[bytes], refusals: Refusals) -> bytes:
        """Each row for itself: those that were refused because of others are not there."""
        rows = len(request.rows)
        is_one = refusals.is_one_of_a_change if self.keeps_changes else refusals.is_one
        refused = [outcome[:1] == b"!" and is_one(b"1\t1\t" + outcome[1:]) for outcome in outcomes]
        refused = (refused + [False] * rows)[:rows]
        done = tuple(row for row, is_refused in zip(request.rows, refused, strict=True) if not is_refused)
        replied = iter(self.book.do(Insert(done, clause="E")).split(b"\t")[2:])
        expected = [b"0\t2"]
        for number, is_refused in enumerate(refused):
            expected += [outcomes[number], b"\0"] if is_refused else [next(replied), next(replied)]
        if any(refused):
            self.book.refused(request)
        return b"\t".join(expected)

    def changed(self) -> int:
        return self.book.changed_count

    def accepts(self, reply: bytes) -> bool:
        return False

    def refused(self) -> None:
        self.book.refused(self.request)


@dataclass
class BookMember:
    """A request to a book of this file: what to do in it, and which replies are right where that depends on
    others."""

    book: Book
    line: bytes
    act: Callable[[], bytes | None]
    is_write: bool = True
    is_for_groups: bool = True
    accept: Callable[[bytes], bool] = lambda reply: False
    has_one_phase: bool = False

    keeps_changes: bool = False
    rows: int = 0
    touches: int = 1
    _did: bytes | None = None

    def run(self, reply: bytes | None, refusals: Refusals | None) -> bytes | None:
        self._did = self.act()
        return self._did

    def changed(self) -> int:
        return int(self._did != b"0\t1\t0")

    def accepts(self, reply: bytes) -> bool:
        return self.accept(reply)

    def refused(self) -> None:
        pass


# ---- names


_ALIASES = (
    ("#mysql50#mysql", "global_priv", "Host,User,Priv"),
    ("mysql", "#mysql50#global_priv", "Host,User,Priv"),
    ("#mysql50#mysql", "plugin", "name,dl"),
    ("#mysql50#d", "plain", "id,g,n,s"),
    ("d", "#mysql50#plain", "id,g,n,s"),
)


class Nothing:
    """A book without anything in it."""

    def copy(self) -> Nothing:
        return self

    def take(self, other: Nothing) -> None: ...

    def undone(self, was: Nothing) -> None: ...


def an_alias(choose: random.Random) -> BookMember:
    """An open_index that must be refused, whatever is going on."""
    database, table, columns = choose.choice(_ALIASES)
    line = f"P\t{UNUSED_ID}\t{database}\t{table}\t\t{columns}".encode()
    return BookMember(Nothing(), line, lambda: b"1\t1\topen_table", False)
