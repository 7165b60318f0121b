# SPDX-License-Identifier: GPL-2.0-only
"""Many clients at once, and SQL beside them: nothing is lost, nothing is done twice, nobody sees half a
request."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec

import pymysql
import pytest

import rowsocket
from rowsocket import Connection, ConnectionPool, Deadlock, LockWaitTimeout, aio
from support.mariadb import Database, RowSocketServer

P = ParamSpec("P")

CLIENTS = 64
ACCOUNTS = 16
START = 1_000_000


@pytest.fixture
def bank(database: Database) -> Database:
    """`account` (id, a, b): every request changes a and b by the same amount, so they are equal in each row
    at all times."""
    database.sql("CREATE TABLE account (id INT PRIMARY KEY, a BIGINT NOT NULL, b BIGINT NOT NULL, KEY a (a))")
    database.sql("INSERT INTO account SELECT seq, %s, %s FROM seq_1_to_%s", [START, START, ACCOUNTS])
    database.sql(
        "CREATE TABLE entry (client INT, number INT, value VARCHAR(20), PRIMARY KEY (client, number))"
    )
    return database


InThreads = Callable[[Callable[[int, Connection], None]], None]


@pytest.fixture
def in_threads(server: RowSocketServer, bank: Database) -> InThreads:
    """in_threads(work): call work(client, connection) for all clients at once; raises what any of them
    raised."""
    address = server.write_address()
    all_connected = threading.Barrier(CLIENTS)

    def one(work: Callable[[int, Connection], None], client: int) -> None:
        with rowsocket.connect(*address, timeout=120, text=True) as connection:
            all_connected.wait(120)
            work(client, connection)

    def run(work: Callable[[int, Connection], None]) -> None:
        with ThreadPoolExecutor(CLIENTS) as threads:
            for done in [threads.submit(one, work, client) for client in range(CLIENTS)]:
                done.result()

    return run


def until_done(write: Callable[P, int], *args: P.args, **kwargs: P.kwargs) -> int:
    """Do a write again for as long as it is refused in favour of another transaction."""
    while True:
        try:
            return write(*args, **kwargs)
        except (Deadlock, LockWaitTimeout):
            continue


def test_64_clients_mixing_reads_and_writes_leave_exactly_what_they_did(
    bank: Database, in_threads: InThreads
) -> None:
    sums: list[Counter[int]] = [Counter() for _ in range(CLIENTS)]

    def client(me: int, connection: Connection) -> None:
        accounts = connection.open_index(bank.name, "account", "a,b,id")
        entries = connection.open_index(bank.name, "entry", "client,number,value")
        values = connection.open_index(bank.name, "entry", "value")
        choose = random.Random(me)
        for number in range(60):
            account, amount = choose.randint(1, ACCOUNTS), choose.randint(1, 9)
            sums[me][account] += amount * until_done(accounts.increment, account, [amount, amount])
            sums[me][account] -= until_done(accounts.decrement, account, [1, 1])
            entries.insert([me, number, "new"])
            assert values.update((me, number), [f"by {me}"]) == 1
            assert entries.get(me, number) == (str(me), str(number), f"by {me}")
            if number % 2:
                assert entries.delete((me, number - 1)) == 1
            assert all(row[0] == row[1] for row in accounts.find(0, ">", limit=None))

    in_threads(client)
    expected = sum(sums, Counter())
    assert bank.sql("SELECT id, a, b FROM account ORDER BY id") == [
        (id, START + expected[id], START + expected[id]) for id in range(1, ACCOUNTS + 1)
    ]
    assert bank.sql("SELECT client, number, value FROM entry ORDER BY client, number") == [
        (me, number, f"by {me}") for me in range(CLIENTS) for number in range(1, 60, 2)
    ]


def test_sql_and_rowsocket_change_the_same_rows_at_once(
    bank: Database, server: RowSocketServer, in_threads: InThreads
) -> None:
    def over_sql(times: int) -> None:
        with contextlib.closing(server.connect(bank.name)) as connection, connection.cursor() as cursor:
            for number in range(times):
                until_done(sql_add, cursor, number % ACCOUNTS + 1)

    def client(me: int, connection: Connection) -> None:
        accounts = connection.open_index(bank.name, "account", "a,b")
        if me % 4 == 0:
            over_sql(40)
        else:
            for number in range(40):
                until_done(accounts.increment, number % ACCOUNTS + 1, [1, 1])

    in_threads(client)
    per_account = Counter(number % ACCOUNTS + 1 for number in range(40))
    assert bank.sql("SELECT id, a - %s, b - %s FROM account ORDER BY id", [START, START]) == [
        (id, CLIENTS * per_account[id], CLIENTS * per_account[id]) for id in range(1, ACCOUNTS + 1)
    ]


def sql_add(cursor: pymysql.cursors.Cursor, account: int) -> int:
    """Add 1 in SQL, with the client's exceptions for a lost race."""
    try:
        return cursor.execute("UPDATE account SET a = a + 1, b = b + 1 WHERE id = %s", [account])
    except pymysql.err.OperationalError as error:
        raise rowsocket.errors.error_from_reply(1, str(error.args[0])) from error


def test_one_hot_row_loses_no_increment(bank: Database, in_threads: InThreads) -> None:
    def client(me: int, connection: Connection) -> None:
        accounts = connection.open_index(bank.name, "account", "a")
        with connection.pipeline() as pipe:
            promised = [pipe.increment(accounts, 1, [1]) for _ in range(50)]
        assert [one.result() for one in promised] == [1] * 50

    in_threads(client)
    assert bank.value("SELECT a FROM account WHERE id = 1") == START + CLIENTS * 50


def test_rows_locked_in_opposite_orders_are_all_changed_once(bank: Database, in_threads: InThreads) -> None:
    def client(me: int, connection: Connection) -> None:
        accounts = connection.open_index(bank.name, "account", "b")
        for _ in range(5):
            up = until_done(accounts.increment, 0, [1], ">", limit=None)
            down = until_done(accounts.increment, 99, [1], "<", limit=None)
            assert (up, down) == (ACCOUNTS, ACCOUNTS)

    in_threads(client)
    assert bank.sql("SELECT DISTINCT b FROM account") == [(START + CLIENTS * 10,)]


def test_only_one_of_many_inserts_of_a_key_succeeds(bank: Database, in_threads: InThreads) -> None:
    winners: list[int] = []

    def client(me: int, connection: Connection) -> None:
        entries = connection.open_index(bank.name, "entry", "client,number,value")
        for number in range(20):
            try:
                entries.insert([0, number, f"by {me}"])
                winners.append(number)
            except (rowsocket.DuplicateKey, Deadlock):
                pass

    in_threads(client)
    assert sorted(winners) == list(range(20))
    assert bank.value("SELECT COUNT(*) FROM entry") == 20


def test_only_one_of_many_deletes_of_a_row_counts_it(bank: Database, in_threads: InThreads) -> None:
    counted: list[int] = []

    def client(me: int, connection: Connection) -> None:
        accounts = connection.open_index(bank.name, "account", "id")
        for account in range(1, ACCOUNTS + 1):
            counted.extend([account] * until_done(accounts.delete, account))

    in_threads(client)
    assert sorted(counted) == list(range(1, ACCOUNTS + 1))


def test_generated_ids_are_unique_over_all_clients(bank: Database, in_threads: InThreads) -> None:
    bank.sql("CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, client INT)")
    ids: list[tuple[int | None, int]] = []

    def client(me: int, connection: Connection) -> None:
        numbered = connection.open_index(bank.name, "numbered", "client")
        ids.extend((numbered.insert([me]), me) for _ in range(30))

    in_threads(client)
    assert sorted(ids, key=str) == sorted(bank.sql("SELECT id, client FROM numbered"), key=str)


def test_readers_see_whole_requests_only(bank: Database, server: RowSocketServer) -> None:
    """A request that changes all rows is seen in all of them or in none."""
    stop = threading.Event()

    def write() -> None:
        with rowsocket.connect(*server.write_address(), text=True) as connection:
            accounts = connection.open_index(bank.name, "account", "a")
            for _ in range(500):
                until_done(accounts.increment, 0, [1], ">", limit=None)

    with (
        ConnectionPool(*server.read_address(), max_size=4, text=True) as readers,
        ThreadPoolExecutor(6) as threads,
    ):
        accounts = readers.open_index(bank.name, "account", "a")

        def read() -> int:
            reads = 0
            while not stop.is_set():
                rows = accounts.find(0, ">", limit=None)
                assert (len(rows), len(set(rows))) == (ACCOUNTS, 1), rows
                reads += 1
            return reads

        reading = [threads.submit(read) for _ in range(4)]
        try:
            for done in [threads.submit(write), threads.submit(write)]:
                done.result()
        finally:
            stop.set()
        assert all(one.result() > 0 for one in reading)
    assert bank.sql("SELECT DISTINCT a FROM account") == [(START + 1000,)]


def test_one_asyncio_connection_serves_hundreds_of_tasks(bank: Database, server: RowSocketServer) -> None:
    async def main() -> None:
        host, port = server.write_address()
        async with await aio.connect(host, port, text=True) as connection:
            entries = await connection.open_index(bank.name, "entry", "client,number,value")

            async def task(me: int) -> None:
                for number in range(5):
                    await entries.insert([me, number, "x"])
                    assert await entries.get(me, number) == (str(me), str(number), "x")
                assert await entries.delete((me,), limit=None) == 5

            await asyncio.gather(*map(task, range(300)))

    asyncio.run(main())
    assert bank.value("SELECT COUNT(*) FROM entry") == 0
