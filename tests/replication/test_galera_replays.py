# SPDX-License-Identifier: GPL-2.0-only
"""What becomes of a turn that the cluster aborts when it has been certified already: Galera itself runs its
row events again, and the turn is done, once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from support.galera import Cluster, GaleraNode
from support.raw import RawConnection
from support.tree import ServerTree

ROUNDS_MAX = 30
APPLYING = (
    "SELECT COUNT(*) FROM information_schema.processlist"
    " WHERE user = 'system user' AND state LIKE '%%_rows_%%'"
)
numbers = itertools.count(1)
ONE_THREAD = {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0}


@pytest.fixture(scope="module")
def cluster(tree: ServerTree, template: Path) -> Iterator[Cluster]:
    """Two nodes. A change of all of `many` takes its time. `noted` has a trigger: a group that inserts there
    is several statements, which lock gaps."""
    with Cluster(tree, template, 2, ONE_THREAD) as cluster:
        first = cluster[0]
        first.sql("CREATE TABLE d.many (id INT PRIMARY KEY, n INT NOT NULL)")
        first.sql("CREATE TABLE d.hot (id INT PRIMARY KEY, k INT NOT NULL, n INT NOT NULL, KEY k (k))")
        first.sql("CREATE TABLE d.noted (id INT PRIMARY KEY)")
        first.sql("CREATE TRIGGER d.notes BEFORE INSERT ON d.noted FOR EACH ROW SET @noted = 1")
        first.sql("INSERT INTO d.many SELECT seq, 0 FROM d.seq_1_to_20000")
        first.sql("INSERT INTO d.hot VALUES (1, 1, 0)")
        cluster.catch_up()
        yield cluster


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[RawConnection]:
    """To the first node: 1 = noted, 2 = hot by its key."""
    with cluster[0].raw("write") as wire:
        assert wire.ask_all(b"P\t1\td\tnoted\t\tid", b"P\t2\td\thot\tk\tn") == [b"0\t1"] * 2
        yield wire


def change_all(node: GaleraNode, number: int) -> None:
    """One transaction whose last row stands in the gap before the hot one."""
    with closing(node.connect("d")) as connection, connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("UPDATE many SET n = n + 1")
        cursor.execute("INSERT INTO hot VALUES (%s, 0, 0)", (100 + number,))
        cursor.execute("COMMIT")


def abort_a_group(cluster: Cluster, wire: RawConnection) -> None:
    """A group counts the hot row up, and is in the way of another node's transaction that comes before it."""
    node, other = cluster
    aborts = node.wsrep("local_bf_aborts")
    with ThreadPoolExecutor(1) as threads:
        while node.wsrep("local_bf_aborts") == aborts:
            number = next(numbers)
            assert number <= ROUNDS_MAX
            changing = threads.submit(change_all, other, number)
            node.wait_until("it applies the change", lambda: int(str(node.value(APPLYING))) > 0)
            wire.send(b"G\n1\t+\t1\t%d\n2\t>=\t1\t1\t1\t0\t+\t1\nE\n" % number)
            assert wire.lines(4) == [b"0\t1", b"0\t1", b"0\t1\t1", b"0\t1"]
            changing.result(60)


def test_a_turn_that_the_cluster_itself_runs_again_is_done_once(
    cluster: Cluster, wire: RawConnection
) -> None:
    while cluster[0].wsrep("local_replays") == "0":
        abort_a_group(cluster, wire)
    cluster.catch_up()
    [(count,)] = cluster[0].sql("SELECT COUNT(*) FROM d.noted")
    for node in cluster:
        assert node.sql("SELECT n FROM d.hot WHERE id = 1") == [(count,)]
        assert node.sql("SELECT COUNT(*) FROM d.noted") == [(count,)]
