# SPDX-License-Identifier: GPL-2.0-only
"""What the server's performance schema sees of RowSocket: its threads, what they do in tables and wait for,
and memory.
"""

from __future__ import annotations

import contextlib

import pytest

from support.accounts import PASSWORD, account, client
from support.gate import open_ids
from support.mariadb import Database, RowSocketServer, Start

HALF_A_REQUEST_BYTES = 4 * 2**20


@pytest.fixture
def watched(start: Start) -> RowSocketServer:
    return start(RowSocketServer, {"performance-schema": "ON", "performance-schema-instrument": "%=ON"})


def test_the_performance_schema_sees_workers_and_their_table_io(start: Start) -> None:
    server = start(RowSocketServer, {"performance-schema": "ON"})
    database = Database(server, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2)")
    workers = "SELECT COUNT(*) FROM performance_schema.threads WHERE name = 'thread/rowsocket/worker'"
    assert server.value(workers) == server.value("SELECT @@rowsocket_threads_write") + server.value(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'rowsocket: read%'"
    )
    with server.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id"))
        server.sql("TRUNCATE TABLE performance_schema.table_io_waits_summary_by_table")
        wire.tokens(1, ">", 1, 0, 9, 0)
        wire.tokens(1, "+", 1, 3)
    query = (
        "SELECT count_fetch, count_insert FROM performance_schema.table_io_waits_summary_by_table WHERE"
        " object_name = 't'"
    )
    fetched, inserted = server.sql(query)[0]
    assert fetched >= 2
    assert inserted == 1


def test_waits_and_memory_of_the_server_count_for_workers_and_clients(watched: RowSocketServer) -> None:
    """What a request does counts for its client, and the turn's commit for the worker."""
    database = Database(watched, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2)")
    with watched.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id"))
        assert wire.tokens(1, "+", 1, 3) == [b"0", b"1"]
        assert counted(watched, "waits", "client", "= 'wait/io/table/sql/handler'") > 0
        assert counted(watched, "waits", "client", "LIKE 'wait/synch/%%/innodb/%%'") > 0
        assert counted(watched, "waits", "worker", "LIKE 'wait/synch/%%/innodb/%%'") > 0
        assert counted(watched, "memory", "worker", "LIKE 'memory/sql/%%'") > 0


def counted(server: RowSocketServer, what: str, kind: str, events: str) -> int:
    """How often threads of this kind did something: `waits`, or `memory` that was taken."""
    table, column = {
        "waits": ("events_waits_summary_by_thread_by_event_name", "count_star"),
        "memory": ("memory_summary_by_thread_by_event_name", "count_alloc"),
    }[what]
    return int(
        server.value(
            f"SELECT SUM({column}) FROM performance_schema.{table} JOIN performance_schema.threads USING"
            f" (thread_id) WHERE name = %s AND event_name {events}",
            [f"thread/rowsocket/{kind}"],
        )
    )


def table_waits(server: RowSocketServer, user: str) -> int:
    """How often an account's clients have asked a storage engine for something."""
    query = (
        "SELECT SUM(count_star) FROM performance_schema.events_waits_summary_by_account_by_event_name"
        " WHERE user = %s AND event_name = 'wait/io/table/sql/handler'"
    )
    return int(server.value(query, [user]) or 0)


def connections(server: RowSocketServer, user: str) -> list[tuple[str, int, int]]:
    """What the performance schema knows of an account's connections: host, current ones, all of them."""
    query = (
        "SELECT host, current_connections, total_connections FROM performance_schema.accounts"
        " WHERE user = %s ORDER BY host"
    )
    return [(str(host), int(current), int(total)) for host, current, total in server.sql(query, [user])]


@pytest.fixture
def shop(watched: RowSocketServer) -> Database:
    """A database with a table `t` of two rows, for accounts `ann` and `bob`."""
    database = Database(watched, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2)")
    for user in ("ann", "bob"):
        watched.sql(f"CREATE USER {user}@localhost IDENTIFIED BY '{PASSWORD}'")
        watched.sql(f"GRANT SELECT, INSERT ON d.t TO {user}@localhost")
    return database


def test_the_tables_by_account_know_who_is_connected(watched: RowSocketServer, shop: Database) -> None:
    with client(watched, "ann"), client(watched, "ann", port="read"), client(watched, "bob"):
        assert connections(watched, "ann") == [("localhost", 2, 2)]
        assert connections(watched, "bob") == [("localhost", 1, 1)]
        assert watched.sql(
            "SELECT processlist_user, processlist_host, type, COUNT(*) FROM performance_schema.threads"
            " WHERE name = 'thread/rowsocket/client' GROUP BY processlist_user ORDER BY 1"
        ) == [("ann", "localhost", "FOREGROUND", 2), ("bob", "localhost", "FOREGROUND", 1)]
        assert (
            watched.value(
                "SELECT COUNT(*) FROM performance_schema.threads JOIN"
                " information_schema.rowsocket_connections ON processlist_id = log_id AND"
                " account = CONCAT(processlist_user, '@', processlist_host)"
            )
            == 3
        )
    watched.wait_until("they are gone", lambda: connections(watched, "ann") == [("localhost", 0, 2)])


def test_what_requests_do_counts_for_their_own_account(watched: RowSocketServer, shop: Database) -> None:
    with client(watched, "ann") as ann, client(watched, "bob") as bob:
        open_ids(ann, shop, (1, "t", "id"))
        open_ids(bob, shop, (1, "t", "id"))
        before = table_waits(watched, "ann"), table_waits(watched, "bob")
        for number in range(10):
            assert ann.tokens(1, "+", 1, 10 + number) == [b"0", b"1"]
            assert ann.tokens(1, "=", 1, 1) == [b"0", b"1", b"1"]
            assert bob.tokens(1, "=", 1, 2) == [b"0", b"1", b"2"]
        assert table_waits(watched, "ann") - before[0] == 20
        assert table_waits(watched, "bob") - before[1] == 10
    watched.wait_until("they are gone", lambda: connections(watched, "bob") == [("localhost", 0, 1)])
    assert table_waits(watched, "ann") - before[0] == 20, "what they did stays"


def test_a_request_that_waits_for_a_row_counts_for_its_account(
    watched: RowSocketServer, shop: Database
) -> None:
    """It is tried several times, by several threads."""
    watched.sql("GRANT UPDATE ON d.t TO ann@localhost")
    holder = watched.connect(shop.name)
    with contextlib.closing(holder), client(watched, "ann") as ann, client(watched, "bob") as bob:
        holder.begin()
        holder.cursor().execute("SELECT * FROM t WHERE id = 1 FOR UPDATE")
        open_ids(ann, shop, (1, "t", "id"))
        open_ids(bob, shop, (1, "t", "id"))
        ann.send(b"1\t=\t1\t1\t1\t0\tU\t5\n")
        watched.wait_until("it waits", lambda: watched.counter("waited_alone") > 0)
        before = table_waits(watched, "bob")
        assert bob.tokens(1, "=", 1, 2) == [b"0", b"1", b"2"]
        holder.rollback()
        assert ann.line() == b"0\t1\t1"
        assert table_waits(watched, "bob") == before + 1
        assert table_waits(watched, "ann") > 0


def test_clients_that_name_no_account_are_those_of_the_anonymous_one(
    watched: RowSocketServer, shop: Database
) -> None:
    watched.sql("CREATE USER nameless@localhost ACCOUNT LOCK")
    watched.sql("GRANT SELECT ON d.t TO nameless@localhost")
    watched.sql("SET GLOBAL rowsocket_anonymous_account = 'nameless@localhost'")
    with watched.raw("read") as wire:
        open_ids(wire, shop, (1, "t", "id"))
        assert wire.tokens(1, "=", 1, 1) == [b"0", b"1", b"1"]
        assert connections(watched, "nameless") == [("127.0.0.1", 1, 1)]
        assert table_waits(watched, "nameless") == 1
    watched.wait_until("it is gone", lambda: connections(watched, "nameless") == [("127.0.0.1", 0, 1)])


def test_accounts_are_measured_as_setup_actors_says(watched: RowSocketServer, shop: Database) -> None:
    watched.sql("TRUNCATE TABLE performance_schema.setup_actors")
    watched.sql(
        "INSERT INTO performance_schema.setup_actors VALUES ('localhost', 'bob', '%%', 'YES', 'YES')", []
    )
    with client(watched, "ann") as ann, client(watched, "bob") as bob:
        for wire in (ann, bob):
            open_ids(wire, shop, (1, "t", "id"))
            assert wire.tokens(1, "=", 1, 1) == [b"0", b"1", b"1"]
        assert table_waits(watched, "ann") == 0
        assert table_waits(watched, "bob") == 1


def test_without_it_nothing_is_measured(server: RowSocketServer) -> None:
    assert server.value("SELECT @@performance_schema") == 0
    with account(server, "ann@localhost"), client(server, "ann"):
        assert server.value("SELECT COUNT(*) FROM performance_schema.threads") == 0


def test_no_stage_of_a_client_lasts_longer_than_its_request(start: Start) -> None:
    """The last statement of a trigger leaves a stage under way."""
    server = start(
        RowSocketServer,
        {
            "performance-schema": "ON",
            "performance-schema-instrument": "stage/%=ON",
            "performance-schema-consumer-events-stages-current": "ON",
        },
    )
    database = Database(server, "d")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE seen (id INT);
        CREATE TRIGGER sees AFTER INSERT ON t FOR EACH ROW INSERT INTO seen VALUES (NEW.id)"""
    )
    stages = (
        "SELECT event_name FROM performance_schema.events_stages_current"
        " JOIN performance_schema.threads USING (thread_id) WHERE name = 'thread/rowsocket/client'"
    )
    with server.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id"))
        assert wire.tokens(1, "+", 1, 1) == [b"0", b"1"]
        assert server.sql(stages) == []


def test_memory_that_a_client_holds_is_accounted(watched: RowSocketServer) -> None:
    def used() -> int:
        query = (
            "SELECT current_number_of_bytes_used FROM performance_schema.memory_summary_global_by_event_name"
            " WHERE event_name = 'memory/rowsocket/buffers'"
        )
        return int(watched.value(query))

    before = used()
    with watched.raw("write") as wire:
        wire.send(b"x" * HALF_A_REQUEST_BYTES)
        watched.wait_until("it is received", lambda: used() >= before + HALF_A_REQUEST_BYTES)
    watched.wait_until("it is given back", lambda: used() < before + HALF_A_REQUEST_BYTES)
