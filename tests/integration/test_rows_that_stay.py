# SPDX-License-Identifier: GPL-2.0-only
"""Rows of tables without transactions, which stay: where one of them, or the request behind it, loses its
transaction, no other row is lost with it, or is there twice."""

from __future__ import annotations

import pytest

from support.binlog import TWO_PHASES, assert_binlog_equals_tables
from support.locks import deadlock_with_a_heavier_one
from support.mariadb import Database, RowSocketServer, Start


@pytest.mark.parametrize("engine", ["MyISAM", "Aria"])
@pytest.mark.parametrize("time", ["BEFORE", "AFTER"])
def test_a_row_that_loses_the_transaction_fails_alone(start: Start, engine: str, time: str) -> None:
    """Each row is for itself (`E`), and the third one loses its transaction to a deadlock. A row stays in the
    table once it is there."""
    server = start(
        RowSocketServer, {**TWO_PHASES, "binlog-format": "ROW", "loose-rowsocket-threads-write": 1}
    )
    database = Database(server, "app")
    database.script(
        f"""CREATE TABLE t (id INT PRIMARY KEY) ENGINE={engine};
        CREATE TABLE shared (id INT PRIMARY KEY, n INT);
        INSERT INTO shared VALUES (0, 0), (1, 0), (2, 0)"""
    )
    database.sql(
        f"""CREATE TRIGGER counts {time} INSERT ON t FOR EACH ROW BEGIN
            UPDATE shared SET n = n + 1 WHERE id = 0;
            IF NEW.id = 3 THEN
                UPDATE shared SET n = n + 1 WHERE id = 1;
                UPDATE shared SET n = n + 1 WHERE id = 2;
            END IF;
        END"""
    )
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        with deadlock_with_a_heavier_one(database):
            client.send(b"1\t++\t1\t4\t1\t2\t3\t4\tE\n")
        assert client.line() == b"0\t2\t1\t\0\t1\t\0\t!1213\t\0\t1\t\0"
    stays = [(3,)] if time == "AFTER" else []
    assert database.sql("SELECT id FROM t ORDER BY id") == sorted([(1,), (2,), (4,), *stays])
    assert database.sql("SELECT n FROM shared ORDER BY id") == [(3,), (10,), (10,)]
    assert server.counter("rows_inserted") == 3
    if engine != "Aria":  # a commit with Aria has one phase
        assert_binlog_equals_tables(server)


@pytest.mark.parametrize("engine", ["MyISAM", "Aria"])
def test_a_row_that_stays_is_not_inserted_again_where_the_request_behind_it_loses_its_transaction(
    start: Start, engine: str
) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.script(
        f"""CREATE TABLE stays (n INT, KEY (n)) ENGINE={engine};
        CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE shared (id INT PRIMARY KEY, n INT);
        INSERT INTO shared VALUES (1, 0), (2, 0)"""
    )
    database.sql(
        """CREATE TRIGGER counts BEFORE INSERT ON t FOR EACH ROW BEGIN
            UPDATE shared SET n = n + 1 WHERE id = 1;
            UPDATE shared SET n = n + 1 WHERE id = 2;
        END"""
    )
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tstays\tn\tn", b"P\t2\tapp\tt\t\tid") == [b"0\t1"] * 2
        with deadlock_with_a_heavier_one(database):
            client.send(b"1\t+\t1\t5\n2\t+\t1\t1\n")
        assert client.lines(2) == [b"0\t1"] * 2
    assert database.sql("SELECT n FROM stays") == [(5,)]
    assert database.sql("SELECT n FROM shared ORDER BY id") == [(11,), (11,)]
