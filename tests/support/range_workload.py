# SPDX-License-Identifier: GPL-2.0-only
"""Random finds that use RowSocket's own clauses, over the tables of `workload`."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from support import workload
from support.raw import token
from support.workload import Find, Index, Value

Key = tuple[Value, ...]
OPPOSITE = {">": ("<", "<="), ">=": ("<", "<="), "<": (">", ">="), "<=": (">", ">=")}


@dataclass(frozen=True)
class RangeFind:
    """A find with clauses. `find.in_values` are values of part `find.in_part`, or with `whole_keys` keys one
    after the other."""

    find: Find
    end: tuple[str, Key] | None
    reverse: bool
    limit_per_value: int
    columns: tuple[str, ...] | None
    whole_keys: bool
    counts: bool

    def __repr__(self) -> str:
        return f"<{self.find.index}: {self.line()!r}>"

    def line(self) -> bytes:
        find = self.find
        tokens: list[bytes | str | int | None] = [
            find.index.id,
            find.operator,
            len(find.key),
            *find.key,
            find.limit,
            find.offset,
        ]
        if self.end is not None:
            tokens += ["T", self.end[0], len(self.end[1]), *self.end[1]]
        if self.reverse:
            tokens += ["R"]
        if self.whole_keys:
            tokens += ["@@", len(find.in_values) // len(find.key), *find.in_values]
        elif find.in_part is not None:
            tokens += ["@", find.in_part, len(find.in_values), *find.in_values]
        if self.limit_per_value:
            tokens += ["L", self.limit_per_value]
        for condition in find.filters:
            tokens += [*condition]
        if self.columns is not None:
            tokens += ["C", ",".join(self.columns)]
        if self.counts:
            tokens += ["#"]
        return b"\t".join(map(token, tokens))

    def key_pairs(self) -> list[tuple[Key, Key]]:
        """The key and the other end's key of each value of the IN list; of a find without one, its own."""
        key, end_key = self.find.key, self.end[1] if self.end else ()
        if self.whole_keys:
            return [
                (self.find.in_values[at : at + len(key)], end_key)
                for at in range(0, len(self.find.in_values), len(key))
            ]
        if self.find.in_part is None:
            return [(key, end_key)]
        return [
            (self._with_part(key, value), self._with_part(end_key, value)) for value in self.find.in_values
        ]

    def _with_part(self, key: Key, value: Value) -> Key:
        part = self.find.in_part
        return key if part is None or part >= len(key) else (*key[:part], value, *key[part + 1 :])


def _is_text(index: Index, part: int) -> bool:
    return index.key[part] in ("b", "w", "v", "c", "t") and index.table.name != "made"


def _key(draw: st.DrawFn, index: Index, parts: int) -> Key:
    return tuple(draw(index.table.column(name).searched) for name in index.key[:parts])


@st.composite
def _range_find(draw: st.DrawFn, index: Index) -> RangeFind:
    key = _key(draw, index, draw(st.integers(1, len(index.key))))
    operators = ["=", ">", ">=", "<", "<="] + (["^=", "^="] if _is_text(index, len(key) - 1) else [])
    operator = draw(st.sampled_from(operators))
    end: tuple[str, Key] | None = None
    if operator in OPPOSITE and draw(st.booleans()):
        end = (
            draw(st.sampled_from(OPPOSITE[operator])),
            _key(draw, index, draw(st.integers(1, len(index.key)))),
        )
    in_part: int | None = None
    in_values: Key = ()
    whole_keys = False
    kind = draw(st.sampled_from(["", "", "@", "@@"]))
    if kind == "@":
        in_part = draw(st.integers(0, len(key) - 1))
        in_values = tuple(
            draw(st.lists(index.table.column(index.key[in_part]).values, min_size=1, max_size=5))
        )
    elif kind == "@@":
        in_part, whole_keys = 0, True
        in_values = tuple(
            value for _ in range(draw(st.integers(1, 4))) for value in _key(draw, index, len(key))
        )
    counts = draw(st.sampled_from([False, False, True]))
    find = Find(
        index,
        operator,
        key,
        draw(st.sampled_from([0, 1, 2, 3, 5, 100])),
        draw(st.sampled_from([0, 0, 0, 1, 2, 10])),
        in_part,
        in_values,
        draw(workload.filters(index, may_stop=in_part is None)),
    )
    names = [column.name for column in index.table.columns]
    columns = (
        tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))) if draw(st.booleans()) else None
    )
    limit_per_value = draw(st.sampled_from([0, 1, 2, 3])) if in_part is not None else 0
    return RangeFind(find, end, draw(st.booleans()), limit_per_value, columns, whole_keys, counts)


def range_finds(indexes: tuple[Index, ...] = workload.INDEXES) -> st.SearchStrategy[RangeFind]:
    """Finds with both ends, prefixes, in reverse, with limits per value, lists of keys, columns of their own,
    and counts."""
    return st.sampled_from(indexes).flatmap(_range_find)
