# SPDX-License-Identifier: GPL-2.0-only
"""memcached's text protocol and Redis's. A row is one value: its columns with a TAB between each two.

RowSocket speaks both on its tables. There a key is the row's own, and the columns have `|` between each two.
"""

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


class OfContainer(Cache):
    """Keys and values of RowSocket's containers."""

    @staticmethod
    def knows(request: Request) -> bool:
        """A container is of one table, and its rows have a value each."""
        return request.cached is not None and request.does in (Does.FIND, Does.INSERT)

    def key(self, request: Request, number: Number) -> str:
        """That of the row."""
        return f"{number}"

    def value(self, request: Request, number: Number) -> str:
        """The columns of the row."""
        return "|".join(self.workload.table.values(request.value_columns, number))


class RowSocketMemcached(OfContainer, Memcached):
    """RowSocket's door for memcached."""

    name = "rowsocket-memcached"


class RowSocketResp(OfContainer, Redis):
    """RowSocket's door for RESP, asked for strings."""

    name = "rowsocket-resp"


class Hash(Redis):
    """HGET and HSET of one field, which is the only column."""

    @staticmethod
    def knows(request: Request) -> bool:
        """A row of one column."""
        return (
            request.cached is not None
            and request.does in (Does.FIND, Does.INSERT)
            and "," not in request.value_columns
        )

    def request(self, request: Request) -> str:
        """An array of words."""
        [(key, value)] = self.keys_and_values(request)
        field = request.value_columns
        return _array(["HGET", key, field] if request.does is Does.FIND else ["HSET", key, field, value])

    def reply(self, request: Request) -> str:
        """The value, or how many fields are new."""
        [(_, value)] = self.keys_and_values(request)
        return _bulk(value) if request.does is Does.FIND else f":{ANY_DIGITS}\r\n"


class RedisHash(Hash):
    """Redis, asked for hashes."""

    name = "redis-hash"

    def key(self, request: Request, number: Number) -> str:
        """Not that of the string."""
        return f"hash:{super().key(request, number)}"


class RowSocketHash(Hash):
    """RowSocket's door for RESP, asked for rows as hashes."""

    name = "rowsocket-hash"

    def key(self, request: Request, number: Number) -> str:
        """That of the row, behind its table."""
        return f"{self.database}.{self.workload.table.name}:{number}"


def _bulk(word: str) -> str:
    return f"${len(word)}\r\n{word}\r\n"


def _array(words: list[str]) -> str:
    return f"*{len(words)}\r\n" + "".join(map(_bulk, words))
