# SPDX-License-Identifier: GPL-2.0-only
"""What a reply may look like, whatever was asked: the judge of every line that the server sends.

A form says how an ok to a request looks; an error looks the same everywhere and must be one of ERRORS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ERRORS: dict[bytes, frozenset[bytes]] = {
    b"1": frozenset(
        b"open_table lock_tables group unchanged notrans commit memory shutdown"
        # Of the storage engine: a duplicate key, a row lock, a deadlock, foreign keys, no partition for the
        # row (160), the end of the AUTO_INCREMENT range (167), KILL QUERY (188).
        b" 121 146 149 151 152 160 167 188".split()
    ),
    b"2": frozenset(
        b"cmd stmtnum op klen fldnum kpnum idxnum fld invalueslen filtertype filterfld modop readonly syntax"
        b" notimpl group replylen toolong".split()
    ),
    b"3": frozenset(b"unauth authtype".split()),
}
DAMAGE = frozenset((1030, 1034, 1035, 1105, 1180, 1181, 1194, 1195, 1815))
"""Errors of the server that no request may meet: of broken tables, of commits, of the server itself."""
SERVER_ERRORS = frozenset(range(1000, 5000)) - DAMAGE
_TOKEN = re.compile(rb"\x00|(?:[\x10-\xff]|\x01[\x40-\x4f])*")
_NUMBER = re.compile(rb"0|[1-9][0-9]*")


@dataclass(frozen=True)
class Form:
    """How an ok looks: so many columns, and how many values."""

    width: int | None = None
    """What the second token says; None: anything."""
    value_counts: tuple[int, ...] | None = None
    """None: any multiple of the width."""
    is_number: bool = False
    """Whether the values are numbers."""
    is_refused: bool = False
    """Whether there can be no ok."""


ANY = Form()
DONE = Form(1, (0,))
NUMBER = Form(1, (1,), is_number=True)
INSERTED = Form(1, (0, 1), is_number=True)
REFUSED = Form(is_refused=True)


def rows(width: int | None) -> Form:
    """Rows of so many columns."""
    return Form(width)


def outcomes(row_count: int) -> Form:
    """Outcome and id of each row of a `++`."""
    return Form(2, (2 * row_count,))


def fault(reply: bytes, form: Form = ANY) -> str:
    """What is wrong with a reply line (without its LF); empty if nothing is."""
    code, *rest = reply.split(b"\t")
    if code in ERRORS:
        return _fault_of_error(code, rest)
    if code != b"0" or not rest or not _NUMBER.fullmatch(rest[0]):
        return "neither an ok nor an error"
    if form.is_refused:
        return "an ok to what must be refused"
    width, found = int(rest[0]), rest[1:]
    if form.width is not None and width != form.width:
        return f"{width} columns instead of {form.width}"
    if (width == 0 and found) or (width > 0 and form.value_counts is None and len(found) % width):
        return f"{len(found)} values for {width} columns"
    if form.value_counts is not None and len(found) not in form.value_counts:
        return f"{len(found)} values"
    if form.is_number and not all(map(_NUMBER.fullmatch, found)):
        return "a value that is no number"
    if not all(map(_TOKEN.fullmatch, found)):
        return "a value that is not escaped"
    return ""


def _fault_of_error(code: bytes, rest: list[bytes]) -> str:
    if len(rest) not in (2, 3) or rest[0] != b"1":
        return "a malformed error"
    text = rest[1]
    if text in ERRORS[code] or (code == b"1" and _NUMBER.fullmatch(text) and int(text) in SERVER_ERRORS):
        return ""
    return "an error that no client knows"
