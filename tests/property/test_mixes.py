# SPDX-License-Identifier: GPL-2.0-only
"""Random mixes of everything against real servers: replies, tables and the replayed binlog must tell one
story.

A run prints its seed and ingredients, and a failure shows them with the last second of the client that met
it. To look for one thing at a time (ingredients.py names them all):

    ROWSOCKET_SOAK_SEED=1 ROWSOCKET_MIX=plain,finds,groups ROWSOCKET_MIX_SECONDS=5 ./x test property -- -k
    default -s
"""

from __future__ import annotations

import pytest

from property.ingredients import CRASH, INGREDIENTS, OF_A_CLUSTER
from property.mixing import MIX_S, Mix, MixFailure, new_mix, of_all_servers, run_mix
from property.shapes import BY_NAME, OF_PLUGINS
from property.volatile import CHANGING
from support.binlog import TWO_PHASES, assert_binlog_equals_tables
from support.mariadb import DrilledServer, Options, RowSocketServer, Start
from support.plugin import threads, wait_for_end_of_stand_ins
from support.soak import Soak
from support.tree import ServerTree

TRIALS = 1
BASE: Options = {**TWO_PHASES, "binlog-format": "ROW"}
SETS: dict[str, tuple[Options, frozenset[str]]] = {
    "default": ({}, frozenset()),
    "rollback_on_timeout": ({"innodb-rollback-on-timeout": "ON"}, frozenset()),
    "impatient": (
        {"lock-wait-timeout": 1, "innodb-lock-wait-timeout": 1, "innodb-adaptive-hash-index": "OFF"},
        frozenset({"146", "1205", "lock_tables"}),
    ),
    "minimal": (
        {"binlog-row-image": "MINIMAL", "binlog-row-event-max-size": 256, "loose-rowsocket-threads-write": 4},
        frozenset(),
    ),
}
"""Options of the server, and the errors that may come because of them."""


def loading(mix: Mix, *others: str) -> Options:
    """What makes a server load the storage engines of a mix, and other plugins."""
    plugins = [*others, *sorted({BY_NAME[name].plugin for name in mix.ingredients & OF_PLUGINS})]
    return {"plugin-load-add": ";".join(plugins), "plugin-maturity": "experimental"} if plugins else {}


@pytest.mark.parametrize("name", SETS)
def test_replies_tables_and_binlog_tell_one_story(
    start: Start, tree: ServerTree, soak: Soak, name: str
) -> None:
    options, also_refused = SETS[name]
    base = {**of_all_servers(tree), **BASE}
    for _ in soak.trials(TRIALS):
        mix = new_mix(soak.random, INGREDIENTS.keys() - OF_A_CLUSTER, also_refused)
        server = start(RowSocketServer, {**base, **options, **loading(mix, "rowsocket")})
        tell_one_story(server, mix, soak)
        server.remove()


def test_stand_ins_that_take_over_all_the_time_tell_the_same_story_and_end(
    start: Start, tree: ServerTree, soak: Soak
) -> None:
    base = {**of_all_servers(tree), **BASE}
    for _ in soak.trials(TRIALS):
        mix = new_mix(soak.random, INGREDIENTS.keys() - OF_A_CLUSTER)
        server = start(DrilledServer, {**base, **loading(mix, "rowsocket")})
        of_the_start = threads(server)
        tell_one_story(server, mix, soak)
        soak.saw("hand-overs", server.counter("hand_overs"))
        wait_for_end_of_stand_ins(server, of_the_start)
        server.remove()


def tell_one_story(server: RowSocketServer, mix: Mix, soak: Soak) -> None:
    """The mix; then all is compared."""
    found = []
    try:
        for what, count in run_mix([server], mix, MIX_S).items():
            soak.saw(what, count)
    except MixFailure as failure:
        found.append(str(failure))
    if server.alive():
        try:
            soak.saw(
                "transactions",
                assert_binlog_equals_tables(
                    server,
                    options=loading(mix),
                    changing=CHANGING,
                    has_crashed=CRASH in mix.ingredients,
                ).transactions,
            )
        except AssertionError as failure:
            found.append(str(failure))
    if found:
        pytest.fail("\n".join(found), pytrace=False)
