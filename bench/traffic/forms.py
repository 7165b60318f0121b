# SPDX-License-Identifier: GPL-2.0-only
"""Requests and replies with numbers that are known only when a request is sent.

Bytes are written as text here: a character below 256 is the byte of that number (Latin-1). Every other
character is one byte of a `Number`, which the player puts in. So ordinary Python makes a request, and `len`
counts its bytes:

    k = Number()
    f"get user:{k}"         # eight digits in the place of k
    f"user{k}@example.com"  # 24 bytes

A number has a fixed count of digits, with leading zeros: eight, or as many as are asked for (`f"{n %
60:02}"`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

DIGITS = 8
"""Of a number, where the format says nothing else."""

_FIRST_PLACE = 0x100
_PLACES = re.compile("[\u0100-\U0010ffff]+")


@dataclass(frozen=True)
class Number:
    """(source * multiply + add) // divide % modulo. The source is a key of the request, or what `of` says."""

    of: str = "key"
    """"key"; "tick", which differs from request to request; "connection", the connection's own number."""
    key: int = 0
    """Which of the request's keys."""
    multiply: int = 1
    add: int = 0
    divide: int = 1
    modulo: int = 0
    """0 = the whole number."""

    def __mul__(self, factor: int) -> Number:
        return replace(self._plain(), multiply=self.multiply * factor, add=self.add * factor)

    def __add__(self, more: int) -> Number:
        return replace(self._plain(), add=self.add + more)

    def __sub__(self, less: int) -> Number:
        return self + -less

    def __floordiv__(self, divisor: int) -> Number:
        if self.multiply % divisor == 0:
            return replace(self._plain(), multiply=self.multiply // divisor, add=self.add // divisor)
        return replace(self._plain(), divide=divisor)

    def __mod__(self, modulo: int) -> Number | int:
        if self.divide == 1 and self.multiply % modulo == 0:
            return self.add % modulo
        return replace(self, modulo=modulo)

    def __format__(self, spec: str) -> str:
        width = int(spec or DIGITS)
        return _place(self, width, binary=False) * width

    def at(self, source: int) -> int:
        """The number for a value of the source."""
        number = (source * self.multiply + self.add) // self.divide
        return number % self.modulo if self.modulo else number

    def sql(self, source: str) -> str:
        """The same as an SQL expression."""
        text = f"(({source} * {self.multiply} + {self.add}) DIV {self.divide})"
        return f"({text} % {self.modulo})" if self.modulo else text

    def _plain(self) -> Number:
        if self.divide != 1 or self.modulo:
            raise TypeError("after a division only the remainder can be taken, and after that nothing")
        return self


_DEFAULTS = {"binary": False, **asdict(Number())}
"""What the player takes where a field says nothing."""


@dataclass(frozen=True)
class _Blank:
    number: Number
    width: int
    binary: bool


_blanks: list[_Blank] = []
_places: dict[_Blank, str] = {}


def _place(number: Number, width: int, *, binary: bool) -> str:
    """The character that stands for each byte of the number."""
    blank = _Blank(number, width, binary)
    if blank not in _places:
        code = _FIRST_PLACE + len(_blanks)
        _places[blank] = chr(code if code < 0xD800 else code + 0x800)  # not those that UTF-16 uses
        _blanks.append(blank)
    return _places[blank]


def _blank(place: str) -> _Blank:
    code = ord(place)
    return _blanks[(code if code < 0xD800 else code - 0x800) - _FIRST_PLACE]


ANY_DIGITS = _place(Number("digits"), 1, binary=False)
"""In a reply: one or more digits that nobody can foretell."""


def little_endian(text: str, size: int) -> str:
    """A number that `text` gives in digits, as so many bytes."""
    if _PLACES.match(text):
        return _place(_blank(text[0]).number, size, binary=True) * size
    return int(text).to_bytes(size, "little").decode("latin-1")


def fill(text: str, size: int) -> str:
    """The text brought to so many bytes. Raises ValueError if it has more."""
    if len(text) > size:
        raise ValueError(f"a text of {len(text)} bytes is longer than {size}")
    return text + "x" * (size - len(text))


def form(text: str) -> dict[str, Any]:
    """The text as the player reads it (bench/form.h)."""
    plain, fields = "", []
    for place, run in itertools.groupby(text):
        width = len(list(run))
        if ord(place) < _FIRST_PLACE:
            plain += place * width
            continue
        blank = _blank(place)
        number = blank.number
        if place == ANY_DIGITS:
            fields.append({"at": len(plain), "width": 0, "of": "digits"})
            continue
        told = {"width": blank.width, "binary": blank.binary, **asdict(number), "add": number.add % 2**64}
        told = {name: value for name, value in told.items() if value != _DEFAULTS.get(name)}
        for _ in range(width // blank.width):
            fields.append({"at": len(plain), **told})
            plain += "0" * blank.width
    return {"bytes": plain, "fields": fields}


def filled(text: str, keys: Sequence[int], tick: int = 100_000_000, connection: int = 0) -> bytes:
    """What the player would make of the text for these sources."""
    out = b""
    for place, run in itertools.groupby(text):
        width = len(list(run))
        if ord(place) < _FIRST_PLACE:
            out += (place * width).encode("latin-1")
            continue
        blank = _blank(place)
        source = {"key": keys[blank.number.key], "tick": tick, "connection": connection}.get(
            blank.number.of, 0
        )
        number = blank.number.at(source)
        one = number.to_bytes(blank.width, "little") if blank.binary else f"{number:0{blank.width}}".encode()
        out += one * (width // blank.width)
    return out


def sql_expression(text: str, source: str) -> str:
    """The text as an SQL expression over the source: a number if it is nothing else."""
    pieces = []
    for place, run in itertools.groupby(
        text, lambda character: character if _PLACES.match(character) else ""
    ):
        piece = "".join(run)
        if not place:
            pieces.append(f"'{piece}'")
            continue
        blank = _blank(place)
        expression = blank.number.sql(source)
        if len(text) == blank.width:
            return expression
        pieces += [f"LPAD({expression}, {blank.width}, '0')"] * (len(piece) // blank.width)
    return f"CONCAT({', '.join(pieces)})"


def values_in(statement: str) -> list[tuple[str, bool]]:
    """What differs from request to request in a statement: quoted texts (True) and plain numbers (False)."""
    return [(match[1] or match[2], match[1] is not None) for match in _VALUE.finditer(statement)]


def without_values(statement: str) -> str:
    """The statement with a question mark for each of them."""
    return _VALUE.sub("?", statement)


_VALUE = re.compile("'([^']*[\u0100-\U0010ffff][^']*)'|([\u0100-\U0010ffff]+)")
