# SPDX-License-Identifier: GPL-2.0-only
"""Behind a group, a request on RocksDB sees what was acknowledged before it was sent."""

from __future__ import annotations

import pytest

from support.gate import gate, wait_at_gate, with_gated_table
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

REQUESTS = {
    "a find": (b"1\t=\t1\t1\t1\t0", b"0\t2\t1\t7"),
    "an update of a new row": (b"1\t=\t1\t2\t1\t0\tU\t2\t5", b"0\t1\t1"),
}


@pytest.mark.parametrize("engine", ["InnoDB", "ROCKSDB"])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_request_behind_a_group_has_no_older_snapshot(start: Start, engine: str, request_name: str) -> None:
    server = start(
        RowSocketServer, {"plugin-load-add": "rowsocket;ha_rocksdb", "loose-rowsocket-threads-write": 1}
    )
    database = Database(server, "app")
    with_gated_table(database)
    database.sql(f"CREATE TABLE rows_of (id INT PRIMARY KEY, n INT) ENGINE={engine}")
    database.sql("INSERT INTO rows_of VALUES (1, 0)")
    request, expected = REQUESTS[request_name]
    with server.raw("write") as of_group, server.raw("write") as later:
        for client in (of_group, later):
            assert open_both(client) == [b"0\t1"] * 2
        with gate(database):
            of_group.send(b"G\n1\t=\t1\t1\t1\t0\n2\t+\t1\t7\nE\n")
            wait_at_gate(server)
            database.sql("UPDATE rows_of SET n = 7 WHERE id = 1")
            database.sql("INSERT INTO rows_of VALUES (2, 0)")
            later.send(request + b"\n")
        assert of_group.lines(4) == [b"0\t1", b"0\t2\t1\t0", b"0\t1", b"0\t1"]
        assert later.line() == expected


def open_both(client: RawConnection) -> list[bytes]:
    return client.ask_all(b"P\t1\tapp\trows_of\t\tid,n", b"P\t2\tapp\tgated\t\tid")
