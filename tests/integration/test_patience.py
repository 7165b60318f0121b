# SPDX-License-Identifier: GPL-2.0-only
"""A worker that waits for one table's lock does not hold up the DDL of others."""

from __future__ import annotations

import threading

from support.gate import gate, wait_at_gate
from support.mariadb import Database, RowSocketServer, Start


def test_who_waits_patiently_holds_no_other_table(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.script(
        """CREATE TABLE other (id INT PRIMARY KEY);
        CREATE TABLE log (id INT) ENGINE=MyISAM;
        CREATE TABLE t (id INT PRIMARY KEY);
        INSERT INTO log VALUES (0);
        CREATE TRIGGER logs BEFORE INSERT ON t FOR EACH ROW
            INSERT INTO log SELECT NEW.id FROM dual WHERE NEW.id <> 1 OR GET_LOCK('gate', 20) +
            RELEASE_LOCK('gate') > 0"""
    )
    state = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'Waiting for table level lock'"
    with (
        server.raw("write") as client,
        database.session() as holder,
        database.session() as ddl,
        database.session() as second,
    ):
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tother\t\tid") == [b"0\t1"] * 2
        second.execute("SELECT GET_LOCK('second', 10)")
        with gate(database):
            client.send(b"2\t=\t1\t1\n1\t++\t1\t2\t1\t2\tE\n")
            wait_at_gate(server)
            holding = threading.Thread(
                target=holder.execute, args=("UPDATE log SET id = id WHERE GET_LOCK('second', 20)",)
            )
            holding.start()
            server.wait_until("SQL waits for the table", lambda: server.value(state) > 0)
        wait_at_gate(server)  # SQL has the table, and waits for the other lock
        server.wait_until("the worker waits for the table", lambda: server.value(state) > 0)
        try:
            ddl.execute("SET lock_wait_timeout = 5")
            ddl.execute("ALTER TABLE other ADD COLUMN n INT")
        finally:
            second.execute("SELECT RELEASE_LOCK('second')")
            holding.join()
        assert client.lines(2)[1] == b"0\t2\t1\t\0\t1\t\0"
