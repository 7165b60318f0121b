# SPDX-License-Identifier: GPL-2.0-only
"""DDL of another node interrupts sessions here while they open tables: nobody's request pays for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.galera import Cluster
from support.load import Load, Operation
from support.tree import ServerTree

ROUNDS = 60
WRITERS = 6
WALKERS = 3
WALKED_ROWS = 30_000
numbers = itertools.count(1)


@pytest.fixture
def cluster(tree: ServerTree, template: Path) -> Iterator[Cluster]:
    """Two nodes with a table whose trigger notes into another one."""
    with Cluster(tree, template, 2) as cluster:
        cluster[0].sql("CREATE TABLE d.t (id INT PRIMARY KEY)")
        cluster[0].sql("CREATE TABLE d.noted (id INT AUTO_INCREMENT PRIMARY KEY, t INT)")
        cluster[0].sql(
            "CREATE TRIGGER d.notes AFTER INSERT ON d.t FOR EACH ROW"
            " BEGIN INSERT INTO d.noted (t) VALUES (NEW.id); END"
        )
        cluster.catch_up()
        yield cluster


def test_a_trigger_that_an_interrupted_session_has_parsed_by_half_is_parsed_again(cluster: Cluster) -> None:
    node, other = cluster

    def make(number: int, stack: ExitStack) -> Operation:
        wire = stack.enter_context(node.raw("write"))
        assert wire.ask(b"P\t0\td\tt\t\tid") == b"0\t1"

        def insert() -> None:
            assert wire.ask(b"0\t+\t1\t%d" % next(numbers)) == b"0\t1"

        return insert

    with Load(WRITERS, make) as load:
        for number in range(ROUNDS):
            node.sql("FLUSH LOCAL TABLES")
            other.sql(f"ALTER TABLE d.t COMMENT = '{number}'")
            other.sql(f"ALTER TABLE d.noted COMMENT = '{number}'")
            load.wait_for_more()  # a request that loses to DDL for two seconds on end may say so
    cluster.catch_up()
    for one in cluster:
        [(rows,), (noted,)] = [one.sql(f"SELECT COUNT(*) FROM d.{table}")[0] for table in ("t", "noted")]
        assert rows == noted > 0


def test_a_walk_that_ddl_of_another_node_interrupts_is_begun_again(cluster: Cluster) -> None:
    node, other = cluster
    other.sql("CREATE TABLE d.walked (id INT PRIMARY KEY, a INT)")
    other.sql(f"INSERT INTO d.walked SELECT seq, 0 FROM d.seq_1_to_{WALKED_ROWS}")
    cluster.catch_up()

    def make(number: int, stack: ExitStack) -> Operation:
        wire = stack.enter_context(node.raw("read"))
        assert wire.ask(b"P\t0\td\twalked\t\tid,a\ta") == b"0\t1"

        def walk() -> None:
            wire.send(b"0\t=\t1\t5\n" + b"0\t>=\t1\t0\t10\t0\tF\t>\t0\t100\n")
            assert wire.line() == b"0\t2\t5\t0"
            assert wire.line() == b"0\t2"  # all rows examined, none sent

        return walk

    with Load(WALKERS, make) as load:
        for number in range(ROUNDS):
            other.sql(f"ALTER TABLE d.walked COMMENT = '{number}'")
            load.wait_for_more()
