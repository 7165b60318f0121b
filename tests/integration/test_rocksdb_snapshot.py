# SPDX-License-Identifier: GPL-2.0-only
"""RocksDB: a request sees what was acknowledged before it was sent, whatever the engine's variables say."""

from __future__ import annotations

import pytest

from support.gate import gate, wait_at_gate, with_gated_table
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


@pytest.mark.parametrize("engine", ["InnoDB", "ROCKSDB"])
@pytest.mark.parametrize(
    ("request_line", "reply"),
    [
        (b"2\t=\t1\t1\t100\t0", b"0\t2\t1\t11\t2\t12"),
        (b"2\t=\t1\t1\t100\t0\t#", b"0\t1\t2"),
        (b"2\t=\t1\t1\t100\t0\tC\tn\t+\t100", b"0\t1\t2"),
        (b"2\t=\t1\t1\t100\t0\tD", b"0\t1\t2"),
    ],
)
def test_a_row_that_others_have_moved_in_the_turn_is_found_once(
    start: Start, engine: str, request_line: bytes, reply: bytes
) -> None:
    """RocksDB shows it twice to the transaction that has moved it: where it is, and where it was."""
    server = start(
        RowSocketServer, {"plugin-load-add": "rowsocket;ha_rocksdb", "loose-rowsocket-threads-write": 1}
    )
    database = Database(server, "app")
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, g INT, n INT, KEY by_g (g, n, id)) ENGINE={engine}")
    database.sql("INSERT INTO t VALUES (1, 1, 11), (2, 2, 5)")
    with server.raw("write") as client:
        opened = client.ask_all(b"P\t1\tapp\tt\t\tid,g,n", b"P\t2\tapp\tt\tby_g\tid,n")
        assert opened == [b"0\t1"] * 2
        assert client.ask_all(b"1\t=\t1\t2\t1\t0\tU\t2\t1\t12", request_line) == [b"0\t1\t1", reply]
    changed = 100 if b"+" in request_line else 0
    rows = [] if request_line.endswith(b"D") else [(1, 11 + changed), (2, 12 + changed)]
    assert database.sql("SELECT id, n FROM t ORDER BY id") == rows


REMOVALS = {
    "a delete": b"1\t=\t2\t2\t2\t1\t0\tD",
    "a move": b"1\t=\t2\t2\t2\t1\t0\tU\t3\t2\t5\tb",
    "a replacement": b"1\t++\t4\t1\t3\t3\t5\tb\tR",
    "an upsert that moves": b"1\t++\t4\t1\t3\t3\t5\tb\tU\t0",
    "a trigger": b"2\t+\t1\t2",
}
CHANGE_OF_THE_LAST_IN_RANGE = b"1\t=\t2\t1\t1\t1\t0\tU\t1\t1\t12\ta"


def with_rows_of_two_parts(start: Start) -> tuple[RowSocketServer, Database]:
    """A server with a table `t` of RocksDB, and a table of InnoDB whose trigger deletes from it."""
    server = start(
        RowSocketServer,
        {"plugin-load-add": "rowsocket;ha_rocksdb", "loose-rowsocket-threads-write": 1, "log-bin": "binlog"},
    )
    database = Database(server, "app")
    database.sql("""
        CREATE TABLE t (
          a INT, b INT, n INT, code VARCHAR(9) NOT NULL, PRIMARY KEY (a, b), UNIQUE KEY by_code (code)
        ) ENGINE=ROCKSDB
    """)
    database.sql("INSERT INTO t VALUES (1, 1, 11, 'a'), (2, 2, 5, 'b')")
    database.sql("CREATE TABLE removals (id INT PRIMARY KEY) ENGINE=InnoDB")
    database.sql("CREATE TRIGGER r BEFORE INSERT ON removals FOR EACH ROW DELETE FROM t WHERE a = NEW.id")
    return server, database


def opened(server: RowSocketServer) -> RawConnection:
    client = server.raw("write")
    replies = client.ask_all(b"P\t1\tapp\tt\t\ta,b,n,code", b"P\t2\tapp\tremovals\t\tid")
    assert replies == [b"0\t1"] * 2
    return client


@pytest.mark.parametrize("removal", REMOVALS)
def test_what_the_turn_removed_behind_a_range_is_not_found(start: Start, removal: str) -> None:
    """RocksDB comes to it where the last row of the range was changed by the same transaction."""
    server, _ = with_rows_of_two_parts(start)
    with opened(server) as client:
        replies = client.ask_all(
            CHANGE_OF_THE_LAST_IN_RANGE, REMOVALS[removal], b"1\t=\t1\t1\t9\t0", b"1\t=\t1\t1\t9\t0\t#"
        )
    assert [reply[:1] for reply in replies[:2]] == [b"0", b"0"]
    assert replies[2:] == [b"0\t4\t1\t1\t12\ta", b"0\t1\t1"]


def test_finds_share_a_commit_with_changes_that_move_nothing(start: Start) -> None:
    server, database = with_rows_of_two_parts(start)
    find = b"1\t=\t1\t1\t9\t0\t#"
    with opened(server) as client:
        before = transactions(database)
        replies = client.ask_all(
            CHANGE_OF_THE_LAST_IN_RANGE,
            find,
            b"1\t+\t4\t1\t2\t0\tc",
            find,
            b"1\t++\t4\t1\t1\t2\t5\tc\tU\t2",
            find,
        )
        assert replies == [b"0\t1\t1", b"0\t1\t1", b"0\t1", b"0\t1\t2", b"0\t2\t2\t\0", b"0\t1\t2"]
        assert transactions(database) == before + 1


def transactions(database: Database) -> int:
    """Of the binlog."""
    ((position,),) = database.sql("SELECT @@gtid_binlog_pos")
    return int(str(position).split("-")[-1])
