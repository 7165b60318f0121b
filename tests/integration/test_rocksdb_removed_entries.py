# SPDX-License-Identifier: GPL-2.0-only
"""RocksDB: a walk does not come to index entries that other requests of its transaction have removed.

RocksDB's own iterator comes to them, behind a range of equal keys whose last row the transaction has changed:
with SQL between BEGIN and COMMIT, too. A row that was moved into the range is then there twice, and behind a
row that was deleted the engine says that its data is corrupt.
"""

from __future__ import annotations

import pytest

from support.mariadb import Database, Options, RowSocketServer, Start
from support.raw import RawConnection

ENGINES = ["InnoDB", "ROCKSDB"]
OPTIONS: Options = {
    "plugin-load-add": "rowsocket;ha_rocksdb",
    "loose-rowsocket-threads-write": 1,
    "log-bin": "binlog",
}

# Selections: 1 is `t` by its primary key, 2 by its index on g, 3 a table whose trigger changes `t`.
MOVE = b"1\t=\t1\t2\t1\t0\tU\t2\t1\t12"
"""Row 2 leaves g = 2 for g = 1."""
ROWS_OF_1 = b"2\t=\t1\t1\t100\t0"
ADD_100 = ROWS_OF_1 + b"\tC\tn\t+\t100"
WALKS = {
    "a find": ([ROWS_OF_1], [b"0\t3\t1\t1\t11\t2\t1\t12"], [(1, 11), (2, 12)]),
    "a count": ([ROWS_OF_1 + b"\t#"], [b"0\t1\t2"], [(1, 11), (2, 12)]),
    "an update": ([ADD_100], [b"0\t1\t2"], [(1, 111), (2, 112)]),
    "an update behind an offset": (
        [b"2\t=\t1\t1\t1\t2\tC\tn\t+\t100"],
        [b"0\t1\t0"],
        [(1, 11), (2, 12)],
    ),
    "a delete": ([ROWS_OF_1 + b"\tD"], [b"0\t1\t2"], []),
    "a group": (
        [b"G", ADD_100, ROWS_OF_1 + b"\t#", b"E"],
        [b"0\t1", b"0\t1\t2", b"0\t1\t2", b"0\t1"],
        [(1, 111), (2, 112)],
    ),
    "a trigger": ([b"3\t+\t1\t1"], [b"0\t1"], [(1, 111), (2, 112)]),
}


def served(start: Start, engine: str) -> tuple[RowSocketServer, Database]:
    """A server, and its database `app` with a table `t` of the engine."""
    server = start(RowSocketServer, OPTIONS)
    database = Database(server, "app")
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, g INT, n INT, KEY by_g (g)) ENGINE={engine}")
    database.sql("INSERT INTO t VALUES (1, 1, 11), (2, 2, 5)")
    database.sql("CREATE TABLE additions (g INT PRIMARY KEY) ENGINE=InnoDB")
    database.sql("""
        CREATE TRIGGER r BEFORE INSERT ON additions FOR EACH ROW UPDATE t SET n = n + 100 WHERE g = NEW.g
    """)
    return server, database


def opened(server: RowSocketServer) -> RawConnection:
    client = server.raw("write")
    replies = client.ask_all(
        b"P\t1\tapp\tt\t\tid,g,n", b"P\t2\tapp\tt\tby_g\tid,g,n", b"P\t3\tapp\tadditions\t\tg"
    )
    assert replies == [b"0\t1"] * 3
    return client


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("walk", WALKS)
def test_a_row_that_was_moved_in_the_turn_is_there_once(start: Start, engine: str, walk: str) -> None:
    server, database = served(start, engine)
    requests, replies, rows = WALKS[walk]
    with opened(server) as client:
        assert client.ask_all(MOVE, *requests) == [b"0\t1\t1", *replies]
    assert database.sql("SELECT id, n FROM t ORDER BY id") == rows


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_the_group_itself_has_moved_is_there_once(start: Start, engine: str) -> None:
    server, database = served(start, engine)
    with opened(server) as client:
        replies = client.ask_all(b"G", MOVE, ADD_100, b"E")
        assert replies == [b"0\t1", b"0\t1\t1", b"0\t1\t2", b"0\t1"]
    assert database.sql("SELECT id, n FROM t ORDER BY id") == [(1, 111), (2, 112)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("partitions", ["", "PARTITION BY HASH (b) PARTITIONS 3"])
@pytest.mark.parametrize(
    "removal",
    [
        b"1\t=\t2\t2\t2\t1\t0\tD",
        b"1\t=\t2\t2\t2\t1\t0\tU\t3\t2\t5",
        b"1\t++\t3\t1\t2\t2\t6\tR",
        b"1\t++\t3\t1\t2\t2\t6\tU\t2",
    ],
    ids=["a delete", "a move", "a replacement", "an upsert"],
)
def test_nothing_is_corrupt_behind_a_key_that_was_removed(
    start: Start, engine: str, partitions: str, removal: bytes
) -> None:
    server, database = served(start, engine)
    database.sql(f"CREATE TABLE p (a INT, b INT, n INT, PRIMARY KEY (a, b)) ENGINE={engine} {partitions}")
    database.sql("INSERT INTO p VALUES (1, 1, 11), (2, 2, 5)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tp\t\ta,b,n") == b"0\t1"
        changed, removed, found = client.ask_all(
            b"1\t=\t2\t1\t1\t1\t0\tU\t1\t1\t12", removal, b"1\t=\t1\t1\t9\t0"
        )
    assert (changed, removed[:2], found) == (b"0\t1\t1", b"0\t", b"0\t3\t1\t1\t12")


def test_all_of_them_share_a_commit(start: Start) -> None:
    """But a request whose triggers use such a table, behind a row that was removed."""
    server, database = served(start, "ROCKSDB")
    with opened(server) as client:
        before = transactions(database)
        requests = [MOVE, *(request for walk in WALKS if walk != "a trigger" for request in WALKS[walk][0])]
        assert all(reply.startswith(b"0\t") for reply in client.ask_all(*requests))
        assert transactions(database) == before + 1


def test_requests_whose_triggers_remove_nothing_share_a_commit(start: Start) -> None:
    server, database = served(start, "ROCKSDB")
    database.sql("CREATE TABLE log (id INT PRIMARY KEY) ENGINE=ROCKSDB")
    database.sql("CREATE TRIGGER l AFTER INSERT ON additions FOR EACH ROW INSERT INTO log VALUES (NEW.g)")
    with opened(server) as client:
        before = transactions(database)
        assert client.ask_all(b"3\t+\t1\t7", b"3\t+\t1\t8", ROWS_OF_1 + b"\t#") == [b"0\t1"] * 2 + [
            b"0\t1\t1"
        ]
        assert transactions(database) == before + 1


def transactions(database: Database) -> int:
    """Of the binlog."""
    ((position,),) = database.sql("SELECT @@gtid_binlog_pos")
    return int(str(position).split("-")[-1])
