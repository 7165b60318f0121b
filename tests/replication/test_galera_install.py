# SPDX-License-Identifier: GPL-2.0-only
"""INSTALL and UNINSTALL on a node of a Galera cluster, as docs/operating.md tells them.

The server sends both statements to all nodes, unless the session says wsrep_on=0.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.galera import Cluster, GaleraNode
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
