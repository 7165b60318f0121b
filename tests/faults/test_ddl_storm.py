# SPDX-License-Identifier: GPL-2.0-only
"""A storm of DDL beside 50 busy connections: every answer is right for one of the table's shapes, and no
increment is lost.

Every row says in each of its columns which column and row it is, whatever the order, types and defaults of
the columns, so that a value that was read by a mapping of another moment shows. While no statement runs that
takes rows, columns or the table away, that they are not there is a wrong answer, too. `kept` is never
emptied: its counters must have the exact sum.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

from support.ddl import AlteringSession
from support.load import Load, Operation
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection
from support.soak import Soak

READERS = 30
WRITERS = 12
COUNTERS = 8
CLIENTS = READERS + WRITERS + COUNTERS
ROWS = 200
STORM_S = 60.0
OF_ANOTHER_SHAPE = {b"1\t1\topen_table", b"2\t1\tidxnum", b"2\t1\tfld"}
"""What the contract says of an index that the table no longer has, and of a table that is away."""

COLUMNS = {
    "k": "k INT PRIMARY KEY",
    "a": "a VARCHAR(30) CHARSET latin1 NOT NULL",
    "b": "b VARCHAR(30) NOT NULL DEFAULT (CONCAT('b', k))",
}
SHAPES = [
    ("k", "a", "b"),
    ("a", "k", "b"),
    ("b", "a", "k"),
]
OPTIONS = [
    "ENGINE=InnoDB",
    "ENGINE=InnoDB ROW_FORMAT=COMPACT",
    "ENGINE=InnoDB PARTITION BY HASH (k) PARTITIONS 3",
]
FILL = f"INSERT INTO hot (k, a) SELECT seq, CONCAT('a', seq) FROM seq_0_to_{ROWS - 1}"
STEPS: list[list[str]] = [
    ["ALTER TABLE hot ADD COLUMN x INT NOT NULL DEFAULT 3 FIRST", "ALTER TABLE hot DROP COLUMN x"],
    ["ALTER TABLE hot ADD COLUMN x TEXT, ALGORITHM=INSTANT", "ALTER TABLE hot DROP COLUMN x, ALGORITHM=COPY"],
    [
        "ALTER TABLE hot MODIFY a VARCHAR(190) CHARSET utf8mb4 NOT NULL",
        f"ALTER TABLE hot MODIFY {COLUMNS['a']}",
    ],
    ["ALTER TABLE hot MODIFY a VARCHAR(30) CHARSET latin1 NOT NULL AFTER b"],
    ["ALTER TABLE hot MODIFY k BIGINT NOT NULL", "ALTER TABLE hot MODIFY k INT NOT NULL"],
    ["ALTER TABLE hot DROP KEY by_a", "ALTER TABLE hot ADD KEY by_a (a)"],
    ["ALTER TABLE hot DROP COLUMN b", "ALTER TABLE hot ADD COLUMN b VARCHAR(40) AS (CONCAT('b', k)) VIRTUAL"],
    ["ALTER TABLE hot DROP COLUMN b", "ALTER TABLE hot ADD COLUMN b VARCHAR(40) AS (CONCAT('b', k)) STORED"],
    ["OPTIMIZE TABLE hot"],
    ["TRUNCATE TABLE hot", FILL],
    ["RENAME TABLE hot TO away", "RENAME TABLE away TO hot"],
    *[
        [
            "DROP TABLE hot",
            f"CREATE TABLE hot ({', '.join(COLUMNS[name] for name in shape)}, KEY by_a (a)) {options}",
            FILL,
        ]
        for shape in SHAPES
        for options in OPTIONS
    ],
]
STEPS_OF_THE_KEPT = [
    ["ALTER TABLE kept ADD COLUMN x INT NOT NULL DEFAULT 3 FIRST"],
    ["ALTER TABLE kept DROP COLUMN x, ALGORITHM=COPY"],
    ["OPTIMIZE TABLE kept"],
    ["RENAME TABLE kept TO kept_away", "RENAME TABLE kept_away TO kept"],
    ["ALTER TABLE kept MODIFY n BIGINT NOT NULL FIRST"],
    ["ALTER TABLE kept MODIFY n INT NOT NULL AFTER k"],
    ["ALTER TABLE kept FORCE"],
]


TAKES_AWAY = re.compile("TRUNCATE|RENAME|DROP TABLE|DROP KEY|DROP COLUMN b")


class Wrong:
    """Answers that are right for no shape, or not at their time."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[bytes, bytes]] = Counter()
        self.errors: Counter[bytes] = Counter()
        self.calm = 0
        """How many requests were made while nothing was away."""
        self._changes = 0

    @contextlib.contextmanager
    def meanwhile(self, statements: list[str]) -> Iterator[None]:
        """What the statements take away may be missing until the end of the block."""
        takes_away = any(map(TAKES_AWAY.search, statements))
        self._changes += takes_away
        yield
        self._changes += takes_away

    def ask(self, connection: RawConnection, requests: dict[bytes, tuple[set[bytes], set[bytes]]]) -> None:
        """Ask and check; for each request the replies where all is there, and those where something is
        away."""
        before = self._changes
        replies = connection.ask_all(*requests)
        is_calm = before == self._changes and before % 2 == 0
        for (request, (right, right_without)), reply in zip(requests.items(), replies, strict=True):
            self.calm += is_calm
            self.check(request, reply, right if is_calm else right | right_without, may_be_away=not is_calm)

    def check(self, request: bytes, reply: bytes, right: set[bytes], *, may_be_away: bool = True) -> None:
        if may_be_away and reply in OF_ANOTHER_SHAPE:
            self.errors[reply] += 1
        elif reply not in right:
            self.answers[request, reply] += 1


def row(k: int) -> bytes:
    return b"\t%d\ta%d\tb%d" % (k, k, k)


def open_both(connection: RawConnection, database: str) -> None:
    """Ids 1 and 2: all columns, by the primary key and by `a`."""
    assert connection.ask(f"P\t1\t{database}\thot\t\tk,a,b".encode()) == b"0\t1"
    assert connection.ask(f"P\t2\t{database}\thot\tby_a\tk,a,b".encode()) == b"0\t1"


def reader(server: RowSocketServer, database: str, wrong: Wrong, number: int, stack: ExitStack) -> Operation:
    """Asks for a row by both indexes, and for five rows, which are all there or none."""
    connection = stack.enter_context(RawConnection(server.read_address()))
    open_both(connection, database)
    nothing = {b"0\t3"}
    five = b"0\t3" + b"".join(map(row, range(number, number + 5)))
    requests = {
        b"1\t=\t1\t%d" % number: ({b"0\t3" + row(number)}, nothing),
        b"2\t=\t1\ta%d" % number: ({b"0\t3" + row(number)}, nothing),
        b"1\t>=\t1\t%d\t5\t0" % number: ({five}, nothing),
    }
    return lambda: wrong.ask(connection, requests)


def writer(server: RowSocketServer, database: str, wrong: Wrong, number: int, stack: ExitStack) -> Operation:
    """Inserts, reads, changes and deletes a row that only it touches, before all those that are read."""
    connection = stack.enter_context(RawConnection(server.write_address()))
    assert connection.ask(f"P\t1\t{database}\thot\t\tk,a".encode()) == b"0\t1"
    assert connection.ask(f"P\t2\t{database}\thot\t\tb,a,k".encode()) == b"0\t1"
    k = -1 - number
    found = b"0\t3\tb%d\ta%d\t%d" % (k, k, k)
    requests = {
        b"1\t+\t2\t%d\ta%d" % (k, k): ({b"0\t1", b"1\t1\t121"}, set()),
        b"2\t=\t1\t%d" % k: ({found}, {b"0\t3"}),
        b"1\t=\t1\t%d\t1\t0\tU\t%d\ta%d" % (k, k, k): ({b"0\t1\t1"}, {b"0\t1\t0"}),
        b"1\t=\t1\t%d\t1\t0\tD?" % k: ({b"0\t2\t%d\ta%d" % (k, k)}, {b"0\t2"}),
    }
    return lambda: wrong.ask(connection, requests)


class Counting:
    """Clients that each increment their own counter of `kept`."""

    def __init__(self, server: RowSocketServer, database: str, wrong: Wrong) -> None:
        self.server, self.database, self.wrong = server, database, wrong
        self.acknowledged: Counter[int] = Counter()

    def make(self, number: int, stack: ExitStack) -> Operation:
        connection = stack.enter_context(RawConnection(self.server.write_address()))
        assert connection.ask(f"P\t1\t{self.database}\tkept\t\tn".encode()) == b"0\t1"
        request = b"1\t=\t1\t%d\t1\t0\t+\t1" % number

        def increment() -> None:
            reply = connection.ask(request)
            self.acknowledged[number] += reply == b"0\t1\t1"
            self.wrong.check(request, reply, {b"0\t1\t1"})

        return increment


def make_tables(database: Database) -> None:
    database.sql(f"CREATE TABLE hot ({', '.join(COLUMNS.values())}, KEY by_a (a)) ENGINE=InnoDB")
    database.sql(FILL)
    database.sql("CREATE TABLE kept (k INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
    database.sql(f"INSERT INTO kept SELECT seq, 0 FROM seq_0_to_{CLIENTS - 1}")


def storm_over_the_kept(database: Database, stack: ExitStack) -> Operation:
    session = AlteringSession(stack.enter_context(database.session()))
    steps = itertools.cycle(STEPS_OF_THE_KEPT)

    def alter() -> None:
        for statement in next(steps):
            session.wait_s(statement)

    return alter


def test_a_storm_of_ddl_beside_busy_clients_gives_right_answers_and_loses_no_increment(
    server: RowSocketServer, database: Database, soak: Soak
) -> None:
    make_tables(database)
    wrong = Wrong()
    counting = Counting(server, database.name, wrong)

    def make(number: int, stack: ExitStack) -> Operation:
        if number >= READERS + WRITERS:
            return counting.make(number, stack)
        return (reader if number < READERS else writer)(server, database.name, wrong, number, stack)

    waits: list[float] = []
    end_s = time.monotonic() + soak.duration_s(STORM_S)
    with Load(CLIENTS, make) as load, Load(1, lambda _, stack: storm_over_the_kept(database, stack)) as kept:
        with database.session() as cursor, RawConnection(server.read_address()) as quiet:
            session = AlteringSession(cursor)
            open_both(quiet, database.name)
            while time.monotonic() < end_s:
                step = soak.random.choice(STEPS)
                with wrong.meanwhile(step):
                    waits += map(session.wait_s, step)
                assert quiet.ask_all(b"1\t=\t1\t7", b"2\t=\t1\ta7") == [b"0\t3" + row(7)] * 2, (
                    "no DDL runs, and all is there"
                )
                load.raise_error()
                assert wrong.answers == {}
        load.wait_for_more()
        kept.wait_for_more()
    assert wrong.answers == {}
    assert wrong.calm > 0
    assert [tuple(row) for row in database.sql("SELECT k, n FROM kept WHERE n > 0 ORDER BY k")] == sorted(
        counting.acknowledged.items()
    )
    assert database.sql("SELECT * FROM hot WHERE a <> CONCAT('a', k)") == []
    assert {row[3] for row in database.sql("CHECK TABLE hot, kept")} == {"OK"}
    soak.saw("answers", load.operations())
    soak.saw("statements of DDL", len(waits))
    soak.saw("answers while nothing was away", wrong.calm)
    soak.saw("answers that said that the table has another shape", wrong.errors.total())
    soak.saw("wrong answers", wrong.answers.total())
    soak.note(
        "waits of DDL, 99 of 100 below",
        f"{statistics.quantiles(waits, n=100, method='inclusive')[98] * 1000:.1f} ms",
    )
    soak.note("longest", f"{max(waits) * 1000:.1f} ms")
