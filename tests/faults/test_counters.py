# SPDX-License-Identifier: GPL-2.0-only
"""Counters that RowSocket and SQL increment at once end at the exact sum."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pymysql
import pytest

import rowsocket
from support.mariadb import Database, RowSocketServer
from support.soak import Soak

INCREMENTS = 10_000
COUNTERS = 4
ROWSOCKET_CLIENTS = 16
SQL_CLIENTS = 4
EACH = INCREMENTS // (ROWSOCKET_CLIENTS + SQL_CLIENTS)
LOST_A_RACE = (1205, 1213)
DEPTH = 25


@pytest.fixture
def counters(database: Database) -> Database:
    """Counters 0 to 3 of `c`, all zero."""
    database.sql("CREATE TABLE c (id INT PRIMARY KEY, n BIGINT NOT NULL) ENGINE=InnoDB")
    database.sql("INSERT INTO c VALUES (0, 0), (1, 0), (2, 0), (3, 0)")
    return database


def count_over_rowsocket(server: RowSocketServer, database: str, client: int) -> int:
    """EACH increments, pipelined by every other client; how many were done again because another transaction
    went first."""
    again = 0
    with rowsocket.connect(*server.write_address(), timeout=120, text=True) as connection:
        index = connection.open_index(database, "c", "n")
        left = [number % COUNTERS for number in range(EACH)]
        while left:
            batch, left = left[: DEPTH if client % 2 else 1], left[DEPTH if client % 2 else 1 :]
            with connection.pipeline() as pipe:
                promised = [(counter, pipe.increment(index, counter, [1])) for counter in batch]
            for counter, pending in promised:
                try:
                    assert pending.result() == 1
                except (rowsocket.Deadlock, rowsocket.LockWaitTimeout):
                    left.append(counter)
                    again += 1
    return again


def count_over_sql(server: RowSocketServer, database: str, _client: int) -> int:
    """EACH increments, some of them two to a transaction."""
    again = 0
    with contextlib.closing(server.connect(database)) as connection, connection.cursor() as cursor:
        left = [number % COUNTERS for number in range(EACH)]
        while left:
            pair = left[-2:]
            try:
                connection.begin()
                for counter in pair:
                    cursor.execute("UPDATE c SET n = n + 1 WHERE id = %s", [counter])
                connection.commit()
                del left[-len(pair) :]
            except pymysql.err.OperationalError as error:
                connection.rollback()
                assert error.args[0] in LOST_A_RACE, error
                again += 1
    return again


def test_counters_incremented_over_rowsocket_and_sql_at_once_have_the_exact_sum(
    server: RowSocketServer, counters: Database, soak: Soak
) -> None:
    work = [count_over_rowsocket] * ROWSOCKET_CLIENTS + [count_over_sql] * SQL_CLIENTS
    of_each_client = [len(range(counter, EACH, COUNTERS)) for counter in range(COUNTERS)]
    for trial in soak.trials(1):
        with ThreadPoolExecutor(len(work)) as threads:
            jobs = [threads.submit(count, server, counters.name, client) for client, count in enumerate(work)]
            soak.saw("increments done again after a deadlock", sum(job.result() for job in jobs))
        soak.saw("increments", INCREMENTS)
        sums = [(counter, (trial + 1) * len(work) * n) for counter, n in enumerate(of_each_client)]
        assert counters.sql("SELECT id, n FROM c ORDER BY id") == sums
