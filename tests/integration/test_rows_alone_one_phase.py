# SPDX-License-Identifier: GPL-2.0-only
"""Rows for themselves where a trigger reads, or a default comes from, a table of Aria."""

from __future__ import annotations

import pytest

from support.mariadb import RowSocketServer, Start

TABLES = {
    "a trigger that reads Aria": (
        "CREATE TABLE app.setting (id INT PRIMARY KEY, factor INT) ENGINE=Aria",
        "INSERT INTO app.setting VALUES (1, 2)",
        "CREATE TABLE app.t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB",
        """CREATE TRIGGER app.multiply BEFORE INSERT ON app.t FOR EACH ROW
        SET NEW.n = NEW.n * (SELECT factor FROM app.setting WHERE id = 1)""",
    ),
    "a default from a sequence in Aria": (
        "CREATE SEQUENCE app.s ENGINE=Aria",
        (
            "CREATE TABLE app.t (id INT PRIMARY KEY, n INT, number BIGINT DEFAULT NEXT VALUE FOR app.s)"
            " ENGINE=InnoDB"
        ),
    ),
}


@pytest.mark.parametrize("tables", TABLES)
def test_rows_for_themselves_are_each_done(start: Start, tables: str) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE app")
    for statement in TABLES[tables]:
        server.sql(statement)
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,n") == b"0\t1"
        assert client.ask(b"1\t++\t2\t3\t1\t1\t2\t2\t3\t3\tE") == b"0\t2\t1\t\0\t1\t\0\t1\t\0"
    assert server.value("SELECT COUNT(*) FROM app.t") == 3
