# SPDX-License-Identifier: GPL-2.0-only
"""What a turn sees and says of time: one snapshot for its finds, its own time for each request."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.gate import LaterReplies, gate, open_ids, wait_at_gate, with_gated_table
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection

OpenRaw = Callable[[str], RawConnection]

FIND = b"1\t=\t1\t1\n"
PASS_THE_GATE = b"2\t+\t1\t1\n"


@pytest.fixture
def gated(database: Database) -> Database:
    """Row 1 of `t` with n = 10, a table `u` with one row, and the table with the gate."""
    with_gated_table(database)
    database.sql("INSERT INTO t VALUES (1, 10)")
    database.sql("CREATE TABLE u (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO u VALUES (1, 1)")
    return database


def test_a_find_of_a_table_that_is_younger_than_the_snapshot_sees_it_in_a_new_one(
    server: RowSocketServer, gated: Database, raw: OpenRaw
) -> None:
    wire = raw("write")
    open_ids(wire, gated, (1, "t", "n"), (2, "gated", "id"), (3, "u", "n"))
    with gate(gated):
        wire.send(FIND + PASS_THE_GATE + b"3\t=\t1\t1\n3\t=\t1\t1\t1\t0\tU\t2\n")
        replies = LaterReplies(wire, 4)
        wait_at_gate(server)
        gated.sql("ALTER TABLE u ADD COLUMN x INT, ALGORITHM=COPY")
    assert replies.lines() == [b"0\t1\t10", b"0\t1", b"0\t1\t1", b"0\t1\t1"]
    for number in range(3, 6):  # it was that transaction's trouble alone
        replays_before = server.counter("replays")
        assert wire.ask(b"3\t=\t1\t1\t1\t0\tU\t%d" % number) == b"0\t1\t1"
        assert server.counter("replays") == replays_before
    assert gated.sql("SELECT n FROM u") == [(5,)]
    assert gated.sql("SELECT COUNT(*) FROM gated") == [(1,)]


def test_each_request_of_a_turn_has_its_own_time(database: Database, raw: OpenRaw) -> None:
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, made TIMESTAMP(6) DEFAULT NOW(6), changed TIMESTAMP(6) NULL)"
    )
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"), (2, "t", "changed"))
    count = 50
    inserts = [b"1\t+\t1\t%d" % number for number in range(count)]
    assert wire.ask_all(*inserts) == [b"0\t1"] * count
    changes = [b"2\t=\t1\t%d\t1\t0\tU\t\x01t" % number for number in range(count)]
    assert wire.ask_all(*changes) == [b"0\t1\t1"] * count
    assert database.sql("SELECT COUNT(DISTINCT made), COUNT(DISTINCT changed) FROM t") == [(count, count)]


def test_the_rows_of_one_request_have_one_time(database: Database, raw: OpenRaw) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, made TIMESTAMP(6) DEFAULT NOW(6))")
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    assert wire.tokens(1, "++", 1, 50, *range(50))[:2] == [b"0", b"2"]
    assert database.sql("SELECT COUNT(DISTINCT made) FROM t") == [(1,)]
