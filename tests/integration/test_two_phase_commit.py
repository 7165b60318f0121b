# SPDX-License-Identifier: GPL-2.0-only
"""Commits are of two phases, whatever else a turn does: else a crash parts the binlog from the tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.gate import open_ids
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection

OpenRaw = Callable[[str], RawConnection]

INSERT = b"1\t+\t1\t%d\n"
FIND_IN_ARIA = b"2\t=\t1\t1\n"


def ends_of_transactions(server: RowSocketServer) -> list[str]:
    """How the transactions since the last FLUSH BINARY LOGS end: Xid, or a COMMIT statement."""
    log = server.sql("SHOW BINARY LOGS")[-1][0]
    events = server.sql(f"SHOW BINLOG EVENTS IN '{log}'")
    return [kind for (_, _, kind, _, _, info) in events if "COMMIT" in str(info)]


@pytest.fixture
def wire(server: RowSocketServer, database: Database, raw: OpenRaw) -> RawConnection:
    """A connection: 1 = a table of InnoDB, 2 = one of Aria, whose row is 1."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE a (id INT PRIMARY KEY) ENGINE=Aria")
    database.sql("INSERT INTO a VALUES (1)")
    server.sql("FLUSH BINARY LOGS")
    connection = raw("write")
    open_ids(connection, database, (1, "t", "id"), (2, "a", "id"))
    return connection


def test_commits_are_of_two_phases_from_the_first_to_the_last(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0)")
    server.sql("FLUSH BINARY LOGS")
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"), (2, "t", "n"))
    for number in range(20):
        assert wire.tokens(1, "+", 1, number) == [b"0", b"1"]
        assert wire.tokens(2, "=", 1, number, 1, 0, "+", 1) == [b"0", b"1", b"1"]
    assert ends_of_transactions(server) == ["Xid"] * 40


def test_an_engine_of_one_phase_is_read_beside_changes(server: RowSocketServer, wire: RawConnection) -> None:
    wire.send(b"".join(INSERT % number + FIND_IN_ARIA * 2 for number in range(20)))
    assert wire.lines(60) == [b"0\t1", b"0\t1\t1", b"0\t1\t1"] * 20
    assert set(ends_of_transactions(server)) == {"Xid"}


def test_a_group_that_changes_rows_does_not_read_from_an_engine_of_one_phase(
    server: RowSocketServer, wire: RawConnection
) -> None:
    wire.send(FIND_IN_ARIA + b"G\n" + INSERT % 1 + b"E\n")
    assert wire.lines(4)[1:] == [b"0\t1"] * 3
    wire.send(b"G\n" + INSERT % 2 + FIND_IN_ARIA + b"E\n")
    assert wire.lines(4) == [b"0\t1", b"1\t1\tgroup", b"1\t1\tnotrans", b"1\t1\tgroup"]
    wire.send(INSERT % 3 + b"G\n" + FIND_IN_ARIA + b"E\n" + INSERT % 4)
    assert wire.lines(5) == [b"0\t1", b"0\t1", b"0\t1\t1", b"0\t1", b"0\t1"]
    assert set(ends_of_transactions(server)) == {"Xid"}


def test_a_change_whose_trigger_reads_from_an_engine_of_one_phase_is_committed_for_itself(
    server: RowSocketServer, database: Database, wire: RawConnection
) -> None:
    database.sql("CREATE TABLE r (id INT PRIMARY KEY, n INT)")
    database.sql("CREATE TRIGGER b BEFORE INSERT ON r FOR EACH ROW SET NEW.n = (SELECT COUNT(*) FROM a)")
    server.sql("FLUSH BINARY LOGS")
    open_ids(wire, database, (3, "r", "id"))
    wire.send(b"".join(INSERT % number + b"3\t+\t1\t%d\n" % number for number in range(20)))
    assert wire.lines(40) == [b"0\t1"] * 40
    assert ends_of_transactions(server).count("Xid") == 20
