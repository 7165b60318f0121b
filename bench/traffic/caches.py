# SPDX-License-Identifier: GPL-2.0-only
"""memcached's text protocol and Redis's. A row is one value: its columns with a TAB between each two."""

from __future__ import annotations

from bench.traffic.forms import ANY_DIGITS, Number
from bench.traffic.protocol import Protocol
from bench.traffic.workloads import Does, Request


class Cache(Protocol):
    """What the two have in common."""

    @staticmethod
    def knows(request: Request) -> bool:
        """Whether the request can be asked."""
        return request.cached is not None

    def keys_and_values(self, request: Request) -> list[tuple[str, str]]:
        """Of each key of a request. Every key has one row."""
        return [(self.key(request, number), self.value(request, number)) for number in self.workload.numbers]

    def key(self, request: Request, number: Number) -> str:
        """Its name in the cache."""
        assert request.cached is not None
        return request.cached(number)

    def value(self, request: Request, number: Number) -> str:
        """What it holds."""
        return "\t".join(self.workload.table.values(request.value_columns, number))


class Memcached(Cache):
    """get, set and incr."""

    name = "memcached"

    def request(self, request: Request) -> str:
        """A command line, and the value of what is stored."""
        [(key, value), *more] = self.keys_and_values(request)
        if request.does is Does.FIND:
            return " ".join(["get", key, *(other for other, _ in more)]) + "\r\n"
        if request.does is Does.INCREMENT:
            return f"incr {key} 1\r\n"
        return f"set {key} 0 0 {len(value)}\r\n{value}\r\n"

    def reply(self, request: Request) -> str:
        """The values, or that it was done."""
        if request.does is Does.FIND:
            found = self.keys_and_values(request)
            return "".join(f"VALUE {key} 0 {len(value)}\r\n{value}\r\n" for key, value in found) + "END\r\n"
        return f"{ANY_DIGITS}\r\n" if request.does is Does.INCREMENT else "STORED\r\n"


class Redis(Cache):
    """GET, MGET, SET and INCR."""

    name = "redis"

    def request(self, request: Request) -> str:
        """An array of words."""
        pairs = self.keys_and_values(request)
        key, value = pairs[0]
        if request.does is Does.FIND:
            return _array(["GET", key] if len(pairs) == 1 else ["MGET", *(each for each, _ in pairs)])
        return _array(["INCR", key] if request.does is Does.INCREMENT else ["SET", key, value])

    def reply(self, request: Request) -> str:
        """The values, or that it was done."""
        values = [value for _, value in self.keys_and_values(request)]
        if request.does is Does.FIND:
            return _bulk(values[0]) if len(values) == 1 else _array(values)
        return f":{ANY_DIGITS}\r\n" if request.does is Does.INCREMENT else "+OK\r\n"


def _bulk(word: str) -> str:
    return f"${len(word)}\r\n{word}\r\n"


def _array(words: list[str]) -> str:
    return f"*{len(words)}\r\n" + "".join(map(_bulk, words))
