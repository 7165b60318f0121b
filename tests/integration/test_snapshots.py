# SPDX-License-Identifier: GPL-2.0-only
"""What a request reads was committed as a whole, and is never older than the request."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise

import pytest

from support.gate import LaterReplies, gate, open_ids, wait_at_gate, with_gated_table
from support.load import Load
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

FIND_BOTH = b"1\t>=\t1\t1\t9\t0\n"
PASS_THE_GATE = b"2\t+\t1\t7\n"
COUNT_FIRST = b"3\t=\t1\t1\t1\t0\t+\t1\n"
COUNT_BY_TRIGGER = b"4\t+\t1\t1\n"


@pytest.fixture
def pair(database: Database, raw: Callable[[str], RawConnection]) -> RawConnection:
    """A connection: 1 = both columns of two rows, 3 = their number, 2 = a table with a gate."""
    with_gated_table(database)
    database.sql("INSERT INTO t VALUES (1, 0), (2, 0)")
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id,n"), (2, "gated", "id"), (3, "t", "n"))
    return wire


def in_a_turn_with_a_pause(
    server: RowSocketServer, database: Database, wire: RawConnection, *requests: bytes
) -> list[bytes]:
    """The replies to requests of one turn; when it is at the gate, SQL counts both rows at once."""
    with database.session() as session, gate(database):
        wire.send(b"".join(requests))
        replies = LaterReplies(wire, len(requests))
        wait_at_gate(server)
        session.execute("BEGIN")
        session.execute("UPDATE t SET n = n + 10 WHERE id = 1")
        session.execute("UPDATE t SET n = n + 10 WHERE id = 2")
        session.execute("COMMIT")
    return replies.lines()


def test_behind_a_change_a_find_sees_all_of_what_the_change_saw_a_part_of(
    server: RowSocketServer, database: Database, pair: RawConnection
) -> None:
    replies = in_a_turn_with_a_pause(server, database, pair, FIND_BOTH, PASS_THE_GATE, COUNT_FIRST, FIND_BOTH)
    assert replies == [b"0\t2\t1\t0\t2\t0", b"0\t1", b"0\t1\t1", b"0\t2\t1\t11\t2\t10"]


def test_a_group_begins_with_a_new_snapshot(
    server: RowSocketServer, database: Database, pair: RawConnection
) -> None:
    replies = in_a_turn_with_a_pause(
        server, database, pair, FIND_BOTH, PASS_THE_GATE, b"G\n", COUNT_FIRST, FIND_BOTH, b"E\n"
    )
    assert replies[3:5] == [b"0\t1\t1", b"0\t2\t1\t11\t2\t10"]


def test_the_finds_of_a_group_share_a_snapshot_and_those_behind_it_do_not(
    server: RowSocketServer, database: Database, pair: RawConnection
) -> None:
    replies = in_a_turn_with_a_pause(
        server, database, pair, b"G\n", FIND_BOTH, PASS_THE_GATE, FIND_BOTH, b"E\n", FIND_BOTH
    )
    before, after = b"0\t2\t1\t0\t2\t0", b"0\t2\t1\t10\t2\t10"
    assert (replies[1], replies[3], replies[5]) == (before, before, after)


def test_the_finds_of_a_group_on_the_read_port_share_a_snapshot(
    server: RowSocketServer, database: Database
) -> None:
    """Whatever is between them: here a walk over a table that the engine locks for each statement."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, who VARCHAR(99) AS (CURRENT_USER()))")
    database.sql("INSERT INTO t (id, n) VALUES (1, 0), (2, 0)")
    database.sql("CREATE TABLE walked (id INT PRIMARY KEY, n INT) ENGINE=MyISAM")
    database.sql("INSERT INTO walked SELECT seq, 0 FROM seq_1_to_20000")
    name = database.name.encode()

    def count(_: int, stack: ExitStack) -> Callable[[], None]:
        session = stack.enter_context(database.session())

        def add_one() -> None:
            session.execute("UPDATE t SET n = n + 1")

        return add_one

    with server.raw("read") as reader, Load(1, count) as load:
        opened = [b"P\t1\t%s\tt\t\tid,n" % name, b"P\t2\t%s\twalked\t\tid\tn" % name]
        assert reader.ask_all(*opened) == [b"0\t1"] * 2
        find, walk = b"1\t=\t1\t1", b"2\t>\t1\t0\t1\t0\tF\t>\t0\t1"
        for _ in range(20):
            begun, first, none, second, ended = reader.ask_all(b"G", find, walk, find, b"E")
            assert (begun, none, ended) == (b"0\t1", b"0\t1", b"0\t1")
            assert first == second
            load.wait_for_more()


def test_behind_an_insert_of_the_same_statement_a_find_sees_what_was_committed_before_it(
    start: Start,
) -> None:
    """The insert waits for a lock, in place without stand-ins: so it is done behind the change of somebody
    else."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO t VALUES (1, 0), (2, 0)")
    database.sql("CREATE TABLE plain (id INT PRIMARY KEY)")
    with server.raw("write") as wire, database.session() as locking, database.session() as changing:
        open_ids(wire, database, (1, "t", "id,n"), (4, "plain", "id"))
        locking.execute("BEGIN")
        locking.execute("INSERT INTO plain VALUES (1)")
        wire.send(FIND_BOTH + b"4\t+\t1\t1\n" + FIND_BOTH)
        replies = LaterReplies(wire, 3)
        server.wait_until(
            "the insert waits for the row",
            lambda: server.status("Innodb_row_lock_current_waits")["Innodb_row_lock_current_waits"] == "1",
        )
        changing.execute("UPDATE t SET n = n + 10")
        locking.execute("ROLLBACK")
        assert replies.lines() == [b"0\t2\t1\t0\t2\t0", b"0\t1", b"0\t2\t1\t10\t2\t10"]


LOST_RUNS = 5


@pytest.mark.parametrize(
    ("change", "changed"),
    [(COUNT_FIRST, b"0\t1\t1"), (COUNT_BY_TRIGGER, b"0\t1")],
    ids=["itself", "in a trigger"],
)
def test_a_group_that_meets_a_newer_row_is_run_until_it_meets_none(
    start: Start, change: bytes, changed: bytes
) -> None:
    """InnoDB rolls back with an error of its own then (innodb_snapshot_isolation), as after a deadlock."""
    server = start(RowSocketServer, {"innodb-snapshot-isolation": "ON", "loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    with_gated_table(database)
    database.script("""
        INSERT INTO t VALUES (1, 0);
        CREATE TABLE counted (id INT PRIMARY KEY);
        CREATE TRIGGER counts BEFORE INSERT ON counted FOR EACH ROW UPDATE t SET n = n + 1""")
    query = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"
    with ExitStack() as stack:
        wire = stack.enter_context(server.raw("write"))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        keepers = [stack.enter_context(database.session()) for _ in range(LOST_RUNS + 1)]
        open_ids(wire, database, (1, "t", "id,n"), (2, "gated", "id"), (3, "t", "n"), (4, "counted", "id"))
        keepers[0].execute("SELECT GET_LOCK('gate', 100)")
        wire.send(b"G\n" + FIND_BOTH + PASS_THE_GATE + change + b"E\n")
        for keeper, following in pairwise(keepers):
            wait_at_gate(server)
            database.sql("UPDATE t SET n = n + 10 WHERE id = 1")
            next_closed = pool.submit(following.execute, "SELECT GET_LOCK('gate', 100)")
            server.wait_until("the next keeper waits", lambda: server.value(query) == 2)
            keeper.execute("SELECT RELEASE_LOCK('gate')")
            next_closed.result()
        keepers[-1].execute("SELECT RELEASE_LOCK('gate')")
        assert wire.lines(5)[3] == changed
    assert database.value("SELECT n FROM t") == 10 * LOST_RUNS + 1
