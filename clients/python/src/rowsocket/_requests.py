# SPDX-License-Identifier: MIT
"""What can be asked of an index, as values: the bytes of a request and how its reply is understood. No input or output here.

Each function below becomes a method of `rowsocket.Index` (which returns its result), of `rowsocket.aio.Index` (which is
awaited for it) and of the pipelines (which promise it), so its signature and docstring are the ones of all of them.
The first parameter is the index; `R` is how it returns a row: a tuple, or a dict after `as_dicts()`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, Generic, Literal, TypeVar, Union

from rowsocket._protocol import Reply, Value, decode_bytes, decode_text, encode_value
from rowsocket.errors import ProtocolError

T = TypeVar("T")
R = TypeVar("R")

Operator = Literal["=", ">", ">=", "<", "<="]
Comparison = Literal["=", "!=", ">", ">=", "<", "<="]
Key = Union[Value, Sequence[Value]]
"""One value, or a tuple or list with a value for each of the first parts of the index."""
Values = Union[Sequence[Value], Mapping[str, Value]]
"""Values of the first columns of the index's column list, in order or by name."""

ALL = 2**31 - 1
"""The limit that a `limit=None` stands for."""

_OPERATORS = ("=", ">", ">=", "<", "<=")
_COMPARISONS = ("=", "!=", ">", ">=", "<", "<=")
_RAW = b"raw"


@dataclasses.dataclass(frozen=True)
class Filter:
    """Skip the rows where the filter column does not compare so with the value.

    NULL sorts before everything; NULL = NULL is true.
    """

    column: str
    operator: Comparison
    value: Value

    def encode(self, filter_columns: Sequence[str]) -> list[bytes]:
        """The tokens of this filter. Raises ValueError."""
        if self.operator not in _COMPARISONS:
            raise ValueError(f"unknown comparison {self.operator!r}: one of {' '.join(_COMPARISONS)}")
        if self.column not in filter_columns:
            raise ValueError(f"{self.column!r} is not among the filter_columns of the index {tuple(filter_columns)}")
        position = filter_columns.index(self.column)
        return [self._kind(), self.operator.encode(), b"%d" % position, encode_value(self.value)]

    def _kind(self) -> bytes:
        return b"F"


@dataclasses.dataclass(frozen=True)
class While(Filter):
    """Stop at the first row where the filter column does not compare so with the value."""

    def _kind(self) -> bytes:
        return b"W"


@dataclasses.dataclass(frozen=True)
class IndexDescription(Generic[R]):
    """What an open_index names, and how rows are returned."""

    database: str
    table: str
    index: str
    columns: tuple[str, ...]
    filter_columns: tuple[str, ...]
    raw: bool
    decode: Callable[[bytes], Any]
    """The Python value for a token."""
    make_row: Callable[[tuple[Any, ...]], R]
    """The row for a tuple of such values."""

    def open_tokens(self) -> bytes:
        """What stands in an open_index after the id; two descriptions with the same are the same index to the server."""
        names = [self.database, self.table, self.index, ",".join(self.columns), ",".join(self.filter_columns)]
        tokens = [name.encode("utf-8") for name in names] + ([_RAW] if self.raw else [])
        return b"\t".join(tokens)

    def rows(self, reply: Reply) -> list[R]:
        """The rows of a reply. Raises ProtocolError."""
        width = len(self.columns)
        if reply.column_count != width or (len(reply.tokens) % width if width else reply.tokens):
            raise ProtocolError("reply", f"{len(reply.tokens)} values in rows of {reply.column_count}, asked for {width} columns")
        values = list(map(self.decode, reply.tokens))
        make_row = self.make_row
        return [make_row(tuple(values[start : start + width])) for start in range(0, len(values), width or 1)]


def describe(
    database: str,
    table: str,
    columns: str | Iterable[str],
    index: str | int,
    filter_columns: str | Iterable[str],
    decode: bool,
    raw: bool,
) -> IndexDescription[tuple[Any, ...]]:
    """A checked description. Raises ValueError."""
    names = _names(columns), _names(filter_columns)
    for name in (database, table, str(index), *names[0], *names[1]):
        if any(character < "\x10" for character in name):
            raise ValueError(f"control character in the name {name!r}")
    for name in (*names[0], *names[1]):
        if not name or "," in name:
            raise ValueError(f"the protocol can not name the column {name!r}")
    return IndexDescription(database, table, str(index), *names, raw, decode_text if decode and not raw else decode_bytes, _same)


def _same(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return values


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        return tuple(names.split(",")) if names else ()
    return tuple(names)


def as_dicts(description: IndexDescription[tuple[Any, ...]]) -> IndexDescription[dict[str, Any]]:
    """The same index with rows as dicts by column name."""
    columns = description.columns
    fields = {field.name: getattr(description, field.name) for field in dataclasses.fields(description)}
    fields["make_row"] = lambda values: dict(zip(columns, values))
    return IndexDescription(**fields)


@dataclasses.dataclass(frozen=True)
class Request(Generic[T]):
    """A request to an index, ready to be sent under whatever id the connection opened the index."""

    description: IndexDescription[Any]
    tail: bytes
    """What stands after the id, without the LF."""
    writes: bool
    interpret: Callable[[Reply], T]
    """The result for an ok reply."""


# ── reads ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def get(index: IndexDescription[R], /, *key: Value) -> Request[R | None]:
    """The first row with this key, given as one value per key part; None if there is none."""
    tokens = _find_tokens(index, key, "=", 1, 0, ())
    return Request(index, b"\t".join(tokens), False, lambda reply: next(iter(index.rows(reply)), None))


def find(
    index: IndexDescription[R],
    /,
    key: Key,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
) -> Request[list[R]]:
    """The rows that stand in the relation `op` to the key, in the order of the index (descending for < and <=).

    key      one value, or a tuple of values for the first parts of the index
    limit    the most rows to return; None = all
    offset   how many rows to leave out first; rows that a filter skips do not count
    filters  Filter and While conditions, all of which must hold
    """
    return Request(index, b"\t".join(_find_tokens(index, key, op, limit, offset, filters)), False, index.rows)


def find_in(
    index: IndexDescription[R],
    /,
    values: Iterable[Value],
    op: Operator = "=",
    *,
    key: Key = (),
    in_part: int = 0,
    limit: int | None = None,
    offset: int = 0,
    filters: Iterable[Filter] = (),
) -> Request[list[R]]:
    """The rows for each of the values in turn, as SQL's IN. With an `op` other than =, the first row for each.

    in_part  which key part takes the values, counted from 0
    key      the values of the other key parts, if any
    limit    the most rows to return, over all values; None = all
    """
    listed = list(values)
    asked = listed or [None]  # the protocol has no empty list: ask for NULL and drop the answer, so that errors still show
    tokens = _find_tokens(index, key, op, limit, offset, filters, asked, in_part)
    return Request(index, b"\t".join(tokens), False, index.rows if listed else lambda _: [])


# ── writes ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def insert(index: IndexDescription[R], /, values: Values) -> Request[int | None]:
    """Insert a row; its AUTO_INCREMENT id if one was generated, else None.

    values   of the first columns of the index's column list, in order or by name; all other columns get their defaults
    """
    tokens = _value_tokens(index, values)
    return Request(index, b"\t".join([b"+", b"%d" % len(tokens), *tokens]), True, _generated_id)


def update(
    index: IndexDescription[R],
    /,
    key: Key,
    values: Values,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[int]:
    """Set the first columns of the rows found; how many rows were found. Key, op, limit, offset and filters as in `find`.

    values     in the order of the column list, or a mapping by name; columns beyond them are left as they are
    in_values  find the rows for each of these values of key part `in_part` in turn, as `find_in`; `key` holds the other parts
    """
    return _modify(index, b"U", values, _find_tokens(index, key, op, limit, offset, filters, in_values, in_part))


def delete(
    index: IndexDescription[R],
    /,
    key: Key,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[int]:
    """Delete the rows found; how many. Key, op, limit, offset and filters as in `find`, in_values as in `update`."""
    return _modify(index, b"D", (), _find_tokens(index, key, op, limit, offset, filters, in_values, in_part))


def increment(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[int]:
    """Add to the first columns of the rows found; how many rows changed. Out of the column's range is an error.

    amounts  one for the first column, or one each for the first columns
    """
    return _modify(index, b"+", _amounts(amounts), _find_tokens(index, key, op, limit, offset, filters, in_values, in_part))


def decrement(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[int]:
    """Subtract from the first columns of the rows found; how many rows changed.

    A row of which a column would change its sign is left as it is and not counted: a decrement does not cross zero.
    """
    return _modify(index, b"-", _amounts(amounts), _find_tokens(index, key, op, limit, offset, filters, in_values, in_part))


def fetch_and_update(
    index: IndexDescription[R],
    /,
    key: Key,
    values: Values,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[list[R]]:
    """As `update`, but return the rows as they were before."""
    return _modify_and_fetch(index, b"U?", values, _find_tokens(index, key, op, limit, offset, filters, in_values, in_part))


def fetch_and_delete(
    index: IndexDescription[R],
    /,
    key: Key,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[list[R]]:
    """As `delete`, but return the rows that are gone."""
    return _modify_and_fetch(index, b"D?", (), _find_tokens(index, key, op, limit, offset, filters, in_values, in_part))


def fetch_and_increment(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[list[R]]:
    """As `increment`, but return the rows as they were before."""
    return _modify_and_fetch(
        index, b"+?", _amounts(amounts), _find_tokens(index, key, op, limit, offset, filters, in_values, in_part)
    )


def fetch_and_decrement(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    *,
    limit: int | None = 1,
    offset: int = 0,
    filters: Iterable[Filter] = (),
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> Request[list[R]]:
    """As `decrement`, but return the rows as they were before."""
    return _modify_and_fetch(
        index, b"-?", _amounts(amounts), _find_tokens(index, key, op, limit, offset, filters, in_values, in_part)
    )


# ── parts of requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _find_tokens(
    index: IndexDescription[Any],
    key: Key,
    op: str,
    limit: int | None,
    offset: int,
    filters: Iterable[Filter],
    in_values: Iterable[Value] | None = None,
    in_part: int = 0,
) -> list[bytes]:
    if op not in _OPERATORS:
        raise ValueError(f"unknown operator {op!r}: one of {' '.join(_OPERATORS)}")
    if limit == 0 or (limit is not None and limit < 0) or offset < 0:
        raise ValueError(f"limit {limit} and offset {offset}: at least 1 and 0")
    listed = None if in_values is None else list(in_values)
    parts = _key_parts(key) if listed is None else _with_gap(key, in_part)
    tokens = [
        op.encode(),
        b"%d" % len(parts),
        *map(encode_value, parts),
        b"%d" % (ALL if limit is None else limit),
        b"%d" % offset,
    ]
    if listed is not None:
        if not listed:
            raise ValueError("in_values is empty")
        tokens += [b"@", b"%d" % in_part, b"%d" % len(listed), *map(encode_value, listed)]
    for condition in filters:
        tokens += condition.encode(index.filter_columns)
    return tokens


def _key_parts(key: Key) -> Sequence[Value]:
    return key if isinstance(key, (tuple, list)) else (key,)


def _with_gap(key: Key, in_part: int) -> list[Value]:
    parts = list(_key_parts(key))
    if not 0 <= in_part <= len(parts):
        raise ValueError(f"in_part {in_part}: the key parts before it need values")
    parts.insert(in_part, "")
    return parts


def _amounts(amounts: Value | Values) -> Values:
    return amounts if isinstance(amounts, (tuple, list, Mapping)) else (amounts,)


def _value_tokens(index: IndexDescription[Any], values: Values) -> list[bytes]:
    if isinstance(values, (str, bytes, bytearray, memoryview)):
        raise TypeError("values is a sequence or a mapping, not one value")
    if isinstance(values, Mapping):
        names = index.columns[: len(values)]
        if set(names) != set(values):
            raise ValueError(f"values for {sorted(values)}: must be the first of the index's columns {index.columns}")
        values = [values[name] for name in names]
    if len(values) > len(index.columns):
        raise ValueError(f"{len(values)} values for the columns {index.columns}")
    return list(map(encode_value, values))


def _modify(index: IndexDescription[Any], operation: bytes, values: Values, find_tokens: list[bytes]) -> Request[int]:
    return Request(index, b"\t".join([*find_tokens, operation, *_value_tokens(index, values)]), True, _count)


def _modify_and_fetch(index: IndexDescription[R], operation: bytes, values: Values, find_tokens: list[bytes]) -> Request[list[R]]:
    return Request(index, b"\t".join([*find_tokens, operation, *_value_tokens(index, values)]), True, index.rows)


# ── results ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _count(reply: Reply) -> int:
    if len(reply.tokens) != 1 or not reply.tokens[0].isdigit():
        raise ProtocolError("reply", f"not a count: {reply.tokens[:10]!r}")
    return int(reply.tokens[0])


def _generated_id(reply: Reply) -> int | None:
    if not reply.tokens:
        return None
    return _count(reply) or None
