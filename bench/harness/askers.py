# SPDX-License-Identifier: GPL-2.0-only
"""The clients of `./x bench clients`, each used as its own documents use it, and the process that asks.

A process serves one client and one measurement: `python -m bench.harness.askers` reads what it is told as a
line of JSON, connects, asks in batches, and prints what it found as a line of JSON. It counts its own
processor time, the kernel's for it included. A batch is timed without the comparison of its rows behind it.

A get returns the row, however a client stores it: a tuple of the three columns, as text or as Python values.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import importlib.util
import json
import os
import random
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

from bench.harness.figures import Report
from bench.traffic import tables
from bench.traffic.forms import Number, filled
from bench.traffic.protocol import WrongAnswer
from bench.traffic.workloads import PERSONAL

COLUMNS = PERSONAL.split(",")
BATCH_GETS = 4_000
"""Of a batch, if there are so many rows. Its keys are drawn once; 100 tasks share them evenly."""
SELECT = f"SELECT {PERSONAL} FROM user WHERE user_id = "
RECEIVE_BYTES = 4096
HASH_KEY = "user-row:%d"
"""Where Redis holds a row as a hash."""

Row = tuple[Any, ...]
Get = Callable[[int], Row | None]
AsyncGet = Callable[[int], Awaitable[Row | None]]


@dataclass(frozen=True)
class Told:
    """What a process is told."""

    client: str
    server: str
    port: int
    """0: it is asked over a Unix socket."""
    unix_socket: str
    database: str
    rows: int
    seconds: float
    seed: int
    cpu: int


@dataclass(frozen=True)
class Asker:
    """A client and the server that it asks. Exactly one of the two ways of connecting is given."""

    client: str
    server: str
    blocking: Callable[[Told], AbstractContextManager[Get]] | None = None
    asyncio: Callable[[Told], AbstractAsyncContextManager[AsyncGet]] | None = None
    tasks: int = 1
    """That share the client, with asyncio."""
    typed: bool = False
    """The date comes as a datetime; else all is text."""
    hiredis: bool = False
    """Whether redis-py is to find the parser in C."""

    def cannot(self) -> str:
        """Why it takes no part; empty if it does."""
        is_missing = self.hiredis and importlib.util.find_spec("hiredis") is None
        return "hiredis is not installed" if is_missing else ""


# ── RowSocket ───────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def _rowsocket(told: Told, text: bool = False) -> Iterator[Get]:
    import rowsocket

    place: Any = {"unix_socket": told.unix_socket} if told.unix_socket else {"port": told.port}
    with rowsocket.connect(**place, database=told.database, text=text) as connection:
        yield connection.table("user", COLUMNS).get


def _rowsocket_text(told: Told) -> AbstractContextManager[Get]:
    return _rowsocket(told, text=True)


@contextlib.contextmanager
def _rowsocket_pool(told: Told) -> Iterator[Get]:
    import rowsocket

    with rowsocket.ConnectionPool(port=told.port, database=told.database) as pool:
        yield pool.table("user", COLUMNS).get


@contextlib.asynccontextmanager
async def _rowsocket_asyncio(told: Told) -> AsyncIterator[AsyncGet]:
    from rowsocket import aio

    async with await aio.connect(port=told.port, database=told.database) as connection:
        users = await connection.table("user", COLUMNS)
        yield users.get


@contextlib.asynccontextmanager
async def _rowsocket_asyncio_pool(told: Told) -> AsyncIterator[AsyncGet]:
    from rowsocket import aio

    async with aio.ConnectionPool(port=told.port, database=told.database) as pool:
        users = await pool.table("user", COLUMNS)
        yield users.get


@contextlib.contextmanager
def _bare(told: Told) -> Iterator[Get]:
    """The floor of a program in Python: a call that sends, one that receives, and the reply split. A reply is
    taken for whole, and for a row.
    """
    with socket.create_connection(("127.0.0.1", told.port)) as bare:
        bare.sendall(f"P\t1\t{told.database}\tuser\tPRIMARY\t{PERSONAL}\n".encode())
        if bare.recv(RECEIVE_BYTES) != b"0\t1\n":
            raise WrongAnswer("the index was not opened")

        def get(key: int) -> Row | None:
            bare.send(b"1\t=\t1\t%d\n" % key)
            return tuple(bare.recv(RECEIVE_BYTES)[:-1].decode().split("\t")[2:])

        yield get


# ── SQL ─────────────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def _pymysql(told: Told) -> Iterator[Get]:
    """As its documents have it: a cursor for each statement, whose values PyMySQL puts into the text."""
    with _sql_session(told) as session:

        def get(key: int) -> Row | None:
            with session.cursor() as cursor:
                cursor.execute(SELECT + "%s", (key,))
                row: Row | None = cursor.fetchone()
                return row

        yield get


@contextlib.contextmanager
def _pymysql_best(told: Told) -> Iterator[Get]:
    """The least that it can do for a row: one cursor, and a whole statement. It has no prepared ones."""
    with _sql_session(told) as session, session.cursor() as cursor:

        def get(key: int) -> Row | None:
            cursor.execute(f"{SELECT}{key}")
            row: Row | None = cursor.fetchone()
            return row

        yield get


@contextlib.contextmanager
def _sql_session(told: Told) -> Iterator[Any]:
    import pymysql

    session = pymysql.connect(
        host="127.0.0.1",
        port=told.port,
        unix_socket=told.unix_socket or None,
        user="root",
        database=told.database,
        autocommit=True,
    )
    with contextlib.closing(session):
        yield session


# ── caches ──────────────────────────────────────────────────────────────────────────────────────────────────


def _string(told: Told) -> tuple[str, str]:
    """How the key of a string is made, and what stands between the columns of its value."""
    return ("%d", "|") if told.server.startswith("RowSocket") else ("user:%08d", "\t")


@contextlib.contextmanager
def _redis_get(told: Told) -> Iterator[Get]:
    import redis

    name, between = _string(told)
    with redis.Redis(port=told.port, decode_responses=True) as client:

        def get(key: int) -> Row | None:
            value: Any = client.get(name % key)
            return None if value is None else tuple(value.split(between))

        yield get


@contextlib.contextmanager
def _redis_hmget(told: Told) -> Iterator[Get]:
    import redis

    name = f"{told.database}.user:%d" if told.server.startswith("RowSocket") else HASH_KEY
    with redis.Redis(port=told.port, decode_responses=True) as client:

        def get(key: int) -> Row | None:
            values: Any = client.hmget(name % key, COLUMNS)
            return tuple(values)

        yield get


@contextlib.asynccontextmanager
async def _redis_asyncio(told: Told) -> AsyncIterator[AsyncGet]:
    import redis.asyncio

    name, between = _string(told)
    async with redis.asyncio.Redis(port=told.port, decode_responses=True) as client:

        async def get(key: int) -> Row | None:
            value: Any = await client.get(name % key)
            return None if value is None else tuple(value.split(between))

        yield get


@contextlib.contextmanager
def _pymemcache(told: Told) -> Iterator[Get]:
    from pymemcache.client.base import Client  # type: ignore[import-untyped]

    name, between = _string(told)
    with contextlib.closing(Client(("127.0.0.1", told.port))) as client:

        def get(key: int) -> Row | None:
            value = client.get(name % key)
            return None if value is None else tuple(value.decode().split(between))

        yield get


# ── who takes part ──────────────────────────────────────────────────────────────────────────────────────────

TYPED, POOL, TASKS = "rowsocket", "rowsocket, a pool", "rowsocket.aio, 100 tasks"
FLOOR = "the floor: send, receive, split"
PYMYSQL, PYMYSQL_BEST = "PyMySQL", "PyMySQL, a kept cursor, no values"
SQL, ROWSOCKET, REDIS, MEMCACHED = "MariaDB", "RowSocket", "Redis", "memcached"
ROWSOCKET_UNIX, SQL_UNIX = "RowSocket's Unix socket", "MariaDB's Unix socket"
RESP_DOOR, MEMCACHED_DOOR = "RowSocket's RESP", "RowSocket's memcached"

ASKERS = (
    Asker(TYPED, ROWSOCKET, _rowsocket, typed=True),
    Asker("rowsocket, text", ROWSOCKET, _rowsocket_text),
    Asker(FLOOR, ROWSOCKET, _bare),
    Asker(POOL, ROWSOCKET, _rowsocket_pool, typed=True),
    Asker("rowsocket.aio, 1 task", ROWSOCKET, asyncio=_rowsocket_asyncio, typed=True),
    Asker(TASKS, ROWSOCKET, asyncio=_rowsocket_asyncio, tasks=100, typed=True),
    Asker(
        "rowsocket.aio, a pool, 100 tasks", ROWSOCKET, asyncio=_rowsocket_asyncio_pool, tasks=100, typed=True
    ),
    Asker(PYMYSQL, SQL, _pymysql, typed=True),
    Asker(PYMYSQL_BEST, SQL, _pymysql_best, typed=True),
    Asker(TYPED, ROWSOCKET_UNIX, _rowsocket, typed=True),
    Asker(PYMYSQL, SQL_UNIX, _pymysql, typed=True),
    Asker(PYMYSQL_BEST, SQL_UNIX, _pymysql_best, typed=True),
    Asker("redis-py, GET", REDIS, _redis_get),
    Asker("redis-py + hiredis, GET", REDIS, _redis_get, hiredis=True),
    Asker("redis-py + hiredis, GET", RESP_DOOR, _redis_get, hiredis=True),
    Asker("redis-py + hiredis, HMGET", REDIS, _redis_hmget, hiredis=True),
    Asker("redis-py + hiredis, HMGET", RESP_DOOR, _redis_hmget, hiredis=True),
    Asker("redis.asyncio + hiredis, GET, 100 tasks", REDIS, asyncio=_redis_asyncio, tasks=100, hiredis=True),
    Asker("pymemcache, get", MEMCACHED, _pymemcache),
    Asker("pymemcache, get", MEMCACHED_DOOR, _pymemcache),
)
"""All of them, in the order in which they are measured and told."""


# ── the process ─────────────────────────────────────────────────────────────────────────────────────────────


def expected(key: int, *, typed: bool) -> Row:
    """What stands in the row of a key."""
    texts = [filled(text, [key]).decode() for text in tables.USER.values(PERSONAL, Number())]
    return (*texts[:2], datetime.datetime.fromisoformat(texts[2])) if typed else tuple(texts)


class Counted:
    """The batches of a process: what they asked, and what that cost."""

    def __init__(self, asker: Asker, told: Told) -> None:
        count = min(BATCH_GETS, told.rows)
        self.keys: Sequence[int] = random.Random(told.seed).sample(range(1, told.rows + 1), count)
        self._rows = [expected(key, typed=asker.typed) for key in self.keys]
        self._asker = asker
        self._wanted_s = told.seconds
        self.gets = self.cpu_ns = self.wall_ns = 0
        self._is_warm = False

    def goes_on(self) -> bool:
        """Whether another batch is to come."""
        return self.wall_ns < self._wanted_s * 1e9

    @contextlib.contextmanager
    def batch(self, found: list[Row | None]) -> Iterator[None]:
        """Time what asks for all keys and leaves the rows in `found`. Raises WrongAnswer.

        The first batch does not count.
        """
        wall_ns, cpu_ns = time.perf_counter_ns(), time.process_time_ns()
        yield
        cpu_ns, wall_ns = time.process_time_ns() - cpu_ns, time.perf_counter_ns() - wall_ns
        if found != self._rows:
            pairs = zip(found, self._rows, strict=False)
            wrong, right = next((pair for pair in pairs if pair[0] != pair[1]), (len(found), len(self._rows)))
            raise WrongAnswer(f"{self._asker.client} of {self._asker.server}: {wrong!r} and not {right!r}")
        if self._is_warm:
            self.gets, self.cpu_ns, self.wall_ns = (
                self.gets + len(found),
                self.cpu_ns + cpu_ns,
                self.wall_ns + wall_ns,
            )
        self._is_warm = True

    def report(self) -> Report:
        """What came of it."""
        return {
            "gets": self.gets,
            "cpu_us_per_get": self.cpu_ns / self.gets / 1000,
            "gets_per_s": self.gets / self.wall_ns * 1e9,
        }


def _ask(get: Get, counted: Counted) -> None:
    while counted.goes_on():
        found: list[Row | None] = []
        with counted.batch(found):
            found += [get(key) for key in counted.keys]


async def _ask_together(get: AsyncGet, counted: Counted, tasks: int) -> None:
    keys = counted.keys

    async def ask_some(first: int, found: list[Row | None]) -> None:
        for place in range(first, len(keys), tasks):
            found[place] = await get(keys[place])

    while counted.goes_on():
        found: list[Row | None] = [None] * len(keys)
        with counted.batch(found):
            await asyncio.gather(*(ask_some(first, found) for first in range(tasks)))


def measure(asker: Asker, told: Told) -> Report:
    """One measurement, in this process. Raises WrongAnswer."""
    counted = Counted(asker, told)
    if asker.blocking is not None:
        with asker.blocking(told) as get:
            _ask(get, counted)
        return counted.report()
    connect = asker.asyncio
    assert connect is not None

    async def run() -> None:
        async with connect(told) as get:
            await _ask_together(get, counted, asker.tasks)

    asyncio.run(run())
    return counted.report()


def line_for(told: Told) -> str:
    """What the process reads."""
    return json.dumps(asdict(told)) + "\n"


def main() -> int:
    """Read what is told, measure, print the report; 1 with the error's text if it cannot be done."""
    told = Told(**json.loads(sys.stdin.readline()))
    asker = next(one for one in ASKERS if (one.client, one.server) == (told.client, told.server))
    os.sched_setaffinity(0, {told.cpu})
    if not asker.hiredis:
        sys.modules["hiredis"] = None  # type: ignore[assignment]  # as where it is not installed
    try:
        report = measure(asker, told)
    except WrongAnswer as wrong:
        print(wrong, file=sys.stderr)
        return 1
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
