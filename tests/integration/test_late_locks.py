# SPDX-License-Identifier: GPL-2.0-only
"""Locks of others that are met late, by a trigger or a commit: the request waits, and is done once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from support.gate import LaterReplies, gate, open_ids, wait_at_gate
from support.locks import wait_for_a_row_lock_wait, wait_for_state
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection

OpenRaw = Callable[[str], RawConnection]

FOR_A_TABLE = "Waiting for table level lock"
FOR_A_NAMED_LOCK = "User lock"


def opened(raw: OpenRaw, database: Database) -> RawConnection:
    """A connection that has opened 1 = `t (id)`."""
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    return wire


def test_a_row_that_a_trigger_changes_is_waited_for(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE total (id INT PRIMARY KEY, n INT NOT NULL);
        INSERT INTO total VALUES (1, 0);
        CREATE TRIGGER counts AFTER INSERT ON t FOR EACH ROW UPDATE total SET n = n + 1 WHERE id = 1"""
    )
    wire = opened(raw, database)
    parked_before = server.counter("parked")
    with database.session() as sql:
        sql.execute("BEGIN")
        sql.execute("UPDATE total SET n = n + 10 WHERE id = 1")
        wire.send(b"1\t+\t1\t5\n")
        wait_for_a_row_lock_wait(server)
        server.wait_until("the insert is parked", lambda: server.counter("parked") > parked_before)
        sql.execute("COMMIT")
    assert wire.line() == b"0\t1"
    assert database.sql("SELECT * FROM t") == [(5,)]
    assert database.value("SELECT n FROM total") == 11


def test_rows_for_themselves_wait_for_a_table_that_a_trigger_can_not_take_back(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    """The first row is done for good, so the insert can not be tried again when the second one must wait."""
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE log (id INT) ENGINE=MyISAM;
        INSERT INTO log VALUES (0);
        CREATE TRIGGER logs AFTER INSERT ON t FOR EACH ROW
            INSERT INTO log SELECT NEW.id FROM dual
                WHERE NEW.id <> 1 OR GET_LOCK('gate', 100) + RELEASE_LOCK('gate') > 0"""
    )
    wire = opened(raw, database)
    with database.session() as sql, database.session() as second, ThreadPoolExecutor(1) as threads:
        second.execute("SELECT GET_LOCK('second', 100)")
        with gate(database):
            wire.send(b"1\t++\t1\t2\t1\t2\tE\n")
            replies = LaterReplies(wire, 1)
            wait_at_gate(server)
            held = threads.submit(sql.execute, "UPDATE log SET id = id WHERE GET_LOCK('second', 100)")
            wait_for_state(server, FOR_A_TABLE, of_worker=False)
        wait_for_state(server, FOR_A_NAMED_LOCK, of_worker=False)
        wait_for_state(server, FOR_A_TABLE, of_worker=True)
        second.execute("SELECT RELEASE_LOCK('second')")
        held.result(120)
    assert replies.lines() == [b"0\t2\t1\t\0\t1\t\0"]
    assert database.sql("SELECT id FROM log ORDER BY id") == [(0,), (1,), (2,)]


@contextlib.contextmanager
def insert_behind_blocked_commits(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> Iterator[RawConnection]:
    """A connection whose insert into a table of Aria waits, until the end of the block, for a backup."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=Aria")
    wire = opened(raw, database)
    with database.session() as sql:
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            sql.execute(f"BACKUP STAGE {stage}")
        wire.send(b"1\t+\t1\t5\n")
        wait_for_state(server, "Waiting for backup lock", of_worker=True)
        yield wire
        sql.execute("BACKUP STAGE END")


def test_a_change_that_no_rollback_takes_back_waits_for_who_blocks_commits(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    """It is not there before its row events can be in the binlog, too."""
    with insert_behind_blocked_commits(server, database, raw) as wire:
        assert database.sql("SET STATEMENT lock_wait_timeout = 2 FOR SELECT * FROM t") == []
    assert wire.line() == b"0\t1"


def test_commits_that_are_blocked_for_longer_than_one_try_refuse_no_change_that_stays(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    with insert_behind_blocked_commits(server, database, raw) as wire:
        opens = server.counter("table_opens")
        server.wait_until(
            "is tried again, or answered",
            lambda: server.counter("table_opens") > opens or wire.unread() != b"",
        )
        assert wire.unread() == b""
    assert wire.line() == b"0\t1"
