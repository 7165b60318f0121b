# SPDX-License-Identifier: GPL-2.0-only
"""One run: a server with all tables, clients and SQL beside for a while, and what must be true at its end."""

from __future__ import annotations

import random
import re
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pymysql

from fuzz_server import scene
from fuzz_server.beside import USUAL, Beside
from fuzz_server.clients import Client, Target
from fuzz_server.journal import Journal
from fuzz_server.wire import GONE, Fault, Wire
from support.mariadb import Options, RowSocketServer
from support.tables import damage
from support.tree import ServerTree

CLIENT_COUNT = 5
PATIENCE_S = 60.0
SECRETS = {"read": b"look", "write": b"lift\x01\x02"}
PLUGINS = ("ha_rocksdb", "ha_archive", "ha_blackhole")
NOTABLE = re.compile(r"not true|is closed|closing|\[ERROR\]|Assertion|signal")
CANNOT_CHECK = "doesn't support check"
"""What CHECK TABLE says of an engine that has no such thing."""
HARMLESS_ERRORS: tuple[str, ...] = ()
"""Patterns of what the error log may hold at level ERROR. So far nothing of it was harmless."""


def options(choose: random.Random, plugins: tuple[str, ...]) -> Options:
    """Options of the server of one run: small limits, and now this and now that."""
    chosen: dict[str, str | int | None] = {
        "plugin-load-add": ";".join(("rowsocket", *plugins)),
        "loose-rowsocket-max-line-bytes": 65536,
        "loose-rowsocket-max-reply-bytes": 1_000_000,
        "loose-rowsocket-threads-read": choose.choice((1, 2)),
        "loose-rowsocket-threads-write": choose.choice((1, 2, 3)),
        "lock-wait-timeout": 2,
        "innodb-lock-wait-timeout": 1,
        "loose-rocksdb-lock-wait-timeout": 1,
        "loose-rocksdb-block-cache-size": "16M",
        "loose-rocksdb-error-on-suboptimal-collation": "OFF",
        "binlog-row-image": choose.choice(("FULL", "MINIMAL", "NOBLOB")),
        "innodb-rollback-on-timeout": choose.choice(("ON", "OFF")),
        "innodb-adaptive-hash-index": choose.choice(("ON", "OFF")),
        "innodb-snapshot-isolation": choose.choice(("ON", "OFF")),
        "max-heap-table-size": "256K",
        "sync-frm": "OFF",
        "innodb-doublewrite": "OFF",
        "innodb-flush-log-at-trx-commit": 0,
        "performance-schema": choose.choice(("ON", "OFF")),
    }
    if choose.random() < 0.25:
        chosen["skip-log-bin"] = None
    if choose.random() < 0.3:
        chosen |= {
            f"loose-rowsocket-secret-{port}": secret.decode("latin-1") for port, secret in SECRETS.items()
        }
    return chosen


class Run:
    """A run by its seed, with a share of all tables."""

    def __init__(
        self, tree: ServerTree, seed: int, plugins: tuple[str, ...] = PLUGINS, share: float = 1.0
    ) -> None:
        there = tuple(name for name in plugins if (tree.plugins / f"{name}.so").exists())
        choose = random.Random(f"{seed} server")
        self.seed = seed
        self.plugins = there
        self.options = options(choose, there)
        self.shapes = scene.some(choose, scene.shapes(there), share)
        self.workers_are_killed = choose.random() < 0.4

    def prepare(self, server: RowSocketServer) -> None:
        """Make the tables."""
        with server.connect() as connection, connection.cursor() as cursor:
            for statement in scene.statements(self.shapes):
                cursor.execute(statement)

    def work(
        self, server: RowSocketServer, journal_path: Path, duration_s: float, client_count: int = CLIENT_COUNT
    ) -> Counter[str]:
        """Fuzz for so long; what was done. Raises AssertionError with what was found."""
        journal = Journal(journal_path, self.seed, self.plugins)
        target = Target(
            {"read": server.read_address(), "write": server.write_address()},
            self._secrets(),
            self.shapes,
            journal,
            self.seed,
            PATIENCE_S * (6 if server.valgrind is not None else 1),
            self.workers_are_killed,
        )
        beside = Beside(
            server,
            self.shapes,
            random.Random(f"{self.seed} beside"),
            journal,
            target.stop,
            kills=self.workers_are_killed,
        )
        clients = [Client(target, number) for number in range(client_count)]
        for thread in (*clients, beside):
            thread.start()
        target.stop.wait(duration_s)
        target.stop.set()
        for thread in (*clients, beside):
            thread.join(target.patience_s + 10)
        found = [*target.faults, *([beside.failure] if beside.failure else [])]
        found += [f"{thread.name} does not end" for thread in (*clients, beside) if thread.is_alive()]
        if not server.alive():
            found.insert(0, f"the server ended: {server.exit_text()}")
        else:
            found += self._after(server, target)
        journal.close()
        if found:
            said = server.log_tail(100_000)
            journal_path.with_suffix(".log").write_text(said)
            broken = [line for line in said.splitlines() if NOTABLE.search(line)]
            where = f"seed {self.seed}, what was sent and the error log: {journal_path}, .log"
            raise AssertionError("\n".join([where, *found[:10], *broken[-5:]]))
        seen = sum((client.seen for client in clients), Counter[str]())
        return seen + Counter({"actions of SQL beside": beside.done})

    def _secrets(self) -> dict[str, bytes]:
        return SECRETS if "loose-rowsocket-secret-read" in self.options else {"read": b"", "write": b""}

    def _after(self, server: RowSocketServer, target: Target) -> list[str]:
        """What is wrong when all is quiet."""
        found = []
        try:
            for statement in USUAL:
                server.sql(statement)
            for port in ("read", "write"):
                with ExitStack() as stack:
                    wire = Wire(
                        target.addresses[port], target.journal, "last", port, target.secrets[port], PATIENCE_S
                    )
                    stack.enter_context(wire).greet()
                    wire.prove(7, 0, may_be_interrupted=False)
            found += [one for one in damage(server, [scene.DATABASE]) if CANNOT_CHECK not in one]
        except (Fault, pymysql.err.MySQLError, *GONE) as error:
            found.append(f"at the end: {error!r}")
        return found + errors_in_log(server.log_text())


def errors_in_log(text: str) -> list[str]:
    """Lines of the error log that tell of damage."""
    return [
        line
        for line in text.splitlines()
        if "[ERROR]" in line and not any(re.search(pattern, line) for pattern in HARMLESS_ERRORS)
    ]
