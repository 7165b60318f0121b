# SPDX-License-Identifier: GPL-2.0-only
"""Writes beside an ALTER TABLE that copies the table. 11.8 lets them go on, and adds them to the copy at its
end; 10.11 lets them wait."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pymysql
import pytest

from support.galera import Cluster
from support.gate import open_ids
from support.locks import wait_for_state
from support.mariadb import Database, Options, RowSocketServer, Start
from support.raw import ConnectionClosed, RawConnection
from support.small_disk import small_disk
from support.tree import ServerTree

WAITING = "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket' AND state = 'User lock'"
ALTERING = "SELECT id FROM information_schema.processlist WHERE info LIKE 'ALTER TABLE%'"
ROWS = 20_000
ALTERS = 3

WIDE = b"x" * 300
"""Some rows of it fill the cache of an ALTER."""
CHANGES = [b"3\t=\t1\t3\t1\t0\tU\t7", b"1\t+\t3\t99\t2\tx", b"3\t=\t1\t4\t1\t0\tU\t7"]
REFUSED = {
    "an insert of several rows": [
        b"1\t+\t3\t1\t2\tx",
        b"2\t++\t3\t101\t%b1\t2\tx" % b"".join(b"%d\t2\t%b\t" % (id, WIDE) for id in range(1_000, 1_100)),
    ],
    "a change of several rows": [b"3\t>=\t1\t1\t100\t0\t+\t7"],
    "a group": [b"G", *CHANGES, b"1\t+\t3\t1\t2\tx", b"E"],
    "a group that finds another value": [
        b"G\tmust",
        *CHANGES,
        b"4\t=\t1\t5\t1\t0\tF\t=\t0\t99\tU\t7",
        b"E",
    ],
}
"""Each of them changes rows, and fails behind that."""


@contextlib.contextmanager
def slow_alter(database: Database, table: str, *, is_killed: bool = False) -> Iterator[None]:
    """An ALTER TABLE that copies the table. What runs inside begins while rows are copied; behind it, the
    ALTER is done, or was killed. It takes some time for each row."""
    slow = "SHA2(REPEAT(CONCAT('x', id), 1000000), 512)"

    def alter() -> None:
        killed = contextlib.suppress(pymysql.err.OperationalError) if is_killed else contextlib.nullcontext()
        with database.session() as session, killed:
            session.execute(f"ALTER TABLE {table} ADD added CHAR(128) DEFAULT ({slow}), ALGORITHM=COPY")

    thread = threading.Thread(target=alter)
    thread.start()
    database.server.wait_until(
        "copies the table",
        lambda: any(str(row[6]).startswith("copy") for row in database.server.sql("SHOW PROCESSLIST")),
    )
    yield
    thread.join()


def test_no_change_beside_a_copying_alter_is_lost(
    database: Database, raw: Callable[[str], RawConnection]
) -> None:
    """The connection's tables stay open from one transaction to the next, and the ALTER sees all of them."""
    database.sql("CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL, filler CHAR(200) NOT NULL)")
    database.sql(f"INSERT INTO counter SELECT seq, 0, 'x' FROM seq_1_to_{ROWS}")
    altered = threading.Event()

    def alter() -> None:
        try:
            for number in range(ALTERS):
                kind = ("BIGINT", "INT")[number % 2]
                database.sql(f"ALTER TABLE counter MODIFY n {kind} NOT NULL, ALGORITHM=COPY")
        finally:
            altered.set()

    connection = raw("write")
    assert connection.tokens("P", 1, database.name, "counter", "PRIMARY", "n") == [b"0", b"1"]
    thread = threading.Thread(target=alter)
    thread.start()
    changes = 0
    while not altered.is_set():
        row = 1 + changes % ROWS
        assert connection.tokens(1, "=", 1, row, 1, 0, "+", 1) == [b"0", b"1", b"1"]
        changes += 1
    thread.join()
    assert changes > 0
    assert database.value("SELECT SUM(n) FROM counter") == changes


@pytest.mark.parametrize("refused", REFUSED)
def test_nothing_of_a_refused_request_is_in_the_table_behind_the_alter(
    database: Database, raw: Callable[[str], RawConnection], refused: str
) -> None:
    """And what other requests of the turn did, is."""
    database.sql("""
        CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, filler VARCHAR(400) NOT NULL,
          CHECK (id <> 40 OR n < 5))
    """)
    database.sql("INSERT INTO t SELECT seq, 0, REPEAT('x', 300) FROM seq_1_to_40")
    connection = raw("write")
    for number, columns in ((1, "id,n,filler"), (2, "id,n,filler"), (3, "n"), (4, "n")):
        filtered = [b"n"] if number == 4 else []
        assert connection.tokens("P", number, database.name, "t", "", columns, *filtered) == [b"0", b"1"]
    with slow_alter(database, "t"):
        replies = connection.ask_all(b"3\t=\t1\t1\t1\t0\tU\t1", *REFUSED[refused], b"3\t=\t1\t2\t1\t0\tU\t1")
    assert (replies[0], replies[-1]) == (b"0\t1\t1", b"0\t1\t1")
    assert any(reply.startswith(b"1\t1\t") for reply in replies)
    assert database.sql("SELECT id, n FROM t WHERE n <> 0 OR id > 40") == [(1, 1), (2, 1)]


def test_rows_of_a_request_that_waited_for_a_lock_are_there_once_behind_the_alter(
    database: Database, raw: Callable[[str], RawConnection]
) -> None:
    """It is undone where it meets the lock, and comes again."""
    database.script("""
        CREATE TABLE t (id INT, filler VARCHAR(400), KEY by_id (id));
        INSERT INTO t SELECT seq, 'x' FROM seq_1_to_40;
        CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL);
        INSERT INTO counter VALUES (1, 0), (2, 0);
        CREATE TRIGGER counts AFTER INSERT ON t FOR EACH ROW
          UPDATE counter SET n = n + 1 WHERE id = IF(NEW.id < 1100, 1, 2)""")
    connection = raw("write")
    assert connection.tokens("P", 1, database.name, "t", "by_id", "id,filler") == [b"0", b"1"]
    rows = b"\t".join(b"%d\t%b" % (id, WIDE) for id in range(1_000, 1_101))
    with slow_alter(database, "t"), database.session() as other:
        parked = database.server.status("Rowsocket_parked")
        other.execute("BEGIN")
        other.execute("UPDATE counter SET n = n WHERE id = 2")
        connection.send(b"1\t++\t2\t101\t%b\n" % rows)
        database.server.wait_until(
            "waits for the row",
            lambda: database.server.status("Rowsocket_parked") != parked,
        )
        other.execute("COMMIT")
        assert connection.line().startswith(b"0\t2\t1")
    assert database.value("SELECT COUNT(*) FROM t WHERE id >= 1000") == 101
    assert database.value("SELECT SUM(n) FROM counter") == 101


def test_a_write_that_is_done_is_not_called_undone_where_what_the_alter_collects_has_no_room(
    start: Start, tmp_path: Path
) -> None:
    """Its commit fails when it stands in the binlog. (The server loses it behind the ALTER; SQL's, too.)"""
    with contextlib.ExitStack() as at_end:
        disk = at_end.enter_context(small_disk(tmp_path / "disk", 1 << 20))
        server = start(RowSocketServer, {"log-bin": "binlog", "tmpdir": str(disk)})
        at_end.callback(server.stop)
        database = Database(server, "app")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY, filler VARCHAR(400) NOT NULL)")
        database.sql("INSERT INTO t SELECT seq, 'x' FROM seq_1_to_40")
        rows = b"\t".join(b"%d\t%b" % (id, WIDE) for id in range(1_000, 1_150))
        reply = b""
        with server.raw("write") as wire:
            assert wire.tokens("P", 1, "app", "t", "", "id,filler") == [b"0", b"1"]
            with slow_alter(database, "t"):
                full = disk / "full"
                full.write_bytes(bytes(shutil.disk_usage(disk).free - 40_000))
                with contextlib.suppress(ConnectionClosed):
                    reply = wire.ask(b"1\t++\t2\t150\t%b" % rows)
                is_done = database.value("SELECT COUNT(*) FROM t WHERE id >= 1000") == 150
                full.unlink()
    # 10.11 lets the write wait for the ALTER, and has no room for its events in the binlog's cache.
    assert reply.startswith(b"1") != is_done


def test_commits_that_the_alter_collects_wait_for_each_other_as_long_as_it_takes(
    start: Start, tree: ServerTree
) -> None:
    """The first one waits for a replica that does not come. `lock_wait_timeout` is for other waits."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 2, "lock-wait-timeout": 0})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO t SELECT seq, 0 FROM seq_1_to_40")
    with server.raw("write") as first, server.raw("write") as second:
        for client in (first, second):
            open_ids(client, database, (1, "t", "n"))
        with slow_alter(database, "t"):
            if tree.series != "10.11":  # there the writes wait for the table
                server.sql("SET GLOBAL rpl_semi_sync_master_timeout = 1000000")
                server.sql("SET GLOBAL rpl_semi_sync_master_enabled = ON")
                first.send(b"1\t=\t1\t1\t1\t0\tU\t7\n")
                wait_for_state(server, "Waiting for semi-sync ACK from slave", of_worker=True)
                second.send(b"1\t=\t1\t2\t1\t0\tU\t7\n")
                wait_for_state(server, "User lock", of_worker=True)
                server.sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF")
                assert second.line() == b"0\t1\t1"
                assert server.value("SELECT n FROM app.t WHERE id = 2") == 7


def test_nothing_is_left_of_what_no_longer_waits_to_be_committed_on_a_node(
    tree: ServerTree, template: Path
) -> None:
    """Commits that the ALTER collects come one after the other, and on a node they wait for the ALTER: the
    first with the cluster, and the next one, which is killed, for the first."""
    options: Options = {"loose-rowsocket-threads-write": 2, "wsrep-OSU-method": "RSU"}
    with Cluster(tree, template, 1, options) as [node], contextlib.ExitStack() as stack:
        database = Database(node, "app")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)")
        database.sql("INSERT INTO t SELECT seq, 0 FROM seq_1_to_40")
        clients = [stack.enter_context(node.raw("write")) for _ in range(2)]
        for client in clients:
            open_ids(client, database, (1, "t", "n"))
        with slow_alter(database, "t", is_killed=True):
            for id, client in enumerate(clients, 1):
                client.send(b"1\t=\t1\t%d\t1\t0\tU\t7\n" % id)
            if tree.series != "10.11":  # there the writes wait for the table
                wait_for_state(node, "User lock", of_worker=True)
                node.sql("KILL QUERY %s", node.sql(WAITING)[0])
            # It would wait for the first writer, which waits for it: SQL's would, too.
            node.sql("KILL QUERY %s", node.sql(ALTERING)[0])
        replies = [client.line() for client in clients]
        done = [(id,) for id, reply in enumerate(replies, 1) if reply == b"0\t1\t1"]
        assert len(done) == (2 if tree.series == "10.11" else 1)
        for id, client in enumerate(clients, 11):  # a transaction that was left would be committed with these
            assert client.ask(b"1\t=\t1\t%d\t1\t0\tU\t9" % id) == b"0\t1\t1"
        assert node.sql("SELECT id FROM app.t WHERE n = 7") == done
