# SPDX-License-Identifier: GPL-2.0-only
"""What SET GLOBAL changes while the server runs concerns RowSocket from its next transaction on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rowsocket
from rowsocket import Connection, Index
from support.mariadb import Database, RowSocketServer, Start

Rows = Index[tuple[str | None, ...]]


@pytest.fixture
def server_of_one(start: Start) -> RowSocketServer:
    """A server whose settings this test may change, with `t` in `d`, whose rows refer to `p`."""
    server = start(RowSocketServer, {"binlog-format": "ROW"})
    database = Database(server, "d")
    database.sql("CREATE TABLE p (id INT PRIMARY KEY)")
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT CHECK (n < 100), body TEXT, p INT, at TIMESTAMP NULL,"
        " FOREIGN KEY (p) REFERENCES p (id))"
    )
    return server


@pytest.fixture
def writing(server_of_one: RowSocketServer) -> Iterator[Connection]:
    """A connection to the write port."""
    with rowsocket.connect(*server_of_one.write_address()) as connection:
        yield connection


@pytest.fixture
def rows(writing: Connection) -> Rows:
    """The index to insert id, n, p and at with; a request has been made over its connection."""
    index = writing.open_index("d", "t", "id,n,p,at")
    index.insert([1, 1])
    return index


def test_foreign_key_checks(server_of_one: RowSocketServer, rows: Rows) -> None:
    with pytest.raises(rowsocket.ForeignKeyViolation):
        rows.insert([2, 2, 77])
    server_of_one.sql("SET GLOBAL foreign_key_checks = 0")
    rows.insert([2, 2, 77])
    server_of_one.sql("SET GLOBAL foreign_key_checks = 1")
    with pytest.raises(rowsocket.ForeignKeyViolation):
        rows.insert([3, 3, 77])


def test_check_constraint_checks(server_of_one: RowSocketServer, rows: Rows) -> None:
    with pytest.raises(rowsocket.InvalidValue):
        rows.insert([2, 100])
    server_of_one.sql("SET GLOBAL check_constraint_checks = 0")
    rows.insert([2, 100])


def test_time_zone(server_of_one: RowSocketServer, rows: Rows) -> None:
    for row_id, zone in ((2, "+00:00"), (3, "+02:00")):
        server_of_one.sql("SET GLOBAL time_zone = %s", [zone])
        rows.insert([row_id, 1, None, "2024-07-01 12:00:00"])
    query = "SELECT UNIX_TIMESTAMP(at) FROM d.t WHERE id > 1 ORDER BY id"
    assert server_of_one.sql(query) == [(1719835200,), (1719828000,)]


def test_gtid_domain_id(server_of_one: RowSocketServer, rows: Rows) -> None:
    server_of_one.sql("SET GLOBAL gtid_domain_id = 7")
    rows.insert([2, 2])
    assert "7-1-" in str(server_of_one.value("SELECT @@gtid_binlog_pos"))


def test_binlog_row_image(server_of_one: RowSocketServer, writing: Connection) -> None:
    body = "a body that a row event holds or not"
    index = writing.open_index("d", "t", "id,n,body")
    index.insert([1, 1, body])
    for image, is_there in (("FULL", True), ("MINIMAL", False), ("NOBLOB", False), ("FULL", True)):
        server_of_one.sql("SET GLOBAL binlog_row_image = %s", [image])
        server_of_one.sql("FLUSH BINARY LOGS")
        writing.open_index("d", "t", "n").increment(1, [1])
        log = server_of_one.sql("SHOW BINARY LOGS")[-1][0]
        assert (body.encode() in (server_of_one.data / str(log)).read_bytes()) == is_there, image
