# SPDX-License-Identifier: GPL-2.0-only
"""max_session_mem_used ends the request that takes too much, as it ends a statement of SQL, and nothing
else."""

from __future__ import annotations

from collections.abc import Iterator

import pymysql
import pytest

from support.mariadb import Database, Options, RowSocketServer, Start
from support.raw import RawConnection

TOO_MUCH = 1290
MEBIBYTE = 1 << 20
LEAST_BYTES = 8192
TOO_LITTLE = "max_session_mem_used is less than a session takes"
LOGGED_MAX = 2
"""By the worker, and by a login thread."""


@pytest.fixture
def server(start: Start) -> Iterator[RowSocketServer]:
    """Its InnoDB makes no sessions of its own meanwhile: the server crashes where it makes one."""
    quiet: Options = {"innodb-stats-auto-recalc": "OFF", "innodb-purge-threads": 1}
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, **quiet})
    yield server
    server.sql("SET GLOBAL max_session_mem_used = DEFAULT")


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    """An insert into `greedy` takes as many bytes of memory as its row says."""
    database = Database(server, "app")
    database.script(
        """CREATE TABLE plain (id INT PRIMARY KEY);
        CREATE TABLE greedy (id INT PRIMARY KEY, n INT);
        CREATE TRIGGER takes BEFORE INSERT ON greedy FOR EACH ROW SET NEW.n = LENGTH(@x := REPEAT('x',
        NEW.n))"""
    )
    return database


def opened(client: RawConnection) -> RawConnection:
    requests = [b"P\t1\tapp\tplain\t\tid", b"P\t2\tapp\tgreedy\t\tid,n"]
    assert client.ask_all(*requests) == [b"0\t1"] * 2
    return client


def bytes_used(server: RowSocketServer) -> int:
    return int(
        server.value("SELECT MAX(memory_used) FROM information_schema.processlist WHERE host = 'rowsocket'")
    )


def test_who_takes_too_much_is_told_so_and_the_others_of_the_turn_are_served(
    server: RowSocketServer, database: Database
) -> None:
    with server.raw("write") as client, server.raw("write") as other:
        opened(client)
        opened(other)
        server.sql(f"SET GLOBAL max_session_mem_used = {MEBIBYTE}")
        with pytest.raises(pymysql.err.OperationalError) as raised, database.session() as session:
            session.execute("INSERT INTO greedy VALUES (1, 5000000)")
        assert raised.value.args[0] == TOO_MUCH
        lines = [
            b"1\t+\t1\t1",
            b"2\t+\t2\t1\t5000000",
            b"1\t+\t1\t2",
            b"P\t4\tapp\tplain\t\tid",
            b"4\t=\t1\t2",
        ]
        replies = client.ask_all(*lines)
        assert replies == [b"0\t1", b"1\t1\t1290", b"0\t1", b"0\t1", b"0\t1\t2"]
        assert client.ask(b"2\t+\t2\t2\t10") == b"0\t1"
        assert other.ask(b"1\t+\t1\t3") == b"0\t1"
    assert database.sql("SELECT id FROM plain") == [(1,), (2,), (3,)]
    assert database.sql("SELECT id, n FROM greedy") == [(2, 10)]


def test_a_change_of_many_rows_that_takes_too_much_changes_none(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("INSERT INTO greedy VALUES (1, 10), (2, 10), (3, 10)")
    database.sql(
        """CREATE TRIGGER takes_later BEFORE UPDATE ON greedy FOR EACH ROW
        SET NEW.n = LENGTH(@x := REPEAT('x', IF(OLD.id = 2, 5000000, 1)))"""
    )
    with server.raw("write") as client:
        opened(client)
        server.sql(f"SET GLOBAL max_session_mem_used = {MEBIBYTE}")
        assert client.ask(b"2\t>=\t1\t0\t10\t0\tU\t0") == b"1\t1\t1290"
        assert client.ask(b"2\t=\t1\t1\t1\t0\tU\t1\t5") == b"0\t1\t1"
    assert database.sql("SELECT id, n FROM greedy") == [(1, 1), (2, 10), (3, 10)]


def test_what_the_worker_keeps_for_all_is_nobodys_fault(server: RowSocketServer, database: Database) -> None:
    with server.raw("write") as client:
        opened(client)
        for limit in (bytes_used(server) // 2, 8192):
            server.sql(f"SET GLOBAL max_session_mem_used = {limit}")
            for _ in range(2):  # what a trigger leaves is cleared in between
                assert client.ask(b"1\t++\t1\t1\t1\tE") == b"0\t2\t1\t\0"
                assert client.ask(b"P\t4\tapp\tplain\t\tid") == b"0\t1"
                assert client.ask(b"1\t=\t1\t1\t1\t0\tD") == b"0\t1\t1"
                assert client.ask(b"2\t+\t2\t1\t5000000") == b"1\t1\t1290"


def test_a_limit_below_what_a_session_takes_makes_no_stand_in(
    server: RowSocketServer, database: Database
) -> None:
    """The server crashes where a session is made then, also for SQL. No session is made for requests."""
    database.sql("INSERT INTO plain VALUES (1)")
    with (
        server.raw("write") as waiting,
        server.raw("write") as other,
        server.raw("write") as newcomer,
        database.session() as sql,
    ):
        opened(waiting)
        opened(other)
        sql.execute("BEGIN")
        sql.execute("SELECT * FROM plain WHERE id = 1 FOR UPDATE")
        server.sql(f"SET GLOBAL max_session_mem_used = {LEAST_BYTES}")
        waiting.send(b"1\t=\t1\t1\t1\t0\tD\n")
        server.wait_until("the log says so", lambda: TOO_LITTLE in server.log_text())
        assert newcomer.ask(b"A\t2\troot\t") != b"0\t1"
        sql.execute("ROLLBACK")
        assert waiting.line() == b"0\t1\t1"
        assert other.ask(b"1\t+\t1\t2") == b"0\t1"
    assert database.sql("SELECT id FROM plain") == [(2,)]
    assert server.log_text().count(TOO_LITTLE) <= LOGGED_MAX
