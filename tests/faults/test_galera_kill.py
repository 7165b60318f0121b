# SPDX-License-Identifier: GPL-2.0-only
"""A client is ended while its write is being committed on a node of a cluster, behind another commit.

The server keeps its own KILLs back then: the leader of a group that gave up would leave all later commits of
the node waiting.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from support.galera import Cluster, GaleraNode
from support.raw import ConnectionClosed, RawConnection
from support.schema_tables import of_client
from support.tree import ServerTree

WAITING = "FROM information_schema.processlist WHERE state = 'Waiting for prior transaction to commit'"
HELD = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'INSERT%%' AND time_ms > 100"


def insert_one(node: GaleraNode) -> None:
    with closing(node.connect("d")) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO t VALUES (1)")


def waits_for_another_commit(node: GaleraNode) -> bool:
    return bool(node.value(f"SELECT COUNT(*) {WAITING}") == 1)


@pytest.fixture
def node(fault: Path, tree: ServerTree, template: Path) -> Iterator[GaleraNode]:
    """The first node of a cluster, with a table `d.t`."""
    with Cluster(tree, template, 2, {"log-bin": "held-log", "sync-binlog": 1}) as cluster:
        cluster[0].sql("CREATE TABLE d.t (id INT PRIMARY KEY)")
        yield cluster[0]


@contextlib.contextmanager
def commit_behind_another(node: GaleraNode, wire: RawConnection, fault: Path) -> Iterator[None]:
    """The client's insert of 2 waits, until the end of the block, for a commit of SQL's insert of 1."""
    with ThreadPoolExecutor(1) as threads:
        fault.write_text("hold held-log")
        held = threads.submit(insert_one, node)
        node.wait_until("a commit is held", lambda: node.value(HELD) == 1)
        wire.send(b"1\t+\t1\t2\nP\t2\td\tt\t\tid\n")  # the second one has the first one committed
        node.wait_until("the next one waits for it", lambda: waits_for_another_commit(node))
        try:
            yield
        finally:
            fault.unlink()
            held.result(30)


def test_the_commits_behind_that_of_a_client_that_is_ended_go_on(node: GaleraNode, fault: Path) -> None:
    with node.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tt\t\tid") == b"0\t1"
        number = of_client(node, wire)["ID"]
        with commit_behind_another(node, wire, fault):
            node.sql(f"SET GLOBAL rowsocket_kill = {number}")
        with pytest.raises(ConnectionClosed):
            wire.lines(3)  # there may be replies to what it has asked
    with node.raw("write") as wire:
        assert wire.ask_all(b"P\t1\td\tt\t\tid", b"1\t+\t1\t3") == [b"0\t1", b"0\t1"]
    assert node.sql("SELECT id FROM d.t ORDER BY id") == [(1,), (2,), (3,)]


def test_a_thread_that_is_killed_while_it_commits_closes_its_connections_behind_the_commit(
    node: GaleraNode, fault: Path
) -> None:
    with node.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tt\t\tid") == b"0\t1"
        with commit_behind_another(node, wire, fault):
            [(thread,)] = node.sql(f"SELECT id {WAITING}")
            node.sql(f"KILL {thread}")
        with pytest.raises(ConnectionClosed):
            wire.lines(3)
    assert node.sql("SELECT id FROM d.t ORDER BY id") == [(1,), (2,)]
