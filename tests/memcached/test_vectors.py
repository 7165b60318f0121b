# SPDX-License-Identifier: GPL-2.0-only
"""Bytes in, bytes out: the files of vectors/, whose README says how to read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.memcached import MemcachedConnection, MemcachedServer

FOLDER = Path(__file__).parent / "vectors"
ESCAPE = re.compile(rb"\\(?:([rnt\\])|x([0-9a-f]{2})|\((.+?)\*(\d+)\))")


def bytes_of(text: str) -> bytes:
    """What the text of a line stands for."""

    def one(match: re.Match[bytes]) -> bytes:
        letter, code, repeated, count = match.groups()
        if letter is not None:
            return {b"r": b"\r", b"n": b"\n", b"t": b"\t", b"\\": b"\\"}[letter]
        return bytes([int(code, 16)]) if code is not None else repeated * int(count)

    return ESCAPE.sub(one, text.encode())


def text_of(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_vectors(path: Path, cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    found: list[str] = []
    is_closed = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        where = f"{path.name}:{number}"
        if word == ">":
            cache.send(bytes_of(rest) + b"\r\n")
        elif word == "<":
            expected = bytes_of(rest) + b"\r\n"
            assert cache.take(len(expected)) == expected, where
        elif word == "sql":
            cache_server.sql(rest)
        elif word == "rows":
            assert found == [], f"rows that nobody expected before {where}"
            found = [" ".join(map(text_of, row)) for row in cache_server.sql(rest)]
        elif word == "=":
            assert found and found.pop(0) == rest, where
        elif word == "closed":
            assert cache.closed(), where
            is_closed = True
        else:
            assert line == "" or line.startswith("#"), f"not understood: {where}"
    assert found == [], f"rows that nobody expected: {found}"
    if not is_closed:
        assert cache.word("mn") == "MN", "bytes that nobody expected"
