# SPDX-License-Identifier: GPL-2.0-only
"""What becomes of a turn that the cluster aborts when it has been certified already: Galera itself runs its
row events again, and the turn is done, once."""

from __future__ import annotations

import itertools
import threading
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
WRITERS = 4  # per node
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


ABORTS = 150  # an abort at the end of a trigger's statement is one of dozens


def test_what_is_aborted_at_the_end_of_a_triggers_statement_is_on_no_node_alone(cluster: Cluster) -> None:
    """The cluster forgets its part of the transaction then. InnoDB does not, and a commit would pass the
    cluster by: the rows would be on one node, and be told as duplicates when their requests run again."""
    node = cluster[0]
    node.sql("CREATE OR REPLACE TABLE d.counted (id INT PRIMARY KEY, n INT)")
    node.sql("CREATE OR REPLACE TABLE d.t (id INT PRIMARY KEY, counts INT)")
    node.sql("INSERT INTO d.counted VALUES (1, 0)")
    node.sql(
        "CREATE TRIGGER d.counts AFTER INSERT ON d.t FOR EACH ROW"
        " IF NEW.counts THEN UPDATE counted SET n = n + 1 WHERE id = 1; END IF"
    )
    cluster.catch_up()
    aborts = int(node.wsrep("local_bf_aborts"))
    is_over = threading.Event()
    ids = itertools.count(1, 2)
    with ThreadPoolExecutor(2 * WRITERS) as writers:
        writing = [
            writers.submit(insert_pairs, each, ids, is_over) for each in cluster for _ in range(WRITERS)
        ]
        try:
            node.wait_until(
                "transactions are aborted", lambda: int(node.wsrep("local_bf_aborts")) >= aborts + ABORTS, 120
            )
        finally:
            is_over.set()
        pairs = sum(writer.result() for writer in writing)
    cluster.catch_up()
    for each in cluster:
        assert each.value("SELECT COUNT(*) FROM d.t") == 2 * pairs
        assert each.value("SELECT n FROM d.counted") == pairs


def insert_pairs(node: GaleraNode, ids: Iterator[int], is_over: threading.Event) -> int:
    """Pairs of inserts, of which the second counts; how many."""
    pairs = 0
    with node.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tt\t\tid,counts") == b"0\t1"
        while not is_over.is_set():
            number = next(ids)
            assert wire.ask_all(b"1\t+\t2\t%d\t0" % number, b"1\t+\t2\t%d\t1" % (number + 1)) == [b"0\t1"] * 2
            pairs += 1
    return pairs
