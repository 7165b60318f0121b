# SPDX-License-Identifier: MIT
"""The cache backend: what Django asks for, as requests to RowSocket.

Each call is one request, but for what is said at it. A row that has expired is a miss, although it is in the
table until the event of schema.py deletes it. What has expired is decided by this machine's clock.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional, TypeVar

from asgiref.sync import sync_to_async
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.exceptions import ImproperlyConfigured

from rowsocket import Filter
from rowsocket.django import pools
from rowsocket.django.schema import KEY_BYTES_MAX, KEYED, NEVER, ROWS_PER_STEP
from rowsocket.errors import Deadlock, InvalidValue, RequestError
from rowsocket.executor import Index

T = TypeVar("T")

DEFAULT_TABLE = "django_cache"
NOT_USED = ("MAX_ENTRIES", "CULL_FREQUENCY")
"""Options that Django gives to every cache. Nothing is culled here: a table has room, and rows expire."""

KEYS_PER_REQUEST = 1000
BYTES_PER_REQUEST = 4 * 2**20
"""Of values, in one request of set_many. The server takes 16 MiB by default (rowsocket_max_line_bytes)."""

ATTEMPTS_MAX = 100

Packed = tuple[Optional[bytes], Optional[int]]
"""A value as the columns `value` and `number` have it."""

_INT64 = range(-(2**63), 2**63)


class RowSocketCache(BaseCache):
    """A cache in a table of MariaDB.

    LOCATION  the URL of RowSocket's write port; or two URLs, for writes and for reads
    OPTIONS   table (django_cache), pickle_protocol, and the arguments of `rowsocket.ConnectionPool`
    """

    def __init__(self, location: str | Sequence[str], params: dict[str, Any]) -> None:
        super().__init__(params)
        options = {
            name: value for name, value in (params.get("OPTIONS") or {}).items() if name not in NOT_USED
        }
        self.table: str = options.pop("table", DEFAULT_TABLE)
        self._pickle_protocol: int = options.pop("pickle_protocol", pickle.HIGHEST_PROTOCOL)
        urls = [location] if isinstance(location, str) else list(location)
        if len(urls) not in (1, 2):
            raise ImproperlyConfigured("LOCATION: the URL for writes, or those for writes and for reads")
        try:
            self._writes, self._reads = (pools.settings_of(url, options) for url in (urls[0], urls[-1]))
        except (TypeError, ValueError) as error:
            raise ImproperlyConfigured(f"a cache of RowSocket: {error}") from None
        database = pools.database_of(self._writes)
        if database is None:
            raise ImproperlyConfigured("LOCATION names no database: rowsocket://USER:PASSWORD@HOST/DATABASE")
        self.database: str = database

    # ── one key ─────────────────────────────────────────────────────────────────────────────────────────────

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """The value of a key, or the default."""
        row = self._read("value", "number", "expires").get(self._key(key, version))
        if row is None or row[2] <= _now():
            return default
        return _unpacked(row[0], row[1])

    def set(
        self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        """Store a value; one that is to expire at once is deleted."""
        row = self._row(key, value, timeout, version)
        if row[3] <= _now():
            self._write().delete(row[0])
        else:
            self._write().upsert(row, update=KEYED[1:])

    def add(
        self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Store a value where there is none; whether it was stored.

        Three more requests, on one way, where a row is there already.
        """
        row = self._row(key, value, timeout, version)
        if row[3] <= _now():
            return not self.has_key(key, version)
        table = self._write()
        for _ in range(ATTEMPTS_MAX):
            if table.insert_ignore(row).outcome == "inserted":
                return True
            with self._pool_of(table).pipeline() as pipe:
                over = [Filter("expires", "<=", _now())]
                taken = pipe.update(table, row[0], row, filters=over)
                there = pipe.count(table, row[0])
            if taken.result() or there.result():
                return bool(taken.result())
        raise _contended("add")  # it was swept each time between the two

    def touch(self, key: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Let a key expire at another time; whether it was there."""
        expires = self._expires(timeout)
        if expires <= _now():
            return self.delete(key, version)
        there = self._write("expires").update(self._key(key, version), [expires], filters=_alive())
        return there > 0

    def delete(self, key: Any, version: int | None = None) -> bool:
        """Delete a key; whether it was there."""
        rows = self._write("expires").fetch_and_delete(self._key(key, version))
        return any(row[0] > _now() for row in rows)

    def has_key(self, key: Any, version: int | None = None) -> bool:
        """Whether a key has a value."""
        return self._read("value", "number", "expires").count(self._key(key, version), filters=_alive()) > 0

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> Any:
        """Add to a value; what it is then. It expires when it would have. ValueError if there is none.

        The server adds to an int of 64 bits. Another value is read, and written if it is still the same.
        """
        stored = self._key(key, version)
        if isinstance(delta, int) and delta in _INT64:
            numeric = [*_alive(), Filter("number", "!=", None)]
            try:
                rows = self._write("number").increment_and_fetch(stored, delta, filters=numeric)
            except InvalidValue:  # beyond 64 bits
                rows = []
            if rows:
                return rows[0][0]
        table = self._write("value", "number", "expires")
        for _ in range(ATTEMPTS_MAX):
            row = table.get(stored)
            if row is None or row[2] <= _now():
                raise ValueError(f"Key '{key}' not found")
            value, number, expires = row
            after = _unpacked(value, number) + delta
            expected = {"value": value, "number": number, "expires": expires}
            if table.compare_and_set(stored, expected, [*self._packed(after), expires]):
                return after
        raise _contended("incr")

    def decr(self, key: Any, delta: int = 1, version: int | None = None) -> Any:
        """As `incr`, the other way."""
        return self.incr(key, -delta, version)

    # ── many keys ───────────────────────────────────────────────────────────────────────────────────────────

    def get_many(self, keys: Iterable[Any], version: int | None = None) -> dict[Any, Any]:
        """The values of those keys that have one; a request for each thousand keys, or more of them where the
        values do not fit its reply.
        """
        asked = {self._key(key, version): key for key in keys}
        found: dict[Any, Any] = {}
        for part in _parts(list(asked)):
            rows = self._rows_of(part)
            now = _now()
            found.update(
                {asked[stored]: _unpacked(value, number) for stored, value, number, end in rows if end > now}
            )
        return found

    def _rows_of(self, keys: list[bytes]) -> list[Any]:
        try:
            return self._read(*KEYED).find_keys(keys)
        except RequestError as error:
            if error.text != "replylen" or len(keys) == 1:
                raise
        half = len(keys) // 2
        return self._rows_of(keys[:half]) + self._rows_of(keys[half:])

    def set_many(
        self,
        data: dict[Any, Any],
        timeout: float | None = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> list[Any]:
        """Store values; a request for each thousand keys or 4 MiB, which is done as a whole or not at all."""
        if self._expires(timeout) <= _now():
            self.delete_many(data, version)
            return []
        rows = [self._row(key, value, timeout, version) for key, value in data.items()]
        for part in _batches(sorted(rows, key=lambda row: row[0])):  # in order: no deadlocks with others
            self._write().insert_many(part, update=KEYED[1:])
        return []

    def delete_many(self, keys: Iterable[Any], version: int | None = None) -> None:
        """Delete keys; a request for each thousand."""
        for part in _parts(sorted({self._key(key, version) for key in keys})):
            self._write().delete_keys(part)

    def clear(self) -> None:
        """Delete all rows of the table, of every prefix and version, a thousand at a time.

        What others store meanwhile may be left, or go.
        """
        table = self._write()
        while table.delete(b"", ">=", limit=ROWS_PER_STEP) == ROWS_PER_STEP:
            pass

    # ── asyncio: what Django would make of several calls ────────────────────────────────────────────────────

    async def ahas_key(self, key: Any, version: int | None = None) -> bool:
        """As `has_key`."""
        return await sync_to_async(self.has_key)(key, version)

    async def aincr(self, key: Any, delta: int = 1, version: int | None = None) -> Any:
        """As `incr`: in one request, too."""
        return await sync_to_async(self.incr)(key, delta, version)

    async def adecr(self, key: Any, delta: int = 1, version: int | None = None) -> Any:
        """As `decr`."""
        return await sync_to_async(self.decr)(key, delta, version)

    async def aget_many(self, keys: Iterable[Any], version: int | None = None) -> dict[Any, Any]:
        """As `get_many`."""
        return await sync_to_async(self.get_many)(keys, version)

    async def aset_many(
        self, data: dict[Any, Any], timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> list[Any]:
        """As `set_many`."""
        return await sync_to_async(self.set_many)(data, timeout, version)

    async def adelete_many(self, keys: Iterable[Any], version: int | None = None) -> None:
        """As `delete_many`."""
        await sync_to_async(self.delete_many)(keys, version)

    # ── keys, values, tables ────────────────────────────────────────────────────────────────────────────────

    def _key(self, key: Any, version: int | None) -> bytes:
        """The key as the table has it; one that is too long ends with a digest of itself."""
        stored = self.make_and_validate_key(key, version).encode()
        if len(stored) <= KEY_BYTES_MAX:
            return stored
        digest = hashlib.sha256(stored).hexdigest().encode()
        return stored[: KEY_BYTES_MAX - len(digest)] + digest

    def _row(
        self, key: Any, value: Any, timeout: float | None, version: int | None
    ) -> tuple[bytes, bytes | None, int | None, int]:
        stored = self._key(key, version)
        return (stored, *self._packed(value), self._expires(timeout))

    def _packed(self, value: Any) -> Packed:
        if type(value) is int and value in _INT64:
            return None, value
        return pickle.dumps(value, self._pickle_protocol), None

    def _expires(self, timeout: float | None) -> int:
        """When what is stored now expires, in microseconds."""
        end_s = self.get_backend_timeout(timeout)
        return NEVER if end_s is None else int(max(min(end_s * 1_000_000, NEVER), 0))

    def _read(self, *columns: str) -> Index[Any]:
        return pools.index(self._reads, self.database, self.table, columns)

    def _write(self, *columns: str) -> Index[Any]:
        return pools.index(self._writes, self.database, self.table, columns or KEYED)

    @staticmethod
    def _pool_of(table: Index[Any]) -> Any:
        return table._executor


def _now() -> int:
    return int(time.time() * 1_000_000)


def _alive() -> list[Filter]:
    return [Filter("expires", ">", _now())]


def _unpacked(value: bytes | None, number: int | None) -> Any:
    return number if value is None else pickle.loads(value)


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), KEYS_PER_REQUEST):
        yield keys[start : start + KEYS_PER_REQUEST]


def _batches(rows: Iterable[tuple[bytes, bytes | None, int | None, int]]) -> Iterator[list[tuple[Any, ...]]]:
    """The rows in as few requests as the bounds allow."""
    batch: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        more = len(row[0]) + len(row[1] or b"")
        if batch and (len(batch) == KEYS_PER_REQUEST or size + more > BYTES_PER_REQUEST):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += more
    if batch:
        yield batch


def _contended(what: str) -> Deadlock:
    return Deadlock(1, "149", f"{what}: others changed the row {ATTEMPTS_MAX} times meanwhile")
