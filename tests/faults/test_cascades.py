# SPDX-License-Identifier: GPL-2.0-only
"""Changes that reach the children of a table's foreign keys, while a child is altered."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.mariadb import Database, RowSocketServer, Start

CHANGES = {
    "an update": (b"1\t=\t1\t1\t1\t0\tU\t3", b"0\t1\t1", [3]),
    "a delete": (b"1\t=\t1\t1\t1\t0\tD", b"0\t1\t1", []),
    "a trigger of another table": (b"2\t+\t1\t3", b"0\t1", [3]),
}


@contextlib.contextmanager
def child_at_the_end_of_its_alter(database: Database, fault: Path) -> Iterator[None]:
    """Between the two renames; afterwards the ALTER is done."""
    fault.write_text("rename /child.frm")
    with ThreadPoolExecutor(1) as thread:
        altered = thread.submit(database.sql, "ALTER TABLE child FORCE, ALGORITHM=COPY")
        try:
            waits = fault.with_name(f"{fault.name}.waits")
            database.server.wait_until("the rename waits", waits.exists)
            yield
        finally:
            fault.unlink()
        altered.result()


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_waits_for_the_end_of_the_alter_of_a_child(start: Start, fault: Path, change: str) -> None:
    """Between the renames at the end of the ALTER, InnoDB knows of no child. What the first change was is of
    no account."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    database = Database(server, "d")
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY, k INT UNIQUE)")
    database.sql("""
        CREATE TABLE child (
          id INT PRIMARY KEY, k INT,
          FOREIGN KEY (k) REFERENCES parent (k) ON UPDATE CASCADE ON DELETE CASCADE
        )
    """)
    database.sql("INSERT INTO parent VALUES (1, 1)")
    database.sql("INSERT INTO child VALUES (1, 1)")
    database.sql("CREATE TABLE other (k INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER b BEFORE INSERT ON other FOR EACH ROW UPDATE parent SET k = NEW.k")
    request, reply, keys = CHANGES[change]
    with server.raw("write") as client:
        opened = client.ask_all(b"P\t1\td\tparent\t\tk", b"P\t2\td\tother\t\tk")
        assert opened == [b"0\t1"] * 2
        assert client.ask(b"1\t=\t1\t1\t1\t0\tU\t2") == b"0\t1\t1"
        with child_at_the_end_of_its_alter(database, fault):
            client.send(request + b"\n")
            server.wait_until("the change waits", lambda: server.counter("parked") > 0)
        assert client.line() == reply
    for table in ("parent", "child"):
        assert database.sql(f"SELECT k FROM {table}") == [(key,) for key in keys]


def test_a_parent_whose_child_was_dropped_is_written_to_as_before(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY, n INT)")
    database.sql("CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES parent (id))")
    database.sql("INSERT INTO parent VALUES (1, 0)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\td\tparent\t\tn") == b"0\t1"
        change = b"1\t=\t1\t1\t1\t0\t+\t1"
        assert client.ask(change) == b"0\t1\t1"
        database.sql("DROP TABLE child")
        assert client.ask_all(change, change) == [b"0\t1\t1"] * 2
    assert database.sql("SELECT n FROM parent") == [(3,)]


def test_no_parent_is_deleted_that_a_child_at_the_end_of_its_alter_refers_to(
    start: Start, fault: Path
) -> None:
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    database = Database(server, "d")
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES parent (id))")
    database.sql("INSERT INTO parent VALUES (1)")
    database.sql("INSERT INTO child VALUES (1)")
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\td\tparent\t\tid", b"1\t+\t1\t2") == [b"0\t1"] * 2
        with child_at_the_end_of_its_alter(database, fault):
            client.send(b"1\t=\t1\t1\t1\t0\tD\n")
            server.wait_until("the delete waits", lambda: server.counter("parked") > 0)
        assert client.line() == b"1\t1\t152"
    assert database.sql("SELECT id FROM parent ORDER BY id") == [(1,), (2,)]
