# SPDX-License-Identifier: GPL-2.0-only
"""The same mixes on three Galera nodes that are all written to, one of them without a binlog.

Clients work on all nodes, and conflict in what they share. Beside them nodes are cut off, killed, and join
again. At the end all nodes have the same rows: every ok is there, and nothing else.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from property import ingredients
from property.books import MYISAM_COUNTERS, SEQUENCED
from property.ingredients import INGREDIENTS, ISOLATION, NODE_CRASHES, SYNC_WAIT
from property.mixing import MixFailure, Run, new_mix, of_all_servers, one_of, run_mix
from property.shapes import OF_PLUGINS, SHAPES
from support.galera import Cluster, GaleraNode
from support.mariadb import Options
from support.soak import ONLY_AS_A_SOAK, Soak
from support.tables import damage, differences
from support.tree import ServerTree

pytestmark = ONLY_AS_A_SOAK
MIX_S = float(os.environ.get("ROWSOCKET_MIX_SECONDS") or 15)
NOT_REPLICATED = {shape.name for shape in SHAPES if not shape.is_for_groups} | {MYISAM_COUNTERS}
NOT_FOR_CLUSTERS = {
    SEQUENCED,  # a sequence with a cache is refused there
    ingredients.CRASH,  # NODE_CRASHES instead
    ingredients.TABLE_LOCKS,  # Galera has none
    ingredients.READ_ONLY,
    ingredients.RENAMES,
}
IN_A_CLUSTER = INGREDIENTS.keys() - NOT_REPLICATED - NOT_FOR_CLUSTERS - OF_PLUGINS
BASE: Options = {"binlog-row-event-max-size": 256}
ROWS_MAX = 60
"""A group may have more, and is refused then, as a transaction of SQL is."""
SETS: dict[str, Options] = {
    "default": BASE,
    "small_writesets": {**BASE, "wsrep-max-ws-rows": ROWS_MAX},
}
CONFLICTS = frozenset({"146", "1205"})
ALONE = frozenset({"1047"})
"""Of a node that has lost the cluster."""


class Troubles:
    """What happens to the nodes, one at a time."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self._one_at_a_time = threading.Lock()
        self._nodes = itertools.cycle(cluster.nodes[1:])  # the first is where all is compared

    @contextmanager
    def _away(self, run: Run) -> Iterator[GaleraNode]:
        """While one node is away, the others may be alone for moments, too."""
        run.stop.wait(PAUSE_S)
        with self._one_at_a_time:  # a node that joins dies with the one that sends it what it missed
            run.away.update(self.cluster.nodes)
            yield next(self._nodes)
            for node in self.cluster:
                node.wait_until_ready()
            self.cluster.catch_up()
            run.away.clear()

    def isolate(self, run: Run) -> None:
        with self._away(run) as node, node.isolated():
            run.stop.wait(PAUSE_S)

    def crash(self, run: Run) -> None:
        with self._away(run) as node:
            node.crash()
            first = self.cluster[0]
            first.wait_until("the others go on without it", lambda: first.wsrep("cluster_size") == "2")
            run.stop.wait(PAUSE_S)
            node.recover_position()
            node.start_in(self.cluster.addresses)


PAUSE_S = 1.0
SUSPECT_TIMEOUT_S = 6
"""Where nodes are cut off on purpose: the mix takes it well where another one is, too."""


@pytest.fixture
def make_cluster(tree: ServerTree, template: Path) -> Callable[..., Cluster]:
    """make_cluster({option: value}): three nodes, the last one without a binlog, to be entered."""

    def make(options: Options, **timeouts: int) -> Cluster:
        return Cluster(tree, template, options={**of_all_servers(tree), **options}, **timeouts)

    return make


@pytest.mark.timeout(600)
def test_all_nodes_have_what_was_acknowledged_and_nothing_else(
    make_cluster: Callable[..., Cluster], soak: Soak
) -> None:
    for _ in soak.trials(1):
        options = SETS[one_of(soak.random, SETS)]
        mix = new_mix(soak.random, IN_A_CLUSTER, CONFLICTS)
        mix.rows_max = ROWS_MAX if "wsrep-max-ws-rows" in options else 0
        timeouts = {}
        if mix.ingredients & {ISOLATION, NODE_CRASHES}:
            timeouts = {"suspect_timeout_s": SUSPECT_TIMEOUT_S}
            mix.also_refused |= ALONE
            mix.unknown = frozenset({"commit"})
        mix.sees_all = SYNC_WAIT in mix.ingredients
        options = {**options, "wsrep-sync-wait": 7 if mix.sees_all else 0}
        with make_cluster(options, **timeouts) as cluster:
            troubles = Troubles(cluster, mix.seed)
            found = []
            try:
                seen = run_mix(
                    cluster.nodes,
                    mix,
                    MIX_S,
                    {ISOLATION: troubles.isolate, NODE_CRASHES: troubles.crash},
                    cluster.catch_up,
                )
                for what, count in seen.items():
                    soak.saw(what, count)
            except MixFailure as failure:
                found.append(str(failure))
            if all(node.alive() for node in cluster):
                found += wrong_nodes(cluster)
            if found:
                pytest.fail("\n".join(found), pytrace=False)


def wrong_nodes(cluster: Cluster) -> list[str]:
    """In what the nodes differ, and what is damaged; whether they are a cluster, in the first place."""
    states = [f"{node.wsrep('cluster_status')}, {node.wsrep('local_state_comment')}" for node in cluster]
    if set(states) != {"Primary, Synced"}:
        return [f"node {number} is {state}" for number, state in enumerate(states, 1)]
    cluster.catch_up()
    found = []
    for number, node in enumerate(cluster.nodes[1:], 2):
        found += differences(cluster[0], node, ("node 1", f"node {number}"))
    for number, node in enumerate(cluster.nodes, 1):
        found += [f"node {number}: {text}" for text in damage(node)]
    return found
