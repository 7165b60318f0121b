# SPDX-License-Identifier: GPL-2.0-only
"""Writes are row events in the binlog: replayed elsewhere, they give the same tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from replication import mixed_writes
from replication.servers import assert_equal_history, assert_equal_tables
from support.binlog import assert_binlog_equals_tables
from support.commands import run
from support.mariadb import Database, RowSocketServer, Start
from support.plugin import EmptyServer, change_everything, make_table, opened


def replayed(server: RowSocketServer, start: Start, scratch: Path) -> EmptyServer:
    """A new server into which the other's binlog was replayed."""
    binlogs = [server.data / str(row[0]) for row in server.sql("SHOW BINARY LOGS")]
    server.sql("FLUSH BINARY LOGS")
    environment = server.tree.environment()
    replay = scratch / "replay.sql"
    run(
        [server.tree.program("mariadb-binlog"), "--no-defaults", "-r", replay, *binlogs],
        environment=environment,
    )
    copy = start(EmptyServer)
    options = ["--no-defaults", f"--socket={copy.socket}", "--user=root", "--binary-mode"]
    run([server.tree.program("mariadb"), *options], environment=environment, standard_input=replay)
    return copy


def test_replaying_the_binlog_gives_the_same_tables(start: Start, tmp_path: Path) -> None:
    server = start(RowSocketServer, {"binlog-format": "STATEMENT"})
    change_everything(server)
    logs = [row[0] for row in server.sql("SHOW BINARY LOGS")]
    events = {event for log in logs for (_, _, event, *_) in server.sql(f"SHOW BINLOG EVENTS IN '{log}'")}
    assert {"Write_rows_v1", "Update_rows_v1", "Delete_rows_v1"} <= events
    copy = replayed(server, start, tmp_path)
    for table in ("t", "p"):
        rows = server.sql(f"SELECT * FROM app.{table} ORDER BY 1")
        assert len(rows) >= 20
        assert copy.sql(f"SELECT * FROM app.{table} ORDER BY 1") == rows
        assert copy.sql(f"CHECKSUM TABLE app.{table}") == server.sql(f"CHECKSUM TABLE app.{table}")


@pytest.mark.parametrize("row_image", ["FULL", "MINIMAL", "NOBLOB"])
def test_replaying_the_binlog_gives_the_same_tables_of_every_kind(
    start: Start, tmp_path: Path, row_image: str
) -> None:
    """Partitioned, with history, with generated columns, BLOBs, triggers, cascades; written to by many at
    once."""
    server = start(RowSocketServer, {"binlog-row-image": row_image, "binlog-row-metadata": "FULL"})
    mixed_writes.make_tables(server)
    mixed_writes.write_mixed(server, 5000, seed=0)
    copy = replayed(server, start, tmp_path)
    assert_equal_tables(copy, server, *(f"d.{name}" for name in mixed_writes.NAMES))
    assert_equal_history(copy, server, *(f"d.{name}" for name in mixed_writes.WITH_HISTORY))


@pytest.mark.parametrize("engine", ["MyISAM", "Aria"])
def test_an_insert_that_failed_leaves_no_description_of_its_table_behind(start: Start, engine: str) -> None:
    """The table may be another one when its next row event is written. Replicas stopped then."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.log (x INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    server.sql(f"CREATE TABLE d.t (id INT PRIMARY KEY, n INT) ENGINE={engine}")
    server.sql("CREATE TRIGGER d.tr BEFORE INSERT ON d.t FOR EACH ROW INSERT INTO d.log (n) VALUES (NEW.n)")
    server.sql("INSERT INTO d.t VALUES (1, 1)")
    with server.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tt\t\tid,n") == b"0\t1"
        assert wire.ask(b"1\t+\t2\t1\t5") == b"1\t1\t121"
        server.sql("DROP TABLE d.t")
        server.sql(f"CREATE TABLE d.t (id INT PRIMARY KEY, n DECIMAL(5, 2)) ENGINE={engine}")
        assert wire.ask(b"P\t1\td\tt\t\tid,n") == b"0\t1"
        position = server.sql("SHOW MASTER STATUS")[0][1]
        assert wire.ask(b"1\t+\t2\t2\t5") == b"0\t1"
    events = [str(event[2]) for event in server.sql(f"SHOW BINLOG EVENTS FROM {position}")]
    assert [event for event in events if event.endswith(("_map", "_rows_v1"))] == [
        "Table_map",
        "Write_rows_v1",
    ]


@pytest.mark.parametrize("filter", ["binlog-do-db", "binlog-ignore-db"])
def test_databases_that_are_filtered_out_are_written_to_and_not_binlogged(
    start: Start, tmp_path: Path, filter: str
) -> None:
    server = start(RowSocketServer, {filter: "kept" if filter == "binlog-do-db" else "unlogged"})
    for name in ("kept", "unlogged"):
        make_table(server, name)
    with server.raw("write") as kept, server.raw("write") as left:
        for connection, name in ((opened(kept, "kept"), "kept"), (opened(left, "unlogged"), "unlogged")):
            assert connection.ask(b"1\t+\t2\t3\tnew") == b"0\t1"
            assert connection.ask(b"1\t=\t1\t1\t1\t0\tU\t1\tchanged") == b"0\t1\t1"
            assert connection.ask(b"1\t=\t1\t2\t1\t0\tD") == b"0\t1\t1"
            assert server.sql(f"SELECT k, v FROM {name}.t ORDER BY k") == [(1, "changed"), (3, "new")]
    tables = {name for log in server.sql("SHOW BINARY LOGS") for name in mapped_tables(server, str(log[0]))}
    assert tables == {"kept.t"}


def mapped_tables(server: RowSocketServer, log: str) -> set[str]:
    """The tables that the row events of a binlog name."""
    events = server.sql(f"SHOW BINLOG EVENTS IN '{log}'")
    return {
        re.sub(r".*\((.*)\).*", r"\1", str(info))
        for _, _, event, _, _, info in events
        if event == "Table_map"
    }


FORCED = {
    "MIXED": [b"0\t1"] * 7,
    "STATEMENT": [b"1\t1\t1665"] * 3 + [b"0\t1", b"1\t1\t1665", b"1\t1\tgroup", b"1\t1\tgroup"],
}


@pytest.mark.parametrize("format", FORCED)
def test_where_another_format_is_forced_a_write_is_row_events_or_refused(start: Start, format: str) -> None:
    server = start(RowSocketServer)
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (id INT PRIMARY KEY)")
    server.sql("CREATE TABLE app.m (id INT PRIMARY KEY) ENGINE=MyISAM")
    server.sql("CREATE TABLE app.b (id INT PRIMARY KEY)")
    server.sql("CREATE TRIGGER app.b BEFORE INSERT ON app.b FOR EACH ROW SET @seen = 1")
    opens = [b"P\t%d\tapp\t%s\t\tid" % (number, name) for number, name in enumerate([b"t", b"m", b"b"], 1)]
    with server.raw("write") as wire:
        assert wire.ask_all(*opens, b"1\t+\t1\t1", b"2\t+\t1\t1") == [b"0\t1"] * 5
        server.sql(f"SET GLOBAL wsrep_forced_binlog_format = {format}")
        group = [b"G", b"1\t+\t1\t3", b"3\t+\t1\t3", b"E"]  # several statements in one snapshot
        assert wire.ask_all(*(b"%d\t+\t1\t2" % number for number in (1, 2, 3)), *group) == FORCED[format]
    assert_binlog_equals_tables(server, ["app"])


def test_where_nothing_is_logged_no_format_is_in_the_way(start: Start) -> None:
    server = start(RowSocketServer, {"skip-log-bin": None})
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (id INT PRIMARY KEY)")
    server.sql("SET GLOBAL wsrep_forced_binlog_format = STATEMENT")
    with server.raw("write") as wire:
        assert wire.ask_all(b"P\t1\tapp\tt\t\tid", b"1\t+\t1\t1") == [b"0\t1"] * 2
    assert server.sql("SELECT id FROM app.t") == [(1,)]


FULL_CACHE = {"max-binlog-cache-size": 16384, "binlog-cache-size": 4096}
KINDS_OF_TABLES = {
    "rows that share a statement": [""],
    "rows of own statements": ["WITH SYSTEM VERSIONING"],
    "rows in two tables": ["", ""],
}


@pytest.mark.parametrize("kinds", KINDS_OF_TABLES.values(), ids=KINDS_OF_TABLES)
def test_no_request_fails_since_others_have_filled_the_cache_of_the_binlog(
    start: Start, kinds: list[str]
) -> None:
    server = start(RowSocketServer, FULL_CACHE)
    server.sql("CREATE DATABASE app")
    for number, kind in enumerate(kinds):
        server.sql(f"CREATE TABLE app.t{number} (id INT PRIMARY KEY, v LONGTEXT) {kind}")
    with server.raw("write") as wire:
        for number in range(len(kinds)):
            assert wire.ask(b"P\t%d\tapp\tt%d\t\tid,v" % (number, number)) == b"0\t1"
        row = b"%d\t+\t2\t%d\t" + b"x" * 3000
        turn = [row % (number % len(kinds), number) for number in range(30)]
        group = [b"G", *(row % (0, 100 + number) for number in range(2)), b"E"]
        assert wire.ask_all(*turn, *group) == [b"0\t1"] * 34
    assert_binlog_equals_tables(server, ["app"])


def test_nor_does_the_last_request_of_a_turn_for_the_rows_of_another_table(start: Start) -> None:
    """They are written to the cache before its own. In one of these turns there is no room for the last of
    them."""
    small = {"max-binlog-cache-size": 4096, "binlog-cache-size": 4096, "binlog-row-event-max-size": 1024}
    server = start(RowSocketServer, small)
    server.sql("CREATE DATABASE app")
    for name in ("t", "u"):
        server.sql(f"CREATE TABLE app.{name} (id INT PRIMARY KEY, v LONGTEXT)")
    with server.raw("write") as wire:
        assert wire.ask_all(b"P\t1\tapp\tt\t\tid,v", b"P\t2\tapp\tu\t\tid") == [b"0\t1"] * 2
        for count in range(11, 16):
            rows = [b"1\t+\t2\t%d\t" % (100 * count + number) + b"x" * 900 for number in range(count)]
            assert wire.ask_all(*rows, b"2\t+\t1\t%d" % count) == [b"0\t1"] * (count + 1)
    assert server.counter("replays") > 0
    assert_binlog_equals_tables(server, ["app"])


@pytest.mark.parametrize("kind", ["", "WITH SYSTEM VERSIONING"], ids=["a table", "a table with a history"])
def test_a_request_that_the_cache_of_the_binlog_can_not_hold_fails_alone(start: Start, kind: str) -> None:
    server = start(RowSocketServer, FULL_CACHE)
    server.sql("CREATE DATABASE app")
    server.sql(f"CREATE TABLE app.t (id INT PRIMARY KEY, v LONGTEXT) {kind}")
    with server.raw("write") as wire:
        assert wire.ask(b"P\t1\tapp\tt\t\tid,v") == b"0\t1"
        rows = b"\t".join(b"%d\t%s" % (number, b"x" * 3000) for number in range(10, 20))
        too_large = b"1\t++\t2\t10\t" + rows
        small = [b"1\t+\t2\t%d\ta" % number for number in range(4)]
        replies = wire.ask_all(too_large, *small[:2], too_large, *small[2:], too_large)
    assert replies[1:3] + replies[4:6] == [b"0\t1"] * 4
    number = [b"1\t1\t1197", b"1\t1\t161"]  # 161: it was not the last row's events
    assert all(reply in number for reply in (replies[0], replies[3], replies[6]))
    assert [row[0] for row in server.sql("SELECT id FROM app.t ORDER BY id")] == [0, 1, 2, 3]
    assert_binlog_equals_tables(server, ["app"])


def test_nothing_is_binlogged_of_a_request_that_failed(start: Start) -> None:
    server = start(RowSocketServer)
    make_table(server)
    server.sql("FLUSH BINARY LOGS")
    with server.raw("write") as connection:
        assert opened(connection).ask(b"1\t+\t2\t1\tagain") == b"1\t1\t121"
        assert connection.ask(b"1\t=\t1\t9\t1\t0\tU\t9\tx") == b"0\t1\t0"
    log = server.sql("SHOW BINARY LOGS")[-1][0]
    events = {event for (_, _, event, *_) in server.sql(f"SHOW BINLOG EVENTS IN '{log}'")}
    assert not any("rows" in event for event in events)


def test_what_an_engine_without_rollback_keeps_of_a_failed_request_is_binlogged(
    start: Start, tmp_path: Path
) -> None:
    server = start(RowSocketServer)
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.a (id INT PRIMARY KEY, v TINYINT) ENGINE=Aria")
    server.sql("INSERT INTO app.a VALUES (1, 100), (2, 120), (3, 1)")
    with server.raw("write") as connection:
        assert connection.ask(b"P\t1\tapp\ta\t\tv") == b"0\t1"
        assert connection.ask(b"1\t>=\t1\t1\t9\t0\t+\t10") == b"1\t1\t1264"
    rows = server.sql("SELECT * FROM app.a ORDER BY id")
    assert list(rows) == [(1, 110), (2, 120), (3, 1)]
    assert replayed(server, start, tmp_path).sql("SELECT * FROM app.a ORDER BY id") == rows


GROUPS = {
    "whose first write fails": [b"G", b"1\t+\t1\t1", b"E"],
    "whose second write fails": [b"G", b"1\t+\t1\t50", b"1\t+\t1\t1", b"E"],
    "that changes nothing": [b"G\tC", b"1\t=\t1\t99\t1\t0\tD", b"E"],
    "of finds": [b"G", b"1\t=\t1\t1", b"E"],
    "that fails in a table with triggers": [b"G", b"1\t+\t1\t50", b"2\t+\t1\t5", b"1\t+\t1\t1", b"E"],
    "that succeeds": [b"G", b"1\t+\t1\t60", b"2\t+\t1\t6", b"E"],
}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("lasting", [False, True], ids=["", "after a trigger that logs without transactions"])
def test_a_group_leaves_a_binlog_that_can_be_replayed(
    start: Start, tmp_path: Path, group: str, lasting: bool
) -> None:
    server = start(RowSocketServer)
    for statement in (
        "CREATE DATABASE app",
        "CREATE TABLE app.t (id INT PRIMARY KEY)",
        "CREATE TABLE app.with_trigger (id INT PRIMARY KEY)",
        "CREATE TABLE app.logged (id INT PRIMARY KEY)",
        "CREATE TABLE app.log (id INT) ENGINE=MyISAM",
        "CREATE TRIGGER app.a BEFORE INSERT ON app.with_trigger FOR EACH ROW SET NEW.id = NEW.id + 100",
        "CREATE TRIGGER app.b BEFORE INSERT ON app.logged FOR EACH ROW INSERT INTO log VALUES (NEW.id)",
        "INSERT INTO app.t VALUES (1)",
    ):
        server.sql(statement)
    tables = ("t", "with_trigger", "logged", "log")
    with server.raw("write") as wire:
        opens = [
            b"P\t%d\tapp\t%s\t\tid" % (number, name.encode()) for number, name in enumerate(tables[:3], 1)
        ]
        assert wire.ask_all(*opens) == [b"0\t1"] * 3
        before = [b"3\t+\t1\t7"] if lasting else []
        turn = [*before, b"1\t+\t1\t2", *GROUPS[group], b"1\t+\t1\t4", *GROUPS[group], b"1\t+\t1\t5"]
        replies = wire.ask_all(*turn)
        assert [replies[len(before)], replies[-1]] == [b"0\t1"] * 2
    log = server.sql("SHOW BINARY LOGS")[-1][0]
    assert not [
        event for event in server.sql(f"SHOW BINLOG EVENTS IN '{log}'") if "SAVEPOINT" in str(event[5])
    ]
    copy = replayed(server, start, tmp_path)
    for table in tables:
        assert copy.sql(f"SELECT * FROM app.{table} ORDER BY 1") == server.sql(
            f"SELECT * FROM app.{table} ORDER BY 1"
        )


HANDLES = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;"


def test_a_trigger_that_handles_a_full_cache_tears_no_binlog(start: Start) -> None:
    """What the server has left in the cache then is not to be read, nor are the events of others behind it.
    The request itself is told of no error.
    """
    server = start(RowSocketServer, FULL_CACHE)
    database = Database(server, "app")
    database.sql("CREATE TABLE plain (id INT PRIMARY KEY, text VARCHAR(500))")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE large (id INT AUTO_INCREMENT PRIMARY KEY, text LONGTEXT)")
    database.sql(f"""
        CREATE TRIGGER fills AFTER INSERT ON t FOR EACH ROW BEGIN
          {HANDLES}
          FOR number IN 1..6 DO INSERT INTO large (text) VALUES (REPEAT('x', 7000)); END FOR;
        END
    """)
    with server.raw("write") as wire:
        assert wire.ask_all(b"P\t1\tapp\tplain\t\tid,text", b"P\t2\tapp\tt\t\tid") == [b"0\t1"] * 2
        plain = [b"1\t+\t2\t%d\t%b" % (id, b"x" * 500) for id in range(6)]
        replies = wire.ask_all(*plain[:3], b"2\t+\t1\t1", *plain[3:])
    assert replies[:3] + replies[4:] == [b"0\t1"] * 6
    assert replies[3] == b"1\t1\t1197"
    assert_binlog_equals_tables(server)


@pytest.mark.parametrize(
    ("code", "is_done"),
    [
        ("SIGNAL SQLSTATE '01000' SET MYSQL_ERRNO = 1197;", True),
        (f"{HANDLES} FOR number IN 1..6 DO INSERT INTO kept VALUES (REPEAT('x', 7000)); END FOR;", False),
    ],
    ids=["a warning of that number", "a full cache"],
)
def test_the_reply_says_what_became_of_a_row_whose_trigger_changes_what_stays(
    start: Start, code: str, is_done: bool
) -> None:
    """The request can not run again, so it is answered by its first run."""
    small = {"max-binlog-stmt-cache-size": 16384, "binlog-stmt-cache-size": 4096}
    server = start(RowSocketServer, small)
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE kept (text LONGTEXT) ENGINE=MyISAM")
    database.sql(f"""
        CREATE TRIGGER writes AFTER INSERT ON t FOR EACH ROW BEGIN
          {code}
          INSERT INTO kept VALUES ('');
        END
    """)
    with server.raw("write") as wire:
        assert wire.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        reply = wire.ask(b"1\t+\t1\t1")
    assert reply == (b"0\t1" if is_done else b"1\t1\t1197")
    assert database.sql("SELECT id FROM t") == ([(1,)] if is_done else [])
