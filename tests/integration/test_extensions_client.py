# SPDX-License-Identifier: GPL-2.0-only
"""The extensions through the Python client, against a real server: what each gives, and what it leaves in the
table."""

from __future__ import annotations

import asyncio
import datetime

import pytest

import rowsocket
from rowsocket import NOW, Connection, Filter, Index, Inserted, TextRow, aio
from support.mariadb import Database, RowSocketServer


@pytest.fixture
def accounts(database: Database, writer: Connection) -> Index[TextRow]:
    """Accounts 1, 2 and 3 with 100 each, opened with their balance as first column."""
    database.sql(
        "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, version INT NOT NULL DEFAULT 1)"
    )
    database.sql("INSERT INTO account (id, balance) VALUES (1, 100), (2, 100), (3, 100)")
    return writer.open_index(
        database.name, "account", ["balance", "id"], filter_columns=["version", "balance"]
    )


@pytest.fixture
def messages(database: Database, writer: Connection) -> Index[TextRow]:
    """Five messages of each of three friends, by friend and time."""
    database.sql("CREATE TABLE message (friend INT, sent INT, body VARCHAR(20), PRIMARY KEY (friend, sent))")
    database.sql(
        "INSERT INTO message SELECT f.seq, s.seq, CONCAT(f.seq, '/', s.seq) FROM seq_1_to_3 f, seq_1_to_5 s"
    )
    return writer.open_index(database.name, "message", ["body"])


def balances(database: Database) -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in database.sql("SELECT id, balance FROM account ORDER BY id")]


# ── reads ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_latest_of_each_of_several_friends(messages: Index[TextRow]) -> None:
    latest = messages.find_in([3, 1], limit_per_value=2, reverse=True)
    assert latest == [("3/5",), ("3/4",), ("1/5",), ("1/4",)]


def test_a_range_with_two_ends(messages: Index[TextRow]) -> None:
    assert messages.find((2, 2), ">=", to=("<", (2, 4)), limit=None) == [("2/2",), ("2/3",)]
    assert messages.find((2, 4), ">=", to=("<=", 2), limit=None, reverse=True) == [("2/5",), ("2/4",)]


def test_keys_columns_and_counts(messages: Index[TextRow]) -> None:
    assert messages.find_keys([(1, 2), (9, 9), (3, 4)], columns="sent,body") == [("2", "1/2"), ("4", "3/4")]
    assert messages.as_dicts().get(1, 2, columns=["sent"]) == {"sent": "2"}
    assert messages.count(1) == 5
    assert messages.count(0, ">") == 15
    assert messages.count(0, ">", limit=4) == 4


def test_text_that_begins_so(database: Database, writer: Connection) -> None:
    database.sql("CREATE TABLE name (n VARCHAR(20) PRIMARY KEY) CHARSET=utf8mb4")
    database.sql("INSERT INTO name VALUES ('Jo'), ('john'), ('J%'), ('Kim')")
    names = writer.open_index(database.name, "name", "n")
    assert names.starts_with("jO") == [("Jo",), ("john",)]
    assert names.starts_with("J%") == [("J%",)]
    assert names.count("J", "^=") == 3


# ── changes ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_counter_gives_its_new_value(accounts: Index[TextRow]) -> None:
    assert accounts.increment_and_fetch(1, 5, columns="balance") == [("105",)]
    assert accounts.decrement_and_fetch(1, 100, columns="balance") == [("5",)]
    assert accounts.decrement_and_fetch(1, 6) == [], "left alone: it would cross zero"
    assert accounts.update_and_fetch(1, [7]) == [("7", "1")]


def test_compare_and_set_changes_a_row_that_still_is_as_expected(
    accounts: Index[TextRow], database: Database
) -> None:
    assert accounts.compare_and_set(
        1, {"version": 1, "balance": 100}, [50, 2], columns=["balance", "version"]
    )
    assert not accounts.compare_and_set(1, {"version": 1}, [0, 3], columns=["balance", "version"])
    assert balances(database) == [(1, 50), (2, 100), (3, 100)]


def test_changes_by_keys(accounts: Index[TextRow], messages: Index[TextRow], database: Database) -> None:
    assert accounts.update_keys([1, 3, 9], [0]) == 2
    assert balances(database) == [(1, 0), (2, 100), (3, 0)]
    assert messages.delete_keys([(1, 1), (2, 2), (9, 9)]) == 2
    assert messages.count(0, ">") == 13


# ── inserts ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_rows_with_a_choice_where_one_is_there(database: Database, writer: Connection) -> None:
    database.sql(
        "CREATE TABLE page (id INT AUTO_INCREMENT PRIMARY KEY, url VARCHAR(20) UNIQUE, visits INT NOT NULL)"
    )
    pages = writer.open_index(database.name, "page", ["url", "visits"])
    assert [one.id for one in pages.insert_many([["/a", 1], ["/b", 1]])] == [1, 2]
    with pytest.raises(rowsocket.DuplicateKey):
        pages.insert_many([["/c", 1], ["/a", 1]])
    counted = pages.insert_many([["/a", 3], ["/d", 1]], add="visits")
    assert counted[0] == Inserted("changed", 1, None)
    assert counted[1].outcome == "inserted"
    assert pages.insert_ignore(["/a", 9]) == Inserted("unchanged", 1, None)
    assert pages.upsert({"url": "/b", "visits": 7}) == Inserted("changed", 2, None)
    assert pages.replace(["/b", 8]).outcome == "changed"
    assert database.sql("SELECT url, visits FROM page ORDER BY url") == [("/a", 4), ("/b", 8), ("/d", 1)]


def test_rows_each_for_itself(accounts: Index[TextRow], database: Database) -> None:
    outcomes = accounts.insert_many([[5, 4], [5, 1], ["x", 6], [5, 7]], each=True)
    assert [one.outcome for one in outcomes] == ["inserted", "failed", "failed", "inserted"]
    assert isinstance(outcomes[1].error, rowsocket.DuplicateKey)
    assert isinstance(outcomes[2].error, rowsocket.InvalidValue)
    assert balances(database) == [(1, 100), (2, 100), (3, 100), (4, 5), (7, 5)]


def test_now_is_one_time_for_all_rows(database: Database, writer: Connection) -> None:
    database.sql(
        "CREATE TABLE seen (id INT PRIMARY KEY, at DATETIME(6), noted DATETIME(6) DEFAULT"
        " CURRENT_TIMESTAMP(6))"
    )
    seen = writer.open_index(database.name, "seen", ["id", "at"], filter_columns=["at"])
    seen.insert_many([[1, NOW], [2, NOW], [3, datetime.datetime(2099, 1, 1)]])
    assert database.value("SELECT COUNT(DISTINCT at) FROM seen WHERE at = noted") == 1
    assert [row[0] for row in seen.find(0, ">", limit=None, filters=[Filter("at", "<=", NOW)])] == ["1", "2"]


# ── groups ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_group_commits_as_one_and_says_its_gtid(
    accounts: Index[TextRow], writer: Connection, server: RowSocketServer, database: Database
) -> None:
    with writer.group(must=True, gtid=True) as group:
        group.decrement(accounts, 1, 100)
        group.increment(accounts, 2, 100)
        seen = group.get(accounts, 2)
    assert seen.result() == ("200", "2")
    assert group.gtid == server.value("SELECT @@GLOBAL.gtid_binlog_pos")
    assert balances(database) == [(1, 0), (2, 200), (3, 100)]


def test_a_group_that_reads_only_has_no_gtid(accounts: Index[TextRow], writer: Connection) -> None:
    with writer.group(gtid=True) as group:
        row = group.get(accounts, 1)
    assert (row.result(), group.gtid) == (("100", "1"), None)


def test_a_group_of_which_one_request_fails_does_nothing(
    accounts: Index[TextRow], writer: Connection, database: Database
) -> None:
    with pytest.raises(rowsocket.NothingChanged), writer.group(must=True) as group:
        given = group.increment(accounts, 2, 101)
        group.decrement(accounts, 1, 101)
    assert isinstance(given.error, rowsocket.UndoneWithGroup)
    with pytest.raises(rowsocket.DuplicateKey), writer.group() as group:
        group.insert(accounts, [5, 4])
        group.insert(accounts, [5, 1])
    assert balances(database) == [(1, 100), (2, 100), (3, 100)]
    assert accounts.get(1) == ("100", "1"), "the connection is good"


def test_a_group_of_too_many_requests_is_refused_and_each_line_answered(
    accounts: Index[TextRow], writer: Connection
) -> None:
    with pytest.raises(rowsocket.RequestError, match="fldnum"), writer.group() as group:
        reads = [group.get(accounts, 1) for _ in range(1025)]
    assert all(isinstance(read.error, rowsocket.RequestError) for read in reads)
    assert accounts.get(1) == ("100", "1"), "the connection is good"


def test_the_largest_group(accounts: Index[TextRow], writer: Connection, database: Database) -> None:
    with writer.group(must=True) as group:
        for _ in range(1024):
            group.increment(accounts, 1)
    assert group.results() == [1] * 1024
    assert balances(database)[0] == (1, 1124)


def test_a_table_without_transactions_is_no_part_of_a_group(database: Database, writer: Connection) -> None:
    database.sql("CREATE TABLE log (id INT PRIMARY KEY) ENGINE=MyISAM")
    log = writer.open_index(database.name, "log", "id")
    with pytest.raises(rowsocket.NoTransactions), writer.group() as group:
        group.insert(log, [1])
    assert log.count(0, ">") == 0


def test_many_transfers_at_once_lose_nothing(
    accounts: Index[TextRow], database: Database, server: RowSocketServer
) -> None:
    """Groups over the same rows in opposite orders: those that a deadlock undid say that they can be tried
    again."""

    async def transfer(pool: aio.ConnectionPool, source: int, target: int) -> None:
        index = await pool.open_index(database.name, "account", ["balance"])
        while True:
            try:
                async with pool.group(must=True) as group:
                    group.decrement(index, source, 1)
                    group.increment(index, target, 1)
                return
            except rowsocket.ServerError as error:
                if isinstance(error, rowsocket.NothingChanged):
                    return
                assert error.retryable, error

    async def main() -> None:
        host, port = server.write_address()
        async with aio.ConnectionPool(host, port, max_size=8, text=True) as pool:
            await asyncio.gather(
                *(transfer(pool, 1 + i % 3, 1 + (i + 1 + i // 3 % 2) % 3) for i in range(300))
            )

    asyncio.run(main())
    assert sum(balance for _, balance in balances(database)) == 300
