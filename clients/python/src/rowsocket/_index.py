# SPDX-License-Identifier: MIT
"""An index as the client knows it, and a request to it: what is sent, and how the reply is understood. No
input or output.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Callable, Generic, TypeVar

from rowsocket._protocol import Reply, decode_bytes, decode_text
from rowsocket.errors import ProtocolError

T = TypeVar("T")
R = TypeVar("R")

_RAW = b"raw"


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
    make_row: Callable[[tuple[str, ...], tuple[Any, ...]], R]
    """The row for the names of its columns and a tuple of such values."""

    def open_tokens(self) -> bytes:
        """What stands in an open_index after the id; two descriptions with the same are the same index to the
        server.
        """
        names = [self.database, self.table, self.index, ",".join(self.columns), ",".join(self.filter_columns)]
        tokens = [name.encode("utf-8") for name in names] + ([_RAW] if self.raw else [])
        return b"\t".join(tokens)

    def rows(self, reply: Reply, columns: tuple[str, ...] | None = None) -> list[R]:
        """The rows of a reply, of these columns instead of the index's if given. Raises ProtocolError."""
        names = self.columns if columns is None else columns
        width = len(names)
        if reply.column_count != width or (len(reply.tokens) % width if width else reply.tokens):
            raise ProtocolError(
                "reply",
                f"{len(reply.tokens)} values in rows of {reply.column_count}, asked for {width} columns",
            )
        values = list(map(self.decode, reply.tokens))
        make_row = self.make_row
        return [
            make_row(names, tuple(values[start : start + width]))
            for start in range(0, len(values), width or 1)
        ]


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
    for name in (database, table, str(index)):
        _check_name(name)
    names = column_names(columns), column_names(filter_columns)
    return IndexDescription(
        database, table, str(index), *names, raw, decode_text if decode and not raw else decode_bytes, _tuple
    )


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


def _tuple(_: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    return values


def _dict(names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(names, values))


def as_dicts(description: IndexDescription[tuple[Any, ...]]) -> IndexDescription[dict[str, Any]]:
    """The same index with rows as dicts by column name."""
    fields = {field.name: getattr(description, field.name) for field in dataclasses.fields(description)}
    fields["make_row"] = _dict
    return IndexDescription(**fields)


@dataclasses.dataclass(frozen=True)
class Request(Generic[T]):
    """A request, ready to be sent; if it is one to an index, under whatever id the connection opened the
    index.
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
