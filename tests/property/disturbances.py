# SPDX-License-Identifier: GPL-2.0-only
"""What SQL sessions and operators do beside the clients: each a function that does one thing, again and
again.

None of it changes a row that a client owns, so clients go on knowing what every reply must be.
"""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

import pymysql

from property import ingredients
from property.books import COUNTER_IDS, FAMILY, FAMILY_TABLES, NUMBERED, SEQUENCED
from property.counters import Totals
from property.requests import Owner
from property.shapes import AUDITED, BY_NAME, SHAPES
from support.galera import GaleraNode
from support.mariadb import RowSocketServer

LOST_A_RACE = {1205, 1213, 1047}
"""The last one of a Galera node, while its replication is paused."""
NO_SUCH_TABLE = 1146
ABORTED_BY_CLUSTER = 1317
"""Nobody kills SQL sessions here, but Galera interrupts a statement that is in the way of another node's."""
MALFORMED_TRIGGER = 1064
"""Who is killed while it opens a table may leave the table's trigger behind as malformed for the SQL session
that comes next. RowSocket opens such a table anew."""
GONE_FOR_A_MOMENT = {1146, 1347, 1356, 1412, 1684}
OWNER = 15
"""What SQL transactions own rows as."""

Cursor = pymysql.cursors.Cursor


@dataclass
class Beside:
    """What disturbances work with."""

    server: RowSocketServer
    mix: frozenset[str]
    choose: random.Random
    stop: threading.Event
    totals: dict[str, Totals]
    acknowledged: Counter[tuple[str, int]] = field(default_factory=Counter)
    """What this session has added to counters, by table and id."""
    unknown: Counter[tuple[str, int]] = field(default_factory=Counter)
    """What it may have added, since the server died meanwhile."""
    no_crash: threading.Lock = field(default_factory=threading.Lock)
    """Held while DDL runs that kill -9 must not cut short: a table would stay away, or be left in pieces.
    The server leaves files of partitions, or a definition that its engine does not know, also where only SQL
    is at work."""

    def shapes(self) -> list[str]:
        """Tables of rows that clients own."""
        return [shape.name for shape in SHAPES if shape.name in self.mix]

    def tables(self) -> list[str]:
        """Tables that clients work on."""
        found = [*self.shapes(), *self.totals]
        found += FAMILY_TABLES if FAMILY in self.mix else ()
        return found + [name for name in (NUMBERED, SEQUENCED) if name in self.mix]

    def in_the_way(self) -> set[int]:
        """What DDL meets for a moment where others have the table, renamed it, or were killed with it."""
        found = set(LOST_A_RACE)
        if ingredients.RENAMES in self.mix:
            found.add(NO_SUCH_TABLE)
        if self.mix & {ingredients.KILLS, ingredients.KILLED_CONNECTIONS}:
            found.add(MALFORMED_TRIGGER)
        if isinstance(self.server, GaleraNode):
            found.add(ABORTED_BY_CLUSTER)
        return found

    def hold(self, from_s: float, to_s: float) -> None:
        """Keep what was taken for a while."""
        self.stop.wait(self.choose.uniform(from_s, to_s))


def _tolerating(work: Callable[[], object], *numbers: int) -> None:
    """Do it; that others were in the way is no surprise."""
    try:
        work()
    except pymysql.err.MySQLError as error:
        if error.args[0] not in {*LOST_A_RACE, *numbers}:
            raise


# ---- transactions


def lock_rows(beside: Beside, cursor: Cursor) -> None:
    table = beside.choose.choice(beside.tables())
    first = beside.choose.choice((0, *Owner(beside.choose.randrange(6)).ids))
    many = beside.choose.choice((0, 1, 5, 10_000))
    mode = beside.choose.choice(("FOR UPDATE", "FOR UPDATE", "LOCK IN SHARE MODE"))

    def work() -> None:
        cursor.execute("BEGIN")
        cursor.execute(f"SELECT 1 FROM {table} WHERE id BETWEEN {first} AND {first + many} {mode}")
        cursor.fetchall()
        beside.hold(*((0.001, 0.1) if beside.choose.random() < 0.95 else (1.1, 2.5)))

    _tolerating(work, *GONE_FOR_A_MOMENT, *beside.in_the_way())
    _tolerating(lambda: cursor.execute("ROLLBACK"))  # Galera says there that it was aborted


def change_in_sql(beside: Beside, cursor: Cursor) -> None:
    """One transaction: counters in a random order, then rows of its own."""
    choose = beside.choose
    added: list[tuple[str, int, int]] = []
    transactional = [name for name in beside.totals if name != "mcounter"]
    for _ in range(choose.randint(1, 3)):
        if transactional:
            name = choose.choice(transactional)
            counters = range(AUDITED) if name == "audited_audit" else COUNTER_IDS
            added.append((name, choose.choice(counters), choose.randint(1, 3)))
    fit = [BY_NAME[name] for name in beside.shapes()]
    shapes = [shape.name for shape in fit if not shape.audit and not shape.has_one_phase]

    def work() -> None:
        cursor.execute("BEGIN")
        for name, counter, amount in added:
            beside.totals[name].will_send(counter, amount)
            cursor.execute(f"UPDATE {name} SET n = n + {amount} WHERE id = {counter}")
        for name in choose.sample(shapes, min(len(shapes), 2)):
            _own_statement(cursor, choose, name)
        sums = Counter[tuple[str, int]]()
        for name, counter, amount in added:
            sums[name, counter] += amount
        beside.unknown += sums
        cursor.execute("COMMIT")
        beside.unknown -= sums
        beside.acknowledged += sums

    _tolerating(work, *GONE_FOR_A_MOMENT, *beside.in_the_way())
    cursor.execute("ROLLBACK")


def _own_statement(cursor: Cursor, choose: random.Random, table: str) -> None:
    """Updates name s: under binlog_row_image=NOBLOB, SQL leaves BLOBs that are not named out of rows of
    history, so that replicas have NULL for them."""
    owner = Owner(OWNER)
    row_id, g, n, s = owner.row(choose)
    cursor.execute(
        choose.choice(
            (
                f"INSERT IGNORE INTO {table} (id, g, n, s) VALUES ({row_id}, {g}, {n}, '{s}')",
                f"UPDATE {table} SET n = n + 1, s = s WHERE g = {g}",
                f"UPDATE {table} SET g = {g}, s = s WHERE id >= {row_id} AND id < {owner.ids.stop}",
                f"DELETE FROM {table} WHERE id = {row_id}",
            )
        )
    )


# ---- DDL

_ALTERATIONS = (
    ("ALTER TABLE {name} FORCE, ALGORITHM=INPLACE",),
    ("ALTER TABLE {name} FORCE, ALGORITHM=COPY",),
    ("OPTIMIZE TABLE {name}",),
    ("ANALYZE TABLE {name}",),
    ("FLUSH TABLES {name}",),
    ("ALTER TABLE {name} ADD COLUMN x INT NOT NULL DEFAULT 3 FIRST", "ALTER TABLE {name} DROP COLUMN x"),
    ("ALTER TABLE {name} ADD KEY by_n (n)", "ALTER TABLE {name} DROP KEY by_n"),
    ("CHECK TABLE {name}",),
)
_OF_ANY_TABLE = _ALTERATIONS[:6]
Statements = tuple[str, ...]
_LOCKS_TOO_EARLY = re.compile(r"FLUSH TABLES|CREATE (OR REPLACE )?(VIEW|TRIGGER)")
"""Statements that take locks before their place in the cluster's order. An earlier change by another node
then waits for the lock, and the statement for it: the node stops for good, also with SQL alone."""


def fit_for(server: RowSocketServer, steps: Sequence[Statements]) -> list[Statements]:
    """Those of the steps that this server can do beside what others do."""
    if not isinstance(server, GaleraNode):
        return list(steps)
    return [step for step in steps if not any(map(_LOCKS_TOO_EARLY.match, step))]


def alter(beside: Beside, cursor: Cursor) -> None:
    name = beside.choose.choice(beside.tables())
    shape = BY_NAME.get(name)
    steps = list(_ALTERATIONS if shape is not None else _OF_ANY_TABLE)
    if shape is not None:
        steps += [shape.alterations] if shape.alterations else []
        replaced = [text for text in shape.and_then if text.startswith("CREATE TRIGGER")]
        steps += (
            [tuple(text.replace("CREATE", "CREATE OR REPLACE", 1) for text in replaced)] if replaced else []
        )
    for statement in beside.choose.choice(fit_for(beside.server, steps)):
        done = False
        while not done and ("DROP" in statement or not beside.stop.is_set()):
            done = _altered(cursor, statement.format(name=name), beside.in_the_way())
        if not done:
            break  # it is the end: what was not added need not be dropped
    beside.hold(0, 0.05)


def _altered(cursor: Cursor, statement: str, in_the_way: set[int]) -> bool:
    """Whether it was done; else somebody was in the way, or it cannot be done like this."""
    try:
        cursor.execute(statement)
        cursor.fetchall()
    except pymysql.err.MySQLError as error:
        if error.args[0] in in_the_way:
            return False
        if error.args[0] not in (1845, 1846):  # this algorithm is not for this table
            raise
    return True


def rename(beside: Beside, cursor: Cursor) -> None:
    names = [name for name in beside.shapes() if not BY_NAME[name].and_then]
    if names:
        with beside.no_crash:
            _rename_away_and_back(beside, cursor, beside.choose.choice(names))
    beside.hold(0.02, 0.1)


def _rename_away_and_back(beside: Beside, cursor: Cursor, name: str) -> None:
    if _altered(cursor, f"RENAME TABLE {name} TO {name}_away", LOST_A_RACE):
        beside.hold(0, 0.01)
        while not _altered(cursor, f"RENAME TABLE {name}_away TO {name}", LOST_A_RACE):
            pass


# ---- locks of tables, backups


def lock_tables(beside: Beside, cursor: Cursor) -> None:
    choose = beside.choose
    names = choose.sample(beside.tables(), min(len(beside.tables()), choose.randint(1, 2)))
    taken = choose.choice(
        (
            "LOCK TABLES " + ", ".join(f"{name} {choose.choice(('READ', 'WRITE'))}" for name in names),
            "FLUSH TABLES",
            "FLUSH TABLES WITH READ LOCK",
            f"FLUSH TABLES {', '.join(names)} WITH READ LOCK",
        )
    )

    def work() -> None:
        cursor.execute(taken)
        beside.hold(0, 0.05)

    _tolerating(work, *GONE_FOR_A_MOMENT, *beside.in_the_way())
    cursor.execute("UNLOCK TABLES")
    beside.hold(0.01, 0.1)


def back_up(beside: Beside, cursor: Cursor) -> None:
    def work() -> None:
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            cursor.execute(f"BACKUP STAGE {stage}")
            beside.hold(0, 0.03)

    _tolerating(work)
    with suppress(pymysql.err.MySQLError):
        cursor.execute("BACKUP STAGE END")
    beside.hold(0.05, 0.2)


# ---- operators


def _kill(cursor: Cursor, kill: str) -> None:
    cursor.execute("SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'")
    for (worker,) in cursor.fetchall():
        with suppress(pymysql.err.OperationalError):  # it has no such query any more
            cursor.execute(f"{kill} {worker}")


def kill_queries(beside: Beside, cursor: Cursor) -> None:
    _kill(cursor, beside.choose.choice(("KILL QUERY", "KILL HARD QUERY")))
    beside.hold(0.002, 0.05)


def kill_connections(beside: Beside, cursor: Cursor) -> None:
    _kill(cursor, beside.choose.choice(("KILL", "KILL HARD")))
    beside.hold(0.1, 0.5)


def switch_read_only(beside: Beside, cursor: Cursor) -> None:
    cursor.execute("SET GLOBAL read_only = 1")
    beside.hold(0, 0.02)
    cursor.execute("SET GLOBAL read_only = 0")
    beside.hold(0.1, 0.3)


DISTURBANCES: dict[str, tuple[Callable[[Beside, Cursor], None], int]] = {
    ingredients.LOCKS: (lock_rows, 2),
    ingredients.SQL: (change_in_sql, 2),
    ingredients.ALTERS: (alter, 1),
    ingredients.RENAMES: (rename, 1),
    ingredients.TABLE_LOCKS: (lock_tables, 1),
    ingredients.BACKUPS: (back_up, 1),
    ingredients.KILLS: (kill_queries, 1),
    ingredients.KILLED_CONNECTIONS: (kill_connections, 1),
    ingredients.READ_ONLY: (switch_read_only, 1),
}
"""What each does, and how many sessions do it."""


def disturb(beside: Beside, work: Callable[[Beside, Cursor], None]) -> None:
    """Do it in a session of its own until told to stop."""
    with closing(beside.server.connect("d")) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION lock_wait_timeout = 20, innodb_lock_wait_timeout = 5")
        while not beside.stop.is_set():
            work(beside, cursor)
