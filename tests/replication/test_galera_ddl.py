# SPDX-License-Identifier: GPL-2.0-only
"""DDL of another node interrupts sessions here while they open tables: nobody's request pays for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import pytest

from support.galera import Cluster
from support.kills import kill_all
from support.load import Load, Operation
from support.raw import RawConnection
from support.tree import ServerTree

ROUNDS = 60
WRITERS = 6
WALKERS = 3
WALKED_ROWS = 30_000
WALK = b"0\t>=\t1\t0\t10\t0\tF\t>\t0\t100\n"
"""It examines all rows, and none passes its filter."""
NONE_FOUND = b"0\t2"
KILLED = (b"188", b"1317")
"""What a KILL is told as: by InnoDB, or by the server."""
numbers = itertools.count(1)


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def walked(cluster: Cluster) -> Cluster:
    """The same, with a table for walks."""
    cluster[1].sql("CREATE TABLE d.walked (id INT PRIMARY KEY, a INT)")
    cluster[1].sql(f"INSERT INTO d.walked SELECT seq, 0 FROM d.seq_1_to_{WALKED_ROWS}")
    cluster.catch_up()
    return cluster


def opened(wire: RawConnection) -> RawConnection:
    assert wire.ask(b"P\t0\td\twalked\t\tid,a\ta") == b"0\t1"
    return wire


def test_a_walk_that_ddl_of_another_node_interrupts_is_begun_again(walked: Cluster) -> None:
    node, other = walked

    def make(number: int, stack: ExitStack) -> Operation:
        wire = opened(stack.enter_context(node.raw("read")))

        def walk() -> None:
            wire.send(b"0\t=\t1\t5\n" + WALK)
            assert wire.line() == b"0\t2\t5\t0"
            assert wire.line() == NONE_FOUND

        return walk

    with Load(WALKERS, make) as load:
        for number in range(ROUNDS):
            other.sql(f"ALTER TABLE d.walked COMMENT = '{number}'")
            load.wait_for_more()


@pytest.mark.parametrize("port", ["read", "write"])
def test_a_walk_that_an_administrator_interrupts_is_not(
    walked: Cluster, port: Literal["read", "write"]
) -> None:
    node, _ = walked
    walks = 2000
    with opened(node.raw(port)) as wire:
        wire.send(WALK * walks)
        reply = NONE_FOUND
        while reply == NONE_FOUND and walks > 0:
            kill_all(node, "KILL QUERY")  # between two walks it is meant for neither
            reply = wire.line()
            walks -= 1
        assert reply.split(b"\t")[2] in KILLED
