# SPDX-License-Identifier: GPL-2.0-only
"""Bytes that were requests once: flipped, cut, doubled, moved, and mixed with what parsers look for."""

from __future__ import annotations

import random
from collections.abc import Callable

_WORDS = (
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\x01",
    b"\x01t",
    b"\x01@",
    b"\x01\xff",
    b"\t\t\t\t",
    b"\nG\n",
    b"\nE\n",
    b"\nG\tmust\tgtid\n",
    b"\t@\t0\t3\t",
    b"\t@@\t2\t",
    b"\tF\t=\t0\t",
    b"\tT\t<\t1\t",
    b"\tC\t",
    b"\tR",
    b"\tL\t2",
    b"\tU",
    b"\tD?",
    b"\t#",
    b"\t4294967295",
    b"\t18446744073709551615",
    b"\t65536",
    b"P\t3\t",
    b"Q",
    b"/",
    b"GET",
    b"\xff" * 9,
)
_EDGES = (0, 1, 2, 9, 10, 13, 15, 16, 63, 64, 79, 80, 127, 128, 255)
Mutation = Callable[[random.Random, bytearray], None]


def _span(choose: random.Random, data: bytearray) -> slice:
    begin = choose.randrange(len(data) + 1)
    return slice(begin, begin + choose.choice((1, 2, 5, 20, 200)))


def _flip(choose: random.Random, data: bytearray) -> None:
    for _ in range(choose.choice((1, 1, 3, 10))):
        data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)


def _set(choose: random.Random, data: bytearray) -> None:
    data[choose.randrange(len(data))] = choose.choice(_EDGES)


def _remove(choose: random.Random, data: bytearray) -> None:
    del data[_span(choose, data)]


def _double(choose: random.Random, data: bytearray) -> None:
    piece = data[_span(choose, data)]
    at = choose.randrange(len(data) + 1)
    data[at:at] = piece * choose.choice((1, 1, 2, 30))


def _insert_word(choose: random.Random, data: bytearray) -> None:
    at = choose.randrange(len(data) + 1)
    data[at:at] = choose.choice(_WORDS) * choose.choice((1, 1, 1, 100))


def _insert_noise(choose: random.Random, data: bytearray) -> None:
    at = choose.randrange(len(data) + 1)
    data[at:at] = choose.randbytes(choose.choice((1, 3, 50)))


def _change_number(choose: random.Random, data: bytearray) -> None:
    """A token of digits becomes another number."""
    numbers = [(at, word) for at, word in enumerate(data.split(b"\t")) if word.isdigit()]
    if numbers:
        at, word = choose.choice(numbers)
        tokens = data.split(b"\t")
        value = int(word)
        other = choose.choice((0, value + 1, value - 1, value * 2, value + (1 << 32), 255, 4097, 1 << 31))
        tokens[at] = bytearray(b"%d" % other)
        data[:] = b"\t".join(tokens)


def _swap_tokens(choose: random.Random, data: bytearray) -> None:
    tokens = data.split(b"\t")
    one, other = choose.randrange(len(tokens)), choose.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    data[:] = b"\t".join(tokens)


def _cut(choose: random.Random, data: bytearray) -> None:
    del data[choose.randrange(len(data) + 1) :]


MUTATIONS: tuple[Mutation, ...] = (
    _flip,
    _set,
    _remove,
    _double,
    _insert_word,
    _insert_noise,
    _change_number,
    _swap_tokens,
    _cut,
)


def mutated(choose: random.Random, data: bytes) -> bytes:
    """The bytes after some mutations."""
    changed = bytearray(data)
    for _ in range(choose.choice((1, 1, 2, 3, 6))):
        if changed:
            choose.choice(MUTATIONS)(choose, changed)
    return bytes(changed)


def pieces(choose: random.Random, data: bytes) -> list[bytes]:
    """The bytes in pieces: whole, in a few, or one by one."""
    kind = choose.random()
    if kind < 0.6 or len(data) < 2:
        return [data]
    if kind < 0.7 and len(data) < 600:
        return [data[at : at + 1] for at in range(len(data))]
    cuts = sorted(choose.choices(range(1, len(data)), k=choose.randint(1, 8)))
    return [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
