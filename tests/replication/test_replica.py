# SPDX-License-Identifier: GPL-2.0-only
"""A real replica (GTID, parallel) of a server that is written to over RowSocket and SQL at once: the same tables."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Callable

import pytest

import rowsocket
from rowsocket import Connection
from support.mariadb import RowSocketServer

Start = Callable[..., RowSocketServer]
CLIENTS = 4
WRITES = 400


@pytest.fixture
def primary(start: Start) -> RowSocketServer:
    """A server that a replica can connect to, with tables of several kinds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start(RowSocketServer, {"skip-networking": 0, "bind-address": "127.0.0.1", "port": port})
    server.sql("CREATE DATABASE d")
    server.sql(
        "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, v VARCHAR(40), at TIMESTAMP(6) DEFAULT NOW(6), up INT AS (n * 2) STORED)"
    )
    server.sql("CREATE TABLE d.p (id INT PRIMARY KEY, n INT) PARTITION BY HASH (id) PARTITIONS 4")
    server.sql("CREATE TABLE d.h (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING")
    server.sql("CREATE TABLE d.log (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    server.sql("CREATE TRIGGER d.keep AFTER INSERT ON d.p FOR EACH ROW INSERT INTO log (n) VALUES (NEW.n)")
    return server


def replica_of(primary: RowSocketServer, start: Start, options: dict[str, str | int | None]) -> RowSocketServer:
    """A replica from the primary's first event on."""
    replica = start(RowSocketServer, {"server-id": 2, "read-only": 1, **options})
    replica.sql(
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.options['port']}, MASTER_USER='root',"
        " MASTER_USE_GTID=slave_pos"
    )
    replica.sql("START SLAVE")
    return replica


def write_a_lot(server: RowSocketServer, connection: Connection, choose: random.Random, client: int) -> None:
    """Inserts, updates, increments and deletes on all tables; refused ones among them."""
    indexes = {name: connection.open_index("d", name, "id,n") for name in ("t", "p", "h")}
    counts = {name: connection.open_index("d", name, "n") for name in indexes}
    for number in range(WRITES):
        name = choose.choice(list(indexes))
        row = client * WRITES + choose.randrange(number + 1)
        with contextlib.suppress(rowsocket.EngineError):
            indexes[name].insert([row, number])
        counts[name].increment(row, [1])
        if number % 5 == 0:
            counts[name].update(client * WRITES, [number], op=">=", limit=3)
        if number % 7 == 0:
            indexes[name].delete([row])
        if number % 10 == 0:
            server.sql(f"UPDATE d.{name} SET n = n + 1 WHERE id = {row}")


def assert_caught_up_and_equal(primary: RowSocketServer, replica: RowSocketServer) -> None:
    """The replica applied everything, without an error, and has the same rows."""
    position = primary.sql("SELECT @@gtid_binlog_pos")[0][0]
    waited = replica.sql(f"SELECT MASTER_GTID_WAIT('{position}', 30)")
    assert list(waited) == [(0,)], replica.sql("SHOW SLAVE STATUS")
    for table in ("t", "p", "h", "log"):
        [rows, expected] = [server.sql(f"SELECT * FROM d.{table} ORDER BY id") for server in (replica, primary)]
        assert rows == expected, table
        assert replica.sql(f"CHECKSUM TABLE d.{table}") == primary.sql(f"CHECKSUM TABLE d.{table}"), table
    query = "SELECT id, n, row_start, row_end FROM d.h FOR SYSTEM_TIME ALL ORDER BY 1, 3, 4"
    [history, expected_history] = [server.sql(query) for server in (replica, primary)]
    assert history == expected_history


@pytest.mark.parametrize("row_image", ["FULL", "MINIMAL", "NOBLOB"])
def test_a_replica_has_the_same_tables(primary: RowSocketServer, start: Start, row_image: str) -> None:
    primary.restart({"binlog-row-image": row_image})
    replica = replica_of(primary, start, {"slave-parallel-threads": 4, "slave-parallel-mode": "optimistic"})
    for client in range(CLIENTS):
        with rowsocket.connect(*primary.write_address()) as connection:
            write_a_lot(primary, connection, random.Random(client), client)
        replica.sql("STOP SLAVE" if client % 2 == 0 else "START SLAVE")
    assert_caught_up_and_equal(primary, replica)


def test_a_replica_is_read_and_not_written_to(primary: RowSocketServer, start: Start) -> None:
    replica = replica_of(primary, start, {})
    with rowsocket.connect(*primary.write_address()) as connection:
        connection.open_index("d", "t", "id,n").insert([1, 10])
    assert_caught_up_and_equal(primary, replica)
    with rowsocket.connect(*replica.write_address()) as connection:
        index = connection.open_index("d", "t", "n")
        assert index.get(1) == ("10",)
        with pytest.raises(rowsocket.EngineError, match="1290"):
            index.update(1, [11])


def test_one_turn_is_one_group_of_the_binlog(primary: RowSocketServer) -> None:
    def sequence() -> int:
        return int(str(primary.sql("SELECT @@gtid_binlog_pos")[0][0]).rpartition("-")[2])

    before = sequence()
    with primary.raw("write") as connection:
        connection.ask(b"P\t1\td\tt\t\tid,n")
        connection.send(b"".join(b"1\t+\t2\t%d\t1\n" % number for number in range(500)))
        assert [connection.line() for _ in range(500)] == [b"0\t1"] * 500
    assert sequence() - before < 100
