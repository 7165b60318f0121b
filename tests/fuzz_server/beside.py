# SPDX-License-Identifier: GPL-2.0-only
"""What an SQL session does to the tables while requests come in: DDL, locks, rows, settings, KILL.

An action is a list of statements; None among them is a pause. That a statement fails is no surprise.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import closing

import pymysql

from fuzz_server.journal import Journal
from fuzz_server.scene import DATABASE, ROWS, Shape
from support.mariadb import MariaDB

Statements = list[str | None]
Action = Callable[[random.Random, Shape, tuple[Shape, ...]], Statements]
LOST = {2006, 2013}
_SESSION = "SET SESSION lock_wait_timeout = 2, innodb_lock_wait_timeout = 1, foreign_key_checks = {}"
PAUSE_S = 0.15


def _again(shape: Shape) -> Statements:
    return [
        f"DROP TABLE IF EXISTS {shape.name}",
        f"DROP VIEW IF EXISTS {shape.name}",
        f"DROP SEQUENCE IF EXISTS {shape.name}",
        *shape.statements(),
    ]


def _alter(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    changes = (
        ("ADD COLUMN extra INT NOT NULL DEFAULT 3 FIRST", "DROP COLUMN extra"),
        ("ADD COLUMN later VARCHAR(9) DEFAULT 'x', ALGORITHM=INSTANT", "DROP COLUMN later"),
        ("ADD KEY by_extra (n, g)", "DROP KEY by_extra"),
        ("RENAME COLUMN n TO m", "RENAME COLUMN m TO n"),
        ("DROP KEY by_g", "ADD KEY by_g (g, n)"),
        ("MODIFY s VARCHAR(60) CHARSET latin1", "MODIFY s VARCHAR(40) CHARSET utf8mb4"),
        ("MODIFY n SMALLINT NOT NULL DEFAULT 0", "MODIFY n BIGINT NOT NULL DEFAULT 0"),
        ("DISABLE KEYS", "ENABLE KEYS"),
        ("FORCE, ALGORITHM=COPY",),
        ("FORCE",),
        ("ADD SYSTEM VERSIONING", "DROP SYSTEM VERSIONING"),
        ("ADD UNIQUE KEY by_all (s, g, n)", "DROP KEY by_all"),
    )
    made: Statements = []
    for change in choose.choice(changes):
        made += [f"ALTER TABLE {shape.name} {change}", None]
    return made


def _alter_own(choose: random.Random, shape: Shape, all_shapes: tuple[Shape, ...]) -> Statements:
    return [choose.choice(shape.altered())] if shape.alterations else _alter(choose, shape, all_shapes)


def _change_engine(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    engine = choose.choice(("InnoDB", "MyISAM", "Aria", "MEMORY", "ROCKSDB", "CSV", "ARCHIVE"))
    return [f"ALTER TABLE {shape.name} ENGINE={engine}", None, None, *_again(shape)]


def _truncate(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    return [f"TRUNCATE TABLE {shape.name}"]


def _make_again(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    return _again(shape)


def _become_a_view(choose: random.Random, shape: Shape, all_shapes: tuple[Shape, ...]) -> Statements:
    other = choose.choice(all_shapes)
    what = choose.choice(
        (f"CREATE VIEW {shape.name} AS SELECT * FROM {other.name}", f"CREATE SEQUENCE {shape.name}")
    )
    return [f"DROP TABLE {shape.name}", what, None, None, *_again(shape)]


def _rename(choose: random.Random, shape: Shape, all_shapes: tuple[Shape, ...]) -> Statements:
    other = choose.choice(all_shapes)
    if choose.random() < 0.5:
        return [f"RENAME TABLE {shape.name} TO away", None, f"RENAME TABLE away TO {shape.name}"]
    swap = f"RENAME TABLE {shape.name} TO away, {other.name} TO {shape.name}, away TO {other.name}"
    return [swap, None, swap, *_again(shape)]


def _fill(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    return [shape.statements()[-1]]


def _maintain(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    what = choose.choice(("OPTIMIZE", "ANALYZE", "CHECK", "REPAIR"))
    return [f"{what} TABLE {shape.name}"]


def _flush(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    what = choose.choice(
        (
            "FLUSH TABLES",
            f"FLUSH TABLES {shape.name}",
            f"FLUSH TABLES {shape.name} FOR EXPORT",
            "FLUSH LOGS",
            "FLUSH STATUS",
        )
    )
    return [what, "UNLOCK TABLES"]


def _lock(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    what = choose.choice(
        (f"LOCK TABLES {shape.name} WRITE", f"LOCK TABLES {shape.name} READ", "FLUSH TABLES WITH READ LOCK")
    )
    return [what, None, "UNLOCK TABLES"]


def _back_up(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    stages: Statements = [
        f"BACKUP STAGE {stage}" for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT")
    ]
    return [*stages[: choose.randint(1, 4)], None, "BACKUP STAGE END"]


def _lock_rows(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    first = choose.randrange(ROWS)
    where = choose.choice(("", f"WHERE id = {first}", f"WHERE id > {first}", f"WHERE g = {first % 4}"))
    change = choose.choice(
        (
            f"SELECT 1 FROM {shape.name} {where} FOR UPDATE",
            f"UPDATE {shape.name} SET n = n + 1 {where}",
            f"DELETE FROM {shape.name} {where}",
        )
    )
    return ["BEGIN", change, None, choose.choice(("ROLLBACK", "COMMIT"))]


def _change_rows(choose: random.Random, shape: Shape, all_shapes: tuple[Shape, ...]) -> Statements:
    tables = [shape, *choose.choices(all_shapes, k=2)]
    made = [f"UPDATE {one.name} SET g = g + 1 WHERE id = {choose.randrange(ROWS)}" for one in tables]
    return ["BEGIN", *made, "COMMIT"]


def _change_triggers(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    when, event = choose.choice(("BEFORE", "AFTER")), choose.choice(("INSERT", "UPDATE", "DELETE"))
    row = "OLD" if event == "DELETE" else "NEW"
    body = choose.choice(
        (
            "SET @x = 1",
            f"INSERT INTO seen VALUES ('t', {row}.id)",
            f"INSERT INTO noted (op, id) VALUES ('t', {row}.id)",
            "SIGNAL SQLSTATE '45000'",
            "UPDATE plain SET n = n + 1 WHERE id = 3",
            "INSERT INTO missing VALUES (1)",
        )
    )
    return [
        f"CREATE OR REPLACE TRIGGER passing {when} {event} ON {shape.name} FOR EACH ROW {body}",
        None,
        None,
        "DROP TRIGGER IF EXISTS passing",
    ]


def _change_settings(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    name, values, usual = choose.choice(
        (
            ("rowsocket_strict", "ON OFF", "OFF"),
            ("rowsocket_error_detail", "ON OFF", "OFF"),
            ("rowsocket_max_in_values", "2", "10000"),
            ("rowsocket_max_reply_bytes", "65536", "1000000"),
            ("rowsocket_log_value_bytes", "0 1 4096", "64"),
            ("general_log", "ON", "OFF"),
            ("slow_query_log", "ON", "OFF"),
            ("long_query_time", "0", "10"),
            ("log_output", "TABLE 'TABLE,FILE'", "FILE"),
            ("read_only", "ON", "OFF"),
            ("sql_mode", "'' 'PAD_CHAR_TO_FULL_LENGTH,NO_ZERO_DATE' 'NO_AUTO_VALUE_ON_ZERO'", "DEFAULT"),
            ("binlog_row_image", "MINIMAL NOBLOB FULL_NODUP", "FULL"),
            ("userstat", "ON", "OFF"),
            ("foreign_key_checks", "OFF", "ON"),
            ("unique_checks", "OFF", "ON"),
            ("secure_timestamp", "NO", "NO"),
            ("timestamp", "DEFAULT", "DEFAULT"),
            ("time_zone", "'+05:30'", "SYSTEM"),
            ("tx_isolation", "'SERIALIZABLE' 'READ-UNCOMMITTED'", "'REPEATABLE-READ'"),
            ("auto_increment_increment", "7", "1"),
            ("innodb_lock_wait_timeout", "0", "1"),
            ("table_open_cache", "10", "2000"),
            ("max_binlog_cache_size", "4096", "18446744073709547520"),
            ("transaction_alloc_block_size", "1024", "8192"),
            ("explicit_defaults_for_timestamp", "OFF", "ON"),
        )
    )
    return [
        f"SET GLOBAL {name} = {choose.choice(values.split())}",
        None,
        None,
        f"SET GLOBAL {name} = {usual}",
    ]


KILL = "KILL {} {}"


def _kill(choose: random.Random, shape: Shape, _: tuple[Shape, ...]) -> Statements:
    return [choose.choice(("KILL HARD {}", "KILL SOFT {}", "KILL QUERY {}", "KILL HARD QUERY {}"))]


ACTIONS: tuple[tuple[Action, int], ...] = (
    (_fill, 12),
    (_alter, 10),
    (_alter_own, 5),
    (_change_engine, 4),
    (_truncate, 3),
    (_make_again, 6),
    (_become_a_view, 3),
    (_rename, 4),
    (_maintain, 4),
    (_flush, 5),
    (_lock, 3),
    (_back_up, 2),
    (_lock_rows, 8),
    (_change_rows, 10),
    (_change_triggers, 5),
    (_change_settings, 5),
)
KILLING: tuple[tuple[Action, int], ...] = ((_kill, 6),)


class Beside(threading.Thread):
    """One SQL session. What it could not do at all is in `failure`."""

    def __init__(
        self,
        server: MariaDB,
        shapes: tuple[Shape, ...],
        choose: random.Random,
        journal: Journal,
        stop: threading.Event,
        *,
        kills: bool,
    ) -> None:
        super().__init__(daemon=True)
        self.failure = ""
        self.done = 0
        self._server, self._choose = server, choose
        self._shapes = tuple(shape for shape in shapes if shape.is_served)
        self._journal, self._stop_event = journal, stop
        self._actions = ACTIONS + (KILLING if kills else ())

    def run(self) -> None:
        try:
            with closing(self._server.connect(DATABASE)) as connection, connection.cursor() as cursor:
                while not self._stop_event.is_set():
                    self._act(cursor)
        except pymysql.err.MySQLError as error:
            self.failure = f"the SQL session beside is lost: {error}"
        self._stop_event.set()

    def _act(self, cursor: pymysql.cursors.Cursor) -> None:
        choose = self._choose
        [action] = choose.choices([one for one, _ in self._actions], [weight for _, weight in self._actions])
        statements = action(choose, choose.choice(self._shapes), self._shapes)
        for statement in (_SESSION.format(choose.choice((0, 1))), *statements):
            if statement is None:
                self._stop_event.wait(choose.uniform(0, PAUSE_S))
            elif "KILL" in statement:
                self._kill(cursor, statement)
            else:
                self._do(cursor, statement)
        self.done += 1

    def _kill(self, cursor: pymysql.cursors.Cursor, statement: str) -> None:
        self._do(cursor, "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'")
        found = [row[0] for row in cursor.fetchall()]
        if found:
            self._do(cursor, statement.format(self._choose.choice(found)))

    def _do(self, cursor: pymysql.cursors.Cursor, statement: str) -> None:
        self._journal.note("sql", "sql", statement.encode())
        try:
            cursor.execute(statement)
        except pymysql.err.MySQLError as error:
            if error.args[0] in LOST or not self._server.alive():
                raise


USUAL: tuple[str, ...] = (
    "SET GLOBAL read_only = OFF",
    "SET GLOBAL foreign_key_checks = ON",
    "SET GLOBAL max_binlog_cache_size = 18446744073709547520",
)
"""Puts back what a stopped action may have left."""
