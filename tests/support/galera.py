# SPDX-License-Identifier: GPL-2.0-only
"""Galera clusters on this machine, every node on loopback ports of its own.

All nodes begin with copies of the first one's data folder, and say so. So a node joins with the writesets
that it has missed, from the memory of another node, and needs nothing of the programs that copy a whole
state.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.mariadb import Options, RowSocketServer
from support.ports import free_ports
from support.tree import ServerFailure, ServerTree

PROVIDER = "usr/lib/galera/libgalera_smm.so"
JOIN_TIMEOUT_S = 120.0
SUSPECT_TIMEOUT_S = 20
"""A node that is silent for so long is cut off: a busy machine may stand still for seconds."""


def provider(tree: ServerTree) -> Path:
    """The Galera library of the server's tree; skips the test where it is missing."""
    library = tree.root / PROVIDER
    if not library.exists():
        pytest.skip(f"{PROVIDER} is not in the server's tree")
    return library


class GaleraTree(ServerTree):
    """The server's tree with our state transfer in its path."""

    def environment(self) -> dict[str, str]:
        environment = super().environment()
        return {**environment, "PATH": f"{Path(__file__).parent / 'galera_transfer'}:{environment['PATH']}"}


class GaleraNode(RowSocketServer):
    """One node of a cluster."""

    def __init__(
        self, tree: ServerTree, template: Path, options: Options, provider_options: dict[str, object]
    ) -> None:
        super().__init__(tree, template, options)
        self.provider_options = provider_options

    def start_in(self, addresses: Sequence[str], *, first: bool = False) -> None:
        """Start as the cluster's first node, or join the nodes at these addresses; returns when the node is
        ready."""
        settings = ";".join(f"{name}={value}" for name, value in self.provider_options.items())
        self.options["wsrep-provider-options"] = settings
        self.options["wsrep-cluster-address"] = "gcomm://" + ("" if first else ",".join(addresses))
        self.start()
        self.wait_until_ready()

    def note_position(self, position: str) -> None:
        """Which state of the cluster the data folder has, as uuid:seqno."""
        (self.data / "position").write_text(position)

    def wait_until_ready(self) -> None:
        """Wait until the node answers as a member of the cluster."""
        self.wait_until(
            "the node is ready",
            lambda: self.wsrep("ready") == "ON" and self.wsrep("local_state") == "4",
            JOIN_TIMEOUT_S,
        )

    def wait_until_applied(self, number: int) -> None:
        """Wait until the node has committed the cluster's transaction of this number."""
        self.wait_until(f"it has applied {number}", lambda: int(self.wsrep("last_committed")) >= number)

    def wsrep(self, name: str) -> str:
        """The status value `wsrep_<name>`."""
        return self.status(f"wsrep_{name}")[f"wsrep_{name}"]

    @contextlib.contextmanager
    def isolated(self) -> Iterator[None]:
        """Without the network to the other nodes, until the end of the block."""
        self.sql("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'")
        self.wait_until("the node has lost the cluster", lambda: self.wsrep("ready") == "OFF")
        try:
            yield
        finally:
            self.sql("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'")
            self.wait_until_ready()

    def recover_position(self) -> None:
        """After a crash: ask the storage engine for the last transaction, which a restart in the cluster
        begins with."""
        options = [
            f"--{name}" if value is None else f"--{name}={value}" for name, value in self.options.items()
        ]
        command = [
            str(self.tree.mariadbd),
            *self.tree.arguments(),
            *options,
            "--wsrep-recover",
            "--loose-skip-rowsocket",
        ]
        subprocess.run(
            command, env=self.tree.environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        positions = re.findall(r"Recovered position:\s*(\S+)", self.log_text())
        if not positions:
            raise ServerFailure(f"no recovered position\n{self.log_tail()}")
        self.note_position(positions[-1])
        self.options["wsrep-start-position"] = positions[-1]


class Cluster:
    """Nodes that replicate to each other. Use it as a context manager."""

    def __init__(
        self,
        tree: ServerTree,
        template: Path,
        node_count: int = 3,
        options: Options | None = None,
        *,
        suspect_timeout_s: int = SUSPECT_TIMEOUT_S,
    ) -> None:
        library = provider(tree)
        tree = GaleraTree(tree.root)
        ports = free_ports(2 * node_count)
        self.addresses = [f"127.0.0.1:{port}" for port in ports[:node_count]]
        self.nodes = [
            GaleraNode(
                tree,
                template,
                {
                    "wsrep-on": 1,
                    "wsrep-provider": str(library),
                    # 11.8: else wsrep_provider_options is read-only, and no variable stands for its "isolate"
                    "loose-plugin-wsrep-provider": "OFF",
                    "wsrep-node-address": "127.0.0.1",
                    "wsrep-node-name": f"node{number + 1}",
                    "wsrep-slave-threads": 2,
                    "loose-rowsocket-error-detail": "ON",
                    "wsrep-sst-method": "nothing",
                    "server-id": number + 1,
                    "binlog-format": "ROW",
                    "innodb-autoinc-lock-mode": 2,
                    **(
                        {"skip-log-bin": None} if number == node_count - 1 else {}
                    ),  # it replicates without a binlog, too
                    **(options or {}),
                },
                {
                    "gmcast.listen_addr": f"tcp://{self.addresses[number]}",
                    "ist.recv_addr": f"127.0.0.1:{ports[node_count + number]}",
                    "gcache.size": "32M",
                    "evs.suspect_timeout": f"PT{suspect_timeout_s}S",
                    "evs.inactive_timeout": f"PT{2 * suspect_timeout_s}S",
                },
            )
            for number in range(node_count)
        ]

    def _make_first_state(self) -> Path:
        """Let the first node make a cluster of its own and shut down: its data folder is where all begin.

        Without a transaction its storage engine would not know the cluster.
        """
        first = self.nodes[0]
        first.start_in(self.addresses, first=True)
        first.sql("CREATE DATABASE d")
        first.stop()
        return first.data

    def _begin_with(self, state: Path) -> None:
        saved = (state / "grastate.dat").read_text()
        [identity], [number] = (
            re.findall(r"^uuid:\s*(\S+)", saved, re.M),
            re.findall(r"^seqno:\s*(\S+)", saved, re.M),
        )
        for name in ("galera.cache", "gvwstate.dat"):
            (state / name).unlink(missing_ok=True)
        for node in self.nodes:
            if node.data != state:
                shutil.rmtree(node.data)
                shutil.copytree(state, node.data)
            node.note_position(f"{identity}:{number}")

    def __enter__(self) -> Cluster:
        try:
            self._begin_with(self._make_first_state())
            for number, node in enumerate(self.nodes):
                node.start_in(self.addresses, first=number == 0)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()

    def _remove(self) -> None:
        with contextlib.ExitStack() as stack:
            for node in self.nodes:  # the last one first
                stack.callback(node.remove)

    def catch_up(self) -> None:
        """Wait until every node has applied what any node has committed."""
        last = max(int(node.wsrep("last_committed")) for node in self.nodes)
        for node in self.nodes:
            node.wait_until_applied(last)

    def __iter__(self) -> Iterator[GaleraNode]:
        return iter(self.nodes)

    def __getitem__(self, number: int) -> GaleraNode:
        return self.nodes[number]
