# SPDX-License-Identifier: GPL-2.0-only
"""Changes that reach the children of a table's foreign keys, while a child is altered."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.mariadb import Database, RowSocketServer, Start


def test_a_change_waits_for_the_end_of_the_alter_of_a_child(start: Start, fault: Path) -> None:
    """Between the renames at the end of the ALTER, InnoDB knows of no child."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    database = Database(server, "d")
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY, k INT UNIQUE)")
    database.sql("""
        CREATE TABLE child (
          id INT PRIMARY KEY, k INT, FOREIGN KEY (k) REFERENCES parent (k) ON UPDATE CASCADE
        )
    """)
    database.sql("INSERT INTO parent VALUES (1, 1)")
    database.sql("INSERT INTO child VALUES (1, 1)")
    with server.raw("write") as client, ThreadPoolExecutor(1) as thread:
        replies = client.ask_all(b"P\t1\td\tparent\t\tk", b"1\t=\t1\t1\t1\t0\tU\t2")
        assert replies == [b"0\t1", b"0\t1\t1"]
        fault.write_text("rename /child.frm")
        altered = thread.submit(database.sql, "ALTER TABLE child FORCE, ALGORITHM=COPY")
        try:
            server.wait_until("the rename waits", fault.with_name(f"{fault.name}.waits").exists)
            client.send(b"1\t=\t1\t1\t1\t0\tU\t3\n")
            server.wait_until("the change waits", lambda: server.counter("parked") > 0)
        finally:
            fault.unlink()
        altered.result()
        assert client.line() == b"0\t1\t1"
    assert database.sql("SELECT parent.k, child.k FROM parent, child") == [(3, 3)]
