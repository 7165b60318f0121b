# SPDX-License-Identifier: GPL-2.0-only
"""A busy table with a trigger that does not stay what it is: emptied, dropped, a view for a while, and a
table again.

Nobody can know its rows. But each reply must be one that some moment allows, connections must stay, and the
binlog must tell the same story as the table.
"""

from __future__ import annotations

import itertools
import random
import re

import pymysql

from property.clients import ANSWER_TIMEOUT_S, without_detail
from property.disturbances import Beside, Cursor, fit_for
from property.steps import Wrong
from support.mariadb import RowSocketServer
from support.raw import RawConnection

ROWS = 30
CHANGING = ("d.vol",)
"""Tables that now have transactions and now do not."""
_CREATE = "CREATE TABLE vol (id INT PRIMARY KEY, n INT NOT NULL, m INT NOT NULL DEFAULT 0, KEY by_n (n))"
_TRIGGER = "CREATE TRIGGER vol_u BEFORE UPDATE ON vol FOR EACH ROW SET NEW.m = NEW.m + 1"
_LOGGING = "CREATE TRIGGER vol_i AFTER INSERT ON vol FOR EACH ROW INSERT INTO vol_log VALUES (NEW.id)"
TABLES = (_CREATE, "CREATE TABLE vol_log (id INT NOT NULL)", _TRIGGER)
_STEPS = (
    ("TRUNCATE TABLE vol",),
    (
        "DROP TABLE vol",
        "CREATE VIEW vol AS SELECT id, id AS n, id AS m FROM vol_log",
        "DROP VIEW vol",
        _CREATE,
        _TRIGGER,
    ),
    ("DROP TABLE vol", _CREATE + " PARTITION BY HASH (id) PARTITIONS 2", _LOGGING),
    ("DROP TABLE vol", _CREATE + " WITH SYSTEM VERSIONING"),
    ("DROP TABLE vol", _CREATE.replace("InnoDB", "MyISAM")),
    ("DROP TABLE vol", _CREATE, _LOGGING, _TRIGGER),
    ("ALTER TABLE vol DROP COLUMN m", "ALTER TABLE vol ADD COLUMN m INT NOT NULL DEFAULT 0 FIRST"),
    ("ALTER TABLE vol DROP KEY by_n", "ALTER TABLE vol ADD KEY by_n (n, id)"),
    (
        "RENAME TABLE vol TO vol_away",
        "CREATE TABLE vol LIKE vol_away",
        "DROP TABLE vol",
        "RENAME TABLE vol_away TO vol",
    ),
)
_OF_ANOTHER_SHAPE = {1050, 1051, 1054, 1060, 1061, 1072, 1091, 1146, 1347, 1360, 1965, 4137}
"""What the table is just now, this statement cannot be done to."""
_AGREES = re.compile(
    rb"0\t1|0\t1\t\d+|0\t[23](\t-?\d+|\t\0)*"  # done, so many rows, rows
    rb"|1\t1\t(121|open_table|lock_tables|146|149|1213|1205|188|1317|1927|1290|group|notrans|1054|1146|1347)"
    rb"|2\t1\t(stmtnum|idxnum|fld)"
)


def change(beside: Beside, cursor: Cursor) -> None:
    """One of the things that may become of the table."""
    with beside.no_crash:
        for statement in beside.choose.choice(fit_for(beside.server, _STEPS)):
            _change(cursor, statement, beside.in_the_way())
            beside.hold(0, 0.01)
    beside.hold(0.001, 0.01)


def _change(cursor: Cursor, statement: str, in_the_way: set[int]) -> None:
    while True:
        try:
            cursor.execute(statement)
            return
        except pymysql.err.MySQLError as error:
            if error.args[0] in _OF_ANOTHER_SHAPE:
                return
            if error.args[0] not in in_the_way:
                raise


class VolatileClient:
    """A client of the table."""

    def __init__(self, server: RowSocketServer, number: int, seed: int, refusals: frozenset[str]) -> None:
        self.server = server
        self.refusals = refusals
        self.choose = random.Random(f"{seed}/volatile {number}")
        self.connection = RawConnection(server.write_address(), ANSWER_TIMEOUT_S)
        self.numbers = itertools.count()
        self.opened = False

    def renew(self) -> None:
        """Connect anew."""
        self.connection.close()
        self.connection = RawConnection(self.server.write_address(), ANSWER_TIMEOUT_S)
        self.opened = False

    def close(self) -> None:
        self.connection.close()

    def work(self) -> None:
        """A few requests; raises `Wrong` if a reply agrees with nothing."""
        choose, row = self.choose, self.choose.randrange(ROWS)
        lines = [
            b"0\t+\t2\t%d\t%d" % (row, row),
            b"0\t=\t1\t%d\t1\t0\tU\t%d\t%d" % (row, row, next(self.numbers) % 1000),
            b"0\t=\t1\t%d\t1\t0\t+\t0\t1" % row,
            b"1\t>=\t1\t%d\t5\t0\t+\t0\t1" % row,
            b"0\t=\t1\t%d\t1\t0\tD" % row,
            b"0\t>=\t1\t%d\t5\t0" % row,
            b"1\t=\t1\t%d\t5\t0" % row,
        ]
        chosen = choose.choices(lines, k=choose.randint(1, 6))
        if choose.random() < 0.2:
            chosen = [b"G", *chosen, b"E"]
        if not self.opened or choose.random() < 0.05:
            chosen = [b"P\t0\td\tvol\t\tid,n", b"P\t1\td\tvol\tby_n\tid,n", *chosen]
            self.opened = True
        replies = self.connection.ask_all(*chosen)
        pairs = zip(chosen, replies, strict=True)
        wrong = [(line, reply) for line, reply in pairs if not self._agrees(without_detail(reply))]
        if wrong:
            raise Wrong(f"no moment of the table allows {wrong}")

    def _agrees(self, reply: bytes) -> bool:
        is_refusal = reply.startswith(b"1\t1\t") and reply.split(b"\t")[2].decode() in self.refusals
        return is_refusal or _AGREES.fullmatch(reply) is not None
