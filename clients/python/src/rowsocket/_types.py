# SPDX-License-Identifier: MIT
"""Python values of columns, by their SQL types. No input or output here.

    TINYINT ... BIGINT, YEAR                int
    DECIMAL                                 decimal.Decimal
    FLOAT, DOUBLE                           float
    DATE                                    datetime.date
    DATETIME, TIMESTAMP                     datetime.datetime
    TIME                                    datetime.timedelta
    BINARY, VARBINARY, BLOB, BIT, GEOMETRY  bytes
    everything else                         str

A date that no calendar has (0000-00-00, 2024-02-00) stays the text that the server sent, and so does the year
0000.

DATETIME has no zone. TIMESTAMP is an instant, which the server sends in its own time zone (the global
`time_zone`). Told which zone that is, the client makes aware datetimes of it.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import functools
import re
from collections.abc import Sequence
from typing import Any, Callable, Optional

from rowsocket._protocol import NULL, decode_bytes, decode_text, unescape

Decoder = Callable[[bytes], Any]
"""The Python value for a token. Raises ValueError or ArithmeticError for a token that no value of its type
has."""
Zone = Optional[datetime.tzinfo]

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATETIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?", re.ASCII)
_TIME = re.compile(r"(-?)(\d\d+):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?", re.ASCII)
# Python's own functions take more: blanks, underscores, a plus sign, nan.
_is_decimal = re.compile(rb"-?\d+(?:\.\d+)?").fullmatch
_is_float = re.compile(rb"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?").fullmatch
_DATE_CHARACTERS = len("2024-01-01")
_DATETIME_CHARACTERS = len("2024-01-01 00:00:00")


# Taken once: to take a method of a class takes two thirds of the time of these calls.
_date_of = datetime.date.fromisoformat
_datetime_of = datetime.datetime.fromisoformat


def decode_int(token: bytes) -> int | None:
    """A whole number."""
    return None if token == NULL else _int(token)


def _int(token: bytes) -> int:
    if not token.isdigit() and not (token[:1] == b"-" and token[1:].isdigit()):
        raise ValueError("a value of another type")
    return int(token)


def _int_of_text(text: str) -> int:
    if not text.isascii() or not (text.isdigit() or (text[:1] == "-" and text[1:].isdigit())):
        raise ValueError("a value of another type")
    return int(text)


def decode_year(token: bytes) -> int | str | None:
    """A YEAR; the text of 0000, since the digit 0 would be written as 2000."""
    return "0000" if token == b"0000" else decode_int(token)


def decode_float(token: bytes) -> float | None:
    """A FLOAT or a DOUBLE."""
    return None if token == NULL else _float(token)


def _float(token: bytes) -> float:
    if not _is_float(token):
        raise ValueError("a value of another type")
    return float(token)


def decode_decimal(token: bytes) -> decimal.Decimal | None:
    """A DECIMAL, with all its digits."""
    if token == NULL:
        return None
    if not _is_decimal(token):
        raise ValueError("a value of another type")
    return decimal.Decimal(token.decode("ascii"))


def decode_date(token: bytes) -> datetime.date | str | None:
    """A DATE; its text where no calendar has it."""
    return None if token == NULL else _date(token.decode("ascii"))


def _date(text: str) -> datetime.date | str:
    if len(text) != _DATE_CHARACTERS:
        raise ValueError("a value of another type")
    try:
        return _date_of(text)
    except ValueError:
        return _text_like(_DATE, text)


def decode_datetime(token: bytes) -> datetime.datetime | str | None:
    """A DATETIME or TIMESTAMP, without a zone; its text where no calendar has it."""
    return None if token == NULL else _datetime(token.decode("ascii"))


def _datetime(text: str) -> datetime.datetime | str:
    whole = text
    if len(text) != _DATETIME_CHARACTERS:
        _text_like(_DATETIME, text)  # else it could be a DATE, which zeros would make a DATETIME
        whole = text.ljust(_DATETIME_CHARACTERS + 7, "0")
    try:
        return _datetime_of(whole)
    except ValueError:
        return _text_like(_DATETIME, text)


def decode_time(token: bytes) -> datetime.timedelta | None:
    """A TIME, which SQL lets be negative and longer than a day."""
    if token == NULL:
        return None
    match = _TIME.fullmatch(token.decode("ascii"))
    if match is None:
        raise ValueError("a value of another type")
    sign, hours, minutes, seconds, fraction = match.groups()
    duration = datetime.timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int((fraction or "").ljust(6, "0")),
    )
    return -duration if sign else duration


def _text_like(pattern: re.Pattern[str], text: str) -> str:
    """The text, if it looks as all values of its type do. Raises ValueError."""
    if pattern.fullmatch(text) is None:
        raise ValueError("a value of another type")
    return text


def decode_unknown(token: bytes) -> str | bytes | None:
    """A value of a type that this client does not know: text if it is UTF-8, else bytes."""
    if token == NULL:
        return None
    data = unescape(token)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def decode_columns(decoders: Sequence[Decoder], tokens: Sequence[bytes]) -> list[Any]:
    """The values of rows of which not all columns have the types that were told: the table was altered again
    meanwhile. A column of another type is one of a type that nobody knows, in all rows.
    """
    values: list[Any] = list(map(decode_unknown, tokens))
    width = len(decoders)
    for position, decode in enumerate(decoders):
        with contextlib.suppress(ValueError, ArithmeticError):
            values[position::width] = list(map(decode, tokens[position::width]))
    return values


_TYPES: tuple[tuple[Decoder, str], ...] = (
    (decode_int, "tinyint smallint mediumint int bigint"),
    (decode_year, "year"),
    (decode_decimal, "decimal"),
    (decode_float, "float double"),
    (decode_date, "date"),
    (decode_datetime, "datetime timestamp"),
    (decode_time, "time"),
    (decode_text, "char varchar tinytext text mediumtext longtext json enum set uuid inet4 inet6"),
    (decode_bytes, "binary varbinary tinyblob blob mediumblob longblob bit vector"),
    (decode_bytes, "geometry point linestring polygon multipoint multilinestring multipolygon"),
    (decode_bytes, "geometrycollection"),
)
_DECODERS = {word: decoder for decoder, words in _TYPES for word in words.split()}


PLAIN_DECODERS: dict[Decoder, Decoder] = {
    decode_int: _int,
    decode_float: _float,
    decode_text: bytes.decode,
    decode_bytes: bytes,
}
"""What gives the same for a token that is not NULL and has no escape, and takes less time."""
_TEXT_DECODERS: dict[Decoder, Callable[[str], Any]] = {
    decode_int: _int_of_text,
    decode_date: _date,
    decode_datetime: _datetime,
}


def text_decoder_of(decoder: Decoder) -> Callable[[str], Any]:
    """What gives the same for the text of such a token. Raises as a decoder."""
    return _TEXT_DECODERS.get(decoder) or (lambda text: decoder(text.encode()))


@functools.lru_cache(maxsize=4096)
def decoder_of(sql_type: str, zone: Zone = None) -> Decoder:
    """What makes values of tokens of this type, worded as COLUMN_TYPE of information_schema.COLUMNS.

    zone  that of the server: a TIMESTAMP becomes an aware datetime in it; None: a naive one
    """
    word = re.split(r"[ (/]", sql_type, maxsplit=1)[0].lower()
    if word == "timestamp" and zone is not None:
        return functools.partial(_decode_instant, zone)
    return _DECODERS.get(word, decode_unknown)


def _decode_instant(zone: datetime.tzinfo, token: bytes) -> datetime.datetime | str | None:
    value = decode_datetime(token)
    return value.replace(tzinfo=zone) if isinstance(value, datetime.datetime) else value


def in_zone(value: Any, zone: Zone) -> Any:
    """The value as it is sent to a server of this zone: an aware datetime becomes a naive one."""
    if zone is not None and isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(zone).replace(tzinfo=None)
    return value
