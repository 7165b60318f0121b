# SPDX-License-Identifier: GPL-2.0-only
"""Somebody else's LOCK TABLES concerns who wants the table, and nobody else; who wants it waits until it is
gone."""

from __future__ import annotations

import threading

import pytest

from support.mariadb import Database, RowSocketServer, Start

ONE_THREAD = {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0}
"""With others, what comes before a request that waits is committed meanwhile, and need not run again."""


@pytest.mark.parametrize("reads_before", [False, True])
def test_a_request_that_runs_again_waits_for_a_lock_as_any_other(start: Start, reads_before: bool) -> None:
    server = start(RowSocketServer, ONE_THREAD)
    database = Database(server, "app")
    database.script(
        """CREATE TABLE with_trigger (id INT PRIMARY KEY);
        CREATE TRIGGER sets BEFORE INSERT ON with_trigger FOR EACH ROW SET @number = NEW.id;
        CREATE TABLE t (id INT PRIMARY KEY);
        INSERT INTO t VALUES (100)"""
    )
    waiting = (
        "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'LOCK TABLES%' AND state LIKE"
        " 'Waiting%'"
    )
    waits = "Innodb_row_lock_current_waits"
    with (
        server.raw("write") as client,
        server.raw("write") as other,
        database.session() as rows,
        database.session() as tables,
    ):
        opens = (b"P\t1\tapp\twith_trigger\t\tid", b"P\t2\tapp\tt\t\tid")
        assert client.ask_all(*opens) == other.ask_all(*opens) == [b"0\t1"] * 2
        server.wait_until("its tables are given back", lambda: tables.execute("SELECT SLEEP(0.2)") == 1)
        rows.execute("BEGIN")
        rows.execute("DELETE FROM t WHERE id = 100")
        # The second row of the last one waits for a second; then all before it runs again.
        find = b"1\t=\t1\t5\n" if reads_before else b""
        client.send(find + b"1\t+\t1\t1\n2\t++\t1\t2\t7\t100\tE\n")
        server.wait_until("the row is waited for", lambda: server.status(waits)[waits] != "0")
        locking = threading.Thread(target=tables.execute, args=("LOCK TABLES with_trigger WRITE",))
        locking.start()
        # On a slow machine the worker gives its tables back before LOCK TABLES comes.
        server.wait_until(
            "LOCK TABLES waits, or has its table", lambda: server.value(waiting) > 0 or not locking.is_alive()
        )
        locking.join()
        try:
            other.socket.settimeout(40)
            answer = other.ask(b"2\t=\t1\t100")
        finally:
            rows.execute("ROLLBACK")
            tables.execute("UNLOCK TABLES")
        replies = client.lines(3 if reads_before else 2)
        assert answer == b"0\t1\t100"
        assert replies[-2:] == [b"0\t1", b"0\t2\t1\t\0\t!121\t\0"]
