# SPDX-License-Identifier: GPL-2.0-only
"""RocksDB: a request sees what was acknowledged before it was sent, whatever the engine's variables say."""

from __future__ import annotations

import pytest

from support.gate import gate, open_ids, wait_at_gate, with_gated_table
from support.mariadb import Database, Options, RowSocketServer, Start
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


def with_rocksdb(start: Start, options: Options) -> tuple[RowSocketServer, Database]:
    """A server, and its database `app` with a table `t` of the engine."""
    server = start(RowSocketServer, {"plugin-load-add": "rowsocket;ha_rocksdb", **options})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=ROCKSDB")
    return server, database


def test_a_bulk_load_does_not_keep_rows_from_others(start: Start) -> None:
    """It would end with the session of the worker, which is never."""
    server, database = with_rocksdb(start, {"rocksdb-bulk-load": 1})
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        assert client.ask(b"1\t+\t1\t1") == b"0\t1"
        assert client.ask(b"1\t=\t1\t1") == b"0\t1\t1"
    assert database.sql("SELECT id FROM t") == [(1,)]


def test_nothing_of_a_group_is_committed_before_its_end(start: Start) -> None:
    server, database = with_rocksdb(start, {"rocksdb-commit-in-the-middle": 1, "rocksdb-bulk-load-size": 2})
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        assert client.ask(b"1\t+\t1\t5") == b"0\t1"
        client.send(b"G\n" + b"".join(b"1\t+\t1\t%d\n" % number for number in range(1, 6)) + b"E\n")
        assert client.lines(7)[-1] == b"1\t1\tgroup"
    assert database.sql("SELECT id FROM t") == [(5,)]


def test_a_group_whose_snapshot_is_too_old_for_its_change_runs_again(start: Start) -> None:
    """RocksDB says that it is busy. In SQL the client is told so, and has to begin its transaction again."""
    server = start(
        RowSocketServer, {"plugin-load-add": "rowsocket;ha_rocksdb", "loose-rowsocket-threads-write": 1}
    )
    database = Database(server, "app")
    database.script("""
        CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=ROCKSDB;
        INSERT INTO t VALUES (1, 0);
        CREATE TABLE gated (id INT PRIMARY KEY) ENGINE=ROCKSDB;
        CREATE TRIGGER at_gate BEFORE INSERT ON gated FOR EACH ROW
          SET NEW.id = NEW.id + 0 * (GET_LOCK('gate', 100) + RELEASE_LOCK('gate'))""")
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "t", "n"), (2, "gated", "id"))
        with gate(database):
            group = [b"G", b"1\t=\t1\t1", b"2\t+\t1\t1", b"1\t=\t1\t1\t1\t0\t+\t1", b"E"]
            client.send(b"".join(line + b"\n" for line in group))
            wait_at_gate(server)  # the group has read the row
            other.execute("UPDATE t SET n = 10")
        replies = client.lines(5)
    assert replies == [b"0\t1", b"0\t1\t10", b"0\t1", b"0\t1\t1", b"0\t1"]
    assert database.value("SELECT n FROM t") == 11
