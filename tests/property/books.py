# SPDX-License-Identifier: GPL-2.0-only
"""What a client knows besides its rows in the tables of shapes: its part of what all share, and small worlds of its own.

Each book makes its tables, gives random requests about them, and says at the end what the tables must hold.
"""

from __future__ import annotations

import math
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from property.ingredients import FAILING, MANY, register
from property.requests import FIRST_FREE_ID, Owner
from property.rows import DUPLICATE, Find, Insert, OwnRows, Refused
from property.steps import OK, Book, Refusals
from support.raw import token

COUNTERS = register("counters", "shape", "counters that all clients increment, in InnoDB")
MYISAM_COUNTERS = register("myisam_counters", "shape", "counters that all clients increment, in MyISAM")
FAMILY = register("family", "shape", "parents, children that follow them by cascades, and rows that refer to these")
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
        "CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT NOT NULL) ENGINE=InnoDB",
        f"INSERT INTO counter SELECT seq, 0 FROM seq_0_to_{len(COUNTER_IDS) - 1}",
    ),
    MYISAM_COUNTERS: (
        "CREATE TABLE mcounter (id INT PRIMARY KEY, n BIGINT NOT NULL) ENGINE=MyISAM",
        f"INSERT INTO mcounter SELECT seq, 0 FROM seq_0_to_{len(COUNTER_IDS) - 1}",
    ),
    FAMILY: (
        "CREATE TABLE parent (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB",
        (
            "CREATE TABLE child (id INT PRIMARY KEY, parent INT NOT NULL, n INT NOT NULL, twice INT AS (parent * 2) VIRTUAL,"
            " FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB"
        ),
        (
            "CREATE TABLE toy (id INT PRIMARY KEY, child INT NULL,"
            " FOREIGN KEY (child) REFERENCES child (id) ON DELETE SET NULL ON UPDATE CASCADE) ENGINE=InnoDB"
        ),
        "CREATE TABLE guard (id INT PRIMARY KEY, parent INT NOT NULL, FOREIGN KEY (parent) REFERENCES parent (id)) ENGINE=InnoDB",
    ),
    NUMBERED: (
        (
            "CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, token BIGINT NOT NULL, n INT NOT NULL DEFAULT 0,"
            " UNIQUE KEY by_token (token)) ENGINE=InnoDB"
        ),
    ),
    SEQUENCED: (
        "CREATE SEQUENCE ids CACHE 10",
        "CREATE TABLE sequenced (id BIGINT NOT NULL DEFAULT NEXTVAL(ids) PRIMARY KEY, token BIGINT NOT NULL) ENGINE=InnoDB",
    ),
}


def book_open_line(database: str, name: str) -> bytes:
    """The open_index of what a book opens."""
    table, columns, filters = OPENED[name]
    return f"P\t{BOOK_IDS[name]}\t{database}\t{table}\t\t{columns}\t{filters}".encode()


def _line(name: str, *tokens: bytes | str | int | None) -> bytes:
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
    def rows(self) -> int:
        return len(self.request.rows) if isinstance(self.request, Insert) and self.request.clause == "E" else 0

    def run(self, reply: bytes | None, refusals: Refusals | None) -> bytes | None:
        if isinstance(self.request, Insert) and self.rows and reply is not None and refusals is not None:
            return self._run_each(self.request, reply.split(b"\t")[2::2], refusals)
        return self.book.do(self.request)

    def _run_each(self, request: Insert, outcomes: list[bytes], refusals: Refusals) -> bytes:
        """Each row for itself: those that were refused because of others are not there."""
        rows = len(request.rows)
        refused = [outcome[:1] == b"!" and refusals.is_one(b"1\t1\t" + outcome[1:]) for outcome in outcomes]
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
    """A request to a book of this file: what to do in it, and which replies are right where that depends on others."""

    book: Book
    line: bytes
    act: Callable[[], bytes | None]
    is_write: bool = True
    is_for_groups: bool = True
    accept: Callable[[bytes], bool] = lambda reply: False

    rows: int = 0
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


# ---- counters


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
        return sum(book.acknowledged[counter] for book in self.books)

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

    def copy(self) -> CounterBook:
        return CounterBook(self.opened, self.totals, self.is_transactional, self.acknowledged.copy(), self.unknown.copy())

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
            line = _line(self.opened, "=", 1, counter)
            return BookMember(self, line, lambda: None, False, self.is_transactional, self._is_value(counter, floor))
        amount = choose.randint(1, 3)
        self.totals.will_send(counter, amount)

        def act(reply: bytes | None) -> bytes | None:
            self.acknowledged[counter] += amount
            return reply

        if choose.random() < 0.5:
            line = _line(self.opened, "=", 1, counter, 1, 0, "+!", amount)
            accept = self._is_value(counter, floor + amount)
            return BookMember(self, line, lambda: act(None), True, self.is_transactional, accept)
        line = _line(self.opened, "=", 1, counter, 1, 0, "+", amount)
        return BookMember(self, line, lambda: act(b"0\t1\t1"), True, self.is_transactional)

    def _is_value(self, counter: int, floor: int) -> Callable[[bytes], bool]:
        """Whether it is the value of a counter that has at least `floor`, and no more than anybody sent."""

        def accept(reply: bytes) -> bool:
            found = re.fullmatch(rb"0\t1\t(\d+)", reply)
            most = math.inf if self.totals.counts_others else self.totals.sent[counter]
            return found is not None and floor <= int(found[1]) <= most

        return accept


# ---- a family


@dataclass
class FamilyBook:
    """Parents and who refers to them. A row is its values without the id."""

    owner: Owner
    rows: dict[str, dict[int, tuple[int | None, ...]]] = field(default_factory=lambda: {name: {} for name in FAMILY_TABLES})
    changed: int = 0

    def copy(self) -> FamilyBook:
        return FamilyBook(self.owner, {name: dict(rows) for name, rows in self.rows.items()})

    def take(self, other: FamilyBook) -> None:
        self.rows = {name: dict(rows) for name, rows in other.rows.items()}

    def undone(self, was: FamilyBook) -> None:
        self.take(was)

    def snapshot(self) -> object:
        """What tells one state from another."""
        return tuple((name, tuple(sorted(rows.items(), key=str))) for name, rows in self.rows.items())

    def member(self, choose: random.Random, reads_only: bool) -> BookMember:
        """A random request."""
        table = choose.choice(FAMILY_TABLES)
        one = choose.choice(self.owner.ids)
        if reads_only or choose.random() < 0.3:
            return BookMember(self, _line(table, "=", 1, one), lambda: self._read(table, one), False)
        kind = choose.random()
        if kind < 0.5:
            values: tuple[int, ...] = (choose.choice(self.owner.ids),)
            values += (choose.randint(0, 9),) if table == "child" else ()
            line = _line(table, "+", 1 + len(values), one, *values)
            return BookMember(self, line, lambda: self._insert(table, one, values))
        if kind < 0.75:
            return BookMember(self, _line(table, "=", 1, one, 1, 0, "D"), lambda: self._delete(table, one))
        if table in ("parent", "child"):
            other = choose.choice(self.owner.ids)
            return BookMember(self, _line(table, "=", 1, one, 1, 0, "U", other), lambda: self._rename(table, one, other))
        return BookMember(self, _line("parent", "=", 1, one, 1, 0, "+", 0, 1), lambda: self._add(one))

    def _read(self, table: str, one: int) -> bytes:
        row = self.rows[table].get(one)
        columns = b"0\t%d" % len(OPENED[table][1].split(","))
        return columns if row is None else b"\t".join([columns, token(one), *map(token, row)])

    def _insert(self, table: str, one: int, values: tuple[int, ...]) -> bytes:
        if one in self.rows[table]:
            raise Refused(DUPLICATE)
        refers_to = {"child": "parent", "toy": "child", "guard": "parent"}.get(table)
        if refers_to is not None and values[0] not in self.rows[refers_to]:
            raise Refused(b"1\t1\t151")
        self.rows[table][one] = values
        return OK

    def _delete(self, table: str, one: int) -> bytes:
        if one not in self.rows[table]:
            return b"0\t1\t0"
        if table == "parent":
            self._refuse_if_guarded(one)
            for child in [child for child, row in self.rows["child"].items() if row[0] == one]:
                self._delete("child", child)
        if table == "child":
            self._follow("toy", one, None)
        del self.rows[table][one]
        return b"0\t1\t1"

    def _rename(self, table: str, one: int, other: int) -> bytes:
        if one not in self.rows[table]:
            return b"0\t1\t0"
        if one == other:
            return b"0\t1\t1"
        if table == "parent":
            self._refuse_if_guarded(one)
        if other in self.rows[table]:
            raise Refused(DUPLICATE)
        if table == "parent":
            self._follow("child", one, other)
        else:
            self._follow("toy", one, other)
        self.rows[table][other] = self.rows[table].pop(one)
        return b"0\t1\t1"

    def _add(self, one: int) -> bytes:
        row = self.rows["parent"].get(one)
        if row is None:
            return b"0\t1\t0"
        assert row[0] is not None
        self.rows["parent"][one] = (row[0] + 1,)
        return b"0\t1\t1"

    def _refuse_if_guarded(self, one: int) -> None:
        if any(row[0] == one for row in self.rows["guard"].values()):
            raise Refused(b"1\t1\t152")

    def _follow(self, table: str, one: int, other: int | None) -> None:
        for key, row in self.rows[table].items():
            if row[0] == one:
                self.rows[table][key] = (other, *row[1:])


# ---- tables that give ids


@dataclass
class TokenBook:
    """Rows that get their ids from the server; each has a token that no other has."""

    opened: str
    owner: Owner
    mix: frozenset[str]
    next_token: int = 0
    tokens: dict[int, int | None] = field(default_factory=dict)
    """Token to id, None where the reply does not tell."""
    totals: dict[int, int] = field(default_factory=dict)
    """Id to n."""
    unknown: set[int] = field(default_factory=set)
    """Tokens that may be there."""
    unknown_ids: set[int] = field(default_factory=set)
    """Ids whose n may be larger: they are not asked for any more."""
    requested: int = 0
    """Rows that were asked for, done or not."""

    def copy(self) -> TokenBook:
        return TokenBook(self.opened, self.owner, self.mix, self.next_token, dict(self.tokens), dict(self.totals))

    def take(self, other: TokenBook) -> None:
        self.tokens, self.totals = dict(other.tokens), dict(other.totals)

    def undone(self, was: TokenBook) -> None:
        self.take(was)

    def becomes_unknown(self, was: TokenBook) -> None:
        """Whether what came since `was` was done is not known."""
        self.unknown |= self.tokens.keys() - was.tokens.keys()
        self.unknown_ids |= {one for one, total in was.totals.items() if self.totals.get(one) != total}
        self.take(was)

    def member(self, choose: random.Random, reads_only: bool) -> BookMember | None:
        """A random request; None if there is nothing to read yet."""
        known = [one for one in self.totals if one not in self.unknown_ids]
        if self.opened == "numbered" and known and (reads_only or choose.random() < 0.4):
            one = choose.choice(known)
            if reads_only or choose.random() < 0.5:
                return BookMember(self, _line("numbered_n", "=", 1, one), lambda: self._read(one), False)
            return BookMember(self, _line("numbered_n", "=", 1, one, 1, 0, "+", 1), lambda: self._add(one))
        if reads_only:
            return None
        count = choose.randint(1, 4) if MANY in self.mix and choose.random() < 0.3 else 1
        tokens = [self._new_token() for _ in range(count)]
        if count > 1 and self.opened == "numbered" and FAILING in self.mix and choose.random() < 0.3:
            tokens[-1] = tokens[0]
        self.requested += count
        line = _line(self.opened, "+", 1, *tokens) if count == 1 else _line(self.opened, "++", 1, count, *tokens)
        return BookMember(self, line, lambda: self._insert(tokens), accept=lambda reply: self._learns_ids(tokens, reply))

    def _new_token(self) -> int:
        self.next_token += 1
        return self.owner.number * 1_000_000_000 + self.next_token

    def _insert(self, tokens: list[int]) -> bytes | None:
        if len(set(tokens)) < len(tokens) and self.opened == "numbered":
            raise Refused(DUPLICATE)
        self.tokens |= dict.fromkeys(tokens)
        if self.opened == "numbered":
            return None
        return OK if len(tokens) == 1 else b"\t".join([b"0\t2", *[b"1\t\0"] * len(tokens)])

    def _learns_ids(self, tokens: list[int], reply: bytes) -> bool:
        pattern = rb"0\t1\t(\d+)" if len(tokens) == 1 else rb"0\t2" + rb"\t1\t(\d+)" * len(tokens)
        found = re.fullmatch(pattern, reply)
        if found is None:
            return False
        for one, row_id in zip(tokens, map(int, found.groups()), strict=True):
            self.tokens[one] = row_id
            self.totals[row_id] = 0
        return True

    def _read(self, one: int) -> bytes:
        return b"0\t1\t%d" % self.totals[one] if one in self.totals else b"0\t1"

    def _add(self, one: int) -> bytes:
        self.totals[one] += 1
        return b"0\t1\t1"
