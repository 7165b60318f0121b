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
LOCKS_OF_CHILD = (
    "SELECT * FROM information_schema.metadata_lock_info WHERE table_schema = 'e' AND table_name = 'child'"
)


@contextlib.contextmanager
def child_at_the_end_of_its_alter(database: Database, fault: Path) -> Iterator[None]:
    """Between the two renames; afterwards the ALTER is done."""
    fault.write_text("rename /child.frm")
    with ThreadPoolExecutor(1) as thread:
        altered = thread.submit(database.sql, "ALTER TABLE child FORCE, ALGORITHM=COPY")
        try:
            database.server.wait_until("the rename waits", fault.with_suffix(".rename").exists)
            yield
        finally:
            fault.unlink(missing_ok=True)
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


@pytest.mark.parametrize("twin", ["twin", "child"])
def test_a_child_that_was_forgotten_for_a_moment_of_the_opening_is_locked(
    start: Start, fault: Path, twin: str
) -> None:
    """The opening finds no `e.child`. While it opens the twin, the ALTER of `e.child` comes to its end."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    database = Database(server, "d")
    others = Database(server, "e")
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY)")
    for child in ("e.child", f"d.{twin}"):
        database.sql(f"""
            CREATE TABLE {child} (
              id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES d.parent (id) ON UPDATE CASCADE)
        """)
    database.sql("INSERT INTO parent VALUES (1), (2)")
    others.sql("INSERT INTO child VALUES (1)")
    database.sql("CREATE TRIGGER t AFTER UPDATE ON parent FOR EACH ROW DO GET_LOCK('rest', 60)")
    database.sql("INSTALL SONAME 'metadata_lock_info'")
    with server.raw("write") as client, database.session() as sql:
        replies = client.ask_all(b"P\t1\td\tparent\t\tid", b"1\t=\t1\t2\t1\t0\tU\t3")
        assert replies == [b"0\t1", b"0\t1\t1"]
        sql.execute("DO GET_LOCK('rest', 0)")
        sql.execute(f"FLUSH TABLES {twin}")
        with child_at_the_end_of_its_alter(others, fault):
            fault.write_text(f"rename e/child.frm\nopen d/{twin}.frm")
            client.send(b"1\t=\t1\t1\t1\t0\tU\t4\n")
            server.wait_until("the twin is opened", fault.with_suffix(".open").exists)
            fault.write_text(f"open d/{twin}.frm")
            server.wait_until("the ALTER is done", lambda: not is_in_state(server, "Rename result table"))
        server.wait_until("the trigger waits", lambda: is_in_state(server, "User lock"))
        assert server.sql(LOCKS_OF_CHILD) != []
        sql.execute("DO RELEASE_LOCK('rest')")
        assert client.line() == b"0\t1\t1"
    assert others.sql("SELECT id FROM child") == [(4,)]


def is_in_state(server: RowSocketServer, state: str) -> bool:
    """Whether a session is, by a pattern of LIKE."""
    return server.sql(f"SELECT id FROM information_schema.processlist WHERE state LIKE '{state}'") != []


def with_a_child(start: Start) -> tuple[RowSocketServer, Database]:
    """A server with a parent, which has the row (1, 0), and an empty child."""
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY, n INT)")
    key = "CONSTRAINT of_parent FOREIGN KEY (id) REFERENCES parent (id)"
    database.sql(f"CREATE TABLE child (id INT PRIMARY KEY, {key})")
    database.sql("INSERT INTO parent VALUES (1, 0)")
    return server, database


def test_a_parent_whose_child_was_dropped_is_written_to_as_before(start: Start) -> None:
    server, database = with_a_child(start)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\td\tparent\t\tn") == b"0\t1"
        change = b"1\t=\t1\t1\t1\t0\t+\t1"
        assert client.ask(change) == b"0\t1\t1"
        database.sql("DROP TABLE child")
        assert client.ask_all(change, change) == [b"0\t1\t1"] * 2
    assert database.sql("SELECT n FROM parent") == [(3,)]


def test_a_table_that_is_no_child_any_more_keeps_no_write_waiting(start: Start, fault: Path) -> None:
    server, database = with_a_child(start)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\td\tparent\t\tn") == b"0\t1"
        change = b"1\t=\t1\t1\t1\t0\t+\t1"
        assert client.ask(change) == b"0\t1\t1"
        database.sql("ALTER TABLE child DROP FOREIGN KEY of_parent")
        assert client.ask(change) == b"0\t1\t1"  # looks for the child, and finds that there is none
        database.sql("FLUSH TABLES parent")  # so that it is opened again
        with child_at_the_end_of_its_alter(database, fault):
            assert client.ask(change) == b"0\t1\t1"
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
