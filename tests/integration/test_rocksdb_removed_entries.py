# SPDX-License-Identifier: GPL-2.0-only
"""RocksDB: a walk does not come to index entries that other requests of its transaction have removed.

RocksDB's own iterator comes to them, behind a range of equal keys whose last row the transaction has changed:
with SQL between BEGIN and COMMIT, too. A row that was moved into the range is then there twice, and behind a
row that was deleted the engine says that its data is corrupt.
"""

from __future__ import annotations

import pytest

from support.binlog import transaction_count
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
    "a find in the index alone": (
        [b"4\t=\t1\t1\t100\t0"],
        [b"0\t2\t1\t1\t1\t2"],
        [(1, 11), (2, 12)],
    ),
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
        b"P\t1\tapp\tt\t\tid,g,n",
        b"P\t2\tapp\tt\tby_g\tid,g,n",
        b"P\t3\tapp\tadditions\t\tg",
        b"P\t4\tapp\tt\tby_g\tg,id",
    )
    assert replies == [b"0\t1"] * 4
    return client


MOVES = {
    "an update": MOVE,
    "a replacement": b"1\t++\t3\t1\t2\t1\t12\tR",
    "an upsert": b"1\t++\t3\t1\t2\t1\t12\tU\t1,2",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("walk", WALKS)
def test_a_row_that_was_moved_in_the_turn_is_there_once(start: Start, engine: str, walk: str) -> None:
    server, database = served(start, engine)
    requests, replies, rows = WALKS[walk]
    with opened(server) as client:
        assert client.ask_all(MOVE, *requests) == [b"0\t1\t1", *replies]
    assert database.sql("SELECT id, n FROM t ORDER BY id") == rows


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("move", MOVES)
def test_a_row_is_there_once_however_it_was_moved(start: Start, engine: str, move: str) -> None:
    server, _ = served(start, engine)
    with opened(server) as client:
        moved, found = client.ask_all(MOVES[move], ROWS_OF_1)
    assert (moved[:2], found) == (b"0\t", b"0\t3\t1\t1\t11\t2\t1\t12")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_was_moved_to_null_is_there_once(start: Start, engine: str) -> None:
    """The bytes of NULL are those of 0."""
    server, database = served(start, engine)
    database.sql("UPDATE t SET g = IF(id = 1, NULL, 0)")
    with opened(server) as client:
        replies = client.ask_all(b"1\t=\t1\t2\t1\t0\tU\t2\t\0\t12", b"2\t=\t1\t\0\t100\t0")
    assert replies == [b"0\t1\t1", b"0\t3\t1\t\0\t11\t2\t\0\t12"]


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_stand_alone_are_inserted_where_their_triggers_move_others(
    start: Start, engine: str
) -> None:
    """No row behind the first one can be asked to begin a transaction."""
    server, database = served(start, engine)
    database.sql(
        "CREATE TRIGGER m AFTER INSERT ON additions FOR EACH ROW UPDATE t SET g = NEW.g WHERE id = 2"
    )
    with opened(server) as client:
        assert client.ask_all(MOVE, b"3\t++\t1\t2\t1\t7\tE")[1].startswith(b"0\t")
        assert client.ask(ROWS_OF_1 + b"\t#") == b"0\t1\t1"
    assert database.sql("SELECT id, g, n FROM t ORDER BY id") == [(1, 1, 111), (2, 7, 112)]


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
    ],
    ids=["a delete", "a move"],
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


def test_finds_and_changes_behind_a_removal_share_a_commit(start: Start) -> None:
    """But a request whose triggers use such a table. A busy machine may end the transaction between them."""
    server, _ = served(start, "ROCKSDB")
    with opened(server) as client:
        before = transaction_count(server)
        requests = [MOVE, *[ROWS_OF_1, ADD_100] * 20]
        assert all(reply.startswith(b"0\t") for reply in client.ask_all(*requests))
        assert transaction_count(server) < before + 10


CHANGE_OF_QUEUE = {
    "inserts, the trigger writes to RocksDB": ("InnoDB", "ROCKSDB", "INSERT", "NEW", b"1\t+\t1\t%d"),
    "deletes from RocksDB, the trigger writes to InnoDB": (
        "ROCKSDB",
        "InnoDB",
        "DELETE",
        "OLD",
        b"1\t=\t1\t%d\t1\t0\tD",
    ),
}


@pytest.mark.parametrize("change", CHANGE_OF_QUEUE)
def test_requests_whose_triggers_remove_nothing_of_rocksdb_share_a_commit(start: Start, change: str) -> None:
    engine, engine_of_log, event, row, request = CHANGE_OF_QUEUE[change]
    server, database = served(start, "ROCKSDB")
    database.sql(f"CREATE TABLE queue (g INT PRIMARY KEY) ENGINE={engine}")
    if event == "DELETE":
        database.sql("INSERT INTO queue SELECT seq FROM seq_1_to_20")
    database.sql(f"CREATE TABLE log (id INT PRIMARY KEY) ENGINE={engine_of_log}")
    database.sql(f"CREATE TRIGGER l AFTER {event} ON queue FOR EACH ROW INSERT INTO log VALUES ({row}.g)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tqueue\t\tg") == b"0\t1"
        before = transaction_count(server)
        replies = client.ask_all(*[request % number for number in range(1, 21)])
        assert all(reply.startswith(b"0\t1") for reply in replies)
        assert transaction_count(server) < before + 5
