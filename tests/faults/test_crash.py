# SPDX-License-Identifier: GPL-2.0-only
"""kill -9 of the server under write load: what was acknowledged is there, and nothing is there by half.

ROWSOCKET_FAULT_TRIALS sets the number of trials (5 by default).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import rowsocket
from faults.ledger import Ledger
from support.mariadb import RowSocketServer

WRITERS = 8
WRITES_BEFORE_THE_CRASH = 3000
TRIALS = int(os.environ.get("ROWSOCKET_FAULT_TRIALS", "5"))
DURABLE = {"innodb-flush-log-at-trx-commit": 1, "sync-binlog": 1}


def write_until_the_server_is_gone(server: RowSocketServer, writer: int, ledger: Ledger, enough: threading.Semaphore) -> None:
    """Inserts, updates and increments, one after the other, each in the ledger."""
    with rowsocket.connect(*server.write_address(), reconnect=False) as connection:
        rows = connection.open_index("d", "t", "id,a,b")
        counter = connection.open_index("d", "counter", "n")
        row = writer * 1_000_000
        while True:
            row += 1
            ledger.begin(row, row)
            rows.insert([row, row, row])
            ledger.end(row)
            ledger.begin(row, row + 1)
            rows.update(row, [row, row + 1, row + 1])
            ledger.end(row)
            ledger.increment_unanswered = True
            counter.increment(writer, [1])
            ledger.increments += 1
            ledger.increment_unanswered = False
            enough.release()


@contextmanager
def writers(server: RowSocketServer, ledgers: list[Ledger], enough: threading.Semaphore) -> Iterator[None]:
    """All writers run inside, and end with the server."""

    def run(writer: int) -> None:
        with pytest.raises(rowsocket.ConnectionLost):
            write_until_the_server_is_gone(server, writer, ledgers[writer], enough)

    threads = [threading.Thread(target=run, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("trial", range(TRIALS))
def test_no_acknowledged_write_is_lost_in_a_crash(start: Callable[..., RowSocketServer], trial: int) -> None:
    server = start(RowSocketServer, DURABLE)
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b INT)")
    server.sql("CREATE TABLE d.counter (id INT PRIMARY KEY, n INT)")
    server.sql("INSERT INTO d.counter VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0)")
    ledgers = [Ledger() for _ in range(WRITERS)]
    enough = threading.Semaphore(0)
    with writers(server, ledgers, enough):
        for _ in range(WRITES_BEFORE_THE_CRASH // 3):
            assert enough.acquire(timeout=60)
        server.crash()
    server.start()
    rows = server.sql("SELECT id, a, b FROM d.t")
    assert [row for row in rows if row[1] != row[2]] == []
    values = {int(row[0]): int(row[1]) for row in rows}
    assert [ledger.lost(values) for ledger in ledgers] == [[]] * WRITERS
    counters = [int(row[0]) for row in server.sql("SELECT n FROM d.counter ORDER BY id")]
    assert [ledger.is_counter_possible(n) for ledger, n in zip(ledgers, counters, strict=True)] == [True] * WRITERS
    assert {row[-1] for row in server.sql("CHECK TABLE d.t, d.counter EXTENDED")} == {"OK"}


def test_the_ledger_sees_what_is_lost() -> None:
    ledger = Ledger()
    for row, value in ((1, 10), (2, 20), (3, 30)):
        ledger.begin(row, value)
        ledger.end(row)
    ledger.begin(3, 31)
    assert ledger.lost({1: 10, 2: 20, 3: 30}) == []
    assert ledger.lost({1: 10, 2: 20, 3: 31}) == []
    assert ledger.lost({1: 11, 3: 32}) == [1, 2, 3]
    ledger.increments = 5
    assert [ledger.is_counter_possible(n) for n in (4, 5, 6)] == [False, True, False]
    ledger.increment_unanswered = True
    assert [ledger.is_counter_possible(n) for n in (4, 5, 6, 7)] == [False, True, True, False]
