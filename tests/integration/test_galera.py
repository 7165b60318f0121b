# SPDX-License-Identifier: GPL-2.0-only
"""A Galera cluster of one node, without real neighbours: see tests/replication/test_galera_cluster.py for
those."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

import rowsocket
from support.mariadb import RowSocketServer
from support.tree import environment_path

PROVIDER = "usr/lib/galera/libgalera_smm.so"


@pytest.fixture
def node(start: Callable[..., RowSocketServer]) -> RowSocketServer:
    """A cluster of one node, with a table of one row."""
    provider = environment_path("ROWSOCKET_SERVER_TREE") / PROVIDER
    if not provider.exists():
        pytest.skip(f"{PROVIDER} is not in the server's tree")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start(
        RowSocketServer,
        {
            "wsrep-on": 1,
            "wsrep-provider": str(provider),
            "wsrep-cluster-address": "gcomm://",
            "wsrep-node-address": "127.0.0.1",
            "wsrep-provider-options": f"gmcast.listen_addr=tcp://127.0.0.1:{port}",
            "binlog-format": "ROW",
            "innodb-autoinc-lock-mode": 2,
        },
    )
    server.wait_until("the node is ready", lambda: server.status("wsrep_ready")["wsrep_ready"] == "ON")
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)")
    server.sql("INSERT INTO d.t VALUES (1, 10)")
    return server


def test_writes_go_to_the_cluster(node: RowSocketServer) -> None:
    def replicated() -> int:
        return int(node.status("wsrep_replicated")["wsrep_replicated"])

    before = replicated()
    with rowsocket.connect(*node.write_address(), text=True) as writer:
        writer.open_index("d", "t", "n").update(1, [11])
        writer.open_index("d", "t", "id,n").insert([2, 20])
    assert replicated() == before + 2
    assert node.sql("SELECT id, n FROM d.t") == [(1, 11), (2, 20)]


def test_a_node_whose_replication_is_switched_off_and_on_is_served(node: RowSocketServer) -> None:
    with rowsocket.connect(*node.write_address(), text=True) as writer:
        index = writer.open_index("d", "t", "n")
        for value, switch in enumerate(["OFF", "ON"], start=20):
            node.sql(f"SET GLOBAL wsrep_on = {switch}")
            index.update(1, [value])
            assert index.get(1) == (str(value),)


def test_where_replication_is_switched_off_requests_share_a_statement_again(node: RowSocketServer) -> None:
    """On a node each has its own, so that it can be taken back alone."""
    with node.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tt\t\tid") == b"0\t1"
        assert wire.ask(b"1\t+\t1\t10") == b"0\t1"
        node.sql("SET GLOBAL wsrep_on = OFF")
        node.sql("FLUSH BINARY LOGS")
        assert wire.ask_all(*(b"1\t+\t1\t%d" % number for number in range(20, 30))) == [b"0\t1"] * 10
        log = node.sql("SHOW BINARY LOGS")[-1][0]
        events = [str(row[2]) for row in node.sql(f"SHOW BINLOG EVENTS IN '{log}'")]
        assert events.count("Write_rows_v1") == 1
        node.sql("SET GLOBAL wsrep_on = ON")


def test_ddl_of_a_galera_node_passes_beside_readers(node: RowSocketServer) -> None:
    with rowsocket.connect(*node.read_address(), text=True) as reader:
        index = reader.open_index("d", "t", "n")
        for column in range(5):
            assert index.get(1) == ("10",)
            node.sql(f"ALTER TABLE d.t ADD COLUMN c{column} INT")


def test_a_write_reaches_the_children_of_foreign_keys(node: RowSocketServer) -> None:
    node.sql(
        "CREATE TABLE d.c (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES d.t (id) ON"
        " DELETE CASCADE)"
    )
    node.sql("INSERT INTO d.t VALUES (2, 20), (3, 30)")
    node.sql("INSERT INTO d.c VALUES (1, 1), (2, 2), (3, 3)")
    with rowsocket.connect(*node.write_address(), text=True) as writer:
        index = writer.open_index("d", "t", "n")
        for row_id in (2, 3):
            assert index.update(row_id, [0]) == index.delete(row_id) == 1
            node.sql(f"ALTER TABLE d.c ADD COLUMN c{row_id} INT")
    assert node.sql("SELECT id FROM d.c") == [(1,)]
