# SPDX-License-Identifier: GPL-2.0-only
"""What expressions and triggers of a table see of their session, and what comes of what they do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rowsocket import Connection
from support.gate import open_ids
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection, token
from support.twins import Twins

MakeTwins = Callable[..., Twins]


def with_trigger(twins: Twins, time_and_event: str, body: str) -> None:
    """Both tables have the trigger."""
    for table in ("t", "twin"):
        twins.sql(f"CREATE TRIGGER {table}_r {time_and_event} ON {table} FOR EACH ROW {body}")


def test_database_in_a_default_is_the_tables_own(
    database: Database, raw: Callable[[str], RawConnection]
) -> None:
    other = f"{database.name}_other"
    database.sql(f"CREATE DATABASE {other}")
    wire = raw("write")
    for number, schema in enumerate((database.name, other)):
        database.sql(
            f"CREATE TABLE {schema}.t (id INT PRIMARY KEY, name VARCHAR(64) DEFAULT (DATABASE()),"
            " is_there VARCHAR(64) AS (DATABASE()) VIRTUAL)"
        )
        assert wire.tokens("P", number, schema, "t", "", "id") == [b"0", b"1"]
        assert wire.tokens("P", number + 2, schema, "t", "", "name,is_there") == [b"0", b"1"]
    for id in (1, 2):
        for number in (0, 1):
            assert wire.tokens(number, "+", 1, id) == [b"0", b"1"]
    for number, schema in enumerate((database.name, other)):
        told = schema.encode()
        assert wire.tokens(number + 2, ">=", 1, 1, 9, 0) == [b"0", b"2", told, told, told, told]
        assert database.sql(f"SELECT DISTINCT name FROM {schema}.t") == [(schema,)]
    database.sql(f"DROP DATABASE {other}")


@pytest.mark.parametrize("kind", ["DEFAULT (DATABASE())", "AS (DATABASE()) VIRTUAL"])
def test_a_column_that_asks_for_the_database_has_it_where_nothing_else_of_the_table_asks(
    database: Database, raw: Callable[[str], RawConnection], kind: str
) -> None:
    """One thread serves both databases."""
    other = f"{database.name}_other"
    database.sql(f"CREATE DATABASE {other}")
    wire = raw("write")
    for schema in (database.name, other):
        database.sql(f"CREATE TABLE {schema}.t (id INT PRIMARY KEY, place VARCHAR(64) {kind})")
        assert wire.tokens("P", 1, schema, "t", "", "id") == [b"0", b"1"]
        assert wire.tokens("P", 2, schema, "t", "", "place") == [b"0", b"1"]
        assert wire.tokens(1, "+", 1, 1) == [b"0", b"1"]
        assert wire.tokens(2, "=", 1, 1) == [b"0", b"1", schema.encode()]
    database.sql(f"DROP DATABASE {other}")


def test_last_insert_id_is_that_of_the_trigger_and_of_no_other_request(make_twins: MakeTwins) -> None:
    """A request is to a trigger as the first statement of a session."""
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, v INT, before_it INT, after_it INT")
    twins.sql("CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 70")
    body = "BEGIN SET NEW.before_it = LAST_INSERT_ID(); INSERT INTO log () VALUES ();"
    with_trigger(twins, "BEFORE INSERT", f"{body} SET NEW.after_it = LAST_INSERT_ID(); END")
    for _ in range(2):
        twins.index("v").insert([1])
    assert twins.rows("before_it, after_it") == [(b"0", b"70"), (b"0", b"71")]
    twins.sql("INSERT INTO twin (v) VALUES (1)")
    assert twins.sql("SELECT before_it, after_it FROM twin") == [(b"0", b"72")]


def test_connection_id_in_a_trigger_is_a_thread_of_the_process_list(
    database: Database, writer: Connection
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, thread BIGINT)")
    database.sql("CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.thread = CONNECTION_ID()")
    writer.open_index(database.name, "t", "id").insert([1])
    (thread,) = database.sql("SELECT thread FROM t")
    assert thread in database.sql("SELECT id FROM information_schema.processlist")


def test_a_timestamp_that_a_trigger_makes_null_is_the_time_of_now(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, at TIMESTAMP NOT NULL DEFAULT '2001-01-01'")
    for table in ("t", "twin"):
        twins.sql(f"CREATE TRIGGER {table}_clears BEFORE INSERT ON {table} FOR EACH ROW SET NEW.at = NULL")
    twins.index("id").insert([1])
    twins.sql("INSERT INTO twin (id) VALUES (1)")
    twins.assert_equal("id, at > '2001-01-01'")
    assert twins.rows("at > '2001-01-01'") == [(b"1",)]


def test_a_trigger_sees_the_time_of_the_update_also_where_nothing_changes(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, at DATETIME ON UPDATE CURRENT_TIMESTAMP, seen INT")
    twins.sql("CREATE TABLE log (source VARCHAR(9), is_new INT)")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} (id, v, at) VALUES (1, 5, '2000-01-01')")
        for time in ("BEFORE", "AFTER"):
            twins.sql(
                f"CREATE TRIGGER {table}_{time} {time} UPDATE ON {table} FOR EACH ROW"
                f" INSERT INTO log VALUES ('{table}', NEW.at > '2001-01-01')"
            )
    assert twins.index("v,at").update_and_fetch([1], [5]) == [(b"5", b"2000-01-01 00:00:00")]
    twins.sql("UPDATE twin SET v = 5")
    twins.assert_equal()
    for table in ("t", "twin"):
        assert twins.sql("SELECT is_new FROM log WHERE source = %s", table) == [(b"1",), (b"1",)]


CHANGED = {
    "INT": ("5", "NEW.v + 100"),
    "VARCHAR(20)": ("given", "CONCAT('<', NEW.v, '>')"),
    "VARCHAR(20) CHARACTER SET latin1": ("é", "CONCAT(NEW.v, 'ü')"),
    "TEXT": ("given", "REPEAT(NEW.v, 200)"),
    "BLOB": ("given", "REPEAT(NEW.v, 200)"),
    "DECIMAL(8,3)": ("1.5", "NEW.v / 4"),
    "DOUBLE": ("0.1", "NEW.v / 3"),
    "FLOAT": ("0.1", "NEW.v / 3"),
    "DATETIME(6)": ("2024-02-29 01:02:03.456789", "NEW.v + INTERVAL 1 DAY"),
    "ENUM('a','b','c')": ("a", "NEW.v + 1"),
    "SET('a','b','c')": ("a", "NEW.v + 5"),
    "BIT(11)": ("\x03", "NEW.v + 1024"),
    "VARCHAR(20) NOT NULL": ("", "CONCAT(NEW.v, 'was empty')"),
    "INT DEFAULT 7": ("5", "NULL"),
}


@pytest.mark.parametrize("type", CHANGED)
def test_an_upsert_takes_the_value_that_the_trigger_made(make_twins: MakeTwins, type: str) -> None:
    given, made = CHANGED[type]
    twins = make_twins(f"id INT PRIMARY KEY, v {type}, n INT")
    with_trigger(twins, "BEFORE INSERT", f"SET NEW.v = {made}, NEW.n = NEW.n * 10")
    sql = "INSERT INTO twin VALUES (1, %s, 2) ON DUPLICATE KEY UPDATE v = VALUES(v), n = n + VALUES(n)"
    for value in (given, given):
        twins.index("id,v,n").upsert([1, value, 2], update="v", add="n")
        twins.sql(sql, value.encode() if type.startswith("BIT") else value)
    twins.assert_equal()
    assert twins.rows("n") == [(b"40",)]


@pytest.mark.parametrize("number", [1205, 1467])
def test_an_error_that_a_trigger_makes_up_is_no_lock(
    database: Database, raw: Callable[[str], RawConnection], number: int
) -> None:
    """A request that meets a lock is tried again for as long as `innodb_lock_wait_timeout` says."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    signal = f"SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = {number}, MESSAGE_TEXT = 'not now'"
    database.sql(f"CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW {signal}")
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", "id") == [b"0", b"1"]
    assert wire.tokens(1, "+", 1, 1) == [b"1", b"1", token(str(number))]


UPSERT_TRIGGERS = {
    "none": [],
    "one that changes another column": ["BEFORE UPDATE ON t FOR EACH ROW SET NEW.b = OLD.b + 1"],
    "one that takes the change back": ["BEFORE UPDATE ON t FOR EACH ROW SET NEW.a = OLD.a"],
    "one behind the change": ["AFTER UPDATE ON t FOR EACH ROW INSERT INTO log (told) VALUES (NEW.a)"],
}


@pytest.mark.parametrize("clause", [b"U\t1", b"U\t1\tE"], ids=["together", "alone"])
@pytest.mark.parametrize("triggers", UPSERT_TRIGGERS)
@pytest.mark.parametrize("value", [1, 5], ids=["the value that is there", "another value"])
def test_an_upsert_tells_and_does_with_its_triggers_what_one_of_sql_does(
    server: RowSocketServer, database: Database, triggers: str, value: int, clause: bytes
) -> None:
    def prepare() -> None:
        database.sql("CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, a INT, b INT DEFAULT 0)")
        database.sql("CREATE OR REPLACE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, told INT)")
        database.sql("INSERT INTO t VALUES (1, 1, 0)")
        for number, trigger in enumerate(UPSERT_TRIGGERS[triggers]):
            database.sql(f"CREATE TRIGGER x{number} {trigger}")

    def left() -> object:
        return database.sql("SELECT * FROM t"), database.sql("SELECT told FROM log")

    prepare()
    with database.session() as sql:
        affected = sql.execute(
            f"INSERT INTO t (id, a) VALUES (1, {value}) ON DUPLICATE KEY UPDATE a = {value}"
        )
    expected = left()
    prepare()
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "id,a") == [b"0", b"1"]
        connection.send(b"1\t++\t2\t1\t1\t%d\t%s\n" % (value, clause))
        assert connection.lines(1)[0].split(b"\t")[2] == str(affected).encode()
    assert left() == expected


def test_an_id_that_a_trigger_names_when_the_insert_is_tried_again_is_not_replaced(start: Start) -> None:
    """The first try had a generated id, and waits for a row of SQL's. The trigger's own id is taken."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0})
    database = Database(server, "d")
    database.script(
        """CREATE TABLE held (n INT PRIMARY KEY);
        INSERT INTO held VALUES (1);
        CREATE TABLE named (id INT);
        CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
        INSERT INTO t VALUES (50, 0);
        CREATE TRIGGER names BEFORE INSERT ON t FOR EACH ROW
            SET NEW.id = IFNULL((SELECT MAX(id) FROM named), NEW.id);
        CREATE TRIGGER waits AFTER INSERT ON t FOR EACH ROW UPDATE held SET n = n"""
    )

    def tries() -> int:
        return int(server.status("Handler_write")["Handler_write"])

    with server.raw("write") as wire, database.session() as sql:
        open_ids(wire, database, (1, "t", "n"))
        sql.execute("BEGIN")
        sql.execute("UPDATE held SET n = 2")
        before = tries()
        wire.send(b"1\t+\t1\t5\n")
        server.wait_until("is tried again", lambda: tries() - before > 1)
        sql.execute("INSERT INTO named VALUES (50)")
        sql.execute("COMMIT")
        assert wire.line() == b"1\t1\t121"
    assert database.sql("SELECT * FROM t") == [(50, 0)]
