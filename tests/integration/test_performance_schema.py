# SPDX-License-Identifier: GPL-2.0-only
"""What the server's performance schema sees of RowSocket: its threads, what they do in tables and wait for,
and memory.
"""

from __future__ import annotations

import pytest

from support.gate import open_ids
from support.mariadb import Database, RowSocketServer, Start

OF_WORKERS = (
    "JOIN performance_schema.threads USING (thread_id) WHERE name = 'thread/rowsocket/worker' AND event_name"
)
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


def test_waits_and_memory_of_the_server_count_for_the_workers(watched: RowSocketServer) -> None:
    database = Database(watched, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2)")
    with watched.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id"))
        assert wire.tokens(1, "+", 1, 3) == [b"0", b"1"]
    waits = "SELECT SUM(count_star) FROM performance_schema.events_waits_summary_by_thread_by_event_name"
    assert watched.value(f"{waits} {OF_WORKERS} = 'wait/io/table/sql/handler'") > 0
    assert watched.value(f"{waits} {OF_WORKERS} LIKE 'wait/synch/%/innodb/%'") > 0
    memory = "SELECT SUM(count_alloc) FROM performance_schema.memory_summary_by_thread_by_event_name"
    assert watched.value(f"{memory} {OF_WORKERS} LIKE 'memory/sql/%'") > 0


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
