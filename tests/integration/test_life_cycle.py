# SPDX-License-Identifier: GPL-2.0-only
"""Statements, transactions and tables live as long as those of an SQL session do, no longer and no
shorter."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pymysql
import pytest

from rowsocket import Connection
from support.gate import LaterReplies, gate, open_ids, wait_at_gate, with_gated_table
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

OpenRaw = Callable[[str], RawConnection]


@pytest.mark.parametrize(
    "change", ["ALTER TABLE t ADD COLUMN x INT, ALGORITHM=COPY", "OPTIMIZE TABLE t", "TRUNCATE TABLE t"]
)
def test_what_a_turn_has_changed_stays_locked_until_it_ends(
    server: RowSocketServer, database: Database, raw: OpenRaw, change: str
) -> None:
    with_gated_table(database)
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"), (2, "gated", "id"))
    with database.session() as ddl:
        ddl.execute("SET lock_wait_timeout = 0")
        with gate(database):
            wire.send(b"1\t+\t1\t1\n2\t+\t1\t1\n")
            replies = LaterReplies(wire, 2)
            wait_at_gate(server)
            with contextlib.suppress(pymysql.err.OperationalError):
                ddl.execute(change)
                outcome = ddl.fetchall()
                assert any(
                    "Lock wait timeout" in str(row) for row in outcome
                )  # OPTIMIZE says so in its result
        assert replies.lines() == [b"0\t1"] * 2
    assert database.sql("SELECT * FROM t") == [(1, 0)]
    assert database.sql("CHECK TABLE t EXTENDED")[0][3] == "OK"


def insert_and_block_commit(
    server: RowSocketServer, database: Database, wire: RawConnection, backup: pymysql.cursors.Cursor
) -> LaterReplies:
    """Two inserts of one turn, whose commit meets a backup that blocks commits."""
    with gate(database):
        wire.send(b"1\t+\t1\t1\n2\t+\t1\t1\n")
        replies = LaterReplies(wire, 2)
        wait_at_gate(server)
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            backup.execute(f"BACKUP STAGE {stage}")
    return replies


def test_a_commit_waits_for_a_backup_that_blocks_commits(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    with_gated_table(database)
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"), (2, "gated", "id"))
    waiting = (
        "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket' AND state LIKE '%%backup"
        " lock%%'"
    )
    replays_before = server.counter("replays")
    with database.session() as backup:
        try:
            replies = insert_and_block_commit(server, database, wire, backup)
            server.wait_until("the commit waits", lambda: bool(server.sql(waiting)))
            assert database.sql("SELECT * FROM t") == []
        finally:
            backup.execute("BACKUP STAGE END")
    assert replies.lines() == [b"0\t1"] * 2
    assert server.counter("replays") == replays_before


def test_a_commit_that_a_backup_keeps_for_too_long_fails_once(start: Start) -> None:
    """It has waited as long as it may, and is not tried again."""
    server = start(RowSocketServer, {"lock-wait-timeout": 1})
    database = Database(server, "d")
    with_gated_table(database)
    with database.session() as backup, server.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id"), (2, "gated", "id"))
        replays_before = server.counter("replays")
        replies = insert_and_block_commit(server, database, wire, backup)
        lines = replies.lines()
        assert [line.split(b"\t")[:3] for line in lines] == [[b"1", b"1", b"commit"]] * 2
        assert server.counter("replays") == replays_before
        backup.execute("BACKUP STAGE END")
        assert wire.ask(b"1\t+\t1\t1") == b"0\t1"
    assert database.sql("SELECT id FROM t") == [(1,)]


@pytest.mark.parametrize("port", ["read", "write"])
@pytest.mark.parametrize("prefix", ["#mysql50#", "#MySQL50#"])
def test_another_way_to_write_a_name_opens_nothing(
    server: RowSocketServer, database: Database, raw: OpenRaw, port: str, prefix: str
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    wire = raw(port)
    for schema, table in (("mysql", "global_priv"), ("sys", "sys_config"), (database.name, "t")):
        for names in ((prefix + schema, table), (schema, prefix + table), (prefix + schema, prefix + table)):
            assert wire.tokens("P", 1, *names, "0", "")[:3] == [b"1", b"1", b"open_table"], names


@pytest.mark.parametrize("schema", ["mysql", "MYSQL", "sys", "information_schema", "performance_schema"])
def test_system_schemas_are_refused_on_a_server_whose_names_have_no_case(start: Start, schema: str) -> None:
    server = start(RowSocketServer, {"lower-case-table-names": 1, "performance-schema": "ON"})
    with server.raw("read") as wire:
        for table in ("global_priv", "user", "sys_config", "TABLES", "threads"):
            assert wire.tokens("P", 1, schema, table, "0", "")[:3] == [b"1", b"1", b"open_table"]


def test_a_group_that_fails_after_a_find_leaves_the_next_find_a_snapshot(
    database: Database, raw: OpenRaw
) -> None:
    database.script("CREATE TABLE t (id INT PRIMARY KEY, n INT);\nINSERT INTO t VALUES (1, 1)")
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id,n"))
    find, losing = b"1\t=\t1\t1", b"G\tC\n1\t=\t1\t1\n1\t=\t1\t99\t1\t0\tD\nE"
    for _ in range(3):
        wire.send(find + b"\n" + losing + b"\n" + find + b"\n")
        replies = wire.lines(6)
        assert (replies[0], replies[5]) == (b"0\t2\t1\t1",) * 2


def test_what_a_connection_asked_for_is_forgotten_with_it_on_partitioned_tables(
    server: RowSocketServer, database: Database
) -> None:
    columns = [f"c{number}" for number in range(120)]
    definition = ", ".join(f"{name} INT" for name in columns)
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, {definition}) PARTITION BY HASH (id) PARTITIONS 4")
    for number in range(60):
        with server.raw("write") as wire:
            open_ids(wire, database, (1, "t", ",".join(["id", *columns[: number % 100]])))
            wire.ask_all(
                b"1\t+\t1\t%d" % number, b"1\t>\t1\t0\t5\t0", b"1\t=\t1\t%d\t1\t0\tU\t%d" % (number, number)
            )
    assert database.value("SELECT COUNT(*) FROM t") == 60


def test_a_table_with_a_trigger_that_becomes_a_view_is_refused_from_then_on(
    database: Database, raw: OpenRaw
) -> None:
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE u (id INT PRIMARY KEY);
        CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.id = NEW.id"""
    )
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    assert wire.tokens(1, "+", 1, 1) == [b"0", b"1"]
    database.script("DROP TABLE t;\nCREATE VIEW t AS SELECT * FROM u")
    assert wire.tokens(1, "+", 1, 2)[:3] == [b"1", b"1", b"open_table"]
    assert wire.tokens(1, "=", 1, 2)[:3] == [b"1", b"1", b"open_table"]
    database.script("DROP VIEW t;\nCREATE TABLE t (id INT PRIMARY KEY)")
    assert wire.tokens(1, "+", 1, 2) == [b"0", b"1"]


REFUSED_AFTER_A_TRIGGER = {
    "a period": "CREATE TABLE t (id INT PRIMARY KEY, a DATE, b DATE, PERIOD FOR p (a, b))",
    "versions by transaction": """CREATE TABLE t (id INT PRIMARY KEY,
        s BIGINT UNSIGNED GENERATED ALWAYS AS ROW START, e BIGINT UNSIGNED GENERATED ALWAYS AS ROW END,
        PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING ENGINE=InnoDB""",
    "a MERGE table": "CREATE TABLE t (id INT, KEY (id)) ENGINE=MERGE UNION=(part) INSERT_METHOD=LAST",
    "a sequence": "CREATE SEQUENCE t",
    "an engine that is not served": "CREATE TABLE t (id INT NOT NULL) ENGINE=CSV",
}


@pytest.mark.parametrize("replacement", REFUSED_AFTER_A_TRIGGER)
def test_what_is_refused_is_so_on_a_table_with_triggers_as_well(
    database: Database, raw: OpenRaw, replacement: str
) -> None:
    trigger = "CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET @x = 1"
    database.script(
        f"CREATE TABLE part (id INT, KEY (id)) ENGINE=MyISAM;\nCREATE TABLE t (id INT PRIMARY"
        f" KEY);\n{trigger}"
    )
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    assert wire.tokens(1, "+", 1, 1) == [b"0", b"1"]
    database.script(f"DROP TABLE t;\n{REFUSED_AFTER_A_TRIGGER[replacement]}")
    if replacement != "a sequence":
        database.sql(trigger)
    assert wire.tokens(1, "+", 1, 2)[:3] == [b"1", b"1", b"open_table"]


def test_why_a_table_is_refused_is_said_in_a_whole_sentence(start: Start) -> None:
    server = start(RowSocketServer, {"rowsocket-error-detail": "ON"})
    database = Database(server, "d")
    database.sql(REFUSED_AFTER_A_TRIGGER["a period"])
    with server.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id"))
        reason = b"d.t: tables with an application-time period are not written to"
        assert wire.tokens(1, "+", 1, 1) == [b"1", b"1", b"open_table", reason]


@pytest.mark.parametrize("engine", ["CSV", "ARCHIVE", "BLACKHOLE"])
def test_an_engine_that_was_not_tried_is_refused_by_its_name(start: Start, engine: str) -> None:
    plugins = {"ARCHIVE": "ha_archive", "BLACKHOLE": "ha_blackhole"}
    server = start(RowSocketServer, {"rowsocket-error-detail": "ON"})
    if engine in plugins:
        server.sql(f"INSTALL SONAME '{plugins[engine]}'")
    server.sql("CREATE DATABASE d")
    server.sql(f"CREATE TABLE d.t (id INT NOT NULL) ENGINE={engine}")
    with server.raw("read") as wire:
        assert engine.encode() in wire.tokens("P", 1, "d", "t", "0", "id")[3]


def test_the_brave_may_have_other_engines(start: Start) -> None:
    server = start(RowSocketServer, {"rowsocket-engines": "innodb, blackhole"})
    server.sql("INSTALL SONAME 'ha_blackhole'")
    server.sql("CREATE DATABASE d")
    for engine, served in (("BLACKHOLE", True), ("InnoDB", True), ("MyISAM", False)):
        server.sql(f"CREATE TABLE d.{engine} (id INT PRIMARY KEY) ENGINE={engine}")
        with server.raw("write") as wire:
            assert (wire.tokens("P", 1, "d", engine, "", "id") == [b"0", b"1"]) == served


def test_an_update_whose_trigger_moves_the_rows_changes_each_once(
    database: Database, writer: Connection
) -> None:
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, n INT, at INT, KEY (at));
        CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW SET NEW.at = OLD.at + 1;
        INSERT INTO t VALUES (1, 0, 10), (2, 0, 20), (3, 0, 30)"""
    )
    index = writer.open_index(database.name, "t", "n", index="at")
    assert index.increment(0, [1], op=">", limit=1000) == 3
    assert database.sql("SELECT n, at FROM t ORDER BY id") == [(1, 11), (1, 21), (1, 31)]


# ---- work that no rollback takes back


def with_lasting_counter(database: Database) -> None:
    """A counter without transactions, beside a table with them."""
    database.script(
        """CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=MyISAM;
        CREATE TABLE t (id INT PRIMARY KEY, body LONGTEXT);
        INSERT INTO counter VALUES (1, 0)"""
    )


def test_a_turn_that_runs_again_repeats_nothing_that_lasts(start: Start) -> None:
    server = start(RowSocketServer, {"innodb-rollback-on-timeout": "ON"})
    database = Database(server, "d")
    with_lasting_counter(database)
    with server.raw("write") as wire, database.session() as holder:
        open_ids(wire, database, (1, "t", "id"), (2, "counter", "n"))
        holder.execute("BEGIN")
        holder.execute("INSERT INTO t VALUES (7, '')")
        count = b"2\t=\t1\t1\t1\t0\t+\t1\n"
        wire.send(count + b"1\t+\t1\t6\n" + count + b"1\t+\t1\t7\n" + count)
        holder.execute("SELECT SLEEP(2.5)")  # longer than a wait in place lasts
        holder.execute("ROLLBACK")
        assert wire.lines(5) == [b"0\t1\t1", b"0\t1", b"0\t1\t1", b"0\t1", b"0\t1\t1"]
    assert database.value("SELECT n FROM counter") == 3
    assert database.sql("SELECT id FROM t") == [(6,), (7,)]


def test_a_write_that_waits_for_a_row_has_its_trigger_log_once(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE log (id INT) ENGINE=MyISAM;
        CREATE TRIGGER logs BEFORE INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id)"""
    )
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    with database.session() as holder:
        holder.execute("BEGIN")
        holder.execute("INSERT INTO t VALUES (7)")
        wire.send(b"1\t+\t1\t7\n")
        holder.execute("SELECT SLEEP(2.5)")  # longer than a wait in place lasts elsewhere
        holder.execute("ROLLBACK")
    assert wire.line() == b"0\t1"
    assert database.sql("SELECT id, COUNT(*) FROM log GROUP BY id") == [(7, 2)]  # SQL's own insert logged one


def test_a_many_row_insert_that_fails_is_in_the_binlog_as_far_as_it_stays(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=MyISAM")
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    server.sql("FLUSH BINARY LOGS")
    assert wire.tokens(1, "++", 1, 3, 1, 2, 1)[:3] == [b"1", b"1", b"121"]
    assert database.sql("SELECT id FROM t") == [(1,), (2,)]
    log = server.sql("SHOW BINARY LOGS")[-1][0]
    assert "Write_rows_v1" in [event[2] for event in server.sql(f"SHOW BINLOG EVENTS IN '{log}'")]


# ---- what a session has of the server, and leaves in it


LEAVINGS = {
    "a user variable": ("SET NEW.n = IFNULL(@seen, 0), @seen = 1", 0),
    "a lock": ("SET NEW.n = IS_USED_LOCK('mine') IS NOT NULL, @x = GET_LOCK('mine', 1)", 0),
    "a setting": ("SET NEW.n = @@SESSION.max_sort_length, SESSION max_sort_length = 99", 1024),
    "the value of a sequence": ("SET NEW.n = IFNULL(LASTVAL(s), 0), @x = NEXTVAL(s)", 0),
    "an id": ("SET NEW.n = LAST_INSERT_ID(), @x = LAST_INSERT_ID(77)", 0),
}


@pytest.mark.parametrize("leaving", LEAVINGS)
def test_what_a_trigger_leaves_in_the_session_is_gone_for_the_next_request(
    database: Database, raw: OpenRaw, leaving: str
) -> None:
    body, clean = LEAVINGS[leaving]
    database.sql("CREATE SEQUENCE s")
    database.script(
        f"CREATE TABLE t (id INT PRIMARY KEY, n BIGINT);\nCREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW"
        f" {body}"
    )
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    assert wire.ask_all(b"1\t+\t1\t1", b"1\t+\t1\t2") == [b"0\t1"] * 2
    assert wire.tokens(1, "+", 1, 3) == [b"0", b"1"]
    assert database.sql("SELECT n FROM t") == [(clean,)] * 3


def test_a_temporary_table_of_a_trigger_goes_with_its_request(database: Database, raw: OpenRaw) -> None:
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE PROCEDURE p() CREATE TEMPORARY TABLE scratch (id INT);
        CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW CALL p()"""
    )
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    assert wire.ask_all(b"1\t+\t1\t1", b"1\t+\t1\t2") == [b"0\t1"] * 2


def test_an_audit_plugin_can_be_removed_after_workers_have_touched_tables(start: Start) -> None:
    server = start(RowSocketServer)
    server.sql("INSTALL SONAME 'server_audit'")
    server.sql("SET GLOBAL server_audit_events = 'TABLE'")
    server.sql("SET GLOBAL server_audit_logging = ON")
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (id INT PRIMARY KEY)")
    for port in ("read", "write"):
        with server.raw(port) as wire:
            assert wire.tokens("P", 1, "d", "t", "", "id") == [b"0", b"1"]
            assert wire.tokens(1, "=", 1, 1) == [b"0", b"1"]
    server.sql("SET GLOBAL server_audit_logging = OFF")
    server.sql("UNINSTALL SONAME 'server_audit'")
    assert server.sql("SELECT * FROM information_schema.plugins WHERE plugin_name = 'SERVER_AUDIT'") == []


def test_user_statistics_are_followed_when_they_are_switched_on(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2)")
    with server.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id"))
        wire.tokens(1, "=", 1, 1)
        server.sql("SET GLOBAL userstat = ON")
        wire.tokens(1, ">", 1, 0, 9, 0)
        wire.tokens(1, "+", 1, 3)
    statistics = server.sql(
        "SELECT rows_read, rows_changed FROM information_schema.table_statistics WHERE table_schema = 'd'"
    )
    assert statistics == [(2, 1)]
    of_index = server.sql(
        "SELECT index_name, rows_read FROM information_schema.index_statistics WHERE table_schema = 'd'"
    )
    assert of_index == [("PRIMARY", 2)]
    assert (
        server.value("SELECT COUNT(*) FROM information_schema.client_statistics WHERE client = 'rowsocket'")
        == 1
    )


def test_user_statistics_count_for_the_account_and_its_host(start: Start) -> None:
    server = start(RowSocketServer, {"userstat": "ON"})
    database = Database(server, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 0), (2, 0)")
    for account in ("one", "two"):
        server.sql(f"CREATE USER {account}@'%%' IDENTIFIED BY 'x'", [])
        server.sql(f"GRANT ALL ON d.* TO {account}@'%%'", [])
    with server.raw("write") as one, server.raw("write") as two:
        for wire, name in ((one, b"one"), (two, b"two")):
            assert wire.ask(b"A\t2\t" + name + b"\tx") == b"0\t1"
            open_ids(wire, database, (1, "t", "id,v"))
        one.send(b"1\t>\t1\t0\t2\t0\n" * 5)
        assert one.lines(5) == [b"0\t2\t1\t0\t2\t0"] * 5
        two.send(b"1\t+\t2\t7\t7\n1\t+\t2\t8\t8\n1\t=\t1\t1\t1\t0\tD\n")
        assert two.lines(3) == [b"0\t1", b"0\t1", b"0\t1\t1"]
    of_users = server.sql(
        "SELECT user, rows_read, rows_inserted, rows_deleted FROM information_schema.user_statistics"
        " WHERE user IN ('one', 'two') ORDER BY user"
    )
    assert of_users == [("one", 10, 0, 0), ("two", 1, 2, 1)]
    of_all = "SELECT CAST(SUM(rows_inserted) AS INT) FROM information_schema"
    of_sql_and_ours = server.value(f"{of_all}.user_statistics WHERE user IN ('one', 'two', 'root')")
    assert server.value(f"{of_all}.client_statistics WHERE client = 'localhost'") == of_sql_and_ours
    # One that ended before it began would count from 2 to the power of 64 downward.
    assert float(server.status("Query_time")["Query_time"]) < 3600
    assert server.value("SELECT MAX(busy_time) FROM information_schema.user_statistics") < 3600


def test_user_statistics_count_no_time_twice(start: Start) -> None:
    """An account was busy for no longer than it was there."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "userstat": "ON"})
    database = Database(server, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1)")
    server.sql("CREATE USER app@'%%' IDENTIFIED BY 'x'", [])
    server.sql("GRANT ALL ON d.* TO app@'%%'", [])
    with server.raw("write") as wire:
        assert wire.ask(b"A\t2\tapp\tx") == b"0\t1"
        began_s = time.monotonic()
        open_ids(wire, database, (1, "t", "id"))
        for _ in range(40):
            time.sleep(0.02)
            assert wire.ask(b"1\t=\t1\t1") == b"0\t1\t1"
        there_s = time.monotonic() - began_s
    busy_s = server.value("SELECT busy_time FROM information_schema.user_statistics WHERE user = 'app'")
    assert 0 < busy_s < there_s


def test_error_detail_counts_rows_from_one(start: Start) -> None:
    server = start(RowSocketServer, {"rowsocket-error-detail": "ON"})
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(3))")
    with server.raw("write") as wire:
        open_ids(wire, database, (1, "t", "id,v"))
        assert b"at row 1" in wire.tokens(1, "+", 2, 1, "long")[3]
        assert b"at row 2" in wire.tokens(1, "++", 2, 2, 1, "a", 2, "long")[3]
        assert b"at row 1" in wire.tokens(1, "+", 2, 1, "long")[3]


def test_a_list_that_names_a_row_twice_while_its_key_moves(
    server: RowSocketServer, database: Database, raw: OpenRaw
) -> None:
    database.script("CREATE TABLE t (id INT PRIMARY KEY, n INT);\nINSERT INTO t VALUES (1, 0), (2, 0)")
    wire = raw("write")
    open_ids(wire, database, (1, "t", "id"))
    log_before = len(server.log_text())
    assert wire.tokens(1, "=", 1, 1, 9, 0, "@", 0, 3, 1, 1, 2, "+", 10) == [b"0", b"1", b"2"]
    assert database.sql("SELECT id FROM t ORDER BY id") == [(11,), (12,)]
    assert server.log_text()[log_before:] == ""


def test_the_plugin_ends_while_a_commit_waits_for_a_semi_synchronous_replica(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    waits = (
        "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for semi-sync ACK%%'"
    )
    with server.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tt\t\tid") == b"0\t1"
        for name, value in (("timeout", 3_600_000), ("wait_no_slave", 1), ("enabled", 1)):
            server.sql(f"SET GLOBAL rpl_semi_sync_master_{name} = {value}")
        wire.send(b"1\t+\t1\t1\n")
        server.wait_until("the commit waits", lambda: server.value(waits) == 1)
        server.sql("UNINSTALL SONAME 'rowsocket'")
    assert database.sql("SELECT id FROM t") == [(1,)]
