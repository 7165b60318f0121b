# SPDX-License-Identifier: MIT
"""The HandlerSocket protocol as pure functions: values to tokens and back, reply bytes to replies. No input
or output here.

A request and a reply are one line each, ended by LF, of tokens separated by TAB:

    0 TAB = TAB 1 TAB 42 TAB 1 TAB 0 LF          find under id 0 the row with key 42, limit 1, offset 0
    0 TAB 2 TAB 42 TAB Ada LF                    ok, 2 columns, the values of the rows one after the other

NULL is a token of the one byte 0x00, NOW is 0x01 and a "t"; a byte b below 0x10 inside a value travels as
0x01 and b + 0x40.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import ipaddress
import math
import re
import uuid
from collections.abc import Sequence
from typing import Any, Callable, Union

from rowsocket.errors import ProtocolError, ServerError, error_from_reply


class Now(enum.Enum):
    """The type of NOW."""

    NOW = "now"


NOW = Now.NOW
"""As a value: the time at which the server begins the request, with the fraction that the column keeps
(RowSocket only)."""

Value = Union[
    str,
    bytes,
    bytearray,
    memoryview,
    bool,
    int,
    float,
    decimal.Decimal,
    datetime.date,  # datetime.datetime is one
    datetime.time,
    datetime.timedelta,
    uuid.UUID,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    Now,
    None,
]
"""What can be sent for a column. All but bytes travel as text in UTF-8, as SQL would write it."""

NULL = b"\x00"
NULL_BYTE, ESCAPE_BYTE = 0, 1
"""The same, and what an escape begins with, as numbers: those are found ten times as fast in bytes."""
_NOW_TOKEN = b"\x01t"

_NUMBER_DIGITS_MAX = 9
"""Of the two numbers that a reply begins with."""
_SMALL_NUMBERS = {b"%d" % number: number for number in range(100)}
"""Nearly all of those two are among them: to look one up takes a third of the time of a check and `int`."""

_ESCAPABLE = re.compile(rb"[\x00-\x0f]")
_NO_ESCAPE = re.compile(rb"\x01(?![\x40-\x4f]).?", re.DOTALL)
_ESCAPES = tuple((bytes((byte,)), bytes((1, byte + 0x40))) for byte in (1, 0, *range(2, 16)))
"""What a byte becomes. The byte 1 is first, since it is part of the others."""


def escape(data: bytes) -> bytes:
    """Bytes of a value as they travel."""
    if _ESCAPABLE.search(data) is None:
        return data
    for byte, escaped in _ESCAPES:
        data = data.replace(byte, escaped)
    return data


def unescape(token: bytes) -> bytes:
    """The bytes of a value from its token, which is not NULL. Raises ProtocolError if an escape is none."""
    if ESCAPE_BYTE not in token:
        return token
    wrong = _NO_ESCAPE.search(token)
    if wrong is not None:
        raise ProtocolError("escape", f"not an escape: {wrong[0]!r}")
    for byte, escaped in reversed(_ESCAPES):
        token = token.replace(escaped, byte)
    return token


def encode_value(value: Value) -> bytes:
    """The token of a value. Raises TypeError for a type that has no text, ValueError for a value that SQL can
    not hold.
    """
    if type(value) is int:  # the commonest comes first
        return b"%d" % value
    if value is None:
        return NULL
    if isinstance(value, Now):
        return _NOW_TOKEN
    if isinstance(value, str):
        return escape(value.encode("utf-8"))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return escape(bytes(value))
    return _text_of(value).encode("ascii")


def _text_of(
    value: int
    | float
    | decimal.Decimal
    | datetime.date
    | datetime.time
    | datetime.timedelta
    | uuid.UUID
    | object,
) -> str:
    if isinstance(value, int):  # bool is one
        return str(int(value))
    if isinstance(value, (float, decimal.Decimal)):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no place in a table")
        return repr(float(value)) if isinstance(value, float) else format(value, "f")
    if isinstance(value, (datetime.datetime, datetime.time)) and value.tzinfo is not None:
        raise ValueError(f"{value} has a time zone: convert it to the server's and drop the zone")
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _text_of_duration(value)
    if isinstance(value, (uuid.UUID, ipaddress.IPv4Address, ipaddress.IPv6Address)):
        return str(value)
    raise TypeError(f"no column takes a {type(value).__name__}")


def _text_of_duration(value: datetime.timedelta) -> str:
    seconds, microseconds = divmod(abs(value) // datetime.timedelta(microseconds=1), 1_000_000)
    fraction = f".{microseconds:06}" if microseconds else ""
    sign = "-" if value.days < 0 else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def decode_bytes(token: bytes) -> bytes | None:
    """The bytes that a token stands for; None for NULL. Raises ProtocolError."""
    return None if token == NULL else unescape(token)


def decode_text(token: bytes) -> str | None:
    """The text that a token stands for; None for NULL. Raises ProtocolError, and UnicodeDecodeError if it is
    no text.
    """
    if token == NULL:
        return None
    return (unescape(token) if ESCAPE_BYTE in token else token).decode("utf-8")


_LAST_REPLIES = ((2, [b"toolong"]), (3, [b"tls"]))


class _Told:
    """What a reply may be told of its columns. No fields of a dataclass: those would be set in each reply."""

    decoders: Sequence[Callable[[bytes], Any]] | None = None
    """What makes values of a row's tokens, if the server told the columns' types."""
    has_newest_types: bool = False
    """The types were asked for after the reply had come."""


@dataclasses.dataclass
class Reply(_Told):
    """One reply line."""

    code: int
    column_count: int
    tokens: list[bytes]
    """What follows the count, as it travelled."""
    is_plain: bool = dataclasses.field(default=False, compare=False)
    """No token is NULL, and none has an escape."""

    def ends_connection(self) -> bool:
        """Whether the server closes the connection behind it."""
        return self.code != 0 and (self.code, self.tokens[:1]) in _LAST_REPLIES

    def error(self) -> ServerError | None:
        """The exception that the reply stands for; None if it is ok."""
        if self.code == 0:
            return None
        texts = [unescape(token).decode("utf-8", "backslashreplace") for token in self.tokens]
        return error_from_reply(self.code, texts[0] if texts else "", " ".join(texts[1:]))


class ReplyParser:
    """Cuts the bytes that arrive into replies."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> list[Reply]:
        """The replies that `data` completes. Raises ProtocolError; the stream can not be followed any further
        then.
        """
        last = data.find(b"\n")
        if last == len(data) - 1 and not self._pieces and data:  # one reply, as a rule
            return [parse_reply(data[:-1])]
        last = data.rfind(b"\n")
        if last < 0:
            self._pieces.append(data)
            return []
        complete = data[:last]
        if self._pieces:
            complete = b"".join([*self._pieces, complete])
            self._pieces.clear()
        if last + 1 < len(data):
            self._pieces.append(data[last + 1 :])
        return list(map(parse_reply, complete.split(b"\n")))


def parse_reply(line: bytes) -> Reply:
    """A reply from its line without the LF. Raises ProtocolError."""
    tokens = line.split(b"\t")
    first, second = tokens.pop(0), tokens.pop(0) if tokens else b""
    code, count = _SMALL_NUMBERS.get(first), _SMALL_NUMBERS.get(second)
    if code is None or count is None:
        if not (first.isdigit() and second.isdigit()) or max(len(first), len(second)) > _NUMBER_DIGITS_MAX:
            raise ProtocolError("reply", f"not a reply: {line[:100]!r}")
        code, count = int(first), int(second)
    return Reply(code, count, tokens, not (NULL_BYTE in line or ESCAPE_BYTE in line))
