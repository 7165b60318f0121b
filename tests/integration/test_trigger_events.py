# SPDX-License-Identifier: GPL-2.0-only
"""A write needs what the triggers use that it can fire, and nothing else, as in SQL."""

from __future__ import annotations

import pymysql
import pytest

from support.mariadb import Database, RowSocketServer

DONE = b"0\t1"
REQUESTS = {
    "insert": (b"1\t+\t2\t9\t9", {"INSERT"}),
    "insert or keep": (b"1\t++\t2\t1\t9\t9\tI", {"INSERT"}),
    "upsert": (b"1\t++\t2\t1\t9\t9\tU\t1", {"INSERT", "UPDATE"}),
    "replace": (b"1\t++\t2\t1\t9\t9\tR", {"INSERT", "DELETE"}),
    "update": (b"1\t=\t1\t1\t1\t0\tU\t1\t7", {"UPDATE"}),
    "add": (b"1\t=\t1\t1\t1\t0\t+\t0\t1", {"UPDATE"}),
    "delete": (b"1\t=\t1\t1\t1\t0\tD", {"DELETE"}),
}


@pytest.fixture(autouse=True)
def tables(database: Database) -> None:
    """The row (1, 1) in `t`, and an empty `log`."""
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB;
        CREATE TABLE log (n INT) ENGINE=InnoDB;
        INSERT INTO t VALUES (1, 1)"""
    )


def write_log(database: Database, event: str) -> None:
    """Before the event a trigger writes to `log`."""
    database.sql(f"CREATE TRIGGER logs BEFORE {event} ON t FOR EACH ROW INSERT INTO log VALUES (1)")


@pytest.mark.parametrize("event", ["INSERT", "UPDATE", "DELETE"])
@pytest.mark.parametrize("name", REQUESTS)
def test_a_write_waits_for_the_tables_of_the_triggers_that_it_can_fire(
    server: RowSocketServer, database: Database, name: str, event: str
) -> None:
    write_log(database, event)
    request, events = REQUESTS[name]
    parked_before = server.counter("parked")
    with server.raw("write") as client, database.session() as locker:
        assert client.ask(b"P\t1\t%s\tt\t\tid,n" % database.name.encode()) == DONE
        locker.execute("LOCK TABLES log WRITE")
        client.send(request + b"\n")
        if event in events:
            server.wait_until("the request waits", lambda: server.counter("parked") > parked_before)
            locker.execute("UNLOCK TABLES")
        assert client.line().startswith(b"0\t")


def test_a_group_can_do_what_fires_no_trigger_without_transactions(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("ALTER TABLE log ENGINE=MyISAM")
    write_log(database, "DELETE")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\t%s\tt\t\tid,n" % database.name.encode()) == DONE
        change = b"1\t=\t1\t1\t1\t0\tU\t1\t7"
        assert client.ask_all(b"G", b"1\t+\t2\t2\t2", change, b"E") == [DONE, DONE, b"0\t1\t1", DONE]
        assert client.ask(b"1\t=\t1\t2\t1\t0\tD") == b"0\t1\t1"
    assert list(database.sql("SELECT * FROM t")) == [(1, 7)]
    assert list(database.sql("SELECT n FROM log")) == [(1,)]


def test_a_group_can_do_what_has_a_trigger_read_from_a_table_without_transactions(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("ALTER TABLE log ENGINE=MyISAM")
    database.sql(
        "CREATE TRIGGER counts BEFORE INSERT ON t FOR EACH ROW SET NEW.n = (SELECT COUNT(*) FROM log)"
    )
    with server.raw("write") as client:
        assert client.ask(b"P\t1\t%s\tt\t\tid,n" % database.name.encode()) == DONE
        assert client.ask_all(b"G", b"1\t+\t2\t2\t2", b"E") == [DONE] * 3
    assert list(database.sql("SELECT * FROM t")) == [(1, 1), (2, 0)]


def test_a_trigger_that_can_not_be_parsed_refuses_the_writes_of_its_table_and_no_finds(
    server: RowSocketServer, database: Database
) -> None:
    """A later version of the server may have another syntax. As in SQL, whatever event the trigger is for."""
    write_log(database, "DELETE")
    file = server.data / database.name / "t.TRG"
    file.write_text(file.read_text().replace("INSERT INTO log", "INSERT UNTO log"))
    database.sql("FLUSH TABLES t")
    with pytest.raises(pymysql.err.ProgrammingError, match="1064"):
        database.sql("INSERT INTO t VALUES (9, 9)")
    with server.raw("write") as client:
        assert client.ask(f"P\t1\t{database.name}\tt\t\tid,n".encode()) == DONE
        for _ in range(2):
            assert client.ask(b"1\t+\t2\t9\t9") == b"1\t1\t1064"
            assert client.ask(b"1\t=\t1\t1") == b"0\t2\t1\t1"
