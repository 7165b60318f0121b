# SPDX-License-Identifier: GPL-2.0-only
"""Vectors of protocols that talk in bytes: text files that say what is sent and what comes back.

| line | |
|---|---|
| `> text` | sent, with CR LF behind it |
| `< text` | received, with CR LF behind it |
| `sql statement` | executed |
| `rows query` | what the query finds is on the next lines: `= value value` for each row |
| `closed` | the server has closed the connection |
| `# text`, an empty line | nothing |
"""

from __future__ import annotations

import re
from pathlib import Path

from support.mariadb import RowSocketServer
from support.raw import RawConnection

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


def play(path: Path, connection: RawConnection, server: RowSocketServer) -> bool:
    """Do what the file says. True if the connection is still open."""
    found: list[str] = []
    is_open = True
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        where = f"{path.name}:{number}"
        if word == ">":
            connection.send(bytes_of(rest) + b"\r\n")
        elif word == "<":
            expected = bytes_of(rest) + b"\r\n"
            assert connection.take(len(expected)) == expected, where
        elif word == "sql":
            server.sql(rest)
        elif word == "rows":
            assert found == [], f"rows that nobody expected before {where}"
            found = [" ".join(map(text_of, row)) for row in server.sql(rest)]
        elif word == "=":
            assert found and found.pop(0) == rest, where
        elif word == "closed":
            assert connection.closed(), where
            is_open = False
        else:
            assert line == "" or line.startswith("#"), f"not understood: {where}"
    assert found == [], f"rows that nobody expected: {found}"
    return is_open
