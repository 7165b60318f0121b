# SPDX-License-Identifier: MIT
"""What can be asked of an index, as values: the bytes of a request and how its reply is understood. No input
or output here.

Each function here and in `_inserts.py` becomes a method of `rowsocket.Index` (which returns its result), of
`rowsocket.aio.Index` (which is awaited for it), and of the pipelines and groups (which promise it), so its
signature and docstring are the ones of all of them. The first parameter is the index; `R` is how it returns a
row: a tuple, or a dict after `as_dicts()`. `which` are the keyword arguments of `rowsocket.Selection`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union, cast

from rowsocket._index import IndexDescription, Request, RowRequest, column_names
from rowsocket._protocol import Reply, Value
from rowsocket._rows import DataclassRow, ModelRow, by_name
from rowsocket._selection import Filter, Key, Operator, Selected, Selection, select
from rowsocket.errors import ProtocolError

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
R = TypeVar("R")

Values = Union[Sequence[Value], Mapping[str, Value], DataclassRow, ModelRow]
"""Values of the first columns of the index's column list, in order; or of any of its columns by name: a
mapping, a dataclass or a pydantic model."""

# ── reads ───────────────────────────────────────────────────────────────────────────────────────────────────


def get(
    index: IndexDescription[R], /, *key: Value, columns: str | Iterable[str] | None = None
) -> Request[R | None]:
    """The first row with this key, given as one value per key part; None if there is none.

    columns  instead of the index's (RowSocket only)
    """
    return get_row(index, key, columns)


def get_row(
    index: IndexDescription[R], key: tuple[Value, ...], columns: str | Iterable[str] | None
) -> Request[R | None]:
    """`get`, with the arguments as they are handed on: to unpack and to pack them takes time."""
    if columns is None and index.columns:  # the commonest, made without `select`, which would say the same
        return RowRequest(index, row_tail(index, key))
    which = Selection() if columns is None else Selection(columns=columns)
    selected = select(index, key, "=", 1, which, tells_rows=True)
    return _read(selected, lambda reply: next(iter(selected.index.rows(reply, selected.columns)), None))


def row_tail(index: IndexDescription[Any], key: tuple[Value, ...]) -> bytes:
    """What a `get` with this key sends after the id. Raises TypeError, ValueError."""
    first = key[0] if len(key) == 1 else None
    if type(first) is int:  # the commonest; `index.encode` would say the same
        return b"=\t1\t%d\t1\t0" % first
    return b"=\t%d\t%b\t1\t0" % (len(key), b"\t".join(map(index.encode, key)))


def find(
    index: IndexDescription[R], /, key: Key, op: Operator = "=", **which: Unpack[Selection]
) -> Request[list[R]]:
    """The rows that stand in the relation `op` to the key, in the order of the index (descending for < and
    <=); one by default.

    key    one value, or a tuple of values for the first parts of the index
    which  see `rowsocket.Selection`
    """
    return _rows(select(index, key, op, 1, which, tells_rows=True))


def find_in(
    index: IndexDescription[R],
    /,
    values: Iterable[Value],
    op: Operator = "=",
    *,
    key: Key = (),
    **which: Unpack[Selection],
) -> Request[list[R]]:
    """The rows for each of the values in turn, as SQL's IN; all by default. With an `op` other than = and ^=,
    the first for each.

    key    the values of the other key parts, if any
    which  see `rowsocket.Selection`; `in_part` says which key part takes the values
    """
    listed = list(values)
    # The protocol has no empty list: ask for NULL and drop the answer, so that errors still show.
    which["in_values"] = listed or [None]
    selected = select(index, key, op, None, which, tells_rows=True)
    return _rows(selected) if listed else _read(selected, lambda _: [])


def find_keys(
    index: IndexDescription[R], keys: Iterable[Key], /, op: Operator = "=", **which: Unpack[Selection]
) -> Request[list[R]]:
    """The rows for each of the keys in turn; all by default. Keys of more than one value: RowSocket only.

    which  see `rowsocket.Selection`
    """
    listed = list(keys)
    which["keys"] = listed or [None]
    selected = select(index, (), op, None, which, tells_rows=True)
    return _rows(selected) if listed else _read(selected, lambda _: [])


def starts_with(index: IndexDescription[R], /, key: Key, **which: Unpack[Selection]) -> Request[list[R]]:
    """The rows whose text begins with the key's last value, as SQL's LIKE 'value%'; all by default (RowSocket
    only).

    key    the beginning, or a tuple of values for the parts before it and the beginning
    which  see `rowsocket.Selection`
    """
    return _rows(select(index, key, "^=", None, which, tells_rows=True))


def count(
    index: IndexDescription[R], /, key: Key, op: Operator = "=", **which: Unpack[Selection]
) -> Request[int]:
    """How many rows `find` with the same arguments would give; without a limit by default (RowSocket
    only).
    """
    return Request(index, b"\t".join([*select(index, key, op, None, which).tokens, b"#"]), False, count_of)


# ── changes ─────────────────────────────────────────────────────────────────────────────────────────────────


def update(
    index: IndexDescription[R], /, key: Key, values: Values, op: Operator = "=", **which: Unpack[Selection]
) -> Request[int]:
    """Set the first columns of the rows found; how many rows were found. One by default.

    values  in the order of the column list, or a mapping by name; columns beyond them are left as they are
    which   as in `find`
    """
    return _count_changed(index, b"U", values, key, op, 1, which)


def delete(
    index: IndexDescription[R], /, key: Key, op: Operator = "=", **which: Unpack[Selection]
) -> Request[int]:
    """Delete the rows found, one by default; how many. Arguments as in `find`."""
    return _count_changed(index, b"D", (), key, op, 1, which)


def increment(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    **which: Unpack[Selection],
) -> Request[int]:
    """Add to the first columns of the rows found; how many rows changed. Out of the column's range is an
    error.

    amounts  one for the first column, or one each for the first columns
    """
    return _count_changed(index, b"+", _amounts(amounts), key, op, 1, which)


def decrement(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    **which: Unpack[Selection],
) -> Request[int]:
    """Subtract from the first columns of the rows found; how many rows changed.

    A row of which a column would change its sign is left as it is and not counted: a decrement does not cross
    zero (but it can begin there).
    """
    return _count_changed(index, b"-", _amounts(amounts), key, op, 1, which)


def update_keys(
    index: IndexDescription[R], keys: Iterable[Key], /, values: Values, **which: Unpack[Selection]
) -> Request[int]:
    """Set the first columns of the rows with these keys; how many rows were found. All by default, as in
    `find_keys`.
    """
    which["keys"] = keys
    return _count_changed(index, b"U", values, (), "=", None, which)


def delete_keys(
    index: IndexDescription[R], keys: Iterable[Key], /, **which: Unpack[Selection]
) -> Request[int]:
    """Delete the rows with these keys; how many. All by default, as in `find_keys`."""
    which["keys"] = keys
    return _count_changed(index, b"D", (), (), "=", None, which)


def compare_and_set(
    index: IndexDescription[R],
    /,
    key: Key,
    expected: Mapping[str, Value],
    values: Values,
    *,
    columns: str | Iterable[str] | None = None,
) -> Request[bool]:
    """Set the first columns of the row with this key if it still holds what is expected; whether it did.

    expected  values of filter_columns of the index, by name
    columns   instead of the index's (RowSocket only)
    """
    which = Selection(filters=[Filter(column, "=", value) for column, value in expected.items()])
    if columns is not None:
        which["columns"] = columns
    request = _count_changed(index, b"U", values, key, "=", 1, which)
    return Request(request.description, request.tail, True, lambda reply: count_of(reply) > 0)


# ── changes that return rows ────────────────────────────────────────────────────────────────────────────────


def fetch_and_update(
    index: IndexDescription[R], /, key: Key, values: Values, op: Operator = "=", **which: Unpack[Selection]
) -> Request[list[R]]:
    """As `update`, but return the rows as they were before."""
    return _rows_changed(index, b"U?", values, key, op, which)


def fetch_and_delete(
    index: IndexDescription[R], /, key: Key, op: Operator = "=", **which: Unpack[Selection]
) -> Request[list[R]]:
    """As `delete`, but return the rows that are gone."""
    return _rows_changed(index, b"D?", (), key, op, which)


def fetch_and_increment(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    **which: Unpack[Selection],
) -> Request[list[R]]:
    """As `increment`, but return the rows as they were before."""
    return _rows_changed(index, b"+?", _amounts(amounts), key, op, which)


def fetch_and_decrement(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    **which: Unpack[Selection],
) -> Request[list[R]]:
    """As `decrement`, but return the rows as they were before."""
    return _rows_changed(index, b"-?", _amounts(amounts), key, op, which)


def update_and_fetch(
    index: IndexDescription[R], /, key: Key, values: Values, op: Operator = "=", **which: Unpack[Selection]
) -> Request[list[R]]:
    """As `update`, but return the rows as they are afterwards (RowSocket only)."""
    return _rows_changed(index, b"U!", values, key, op, which)


def increment_and_fetch(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    **which: Unpack[Selection],
) -> Request[list[R]]:
    """As `increment`, but return the rows as they are afterwards (RowSocket only)."""
    return _rows_changed(index, b"+!", _amounts(amounts), key, op, which)


def decrement_and_fetch(
    index: IndexDescription[R],
    /,
    key: Key,
    amounts: Value | Values = 1,
    op: Operator = "=",
    **which: Unpack[Selection],
) -> Request[list[R]]:
    """As `decrement`, but return the rows as they are afterwards, without those that were left alone
    (RowSocket only).
    """
    return _rows_changed(index, b"-!", _amounts(amounts), key, op, which)


# ── parts of requests ───────────────────────────────────────────────────────────────────────────────────────


def value_tokens(index: IndexDescription[Any], columns: tuple[str, ...], values: Values) -> list[bytes]:
    """The tokens of values for the first of the columns. Raises ValueError, and TypeError for one value."""
    named = by_name(values)
    if named is not None:
        names = columns[: len(named)]
        if set(names) != set(named):
            raise ValueError(f"values for {sorted(named)}: must be the first of the columns {columns}")
        listed: Sequence[Value] = [named[name] for name in names]
    elif isinstance(values, Sequence) and not isinstance(values, (str, bytes, bytearray, memoryview)):
        listed = values
    else:
        raise TypeError("values is a sequence or a mapping, not one value")
    if len(listed) > len(columns):
        raise ValueError(f"{len(listed)} values for the columns {columns}")
    return list(map(index.encode, listed))


def columns_of(columns: tuple[str, ...], values: Values) -> tuple[str, ...]:
    """The columns, those first that the values name. Raises ValueError for a name that is not among them."""
    named = by_name(values)
    if named is None or tuple(named) == columns[: len(named)]:
        return columns
    unknown = [name for name in named if name not in columns]
    if unknown:
        raise ValueError(f"no column {unknown[0]!r} among {', '.join(columns)}")
    if set(named) == set(columns[: len(named)]):
        return columns
    given = tuple(name for name in columns if name in named)
    return given + tuple(name for name in columns if name not in named)


def count_of(reply: Reply) -> int:
    """The number of a reply. Raises ProtocolError."""
    if len(reply.tokens) != 1 or not reply.tokens[0].isdigit():
        raise ProtocolError("reply", f"not a count: {reply.tokens[:10]!r}")
    return int(reply.tokens[0])


def _amounts(amounts: Value | Values) -> Values:
    if isinstance(amounts, (tuple, list)) or by_name(amounts) is not None:
        return cast("Values", amounts)
    return (cast("Value", amounts),)


def _read(selected: Selected[Any], interpret: Callable[[Reply], T]) -> Request[T]:
    return Request(selected.index, b"\t".join(selected.tokens), False, interpret)


def _rows(selected: Selected[R]) -> Request[list[R]]:
    return _read(selected, lambda reply: selected.index.rows(reply, selected.columns))


def _count_changed(
    index: IndexDescription[Any],
    operation: bytes,
    values: Values,
    key: Key,
    op: str,
    default_limit: int | None,
    which: Selection,
) -> Request[int]:
    columns = column_names(which["columns"]) if "columns" in which else index.columns
    ordered = columns_of(columns, values)
    if ordered != columns:  # by name, and not the first ones
        which = {**which}
        which.pop("columns", None)
        index = index.with_columns(ordered[: len(by_name(values) or ())])
    selected = select(index, key, op, default_limit, which)
    tokens = [*selected.tokens, operation, *value_tokens(index, selected.columns, values)]
    return Request(selected.index, b"\t".join(tokens), True, count_of)


def _rows_changed(
    index: IndexDescription[R], operation: bytes, values: Values, key: Key, op: str, which: Selection
) -> Request[list[R]]:
    columns = column_names(which["columns"]) if "columns" in which else index.columns
    ordered = columns_of(columns, values)
    if ordered != columns:
        which = {**which}
        which.pop("columns", None)
        index = index.with_columns(ordered)
    selected = select(index, key, op, 1, which, tells_rows=True)
    tokens = [*selected.tokens, operation, *value_tokens(index, selected.columns, values)]
    make_row = selected.index.make_row
    if ordered != columns:
        order = [ordered.index(name) for name in columns]

        def in_order(_: tuple[str, ...], row: tuple[Any, ...]) -> R:
            return make_row(columns, tuple([row[position] for position in order]))

        ordering = dataclasses.replace(selected.index, make_row=in_order)
        return Request(
            ordering, b"\t".join(tokens), True, lambda reply: ordering.rows(reply, selected.columns)
        )
    return Request(
        selected.index, b"\t".join(tokens), True, lambda reply: selected.index.rows(reply, selected.columns)
    )
