# SPDX-License-Identifier: GPL-2.0-only
"""A row that 64 clients change at once: every change counts, and clients that read something go on
meanwhile."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest

from support.load import Load, Operation
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection
from support.soak import Soak

CLIENTS = 64
READERS = 8
ROUNDS = 20
INCREMENT = b"1\t=\t1\t0\t1\t0\t+\t1"


@pytest.fixture
def counters(database: Database) -> Database:
    """Counters 0 to 9 in `c`, all zero; 0 is the hot one."""
    database.sql("CREATE TABLE c (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
    database.sql("INSERT INTO c SELECT seq, 0 FROM seq_0_to_9")
    return database


def opened(server: RowSocketServer, database: str, port: str, stack: ExitStack) -> RawConnection:
    connection = stack.enter_context(server.raw(port))
    assert connection.ask(f"P\t1\t{database}\tc\t\tn".encode()) == b"0\t1"
    return connection


def readers(server: RowSocketServer, database: str, port: str) -> Load:
    """Clients that read the hot row and another."""

    def make(number: int, stack: ExitStack) -> Operation:
        connection = opened(server, database, port, stack)

        def read() -> None:
            hot, other = connection.ask_all(b"1\t=\t1\t0", b"1\t=\t1\t%d" % (1 + number % 9))
            assert hot.startswith(b"0\t1\t") and other == b"0\t1\t0"

        return read

    return Load(READERS, make)


@pytest.mark.parametrize("port", ["read", "write"])
def test_a_hot_row_incremented_by_many_clients_loses_nothing_while_others_read(
    server: RowSocketServer, counters: Database, port: str, soak: Soak
) -> None:
    acknowledged: Counter[int] = Counter()

    def make(number: int, stack: ExitStack) -> Operation:
        connection = opened(server, counters.name, "write", stack)

        def increment() -> None:
            assert connection.ask(INCREMENT) == b"0\t1\t1"
            acknowledged[number] += 1

        return increment

    with Load(CLIENTS, make) as hot, readers(server, counters.name, port) as reading:
        for _ in soak.trials(ROUNDS):
            hot.wait_for_more()
            reading.wait_for_more()
    assert counters.sql("SELECT n FROM c WHERE id = 0") == [(acknowledged.total(),)]
    soak.saw("acknowledged increments", acknowledged.total())
    soak.saw("reads beside", reading.operations())


@pytest.mark.parametrize("port", ["read", "write"])
def test_reads_go_on_while_many_clients_wait_for_a_row_that_stays_locked(
    server: RowSocketServer, counters: Database, port: str
) -> None:
    with counters.session() as locker, ExitStack() as stack:
        waiting = [opened(server, counters.name, "write", stack) for _ in range(CLIENTS)]
        reading = stack.enter_context(readers(server, counters.name, port))
        locker.execute("BEGIN")
        locker.execute("UPDATE c SET n = 1000 WHERE id = 0")
        for client in waiting:
            client.send(INCREMENT + b"\n")
        wait_for_a_row_lock_wait(server)
        for _ in range(5):
            reading.wait_for_more()
        wait_for_a_row_lock_wait(server)  # still, after all that was read
        assert [client.unread() for client in waiting] == [b""] * CLIENTS
        locker.execute("UPDATE c SET n = 2000 WHERE id = 0")
        locker.execute("COMMIT")
        assert [client.line() for client in waiting] == [b"0\t1\t1"] * CLIENTS
    assert counters.sql("SELECT n FROM c WHERE id = 0") == [(2000 + CLIENTS,)]
