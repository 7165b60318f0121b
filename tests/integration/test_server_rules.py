# SPDX-License-Identifier: GPL-2.0-only
"""What the SQL layer keeps around a write: triggers, the history of system-versioned tables. As in SQL, on a
twin table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rowsocket
from rowsocket import Connection, EngineError
from support.mariadb import Database
from support.twins import Twins, error_number

MakeTwins = Callable[..., Twins]

LOG = "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, source VARCHAR(9), what VARCHAR(80))"


def logging_trigger(table: str, event: str, what: str) -> str:
    """An AFTER trigger that writes a line to the table `log`."""
    insert = f"INSERT INTO log (source, what) VALUES ('{table}', {what})"
    return f"CREATE TRIGGER {table}_{event} AFTER {event} ON {table} FOR EACH ROW {insert}"


@pytest.fixture
def logged(make_twins: MakeTwins) -> Twins:
    """Twins whose AFTER triggers log every change."""
    twins = make_twins("id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(9) NOT NULL, n INT")
    twins.sql(LOG)
    for table in ("t", "twin"):
        twins.sql(logging_trigger(table, "INSERT", "CONCAT('insert ', NEW.id, NEW.v)"))
        twins.sql(logging_trigger(table, "UPDATE", "CONCAT('update ', OLD.v, NEW.v)"))
        twins.sql(logging_trigger(table, "DELETE", "CONCAT('delete ', OLD.id)"))
    return twins


def assert_equal_logs(twins: Twins) -> None:
    """Both tables' triggers logged the same, in the same order."""
    [logs_t, logs_twin] = [
        twins.sql("SELECT what FROM log WHERE source = %s ORDER BY n", name) for name in ("t", "twin")
    ]
    assert logs_t == logs_twin
    assert logs_t


def test_after_triggers_run_for_every_changed_row(logged: Twins) -> None:
    index = logged.index("v,n")
    for n in range(1, 4):
        index.insert([f"v{n}", n])
        logged.sql("INSERT INTO twin (v, n) VALUES (%s, %s)", f"v{n}", n)
    index.update([2], ["w"], op=">=", limit=10)
    logged.sql("UPDATE twin SET v = 'w' WHERE id >= 2 LIMIT 10")
    index.update([2], ["w"])  # a row that stays as it is
    logged.sql("UPDATE twin SET v = 'w' WHERE id = 2")
    index.delete([1])
    logged.sql("DELETE FROM twin WHERE id = 1")
    logged.assert_equal()
    assert_equal_logs(logged)


def test_a_before_trigger_may_set_what_the_client_left_null(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(9) NOT NULL, n INT NOT NULL, up INT AS (n * 2) STORED")
    for table in ("t", "twin"):
        twins.sql(
            f"CREATE TRIGGER {table}_b BEFORE INSERT ON {table} FOR EACH ROW"
            " SET NEW.v = COALESCE(NEW.v, 'set'), NEW.n = NEW.id + 1"
        )
    twins.index("id,v").insert([1, None])
    twins.index("id").insert([2])
    twins.sql("INSERT INTO twin (id, v) VALUES (1, NULL)")
    twins.sql("INSERT INTO twin (id) VALUES (2)")
    twins.assert_equal()


@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
@pytest.mark.parametrize("versioning", ["", "WITH SYSTEM VERSIONING"])
def test_a_before_trigger_sees_the_generated_columns_of_the_new_row(
    make_twins: MakeTwins, kind: str, versioning: str
) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, n INT, up INT AS (n * 2) {kind}, seen INT", versioning)
    for table in ("t", "twin"):
        for event in ("INSERT", "UPDATE"):
            twins.sql(
                f"CREATE TRIGGER {table}_{event} BEFORE {event} ON {table} FOR EACH ROW SET NEW.seen = NEW.up"
            )
    index = twins.index("id,n")
    index.insert([1, 10])
    index.insert([2, 20])
    twins.sql("INSERT INTO twin (id, n) VALUES (1, 10), (2, 20)")
    index.update([1], [1, 11])
    twins.sql("UPDATE twin SET n = 11 WHERE id = 1")
    index.upsert([2, 21], update="n")
    twins.sql("INSERT INTO twin (id, n) VALUES (2, 21) ON DUPLICATE KEY UPDATE n = VALUES(n)")
    index.replace([1, 12])
    twins.sql("REPLACE INTO twin (id, n) VALUES (1, 12)")
    twins.assert_equal()


@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_triggers_see_the_generated_columns_of_the_old_row_though_nobody_asked_for_them(
    make_twins: MakeTwins, engine: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, up INT AS (n * 2) VIRTUAL", f"ENGINE={engine}")
    twins.sql(LOG)
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} (id, n) VALUES (1, 10), (2, 20), (3, 30)")
        for event in ("UPDATE", "DELETE"):
            twins.sql(logging_trigger(table, event, f"CONCAT('{event} of ', OLD.up)"))
    index = twins.index("n")
    index.update([1], [5], op=">=", limit=2)
    twins.sql("UPDATE twin SET n = 5 WHERE id <= 2 ORDER BY id")
    index.delete([1], op=">=", limit=None)
    twins.sql("DELETE FROM twin ORDER BY id")
    assert_equal_logs(twins)


@pytest.mark.parametrize("there", ["1, 'old', 1", "1, NULL, NULL"])
@pytest.mark.parametrize("update", ["v", "n"])
def test_an_upsert_takes_the_values_that_a_before_trigger_gave_the_new_row(
    make_twins: MakeTwins, update: str, there: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(20), n INT")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} VALUES ({there})")
        twins.sql(
            f"CREATE TRIGGER {table}_begins BEFORE INSERT ON {table} FOR EACH ROW"
            " SET NEW.v = CONCAT(NEW.v, ' by the trigger'), NEW.n = NEW.n * 2"
        )
    twins.index("id,v,n").upsert([1, "new", 10], update=update)
    twins.sql(f"INSERT INTO twin VALUES (1, 'new', 10) ON DUPLICATE KEY UPDATE {update} = VALUES({update})")
    twins.assert_equal()


def test_null_that_no_trigger_mends_is_an_error(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(9) NOT NULL")
    for table in ("t", "twin"):
        twins.sql(f"CREATE TRIGGER {table}_b BEFORE INSERT ON {table} FOR EACH ROW SET @seen = 1")
    with twins.unchanged(), pytest.raises(EngineError) as raised:
        twins.index("id,v").insert([1, None])
    assert error_number(raised.value) == twins.sql_error("INSERT INTO twin VALUES (1, NULL)") == 1048
    with twins.unchanged(), pytest.raises(EngineError) as raised:
        twins.index("id").insert([1])
    assert error_number(raised.value) == twins.sql_error("INSERT INTO twin (id) VALUES (1)") == 1364


def test_an_after_trigger_refuses_also_what_changes_nothing(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} VALUES (1, 5)")
        signal = "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31000"
        twins.sql(f"CREATE TRIGGER {table}_refuses AFTER UPDATE ON {table} FOR EACH ROW {signal}")
    with pytest.raises(EngineError) as raised:
        twins.index("n").update(1, [5])
    assert error_number(raised.value) == twins.sql_error("UPDATE twin SET n = 5") == 31000


def test_an_increment_passes_through_a_before_trigger(make_twins: MakeTwins) -> None:
    """A column that may not be NULL has a twin for the trigger, which an increment did not fill."""
    twins = make_twins("id INT PRIMARY KEY, n INT NOT NULL")
    twins.sql("INSERT INTO t VALUES (1, 10)")
    twins.sql("CREATE TRIGGER doubles BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = NEW.n * 2")
    assert twins.index("n").increment(1, [5]) == 1
    assert twins.rows() == [(b"1", b"30")]


def test_a_signal_in_a_trigger_undoes_the_request_and_no_other(logged: Twins) -> None:
    logged.sql(
        "CREATE TRIGGER stop BEFORE UPDATE ON t FOR EACH ROW IF NEW.n = 13 THEN SIGNAL SQLSTATE '45000';"
        " END IF"
    )
    index = logged.index("v,n")
    index.insert(["a", 1])
    index.insert(["b", 2])
    with logged.unchanged(), pytest.raises(EngineError) as raised:
        index.update([1], ["x", 13], op=">=", limit=10)
    assert error_number(raised.value) == 1644
    assert logged.sql("SELECT what FROM log ORDER BY n") == [(b"insert 1a",), (b"insert 2b",)]


def test_a_trigger_that_comes_and_goes_is_noticed(logged: Twins) -> None:
    index = logged.index("v,n")
    index.insert(["a", 1])
    logged.sql("DROP TRIGGER t_INSERT")
    index.insert(["b", 2])
    logged.sql(logging_trigger("t", "INSERT", "CONCAT('again ', NEW.id)"))
    index.insert(["c", 3])
    assert logged.sql("SELECT what FROM log ORDER BY n") == [(b"insert 1a",), (b"again 3",)]


def test_a_table_with_triggers_is_free_for_ddl_between_requests(logged: Twins) -> None:
    index = logged.index("v,n")
    for n in range(20):
        index.insert(["x", n])
        logged.sql(f"ALTER TABLE t ADD COLUMN c{n} INT")
        logged.sql(f"ALTER TABLE log ADD COLUMN c{n} INT")
    assert logged.sql("SELECT COUNT(*) FROM t") == [(b"20",)]


def test_updates_and_deletes_keep_history(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, w INT WITHOUT SYSTEM VERSIONING", "WITH SYSTEM VERSIONING")
    values, unversioned = twins.index("id,v"), twins.index("w")
    values.insert([1, 10])
    twins.sql("INSERT INTO twin (id, v) VALUES (1, 10)")
    twins.index("v").update([1], [11])
    twins.sql("UPDATE twin SET v = 11 WHERE id = 1")
    unversioned.update([1], [5])
    twins.sql("UPDATE twin SET w = 5 WHERE id = 1")
    twins.index("v").increment([1], [4])
    twins.sql("UPDATE twin SET v = v + 4 WHERE id = 1")
    values.delete([1])
    twins.sql("DELETE FROM twin WHERE id = 1")
    query = "SELECT id, v, w, row_end > row_start FROM {} FOR SYSTEM_TIME ALL ORDER BY row_start"
    [history, expected] = [twins.sql(query.format(name)) for name in ("t", "twin")]
    assert history == expected
    assert [row[1] for row in history] == [b"10", b"11", b"15"]


def test_history_is_not_found(make_twins: MakeTwins, reader: Connection) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, KEY v (v)", "WITH SYSTEM VERSIONING")
    twins.sql("INSERT INTO t VALUES (1, 10), (2, 10), (3, 10)")
    twins.sql("UPDATE t SET v = 11 WHERE id = 1")
    twins.sql("DELETE FROM t WHERE id = 2")
    by_v = reader.open_index(twins.database, "t", "id,v", "v")
    assert by_v.find([10], limit=10) == [("3", "10")]
    assert by_v.find([0], ">", limit=10) == [("3", "10"), ("1", "11")]
    by_id = reader.open_index(twins.database, "t", "id,v")
    assert by_id.find([1], limit=10) == [("1", "11")]
    assert by_id.find([2], limit=10) == []


def test_versions_by_transaction_are_read_and_not_written(database: Database, writer: Connection) -> None:
    database.sql(
        "CREATE TABLE x (id INT PRIMARY KEY, a BIGINT UNSIGNED GENERATED ALWAYS AS ROW START,"
        " b BIGINT UNSIGNED GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b)) WITH SYSTEM"
        " VERSIONING"
    )
    database.sql("INSERT INTO x (id) VALUES (1)")
    index = writer.open_index(database.name, "x", "id")
    assert index.find([1]) == [("1",)]
    with pytest.raises(rowsocket.OpenTableError):
        index.insert([2])
