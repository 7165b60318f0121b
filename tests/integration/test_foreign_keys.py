# SPDX-License-Identifier: GPL-2.0-only
"""A write reaches further tables through foreign keys: what it does there is what SQL does, and nobody alters
them meanwhile."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import pymysql
import pytest

import rowsocket
from rowsocket import Connection
from support.load import Load, Operation
from support.mariadb import Database, RowSocketServer, Start
from support.twins import Twins

MakeTwins = Callable[..., Twins]

LOCK_WAIT_TIMEOUT = 1205
VIRTUAL = "v VARCHAR(30) AS (CONCAT('child of ', COALESCE(parent, 'nobody'))) VIRTUAL, KEY v (v)"


@pytest.fixture
def family(make_twins: MakeTwins) -> Twins:
    """Parents 1 to 9 in `t` and in `twin`; each has the children that `add_children` gives it."""
    twins = make_twins("id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} (id) SELECT seq FROM seq_1_to_9")
    return twins


def add_children(
    twins: Twins, name: str, action: str, more: str = "", options: str = "", parent: str = ""
) -> None:
    """Tables t_NAME and twin_NAME: a child 10, 20, ... of each row of `t` and `twin`, or of t_PARENT and
    twin_PARENT."""
    for table in ("t", "twin"):
        of = f"{table}_{parent}" if parent else table
        key = f"FOREIGN KEY (parent) REFERENCES {of} (id) {action}"
        twins.sql(f"CREATE TABLE {table}_{name} (id INT PRIMARY KEY, parent INT, {more}{key}) {options}")
        twins.sql(f"INSERT INTO {table}_{name} (id, parent) SELECT id * 10, id FROM {of}")


def assert_equal_children(
    twins: Twins, name: str, columns: str = "*", of: str = ""
) -> list[tuple[bytes | None, ...]]:
    """What SQL shows of both tables is the same, by the primary key and by every index; the rows."""
    [rows, expected] = [
        twins.sql(f"SELECT {columns} FROM {table}_{name} {of} ORDER BY 1, 2") for table in ("t", "twin")
    ]
    assert rows == expected
    twins.sql("SET GLOBAL innodb_max_purge_lag_wait = 0")
    assert check(twins, f"t_{name}") == check(twins, f"twin_{name}")
    return rows


def check(twins: Twins, table: str) -> list[bytes]:
    """What CHECK TABLE says, when purge is done.

    Of a row that a cascade deletes, InnoDB (10.11.18) leaves the entry in an index over a virtual column
    behind, marked as deleted, with SQL as well. CHECK tells of it once purge has removed the row.
    """
    said = [row[-1] or b"" for row in twins.sql(f"CHECK TABLE {table} EXTENDED")]
    assert said[-1] == b"OK"
    return sorted(text.replace(table.encode(), b"") for text in said)


# ── what becomes of the children ────────────────────────────────────────────────────────────────────────────


def test_a_delete_and_an_update_do_to_the_children_what_sql_does(family: Twins) -> None:
    add_children(family, "cascade", "ON DELETE CASCADE ON UPDATE CASCADE", "KEY (parent, id), ")
    add_children(family, "null", "ON DELETE SET NULL ON UPDATE SET NULL")
    ids = family.index("id")
    assert ids.delete(3) == 1
    assert ids.update(4, [40]) == 1
    assert ids.increment(5, [100]) == 1
    for statement in (
        "DELETE FROM twin WHERE id = 3",
        "UPDATE twin SET id = 40 WHERE id = 4",
        "UPDATE twin SET id = 105 WHERE id = 5",
    ):
        family.sql(statement)
    family.assert_equal()
    assert (b"40", b"40") in assert_equal_children(family, "cascade")
    assert (b"40", None) in assert_equal_children(family, "null")


@pytest.mark.parametrize("trigger", ["", "t", "log"], ids=["no_trigger", "trigger", "trigger_beside"])
def test_virtual_columns_of_children_and_their_indexes_change_with_the_parent(
    family: Twins, trigger: str
) -> None:
    add_children(family, "cascade", "ON DELETE CASCADE ON UPDATE CASCADE", f"{VIRTUAL}, ")
    add_children(family, "null", "ON DELETE SET NULL ON UPDATE SET NULL", f"{VIRTUAL}, ")
    family.sql("CREATE TABLE log (id INT PRIMARY KEY)")
    if trigger:
        family.sql(f"CREATE TRIGGER noted BEFORE INSERT ON {trigger} FOR EACH ROW SET @noted = 1")
    index, log = family.index("id"), family.writer.open_index(family.database, "log", "id")
    family.sql("FLUSH TABLES")  # nobody has the children open
    with (
        family.writer.pipeline() as pipe
    ):  # one turn, in which tables with triggers are opened and closed for each request
        done = [pipe.delete(index, 1)]
        pipe.insert(log, [1])
        done += [pipe.update(index, 2, [20]), pipe.delete(index, 3)]
        pipe.insert(log, [2])
        done += [pipe.delete(index, 4)]
    assert [one.result() for one in done] == [1, 1, 1, 1]
    for statement in ("DELETE FROM twin WHERE id IN (1, 3, 4)", "UPDATE twin SET id = 20 WHERE id = 2"):
        family.sql(statement)
    assert (b"20", b"20", b"child of 20") in assert_equal_children(
        family, "cascade", "id, parent, v", "FORCE INDEX (v)"
    )
    assert (b"10", None, b"child of nobody") in assert_equal_children(
        family, "null", "id, parent, v", "FORCE INDEX (v)"
    )


def test_children_of_children_change_too(family: Twins) -> None:
    add_children(family, "c", "ON DELETE CASCADE ON UPDATE CASCADE")
    add_children(family, "g", "ON DELETE SET NULL", f"{VIRTUAL}, ", parent="c")
    family.sql("FLUSH TABLES")
    assert family.index("id").delete(3) == 1
    family.sql("DELETE FROM twin WHERE id = 3")
    assert_equal_children(family, "c")
    assert (b"300", None, b"child of nobody") in assert_equal_children(family, "g")


def test_a_table_may_be_its_own_child(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, parent INT")
    for table in ("t", "twin"):
        twins.sql(f"ALTER TABLE {table} ADD FOREIGN KEY (parent) REFERENCES {table} (id) ON DELETE CASCADE")
        twins.sql(f"INSERT INTO {table} VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, NULL), (6, 5)")
    assert twins.index("id").delete(1) == 1
    twins.sql("DELETE FROM twin WHERE id = 1")
    twins.assert_equal()
    assert len(twins.rows()) == 2


def test_children_keep_their_history_as_in_sql(family: Twins) -> None:
    add_children(family, "cascade", "ON DELETE CASCADE ON UPDATE CASCADE", options="WITH SYSTEM VERSIONING")
    add_children(family, "null", "ON DELETE SET NULL ON UPDATE SET NULL", options="WITH SYSTEM VERSIONING")
    family.index("").delete(3)
    family.index("id").update(4, [40])
    for statement in ("DELETE FROM twin WHERE id = 3", "UPDATE twin SET id = 40 WHERE id = 4"):
        family.sql(statement)
    lives = "id, parent, row_end > NOW(6)"
    for name in ("cascade", "null"):
        assert_equal_children(family, name, lives, "FOR SYSTEM_TIME ALL")


def test_a_cascade_that_fails_undoes_the_whole_request(family: Twins) -> None:
    add_children(family, "c", "ON DELETE CASCADE")
    add_children(family, "g", "ON DELETE RESTRICT", parent="c")
    family.sql("DELETE FROM t_g WHERE parent < 50")
    with family.unchanged(), pytest.raises(rowsocket.ForeignKeyViolation):
        family.index("").delete(3, ">=", limit=None)
    assert family.sql("SELECT COUNT(*) FROM t_c") == [(b"9",)]


def test_a_request_that_fails_undoes_no_other_request_of_its_turn(
    family: Twins, server: RowSocketServer
) -> None:
    """The parent's children are open, and locked, in its statement."""
    add_children(family, "c", "ON DELETE CASCADE ON UPDATE CASCADE")
    family.sql("CREATE TABLE other (id INT PRIMARY KEY)")
    replays_before = server.counter("replays")
    with server.raw("write") as wire:
        for number, (table, columns) in enumerate((("t", "id"), ("other", "id"))):
            assert wire.tokens("P", number, family.database, table, "", columns) == [b"0", b"1"]
        requests = (b"1\t+\t1\t1", b"0\t>=\t1\t3\t9\t0\tU\t100", b"1\t+\t1\t2")
        assert wire.ask_all(*requests) == [b"0\t1", b"1\t1\t121", b"0\t1"]
    assert family.sql("SELECT id FROM other") == [(b"1",), (b"2",)]
    assert server.counter("replays") == replays_before


# ── metadata locks ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def clan(database: Database) -> Database:
    """Parents 1 to 9 with a child each in `cascade` and `other`, grandchildren in `grand`, and an empty,
    refusing `checked`."""
    database.sql("CREATE TABLE p (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0) ENGINE=InnoDB")
    for name, of, action in (
        ("cascade", "p", "ON DELETE CASCADE"),
        ("other", "p", "ON DELETE SET NULL"),
        ("grand", "`cascade`", "ON DELETE CASCADE"),
        ("checked", "p", ""),
    ):
        key = f"FOREIGN KEY (parent) REFERENCES {of} (id) {action}"
        database.sql(f"CREATE TABLE `{name}` (id INT PRIMARY KEY, parent INT, {key}) ENGINE=InnoDB")
    database.sql("INSERT INTO p (id) SELECT seq FROM seq_1_to_9")
    for name in ("cascade", "other", "grand"):
        database.sql(f"INSERT INTO `{name}` SELECT seq, seq FROM seq_1_to_9")
    return database


@contextlib.contextmanager
def delete_under_way(server: RowSocketServer, clan: Database, writer: Connection) -> Iterator[Future[int]]:
    """A delete of parent 1 that waits in the engine, since SQL has locked its child in `other`, until the
    block ends."""
    parents = writer.open_index(clan.name, "p", "id")
    with clan.session() as sql, ThreadPoolExecutor(1) as thread:
        sql.execute("BEGIN")
        sql.execute("UPDATE other SET parent = NULL WHERE id = 1")
        deleted = thread.submit(parents.delete, 1)
        try:
            yield deleted
        finally:
            sql.execute("ROLLBACK")


def row_wait(server: RowSocketServer) -> int | None:
    """The number of the wait for a row that is under way now, of all that there ever were; None: nobody
    waits."""
    status = server.status("Innodb_row_lock%waits")
    return int(status["Innodb_row_lock_waits"]) if status["Innodb_row_lock_current_waits"] == "1" else None


@pytest.mark.parametrize("child", ["cascade", "grand", "checked"])
def test_nobody_alters_a_child_while_a_write_to_its_parent_is_under_way(
    server: RowSocketServer, clan: Database, writer: Connection, child: str
) -> None:
    tried: set[bool] = set()
    column_numbers = itertools.count()  # an alter between two waits succeeds

    def tried_during_the_wait() -> bool:
        before = row_wait(server)
        altered = True
        try:
            clan.sql(f"ALTER TABLE `{child}` NOWAIT ADD COLUMN c{next(column_numbers)} INT")
        except pymysql.err.OperationalError as error:
            assert error.args[0] == LOCK_WAIT_TIMEOUT
            altered = False
        if before is not None and before == row_wait(server):
            tried.add(altered)
        return bool(tried)

    with delete_under_way(server, clan, writer) as deleted:
        server.wait_until("somebody tried to alter the child during one wait", tried_during_the_wait)
    assert tried == {False}
    assert deleted.result() == 1
    clan.sql(f"ALTER TABLE `{child}` ADD COLUMN after_it INT")
    assert clan.sql("SELECT COUNT(*) FROM `cascade` JOIN grand USING (id)") == [(8,)]


@pytest.mark.parametrize("child", ["cascade", "grand", "checked"])
def test_a_write_waits_for_who_has_locked_a_child(
    server: RowSocketServer, clan: Database, writer: Connection, child: str
) -> None:
    parents = writer.open_index(clan.name, "p", "id")
    parked_before = server.counter("parked")
    with clan.session() as sql, ThreadPoolExecutor(1) as thread:
        sql.execute(f"LOCK TABLES `{child}` WRITE")
        deleted = thread.submit(parents.delete, 1)
        server.wait_until("the request is parked", lambda: server.counter("parked") > parked_before)
        assert not deleted.done()
        sql.execute("UNLOCK TABLES")
        assert deleted.result() == 1


def test_a_child_that_stays_locked_is_a_clear_error_and_nothing_is_done(start: Start) -> None:
    server = start(RowSocketServer, {"lock-wait-timeout": 1})
    database = Database(server, "d")
    database.sql("CREATE TABLE p (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES p (id) ON DELETE CASCADE)")
    database.sql("INSERT INTO p VALUES (1)")
    database.sql("INSERT INTO c VALUES (1)")
    with database.session() as sql, rowsocket.connect(*server.write_address(), text=True) as writer:
        parents = writer.open_index("d", "p", "id")
        sql.execute("LOCK TABLES c WRITE")
        with pytest.raises(rowsocket.ServerError, match="lock_tables"):
            parents.delete(1)
        assert parents.get(1) == ("1",)
        sql.execute("UNLOCK TABLES")
        assert parents.delete(1) == 1
    assert database.sql("SELECT COUNT(*) FROM c") == [(0,)]


def busy_writers(server: RowSocketServer, clan: Database) -> Load:
    """Clients that change parents 6 to 9 all the time."""

    def make(number: int, stack: ExitStack) -> Operation:
        connection = stack.enter_context(rowsocket.connect(*server.write_address(), text=True))
        parents = connection.open_index(clan.name, "p", "n")
        return lambda: _assert_one(parents.increment(6 + number, [1]))

    return Load(4, make)


def _assert_one(changed: int) -> None:
    assert changed == 1


def test_ddl_on_children_passes_behind_busy_writers_of_the_parent(
    server: RowSocketServer, clan: Database
) -> None:
    with busy_writers(server, clan) as load:
        clan.sql("SET SESSION lock_wait_timeout = 60")
        for number in range(10):
            for child in ("cascade", "grand", "checked"):
                clan.sql(f"ALTER TABLE `{child}` ADD COLUMN c{number} INT")
        load.wait_for_more()
        clan.sql("DROP TABLE grand")
        load.wait_for_more()


@pytest.fixture
def childless(start: Start) -> tuple[RowSocketServer, Database]:
    """A server with one write worker, and parents 1 to 9 without a child."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    database = Database(server, "d")
    database.sql("CREATE TABLE p (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0)")
    database.sql("INSERT INTO p (id) SELECT seq FROM seq_1_to_9")
    return server, database


def test_a_child_that_comes_while_its_parent_is_in_use_is_noticed(
    childless: tuple[RowSocketServer, Database],
) -> None:
    server, database = childless
    with (
        busy_writers(server, database) as load,
        rowsocket.connect(*server.write_address(), text=True) as writer,
    ):
        parents = writer.open_index("d", "p", "id")
        key = "FOREIGN KEY (parent) REFERENCES p (id) ON DELETE SET NULL ON UPDATE CASCADE"
        for number in range(1, 6):
            database.sql(f"CREATE TABLE c{number} (id INT PRIMARY KEY, parent INT, {VIRTUAL}, {key})")
            database.sql(f"INSERT INTO c{number} (id, parent) VALUES (1, {number})")
            load.wait_for_more()
            assert parents.delete(number) == 1
            assert database.sql(f"SELECT v FROM c{number} FORCE INDEX (v)") == [("child of nobody",)]


def is_parked(server: RowSocketServer, parked_before: int) -> bool:
    return server.counter("parked") > parked_before


def test_who_has_locked_a_child_that_came_late_is_waited_for(
    childless: tuple[RowSocketServer, Database],
) -> None:
    server, database = childless
    with (
        busy_writers(server, database) as load,
        rowsocket.connect(*server.write_address(), text=True) as writer,
        database.session() as sql,
        ThreadPoolExecutor(1) as thread,
    ):
        parents = writer.open_index("d", "p", "id")
        key = "FOREIGN KEY (id) REFERENCES p (id) ON DELETE CASCADE"
        for number in range(1, 6):
            database.sql(f"CREATE TABLE c{number} (id INT PRIMARY KEY, {key})")
            load.wait_for_more()
            parked_before = server.counter("parked")
            sql.execute(f"LOCK TABLES c{number} WRITE")
            deleted = thread.submit(parents.delete, number)
            server.wait_until("is parked", partial(is_parked, server, parked_before))
            assert not deleted.done()
            sql.execute("UNLOCK TABLES")
            assert deleted.result() == 1


# ── relatives that are not there ────────────────────────────────────────────────────────────────────────────


def test_a_child_that_was_dropped_unchecked_leaves_its_parent_writable(family: Twins) -> None:
    add_children(family, "c", "ON DELETE CASCADE ON UPDATE CASCADE")
    ids = family.index("id")
    assert ids.delete(1) == 1
    family.sql("SET SESSION foreign_key_checks = 0")
    family.sql("DROP TABLE t_c")
    assert ids.delete(2) == 1
    assert ids.update(3, [33]) == 1
    family.sql("DELETE FROM twin WHERE id IN (1, 2)")
    family.sql("UPDATE twin SET id = 33 WHERE id = 3")
    family.assert_equal()


def test_a_child_whose_parent_was_dropped_unchecked_takes_no_new_reference(family: Twins) -> None:
    add_children(family, "c", "ON DELETE CASCADE")
    children = family.writer.open_index(family.database, "t_c", "id,parent")
    children.insert([1, 1])
    family.sql("SET SESSION foreign_key_checks = 0")
    family.sql("DROP TABLE t")
    with pytest.raises(rowsocket.ForeignKeyViolation):
        children.insert([2, 2])
    children.insert([3, None])
    family.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    family.sql("INSERT INTO t VALUES (2)")
    children.insert([2, 2])
    assert family.writer.open_index(family.database, "t", "id").delete(2) == 1
    assert family.sql("SELECT id FROM t_c WHERE parent = 2") == []


def test_a_grandchild_is_reached_through_a_table_that_a_trigger_writes_to(family: Twins) -> None:
    """As SQL's own list of what a statement reaches has it: the children of tables that triggers change."""
    add_children(family, "c", "ON DELETE CASCADE")
    for table in ("t", "twin"):
        family.sql(f"CREATE TABLE {table}_log (id INT PRIMARY KEY)")
        family.sql(f"INSERT INTO {table}_log SELECT seq FROM seq_1_to_9")
        key = f"FOREIGN KEY (parent) REFERENCES {table}_log (id) ON DELETE CASCADE"
        family.sql(f"CREATE TABLE {table}_of_log (id INT PRIMARY KEY, parent INT, {VIRTUAL}, {key})")
        family.sql(f"INSERT INTO {table}_of_log (id, parent) SELECT id, id FROM {table}_log")
        deletes = f"DELETE FROM {table}_log WHERE id = OLD.id"
        family.sql(f"CREATE TRIGGER {table}_d AFTER DELETE ON {table} FOR EACH ROW {deletes}")
    family.sql("FLUSH TABLES")
    assert family.index("id").delete(3, ">=", limit=4) == 4
    family.sql("DELETE FROM twin WHERE id BETWEEN 3 AND 6")
    for name in ("c", "log", "of_log"):
        assert_equal_children(family, name, "id, id")
