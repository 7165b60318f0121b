# SPDX-License-Identifier: GPL-2.0-only
"""Requests of one turn share a statement of the server, and those for one table its row events in the binlog.

Nobody can tell by the rows: a request that fails takes back itself and nothing else. The requests of a test
are sent at once, so that they are one turn.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import pytest

from support.binlog import assert_binlog_equals_tables
from support.gate import standing_still
from support.mariadb import RowSocketServer, Start
from support.raw import RawConnection

OPTIONS = {"max-binlog-cache-size": "16K", "binlog-cache-size": "4K", "binlog-row-event-max-size": "4K"}


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    server = start(RowSocketServer, OPTIONS)
    server.sql("CREATE DATABASE app")
    for name in ("t", "other"):
        server.sql(
            f"""CREATE TABLE app.{name} (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0,
            u INT UNIQUE, text LONGTEXT, CHECK (n < 100)) ENGINE=InnoDB"""
        )
    server.sql("FLUSH BINARY LOGS")
    return server


@pytest.fixture
def client(server: RowSocketServer) -> Iterator[RawConnection]:
    with server.raw("write") as client:
        assert (
            client.ask_all(b"P\t1\tapp\tt\t\tid,n,u,text", b"P\t2\tapp\tt\t\tn", b"P\t3\tapp\tother\t\tid")
            == [b"0\t1"] * 3
        )
        yield client


def row_events(server: RowSocketServer) -> list[str]:
    """The types of the events that say which rows were changed, in their order."""
    log = server.sql("SHOW BINARY LOGS")[-1][0]
    events = [str(event) for (_, _, event, *_) in server.sql(f"SHOW BINLOG EVENTS IN '{log}'")]
    return [event for event in events if event == "Table_map" or "_rows_" in event]


def replays(server: RowSocketServer) -> int:
    return int(server.status("Rowsocket_replays")["Rowsocket_replays"])


def rows(server: RowSocketServer) -> list[tuple[object, ...]]:
    return list(server.sql("SELECT id, n, u FROM app.t ORDER BY id"))


def test_inserts_of_one_turn_are_one_row_event(server: RowSocketServer, client: RawConnection) -> None:
    assert client.ask_all(*(b"1\t+\t2\t%d\t7" % number for number in range(20))) == [b"0\t1"] * 20
    assert row_events(server) == ["Table_map", "Write_rows_v1"]
    assert rows(server) == [(number, 7, None) for number in range(20)]


def test_inserts_updates_and_deletes_share_a_statement(
    server: RowSocketServer, client: RawConnection
) -> None:
    replies = client.ask_all(b"1\t+\t1\t1", b"2\t=\t1\t1\t1\t0\t+\t5", b"1\t+\t1\t2", b"1\t=\t1\t2\t1\t0\tD")
    assert replies == [b"0\t1", b"0\t1\t1", b"0\t1", b"0\t1\t1"]
    assert row_events(server) == [
        "Table_map",
        "Write_rows_v1",
        "Update_rows_v1",
        "Write_rows_v1",
        "Delete_rows_v1",
    ]
    assert rows(server) == [(1, 5, None)]


def test_another_table_and_a_group_each_end_the_row_events_and_a_read_does_not(
    server: RowSocketServer, client: RawConnection
) -> None:
    insert = iter(b"1\t+\t1\t%d" % number for number in range(9))
    between = [b"3\t+\t1\t1", b"1\t=\t1\t0", b"G\n" + next(insert) + b"\nE"]
    replies = client.ask_all(next(insert), between[0], next(insert), between[1], next(insert))
    assert replies == [b"0\t1", b"0\t1", b"0\t1", b"0\t4", b"0\t1"]
    client.send(next(insert) + b"\n" + between[2] + b"\n" + next(insert) + b"\n")
    assert client.lines(5) == [b"0\t1"] * 5
    assert row_events(server) == ["Table_map", "Write_rows_v1"] * 6


def test_two_tables_with_children_are_changed_in_one_turn_and_free_for_ddl_behind_it(
    server: RowSocketServer, client: RawConnection
) -> None:
    """Each is opened with its child, beside those that are open."""
    for table in ("t", "other"):
        server.sql(f"INSERT INTO app.{table} (id) VALUES (1), (2)")
        key = f"FOREIGN KEY (id) REFERENCES app.{table} (id) ON DELETE CASCADE"
        server.sql(f"CREATE TABLE app.child_of_{table} (id INT PRIMARY KEY, {key})")
        server.sql(f"INSERT INTO app.child_of_{table} VALUES (1), (2)")
    requests = (b"1\t=\t1\t1\t1\t0\tD", b"3\t=\t1\t1\t1\t0\tD")
    assert client.ask_all(*requests) == [b"0\t1\t1"] * 2
    for table in ("t", "child_of_t", "other", "child_of_other"):
        assert server.sql(f"SELECT id FROM app.{table}") == [(2,)]
        server.sql(f"ALTER TABLE app.{table} WAIT 60 ADD COLUMN after_it INT")


FAILURES = {
    "a duplicate key": (b"1\t+\t1\t1", b"1\t1\t121"),
    "a duplicate of another unique key": (b"1\t+\t3\t9\t0\t5", b"1\t1\t121"),
    "a constraint": (b"1\t+\t2\t9\t100", b"1\t1\t4025"),
    "an update against a constraint": (b"2\t=\t1\t1\t1\t0\t+\t100", b"1\t1\t4025"),
    "a change against a unique key": (b"1\t=\t1\t1\t1\t0\tU\t1\t0\t6", b"1\t1\t121"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_request_that_fails_takes_nothing_of_the_others_with_it(
    server: RowSocketServer, client: RawConnection, failure: str
) -> None:
    request, reply = FAILURES[failure]
    replies = client.ask_all(b"1\t+\t3\t1\t0\t5", b"1\t+\t3\t2\t0\t6", request, b"1\t+\t3\t3\t0\t7")
    assert replies == [b"0\t1", b"0\t1", reply, b"0\t1"]
    assert rows(server) == [(1, 0, 5), (2, 0, 6), (3, 0, 7)]
    assert row_events(server) == ["Table_map", "Write_rows_v1"]
    assert replays(server) == 0


def test_a_request_for_many_rows_that_fails_half_way_is_undone_alone(
    server: RowSocketServer, client: RawConnection
) -> None:
    replies = client.ask_all(
        b"1\t+\t2\t1\t50", b"1\t++\t2\t2\t2\t0\t1\t0", b"2\t>=\t1\t0\t9\t0\t+\t50", b"1\t+\t2\t3\t0"
    )
    assert [reply.split(b"\t")[0] for reply in replies] == [b"0", b"1", b"1", b"0"]
    assert rows(server) == [(1, 50, None), (3, 0, None)]
    assert row_events(server) == ["Table_map", "Write_rows_v1"] * 2
    assert replays(server) == 0


def test_of_requests_that_do_not_fit_into_the_binlog_cache_together_those_are_done_that_fit_alone(
    server: RowSocketServer, client: RawConnection
) -> None:
    """Whose rows the cache refused can not be told from the shared event, so each runs again, in a
    transaction of its own."""
    text = b"x" * 4_000
    inserts = [b"1\t+\t4\t%d\t0\t\0\t%s" % (number, text) for number in range(12)]
    many = b"1\t++\t4\t9\t" + b"\t".join(b"%d\t0\t\0\t%s" % (number, text) for number in range(10, 19))
    replies = client.ask_all(*inserts[:3], many, *inserts[3:])
    assert replies[:3] + replies[4:] == [b"0\t1"] * 12
    assert replies[3].startswith(b"1\t1\t")
    assert [row[0] for row in rows(server)] == list(range(12))
    assert replays(server) > 0


def test_where_the_shared_statement_can_not_end_its_requests_run_again(start: Start) -> None:
    """In one of these turns the binlog cache has room for the row events that are written, and none for the
    last one, which is written when the statement ends."""
    small = {"max-binlog-cache-size": 4096, "binlog-cache-size": 4096, "binlog-row-event-max-size": 1024}
    server = start(RowSocketServer, small)
    server.sql("CREATE DATABASE app")
    with server.raw("write") as client:
        for count in range(4, 20):
            server.sql("CREATE OR REPLACE TABLE app.t (id INT PRIMARY KEY, text TEXT) ENGINE=InnoDB")
            assert client.ask_all(b"P\t1\tapp\tt\t\tid,text") == [b"0\t1"]
            inserts = [b"1\t+\t2\t%d\t%s" % (number, b"x" * 900) for number in range(count)]
            assert client.ask_all(*inserts) == [b"0\t1"] * count
            assert server.sql("SELECT COUNT(*) FROM app.t") == [(count,)]
    assert replays(server) > 0
    assert_binlog_equals_tables(server)


def test_a_request_with_a_trigger_hears_nothing_of_the_cache_that_others_have_filled(start: Start) -> None:
    """The end of the shared statement was refused; then the first request that ran again was refused, too."""
    small = {"max-binlog-cache-size": 4096, "binlog-cache-size": 4096, "binlog-row-event-max-size": 1024}
    server = start(RowSocketServer, {**small, "rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (id INT PRIMARY KEY AUTO_INCREMENT, text TEXT) ENGINE=InnoDB")
    server.sql("CREATE TABLE app.triggers (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
    server.sql("INSERT INTO app.triggers VALUES (1, 0)")
    server.sql("CREATE TRIGGER app.any AFTER UPDATE ON app.triggers FOR EACH ROW SET @any = 1")
    with contextlib.ExitStack() as stack:
        one, *others = (stack.enter_context(server.raw("write")) for _ in range(14))
        assert one.ask(b"P\t1\tapp\ttriggers\t\tn") == b"0\t1"
        assert [other.ask(b"P\t1\tapp\tt\t\ttext") for other in others] == [b"0\t1"] * len(others)
        for size, count in itertools.product((760, 800, 840, 880), (9, 10, 11, 12, 13)):
            with standing_still(server):  # so that all come in one turn
                one.send(b"1\t=\t1\t1\t1\t0\t+\t1\n")
                for other in others[:count]:
                    other.send(b"1\t+\t1\t" + b"x" * size + b"\n")
            assert one.line() == b"0\t1\t1"
            assert all(other.line().startswith(b"0\t1") for other in others[:count])
    assert replays(server) > 0


CLOCKS = {
    "a default": "n DATETIME(6) DEFAULT NOW(6)",
    "an expression": "n DATETIME(6) DEFAULT (NOW(6) + INTERVAL 0 SECOND)",
    "date and time of day": "n DATETIME(6) DEFAULT (TIMESTAMP(CURDATE(), CURTIME(6)))",
    "in UTC": "n DATETIME(6) DEFAULT (CONVERT_TZ(UTC_TIMESTAMP(6), '+00:00', 'SYSTEM'))",
    "of a parent": "n DATETIME(6) DEFAULT NOW(6)",
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_each_request_has_its_own_time(server: RowSocketServer, clock: str) -> None:
    """The server keeps NOW() in an expression for a statement. (In a TIMESTAMP it does not.)"""
    server.sql(f"""
        CREATE TABLE app.p (id INT PRIMARY KEY, moment TIMESTAMP(6) DEFAULT NOW(6), {CLOCKS[clock]})
    """)
    if clock == "of a parent":
        server.sql("""
            CREATE TABLE app.child (
              id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES app.p (id) ON DELETE CASCADE)
        """)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tp\t\tid") == b"0\t1"
        assert client.ask_all(*(b"1\t+\t1\t%d" % number for number in range(20))) == [b"0\t1"] * 20
    ((moments, others),) = server.sql("SELECT COUNT(DISTINCT moment), SUM(moment <> n) FROM app.p")
    assert (others, moments > 1) == (0, True)


VALUES = {"of a variable": ("@@timestamp", 20), "of a sequence of numbers": ("RAND(7)", 1)}


@pytest.mark.parametrize("in_group", [False, True], ids=["alone", "in a group"])
@pytest.mark.parametrize("value", VALUES)
def test_each_request_has_its_own_values_of_the_session(
    server: RowSocketServer, value: str, in_group: bool
) -> None:
    expression, values = VALUES[value]
    server.sql(f"CREATE TABLE app.p (id INT PRIMARY KEY, n DOUBLE DEFAULT ({expression}))")
    requests = [b"1\t+\t1\t%d" % number for number in range(20)]
    if in_group:
        requests = [b"G", *requests, b"E"]
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tp\t\tid") == b"0\t1"
        assert client.ask_all(*requests) == [b"0\t1"] * len(requests)
    assert server.sql("SELECT COUNT(DISTINCT n) FROM app.p") == [(values,)]


def test_a_read_behind_a_write_has_its_own_time(server: RowSocketServer) -> None:
    server.sql("CREATE TABLE app.p (id INT PRIMARY KEY, n DATETIME(6) AS (NOW(6)))")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tp\t\tid,n") == b"0\t1"
        replies = client.ask_all(b"1\t+\t1\t1", b"1\t+\t1\t2", b"1\t=\t1\t1", b"1\t=\t1\t2")
    first, second = (reply.split(b"\t")[3] for reply in replies[2:])
    assert first < second
