# SPDX-License-Identifier: GPL-2.0-only
"""A table that stays open over the requests of a turn is as the server's table cache would give it to each of
them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.binlog import assert_binlog_equals_tables
from support.gate import gate, open_ids, wait_at_gate, with_gated_table
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

LONG_TEXT_BYTES = 1_000_000


def test_memory_of_long_values_is_given_back_when_their_statement_ends(start: Start) -> None:
    """The turn goes on, and waits at the gate. The server does the same when it takes a table back."""
    server = start(
        RowSocketServer,
        {
            "rowsocket-threads-write": 1,
            "rowsocket-threads-max": 0,  # the thread that has the table open is the one that goes on
            "performance-schema": "ON",
            "performance-schema-instrument": "memory/sql/String::value=ON",
        },
    )
    database = Database(server, "app")
    with_gated_table(database)
    database.sql("CREATE TABLE texts (id INT PRIMARY KEY, text MEDIUMTEXT)")
    used = (
        "SELECT current_number_of_bytes_used FROM performance_schema.memory_summary_global_by_event_name"
        " WHERE event_name = 'memory/sql/String::value'"
    )

    with server.raw("write") as wire:
        open_ids(wire, database, (1, "texts", "id,text"), (2, "gated", "id"))

        def used_bytes_behind(number: int, text: bytes) -> int:
            with gate(database):
                wire.send(b"1\t+\t2\t%d\t%s\n2\t+\t1\t%d\n" % (number, text, number))
                wait_at_gate(server)
                bytes_now = int(server.value(used))
            assert wire.lines(2) == [b"0\t1"] * 2
            return bytes_now

        short = used_bytes_behind(1, b"x")
        assert used_bytes_behind(2, b"x" * LONG_TEXT_BYTES) - short < LONG_TEXT_BYTES


def test_rows_of_two_tables_in_turn_are_each_described_in_the_binlog(start: Start) -> None:
    """They share a statement. A row event names its table by a number, which an event before it describes."""
    server = start(RowSocketServer)
    server.sql("CREATE DATABASE app")
    for name in ("a", "b"):
        server.sql(f"CREATE TABLE app.{name} (id INT PRIMARY KEY, v VARCHAR(9))")
    with server.raw("write") as wire:
        assert wire.ask_all(b"P\t1\tapp\ta\t\tid,v", b"P\t2\tapp\tb\t\tid,v") == [b"0\t1"] * 2
        requests = [b"%d\t+\t2\t%d\tx" % (table, id) for id in range(9) for table in (1, 2)]
        failing = [b"1\t++\t2\t2\t50\tx\t1\tx", b"2\t+\t2\t60\ty"]
        replies = wire.ask_all(*requests, *failing)
    assert replies == [b"0\t1"] * len(requests) + [b"1\t1\t121", b"0\t1"]
    assert_binlog_equals_tables(server, ["app"])


FIND, CHANGE = b"1\t=\t1\t1", b"1\t=\t1\t1\t1\t0\t+\t1"


@pytest.mark.parametrize(
    ("request_sent", "beside"),
    [
        (FIND, ""),
        (CHANGE, ""),
        (CHANGE, "CREATE TRIGGER unseen AFTER UPDATE ON t FOR EACH ROW SET @nothing = 1"),
        (CHANGE, "CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES t (id))"),
    ],
    ids=["find", "change", "change with a trigger", "change of a parent"],
)
def test_memory_of_expressions_that_are_prepared_for_each_request_is_freed_with_the_table(
    database: Database, raw: Callable[[str], RawConnection], request_sent: bytes, beside: str
) -> None:
    """The server takes it anew for each IN list of constants, beside a value of the session."""
    server = database.server
    members = ", ".join(f"'member {number}'" for number in range(100))
    database.sql(f"""
        CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, text VARCHAR(20),
          known VARCHAR(99) AS (CONCAT(CURRENT_USER(), text IN ({members}))))
    """)
    database.sql("INSERT INTO t (id, n, text) VALUES (1, 0, 'text')")
    if beside:
        database.sql(beside)
    wire = raw("write")
    columns = b"known" if request_sent == FIND else b"n"
    assert wire.ask(b"P\t1\t%s\tt\t\t%s" % (database.name.encode(), columns)) == b"0\t1"

    def used_bytes_behind_requests() -> int:
        for _ in range(25):  # between them the table goes back to the table cache
            wire.ask_all(*[request_sent] * 200)
        return int(server.status("Memory_used")["Memory_used"])

    first = used_bytes_behind_requests()
    assert used_bytes_behind_requests() - first < 8_000_000  # 5,000 times 3,300 bytes are 16,500,000
