# SPDX-License-Identifier: GPL-2.0-only
"""The model of one client's rows in one table: what a request finds and does, and its reply, byte for byte.

It knows only rows that its client owns, and is asked only for what touches no others. Indexes, order and
triggers are the shape's (shapes.py). Values are numbers and short texts of small letters and digits, which
all collations sort alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import total_ordering

from property.shapes import COLUMNS, Index, Part, Shape
from support.raw import token

Value = int | str | None
DUPLICATE = b"1\t1\t121"


class Refused(Exception):
    """What the request must be answered with, since it cannot be done; nothing has changed, or `partly`
    has."""

    def __init__(self, reply: bytes) -> None:
        super().__init__(reply)
        self.reply = reply


@dataclass
class Row:
    """A row, with what triggers and generated columns make of it."""

    id: int
    g: int
    n: int
    s: str | None
    changes: int = 0

    @property
    def twice(self) -> int:
        return self.n * 2

    @property
    def less(self) -> int:
        return self.n - 1

    def value(self, column: str) -> Value:
        """The value of a column."""
        found: Value = getattr(self, column)
        return found

    def tokens(self, columns: tuple[str, ...]) -> list[bytes]:
        """The values of columns as they are sent."""
        return [token(self.value(column)) for column in columns]


Bound = tuple[str, tuple[Value, ...]]
"""An operator and the values of a key's first parts."""


@dataclass(frozen=True)
class Find:
    """A find, with or without a modification."""

    index: str
    operator: str
    key: tuple[Value, ...]
    limit: int = 1
    offset: int = 0
    to: Bound | None = None
    reverse: bool = False
    in_part: int = 0
    in_values: tuple[Value, ...] = ()
    keys: tuple[tuple[Value, ...], ...] = ()
    per_value: int = 0
    filters: tuple[tuple[str, str, str, Value], ...] = ()
    columns: tuple[str, ...] = ()
    """Other columns than those that were opened."""
    modification: str = ""
    values: tuple[Value, ...] = ()

    @property
    def writes(self) -> bool:
        return self.modification not in ("", "#")


@dataclass(frozen=True)
class Insert:
    """An insert of rows, with values for the four columns. `is_plain`: by `+`, of one row."""

    rows: tuple[tuple[Value, ...], ...]
    is_plain: bool = False
    clause: str = ""
    """I, R, E, or U: s and g are set and n is added."""

    @property
    def writes(self) -> bool:
        return True


@total_ordering
class _Sorted:
    """A value as an index sorts it: NULL first, and all the other way round in a descending part."""

    def __init__(self, part: Part, value: Value) -> None:
        self.is_descending = part.is_descending
        if part.prefix and isinstance(value, str):
            value = value[: part.prefix]
        self.value = (value is not None, value if value is not None else 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sorted) and self.value == other.value

    def __lt__(self, other: _Sorted) -> bool:
        mine, others = self.value, other.value
        return others < mine if self.is_descending else mine < others


def _sort_key(index: Index, row: Row) -> list[_Sorted]:
    return [_Sorted(part, row.value(part.column)) for part in index]


def _is_within(index: Index, row: Row, bound: Bound) -> bool:
    operator, key = bound
    values = [row.value(part.column) for part, _ in zip(index, key, strict=False)]
    if operator == "=":
        return values == list(key)
    if operator == "^=":
        text = values[-1]
        return values[:-1] == list(key[:-1]) and isinstance(text, str) and text.startswith(str(key[-1]))
    mine = [_Sorted(part, value) for part, value in zip(index, values, strict=False)]
    given = [_Sorted(part, value) for part, value in zip(index, key, strict=False)]
    return {">": mine > given, ">=": mine >= given, "<": mine < given, "<=": mine <= given}[operator]


def _compares(comparison: str, one: Value, other: Value) -> bool:
    mine, others = _Sorted(Part(""), one), _Sorted(Part(""), other)
    if comparison in ("=", "!="):
        return (mine == others) == (comparison == "=")
    return {"<": mine < others, "<=": mine <= others, ">": mine > others, ">=": mine >= others}[comparison]


@dataclass
class OwnRows:
    """What a client owns in a table."""

    shape: Shape
    rows: dict[int, Row] = field(default_factory=dict)
    logged: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How often triggers were run, by event and id, for what was acknowledged."""
    audited: Counter[int] = field(default_factory=Counter)
    maybe_logged: Counter[str] = field(default_factory=Counter)
    """How often triggers may have been run, by event, for what was undone: a log without transactions keeps
    that."""
    maybe_audited: int = 0
    """How often triggers may have counted for what was not answered."""
    changed_count: int = 0
    """How many rows the last request changed."""

    def copy(self) -> OwnRows:
        """The same, to go back to."""
        rows = {key: replace(row) for key, row in self.rows.items()}
        return OwnRows(self.shape, rows, self.logged.copy(), self.audited.copy())

    def take(self, other: OwnRows) -> None:
        """Become as `other` is."""
        self.rows, self.logged, self.audited = other.rows, other.logged, other.audited

    def undone(self, was: OwnRows) -> None:
        """Become as it was; the server has undone what came since."""
        for (event, _), count in (self.logged - was.logged).items():
            self.maybe_logged[event] += count
        self.take(was.copy())

    def refused(self, request: Find | Insert) -> None:
        """The server refused a request, maybe after it had run triggers."""
        if self.shape.log and request.writes:
            for event in "iud":
                self.maybe_logged[event] += (
                    len(request.rows) if isinstance(request, Insert) else len(self.rows)
                )

    def snapshot(self) -> object:
        """What tells one state from another."""
        return tuple(sorted((row.id, row.g, row.n, row.s or "", row.changes) for row in self.rows.values()))

    # ---- finding

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are opened."""
        return COLUMNS + self.shape.extras

    def selected(self, find: Find) -> list[Row]:
        """The rows that a find finds, in order; a list may find one twice."""
        found: list[Row] = []
        skip = find.offset
        limit = find.limit if find.limit or find.modification == "#" else 1
        if limit == 0:
            limit = len(self.rows) * (len(find.in_values) + 1) + 1
        for key, to in self._keys(find):
            left = (
                find.per_value or (None if find.operator in ("=", "^=") else 1)
                if find.in_values or find.keys
                else None
            )
            for row in self._walk(find, key, to):
                stops, matches = self._filtered(find, row)
                if stops:
                    break
                if not matches:
                    continue
                if skip > 0:
                    skip -= 1
                else:
                    found.append(row)
                if len(found) == limit:
                    return found
                if left is not None:
                    left -= 1
                    if left == 0:
                        break
        return found

    def _keys(self, find: Find) -> Iterator[tuple[tuple[Value, ...], Bound | None]]:
        if find.keys:
            yield from ((key, find.to) for key in find.keys)
        elif find.in_values:
            for value in find.in_values:
                key = tuple(value if part == find.in_part else old for part, old in enumerate(find.key))
                to = find.to
                if to is not None:
                    to = (
                        to[0],
                        tuple(value if part == find.in_part else old for part, old in enumerate(to[1])),
                    )
                yield key, to
        else:
            yield find.key, find.to

    def _walk(self, find: Find, key: tuple[Value, ...], to: Bound | None) -> list[Row]:
        index = self.shape.indexes[find.index]
        found = [row for row in self.rows.values() if _is_within(index, row, (find.operator, key))]
        if to is not None:
            found = [row for row in found if _is_within(index, row, to)]
        is_backward = find.operator in ("<", "<=")
        return sorted(found, key=lambda row: _sort_key(index, row), reverse=is_backward != find.reverse)

    def _filtered(self, find: Find, row: Row) -> tuple[bool, bool]:
        """Whether to stop at the row, and whether it matches."""
        for kind, comparison, column, value in find.filters:
            if not _compares(comparison, row.value(column), value):
                return kind == "W", False
        return False, True

    # ---- changing

    def do(self, request: Find | Insert) -> bytes:
        """Execute a request; its reply. Raises `Refused`, with nothing changed but in a table without
        transactions."""
        before = self.copy()
        self.changed_count = 0
        try:
            return self._insert(request) if isinstance(request, Insert) else self._find(request)
        except Refused:
            if self.shape.is_transactional:
                self.undone(before)
            raise

    def _find(self, find: Find) -> bytes:
        found = self.selected(find)
        columns = find.columns or self.columns
        if find.modification.startswith("U") and "id" in columns[: len(find.values)]:
            found = list(
                {row.id: row for row in found}.values()
            )  # it is not there any more when it is met again
        if find.modification == "#":
            return b"0\t1\t%d" % len(found)
        if not find.modification:
            return _rows_reply(columns, [row.tokens(columns) for row in found])
        operation, reply = find.modification[0], find.modification[1:]
        replied = []
        for row in found:
            before = row.tokens(columns)
            if self._modify(row, operation, columns, find.values):
                self.changed_count += 1
                if reply == "!":
                    replied.append(row.tokens(columns))
            if reply == "?":
                replied.append(before)
        return _rows_reply(columns, replied) if reply else b"0\t1\t%d" % self.changed_count

    def _modify(self, row: Row, operation: str, columns: tuple[str, ...], values: tuple[Value, ...]) -> bool:
        if operation == "D":
            self._fires("d", row)
            del self.rows[row.id]
            return True
        new = {
            column: value
            for column, value in zip(columns, values, strict=False)
            if value is not None or operation == "U"
        }
        if operation in "+-":
            sign = -1 if operation == "-" else 1
            sums = {
                column: _number(row.value(column)) + sign * _number(value) for column, value in new.items()
            }
            if operation == "-" and any(
                _number(row.value(column)) * total < 0 for column, total in sums.items()
            ):
                return False
            new = dict(sums)
        self._update(row, new)
        return True

    def _update(self, row: Row, new: dict[str, Value]) -> None:
        after = replace(row, **new)  # type: ignore[arg-type]
        self._refuse_duplicates(after, row)
        old_id = row.id
        for column, value in new.items():
            setattr(row, column, value)
        if row.id != old_id:
            del self.rows[old_id]
            self.rows[row.id] = row
        if self.shape.counts_changes:
            row.changes += 1
        self._fires("u", row)

    def _fires(self, event: str, row: Row) -> None:
        if self.shape.log:
            self.logged[event, row.id] += 1
        if self.shape.audit:
            self.audited[row.g] += 1

    def _in_the_way(self, row: Row) -> list[Row]:
        """Rows that have a unique key of `row`; that of the primary key first."""
        found = [self.rows[row.id]] if row.id in self.rows else []
        if self.shape.unique_s and row.s is not None:
            found += [other for other in self.rows.values() if other.s == row.s and other.id != row.id]
        return found

    def _refuse_duplicates(self, row: Row, itself: Row | None = None) -> None:
        if any(other is not itself for other in self._in_the_way(row)):
            raise Refused(DUPLICATE)

    def _insert(self, insert: Insert) -> bytes:
        written: set[int] = set()
        outcomes = [self._insert_row(values, insert.clause, written) for values in insert.rows]
        if insert.is_plain:
            return b"0\t1"
        return b"\t".join([b"0\t2", *(outcome + b"\t\0" for outcome in outcomes)])

    def _insert_row(self, values: tuple[Value, ...], clause: str, written: set[int]) -> bytes:
        """`written`: the ids of what the request has written before. All of it has one moment, so the history
        of a versioned table tells the same values apart only behind another request's."""
        row = Row(*values)  # type: ignore[arg-type]
        in_the_way = self._in_the_way(row)
        if in_the_way and clause == "":
            raise Refused(DUPLICATE)
        if in_the_way and clause == "E":
            return b"!121"
        if in_the_way and clause == "I":
            return b"0"
        if in_the_way and clause == "U":
            other = in_the_way[0]
            new: dict[str, Value] = {"g": row.g, "s": row.s, "n": other.n + row.n}
            is_later = self.shape.is_versioned and other.id not in written
            differs = is_later or self.shape.counts_changes
            differs = differs or any(other.value(column) != value for column, value in new.items())
            self._update(other, new)
            if differs:
                written.add(other.id)
            self.changed_count += differs
            return b"2" if differs else b"0"
        for other in in_the_way:
            self._fires("d", other)
            del self.rows[other.id]
        self.rows[row.id] = row
        written.add(row.id)
        self._fires("i", row)
        self.changed_count += 1
        return b"2" if in_the_way else b"1"


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _rows_reply(columns: tuple[str, ...], rows: list[list[bytes]]) -> bytes:
    return b"\t".join([b"0\t%d" % len(columns), *(value for row in rows for value in row)])
