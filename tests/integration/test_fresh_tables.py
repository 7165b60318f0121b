# SPDX-License-Identifier: GPL-2.0-only
"""A table that was opened a moment ago has triggers in the state that the server gives them; so does each
later request."""

from __future__ import annotations

import pytest

from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

LOGGED = (
    "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, n INT NOT NULL)",
    "CREATE TABLE log (op CHAR(1), id INT, n INT)",
    "CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = NEW.n + 1",
    "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES ('i', NEW.id, NEW.n)",
    "CREATE TRIGGER au AFTER UPDATE ON t FOR EACH ROW INSERT INTO log VALUES ('u', OLD.id, OLD.n)",
    "CREATE TRIGGER ad AFTER DELETE ON t FOR EACH ROW INSERT INTO log VALUES ('d', OLD.id, OLD.n)",
)


@pytest.fixture
def fresh(start: Start) -> RowSocketServer:
    server = start(RowSocketServer)
    database = Database(server, "d")
    for statement in LOGGED:
        database.sql(statement)
    database.sql("INSERT INTO t VALUES (1, 10)")
    database.sql("DELETE FROM log")
    database.sql("FLUSH TABLES")
    return server


def opened(server: RowSocketServer) -> RawConnection:
    wire = server.raw("write")
    assert wire.ask(b"P\t1\td\tt\t\tid,n") == b"0\t1"
    return wire


@pytest.mark.parametrize(
    ("request_line", "logs"),
    [
        (b"1\t=\t1\t1\t1\t0\tD", ("d", 1, 10)),
        (b"1\t=\t1\t1\t1\t0\tU\t1\t20", ("u", 1, 10)),
        (b"1\t+\t2\t2\t30", ("i", 2, 30)),
        (b"1\t++\t2\t1\t1\t30\tR", ("d", 1, 10)),
        (b"1\t++\t2\t1\t1\t30\tU\t1", ("u", 1, 10)),
    ],
    ids=["delete", "update", "insert", "replace", "upsert"],
)
def test_the_first_request_shows_its_trigger_the_row(
    fresh: RowSocketServer, request_line: bytes, logs: tuple[object, ...]
) -> None:
    """The server makes columns without a default NULL in what a BEFORE trigger is to fill."""
    with opened(fresh) as wire:
        assert wire.ask(request_line).startswith(b"0\t")
    assert logs in fresh.sql("SELECT op, id, n FROM d.log")


def test_a_table_with_triggers_stays_in_the_cache(fresh: RowSocketServer) -> None:
    with opened(fresh) as wire:
        wire.ask(b"1\t=\t1\t1\t1\t0\tU\t1\t20")
        before = fresh.status("Opened_tables")
        for number in range(5):
            wire.ask(b"1\t=\t1\t1\t1\t0\tU\t1\t%d" % number)
        assert fresh.status("Opened_tables") == before


def test_null_asks_for_an_id_where_a_trigger_may_fill_columns(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL)")
    database.sql("CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.n = NEW.n + 1")
    with opened(server) as wire:
        assert wire.ask(b"1\t+\t2\t\0\t10") == b"0\t1\t1"
    assert database.sql("SELECT * FROM t") == [(1, 11)]
