# SPDX-License-Identifier: MIT
"""`rowsocket bench`: reads rows of a table of a live server for some seconds, and nothing else.

The keys are of rows that are there, in random order. It is this process's Python that is measured as well:
what the server itself can do is a matter of `./x bench` of the project.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import pymysql

import rowsocket
from rowsocket import aio
from rowsocket._index import IndexDescription
from rowsocket._names import quoted
from rowsocket.cli.output import print_json, print_table
from rowsocket.cli.warming import targets

KEYS_MAX = 10_000
TASKS = 100

Key = tuple[Any, ...]
Measured = dict[str, Any]


def measure(
    connection: rowsocket.Connection,
    address: tuple[str, int],
    sql: pymysql.connections.Connection[Any],
    rows: IndexDescription[Any],
    seconds: float,
) -> list[Measured]:
    """Read rows by primary key in three ways. Raises ValueError, RowSocketError, MySQLError."""
    names = (rows.database, rows.table, rows.index)
    listed = targets(sql, rows.database, rows.table, [])
    primary = next((one for one in listed if one.index == "PRIMARY"), None)
    if primary is None:
        raise ValueError(f"the primary key of {rows.database}.{rows.table} has no order (a hash index)")
    from_null, _, _ = primary.operators
    keys = connection.open_index(*names[:2], primary.columns).find((None,), from_null, limit=KEYS_MAX)
    if not keys:
        raise ValueError(f"{rows.database}.{rows.table} has no rows to read")
    opened = connection.open_index(*names[:2], rows.columns)
    by_sql = sql_get(sql, *names[:2], rows.columns, primary.columns)
    return [
        figures(
            "one after the other", one_after_the_other(lambda key: opened.get(*key), keys, seconds), seconds
        ),
        figures(f"{TASKS} tasks", many_tasks(address, names, rows.columns, keys, seconds), seconds),
        figures("SQL, one after the other", one_after_the_other(by_sql, keys, seconds), seconds),
    ]


def one_after_the_other(get: Callable[[Key], object], keys: Sequence[Key], seconds: float) -> list[float]:
    """What each of the requests takes, in seconds."""
    get(keys[0])  # what is done once is done
    times_s = []
    end_s = time.perf_counter() + seconds
    begin_s = time.perf_counter()
    while begin_s < end_s:
        get(random.choice(keys))
        now_s = time.perf_counter()
        times_s.append(now_s - begin_s)
        begin_s = now_s
    return times_s


def many_tasks(
    address: tuple[str, int],
    names: tuple[str, str, str | int],
    columns: Sequence[str],
    keys: Sequence[Key],
    seconds: float,
) -> list[float]:
    """The same of a hundred tasks that share a connection."""

    async def run() -> list[float]:
        database, table, index = names
        async with await aio.connect(*address) as connection:
            opened = await connection.open_index(database, table, columns, index)
            end_s = time.perf_counter() + seconds
            times_s: list[float] = []

            async def task() -> None:
                while (begin_s := time.perf_counter()) < end_s:
                    await opened.get(*random.choice(keys))
                    times_s.append(time.perf_counter() - begin_s)

            await asyncio.gather(*(task() for _ in range(TASKS)))
            return times_s

    return asyncio.run(run())


def sql_get(
    sql: pymysql.connections.Connection[Any],
    database: str,
    table: str,
    columns: Sequence[str],
    parts: Sequence[str],
) -> Callable[[Key], object]:
    """The same request as SQL."""

    def name(text: str) -> str:
        return quoted(text).replace("%", "%%")  # a % of the query's text stands for a value

    listed = ", ".join(map(name, columns))
    condition = " AND ".join(f"{name(part)} <=> %s" for part in parts)
    query = f"SELECT {listed} FROM {name(database)}.{name(table)} WHERE {condition} LIMIT 1"
    cursor = sql.cursor()

    def get(key: Key) -> object:
        cursor.execute(query, key)
        return cursor.fetchall()

    return get


def figures(what: str, times_s: list[float], seconds: float) -> Measured:
    """What is told of one kind."""
    ordered = sorted(times_s)
    shares = {"p50_us": 0.5, "p99_us": 0.99}
    return {
        "what": what,
        "requests": len(ordered),
        "requests_per_s": round(len(ordered) / seconds),
        **{
            name: round(ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1e6, 1)
            for name, share in shares.items()
        },
    }


def show(lines: list[Measured], as_json: bool) -> None:
    """Print them."""
    if as_json:
        for line in lines:
            print_json(line)
    else:
        rows = [[one if isinstance(one, str) else f"{one:,}" for one in line.values()] for line in lines]
        print_table(list(lines[0]), [list(row) for row in rows])
