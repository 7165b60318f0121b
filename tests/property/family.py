# SPDX-License-Identifier: GPL-2.0-only
"""Parents, their children and who refers to these: foreign keys of each kind, as one client knows them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from property.books import FAMILY_TABLES, OPENED, BookMember, request_line
from property.requests import Owner
from property.rows import DUPLICATE, Refused
from property.steps import OK
from support.raw import token


@dataclass
class FamilyBook:
    """Parents and who refers to them. A row is its values without the id."""

    owner: Owner
    rows: dict[str, dict[int, tuple[int | None, ...]]] = field(
        default_factory=lambda: {name: {} for name in FAMILY_TABLES}
    )
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
            return BookMember(self, request_line(table, "=", 1, one), lambda: self._read(table, one), False)
        kind = choose.random()
        if kind < 0.5:
            values: tuple[int, ...] = (choose.choice(self.owner.ids),)
            values += (choose.randint(0, 9),) if table == "child" else ()
            line = request_line(table, "+", 1 + len(values), one, *values)
            return BookMember(self, line, lambda: self._insert(table, one, values))
        if kind < 0.75:
            return BookMember(
                self, request_line(table, "=", 1, one, 1, 0, "D"), lambda: self._delete(table, one)
            )
        if table in ("parent", "child"):
            other = choose.choice(self.owner.ids)
            return BookMember(
                self,
                request_line(table, "=", 1, one, 1, 0, "U", other),
                lambda: self._rename(table, one, other),
            )
        return BookMember(self, request_line("parent", "=", 1, one, 1, 0, "+", 0, 1), lambda: self._add(one))

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
