# SPDX-License-Identifier: GPL-2.0-only
"""Writes of every kind over RowSocket and SQL at once, on tables of every kind, for tests of what comes out
at the other end.

The tables of the database `d`: `t` with generated columns, a timestamp and a BLOB; `p` partitioned, rows move
between partitions; `h` and `hp` with history; `u` with a unique key over a BLOB; `f` with children `c` that
follow it; `log`, filled by a trigger. No index stands on the virtual column of `c`: cascades of SQL alone,
many at once, make InnoDB call such an index corrupt. And SQL does not REPLACE: with MINIMAL row events that
loses the columns which take their defaults. Clients share a few hundred ids, so many writes are refused, lose
a deadlock or wait for each other: which ones does not matter.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pymysql

import rowsocket
from rowsocket import Connection, Pending, Pipeline
from support.mariadb import MariaDB, RowSocketServer

IDS = 400
BATCH = 20
ROWSOCKET_CLIENTS = 6
SQL_CLIENTS = 2
NO_PARTITION = (160, 1526)
AUTO_INCREMENT_LOCKED = 1467
REFUSALS = {121, 146, 149, 151, 152, 1062, 1205, 1213, 1451, 1452, AUTO_INCREMENT_LOCKED, *NO_PARTITION}

TABLES = f"""
CREATE DATABASE d;
CREATE TABLE d.t (id INT PRIMARY KEY, n INT, at TIMESTAMP(6) DEFAULT NOW(6) ON UPDATE NOW(6), body BLOB,
    up INT AS (n * 2) STORED, low INT AS (n - 1) VIRTUAL, KEY low (low), KEY body (body(10)));
CREATE TABLE d.p (id INT PRIMARY KEY, n INT) PARTITION BY RANGE (id)
    (PARTITION a VALUES LESS THAN ({IDS // 2}), PARTITION b VALUES LESS THAN ({IDS - 10}));
CREATE TABLE d.h (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING;
CREATE TABLE d.hp (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING
    PARTITION BY SYSTEM_TIME (PARTITION past HISTORY, PARTITION now CURRENT);
CREATE TABLE d.u (id INT AUTO_INCREMENT PRIMARY KEY, n INT, body BLOB, UNIQUE (body));
CREATE TABLE d.f (id INT PRIMARY KEY, n INT);
CREATE TABLE d.c (id INT PRIMARY KEY, n INT, parent INT, twice INT AS (parent * 2) VIRTUAL,
    FOREIGN KEY (parent) REFERENCES d.f (id) ON DELETE SET NULL ON UPDATE CASCADE);
CREATE TABLE d.log (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
CREATE TRIGGER d.keep AFTER INSERT ON d.p FOR EACH ROW INSERT INTO log (n) VALUES (NEW.n)
"""
NAMES = ("t", "p", "h", "hp", "u", "f", "c", "log")
WITH_HISTORY = ("h", "hp")
COUNTED = ("t", "p", "h", "hp", "f", "c")
Write = Callable[[Pipeline], Pending[Any]]


def make_tables(server: MariaDB) -> None:
    for statement in TABLES.split(";\n"):
        server.sql(statement)


class RowSocketClient:
    """A client that sends random writes, a batch at a time."""

    def __init__(self, connection: Connection, choose: random.Random) -> None:
        self._connection = connection
        self._choose = choose
        self._rows = {name: connection.open_index("d", name, "id,n") for name in COUNTED}
        self._counts = {name: connection.open_index("d", name, "n") for name in COUNTED}
        self._bodies = connection.open_index("d", "t", "body,n")
        self._unique = connection.open_index("d", "u", "body,n")
        self._children = connection.open_index("d", "c", "id,parent")

    def write(self) -> int:
        """One batch, and how many of it were not refused; raises whatever is no usual refusal."""
        with self._connection.pipeline() as pipe:
            promised = [self._one()(pipe) for _ in range(BATCH)]
        for pending in promised:
            error = pending.error
            if error is not None and not (
                isinstance(error, rowsocket.EngineError) and error.number in REFUSALS
            ):
                raise error
        return sum(pending.error is None for pending in promised)

    def _one(self) -> Write:
        choose = self._choose
        name = choose.choice(COUNTED)
        rows, counts, other = self._rows[name], self._counts[name], choose.randrange(IDS)
        row, number = choose.randrange(IDS), choose.randrange(1000)
        body = choose.randbytes(choose.choice((0, 3, 300, 9000)))
        writes: list[Write] = [
            lambda pipe: pipe.insert(rows, [row, number]),
            lambda pipe: pipe.insert(rows, [row, number]),
            lambda pipe: pipe.update(counts, row, [number]),
            lambda pipe: pipe.increment(counts, row, [1]),
            lambda pipe: pipe.update(counts, row, [number], op=">=", limit=3),
            lambda pipe: pipe.update(rows, row, [other]),
            lambda pipe: pipe.delete(rows, row),
            lambda pipe: pipe.update(self._bodies, row, [body]),
            lambda pipe: pipe.insert(self._unique, [body, number]),
            lambda pipe: pipe.update(self._unique, row, [body]),
            lambda pipe: pipe.insert(self._children, [row, other]),
        ]
        return choose.choice(writes)


STATEMENTS = (
    "INSERT INTO {table} (id, n) VALUES ({row}, {number})",
    "UPDATE {table} SET n = n + 1 WHERE id = {row}",
    "UPDATE {table} SET n = {number} WHERE id BETWEEN {row} AND {row} + 3",
    "DELETE FROM {table} WHERE id = {row}",
    "INSERT INTO u (n, body) SELECT n, REPEAT(n, 100) FROM t WHERE id = {row}",
    "INSERT INTO {table} (id, n) VALUES ({row}, {number}) ON DUPLICATE KEY UPDATE n = {number}",
)


def write_in_sql(cursor: pymysql.cursors.Cursor, choose: random.Random) -> None:
    """A transaction of three random statements; raises whatever is no usual refusal."""
    try:
        cursor.execute("BEGIN")
        for _ in range(3):
            table = choose.choice(COUNTED)
            cursor.execute(
                choose.choice(STATEMENTS).format(
                    table=table, row=choose.randrange(IDS), number=choose.randrange(1000)
                )
            )
        cursor.execute("COMMIT")
    except pymysql.err.MySQLError as error:
        if error.args[0] not in REFUSALS:
            raise
        cursor.execute("ROLLBACK")


def write_mixed(
    server: RowSocketServer, count: int, seed: int, beside: Callable[[], None] | None = None
) -> int:
    """About `count` writes, most of them over RowSocket, and how many of these were done; `beside` is called
    meanwhile.

    Raises the first error that is no usual refusal.
    """
    batches = count // (ROWSOCKET_CLIENTS * BATCH + SQL_CLIENTS * 3 * 2)

    def over_rowsocket(number: int) -> int:
        with rowsocket.connect(*server.write_address(), timeout=120, text=True) as connection:
            client = RowSocketClient(connection, random.Random(f"{seed}/{number}"))
            return sum(client.write() for _ in range(batches))

    def over_sql(number: int) -> int:
        with ExitStack() as stack:
            cursor = stack.enter_context(stack.enter_context(closing(server.connect("d"))).cursor())
            choose = random.Random(f"{seed}/sql/{number}")
            for _ in range(batches * 2):
                write_in_sql(cursor, choose)
        return 0

    with ThreadPoolExecutor(ROWSOCKET_CLIENTS + SQL_CLIENTS) as threads:
        work = [threads.submit(over_rowsocket, number) for number in range(ROWSOCKET_CLIENTS)]
        work += [threads.submit(over_sql, number) for number in range(SQL_CLIENTS)]
        while beside is not None and not all(one.done() for one in work):
            beside()
        return sum(one.result() for one in work)
