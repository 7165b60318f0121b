# SPDX-License-Identifier: MIT
"""An index as the client knows it, and a request to it: what is sent, and how the reply is understood. No
input or output.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any, Callable, Generic, Literal, Optional, TypeVar, cast

from rowsocket._protocol import Reply, Value, decode_bytes, decode_text, encode_value
from rowsocket._rows import row_as, row_as_dict, row_as_tuple
from rowsocket._types import Zone, decode_columns, in_zone
from rowsocket.errors import ProtocolError

T = TypeVar("T")
R = TypeVar("R")


class OtherTypes(Exception):
    """Values of a reply are not of the types that the server told: the table was altered since."""

    def __init__(self, reply: Reply) -> None:
        super().__init__("the table was altered, and its types have not been asked for again")
        self.reply = reply


ValueKind = Literal["typed", "text", "bytes"]


@dataclasses.dataclass(frozen=True)
class IndexDescription(Generic[R]):
    """What an open_index names, and how rows are returned."""

    database: str
    table: str
    index: str
    columns: tuple[str, ...]
    filter_columns: tuple[str, ...]
    raw: bool
    """Text is the bytes in which the column stores it."""
    values: ValueKind
    """What the values of rows are."""
    detail: bool
    """Errors are to carry a sentence for people."""
    zone: Zone
    """The server's time zone, where the client is told; see `rowsocket._types`."""
    make_row: Callable[[tuple[str, ...], tuple[Any, ...]], R]
    """The row for the names of its columns and a tuple of their values."""

    open_tokens: bytes = dataclasses.field(init=False, repr=False, compare=False)
    """What stands in an open_index after the id; two descriptions with the same are the same index to the
    server.
    """
    has_plain_rows: bool = dataclasses.field(init=False, repr=False, compare=False)
    """Whether a row is a tuple of typed values or of text, one at least."""

    def __post_init__(self) -> None:
        # Each request asks for these two. A property that keeps its value is slower to read.
        object.__setattr__(self, "open_tokens", self._open_tokens())
        has_plain_rows = self.values != "bytes" and self.make_row is row_as_tuple and bool(self.columns)
        object.__setattr__(self, "has_plain_rows", has_plain_rows)

    def _open_tokens(self) -> bytes:
        names = [self.database, self.table, self.index, ",".join(self.columns), ",".join(self.filter_columns)]
        wanted = {"raw": self.raw, "types": self.values == "typed", "detail": self.detail}
        options = [option for option, is_wanted in wanted.items() if is_wanted]
        tokens = names + ([",".join(options)] if options else [])
        return "\t".join(tokens).encode("utf-8")

    def with_columns(self, columns: tuple[str, ...]) -> IndexDescription[R]:
        """The same index with other columns."""
        return dataclasses.replace(self, columns=columns)

    def encode(self, value: Value) -> bytes:
        """The token of a value. Raises TypeError, ValueError."""
        if type(value) is int:  # the commonest comes first
            return b"%d" % value
        return encode_value(value if self.zone is None else in_zone(value, self.zone))

    def rows(self, reply: Reply, columns: tuple[str, ...] | None = None) -> list[R]:
        """The rows of a reply, of these columns instead of the index's if given, at least one. Raises
        ProtocolError, and OtherTypes where the types have to be asked for again.
        """
        names = self.columns if columns is None else columns
        width = len(names)
        tokens = reply.tokens
        if reply.column_count != width or len(tokens) % width:
            raise ProtocolError(
                "reply", f"{len(tokens)} values in rows of {reply.column_count}, asked for {width} columns"
            )
        values = self._values(reply)
        make_row = self.make_row
        if make_row is row_as_tuple and len(values) == width:
            return [cast(R, tuple(values))]
        return [
            make_row(names, tuple(values[start : start + width])) for start in range(0, len(values), width)
        ]

    def first_row(self, reply: Reply) -> R | None:
        """The first row of a reply; None if there is none. Raises as `rows`."""
        if self.make_row is row_as_tuple and reply.column_count == len(self.columns) == len(reply.tokens):
            return cast(R, tuple(self._values(reply)))  # `rows` would say the same, and take longer
        rows = self.rows(reply)
        return rows[0] if rows else None

    def _values(self, reply: Reply) -> list[Any]:
        if self.values == "bytes":
            return list(reply.tokens if reply.is_plain else map(decode_bytes, reply.tokens))
        if reply.decoders is None or self.values == "text":  # None: of a server that tells no types
            return list(map(bytes.decode if reply.is_plain else decode_text, reply.tokens))
        decoders: Iterable[Callable[[bytes], Any]] = reply.decoders
        if len(reply.tokens) > len(reply.decoders):  # several rows
            decoders = itertools.cycle(decoders)
        try:
            return [decode(token) for decode, token in zip(decoders, reply.tokens)]
        except (ValueError, ArithmeticError):
            if not reply.has_newest_types:
                raise OtherTypes(reply) from None
            return decode_columns(reply.decoders, reply.tokens)


def describe(
    database: str,
    table: str,
    columns: str | Iterable[str],
    index: str | int,
    filter_columns: str | Iterable[str],
    *,
    values: ValueKind = "text",
    raw: bool = False,
    detail: bool = False,
    zone: Zone = None,
) -> IndexDescription[tuple[Any, ...]]:
    """A checked description. Raises ValueError."""
    for name in (database, table, str(index)):
        _check_name(name)
    names = column_names(columns), column_names(filter_columns)
    kind: ValueKind = "bytes" if raw else values
    return IndexDescription(database, table, str(index), *names, raw, kind, detail, zone, row_as_tuple)


def column_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Checked column names, from an iterable or from one comma-separated text. Raises ValueError."""
    if isinstance(names, str):
        names = names.split(",") if names else ()
    checked = tuple(names)
    for name in checked:
        _check_name(name)
        if not name or "," in name:
            raise ValueError(f"the protocol can not name the column {name!r}")
    return checked


def _check_name(name: str) -> None:
    if any(character < "\x10" for character in name):
        raise ValueError(f"control character in the name {name!r}")


def as_dicts(description: IndexDescription[tuple[Any, ...]]) -> IndexDescription[dict[str, Any]]:
    """The same index with rows as dicts by column name."""
    return _with_rows(description, row_as_dict)


def as_objects(description: IndexDescription[Any], kind: type[T]) -> IndexDescription[T]:
    """The same index with rows as objects of a dataclass or a pydantic model. Raises TypeError."""
    return _with_rows(description, row_as(kind))


def _with_rows(
    description: IndexDescription[Any], make_row: Callable[[tuple[str, ...], tuple[Any, ...]], T]
) -> IndexDescription[T]:
    return dataclasses.replace(cast("IndexDescription[T]", description), make_row=make_row)


@dataclasses.dataclass
class Request(Generic[T]):
    """A request, ready to be sent; if it is one to an index, under whatever id the connection opened the
    index. Nobody changes it: a frozen dataclass would take three times as long to make.
    """

    description: IndexDescription[Any] | None
    """The index, or None."""
    tail: bytes
    """What stands after the id, or all of it; without the LF."""
    writes: bool
    interpret: Callable[[Reply], T]
    """The result for an ok reply."""
    in_group: bool = False
    """True if the request can only be sent together with others: it is never sent again by itself."""


class RowRequest(Request[Optional[R]]):
    """A request for one row. What they have in common is the class's: no other request is made so often."""

    writes = False
    in_group = False

    def __init__(self, index: IndexDescription[R], tail: bytes) -> None:
        self.description = self.index = index
        self.tail = tail

    def interpret(self, reply: Reply) -> R | None:
        """The row; None if there is none."""
        return self.index.first_row(reply)
