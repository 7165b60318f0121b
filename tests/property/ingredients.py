# SPDX-License-Identifier: GPL-2.0-only
"""What a mix can hold, by name, and which of it a run takes.

    shape        a kind of table that clients work on
    traffic      a kind of request, or a way of sending requests
    disturbance  what SQL sessions and operators do beside

A run takes some of all at random. `ROWSOCKET_MIX=plain,finds,groups` takes exactly these, and
`ROWSOCKET_MIX_WITHOUT=groups` keeps some out of the lot: with both, one looks for one thing at a time.
"""

from __future__ import annotations

import os
import random
from collections.abc import Collection
from dataclasses import dataclass

SHARES = {"shape": 0.6, "traffic": 0.85, "disturbance": 0.5}
"""How often an ingredient of each kind is taken."""


@dataclass(frozen=True)
class Ingredient:
    """One thing that a mix can hold."""

    name: str
    kind: str
    what: str


INGREDIENTS: dict[str, Ingredient] = {}


def register(name: str, kind: str, what: str) -> str:
    """Make an ingredient known; its name."""
    assert kind in SHARES
    assert name not in INGREDIENTS
    INGREDIENTS[name] = Ingredient(name, kind, what)
    return name


FINDS = register(
    "finds", "traffic", "reads of single rows and of ranges, in any order, with filters and lists"
)
CHANGES = register(
    "changes", "traffic", "updates, increments, decrements and deletes, of one row and of several"
)
INSERTS = register("inserts", "traffic", "inserts of one row")
MANY = register("many", "traffic", "inserts of many rows: plain, ignore, replace, upsert, each for itself")
FAILING = register("failing", "traffic", "duplicates on purpose, and other requests that are refused")
GROUPS = register("groups", "traffic", "atomic groups of the others, some of which fail")
TWICE = register("twice", "traffic", "lists that name a row twice, while its key changes")
ALIASES = register("aliases", "traffic", "other names of tables, which must not be served")
CONNECTIONS = register("connections", "traffic", "several connections of a client, each used in turn")
READ_PORT = register("read_port", "traffic", "reads over the read port as well")
SHORT_CONNECTIONS = register("short_connections", "traffic", "connections that come and go")

ALTERS = register(
    "alters", "disturbance", "ALTER in place and by copy, OPTIMIZE, ANALYZE, FLUSH TABLE, new triggers"
)
RENAMES = register("renames", "disturbance", "tables that are renamed, and are back at once")
VOLATILE = register(
    "volatile", "disturbance", "a busy table that is truncated, dropped, a view, and a table again"
)
LOCKS = register("locks", "disturbance", "rows locked by SQL transactions, a few of them for seconds")
SQL = register("sql", "disturbance", "SQL transactions that change what clients change, in another order")
TABLE_LOCKS = register("table_locks", "disturbance", "LOCK TABLES, FLUSH TABLES, FLUSH TABLES WITH READ LOCK")
BACKUPS = register("backups", "disturbance", "BACKUP STAGE, from START to END")
KILLS = register("kills", "disturbance", "KILL QUERY of workers")
KILLED_CONNECTIONS = register(
    "killed_connections", "disturbance", "KILL of workers, which closes their connections"
)
READ_ONLY = register("read_only", "disturbance", "read_only, switched on for moments")
CRASH = register("crash", "disturbance", "kill -9 of the server at the end, and a start")
ISOLATION = register("isolation", "disturbance", "a Galera node that is cut off for a while")
NODE_CRASHES = register("node_crashes", "disturbance", "kill -9 of a Galera node, which joins again")
SYNC_WAIT = register(
    "sync_wait", "traffic", "wsrep_sync_wait: a Galera node sees what was acknowledged on another one"
)
OF_A_CLUSTER = frozenset({ISOLATION, NODE_CRASHES, SYNC_WAIT})
BREAKING = frozenset({KILLED_CONNECTIONS, CRASH, ISOLATION, NODE_CRASHES})
"""After these a connection may close without all its replies."""


def chosen(choose: random.Random, may_be: Collection[str]) -> frozenset[str]:
    """Ingredients for one mix, of those that may be in it: what the environment says, else some at random."""
    names = [name for name in INGREDIENTS if name in may_be]
    asked = _names("ROWSOCKET_MIX")
    if asked:
        mix = asked & set(names)
    else:
        mix = {name for name in names if choose.random() < SHARES[INGREDIENTS[name].kind]}
        for kind in ("shape", "traffic"):
            if not any(INGREDIENTS[name].kind == kind for name in mix):
                mix.add(choose.choice([name for name in names if INGREDIENTS[name].kind == kind]))
    return frozenset(mix - _names("ROWSOCKET_MIX_WITHOUT"))


def _names(variable: str) -> set[str]:
    names = {name for name in os.environ.get(variable, "").split(",") if name}
    unknown = names - set(INGREDIENTS)
    assert not unknown, (
        f"{variable}: no ingredients are called {sorted(unknown)}; there are {sorted(INGREDIENTS)}"
    )
    return names
