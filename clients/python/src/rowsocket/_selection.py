# SPDX-License-Identifier: MIT
"""Which rows of an index a request is about: key, operator and the rest, as tokens. No input or output
here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Generic, Literal, TypedDict, TypeVar, Union

from rowsocket._index import IndexDescription, column_names
from rowsocket._protocol import Value

R = TypeVar("R")

Operator = Literal["=", ">", ">=", "<", "<=", "^="]
"""How the rows stand to the key. ^= (starts with): equal, but that the last value is how the text of its part
begins."""
RangeOperator = Literal[">", ">=", "<", "<="]
Comparison = Literal["=", "!=", ">", ">=", "<", "<="]
Key = Union[Value, Sequence[Value]]
"""One value, or a tuple or list with a value for each of the first parts of the index."""

ALL = 2**31 - 1
"""The limit that a `limit=None` stands for."""

LARGEST = 2**63 - 1
"""Of a limit or an offset that the server takes."""

_OPPOSITE = {">": ("<", "<="), ">=": ("<", "<="), "<": (">", ">="), "<=": (">", ">=")}
_OPERATORS = ("=", "^=", *_OPPOSITE)
_COMPARISONS = ("=", "!=", ">", ">=", "<", "<=")


@dataclasses.dataclass(frozen=True)
class Filter:
    """Skip the rows where the filter column does not compare so with the value.

    NULL sorts before everything; NULL = NULL is true.
    """

    column: str
    operator: Comparison
    value: Value

    def encode(self, index: IndexDescription[Any]) -> list[bytes]:
        """The tokens of this filter. Raises ValueError."""
        if self.operator not in _COMPARISONS:
            raise ValueError(f"unknown comparison {self.operator!r}: one of {' '.join(_COMPARISONS)}")
        if self.column not in index.filter_columns:
            raise ValueError(
                f"{self.column!r} is not among the filter_columns of the index {index.filter_columns}"
            )
        position = index.filter_columns.index(self.column)
        return [self._kind(), self.operator.encode(), b"%d" % position, index.encode(self.value)]

    def _kind(self) -> bytes:
        return b"F"


@dataclasses.dataclass(frozen=True)
class While(Filter):
    """Stop at the first row where the filter column does not compare so with the value."""

    def _kind(self) -> bytes:
        return b"W"


class Selection(TypedDict, total=False):
    """What a request to an index may say besides its key and operator, as keyword arguments.

    limit            the most rows; None = all
    offset           how many rows to leave out first; rows that a filter skips do not count
    filters          Filter and While conditions, all of which must hold
    in_values        the rows for each of these values of key part `in_part` in turn, as SQL's IN; the key
                     holds the other parts. With an operator other than = and ^=, the first row for each
    in_part          which key part takes the values, counted from 0
    keys             * the rows for each of these keys in turn; the key itself is ()
    limit_per_value  * the most rows for each of the in_values or keys, whatever the operator
    to               * the other end of a range: an operator that faces the request's own, and a key:
                     `to=("<", 50)`
    reverse          * the rows in the opposite order, from the other end
    columns          * instead of the index's columns: what rows consist of, and what is set

    * RowSocket only.
    """

    limit: int | None
    offset: int
    filters: Iterable[Filter]
    in_values: Iterable[Value]
    in_part: int
    keys: Iterable[Key]
    limit_per_value: int
    to: tuple[RangeOperator, Key]
    reverse: bool
    columns: str | Iterable[str]


@dataclasses.dataclass(frozen=True)
class Selected(Generic[R]):
    """The tokens of a find, the index that it goes to, and the columns that it is about."""

    tokens: list[bytes]
    index: IndexDescription[R]
    columns: tuple[str, ...]


def select(
    index: IndexDescription[R],
    key: Key,
    op: str,
    default_limit: int | None,
    which: Selection,
    *,
    tells_rows: bool = False,
) -> Selected[R]:
    """The tokens of a find. Raises ValueError, and TypeError for an argument that is none of `Selection`.

    tells_rows  the reply has rows. Where they are of other columns than the index's, their types have to be
                known: then the find goes to an index with those columns
    """
    unknown = which.keys() - Selection.__annotations__.keys()
    if unknown:
        raise TypeError(
            f"unexpected arguments {', '.join(sorted(unknown))}: one of"
            f" {', '.join(Selection.__annotations__)}"
        )
    if op not in _OPERATORS:
        raise ValueError(f"unknown operator {op!r}: one of {' '.join(_OPERATORS)}")
    limit, offset = which.get("limit", default_limit), which.get("offset", 0)
    if not (limit is None or 1 <= limit <= LARGEST) or not 0 <= offset <= LARGEST:
        raise ValueError(f"limit {limit} and offset {offset}: at least 1 and 0, and at most {LARGEST}")
    parts, list_tokens = _parts_and_list(index, key, which)
    tokens = [op.encode(), b"%d" % len(parts), *map(index.encode, parts)]
    tokens += [b"%d" % (ALL if limit is None else limit), b"%d" % offset, *list_tokens]
    for condition in which.get("filters", ()):
        tokens += condition.encode(index)
    tokens += _end_tokens(index, op, which)
    if which.get("reverse"):
        tokens.append(b"R")
    columns = column_names(which["columns"]) if "columns" in which else index.columns
    if tells_rows and not columns:
        # The reply would be the same whether or not there are rows, which then looks as if there were none.
        raise ValueError("a row of no columns: name some where the table is opened, or as columns=")
    if "columns" not in which:
        return Selected(tokens, index, columns)
    if tells_rows and index.values == "typed":
        return Selected(tokens, index.with_columns(columns), columns)
    return Selected([*tokens, *columns_tokens(columns)], index, columns)


def columns_tokens(columns: tuple[str, ...]) -> list[bytes]:
    """The clause that says which columns a request is about."""
    return [b"C", ",".join(columns).encode("utf-8")]


def _parts_and_list(
    index: IndexDescription[Any], key: Key, which: Selection
) -> tuple[Sequence[Value], list[bytes]]:
    """The values of the find's own key, and the tokens of the list whose items take their place."""
    if "in_values" in which and "keys" in which:
        raise ValueError("in_values and keys exclude one another")
    parts: Sequence[Value]
    if "in_values" in which:
        listed = list(which["in_values"])
        parts = _with_gap(key, which.get("in_part", 0))
        tokens = [b"@", b"%d" % which.get("in_part", 0), b"%d" % len(listed), *map(index.encode, listed)]
    elif "keys" in which:
        keys = [key_parts(one) for one in which["keys"]]
        if key_parts(key) or len({len(one) for one in keys}) > 1:
            raise ValueError("keys: all of the same length, and () in the place of the key")
        listed = [value for one in keys for value in one]
        parts = [""] * (len(keys[0]) if keys else 0)
        tokens = [b"@@", b"%d" % len(keys), *map(index.encode, listed)]
        if len(parts) == 1:  # a list that the original knows as well
            tokens[:2] = [b"@", b"0", b"%d" % len(keys)]
    else:
        if "limit_per_value" in which:
            raise ValueError("limit_per_value: of what? Give in_values or keys")
        return key_parts(key), []
    if not listed:
        raise ValueError("in_values or keys is empty")
    if "limit_per_value" in which:
        if not 1 <= which["limit_per_value"] <= LARGEST:
            raise ValueError(f"limit_per_value: 1 to {LARGEST}")
        tokens += [b"L", b"%d" % which["limit_per_value"]]
    return parts, tokens


def _end_tokens(index: IndexDescription[Any], op: str, which: Selection) -> list[bytes]:
    if "to" not in which:
        return []
    end_op, end_key = which["to"]
    if end_op not in _OPPOSITE.get(op, ()):
        raise ValueError(
            f"a range from {op} can not end at {end_op}: the ends of > and >= are < and <=, and the other"
            f" way round"
        )
    parts = key_parts(end_key)
    return [b"T", end_op.encode(), b"%d" % len(parts), *map(index.encode, parts)]


def key_parts(key: Key) -> Sequence[Value]:
    """The values of a key."""
    return key if isinstance(key, (tuple, list)) else (key,)


def _with_gap(key: Key, in_part: int) -> list[Value]:
    parts = list(key_parts(key))
    if not 0 <= in_part <= len(parts):
        raise ValueError(f"in_part {in_part}: the key parts before it need values")
    parts.insert(in_part, "")
    return parts
