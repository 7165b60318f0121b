# SPDX-License-Identifier: GPL-2.0-only
"""Random requests of a client on its own rows, and how they are sent."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace

from property import ingredients
from property.rows import Bound, Find, Insert, OwnRows, Value
from property.shapes import COLUMNS, SHAPES, Shape
from support.raw import token

ROWS_PER_OWNER = 24
ROWS_OF_AN_INSERT_MAX = 10
ALL = 1000
"""More rows than anybody owns."""
_FACING = {">": ("<", "<="), ">=": ("<", "<="), "<": (">", ">="), "<=": (">", ">=")}
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_LETTERS = "bcdefgjklmnopqrstuvw"


@dataclass(frozen=True)
class Owner:
    """A client by its number: what is its own."""

    number: int

    @property
    def ids(self) -> range:
        first = (self.number + 1) * 1000
        return range(first, first + ROWS_PER_OWNER)

    @property
    def groups(self) -> range:
        """Values of g."""
        return range(self.number * 8, self.number * 8 + 3)

    @property
    def letter(self) -> str:
        """What its texts begin with."""
        return _LETTERS[self.number]

    def text(self, choose: random.Random) -> str | None:
        """A value of s."""
        if choose.random() < 0.1:
            return None
        return (
            self.letter
            + "".join(choose.choices("acd01", k=choose.randint(1, 5)))
            + "x" * choose.choice((0, 0, 9, 30))
        )

    def row(self, choose: random.Random) -> tuple[Value, ...]:
        """A row to insert."""
        return choose.choice(self.ids), choose.choice(self.groups), choose.randint(-5, 20), self.text(choose)


# ---- ids of opened indexes


IDS = {
    (shape.name, index): number
    for number, (shape, index) in enumerate((s, i) for s in SHAPES for i in s.indexes)
}
FIRST_FREE_ID = len(IDS)
UNORDERED = "by_time"
"""An index whose order the model does not know."""


def open_line(database: str, shape: Shape, index: str) -> bytes:
    """The open_index that gives this index its id."""
    columns, filters = ",".join(COLUMNS + shape.extras), ",".join(COLUMNS)
    return f"P\t{IDS[shape.name, index]}\t{database}\t{shape.name}\t{index}\t{columns}\t{filters}".encode()


def find_line(shape: Shape, find: Find) -> bytes:
    """A find as it is sent."""
    tokens: list[bytes | str | int | None] = [
        IDS[shape.name, find.index],
        find.operator,
        len(find.key),
        *find.key,
    ]
    tokens += [find.limit, find.offset]
    if find.in_values:
        tokens += ["@", find.in_part, len(find.in_values), *find.in_values]
    if find.keys:
        tokens += ["@@", len(find.keys), *(value for key in find.keys for value in key)]
    if find.per_value:
        tokens += ["L", find.per_value]
    if find.to is not None:
        tokens += ["T", find.to[0], len(find.to[1]), *find.to[1]]
    if find.reverse:
        tokens += ["R"]
    for kind, comparison, column, value in find.filters:
        tokens += [kind, comparison, COLUMNS.index(column), value]
    if find.columns:
        tokens += ["C", ",".join(find.columns)]
    if find.modification:
        tokens += [find.modification, *find.values]
    return b"\t".join(map(token, tokens))


def insert_line(shape: Shape, insert: Insert) -> bytes:
    """An insert as it is sent."""
    tokens: list[bytes | str | int | None] = [IDS[shape.name, ""]]
    if insert.is_plain:
        tokens += ["+", len(COLUMNS), *insert.rows[0]]
    else:
        tokens += ["++", len(COLUMNS), len(insert.rows), *(value for row in insert.rows for value in row)]
        tokens += ["U", "1,3", "+", "2"] if insert.clause == "U" else [insert.clause] if insert.clause else []
    return b"\t".join(map(token, tokens))


# ---- random requests


def any_find(choose: random.Random, owner: Owner, own: OwnRows) -> Find:
    """What to find: rows of the owner only."""
    shape = own.shape
    index = choose.choice(list(shape.indexes))
    if index == "":
        find = _by_id(choose, owner, shape)
    elif index == "by_s":
        find = _by_text(choose, owner)
    elif index == UNORDERED:
        return Find(index, "=", (choose.choice(owner.groups),), ALL)
    else:
        find = _by_group(choose, owner, shape, index)
    if choose.random() < 0.2:
        find = replace(find, filters=(*find.filters, _filter(choose, owner)))
    if choose.random() < 0.2 and find.operator in ("=", "^=", ">=", ">", "<=", "<"):
        find = replace(find, reverse=find.to is not None or find.operator in ("=", "^="))
    return find


def _by_id(choose: random.Random, owner: Owner, shape: Shape) -> Find:
    kind = choose.random()
    if kind < 0.4:
        return Find("", "=", (choose.choice(owner.ids),))
    if kind < 0.6:
        values = tuple(choose.choices(owner.ids, k=choose.randint(1, 6)))
        return Find("", "=", (0,), ALL, choose.choice((0, 0, 1)), in_values=values)
    if kind < 0.7:
        keys = tuple((value,) for value in choose.choices(owner.ids, k=choose.randint(1, 6)))
        return Find("", "=", keys[0], choose.choice((ALL, 2)), keys=keys)
    operator = choose.choice(list(_FACING))
    key, limit, offset = (choose.choice(owner.ids),), choose.choice((1, 3, ALL)), choose.choice((0, 0, 1))
    if choose.random() < 0.5:
        to: Bound = (choose.choice(_FACING[operator]), (choose.choice(owner.ids),))
        return Find("", operator, key, limit, offset, to)
    goes_up = (operator in (">", ">=")) != shape.indexes[""][0].is_descending
    stop = ("W", "<", "id", owner.ids.stop) if goes_up else ("W", ">=", "id", owner.ids.start)
    return Find("", operator, key, limit, offset, filters=(stop,))


def _by_text(choose: random.Random, owner: Owner) -> Find:
    text = owner.text(choose) or owner.letter + "a"
    if choose.random() < 0.5:
        return Find("by_s", "=", (text,), choose.choice((1, ALL)))
    return Find(
        "by_s", "^=", (text[: choose.randint(1, 3)],), choose.choice((2, ALL)), choose.choice((0, 0, 1))
    )


def _by_group(choose: random.Random, owner: Owner, shape: Shape, index: str) -> Find:
    def key() -> tuple[Value, ...]:
        whole = (choose.choice(owner.groups), choose.randint(-5, 20), choose.choice(owner.ids))
        return whole[: choose.choice((1, 1, 2, 3))]

    if choose.random() < 0.5:
        values = tuple(choose.sample(owner.groups, choose.randint(1, 3)))
        if choose.random() < 0.5:
            return Find(index, "=", key(), choose.choice((2, ALL)), choose.choice((0, 0, 2)))
        return Find(index, "=", key(), ALL, in_values=values, per_value=choose.choice((0, 1, 2)))
    operator = choose.choice(list(_FACING))
    return Find(index, operator, key(), choose.choice((2, ALL)), to=(choose.choice(_FACING[operator]), key()))


def _filter(choose: random.Random, owner: Owner) -> tuple[str, str, str, Value]:
    column = choose.choice(COLUMNS)
    values: dict[str, Value] = dict(zip(COLUMNS, owner.row(choose), strict=True))
    return "F", choose.choice(_COMPARISONS), column, values[column]


def a_read(choose: random.Random, owner: Owner, own: OwnRows) -> Find:
    """A find that changes nothing."""
    find = any_find(choose, owner, own)
    if find.index == UNORDERED or choose.random() < 0.15:
        return replace(find, modification="#", limit=choose.choice((0, find.limit)))
    if choose.random() < 0.3:
        return replace(find, columns=tuple(choose.sample(own.columns, choose.randint(1, len(own.columns)))))
    return find


def a_change(choose: random.Random, owner: Owner, own: OwnRows, mix: Collection[str]) -> Find:
    """An update, increment, decrement or delete; of one row, where the table has no transactions to undo
    several."""
    if own.shape.is_transactional and choose.random() < 0.6:
        find = any_find(choose, owner, own)
    else:
        find = Find("", "=", (choose.choice(owner.ids),))
    if ingredients.TWICE in mix and own.shape.is_transactional and choose.random() < 0.1:
        one, other = choose.sample(owner.ids, 2)
        return Find(
            "", "=", (0,), ALL, in_values=(one, one), columns=("id",), modification="U", values=(other,)
        )
    find = replace(find, in_values=tuple(dict.fromkeys(find.in_values)), keys=tuple(dict.fromkeys(find.keys)))
    reply = "" if find.index == UNORDERED else choose.choice(("", "", "?", "!"))
    kind = choose.choice("UUU++-D")
    if kind == "D":
        return replace(find, modification="D" + choose.choice(("", "?")) if reply else "D")
    if kind in "+-":
        amount = choose.randint(1, 9)
        if choose.random() < 0.2:
            return replace(find, modification=kind + reply, values=(0, 0, amount))
        return replace(find, modification=kind + reply, columns=("n",), values=(amount,))
    values = dict(zip(COLUMNS, owner.row(choose), strict=True))
    is_of_one_row = find.operator == "=" and find.index == "" and not find.in_values and not find.keys
    if is_of_one_row and choose.random() < 0.4:
        moves = ingredients.FAILING in mix and choose.random() < 0.5
        whole = tuple({**values, "id": values["id"] if moves else find.key[0]}.values())
        return replace(find, modification="U" + reply, values=whole[: choose.randint(1, 4)])
    columns = tuple(choose.sample(COLUMNS[1:], choose.randint(1, 3)))
    return replace(
        find, modification="U" + reply, columns=columns, values=tuple(values[column] for column in columns)
    )


def an_insert(choose: random.Random, owner: Owner, own: OwnRows, mix: Collection[str]) -> Insert:
    """An insert of one row."""
    return Insert((_new_row(choose, owner, own, mix),), is_plain=True)


def many_inserts(choose: random.Random, owner: Owner, own: OwnRows, mix: Collection[str]) -> Insert:
    """An insert of several rows."""
    clause = choose.choice(("", "I", "R", "E", "U"))
    count = choose.randint(1, ROWS_OF_AN_INSERT_MAX if own.shape.is_transactional else 1)
    if clause != "":
        rows = [_new_row(choose, owner, own, {ingredients.FAILING}) for _ in range(count)]
        if clause == "U" and own.shape.unique_s:
            rows = [
                (*row[:3], None) for row in rows
            ]  # of two rows in the way either may be the one to update
        return Insert(tuple(rows), clause=clause)
    by_id = {row[0]: row for row in (_new_row(choose, owner, own, ()) for _ in range(count))}
    if ingredients.FAILING in mix and own.shape.is_transactional and choose.random() < 0.5:
        taken = choose.choice([*by_id, *own.rows])
        return Insert((*by_id.values(), (taken, *owner.row(choose)[1:])))  # the last one cannot be done
    return Insert(tuple(by_id.values()))


def _new_row(choose: random.Random, owner: Owner, own: OwnRows, mix: Collection[str]) -> tuple[Value, ...]:
    row = owner.row(choose)
    free = [one for one in owner.ids if one not in own.rows]
    if free and (ingredients.FAILING not in mix or choose.random() < 0.5):
        return (choose.choice(free), *row[1:])
    return row
