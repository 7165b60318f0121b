# SPDX-License-Identifier: GPL-2.0-only
"""Values for requests: mostly ones that suit a column of some kind, now and then ones that suit none."""

from __future__ import annotations

import random

from support.raw import token

NULL = b"\0"
NOW = b"\x01t"
ODD: tuple[bytes, ...] = (
    NULL,
    NOW,
    b"",
    b"0",
    b"-1",
    b"-0",
    b"1e3",
    b"1.5",
    b" 7",
    b"12abc",
    b"abc",
    b"127",
    b"2147483647",
    b"2147483648",
    b"-2147483649",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"99999999999999999999999999",
    b"1e400",
    b"0000-00-00",
    b"2024-02-30",
    b"9999-12-31 23:59:59.999999",
    b"1970-01-01 00:00:00",
    b"838:59:59",
    b"24:00:01",
    b"%",
    b"_",
    b"\\",
    b"'",
    b"\xff\xfe",
    "ß".encode(),
    "é🐬".encode(),
    b"\x01@",
    b"\x01I\x01J\x01M",
    b"\xc3",
    b"a" * 41,
    b"x" * 300,
)


def _number(choose: random.Random) -> bytes:
    return b"%d" % choose.choice((choose.randrange(12), choose.randrange(35), choose.randrange(-5, 400)))


def _fraction(choose: random.Random) -> bytes:
    return b"%.*f" % (choose.randrange(12), choose.uniform(-20, 20))


def _text(choose: random.Random) -> bytes:
    text = choose.choice(("", "s", "s1", "S", "at")) + "".join(
        choose.choices("as123Zé ", k=choose.randrange(6))
    )
    return token(text)


def _bytes(choose: random.Random) -> bytes:
    length = choose.choice((1, 2, 4, 5, 30)) if choose.random() < 0.97 else choose.choice((300, 5000))
    return token(choose.randbytes(length))


def _date(choose: random.Random) -> bytes:
    day, hour = choose.randrange(1, 29), choose.randrange(24)
    return choose.choice(
        (b"2024-01-%02d", b"2024-01-%02d 10:00:00.123456", b"%02d:11:12.345")
    ) % choose.choice((day, hour))


def _member(choose: random.Random) -> bytes:
    return choose.choice((b"a", b"b", "ç".encode(), b"A", b"1", b"3", b"a,b", b"c,a", b"d"))


def _json(choose: random.Random) -> bytes:
    return choose.choice((b"{}", b'{"a": [1, 2]}', b"[", b"null", b'"x"'))


def _address(choose: random.Random) -> bytes:
    number = choose.randrange(16)
    return choose.choice((b"00000000-0000-0000-0000-0000000000%02x", b"::%x", b"%032x")) % number


_OF_KIND = {
    "i": _number,
    "n": _fraction,
    "t": _text,
    "b": _bytes,
    "d": _date,
    "e": _member,
    "j": _json,
    "u": _address,
}


def value(choose: random.Random, kind: str, odd_share: float) -> bytes:
    """A token for a column of this kind; this share of them suits no kind."""
    if choose.random() < odd_share:
        return choose.choice(ODD)
    return _OF_KIND[kind](choose)
