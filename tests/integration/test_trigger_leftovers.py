# SPDX-License-Identifier: GPL-2.0-only
"""What a trigger sets in its session is not there for the next client."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.binlog import binlog_files, last_transaction
from support.locks import wait_for_state
from support.mariadb import Database, Options, RowSocketServer, Start

USER_VARIABLES = 2_000
LEFTOVERS = {
    "timestamp": "SET timestamp = 1000000000",
    "insert_id": "SET insert_id = 700",
    "time_zone": "SET time_zone = '+05:00'",
    "sql_mode": "SET sql_mode = ''",
}


@pytest.mark.parametrize("when", ["BEFORE", "AFTER"])
@pytest.mark.parametrize("variable", LEFTOVERS)
def test_what_a_trigger_sets_is_not_there_for_the_next_request(
    start: Start, variable: str, when: str
) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (id INT PRIMARY KEY)")
    server.sql(
        "CREATE TABLE app.plain (id INT AUTO_INCREMENT PRIMARY KEY, n INT, at DATETIME DEFAULT"
        " CURRENT_TIMESTAMP)"
    )
    server.sql(f"CREATE TRIGGER app.sets {when} INSERT ON app.t FOR EACH ROW {LEFTOVERS[variable]}")
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tplain\t\tn") == [b"0\t1"] * 2
        assert client.ask(b"1\t+\t1\t1") == b"0\t1"
    with server.raw("write") as client:
        assert client.ask(b"P\t2\tapp\tplain\t\tn") == b"0\t1"
        assert client.ask(b"2\t+\t1\t1") == b"0\t1\t1"
    assert server.sql("SELECT id, at >= NOW() - INTERVAL 1 HOUR AND at <= NOW() FROM app.plain") == [(1, 1)]


def test_what_a_trigger_keeps_of_a_session_of_sql_is_given_up(
    server: RowSocketServer, database: Database
) -> None:
    """Its variables and its locks."""
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, seen INT);
        CREATE TRIGGER keeps BEFORE INSERT ON t FOR EACH ROW
            SET NEW.seen = IFNULL(@kept, 0), @kept = 7, @held = GET_LOCK('kept', 0)"""
    )
    with server.raw("write") as client:
        assert client.ask(f"P\t1\t{database.name}\tt\t\tid".encode()) == b"0\t1"
        for number in range(2):
            assert client.ask(b"1\t+\t1\t%d" % number) == b"0\t1"
            assert database.value("SELECT IS_FREE_LOCK('kept')") == 1
    assert database.sql("SELECT seen FROM t") == [(0,), (0,)]


def test_what_a_trigger_keeps_is_given_up_where_its_request_fails(
    server: RowSocketServer, database: Database
) -> None:
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, seen INT);
        INSERT INTO t VALUES (1, 0);
        CREATE TRIGGER keeps BEFORE INSERT ON t FOR EACH ROW
            SET NEW.seen = IFNULL(@kept, 0), @kept = 7, @held = GET_LOCK('kept', 0)"""
    )
    with server.raw("write") as client:
        assert client.ask(f"P\t1\t{database.name}\tt\t\tid".encode()) == b"0\t1"
        assert client.ask(b"1\t+\t1\t1") == b"1\t1\t121"
        assert database.value("SELECT IS_FREE_LOCK('kept')") == 1
        assert client.ask(b"1\t+\t1\t2") == b"0\t1"
    assert database.sql("SELECT seen FROM t") == [(0,), (0,)]


def test_a_temporary_table_of_a_trigger_is_gone_with_its_request(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql(
        """CREATE TRIGGER keeps BEFORE INSERT ON t FOR EACH ROW
            CREATE TEMPORARY TABLE left_behind (id INT) ENGINE=MEMORY"""
    )
    with server.raw("write") as client:
        assert client.ask(f"P\t1\t{database.name}\tt\t\tid".encode()) == b"0\t1"
        assert client.ask_all(b"1\t+\t1\t1", b"1\t+\t1\t2") == [b"0\t1"] * 2


def test_a_trigger_is_not_told_of_the_commits_and_rows_of_others(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE other (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, gtid TEXT, row_count INT)")
    database.sql(
        """CREATE TRIGGER looks BEFORE INSERT ON t FOR EACH ROW
        BEGIN
            SET NEW.gtid = @@last_gtid, NEW.row_count = ROW_COUNT();
            INSERT INTO other VALUES (NEW.id);
        END"""
    )
    with server.raw("write") as client:
        assert client.ask(f"P\t1\t{database.name}\tt\t\tid".encode()) == b"0\t1"
        for number in range(2):
            assert client.ask(b"1\t+\t1\t%d" % number) == b"0\t1"
    assert database.sql("SELECT gtid, row_count FROM t") == [("", -1)] * 2


def test_what_a_trigger_drew_from_a_sequence_is_no_previous_value_of_the_next(
    server: RowSocketServer, database: Database
) -> None:
    database.script(
        """CREATE SEQUENCE s;
        CREATE TABLE t (id INT PRIMARY KEY, seen INT);
        CREATE TRIGGER draws BEFORE INSERT ON t FOR EACH ROW
            SET NEW.seen = IFNULL(PREVIOUS VALUE FOR s, 0), @drawn = NEXT VALUE FOR s"""
    )
    with server.raw("write") as client:
        assert client.ask(f"P\t1\t{database.name}\tt\t\tid".encode()) == b"0\t1"
        for number in range(2):
            assert client.ask(b"1\t+\t1\t%d" % number) == b"0\t1"
    assert database.sql("SELECT seen FROM t") == [(0,), (0,)]


@pytest.mark.parametrize("refused", [b"1\t+\t1\t1", b"P\t3\t%s\tnone\t\tid"], ids=["duplicate", "no table"])
def test_a_trigger_gets_no_diagnostics_of_the_request_before(
    server: RowSocketServer, database: Database, refused: bytes
) -> None:
    """They would tell one account what another one wrote."""
    database.script(
        """CREATE TABLE other (id INT PRIMARY KEY);
        CREATE TABLE t (id INT PRIMARY KEY, seen INT);
        CREATE TRIGGER looks BEFORE INSERT ON t FOR EACH ROW
        BEGIN GET DIAGNOSTICS @conditions = NUMBER; SET NEW.seen = @conditions + @@warning_count; END"""
    )
    name = database.name.encode()
    with server.raw("write") as client:
        opened = client.ask_all(b"P\t1\t%s\tother\t\tid" % name, b"P\t2\t%s\tt\t\tid" % name)
        assert [*opened, client.ask(b"1\t+\t1\t1")] == [b"0\t1"] * 3
        assert client.ask(refused.replace(b"%s", name)).startswith(b"1\t1\t")
        assert client.ask(b"2\t+\t1\t1") == b"0\t1"
    assert database.sql("SELECT seen FROM t") == [(0,)]


def test_after_an_error_that_is_fatal_to_a_statement_the_triggers_of_other_tables_are_parsed(
    start: Start,
) -> None:
    """A trigger's UPDATE makes a row that is too long for its page."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "innodb-strict-mode": "OFF"})
    database = Database(server, "d")
    blobs = [f"b{number}" for number in range(12)]
    database.script(
        f"""CREATE TABLE wide (id INT PRIMARY KEY, {", ".join(f"{blob} BLOB" for blob in blobs)})
            ROW_FORMAT=COMPACT;
        INSERT INTO wide (id) VALUES (1);
        CREATE TABLE widens (id INT PRIMARY KEY);
        CREATE TABLE noted (id INT PRIMARY KEY);
        CREATE TABLE notes (id INT);
        CREATE TRIGGER widen AFTER INSERT ON widens FOR EACH ROW
            UPDATE wide SET {", ".join(f"{blob} = REPEAT('x', 768)" for blob in blobs)};
        CREATE TRIGGER note AFTER INSERT ON noted FOR EACH ROW INSERT INTO notes VALUES (NEW.id)"""
    )
    with server.raw("write") as wire:
        assert wire.ask_all(b"P\t0\td\twidens\t\tid", b"P\t1\td\tnoted\t\tid") == [b"0\t1"] * 2
        assert wire.ask(b"0\t+\t1\t1").startswith(b"1\t1\t1118")
        assert wire.ask(b"1\t+\t1\t1") == b"0\t1"
    assert database.sql("SELECT id FROM notes") == [(1,)]


def test_the_time_that_a_trigger_has_set_is_not_that_of_the_commit(start: Start) -> None:
    """Other clients share it: replicas, and who reads the binlog up to a time, go by it."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "log-bin": "binlog"})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE plain (id INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER sets AFTER INSERT ON t FOR EACH ROW SET timestamp = 1000000000")
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tplain\t\tid") == [b"0\t1"] * 2
        assert client.ask_all(b"2\t+\t1\t1", b"1\t+\t1\t1") == [b"0\t1"] * 2
    transaction = last_transaction(binlog_files(server)[-1].read_bytes())
    committed_s = int.from_bytes(transaction[:4], "little")  # a GTID event, which begins with its time
    assert abs(committed_s - time.time()) < 3600


TRUSTED_CODE: Options = {"loose-rowsocket-threads-write": 1, "log-bin-trust-function-creators": "ON"}


def test_variables_of_a_package_take_their_memory_once(start: Start) -> None:
    """Not with each request that sets them anew."""
    server = start(RowSocketServer, TRUSTED_CODE)
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("SET SESSION sql_mode = ORACLE")
    database.sql("CREATE PACKAGE large AS FUNCTION one RETURN INT; END")
    variables = " ".join(f"v{number} VARCHAR(4000) CHARACTER SET utf8mb4;" for number in range(40))
    database.sql(
        f"CREATE PACKAGE BODY large AS {variables} FUNCTION one RETURN INT AS BEGIN RETURN 1; END; END"
    )
    database.sql(
        "CREATE TRIGGER calls BEFORE INSERT ON t FOR EACH ROW BEGIN :NEW.id := :NEW.id * large.one(); END"
    )
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        assert client.ask(b"1\t+\t1\t0") == b"0\t1"
        before_bytes = server.memory_bytes()
        for id in range(1, 201):
            assert client.ask(b"1\t+\t1\t%d" % id) == b"0\t1"
        assert server.memory_bytes() - before_bytes < 20_000_000  # 0.67 MB for each would be 130 MB


def test_what_a_trigger_keeps_in_a_package_is_not_there_for_the_next_request(
    start: Start,
) -> None:
    server = start(RowSocketServer, TRUSTED_CODE)
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, seen VARCHAR(9))")
    database.sql("SET SESSION sql_mode = ORACLE")
    database.sql("CREATE PACKAGE kept AS PROCEDURE put(new VARCHAR(9)); FUNCTION seen RETURN VARCHAR(9); END")
    database.sql("""
        CREATE PACKAGE BODY kept AS
          value VARCHAR(9) := 'nothing';
          PROCEDURE put(new VARCHAR(9)) AS BEGIN value := new; END;
          FUNCTION seen RETURN VARCHAR(9) AS BEGIN RETURN value; END;
        END
    """)
    database.sql("""
        CREATE TRIGGER keeps BEFORE INSERT ON t FOR EACH ROW BEGIN
          :NEW.seen := kept.seen();
          kept.put('secret');
        END
    """)
    for id in (1, 2):
        with server.raw("write") as client:
            assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"1\t+\t1\t%d" % id) == [b"0\t1"] * 2
    assert database.sql("SELECT seen FROM t") == [("nothing",), ("nothing",)]


def test_a_variable_of_a_package_has_the_type_that_its_column_has_now(start: Start) -> None:
    server = start(RowSocketServer, TRUSTED_CODE)
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, kept VARCHAR(30))")
    database.sql("CREATE TABLE typed (text VARCHAR(3))")
    database.sql("SET SESSION sql_mode = ORACLE")
    database.sql("CREATE PACKAGE keeps AS FUNCTION it(new VARCHAR(30)) RETURN VARCHAR(30); END")
    database.sql("""
        CREATE PACKAGE BODY keeps AS
          kept app.typed.text%TYPE;
          FUNCTION it(new VARCHAR(30)) RETURN VARCHAR(30) AS BEGIN kept := SUBSTR(new, 1); RETURN kept; END;
        END
    """)
    database.sql("""
        CREATE TRIGGER calls BEFORE INSERT ON t FOR EACH ROW BEGIN
          :NEW.kept := keeps.it(IF(:NEW.id = 1, 'abc', 'abcdef'));
        END
    """)
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"1\t+\t1\t1") == [b"0\t1"] * 2
        database.sql("ALTER TABLE typed MODIFY text VARCHAR(30)")
        assert client.ask(b"1\t+\t1\t2") == b"0\t1"
    assert database.sql("SELECT kept FROM t ORDER BY id") == [("abc",), ("abcdef",)]


def test_a_package_whose_first_part_has_failed_begins_as_a_new_one(start: Start) -> None:
    """An error of its handler leaves the handler behind. RESIGNAL would take it for the one it is in."""
    server = start(RowSocketServer, TRUSTED_CODE)
    database = Database(server, "app")
    database.script("""
        CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TABLE chosen (n INT);
        INSERT INTO chosen VALUES (0);
        SET SESSION sql_mode = ORACLE;
        CREATE PACKAGE begins AS FUNCTION same(n INT) RETURN INT; END""")
    database.sql("""
        CREATE PACKAGE BODY begins AS
          way INT;
          FUNCTION same(n INT) RETURN INT AS BEGIN RETURN n; END;
        BEGIN
          SELECT n INTO way FROM chosen;
          IF way = 2 THEN RESIGNAL; END IF;
          BEGIN
            IF way = 1 THEN SIGNAL SQLSTATE '45000'; END IF;
          EXCEPTION
            WHEN OTHERS THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 5000;
          END;
        END
    """)
    database.sql("CREATE TRIGGER calls BEFORE INSERT ON t FOR EACH ROW :NEW.id := begins.same(:NEW.id)")
    replies = []
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        for way in (1, 2, 1, 0):
            database.sql(f"UPDATE chosen SET n = {way}")
            replies.append(client.ask(b"1\t+\t1\t7"))
    assert replies == [b"1\t1\t5000", b"1\t1\t1645", b"1\t1\t5000", b"0\t1"]


def test_a_variable_waits_for_ddl_of_the_table_that_its_type_comes_from(start: Start) -> None:
    """A session that has locks is told at once that DDL has the table: the request is tried again."""
    server = start(RowSocketServer, {})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, kept VARCHAR(30))")
    database.sql("CREATE TABLE typed (text VARCHAR(3))")
    database.sql("CREATE TABLE used (id INT)")
    database.sql("""
        CREATE TRIGGER calls BEFORE INSERT ON t FOR EACH ROW BEGIN
          DECLARE kept TYPE OF typed.text DEFAULT 'abc';
          SET NEW.kept = kept;
        END
    """)
    with (
        server.raw("write") as client,
        database.session() as holder,
        database.session() as renaming,
        ThreadPoolExecutor(1) as thread,
    ):
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM used")
        # It has the first table's lock while it waits for the last one's.
        swap = "RENAME TABLE typed TO v, used TO w, v TO typed, w TO used"
        renamed = thread.submit(renaming.execute, swap)
        wait_for_state(server, "Waiting for table metadata lock", of_worker=False)
        client.send(b"1\t+\t1\t1\n")
        server.wait_until("the request is parked", lambda: server.counter("parked") > 0)
        holder.execute("COMMIT")
        renamed.result()
        assert client.line() == b"0\t1"
    assert database.sql("SELECT kept FROM t") == [("abc",)]


def test_what_a_trigger_calls_by_the_number_of_that_lock_is_told_at_once(
    server: RowSocketServer, database: Database
) -> None:
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY);
        CREATE TRIGGER closes BEFORE INSERT ON t FOR EACH ROW
            SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1684, MESSAGE_TEXT = 'Table ''t'' is closed today'"""
    )
    parked_before = server.counter("parked")
    with server.raw("write") as client:
        opened = f"P\t1\t{database.name}\tt\t\tid".encode()
        assert client.ask_all(opened, b"1\t+\t1\t1") == [b"0\t1", b"1\t1\t1684"]
    assert server.counter("parked") == parked_before


def test_user_variables_of_a_trigger_are_removed_as_at_the_end_of_a_session(
    server: RowSocketServer, database: Database
) -> None:
    """Those of each trigger would make the worker larger, and each of its requests slower."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    memory = "SELECT id, memory_used FROM information_schema.processlist WHERE host = 'rowsocket'"
    bytes_of_threads: list[dict[int, int]] = []
    with server.raw("write") as client:
        for id, letter in enumerate("abc"):
            variables = ", ".join(f"@{letter}{number} = 1" for number in range(USER_VARIABLES))
            database.sql(f"CREATE OR REPLACE TRIGGER keeps BEFORE INSERT ON t FOR EACH ROW SET {variables}")
            opened = f"P\t1\t{database.name}\tt\t\tid".encode()
            assert client.ask_all(opened, b"1\t+\t1\t%d" % id) == [b"0\t1"] * 2
            bytes_of_threads.append(dict(server.sql(memory)))
    _, before, after = bytes_of_threads
    for thread in before.keys() & after.keys():  # a stand-in may have come meanwhile
        assert after[thread] - before[thread] < USER_VARIABLES * 20  # each takes more


@pytest.mark.parametrize("other", ["n INT", "n INT DEFAULT (@other := 1)"], ids=["removed", "kept"])
def test_a_user_variable_has_no_type_or_collation_left(
    server: RowSocketServer, database: Database, other: str
) -> None:
    """They are not removed where an expression of a table that was opened knows one of them."""
    database.script(
        f"""CREATE TABLE other (id INT PRIMARY KEY, {other});
        CREATE TABLE t (id INT PRIMARY KEY, seen VARCHAR(80));
        CREATE TRIGGER keeps BEFORE INSERT ON t FOR EACH ROW
            SET NEW.seen = JSON_ARRAY(COLLATION(@text), COALESCE(@number, 5)),
                @text = CONVERT('a' USING latin1), @number = 7"""
    )
    with server.raw("write") as client:
        name = database.name.encode()
        assert client.ask(b"P\t1\t%b\tt\t\tid" % name) == b"0\t1"
        for id in (1, 2):
            client.ask_all(b"P\t2\t%b\tother\t\tid" % name, b"2\t=\t1\t1")
            assert client.ask(b"1\t+\t1\t%d" % id) == b"0\t1"
    assert database.sql("SELECT seen FROM t") == [('["binary", "5"]',), ('["binary", "5"]',)]


REFUSED_FOR_VARIABLES = {
    "a default": (b"1\t+\t1\t1", "n INT DEFAULT (@n := 1)"),
    "a default that reads": (b"1\t+\t1\t1", "n INT DEFAULT (IFNULL(@n, 1))"),
    "a generated column": (b"1\t=\t1\t1", "n INT AS (@n) VIRTUAL"),
    "a default that a generated column has": (
        b"1\t=\t1\t1",
        "n INT DEFAULT (@n := 1), m INT AS (DEFAULT(n)) VIRTUAL",
    ),
    "a trigger of another table": (b"2\t+\t1\t1", "n INT DEFAULT (@n := 1)"),
    "a trigger that only reads": (b"2\t=\t1\t1\t1\t0\tD", "n INT DEFAULT (@n := 1)"),
}


@pytest.mark.parametrize("case", REFUSED_FOR_VARIABLES)
def test_a_table_with_a_user_variable_in_an_expression_is_refused(start: Start, case: str) -> None:
    """The expression keeps the place of one session's variable: others wrote there, when it was gone, too."""
    request, column = REFUSED_FOR_VARIABLES[case]
    server = start(RowSocketServer, {"rowsocket-error-detail": "ON"})
    database = Database(server, "app")
    database.sql(f"CREATE TABLE expressed (id INT PRIMARY KEY, {column})")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("INSERT INTO t VALUES (1)")
    database.sql("CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO expressed (id) VALUES (NEW.id)")
    database.sql("CREATE TRIGGER d AFTER DELETE ON t FOR EACH ROW DO (SELECT MAX(DEFAULT(n)) FROM expressed)")
    with server.raw("write") as client:
        opened = client.ask_all(b"P\t1\tapp\texpressed\t\tid", b"P\t2\tapp\tt\t\tid")
        reply = client.ask(request) if opened == [b"0\t1"] * 2 else opened[0]
    assert reply.startswith(b"1\t1\topen_table")
    assert b"user variable" in reply


def test_a_table_whose_default_has_a_user_variable_is_read(start: Start) -> None:
    server = start(RowSocketServer, {})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT (@n := 1))")
    database.sql("INSERT INTO t VALUES (1, 7)")
    with server.raw("read") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tn", b"1\t=\t1\t1") == [b"0\t1", b"0\t1\t7"]
