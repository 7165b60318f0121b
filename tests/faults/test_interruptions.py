# SPDX-License-Identifier: GPL-2.0-only
"""KILL and KILL QUERY of RowSocket's workers, and SQL transactions in the way: the right code, nothing lost,
no lock left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pymysql
import pytest

import rowsocket
from support.kills import kill_all
from support.load import Load, Operation
from support.locks import wait_for_a_row_lock_wait, waiting_for_a_row
from support.mariadb import Database, RowSocketServer, Start
from support.raw import ConnectionClosed, RawConnection
from support.soak import Soak

KILLS_OF_EACH_KIND = 25
DEADLOCKS = 100
BLOCKED_KILLS = 10
KILLS_WHILE_OPENING = 500
INTERRUPTED = {"188", "1317", "1927"}
"""HA_ERR_ABORTED_BY_USER, from within InnoDB; ER_QUERY_INTERRUPTED; ER_CONNECTION_KILLED."""
REPLIES_OF_THE_INTERRUPTED = [f"1\t1\t{code}".encode() for code in INTERRUPTED]
DEADLOCK = "149"
LOCK_WAIT_TIMEOUT = "146"


class Clients:
    """Clients that increment one counter each, and come back when they were thrown out."""

    def __init__(self, server: RowSocketServer, database: str) -> None:
        self.server = server
        self.database = database
        self.thrown_out_count = 0
        self.acknowledged: Counter[int] = Counter()
        self.unanswered: Counter[int] = Counter()
        self.refused: Counter[str] = Counter()

    def make(self, number: int, stack: ExitStack) -> Operation:
        connection = stack.enter_context(rowsocket.connect(*self.server.write_address(), text=True))
        counter = connection.open_index(self.database, "c", "n")

        def increment() -> None:
            try:
                assert counter.increment(number, [1]) == 1
                self.acknowledged[number] += 1
            except rowsocket.ConnectionLost as error:
                self.thrown_out_count += 1
                self.unanswered[number] += error.outcome_unknown
            except rowsocket.ServerError as error:
                self.refused[error.text] += 1

        return increment


@pytest.fixture
def counters(database: Database) -> Database:
    """Eight counters in `c`, 0 to 7, all zero."""
    database.sql("CREATE TABLE c (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
    database.sql("INSERT INTO c SELECT seq, 0 FROM seq_0_to_7")
    return database


@pytest.mark.parametrize("kill", ["KILL", "KILL HARD", "KILL QUERY", "KILL HARD QUERY"])
def test_killed_workers_lose_nothing_that_was_acknowledged(
    server: RowSocketServer, counters: Database, kill: str, soak: Soak
) -> None:
    clients = Clients(server, counters.name)
    with Load(8, clients.make) as load:
        for _ in soak.trials(KILLS_OF_EACH_KIND):
            kill_all(server, kill)
            load.wait_for_more()
    assert set(clients.refused) <= INTERRUPTED
    assert (clients.thrown_out_count == 0) == ("QUERY" in kill)
    for number, total in counters.sql("SELECT id, n FROM c"):
        least = clients.acknowledged[number]
        assert least <= total <= least + clients.unanswered[number], (kill, number, clients.refused)
    soak.saw("acknowledged increments", clients.acknowledged.total())
    soak.saw("interrupted", clients.refused.total() + clients.thrown_out_count)


def test_a_kill_while_a_table_is_opened_is_told_as_a_kill(
    server: RowSocketServer, counters: Database
) -> None:
    """Not as a table that is not there: that would say that it does not help to ask again."""
    clients = Clients(server, counters.name)

    def make_flusher(number: int, stack: ExitStack) -> Operation:
        sql = stack.enter_context(counters.session())

        def flush() -> None:
            sql.execute("FLUSH TABLES c")

        return flush

    with Load(8, clients.make) as load, Load(1, make_flusher):
        for _ in range(KILLS_WHILE_OPENING):
            kill_all(server, "KILL QUERY")
        load.wait_for_more()
    assert set(clients.refused) <= INTERRUPTED


class Blocked:
    """A RowSocket client whose request waits for a row that an SQL transaction has locked, while it has
    locked others itself."""

    def __init__(
        self, server: RowSocketServer, sql: pymysql.cursors.Cursor, client: RawConnection, database: str
    ) -> None:
        self.server = server
        self.sql = sql
        self.client = client
        assert client.ask(f"P\t1\t{database}\tc\t\tn".encode()) == b"0\t1"

    def lock_and_block(self) -> None:
        """SQL locks row 0, the client asks for rows 1 and then 0, and waits."""
        self.sql.execute("BEGIN")
        self.sql.execute("UPDATE c SET n = n + 1 WHERE id = 0")
        self.client.send(b"1\t<=\t1\t1\t2\t0\t+\t1\n")
        wait_for_a_row_lock_wait(self.server)

    def worker(self) -> int:
        """The id of the worker that waits."""
        return waiting_for_a_row(self.server)[0]


@pytest.fixture
def blocked(
    server: RowSocketServer, counters: Database, raw: Callable[[str], RawConnection]
) -> Iterator[Blocked]:
    """See Blocked."""
    with counters.session() as sql:
        yield Blocked(server, sql, raw("write"), counters.name)
        sql.execute("ROLLBACK")


def test_a_killed_query_is_answered_and_its_locks_are_gone(
    blocked: Blocked, database: Database, soak: Soak
) -> None:
    database.sql("SET SESSION innodb_lock_wait_timeout = 1")
    for trial in soak.trials(BLOCKED_KILLS):
        blocked.lock_and_block()
        blocked.server.sql(f"KILL QUERY {blocked.worker()}")
        assert blocked.client.line() in REPLIES_OF_THE_INTERRUPTED
        assert database.sql("SELECT n FROM c WHERE id = 1 FOR UPDATE") == [(trial,)]
        blocked.sql.execute("COMMIT")
        assert blocked.client.ask(b"1\t<=\t1\t1\t2\t0\t+\t1") == b"0\t1\t2"
        assert database.sql("SELECT n FROM c WHERE id < 2 ORDER BY id") == [(2 * trial + 2,), (trial + 1,)]


def test_a_killed_worker_closes_and_its_locks_are_gone(blocked: Blocked, database: Database) -> None:
    blocked.lock_and_block()
    blocked.server.sql(f"KILL {blocked.worker()}")
    with pytest.raises(ConnectionClosed):
        assert blocked.client.line() in REPLIES_OF_THE_INTERRUPTED
        blocked.client.line()
    database.sql("SET SESSION innodb_lock_wait_timeout = 1")
    assert database.sql("SELECT n FROM c WHERE id = 1 FOR UPDATE") == [(0,)]
    blocked.sql.execute("COMMIT")
    assert database.sql("SELECT n FROM c WHERE id < 2 ORDER BY id") == [(1,), (0,)]


def test_deadlocks_with_sql_transactions_are_replayed_or_told(
    blocked: Blocked, database: Database, soak: Soak
) -> None:
    done: Counter[str] = Counter()
    for _ in soak.trials(DEADLOCKS):
        blocked.lock_and_block()
        try:
            blocked.sql.execute("UPDATE c SET n = n + 1 WHERE id = 1")
            blocked.sql.execute("COMMIT")
            done["sql"] += 1
        except pymysql.err.OperationalError as error:
            assert error.args[0] == 1213
            blocked.sql.execute("ROLLBACK")
        reply = blocked.client.line()
        assert reply in (b"0\t1\t2", f"1\t1\t{DEADLOCK}".encode())
        done["rowsocket"] += reply == b"0\t1\t2"
    assert done.total() >= soak.seen["trials"]
    assert database.sql("SELECT DISTINCT n FROM c WHERE id < 2") == [(done.total(),)]


def test_a_row_that_stays_locked_is_a_lock_wait_timeout_and_nothing_is_done(start: Start) -> None:
    server = start(RowSocketServer, {"innodb-lock-wait-timeout": 3})
    database = Database(server, "d")
    database.sql("CREATE TABLE c (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
    database.sql("INSERT INTO c VALUES (0, 0), (1, 0)")
    with database.session() as sql, server.raw("write") as client:
        Blocked(server, sql, client, "d").lock_and_block()
        assert client.line() == f"1\t1\t{LOCK_WAIT_TIMEOUT}".encode()
        assert database.sql("SELECT n FROM c WHERE id = 1 FOR UPDATE") == [(0,)]
        sql.execute("ROLLBACK")
        assert client.ask(b"1\t<=\t1\t1\t2\t0\t+\t1") == b"0\t1\t2"
