# SPDX-License-Identifier: GPL-2.0-only
"""A trigger reads what was a view, and is a table now."""

from __future__ import annotations

import pytest

from support.mariadb import Database, RowSocketServer, Start


@pytest.mark.parametrize("asked_between", [True, False])
def test_a_table_takes_the_place_of_a_view_that_a_trigger_reads(start: Start, asked_between: bool) -> None:
    server = start(RowSocketServer)
    database = Database(server, "app")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, seen VARCHAR(9));
        CREATE VIEW named AS SELECT 'view' AS name;
        CREATE TRIGGER looks BEFORE INSERT ON t FOR EACH ROW SET NEW.seen = (SELECT name FROM named LIMIT 1)"""
    )
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        assert client.ask(b"1\t+\t1\t1") == b"0\t1"
        database.sql("DROP VIEW named")
        if asked_between:
            assert client.ask(b"1\t+\t1\t2") == b"1\t1\t1146"
        database.sql("CREATE TABLE named (name VARCHAR(9)) SELECT 'table' AS name")
        assert client.ask(b"1\t+\t1\t3") == b"0\t1"
        assert client.ask(b"1\t+\t1\t4") == b"0\t1"
    assert database.sql("SELECT seen FROM t") == [("view",), ("table",), ("table",)]
