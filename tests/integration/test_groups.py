# SPDX-License-Identifier: GPL-2.0-only
"""Groups: requests that commit together or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.test_binlog import replayed
from support.binlog import transaction_count
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

GROUP = b"1\t1\tgroup"
OK = b"0\t1"


@pytest.fixture
def accounts(server: RowSocketServer, database: Database) -> Iterator[RawConnection]:
    """Three accounts, opened as 1 with the balance first and as 2 with id and balance."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO t VALUES (1, 100), (2, 50), (3, 0)")
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "n", "n") == [b"0", b"1"]
        assert connection.tokens("P", 2, database.name, "t", "", "id,n") == [b"0", b"1"]
        yield connection


def balances(database: Database) -> list[int]:
    return [row[0] for row in database.sql("SELECT n FROM t ORDER BY id")]


def group(*requests: bytes, options: bytes = b"") -> tuple[bytes, ...]:
    return (b"G" + options, *requests, b"E")


def test_a_group_is_done_as_one(accounts: RawConnection, database: Database) -> None:
    transfer = group(b"1\t=\t1\t1\t1\t0\t-\t30", b"1\t=\t1\t2\t1\t0\t+\t30", b"1\t>=\t1\t1\t9\t0")
    assert accounts.ask_all(*transfer) == [OK, b"0\t1\t1", b"0\t1\t1", b"0\t1\t70\t80\t0", OK]
    assert balances(database) == [70, 80, 0]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (b"2\t+\t2\t1\t5", b"1\t1\t121"),
        (b"1\t=\t1\t2\t1\t0\tU\tx", b"1\t1\t1366"),
        (b"7\t=\t1\t2", b"2\t1\tstmtnum"),
        (b"1\t~\t1\t2", b"2\t1\top"),
        (b"P\t3\tx\ty\t\tz", b"2\t1\tgroup"),
        (b"1\t=\t1\t2\t1\t0\tC\tnope", b"2\t1\tfld"),
    ],
)
def test_one_failure_undoes_all_of_it_and_nothing_else(
    accounts: RawConnection, database: Database, bad: bytes, error: bytes
) -> None:
    requests = [
        b"1\t=\t1\t3\t1\t0\tU\t5",
        *group(b"2\t+\t2\t8\t8", b"1\t=\t1\t1\t1\t0\tU\t0", bad, b"1\t=\t1\t2\t1\t0\tU\t0"),
    ]
    assert accounts.ask_all(*requests, b"1\t=\t1\t2\t1\t0\t+\t1") == [
        b"0\t1\t1",
        OK,
        GROUP,
        GROUP,
        error,
        GROUP,
        GROUP,
        b"0\t1\t1",
    ]
    assert balances(database) == [100, 51, 5]


@pytest.mark.parametrize("fails", [b"2\t+\t2\t1\t5", b"3\t+\t1\t0"], ids=["a duplicate", "a trigger"])
def test_where_each_member_is_a_statement_a_failure_undoes_all_of_them_and_nothing_else(
    accounts: RawConnection, database: Database, fails: bytes
) -> None:
    """A table with a trigger takes part."""
    database.sql("CREATE TABLE checked (id INT PRIMARY KEY)")
    database.sql("""
        CREATE TRIGGER checks BEFORE INSERT ON checked FOR EACH ROW
          IF NEW.id = 0 THEN SIGNAL SQLSTATE '45000'; END IF
    """)
    assert accounts.tokens("P", 3, database.name, "checked", "", "id") == [b"0", b"1"]
    before, behind = b"1\t=\t1\t3\t1\t0\tU\t5", b"1\t=\t1\t2\t1\t0\t+\t1"
    failing = group(b"2\t+\t2\t8\t8", b"3\t+\t1\t7", b"1\t=\t1\t1\t1\t0\tU\t0", fails)
    replies = accounts.ask_all(before, *failing, behind)
    assert (replies[0], replies[-2:]) == (b"0\t1\t1", [GROUP, b"0\t1\t1"])
    assert balances(database) == [100, 51, 5]
    assert database.sql("SELECT id FROM checked") == []


def test_a_find_behind_a_write_of_the_group_parts_nothing_of_it(
    accounts: RawConnection, database: Database
) -> None:
    """Reads outside of a group get a newer snapshot behind a write, and a statement of their own with it."""
    find = b"1\t=\t1\t1"
    requests = group(find, b"2\t+\t2\t8\t8", find, b"1\t=\t1\t1\t1\t0\tU\t0", find, b"2\t+\t2\t1\t5")
    assert accounts.ask_all(*requests)[-2:] == [b"1\t1\t121", GROUP]
    assert balances(database) == [100, 50, 0]


def test_a_write_that_changes_nothing_fails_a_group_that_must(
    accounts: RawConnection, database: Database
) -> None:
    """Account 2 has not got 60: the decrement leaves it alone, and so nobody receives them."""
    transfer = group(b"1\t=\t1\t1\t1\t0\t+\t60", b"1\t=\t1\t2\t1\t0\t-\t60", options=b"\tmust")
    assert accounts.ask_all(*transfer) == [OK, GROUP, b"1\t1\tunchanged", GROUP]
    compare_and_set = group(b"1\t=\t1\t1\t1\t0\tF\t=\t0\t99\tU\t1", options=b"\tmust")
    assert accounts.ask_all(*compare_and_set) == [OK, b"1\t1\tunchanged", GROUP]
    assert balances(database) == [100, 50, 0]


def test_nothing_is_done_before_the_group_is_whole(accounts: RawConnection, database: Database) -> None:
    accounts.send(b"G\n1\t=\t1\t1\t1\t0\tU\t7\n")
    database.sql("UPDATE t SET n = n + 1 WHERE id = 1")  # would wait if the group held a lock
    accounts.send(b"E\n")
    assert accounts.lines(3) == [OK, b"0\t1\t1", OK]
    assert balances(database)[0] == 7


def test_a_group_of_a_client_that_goes_is_not_begun(accounts: RawConnection, database: Database) -> None:
    accounts.send(b"1\t=\t1\t3\t1\t0\tU\t1\nG\n1\t=\t1\t1\t1\t0\tU\t7\n")
    assert accounts.line() == b"0\t1\t1"
    accounts.close()
    assert balances(database) == [100, 50, 1]


def test_tables_without_transactions_are_refused(accounts: RawConnection, database: Database) -> None:
    database.sql("CREATE TABLE a (id INT PRIMARY KEY) ENGINE=Aria")
    assert accounts.tokens("P", 3, database.name, "a", "", "id") == [b"0", b"1"]
    requests = group(b"1\t=\t1\t1\t1\t0\tU\t7", b"3\t+\t1\t1")
    assert accounts.ask_all(*requests) == [OK, GROUP, b"1\t1\tnotrans", GROUP]
    assert balances(database)[0] == 100
    assert database.sql("SELECT * FROM a") == []


def test_a_group_with_a_row_that_sql_holds_waits_and_is_then_done_once(
    accounts: RawConnection, server: RowSocketServer, database: Database
) -> None:
    parked = server.counter("parked")
    with database.session() as sql:
        sql.execute("BEGIN")
        sql.execute("UPDATE t SET n = 51 WHERE id = 2")
        accounts.send(
            b"".join(line + b"\n" for line in group(b"1\t=\t1\t1\t1\t0\t+\t1", b"1\t=\t1\t2\t1\t0\t+\t1"))
        )
        server.wait_until("the group is put off", lambda: server.counter("parked") > parked)
        assert balances(database)[0] == 100
        sql.execute("COMMIT")
    assert accounts.lines(4) == [OK, b"0\t1\t1", b"0\t1\t1", OK]
    assert balances(database) == [101, 52, 0]


def test_the_end_says_the_gtid_of_the_commit(
    accounts: RawConnection, server: RowSocketServer, database: Database
) -> None:
    """Of one for both, or of one each, where the machine is so busy that the first lasts long."""
    before = transaction_count(server)
    first, second = (group(b"1\t=\t1\t1\t1\t0\tU\t%d" % n, options=b"\tgtid") for n in (7, 8))
    replies = accounts.ask_all(*first, b"1\t=\t1\t1", *second, b"1\t=\t1\t1")
    ends = [replies.pop(2), replies.pop(5)]
    assert replies == [OK, b"0\t1\t1", b"0\t1\t7", OK, b"0\t1\t1", b"0\t1\t8"]
    position = str(server.value("SELECT @@gtid_binlog_pos")).encode()
    own = position.rpartition(b"-")[0] + b"-%d" % (before + 1)
    assert ends == [b"0\t1\t" + own, b"0\t1\t" + position]


def test_a_group_that_writes_nothing_has_no_gtid(accounts: RawConnection) -> None:
    assert accounts.ask_all(*group(b"1\t=\t1\t1", options=b"\tgtid")) == [OK, b"0\t1\t100", b"0\t1\t"]


def test_rows_for_themselves_in_a_group(accounts: RawConnection, database: Database) -> None:
    requests = group(b"2\t++\t2\t3\t4\t4\t1\t1\t5\t5\tE", b"1\t=\t1\t4\t1\t0\t+\t1")
    assert accounts.ask_all(*requests) == [OK, b"0\t2\t1\t\0\t!121\t\0\t1\t\0", b"0\t1\t1", OK]
    assert balances(database) == [100, 50, 0, 5, 5]


@pytest.mark.parametrize("undone", [False, True])
def test_groups_reach_the_binlog_as_they_were_committed(start: Start, tmp_path: Path, undone: bool) -> None:
    server = start(RowSocketServer)
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (id INT PRIMARY KEY, n INT NOT NULL)")
    with server.raw("write") as connection:
        assert connection.ask(b"P\t1\tapp\tt\t\tid,n") == OK
        last = b"1\t+\t2\t1\t3" if undone else b"1\t+\t2\t3\t3"
        replies = connection.ask_all(
            b"1\t+\t2\t9\t9",
            *group(b"1\t+\t2\t1\t1", b"1\t+\t2\t2\t2", last),
            b"1\t+\t2\t8\t8",
            *group(b"1\t+\t2\t7\t7"),
        )
    assert replies[0] == OK and replies[5:] == [GROUP if undone else OK, OK, OK, OK, OK]
    rows = server.sql("SELECT * FROM app.t ORDER BY id")
    assert [row[0] for row in rows] == ([7, 8, 9] if undone else [1, 2, 3, 7, 8, 9])
    assert replayed(server, start, tmp_path).sql("SELECT * FROM app.t ORDER BY id") == rows


def test_a_table_that_takes_numbers_from_a_sequence_is_written_to_in_a_group(
    server: RowSocketServer, database: Database
) -> None:
    """A number that is missing after a rollback does no harm."""
    database.sql("CREATE SEQUENCE s")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT NEXTVAL(s))")
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "id") == [b"0", b"1"]
        assert connection.ask_all(*group(b"1\t+\t1\t1", b"1\t+\t1\t2")) == [OK] * 4
    assert database.sql("SELECT id, n FROM t") == [(1, 1), (2, 2)]


def test_what_a_group_needs_of_its_transaction_ends_with_it(
    server: RowSocketServer, database: Database
) -> None:
    """Several statements share a snapshot. Writes that need none lock no gaps between rows, also those that
    come with the group."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, isolation VARCHAR(30))")
    database.sql(
        "CREATE TRIGGER notes BEFORE INSERT ON t FOR EACH ROW SET NEW.isolation = @@SESSION.tx_isolation"
    )
    with server.raw("write") as wire:
        assert wire.tokens("P", 1, database.name, "t", "", "id") == [b"0", b"1"]
        of_several = group(b"1\t+\t1\t2", b"1\t+\t1\t3")
        for requests in ((b"1\t+\t1\t1",), (*of_several, b"1\t+\t1\t4"), (b"1\t+\t1\t5",)):
            assert wire.ask_all(*requests) == [OK] * len(requests)
    isolations = [row[0] for row in database.sql("SELECT isolation FROM t ORDER BY id")]
    in_group = ["REPEATABLE-READ"] * 2
    assert isolations == ["READ-COMMITTED", *in_group, "READ-COMMITTED", "READ-COMMITTED"]


def test_finds_in_a_table_with_values_of_the_session_and_in_one_of_aria_are_a_group(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE owned (id INT PRIMARY KEY, owner VARCHAR(99) DEFAULT (CURRENT_USER()))")
    database.sql("CREATE TABLE of_aria (id INT PRIMARY KEY) ENGINE=Aria")
    name = database.name.encode()
    with server.raw("write") as wire:
        opened = [b"P\t1\t%s\towned\t\tid" % name, b"P\t2\t%s\tof_aria\t\tid" % name]
        assert wire.ask_all(*opened) == [b"0\t1"] * 2
        replies = wire.ask_all(*group(b"2\t=\t1\t1", b"1\t=\t1\t1"))
    assert replies == [OK, b"0\t1", b"0\t1", OK]
