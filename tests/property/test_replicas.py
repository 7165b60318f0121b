# SPDX-License-Identifier: GPL-2.0-only
"""The same mixes on a primary with a replica and a replica of that: all three have the same rows and history
at the end.

The binlog of the last one, through whose relay log and the other's all has gone, makes these rows, too.
"""

from __future__ import annotations

import itertools
import os
import time

import pytest

from property import ingredients
from property.ingredients import INGREDIENTS
from property.mixing import MixFailure, new_mix, of_all_servers, one_of, run_mix
from property.shapes import OF_PLUGINS
from property.volatile import CHANGING
from replication.servers import CATCH_UP_S, Primary, Replica
from support.binlog import TWO_PHASES, assert_binlog_equals_tables
from support.mariadb import MariaDB, Options, Start
from support.soak import Soak
from support.tables import differences
from support.tree import ServerTree

MIX_S = float(os.environ.get("ROWSOCKET_MIX_SECONDS") or 4)
ROW_IMAGES = ("FULL", "MINIMAL", "NOBLOB")
MODES = ("optimistic", "conservative")
ON_A_PRIMARY = INGREDIENTS.keys() - ingredients.OF_A_CLUSTER - {ingredients.CRASH} - OF_PLUGINS
"""A replica that has fetched what a crash took from its primary is another matter: see test_semisync.py."""


def chain(start: Start, tree: ServerTree, row_image: str, mode: str) -> list[Primary]:
    """A primary, its replica, and the replica of that.

    The last one applies in order. A replica that applies in parallel may write two changes of one row of
    MyISAM as one group of commits: such a row is not locked until the commit. Its own replica would then take
    them for independent, and stop.
    """
    of_rows: Options = {"binlog-format": "ROW", "binlog-row-image": row_image}
    options: Options = {**of_all_servers(tree), **TWO_PHASES, **of_rows}
    servers = [start(Primary, options)]
    for number, applies in ((2, mode), (3, "minimal")):
        following: Options = {"slave-parallel-threads": 4, "slave-parallel-mode": applies}
        replica = start(Replica, {**options, **following, "server-id": number})
        replica.follow(servers[-1])
        servers.append(replica)
    return servers


def test_replicas_have_what_the_primary_has(start: Start, tree: ServerTree, soak: Soak) -> None:
    for _ in soak.trials(1):
        servers = chain(start, tree, one_of(soak.random, ROW_IMAGES), soak.random.choice(MODES))
        found = []
        try:
            for what, count in run_mix(servers[:1], new_mix(soak.random, ON_A_PRIMARY), MIX_S).items():
                soak.saw(what, count)
        except MixFailure as failure:
            found.append(str(failure))
        if all(server.alive() for server in servers):
            found += wrong_replicas(servers)
        if found:
            pytest.fail("\n".join(found), pytrace=False)
        for server in reversed(servers):
            server.remove()


def wrong_replicas(servers: list[Primary]) -> list[str]:
    """What is not as on the primary, and what the binlogs say otherwise."""
    found: list[str] = []
    names = ["the primary", "its replica", "the replica's replica"]
    for above, replica in itertools.pairwise(servers):
        assert isinstance(replica, Replica)
        if stopped := why_it_stopped(replica, above):
            return [*found, f"{names[servers.index(replica)]} stopped: {stopped}"]
    for name, replica in zip(names[1:], servers[1:], strict=True):
        found += differences(servers[0], replica, (names[0], name))
    found += [f"{names[-1]}: {text}" for text in wrong_binlog(servers[-1], servers[0])]
    return found


def why_it_stopped(replica: Replica, above: Primary) -> str:
    """Wait until the replica has done all that the server above it has; the error that keeps it from that, if
    any."""
    position = above.value("SELECT @@gtid_binlog_pos")
    end_s = time.monotonic() + CATCH_UP_S
    while replica.value("SELECT MASTER_GTID_WAIT(%s, 1)", [position]) != 0:
        status = replica.slave_status()
        errors = [f"{status[f'Last_{kind}_Errno']} {status[f'Last_{kind}_Error']}" for kind in ("IO", "SQL")]
        if time.monotonic() > end_s or any(error != "0 " for error in errors):
            return "; ".join(errors)
    return ""


def wrong_binlog(server: MariaDB, primary: MariaDB) -> list[str]:
    """What is wrong with the binlog of a replica."""
    try:
        assert_binlog_equals_tables(server, changing=CHANGING, primary=primary)
    except AssertionError as error:
        return [str(error)]
    return []
