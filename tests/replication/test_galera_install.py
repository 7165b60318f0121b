# SPDX-License-Identifier: GPL-2.0-only
"""INSTALL and UNINSTALL on a node of a Galera cluster, as docs/operating.md tells them.

The server sends both statements to all nodes, unless the session says wsrep_on=0.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.galera import Cluster, GaleraNode
from support.load import Load, Operation
from support.raw import ConnectionClosed
from support.tree import ServerTree


@pytest.fixture
def cluster(tree: ServerTree, template: Path) -> Iterator[Cluster]:
    """Two nodes that serve, with the table `d.t`."""
    with Cluster(tree, template, 2) as cluster:
        cluster[0].sql("CREATE TABLE d.t (id INT PRIMARY KEY)")
        cluster.catch_up()
        yield cluster


def serves(node: GaleraNode) -> bool:
    return bool(node.status("Rowsocket_port_write"))


def serves_nobody(node: GaleraNode) -> bool:
    return not serves(node)


def execute_here(node: GaleraNode, statement: str) -> None:
    """As an operator does it who means this node alone."""
    with contextlib.closing(node.connect()) as session, session.cursor() as cursor:
        cursor.execute("SET SESSION wsrep_on = 0")
        cursor.execute(statement)


def test_uninstall_without_wsrep_on_leaves_the_other_node_and_its_clients(cluster: Cluster) -> None:
    node, other = cluster
    with other.raw("write") as client:
        assert client.ask(b"P\t0\td\tt\t\tid") == b"0\t1"
        execute_here(node, "UNINSTALL SONAME 'rowsocket'")
        node.sql("INSERT INTO d.t VALUES (1)")
        cluster.catch_up()  # what the node sent, if it did, is applied
        assert client.ask(b"0\t=\t1\t1") == b"0\t1\t1"
    assert (serves(node), serves(other)) == (False, True)


def test_install_without_wsrep_on_brings_back_the_node_alone(cluster: Cluster) -> None:
    node, other = cluster
    execute_here(node, "UNINSTALL SONAME 'rowsocket'")
    execute_here(other, "UNINSTALL SONAME 'rowsocket'")
    execute_here(node, "INSTALL SONAME 'rowsocket'")
    cluster.catch_up()
    assert (serves(node), serves(other)) == (True, False)


def test_a_plain_uninstall_goes_to_all_nodes(cluster: Cluster) -> None:
    cluster[1].sql("UNINSTALL SONAME 'rowsocket'")
    cluster.catch_up()
    assert [serves(node) for node in cluster] == [False, False]


def test_a_plain_uninstall_beside_writers_does_not_stop_the_cluster(cluster: Cluster) -> None:
    """Commits that the cluster has ordered behind it wait for its end, and it does not wait for them."""
    cluster[0].sql("CREATE TABLE d.hot (id INT PRIMARY KEY, n INT)")
    cluster[0].sql("INSERT INTO d.hot VALUES (1, 0)")
    cluster.catch_up()
    acknowledged: list[int] = []

    def make(number: int, stack: contextlib.ExitStack) -> Operation:
        client = stack.enter_context(cluster[number % 2].raw("write"))
        assert client.ask_all(b"P\t0\td\tt\t\tid", b"P\t1\td\thot\t\tn") == [b"0\t1"] * 2
        ids = itertools.count(number, 6)

        def write() -> None:
            with contextlib.suppress(ConnectionClosed, OSError):
                inserted = next(ids)
                if client.ask(b"0\t+\t1\t%d" % inserted) == b"0\t1":
                    acknowledged.append(inserted)
                client.ask(b"1\t=\t1\t1\t1\t0\t+\t1")

        return write

    with Load(6, make) as load:
        for _ in range(5):
            load.wait_for_more()
        with contextlib.closing(cluster[0].connect(read_timeout_s=60)) as admin, admin.cursor() as session:
            session.execute("UNINSTALL SONAME 'rowsocket'")
    for number, node in enumerate(cluster):
        node.wait_until("RowSocket has ended", functools.partial(serves_nobody, node))
        node.sql(f"INSERT INTO d.t VALUES ({-1 - number})")
    cluster.catch_up()
    tables = [node.sql("SELECT id FROM d.t ORDER BY id") for node in cluster]
    assert tables[0] == tables[1]
    assert {inserted for [inserted] in tables[0]} >= set(acknowledged)
