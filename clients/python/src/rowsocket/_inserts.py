# SPDX-License-Identifier: MIT
"""What inserts rows into the table of an index, in the manner of `_requests.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, cast

from rowsocket._index import IndexDescription, Request, column_names
from rowsocket._protocol import NULL, Reply, Value
from rowsocket._requests import Values, columns_of, count_of, value_tokens
from rowsocket._rows import by_name
from rowsocket._selection import columns_tokens
from rowsocket.errors import ProtocolError, ServerError, error_from_reply

R = TypeVar("R")


class Inserted(NamedTuple):
    """What came of one row."""

    outcome: Literal["inserted", "changed", "unchanged", "failed"]
    """Inserted; a row that was there was replaced or updated; it stays as it was; the row failed and is not
    there."""
    id: int | None
    """The AUTO_INCREMENT id that was made, or that of the row that was there; None where there is none to
    tell."""
    error: ServerError | None
    """Why it failed."""


def insert(index: IndexDescription[R], /, values: Values) -> Request[int | None]:
    """Insert a row; its AUTO_INCREMENT id if one was generated, else None.

    values  of the first columns of the index's column list in order, or of any of them by name; all other
            columns get their defaults
    """
    ordered = columns_of(index.columns, values)
    if ordered != index.columns:  # by name, and not the first ones
        index = index.with_columns(ordered[: len(by_name(values) or ())])
    tokens = value_tokens(index, index.columns, values)
    return Request(index, b"\t".join([b"+", b"%d" % len(tokens), *tokens]), True, _generated_id)


def insert_many(
    index: IndexDescription[R],
    /,
    rows: Iterable[Values],
    *,
    on_duplicate: Literal["fail", "keep", "replace"] = "fail",
    update: str | Iterable[str] = (),
    add: str | Iterable[str] = (),
    each: bool = False,
    columns: str | Iterable[str] | None = None,
) -> Request[list[Inserted]]:
    """Insert rows, all of them or, after an error, none; what came of each (RowSocket only).

    rows          each with values of the first columns in order, or of any columns by name; all rows of the
                  same columns
    on_duplicate  what is done where a unique key has a row already: raise DuplicateKey, keep that row, or
                  replace it
    update, add   or else: the columns of that row that are set to the values of the new one, and those to
                  which they are added
    each          each row for itself: one that fails does not undo the others, and has its error in its
                  `Inserted`
    columns       instead of the index's
    """
    given = list(rows)
    wanted = index.columns if columns is None else column_names(columns)
    names = columns_of(wanted, given[0]) if given else wanted
    if names != wanted:  # by name, and not the first ones
        names = names[: len(by_name(given[0]) or ())]
    listed = [value_tokens(index, names, row) for row in given]
    if not listed or len({len(row) for row in listed}) > 1:
        raise ValueError("rows: at least one, all with the same number of values")
    count = len(listed[0])
    tokens = [b"++", b"%d" % count, b"%d" % len(listed), *(token for row in listed for token in row)]
    if columns is not None or names != wanted:
        tokens += columns_tokens(names)
    tokens += _duplicate_tokens(on_duplicate, names[:count], column_names(update), column_names(add))
    if each:
        tokens.append(b"E")
    return Request(index, b"\t".join(tokens), True, _inserted)


def insert_ignore(
    index: IndexDescription[R], /, values: Values, *, columns: str | Iterable[str] | None = None
) -> Request[Inserted]:
    """Insert a row unless a unique key has it already; then that row stays as it is (RowSocket only)."""
    return _one(insert_many(index, [values], on_duplicate="keep", columns=columns))


def replace(
    index: IndexDescription[R], /, values: Values, *, columns: str | Iterable[str] | None = None
) -> Request[Inserted]:
    """Insert a row in the place of those that have an equal unique key (RowSocket only)."""
    return _one(insert_many(index, [values], on_duplicate="replace", columns=columns))


def upsert(
    index: IndexDescription[R],
    /,
    values: Values,
    *,
    update: str | Iterable[str] | None = None,
    add: str | Iterable[str] = (),
    columns: str | Iterable[str] | None = None,
) -> Request[Inserted]:
    """Insert a row or, where a unique key has it already, change that row (RowSocket only).

    update   the columns that are set to the given values then; None = all given ones but those of `add`
    add      the columns to which the given values are added then
    columns  instead of the index's
    """
    names = index.columns if columns is None else column_names(columns)
    added = column_names(add)
    named = by_name(values)
    count = len(named if named is not None else cast("Sequence[Value]", values))
    updated = (
        [name for name in columns_of(names, values)[:count] if name not in added]
        if update is None
        else column_names(update)
    )
    return _one(insert_many(index, [values], update=updated, add=added, columns=columns))


# ── parts ───────────────────────────────────────────────────────────────────────────────────────────────────


def _duplicate_tokens(
    on_duplicate: str, given: tuple[str, ...], update: tuple[str, ...], add: tuple[str, ...]
) -> list[bytes]:
    choices = {"fail": [], "keep": [b"I"], "replace": [b"R"]}
    if on_duplicate not in choices:
        raise ValueError(f"unknown on_duplicate {on_duplicate!r}: one of {', '.join(choices)}")
    if not update and not add:
        return choices[on_duplicate]
    if on_duplicate != "fail":
        raise ValueError(f"on_duplicate={on_duplicate!r} excludes update and add")
    missing = set(update + add) - set(given)
    if missing or len(set(update + add)) < len(update + add):
        raise ValueError(f"update and add: distinct columns among those that have values, {given}")
    tokens = []
    for clause, names in ((b"U", update), (b"+", add)):
        if names:
            tokens += [clause, ",".join(str(given.index(name)) for name in names).encode()]
    return tokens


def _one(request: Request[list[Inserted]]) -> Request[Inserted]:
    return Request(request.description, request.tail, True, lambda reply: request.interpret(reply)[0])


_OUTCOMES: dict[bytes, Any] = {b"1": "inserted", b"2": "changed", b"0": "unchanged"}


def _inserted(reply: Reply) -> list[Inserted]:
    if reply.column_count != 2 or len(reply.tokens) % 2 or not reply.tokens:
        raise ProtocolError("reply", f"not outcomes of rows: {reply.tokens[:10]!r}")
    return [_outcome(*pair) for pair in zip(reply.tokens[::2], reply.tokens[1::2])]


def _outcome(outcome: bytes, id: bytes) -> Inserted:
    if outcome.startswith(b"!"):
        return Inserted("failed", None, error_from_reply(1, outcome[1:].decode("ascii", "replace")))
    if outcome not in _OUTCOMES or (id != NULL and not id.isdigit()):
        raise ProtocolError("reply", f"not the outcome of a row: {outcome!r} {id!r}")
    return Inserted(_OUTCOMES[outcome], None if id == NULL else int(id) or None, None)


def _generated_id(reply: Reply) -> int | None:
    if not reply.tokens:
        return None
    return count_of(reply) or None
