# SPDX-License-Identifier: GPL-2.0-only
"""What SET GLOBAL changes while the server runs concerns RowSocket from its next transaction on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rowsocket
from rowsocket import Connection, Index, Value
from support.mariadb import Database, RowSocketServer, Start

Rows = Index[tuple[str | None, ...]]

ALONE = {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0}
"""One session for all writes: no other begins with the settings of now."""


@pytest.fixture
def server_of_one(start: Start) -> RowSocketServer:
    """A server whose settings this test may change, with `t` in `d`, whose rows refer to `p`."""
    server = start(RowSocketServer, {"binlog-format": "ROW", **ALONE})
    database = Database(server, "d")
    database.sql("CREATE TABLE p (id INT PRIMARY KEY)")
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT CHECK (n < 100), body TEXT, p INT, at TIMESTAMP NULL,"
        " FOREIGN KEY (p) REFERENCES p (id))"
    )
    return server


@pytest.fixture
def writing(server_of_one: RowSocketServer) -> Iterator[Connection]:
    """A connection to the write port."""
    with rowsocket.connect(*server_of_one.write_address(), text=True) as connection:
        yield connection


@pytest.fixture
def rows(writing: Connection) -> Rows:
    """The index to insert id, n, p and at with; a request has been made over its connection."""
    index = writing.open_index("d", "t", "id,n,p,at")
    index.insert([1, 1])
    return index


def test_foreign_key_checks(server_of_one: RowSocketServer, rows: Rows) -> None:
    with pytest.raises(rowsocket.ForeignKeyViolation):
        rows.insert([2, 2, 77])
    server_of_one.sql("SET GLOBAL foreign_key_checks = 0")
    rows.insert([2, 2, 77])
    server_of_one.sql("SET GLOBAL foreign_key_checks = 1")
    with pytest.raises(rowsocket.ForeignKeyViolation):
        rows.insert([3, 3, 77])


def test_check_constraint_checks(server_of_one: RowSocketServer, rows: Rows) -> None:
    with pytest.raises(rowsocket.InvalidValue):
        rows.insert([2, 100])
    server_of_one.sql("SET GLOBAL check_constraint_checks = 0")
    rows.insert([2, 100])


def test_a_setting_holds_for_the_first_request_behind_an_opening(
    server_of_one: RowSocketServer, writing: Connection
) -> None:
    opened = writing.open_index("d", "t", "id,n")
    server_of_one.sql("SET GLOBAL check_constraint_checks = 0")
    opened.insert([1, 100])
    assert server_of_one.sql("SELECT id, n FROM d.t") == [(1, 100)]


def test_time_zone(server_of_one: RowSocketServer, rows: Rows) -> None:
    for row_id, zone in ((2, "+00:00"), (3, "+02:00")):
        server_of_one.sql("SET GLOBAL time_zone = %s", [zone])
        rows.insert([row_id, 1, None, "2024-07-01 12:00:00"])
    query = "SELECT UNIX_TIMESTAMP(at) FROM d.t WHERE id > 1 ORDER BY id"
    assert server_of_one.sql(query) == [(1719835200,), (1719828000,)]


def test_gtid_domain_id(server_of_one: RowSocketServer, rows: Rows) -> None:
    server_of_one.sql("SET GLOBAL gtid_domain_id = 7")
    rows.insert([2, 2])
    assert "7-1-" in str(server_of_one.value("SELECT @@gtid_binlog_pos"))


def test_binlog_row_image(server_of_one: RowSocketServer, writing: Connection) -> None:
    body = "a body that a row event holds or not"
    index = writing.open_index("d", "t", "id,n,body")
    index.insert([1, 1, body])
    for image, is_there in (("FULL", True), ("MINIMAL", False), ("NOBLOB", False), ("FULL", True)):
        server_of_one.sql("SET GLOBAL binlog_row_image = %s", [image])
        server_of_one.sql("FLUSH BINARY LOGS")
        writing.open_index("d", "t", "n").increment(1, [1])
        log = server_of_one.sql("SHOW BINARY LOGS")[-1][0]
        assert (body.encode() in (server_of_one.data / str(log)).read_bytes()) == is_there, image


# Settings that a trigger can see, each with a value that is not its default. (A trigger has the sql_mode of
# its making.)
SEEN_BY_A_TRIGGER = {
    "foreign_key_checks": 0,
    "check_constraint_checks": 0,
    "auto_increment_increment": 7,
    "div_precision_increment": 9,
    "lc_time_names": "de_DE",
    "max_sort_length": 99,
    "system_versioning_insert_history": 1,
    "tx_isolation": "READ-COMMITTED",
    "autocommit": 0,
    "binlog_format": "MIXED",
}
HELD_AGAINST = {"tx_isolation": "READ-UNCOMMITTED", "autocommit": 1, "binlog_format": "STATEMENT"}
"""What is set globally of that which a session of RowSocket keeps, whatever is set."""


def test_settings_that_a_trigger_sees(server_of_one: RowSocketServer, writing: Connection) -> None:
    found = {}
    for name, wanted in SEEN_BY_A_TRIGGER.items():
        table = f"seen_{name}"
        server_of_one.sql(f"CREATE TABLE d.{table} (id INT PRIMARY KEY, s VARCHAR(80))")
        setting = f"SET NEW.s = @@SESSION.{name}"
        server_of_one.sql(f"CREATE TRIGGER d.b_{name} BEFORE INSERT ON d.{table} FOR EACH ROW {setting}")
        seen = writing.open_index("d", table, "id,s")
        seen.insert([1])
        server_of_one.sql(f"SET GLOBAL {name} = %s", [HELD_AGAINST.get(name, wanted)])
        seen.insert([2])
        found[name] = seen.get(2, columns="s")
    assert found == {name: (str(wanted),) for name, wanted in SEEN_BY_A_TRIGGER.items()}


def test_a_setting_of_a_storage_engine(server_of_one: RowSocketServer, writing: Connection) -> None:
    """These are looked at now and then."""
    seen_by = "id INT AUTO_INCREMENT PRIMARY KEY, s INT DEFAULT (@@SESSION.innodb_table_locks)"
    server_of_one.sql(f"CREATE TABLE d.seen ({seen_by})")
    seen = writing.open_index("d", "seen", "id")

    def is_followed() -> bool:
        seen.insert([0])
        return int(server_of_one.value("SELECT s FROM d.seen ORDER BY id DESC LIMIT 1")) == 0

    assert not is_followed()
    server_of_one.sql("SET GLOBAL innodb_table_locks = 0")
    server_of_one.wait_until("the setting is followed", is_followed)


def test_sql_mode(server_of_one: RowSocketServer, writing: Connection) -> None:
    server_of_one.sql(
        "CREATE TABLE d.m (id INT AUTO_INCREMENT PRIMARY KEY, at DATE, c CHAR(5) NOT NULL DEFAULT 'x')"
    )
    rows = writing.open_index("d", "m", "id,at,c")
    assert rows.insert([0]) == 1
    with pytest.raises(rowsocket.InvalidValue):
        rows.insert([2, "2024-02-31"])
    server_of_one.sql("SET GLOBAL sql_mode = 'ALLOW_INVALID_DATES'")
    rows.insert([2, "2024-02-31"])
    server_of_one.sql("SET GLOBAL sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
    rows.insert([0, None])
    assert server_of_one.sql("SELECT id FROM d.m ORDER BY id") == [(0,), (1,), (2,)]
    server_of_one.sql("CREATE TABLE d.made (id INT AUTO_INCREMENT PRIMARY KEY)")
    server_of_one.sql("CREATE TRIGGER d.i BEFORE INSERT ON d.made FOR EACH ROW SET NEW.id = NULL")
    writing.open_index("d", "made", "id").insert([5])
    assert server_of_one.sql("SELECT id FROM d.made") == [(1,)], "NULL still asks for a number"
    with pytest.raises(rowsocket.InvalidValue):
        rows.insert([3, "2024-02-31"])
    server_of_one.sql("SET GLOBAL sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'")
    assert rows.get(1, columns="c") == ("x    ",)


DO_NOT_FIT: list[list[Value]] = [
    [1, "long"],
    [1, "ab", 128],
    [1, None],
    [1, "ab", "x"],
    [1, "ab", 1, "2024-02-31"],
    [1],
]
"""Values of id, w VARCHAR(2) NOT NULL, n TINYINT and a DATE."""


def test_whatever_the_sql_mode_a_value_that_does_not_fit_is_an_error(
    server_of_one: RowSocketServer, writing: Connection
) -> None:
    modes = ("", "TRADITIONAL", "ANSI", "ORACLE", "NO_ENGINE_SUBSTITUTION")
    for table, mode, engine in (
        (f"t_{mode}_{engine}", mode, engine) for mode in modes for engine in ("InnoDB", "MyISAM")
    ):
        columns = "id INT PRIMARY KEY, n TINYINT, w VARCHAR(2) NOT NULL, at DATE"
        server_of_one.sql(f"CREATE TABLE d.{table} ({columns}) ENGINE={engine}")
        server_of_one.sql("SET GLOBAL sql_mode = %s", [mode])
        rows = writing.open_index("d", table, "id,w,n,at")
        for values in DO_NOT_FIT:
            with pytest.raises(rowsocket.EngineError):
                rows.insert(values)
        rows.insert([1, "ab", 1, "2024-02-29"])
        with pytest.raises(rowsocket.EngineError):
            rows.update(1, [1, "long"])
        assert server_of_one.sql(f"SELECT id, w, n FROM d.{table}") == [(1, "ab", 1)]


def test_checks_of_keys_that_are_both_off_leave_each_request_its_own_error(
    server_of_one: RowSocketServer, writing: Connection
) -> None:
    """InnoDB may then collect the rows for an empty table, and find the duplicates when the statement
    ends."""
    server_of_one.sql("CREATE TABLE d.empty (id INT PRIMARY KEY, n INT)")
    server_of_one.sql("SET GLOBAL unique_checks = 0, foreign_key_checks = 0")
    rows = writing.open_index("d", "empty", "id,n")
    replays_before = server_of_one.counter("replays")
    with writing.pipeline() as pipe:
        promised = [pipe.insert(rows, [number % 3, number]) for number in range(5)]
    assert [isinstance(one.error, rowsocket.DuplicateKey) for one in promised] == [False] * 3 + [True] * 2
    assert server_of_one.counter("replays") == replays_before
    assert server_of_one.sql("SELECT id, n FROM d.empty ORDER BY id") == [(0, 0), (1, 1), (2, 2)]
