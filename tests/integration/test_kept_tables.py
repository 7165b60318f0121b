# SPDX-License-Identifier: GPL-2.0-only
"""A table that stays open over the requests of a turn is as the server's table cache would give it to each of
them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.binlog import assert_binlog_equals_tables
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

LONG_TEXTS = 5
LONG_TEXT_BYTES = 150_000
LEFT_BEHIND_BYTES_MAX = 400_000


def test_memory_of_long_values_is_given_back_when_their_statement_ends(
    database: Database, raw: Callable[[str], RawConnection]
) -> None:
    """A trigger says how much memory the server has, in the same turn."""
    columns = [f"c{number}" for number in range(LONG_TEXTS)]
    definition = ", ".join(f"{column} MEDIUMTEXT" for column in columns)
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, {definition})")
    database.sql("CREATE TABLE seen (id INT PRIMARY KEY, bytes BIGINT)")
    used = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'MEMORY_USED'"
    database.sql(f"CREATE TRIGGER see BEFORE INSERT ON seen FOR EACH ROW SET NEW.bytes = ({used})")
    wire = raw("write")
    opened = wire.ask_all(
        b"P\t1\t%s\tt\t\tid,%s" % (database.name.encode(), ",".join(columns).encode()),
        b"P\t2\t%s\tseen\t\tid" % database.name.encode(),
    )
    assert opened == [b"0\t1", b"0\t1"]
    long_texts = b"\t".join([b"x" * LONG_TEXT_BYTES] * LONG_TEXTS)
    insert = b"1\t+\t%d\t%%d\t%s" % (LONG_TEXTS + 1, long_texts.replace(b"%", b"%%"))
    short = b"1\t+\t1\t%d"
    replies = wire.ask_all(short % 1, b"2\t+\t1\t1", insert % 2, b"2\t+\t1\t2")
    assert replies == [b"0\t1"] * 4
    [before, after] = [row[0] for row in database.sql("SELECT bytes FROM seen ORDER BY id")]
    assert after - before < LEFT_BEHIND_BYTES_MAX


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
