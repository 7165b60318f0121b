# SPDX-License-Identifier: GPL-2.0-only
"""A server, clients of it that make a history, and what happens to the server meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from random import Random

import pymysql

from linearizability.checking import Checker
from linearizability.clients import Addresses, Clients, Kind
from linearizability.requests import DATABASE, TABLE
from linearizability.sql import read_the_table
from linearizability.workload import Workload
from support.mariadb import Options, RowSocketServer
from support.soak import Soak

WORKERS: Options = {"loose-rowsocket-threads-read": 2, "loose-rowsocket-threads-write": 3}
DURABLE: Options = {**WORKERS, "innodb-flush-log-at-trx-commit": 1, "sync-binlog": 1}
KEPT_IN_MEMORY: Options = {**WORKERS, "innodb-flush-log-at-trx-commit": 0, "skip-log-bin": None}

ALTERATIONS = (
    f"ALTER TABLE {TABLE} ADD COLUMN note INT NOT NULL DEFAULT 3 FIRST, ALGORITHM=INSTANT",
    f"ALTER TABLE {TABLE} DROP COLUMN note, ALGORITHM=INPLACE, LOCK=NONE",
    f"ALTER TABLE {TABLE} ADD COLUMN note TEXT AFTER k, ALGORITHM=COPY",
    f"ALTER TABLE {TABLE} DROP COLUMN note, ALGORITHM=COPY",
    f"OPTIMIZE TABLE {TABLE}",
    f"ALTER TABLE {TABLE} ADD KEY by_v (v), ALGORITHM=INPLACE, LOCK=NONE",
    f"ALTER TABLE {TABLE} DROP KEY by_v, FORCE",
)
"""Each way of changing a table, in an order in which each is possible; the last leaves it as it was."""

KILLS = ("KILL", "KILL HARD", "KILL QUERY", "KILL HARD QUERY")

CHANGES = {"insert", "update", "swap", "compare_and_set", "increment", "delete"}


class Scene:
    """See above. Each call of `clients` makes the table anew."""

    def __init__(self, server: RowSocketServer, checker: Checker, soak: Soak) -> None:
        self.server = server
        self._checker = checker
        self._soak = soak

    def clients(self, workload: type[Workload], kinds: Sequence[Kind]) -> Clients:
        """Clients that are yet to be started."""
        self.server.sql(f"CREATE OR REPLACE DATABASE {DATABASE}")
        self.server.sql(f"CREATE TABLE {TABLE} (k INT PRIMARY KEY, v BIGINT NOT NULL) ENGINE=InnoDB")
        made = workload(Random(self._soak.random.random()))
        return Clients(addresses(self.server), made, kinds)

    def kill_a_worker(self) -> None:
        """KILL or KILL QUERY of one worker."""
        query = "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket' ORDER BY id"
        random = self._soak.random
        [worker] = random.choice(self.server.sql(query))
        with contextlib.suppress(pymysql.err.OperationalError):  # a stand-in that has ended meanwhile
            self.server.sql(f"{random.choice(KILLS)} {worker}")

    def crash(self, clients: Clients) -> None:
        """kill -9 and a new start; the table is read before the clients come back."""
        clients.addresses = None
        self.server.crash()
        self.server.start()
        read_the_table(clients, self.server)
        clients.addresses = addresses(self.server)

    def check(self, clients: Clients) -> None:
        """The history, with what the table has at its end, is linearizable; and something has happened."""
        read_the_table(clients, self.server)
        history = clients.history
        successes = history.successes()
        print(f"{dict(successes)}, refused {dict(history.refused)}")
        assert set(successes) >= CHANGES, "a kind of change never succeeded"
        self._checker.check(history)
        self._soak.saw("operations", len(history.operations))
        self._soak.saw("changes without a reply", history.without_reply_count())


def addresses(server: RowSocketServer) -> Addresses:
    return {"read": server.read_address(), "write": server.write_address()}
