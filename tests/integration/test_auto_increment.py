# SPDX-License-Identifier: GPL-2.0-only
"""Generated ids: no number twice whoever writes, nobody waits for another's insert, and a server's own step
and offset hold."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import rowsocket
from support.binlog import assert_binlog_equals_tables
from support.gate import gate, open_ids, wait_at_gate
from support.mariadb import Database, RowSocketServer, Start
from support.twins import Twins

CLIENTS = 8
INSERTS = 200


def numbered(server: RowSocketServer) -> Database:
    """A database with `t`, whose ids are generated."""
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE)")
    return database


@pytest.mark.parametrize("lock_mode", [0, 1, 2])
def test_ids_of_many_clients_and_of_sql_are_each_given_once_and_replied_right(
    start: Start, lock_mode: int
) -> None:
    server = start(RowSocketServer, {"innodb-autoinc-lock-mode": lock_mode, "rowsocket-threads-write": 4})
    database = numbered(server)

    def insert(client: int) -> dict[str, int]:
        with rowsocket.connect(*server.write_address(), text=True) as connection:
            index = connection.open_index("d", "t", "name")
            with connection.pipeline() as pipe:
                promised = {
                    f"{client}/{number}": pipe.insert(index, [f"{client}/{number}"])
                    for number in range(INSERTS)
                }
            return {name: one.result() or 0 for name, one in promised.items()}

    def insert_in_sql() -> None:
        with database.session() as sql:
            for number in range(20):
                sql.execute(f"INSERT INTO t (name) SELECT CONCAT('sql {number} ', seq) FROM seq_1_to_20")

    with ThreadPoolExecutor(CLIENTS + 1) as threads:
        beside = threads.submit(insert_in_sql)
        clients = [threads.submit(insert, client) for client in range(CLIENTS)]
        replied = {name: row_id for client in clients for name, row_id in client.result().items()}
        beside.result()
    rows = {str(name): int(row_id) for row_id, name in database.sql("SELECT id, name FROM t")}
    assert len(rows) == len(set(rows.values())) == CLIENTS * INSERTS + 400
    assert replied == {name: rows[name] for name in replied}


@contextlib.contextmanager
def long_insert_of_sql(server: RowSocketServer, database: Database) -> Iterator[None]:
    """SQL inserts into `t`, and keeps the lock of its ids for longer than InnoDB lets one request wait. It
    ends with the block."""
    with database.session() as sql, ThreadPoolExecutor(1) as thread:
        with gate(database):
            slow = "INSERT INTO t (name) SELECT IF(seq = 1, 'first', GET_LOCK('gate', 60)) FROM seq_1_to_2"
            inserting = thread.submit(sql.execute, slow)
            wait_at_gate(server)
            yield
        inserting.result()


def test_a_long_insert_of_sql_is_waited_for(start: Start) -> None:
    server = start(RowSocketServer, {"innodb-autoinc-lock-mode": 1})
    database = numbered(server)
    with rowsocket.connect(*server.write_address(), text=True) as writer, ThreadPoolExecutor(1) as thread:
        index = writer.open_index("d", "t", "name")
        with long_insert_of_sql(server, database):
            parked_before = server.counter("parked")
            inserted = thread.submit(index.insert, ["mine"])
            server.wait_until("the request is parked", lambda: server.counter("parked") > parked_before)
        new_id = inserted.result()
    assert database.sql("SELECT id FROM t WHERE name = 'mine'") == [(new_id,)]


@pytest.mark.parametrize("lock_mode", [0, 1])
@pytest.mark.parametrize(
    "request_line",
    [b"0\t+\t2\t1000\tmine", b"0\t++\t2\t1\t1000\tmine", b"0\t++\t2\t2\t1000\tmine\t1001\tmy own\tE"],
    ids=["one", "list", "each"],
)
def test_a_row_that_waits_for_the_lock_of_the_ids_is_not_there(
    start: Start, lock_mode: int, request_line: bytes
) -> None:
    """InnoDB waits for it when it has the row already, and leaves the row there."""
    server = start(
        RowSocketServer,
        {"innodb-autoinc-lock-mode": lock_mode, "rowsocket-threads-write": 1, "binlog-format": "ROW"},
    )
    database = numbered(server)
    with server.raw("write") as writer, server.raw("read") as reader:
        writer.ask(b"P\t0\td\tt\t\tid,name")
        reader.ask(b"P\t0\td\tt\t\tid")
        with long_insert_of_sql(server, database):
            parked_before = server.counter("parked")
            writer.send(request_line + b"\n")
            server.wait_until("the request is parked", lambda: server.counter("parked") > parked_before)
            assert reader.ask(b"0\t=\t1\t1000") == b"0\t1"
        assert writer.line().startswith(b"0\t")
    assert database.sql("SELECT COUNT(*) FROM t WHERE name = 'mine'") == [(1,)]
    assert_binlog_equals_tables(server, ["d"])


@pytest.mark.parametrize("lock_mode", [0, 1])
def test_a_row_whose_time_is_over_while_it_waits_for_the_lock_of_the_ids_is_not_there(
    start: Start, lock_mode: int
) -> None:
    server = start(RowSocketServer, {"innodb-autoinc-lock-mode": lock_mode, "rowsocket-threads-write": 1})
    database = numbered(server)
    with server.raw("write") as writer:
        writer.ask(b"P\t0\td\tt\t\tid,name")
        with long_insert_of_sql(server, database):
            server.sql("SET GLOBAL max_statement_time = 0.1")
            assert writer.ask(b"0\t+\t2\t1000\tmine") == b"1\t1\t1969"
        server.sql("SET GLOBAL max_statement_time = 0")
    assert database.sql("SELECT * FROM t WHERE name = 'mine'") == []


def row_wait(server: RowSocketServer) -> int | None:
    """The number of the wait for a row that is under way now, of all that there ever were; None: nobody
    waits."""
    status = server.status("Innodb_row_lock%waits")
    return int(status["Innodb_row_lock_waits"]) if status["Innodb_row_lock_current_waits"] == "1" else None


def test_an_insert_that_waits_holds_up_no_other(start: Start) -> None:
    server = start(RowSocketServer, {"rowsocket-threads-write": 2})
    database = numbered(server)
    numbers = itertools.count()
    with (
        database.session() as sql,
        ThreadPoolExecutor(1) as thread,
        rowsocket.connect(*server.write_address(), text=True) as waiting,
        rowsocket.connect(*server.write_address(), text=True) as other,
    ):
        wanted, free = waiting.open_index("d", "t", "name"), other.open_index("d", "t", "name")
        sql.execute("BEGIN")
        sql.execute("INSERT INTO t (name) VALUES ('taken')")
        inserted = thread.submit(wanted.insert, ["taken"])

        def others_insert_during_one_wait() -> bool:
            before = row_wait(server)
            free.insert([f"z{next(numbers)}"])  # behind the name that is waited for: another gap of the index
            return before is not None and before == row_wait(server)

        server.wait_until("others insert during one wait", others_insert_during_one_wait)
        sql.execute("ROLLBACK")
        assert inserted.result() is not None


def test_step_and_offset_of_the_server_are_those_of_the_ids(start: Start) -> None:
    server = start(RowSocketServer, {"auto-increment-increment": 10, "auto-increment-offset": 3})
    database = numbered(server)
    with rowsocket.connect(*server.write_address(), text=True) as writer:
        index = writer.open_index("d", "t", "name")
        assert [index.insert([name]) for name in "abc"] == [3, 13, 23]
        server.sql("SET GLOBAL auto_increment_offset = 7")
        server.sql("SET GLOBAL auto_increment_increment = 100")
        assert [index.insert([name]) for name in "de"] == [107, 207]
    assert database.sql("SELECT id FROM t ORDER BY id") == [(3,), (13,), (23,), (107,), (207,)]


def test_an_id_in_the_second_place_of_its_key_counts_for_each_first(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (kind INT, id INT AUTO_INCREMENT, PRIMARY KEY (kind, id)) ENGINE=MyISAM")
    with rowsocket.connect(*server.write_address(), text=True) as writer:
        index = writer.open_index("d", "t", "kind")
        assert [index.insert([kind]) for kind in (1, 1, 2, 1, 2)] == [1, 2, 1, 3, 2]


def test_rows_of_one_group_are_numbered_without_a_gap(server: RowSocketServer, database: Database) -> None:
    """A group is one statement: what one of its requests did not use up of the ids must not be in the next
    one's way."""
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE)")
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "name") == [b"0", b"1"]
        group = (b"G", b"1\t++\t1\t4\ta\tb\tc\td", b"1\t+\t1\te", b"1\t++\t1\t2\tf\tg", b"E")
        ids = [b"0\t2\t1\t1\t1\t2\t1\t3\t1\t4", b"0\t1\t5", b"0\t2\t1\t6\t1\t7"]
        assert connection.ask_all(*group, b"1\t+\t1\th") == [b"0\t1", *ids, b"0\t1", b"0\t1\t8"]


TRIES = 5
ALONE = {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0}
"""One thread: what waits is tried again and again. A stand-in would wait in the server's own queue."""


def test_an_insert_that_waits_takes_ids_once(start: Start) -> None:
    """However often it is tried. Others are given other ids meanwhile."""
    server = start(RowSocketServer, ALONE)
    database = Database(server, "d")
    database.sql("CREATE TABLE held (id INT PRIMARY KEY)")
    database.sql("INSERT INTO held VALUES (1)")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), of INT)")
    database.sql(
        "CREATE TRIGGER t_i AFTER INSERT ON t FOR EACH ROW UPDATE held SET id = id WHERE id = NEW.of"
    )
    with (
        database.session() as sql,
        rowsocket.connect(*server.write_address(), text=True) as writer,
        server.raw("write") as waiting,
    ):
        index = writer.open_index("d", "t", "name")
        waiting.ask(b"P\t1\td\tt\t\tname,of")
        sql.execute("BEGIN")
        sql.execute("UPDATE held SET id = id")
        before = writes_tried(server)
        waiting.send(b"1\t++\t2\t3\ta\t0\tb\t0\tc\t1\n")
        server.wait_until("is tried again", lambda: writes_tried(server) - before >= 3 * TRIES)
        of_others = [index.insert([f"other {number}"]) for number in range(3)]
        before = writes_tried(server)
        server.wait_until("is tried on", lambda: writes_tried(server) - before >= 3 * TRIES)
        sql.execute("ROLLBACK")
        assert waiting.line().startswith(b"0\t")
    ids = {str(name): int(row_id) for row_id, name in database.sql("SELECT id, name FROM t")}
    assert sorted(ids.values()) == [1, 2, 3, 4, 5, 6]
    assert of_others == [ids[f"other {number}"] for number in range(3)]


def test_a_group_that_waits_behind_another_wait_takes_ids_once(start: Start) -> None:
    """Its first run in a transaction is refused: it must be the first of one."""
    server = start(RowSocketServer, ALONE)
    database = Database(server, "d")
    database.sql("CREATE TABLE held (id INT PRIMARY KEY)")
    database.sql("INSERT INTO held VALUES (1)")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE)")
    database.sql("CREATE TRIGGER t_i AFTER INSERT ON t FOR EACH ROW SET @x = 1")
    with database.session() as sql, server.raw("write") as first, server.raw("write") as group:
        first.ask(b"P\t0\td\theld\t\tid")
        group.ask(b"P\t0\td\tt\t\tname")
        sql.execute("BEGIN")
        sql.execute("UPDATE held SET id = id")
        sql.execute("INSERT INTO t (id, name) VALUES (-5, 'mine')")
        parked_before = server.counter("parked")
        first.send(b"0\t=\t1\t1\t1\t0\tD\n")
        server.wait_until("the first waits", lambda: server.counter("parked") > parked_before)
        before = writes_tried(server)
        group.send(b"G\n0\t+\t1\tmine\nE\n")
        server.wait_until("the group is tried again", lambda: writes_tried(server) - before >= 3 * TRIES)
        sql.execute("ROLLBACK")
        assert [line[:3] for line in group.lines(3)] == [b"0\t1"] * 3
        first.line()
    assert database.sql("SELECT id FROM t") == [(1,)]


def writes_tried(server: RowSocketServer) -> int:
    """How often an engine was asked to insert a row, be it in vain."""
    return int(server.status("Handler_write")["Handler_write"])


def insert_while_waiting(
    server: RowSocketServer, meanwhile: Callable[[Database], None]
) -> tuple[int | None, list[int | None]]:
    """The id of an insert that waits for a row of SQL's while something happens, and of two behind it."""
    database = numbered(server)
    with (
        database.session() as sql,
        ThreadPoolExecutor(1) as thread,
        rowsocket.connect(*server.write_address(), text=True) as writer,
    ):
        index = writer.open_index("d", "t", "name")
        sql.execute("BEGIN")
        sql.execute("INSERT INTO t VALUES (100, 'mine')")
        before = writes_tried(server)
        inserted = thread.submit(index.insert, ["mine"])
        server.wait_until("is tried again", lambda: writes_tried(server) - before >= TRIES)
        meanwhile(database)
        before = writes_tried(server)
        server.wait_until("is tried on", lambda: writes_tried(server) - before >= 3 * TRIES)
        sql.execute("ROLLBACK")
        return inserted.result(), [index.insert([name]) for name in "ab"]


def test_an_id_that_somebody_took_while_its_insert_waited_is_left_to_him(start: Start) -> None:
    def take(database: Database) -> None:
        database.sql("INSERT INTO t VALUES (101, 'taken')")

    waited, behind = insert_while_waiting(start(RowSocketServer, ALONE), take)
    assert [waited, *behind] == [102, 103, 104]


def test_an_id_that_somebody_took_is_his_also_when_his_row_is_gone(start: Start) -> None:
    """Each id is given once. The insert is tried in between, and so is given another."""
    server = start(RowSocketServer, ALONE)

    def take_and_leave(database: Database) -> None:
        database.sql("INSERT INTO t VALUES (101, 'taken')")
        before = writes_tried(server)
        server.wait_until("is tried beside the row", lambda: writes_tried(server) - before >= 3 * TRIES)
        database.sql("DELETE FROM t WHERE id = 101")

    waited, behind = insert_while_waiting(server, take_and_leave)
    assert [waited, *behind] == [102, 103, 104]


def test_an_id_that_does_not_fit_the_steps_of_now_is_given_up(start: Start) -> None:
    """An insert had it when it began to wait. Another primary may give it now."""

    def step_by_ten(database: Database) -> None:
        database.sql("SET GLOBAL auto_increment_increment = 10, GLOBAL auto_increment_offset = 7")

    waited, _behind = insert_while_waiting(start(RowSocketServer, ALONE), step_by_ten)
    assert (waited or 0) % 10 == 7


def test_an_id_from_before_an_alter_is_given_up(start: Start) -> None:
    """An insert had it when it began to wait for its parent."""
    server = start(RowSocketServer, ALONE)
    database = Database(server, "d")
    database.sql("CREATE TABLE held (id INT PRIMARY KEY)")
    database.sql("INSERT INTO held VALUES (1)")
    parent = "parent INT, FOREIGN KEY (parent) REFERENCES held (id)"
    database.sql(f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, {parent})")
    with database.session() as sql, server.raw("write") as waiting:
        assert waiting.ask(b"P\t1\td\tt\t\tparent") == b"0\t1"
        sql.execute("BEGIN")
        sql.execute("SELECT * FROM held FOR UPDATE")
        before = writes_tried(server)
        waiting.send(b"1\t+\t1\t1\n")
        server.wait_until("is tried again", lambda: writes_tried(server) - before >= TRIES)
        database.sql("ALTER TABLE t AUTO_INCREMENT = 1000")
        sql.execute("ROLLBACK")
        assert waiting.line() == b"0\t1\t1000"


@pytest.mark.parametrize("clause", [b"\tI", b"\tU\t1"], ids=["ignore", "upsert"])
def test_behind_a_row_that_is_there_the_next_takes_no_id_of_another_client(
    start: Start, clause: bytes
) -> None:
    """The row that is there was given an id, too, and others were given theirs between the rows."""
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT UNIQUE, v INT)")
    database.sql("CREATE TABLE log (n INT)")
    database.sql(
        "CREATE TRIGGER t_i AFTER INSERT ON t FOR EACH ROW INSERT INTO log SELECT NEW.n FROM dual"
        " WHERE NEW.n <> 200 OR GET_LOCK('gate', 100) + RELEASE_LOCK('gate') > 0"
    )
    database.sql("INSERT INTO t VALUES (1, 100, 0)")
    with server.raw("write") as wire:
        wire.ask(b"P\t1\td\tt\t\tn,v")
        with gate(database):
            wire.send(b"1\t++\t2\t3\t200\t2\t100\t1\t300\t3" + clause + b"\n")
            wait_at_gate(server)
            database.sql("INSERT INTO t (n, v) VALUES (400, 4)")
        assert wire.line().startswith(b"0\t")
    values = {int(n): int(v) for n, v in database.sql("SELECT n, v FROM t")}
    assert values == {100: 0 if clause == b"\tI" else 1, 200: 2, 300: 3, 400: 4}


@pytest.mark.parametrize(
    ("clause", "kept"),
    [(b"\tI", b"0\t\0"), (b"\tU\t1", b"2\t\0"), (b"\tR", b"2\t\0"), (b"\tE", b"!121\t\0")],
    ids=["ignore", "upsert", "replace", "each"],
)
def test_each_row_of_an_insert_that_waited_has_its_own_id(start: Start, clause: bytes, kept: bytes) -> None:
    """A row that is kept takes a value, too, which the next row may use; no value goes to two rows, or to
    another table."""
    server = start(RowSocketServer, ALONE)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT UNIQUE, v INT)")
    database.sql("CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    database.sql("CREATE TRIGGER t_i AFTER INSERT ON t FOR EACH ROW INSERT INTO log (n) VALUES (NEW.n)")
    database.sql("INSERT INTO t VALUES (50, 100, 0)")
    with database.session() as sql, server.raw("write") as waiting:
        waiting.ask(b"P\t1\td\tt\t\tn,v")
        sql.execute("BEGIN")
        sql.execute("INSERT INTO t VALUES (10, 200, 0)")
        before = writes_tried(server)
        waiting.send(b"1\t++\t2\t4\t100\t1\t200\t2\t300\t3\t400\t4" + clause + b"\n")
        server.wait_until("is tried again", lambda: writes_tried(server) - before >= 4 * TRIES)
        sql.execute("ROLLBACK")
        reply = waiting.line()
    rows = {int(n): (int(row_id), int(v)) for row_id, n, v in database.sql("SELECT id, n, v FROM t")}
    assert set(rows) == {100, 200, 300, 400}
    assert [rows[n][1] for n in (200, 300, 400)] == [2, 3, 4]
    told = reply.split(b"\t")[3::2]
    assert [int(row_id) for row_id in told[1:]] == [rows[n][0] for n in (200, 300, 400)]
    logged = database.sql("SELECT id FROM log")
    assert max(int(row_id) for (row_id,) in logged) < 50


def test_what_waits_before_it_began_is_given_no_id_of_another_insert(start: Start) -> None:
    server = start(RowSocketServer, ALONE)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT, a INT, v INT, KEY (id), KEY (a))")
    with database.session() as sql, server.raw("write") as first, server.raw("write") as second:
        for wire in (first, second):
            wire.ask(b"P\t1\td\tt\tid\ta")
        assert first.ask(b"1\t++\t1\t2\t1\t1") == b"0\t2\t1\t1\t1\t2"
        sql.execute("LOCK TABLES t WRITE")
        parked_before = server.counter("parked")
        second.send(b"1\t++\t2\t1\t2\t77\tC\ta,v\n")
        server.wait_until("is parked", lambda: server.counter("parked") > parked_before)
        sql.execute("UNLOCK TABLES")
        assert second.line() == b"0\t2\t1\t3"


def test_a_partition_gives_no_id_to_two_inserts(start: Start) -> None:
    """It takes back the value of an insert that has to wait, and gives it to the next one."""
    server = start(RowSocketServer, ALONE)
    database = Database(server, "d")
    database.sql(
        "CREATE TABLE t (id INT AUTO_INCREMENT, n INT, PRIMARY KEY (id, n), UNIQUE (n))"
        " PARTITION BY HASH (n) PARTITIONS 4"
    )
    with database.session() as sql, server.raw("write") as waiting, server.raw("write") as other:
        for wire in (waiting, other):
            wire.ask(b"P\t1\td\tt\t\tn")
        sql.execute("BEGIN")
        sql.execute("INSERT INTO t VALUES (-6, 200)")
        before = writes_tried(server)
        waiting.send(b"1\t+\t1\t200\n")
        server.wait_until("is tried again", lambda: writes_tried(server) - before >= TRIES)
        of_other = other.ask(b"1\t+\t1\t300")
        sql.execute("ROLLBACK")
        assert waiting.line() != of_other
    ids = [int(row_id) for (row_id,) in database.sql("SELECT id FROM t")]
    assert len(set(ids)) == len(ids) == 2


def test_no_id_left_is_told_at_once(server: RowSocketServer, database: Database) -> None:
    database.sql(
        "CREATE TABLE t (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT)"
        " AUTO_INCREMENT = 18446744073709551615"
    )
    database.sql("CREATE TABLE source (id INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER adds AFTER INSERT ON source FOR EACH ROW INSERT INTO t (v) VALUES (NEW.id)")
    with server.raw("write") as wire:
        open_ids(wire, database, (1, "t", "v"), (2, "source", "id"))
        assert wire.ask(b"1\t+\t1\t5") == b"1\t1\t166"
        assert wire.ask(b"2\t+\t1\t5") == b"1\t1\t1467"


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM", "Aria"])
@pytest.mark.parametrize("clause", ["I", "U\t0", "E"])
def test_an_id_that_a_row_did_not_need_is_no_longer_kept_behind_its_request(
    server: RowSocketServer, database: Database, engine: str, clause: str
) -> None:
    database.sql(f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE) ENGINE={engine}")
    database.sql("INSERT INTO t (v) VALUES (1)")
    with server.raw("write") as wire:
        assert wire.tokens("P", 1, database.name, "t", "", "v") == [b"0", b"1"]
        assert wire.ask(b"1\t++\t1\t1\t1\t" + clause.encode()).startswith(b"0\t2\t")
        database.sql("INSERT INTO t (v) VALUES (2)")
        assert wire.ask(b"1\t++\t1\t2\t3\t4\t" + clause.encode()).startswith(b"0\t2\t1\t")
    assert database.sql("SELECT v FROM t ORDER BY id") == [(1,), (2,), (3,), (4,)]


@pytest.mark.parametrize("id", [None, "0"])
def test_a_row_that_has_the_id_that_is_made_for_a_replacement_stays(
    make_twins: Callable[..., Twins], id: str | None
) -> None:
    """A cascade has given it that id, which InnoDB does not notice. SQL leaves the row, too."""
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, v INT")
    for table in ("t", "twin"):
        twins.sql(f"CREATE TABLE of_{table} (id INT PRIMARY KEY)")
        twins.sql(f"INSERT INTO of_{table} VALUES (1), (2)")
        twins.sql(f"ALTER TABLE {table} ADD FOREIGN KEY (id) REFERENCES of_{table} (id) ON UPDATE CASCADE")
        twins.sql(f"INSERT INTO {table} (v) VALUES (1), (2)")
        twins.sql(f"UPDATE of_{table} SET id = 3 WHERE id = 2")
    with twins.unchanged(), pytest.raises(rowsocket.DuplicateKey):
        twins.index("id,v").replace([id, 5])
    assert twins.sql_error("REPLACE INTO twin VALUES (%s, 5)", id) == 1062


def test_the_lock_of_the_ids_of_a_triggers_table_is_waited_for(start: Start) -> None:
    server = start(RowSocketServer, {"innodb-autoinc-lock-mode": 1})
    database = numbered(server)
    database.sql("CREATE TABLE source (id INT PRIMARY KEY)")
    database.sql(
        "CREATE TRIGGER s_i AFTER INSERT ON source FOR EACH ROW INSERT INTO t (name) VALUES ('mine')"
    )
    with server.raw("write") as wire:
        wire.ask(b"P\t1\td\tsource\t\tid")
        with long_insert_of_sql(server, database):
            parked_before = server.counter("parked")
            wire.send(b"1\t+\t1\t1\n")
            server.wait_until("the request is parked", lambda: server.counter("parked") > parked_before)
        assert wire.line() == b"0\t1"
    assert database.sql("SELECT COUNT(*) FROM t WHERE name = 'mine'") == [(1,)]


@pytest.mark.parametrize(
    ("definition", "values", "refused"),
    [
        ("n INT, FOREIGN KEY (n) REFERENCES parent (id)", (1, 9, 2), b"!151"),
        ("n SMALLINT, CHECK (n < 5)", (1, 9, 2), b"!4025"),
    ],
    ids=["no parent", "check"],
)
def test_a_row_that_is_refused_for_itself_fails_no_other(
    server: RowSocketServer, database: Database, definition: str, values: tuple[int, ...], refused: bytes
) -> None:
    database.sql("CREATE TABLE parent (id INT PRIMARY KEY)")
    database.sql("INSERT INTO parent VALUES (1), (2), (3)")
    database.sql(f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, {definition})")
    replays_before = server.counter("replays")
    with server.raw("write") as wire:
        wire.ask(b"P\t1\t" + database.name.encode() + b"\tt\t\tn")
        reply = wire.tokens(1, "++", 1, 3, *values, "E")
        assert [reply[2], reply[4], reply[6]] == [b"1", refused, b"1"]
        assert wire.tokens(1, "+", 1, 9)[:2] == [b"1", b"1"]
    assert database.sql("SELECT n FROM t ORDER BY id") == [(1,), (2,)]
    assert server.counter("replays") == replays_before


GIVEN = [pair for pair in itertools.product(["NULL", "0", "50"], repeat=2) if pair != ("50", "50")]
"""Ids of two rows: asked for as a new one, or named."""


@pytest.mark.parametrize("clause", [b"U\t0", b"U\t0\tE"], ids=["together", "alone"])
@pytest.mark.parametrize("given", GIVEN, ids="-".join)
def test_an_upsert_that_sets_the_id_gives_it_the_one_made_for_the_new_row(
    server: RowSocketServer, database: Database, given: tuple[str, str], clause: bytes
) -> None:
    """As VALUES(id) does in SQL, also where the values of two rows meet."""
    rows = [(given[0], "a"), (given[1], "b")]
    for table in ("ours", "sqls"):
        database.sql(f"CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) UNIQUE)")
        database.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    values = ", ".join(f"({id_}, '{name}')" for id_, name in rows)
    database.sql(f"INSERT INTO sqls VALUES {values} ON DUPLICATE KEY UPDATE id = VALUES(id)")
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "ours", "", "id,name") == [b"0", b"1"]
        fields = b"\t".join(f"{chr(0) if id_ == 'NULL' else id_}\t{name}".encode() for id_, name in rows)
        told = connection.ask(b"1\t++\t2\t2\t" + fields + b"\t" + clause).split(b"\t")[3::2]
    ours, sqls = (database.sql(f"SELECT id, name FROM {table} ORDER BY name") for table in ("ours", "sqls"))
    assert ours == sqls
    assert told == [str(id_).encode() for id_, name in ours if name in ("a", "b")]


def test_a_row_for_which_no_id_is_left_fails_alone(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT)")
    database.sql("INSERT INTO t VALUES (18446744073709551614, 0)")
    with server.raw("write") as wire:
        assert wire.ask(b"P\t1\t%s\tt\t\tid,v" % database.name.encode()) == b"0\t1"
        replays = server.counter("replays")
        replies = wire.ask_all(b"1\t+\t2\t3\t3", b"1\t++\t2\t3\t5\t5\t\0\t6\t7\t7\tE", b"1\t+\t2\t8\t8")
        assert [reply.split(b"\t")[0] for reply in replies] == [b"0"] * 3
        assert replies[1].split(b"\t")[2::2] == [b"1", b"!166", b"1"]
        assert server.counter("replays") == replays
    assert [row[0] for row in database.sql("SELECT v FROM t ORDER BY id")] == [3, 5, 7, 8, 0]


def test_behind_an_insert_null_is_no_id_for_a_row_that_is_there(
    server: RowSocketServer, database: Database
) -> None:
    """It asks for a number in an insert alone. The table stays open from one request to the other."""
    database.sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
    name = database.name.encode()
    with server.raw("write") as wire:
        opened = wire.ask_all(b"P\t1\t%s\tt\t\tv" % name, b"P\t2\t%s\tt\t\tid" % name)
        assert opened == [b"0\t1"] * 2
        assert wire.ask(b"1\t+\t1\t5") == b"0\t1\t1"
        assert wire.ask(b"2\t=\t1\t1\t1\t0\tU\t\0") == b"1\t1\t1048"
    assert database.sql("SELECT id, v FROM t") == [(1, 5)]


def test_where_0_is_an_id_a_trigger_asks_for_a_number_by_null(start: Start) -> None:
    """Also in the place of the id that the client gave. So does a client where there is no trigger."""
    server = start(RowSocketServer, {"sql-mode": "NO_AUTO_VALUE_ON_ZERO"})
    database = Database(server, "d")
    for table in ("ours", "sqls"):
        database.sql(f"CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT = 7")
        database.sql(
            f"CREATE TRIGGER {table}_asks BEFORE INSERT ON {table} FOR EACH ROW"
            " SET NEW.id = IF(NEW.v = 1, NULL, NEW.id)"
        )
    database.sql("INSERT INTO sqls VALUES (5, 1), (0, 2)")
    database.sql("CREATE TABLE plain (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 7")
    with server.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tours\t\tid,v") == b"0\t1"
        assert wire.ask_all(b"1\t+\t2\t5\t1", b"1\t+\t2\t0\t2") == [b"0\t1\t7", b"0\t1\t0"]
        assert wire.ask_all(b"P\t2\td\tplain\t\tid", b"2\t+\t1\t\0") == [b"0\t1", b"0\t1\t7"]
    rows = database.sql("SELECT * FROM ours ORDER BY id")
    assert rows == database.sql("SELECT * FROM sqls ORDER BY id") == [(0, 2), (7, 1)]
