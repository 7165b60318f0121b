# SPDX-License-Identifier: GPL-2.0-only
"""information_schema.ROWSOCKET_TABLES, _LATENCY and _PERCENTILES: exact, for who may see them, and reset."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from decimal import Decimal

import pymysql
import pytest

from support.accounts import account
from support.load import Load, Operation
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, RowSocketServer, Start
from support.plugin import changed, make_table, opened
from support.schema_tables import flush, of_table, rows, seen, session_of

KINDS = ("FINDS", "INSERTS", "UPDATES", "DELETES", "INCREMENTS")
FIND = b"1\t=\t1\t1"
ROW = b"0\t2\t1\tone"


@pytest.fixture
def counted(server: RowSocketServer, database: Database) -> Iterator[Database]:
    """A database with a table; requests are counted and timed."""
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 0, KEY by_v (v))")
    with changed(server, request_times=1):
        yield database


def where(database: Database) -> str:
    return f"TABLE_SCHEMA = '{database.name}'"


def test_counts_are_exact(server: RowSocketServer, counted: Database) -> None:
    name = counted.name.encode()
    with server.raw("write") as client:
        client.ask_all(b"P\t1\t%s\tt\t\tk,v,n" % name, b"P\t2\t%s\tt\tby_v\tk" % name)
        client.ask_all(
            *(b"1\t+\t3\t%d\tx\t1" % k for k in range(5)),
            b"1\t+\t3\t0\tagain\t1",
            b"1\t>=\t1\t0\t3\t1",
            b"1\t=\t1\t\t9\t0\t@\t0\t2\t1\t2",
            b"1\t=\t1\t1\t1\t0\tU\t1\ty\t5",
            b"1\t=\t1\t2\t1\t0\t+\t0\t\t5",
            b"1\t=\t1\t4\t1\t0\tD",
            b"2\t=\t1\tx\t10\t0",
        )
    row = of_table(server, counted.name, "t")
    assert {kind: row[kind] for kind in KINDS} == {
        "FINDS": 2,
        "INSERTS": 6,
        "UPDATES": 1,
        "DELETES": 1,
        "INCREMENTS": 1,
    }
    assert row["ROWS_CHANGED"] == 8
    assert row["ROWS_SENT"] == 3 + 2
    assert row["ROWS_EXAMINED"] == 4 + 2 + 1 + 1 + 1
    assert row["ERRORS"] == 1
    assert row["ERROR_CODES"] == "engine=1"
    assert row["TIME_US"] > 0
    by_v = of_table(server, counted.name, "t", "by_v")
    assert (by_v["FINDS"], by_v["ROWS_SENT"], by_v["ROWS_EXAMINED"]) == (1, 3, 3)
    assert len(seen(server, "TABLES", where(counted))) == 2


def test_an_index_has_one_row_however_it_is_named(server: RowSocketServer, counted: Database) -> None:
    name = counted.name.encode()
    with server.raw("read") as client:
        for number, index in enumerate([b"", b"PRIMARY", b"primary", b"0"]):
            client.ask_all(b"P\t%d\t%s\tt\t%s\tk" % (number, name, index), b"%d\t=\t1\t1" % number)
    [row] = seen(server, "TABLES", where(counted))
    assert (row["INDEX_NAME"], row["FINDS"]) == ("PRIMARY", 4)


def test_members_of_a_group_are_counted(server: RowSocketServer, counted: Database) -> None:
    with server.raw("write") as client:
        opened(client, counted.name, "k,v,n")
        client.send(b"G\n1\t+\t3\t1\ta\t1\n1\t+\t3\t2\tb\t1\n1\t=\t1\t1\nE\n")
        client.lines(5)
        client.send(b"G\n1\t+\t3\t3\tc\t1\n1\t+\t3\t1\td\t1\nE\n")
        client.lines(4)
    row = of_table(server, counted.name, "t")
    assert (row["INSERTS"], row["FINDS"], row["ROWS_CHANGED"]) == (4, 1, 2)
    assert row["ERROR_CODES"] == "engine=1 undone_with_group=1"


def test_histograms_add_up_to_the_counts(server: RowSocketServer, counted: Database) -> None:
    name = counted.name.encode()
    with server.raw("write") as client, server.raw("read") as reader:
        opened(client, counted.name, "k,v,n")
        client.ask_all(*(b"1\t+\t3\t%d\tx\t1" % k for k in range(300)))
        reader.ask(b"P\t1\t%s\tt\t\tk" % name)
        reader.ask_all(*(b"1\t=\t1\t%d" % k for k in range(500)))
    row = of_table(server, counted.name, "t")
    assert (row["INSERTS"], row["FINDS"]) == (300, 500)
    buckets = seen(server, "LATENCY", where(counted))
    sums = {
        operation: sum(one["REQUESTS"] for one in buckets if one["OPERATION"] == operation)
        for operation in ("insert", "find")
    }
    assert sums == {"insert": 300, "find": 500}
    for operation in sums:
        bounds = [one["BELOW_US"] for one in buckets if one["OPERATION"] == operation]
        assert bounds == sorted(set(bounds))
    for summary in seen(server, "PERCENTILES", where(counted)):
        assert summary["REQUESTS"] == sums[summary["OPERATION"]]
        steps = [summary[f"{one}_US"] for one in ("P50", "P95", "P99", "P99_9", "MAX")]
        assert steps == sorted(steps) and steps[0] > 0
        assert steps[0] <= summary["MAX_US"] and 0 < summary["AVERAGE_US"] <= summary["MAX_US"]
    total = sum(one["AVERAGE_US"] * one["REQUESTS"] for one in seen(server, "PERCENTILES", where(counted)))
    assert abs(total - row["TIME_US"]) < Decimal(1)


def test_a_wait_for_a_lock_is_part_of_the_time(server: RowSocketServer, counted: Database) -> None:
    counted.sql("INSERT INTO t VALUES (1, 'one', 0)")
    with server.raw("write") as client, counted.session() as holder:
        opened(client, counted.name, "n")
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM t WHERE k = 1 FOR UPDATE")
        client.send(b"1\t=\t1\t1\t1\t0\t+\t1\n")
        wait_for_a_row_lock_wait(server)
        holder.execute("SELECT SLEEP(0.2)")
        holder.execute("COMMIT")
        assert client.line() == b"0\t1\t1"
    [summary] = seen(server, "PERCENTILES", where(counted))
    assert summary["OPERATION"] == "increment"
    assert summary["MAX_US"] > 200_000
    assert of_table(server, counted.name, "t")["TIME_US"] > 200_000


def test_flush_begins_at_0_and_each_table_is_reset_by_itself(
    server: RowSocketServer, counted: Database
) -> None:
    with server.raw("read") as client:
        opened(client, counted.name)
        client.ask_all(*[FIND] * 7)
        flush(server, "TABLES")
        assert seen(server, "TABLES", where(counted)) == []
        [summary] = seen(server, "PERCENTILES", where(counted))
        assert summary["REQUESTS"] == 7
        client.ask_all(*[FIND] * 3)
        assert of_table(server, counted.name, "t")["FINDS"] == 3
        flush(server, "LATENCY")
        assert seen(server, "LATENCY", where(counted)) == seen(server, "PERCENTILES", where(counted)) == []
        assert of_table(server, counted.name, "t")["FINDS"] == 3
        client.ask(FIND)
        flush(server, "PERCENTILES")
        assert seen(server, "LATENCY", where(counted)) == []
    assert int(server.counter("requests_find")) >= 11  # status values know no FLUSH


def test_flush_is_of_this_server_alone(server: RowSocketServer) -> None:
    """A replica without RowSocket could not read it."""
    before = server.sql("SHOW MASTER STATUS")[0][:2]
    for table in ("TABLES", "LATENCY", "PERCENTILES"):
        server.sql(f"FLUSH ROWSOCKET_{table}")
    assert server.sql("SHOW MASTER STATUS")[0][:2] == before


def test_flush_needs_the_privilege_that_the_server_asks_for(server: RowSocketServer) -> None:
    with (
        account(server, "ann@localhost"),
        session_of(server, "ann") as session,
        session.cursor() as cursor,
        pytest.raises(pymysql.err.OperationalError, match="RELOAD"),
    ):
        cursor.execute("FLUSH ROWSOCKET_TABLES")


@pytest.mark.parametrize(
    ("grant", "sees"),
    [
        (None, False),
        ("USAGE ON *.*", False),
        ("PROCESS ON *.*", False),
        ("SELECT ON {}.u", False),
        ("SELECT ON {}.t", True),
        ("INSERT ON {}.t", True),
        ("SELECT (v) ON {}.t", True),
        ("UPDATE ON {}.*", True),
        ("DELETE ON *.*", True),
    ],
)
def test_an_account_sees_the_tables_on_which_it_has_rights(
    server: RowSocketServer, counted: Database, grant: str | None, sees: bool
) -> None:
    counted.sql("CREATE TABLE u (k INT)")
    with server.raw("read") as client:
        opened(client, counted.name).ask(FIND)
    grants = [] if grant is None else [grant.format(counted.name)]
    with account(server, "ann@localhost", grants=grants), session_of(server, "ann") as session:
        for table in ("TABLES", "LATENCY", "PERCENTILES"):
            assert bool(rows(session, table, where(counted))) == sees, table
        shown = "SELECT 1 FROM information_schema.tables WHERE table_schema = %s AND table_name = 't'"
        with session.cursor() as cursor:  # as the server itself decides
            assert bool(cursor.execute(shown, [counted.name])) == sees


def test_by_default_requests_are_counted_and_not_timed(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    with server.raw("read") as client:
        opened(client, database.name).ask(FIND)
    row = of_table(server, database.name, "t")
    assert (row["FINDS"], row["TIME_US"]) == (1, 0)
    assert seen(server, "LATENCY", where(database)) == seen(server, "PERCENTILES", where(database)) == []


def test_nothing_is_counted_while_it_is_switched_off(server: RowSocketServer, counted: Database) -> None:
    with server.raw("read") as client:
        opened(client, counted.name)
        with changed(server, statistics=0):
            client.ask_all(*[FIND] * 5)
            assert seen(server, "TABLES", where(counted)) == []
        client.ask_all(*[FIND] * 2)
    assert of_table(server, counted.name, "t")["FINDS"] == 2


def test_a_table_that_is_gone_is_shown_until_it_is_flushed(
    server: RowSocketServer, counted: Database
) -> None:
    with server.raw("read") as client:
        opened(client, counted.name).ask(FIND)
    counted.sql("DROP TABLE t")
    assert of_table(server, counted.name, "t")["FINDS"] == 1
    flush(server, "TABLES")
    assert seen(server, "TABLES", where(counted)) == []


def test_more_tables_than_a_thread_remembers_are_all_counted(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-read": 1})
    server.sql("CREATE DATABASE d")
    count = 300
    for number in range(count):
        server.sql(f"CREATE TABLE d.t{number} (k INT PRIMARY KEY) ENGINE=MEMORY")
    with server.raw("read") as client:
        for number in range(count):
            assert client.ask(b"P\t%d\td\tt%d\t\tk" % (number, number)) == b"0\t1"
        for _ in range(3):
            client.ask_all(*(b"%d\t=\t1\t1" % number for number in range(count)))
    shown = {row["TABLE_NAME"]: row["FINDS"] for row in seen(server, "TABLES")}
    assert shown == {f"t{number}": 3 for number in range(count)}


def test_readers_and_resets_disturb_no_client_and_no_count(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-request-times": 1})
    make_table(server)

    def make(number: int, stack: contextlib.ExitStack) -> Operation:
        client = opened(stack.enter_context(server.raw("read")))

        def ask() -> None:
            assert client.ask_all(*[FIND] * 16) == [ROW] * 16

        return ask

    with Load(4, make) as load:
        for _ in range(20):
            load.wait_for_more()
            for table in ("CONNECTIONS", "TABLES", "LATENCY", "PERCENTILES"):
                seen(server, table)
            flush(server, "LATENCY")
    finds = server.counter("requests_find")
    assert of_table(server, "app", "t")["FINDS"] == finds
