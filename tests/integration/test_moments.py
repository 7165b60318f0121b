# SPDX-License-Identifier: GPL-2.0-only
"""What a turn sees and says of time: one snapshot for its finds, its own time for each request."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from support.gate import LaterReplies, gate, open_ids, wait_at_gate, with_gated_table
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

OpenRaw = Callable[[str], RawConnection]

FIND = b"1\t=\t1\t1\n"
PASS_THE_GATE = b"2\t+\t1\t1\n"


@pytest.fixture
def gated(start: Start) -> Database:
    """Row 1 of `t` with n = 10, a table `u` with one row, and the table with the gate. One session serves all
    writers, also behind the gate."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0})
    database = Database(server, "app")
    with_gated_table(database)
    database.sql("INSERT INTO t VALUES (1, 10)")
    database.sql("CREATE TABLE u (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO u VALUES (1, 1)")
    return database


@pytest.fixture
def gated_wire(gated: Database) -> Iterator[RawConnection]:
    """1 = `t (n)`, 2 = `gated (id)`, 3 = `u (n)`."""
    assert isinstance(gated.server, RowSocketServer)
    with gated.server.raw("write") as wire:
        open_ids(wire, gated, (1, "t", "n"), (2, "gated", "id"), (3, "u", "n"))
        yield wire


def replays(database: Database) -> int:
    return int(database.server.status("Rowsocket_replays")["Rowsocket_replays"])


def test_a_find_compares_with_the_time_of_its_own(gated: Database, gated_wire: RawConnection) -> None:
    """Not with that of the finds before it in the turn, nor of the change between."""
    gated.sql("CREATE TABLE v (id INT PRIMARY KEY, ends DATETIME(6))")
    gated.sql("INSERT INTO v VALUES (1, NOW() + INTERVAL 1 DAY)")
    assert gated_wire.tokens("P", 4, gated.name, "v", "", "id", "ends") == [b"0", b"1"]
    find_what_goes_on = b"4\t=\t1\t1\t1\t0\tF\t>\t0\t\x01t\n"
    with gate(gated):
        gated_wire.send(find_what_goes_on + PASS_THE_GATE + find_what_goes_on)
        replies = LaterReplies(gated_wire, 3)
        wait_at_gate(gated.server)
        gated.sql("UPDATE v SET ends = NOW(6)")
    assert replies.lines() == [b"0\t1\t1", b"0\t1", b"0\t1"]


@pytest.mark.parametrize("begin, end", [(b"", b""), (b"G\n", b"E\n")], ids=["requests", "group"])
def test_a_find_of_a_table_that_is_younger_than_the_snapshot_sees_it_in_a_new_one(
    gated: Database, gated_wire: RawConnection, begin: bytes, end: bytes
) -> None:
    """The finds of a group share a snapshot, so all of it runs again."""
    wire = gated_wire
    with gate(gated):
        wire.send(begin + FIND + PASS_THE_GATE + b"3\t=\t1\t1\n3\t=\t1\t1\t1\t0\tU\t2\n" + end)
        replies = LaterReplies(wire, 6 if begin else 4)
        wait_at_gate(gated.server)
        gated.sql("ALTER TABLE u ADD COLUMN x INT, ALGORITHM=COPY")
    expected = [b"0\t1\t10", b"0\t1", b"0\t1\t1", b"0\t1\t1"]
    assert replies.lines() == ([b"0\t1", *expected, b"0\t1"] if begin else expected)
    assert replays(gated) == (1 if begin else 0)
    for number in range(3, 6):  # it was that transaction's trouble alone
        replays_before = replays(gated)
        assert wire.ask(b"3\t=\t1\t1\t1\t0\tU\t%d" % number) == b"0\t1\t1"
        assert replays(gated) == replays_before
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


def test_null_in_a_timestamp_that_takes_none_is_the_time_of_now_as_in_sql(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE stamped (id INT PRIMARY KEY, at TIMESTAMP NOT NULL DEFAULT '2001-01-01')")
    database.sql("INSERT INTO stamped VALUES (1, NULL)")
    with server.raw("write") as wire:
        open_ids(wire, database, (1, "stamped", "id,at"))
        assert wire.tokens(1, "+", 2, 2, None) == [b"0", b"1"]
    assert database.sql("SELECT id FROM stamped WHERE at > '2020-01-01' ORDER BY id") == [(1,), (2,)]


def test_a_time_of_change_that_one_request_has_set_is_none_that_the_next_sets(
    server: RowSocketServer, database: Database
) -> None:
    """The table stays open from one to the other."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT, at DATETIME ON UPDATE CURRENT_TIMESTAMP)")
    database.sql("INSERT INTO t VALUES (1, 0, NULL)")
    with server.raw("write") as client:
        name = database.name.encode()
        assert client.ask_all(b"P\t1\t%s\tt\t\tat" % name, b"P\t2\t%s\tt\t\tn" % name) == [b"0\t1"] * 2
        past, now = b"1\t=\t1\t1\t1\t0\tU\t2001-01-01", b"2\t=\t1\t1\t1\t0\tU\t5"
        assert client.ask_all(past, now) == [b"0\t1\t1"] * 2
    assert database.sql("SELECT n, at > '2001-01-01' FROM t") == [(5, 1)]
