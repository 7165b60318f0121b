# SPDX-License-Identifier: GPL-2.0-only
"""What inserts, updates, deletes, increments and decrements leave: what SQL leaves in a twin table, nothing
on an error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pymysql
import pytest

import rowsocket
from rowsocket import Connection, EngineError, Filter, Pending, Value
from support.mariadb import RowSocketServer, Start
from support.twins import Twins, error_number

MakeTwins = Callable[..., Twins]


@pytest.fixture
def users(make_twins: MakeTwins) -> Twins:
    """Ten users in both tables."""
    twins = make_twins(
        "id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), n INT NOT NULL DEFAULT 7, note TEXT, KEY n"
        " (n, id)"
    )
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} SELECT seq, CONCAT('u', seq), seq DIV 2, NULL FROM seq_1_to_10")
    return twins


# ── insert ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_insert_sets_the_first_columns_and_the_others_take_their_defaults(make_twins: MakeTwins) -> None:
    plain = "id INT PRIMARY KEY, a INT DEFAULT 5, b VARCHAR(9) DEFAULT 'x', c INT, d INT DEFAULT (a + 1)"
    expressions = (
        "e VARCHAR(36) DEFAULT (CONCAT(b, 'y')), f DECIMAL(5,2) NOT NULL DEFAULT 1.5, i BLOB DEFAULT 'z'"
    )
    twins = make_twins(
        f"{plain}, {expressions}, g ENUM('p','q') NOT NULL, h DATE NOT NULL DEFAULT '2024-01-01'"
    )
    index = twins.index("id,a,b,c,d")
    rows: list[list[Value]] = [[1], [2, 8], [3, None, None], [4, 1, "b", 2, 3]]
    for values in rows:
        index.insert(values)
        columns = ", ".join(["id", "a", "b", "c", "d"][: len(values)])
        twins.sql(f"INSERT INTO twin ({columns}) VALUES ({', '.join(['%s'] * len(values))})", *values)
    twins.assert_equal()


def test_current_timestamp_is_a_default(make_twins: MakeTwins) -> None:
    twins = make_twins(
        "id INT PRIMARY KEY, t TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),"
        " d DATETIME DEFAULT CURRENT_TIMESTAMP, u DATETIME ON UPDATE NOW()"
    )
    twins.sql("INSERT INTO twin (id) VALUES (0)")
    twins.index("id").insert([1])
    [(recent, same_second, untouched)] = twins.sql(
        "SELECT t.t BETWEEN twin.t AND NOW(6), t.d BETWEEN twin.d AND NOW(), t.u IS NULL FROM t, twin"
    )
    assert (recent, same_second, untouched) == (b"1", b"1", b"1")


def test_a_column_without_a_default_must_be_given(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, a INT NOT NULL, b INT")
    with twins.unchanged(), pytest.raises(EngineError) as raised:
        twins.index("id,b,a").insert([1, 2])
    assert error_number(raised.value) == twins.sql_error("INSERT INTO twin (id, b) VALUES (1, 2)") == 1364


def test_more_values_than_columns_are_refused(users: Twins, writer: Connection) -> None:
    one = users.index("id")
    two = writer.open_index(users.database, "t", "id,name")
    with users.unchanged(), pytest.raises(ValueError, match="2 values"):
        one.insert([1, 2])
    assert two.insert([50, "x"]) is None


def test_a_generated_id_is_returned_and_a_given_one_is_not(users: Twins) -> None:
    index = users.index("id,name")
    assert [index.insert([given, "x"]) for given in (None, None, 0, "")[:3]] == [11, 12, 13]
    assert index.insert([100, "given"]) is None
    assert index.insert([None, "after"]) == 101
    assert users.index("name").insert(["without id"]) == 102
    assert users.sql("SELECT id FROM t WHERE id > 10 ORDER BY id") == [
        (b"11",),
        (b"12",),
        (b"13",),
        (b"100",),
        (b"101",),
        (b"102",),
    ]


def test_generated_ids_reach_the_end_of_bigint_unsigned(make_twins: MakeTwins) -> None:
    twins = make_twins(
        "id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY", "AUTO_INCREMENT = 18446744073709551613"
    )
    assert twins.index("id").insert([None]) == 2**64 - 3


def test_generated_ids_of_sql_and_rowsocket_do_not_collide(users: Twins) -> None:
    index = users.index("id,name")
    for number in range(50):
        index.insert([None, f"rowsocket {number}"])
        users.sql("INSERT INTO t (name) VALUES (%s)", f"sql {number}")
    assert users.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM t") == [(b"110", b"110")]


@pytest.mark.parametrize("values", [[3, "new"], [None, "u3"], [99, "u3"]])
def test_a_duplicate_key_is_121_and_leaves_things_alone(make_twins: MakeTwins, values: list[Value]) -> None:
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE, n INT")
    twins.sql("INSERT INTO t VALUES (3, 'u3', 1)")
    with twins.unchanged(), pytest.raises(rowsocket.DuplicateKey) as raised:
        twins.index("id,name").insert(values)
    assert (raised.value.code, raised.value.text) == (1, "121")


# ── update ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_update_sets_the_first_columns_and_leaves_the_rest(users: Twins) -> None:
    assert users.index("name,n,note").update(3, ["changed"]) == 1
    assert users.index("name,n,note").update(4, [None, 70]) == 1
    users.sql("UPDATE twin SET name = 'changed' WHERE id = 3")
    users.sql("UPDATE twin SET name = NULL, n = 70 WHERE id = 4")
    users.assert_equal()


def test_an_update_changes_every_row_found_up_to_the_limit(users: Twins) -> None:
    index = users.index("note", "n")
    assert index.update(2, ["two"], limit=None) == 2
    assert index.update(3, ["more"], ">", limit=2, offset=1) == 2
    assert index.update((), ["in"], in_values=[0, 1], limit=None) == 3
    assert index.update(99, ["none"]) == 0
    users.sql("UPDATE twin SET note = 'two' WHERE n = 2")
    users.sql("UPDATE twin SET note = 'more' WHERE id IN (9, 10)")
    users.sql("UPDATE twin SET note = 'in' WHERE n IN (0, 1)")
    users.assert_equal()


def test_a_row_that_already_has_the_values_counts_as_found(users: Twins) -> None:
    with users.unchanged():
        assert users.index("name").update(3, ["u3"]) == 1


def test_a_row_that_has_null_already_counts_as_found(make_twins: MakeTwins) -> None:
    """Whatever bytes are under the NULL: those of the default, or none."""
    twins = make_twins("id INT PRIMARY KEY, n INT DEFAULT 1, m INT")
    twins.sql("INSERT INTO t VALUES (1, NULL, NULL)")
    with twins.unchanged():
        assert twins.index("n").update(1, [None]) == 1
        assert twins.index("m").update(1, [None]) == 1


@pytest.mark.parametrize("op", [">=", "<="])
def test_an_update_of_the_scanned_key_meets_no_row_twice(users: Twins, op: rowsocket.Operator) -> None:
    by_n = users.index("n", "n")
    found = users_in(users, f"n {op} 3")
    assert by_n.increment(3, [1], op, limit=None) == found
    users.sql(f"UPDATE twin SET n = n + 1 WHERE n {op} 3 ORDER BY n")
    users.assert_equal()
    assert by_n.update(0, [1000], ">=", limit=None) == 10
    users.sql("UPDATE twin SET n = 1000")
    users.assert_equal()


def users_in(users: Twins, condition: str) -> int:
    return int(users.sql(f"SELECT COUNT(*) FROM t WHERE {condition}")[0][0] or 0)


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MEMORY"])
def test_an_update_of_the_primary_key_being_scanned_meets_no_row_twice(
    make_twins: MakeTwins, engine: str
) -> None:
    twins = make_twins("id INT, v INT, PRIMARY KEY (id) USING BTREE", f"ENGINE={engine}")
    twins.sql("INSERT INTO t SELECT seq * 10, 0 FROM seq_1_to_200")
    assert twins.index("id").increment(0, [5], ">=", limit=None) == 200
    assert twins.rows("id") == [(b"%d" % (seq * 10 + 5),) for seq in range(1, 201)]


def test_an_update_that_makes_a_duplicate_changes_none_of_its_rows(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, u INT UNIQUE, KEY n (n)")
    twins.sql("INSERT INTO t VALUES (1, 1, 10), (2, 1, 20), (3, 1, 30)")
    with twins.unchanged(), pytest.raises(rowsocket.DuplicateKey):
        twins.index("u", "n").update(1, [99], limit=None)


def test_a_bad_value_changes_none_of_the_rows_found(users: Twins) -> None:
    with users.unchanged(), pytest.raises(EngineError) as raised:
        users.index("note,name", "n").update(0, ["note", "x" * 21], ">=", limit=None)
    assert error_number(raised.value) == users.sql_error("UPDATE twin SET name = REPEAT('x', 21)")


def test_fetch_and_update_returns_the_rows_as_they_were(users: Twins) -> None:
    index = users.index("name,n,id", "n")
    assert index.fetch_and_update(2, ["new", 3], limit=None) == [(b"u4", b"2", b"4"), (b"u5", b"2", b"5")]
    assert users.sql("SELECT name, n FROM t WHERE id IN (4, 5)") == [(b"new", b"3")] * 2
    assert index.fetch_and_update(99, ["new"]) == []


def test_on_update_current_timestamp_applies_when_something_changes(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, u TIMESTAMP(6) NULL ON UPDATE CURRENT_TIMESTAMP(6)")
    twins.sql("INSERT INTO t VALUES (1, 5, '2000-01-01'), (2, 5, '2000-01-01')")
    twins.index("v").update(1, [5])
    twins.index("v").update(2, [6])
    assert twins.sql("SELECT u = '2000-01-01' FROM t ORDER BY id") == [(b"1",), (b"0",)]
    twins.sql("CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW SET @seen = NEW.u")
    assert twins.index("v,u").update_and_fetch(1, [5]) == [(b"5", b"2000-01-01 00:00:00.000000")]


# ── delete ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_delete_takes_the_rows_found_up_to_the_limit(users: Twins) -> None:
    assert users.index("").delete(3) == 1
    assert users.index("", "n").delete(2, limit=None) == 2
    assert users.index("").delete(8, ">", limit=1, offset=1) == 1
    assert users.index("").delete((), in_values=[1, 77, 9], limit=None) == 2
    assert users.index("").delete(77) == 0
    users.sql("DELETE FROM twin WHERE id IN (3, 4, 5, 10, 1, 9)")
    users.assert_equal()


def test_a_delete_of_everything_leaves_nothing(users: Twins) -> None:
    assert users.index("").delete(0, ">=", limit=None) == 10
    assert users.rows() == []


def test_fetch_and_delete_returns_the_rows_that_are_gone(users: Twins) -> None:
    index = users.index("id,name", filter_columns="n")
    assert index.fetch_and_delete(0, ">=", limit=2, filters=[Filter("n", "=", 2)]) == [
        (b"4", b"u4"),
        (b"5", b"u5"),
    ]
    assert users.sql("SELECT COUNT(*) FROM t WHERE n = 2") == [(b"0",)]


# ── increment and decrement ─────────────────────────────────────────────────────────────────────────────────

NUMBER_TYPES = [
    ("TINYINT", "5", "-6"),
    ("SMALLINT UNSIGNED", "5", "65530"),
    ("MEDIUMINT", "8388600", "7"),
    ("INT", "-2147483640", "-8"),
    ("BIGINT", "9223372036854775800", "7"),
    ("BIGINT", "-9223372036854775800", "-8"),
    ("BIGINT UNSIGNED", "18446744073709551600", "15"),
    ("BIGINT UNSIGNED", "9223372036854775807", "9223372036854775808"),
    ("BIGINT UNSIGNED", "18446744073709551615", "-18446744073709551615"),
    ("DECIMAL(65,30)", "9" * 35 + ".1", "0." + "8" + "9" * 29),
    ("DECIMAL(10,2)", "1.10", "2.2"),
    ("DECIMAL(30,0)", "123456789012345678901234567890", "1"),
    ("DOUBLE", "0.5", "0.25"),
    ("FLOAT", "1.5", "2"),
]


@pytest.mark.parametrize(("type", "start", "amount"), NUMBER_TYPES)
def test_an_increment_is_exact_over_the_type_of_the_column(
    make_twins: MakeTwins, type: str, start: str, amount: str
) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v {type}")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} VALUES (1, %s)", start)
    exact = amount if type in ("DOUBLE", "FLOAT") else f"CAST('{amount}' AS DECIMAL(65,30))"
    assert twins.index("v").increment(1, [amount]) == 1
    twins.sql(f"UPDATE twin SET v = CAST(v AS {'DOUBLE' if exact == amount else 'DECIMAL(65,30)'}) + {exact}")
    twins.assert_equal()


@pytest.mark.parametrize(
    ("type", "start", "amount"),
    [
        ("TINYINT", "127", "1"),
        ("TINYINT UNSIGNED", "255", "1"),
        ("TINYINT UNSIGNED", "0", "-1"),
        ("SMALLINT", "-32768", "-1"),
        ("INT", "2147483647", "1"),
        ("INT UNSIGNED", "5", "-6"),
        ("BIGINT", "9223372036854775807", "1"),
        ("BIGINT", "-9223372036854775808", "-1"),
        ("BIGINT UNSIGNED", "18446744073709551615", "1"),
        ("BIGINT UNSIGNED", "0", "99999999999999999999"),
        ("DECIMAL(3,1)", "99.9", "0.1"),
        ("DECIMAL(65,0)", "9" * 65, "1"),
        ("DOUBLE", "1.7e308", "1.7e308"),
        ("FLOAT", "3e38", "3e38"),
        ("INT", "1", "x"),
        ("INT", "1", str(2**128 + 1)),
        ("DECIMAL(5,2)", "1", "1x"),
        ("DECIMAL(5,2)", "1", "0.005"),
        ("DECIMAL(5,2)", "1", "1e-3"),
        ("DOUBLE(5,2)", "1", "0.001"),
        ("FLOAT(5,2)", "1", "0.005"),
        ("DOUBLE", "1", "x"),
    ],
)
def test_an_increment_out_of_range_is_an_error_and_changes_nothing(
    make_twins: MakeTwins, type: str, start: str, amount: str
) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, other INT, v {type}, KEY other (other)")
    twins.sql("INSERT INTO t VALUES (1, 1, %s), (2, 1, 1)", start)
    index = twins.index("id,v", "other")
    with twins.unchanged():
        with pytest.raises(EngineError):
            index.increment(1, [10, amount], limit=None)
        with pytest.raises(EngineError):
            index.fetch_and_increment(1, [10, amount], limit=None)


def test_a_decrement_out_of_range_is_an_error_and_changes_nothing(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v TINYINT, w BIGINT")
    twins.sql("INSERT INTO t VALUES (1, -128, -9223372036854775808)")
    with twins.unchanged():
        with pytest.raises(EngineError):
            twins.index("v").decrement(1, [1])
        with pytest.raises(EngineError):
            twins.index("w").decrement(1, [1])


@pytest.mark.parametrize(
    ("start", "amount", "after"),
    [
        ("5", "5", "0"),
        ("5", "6", "5"),
        ("-5", "1", "-6"),
        ("-5", "-5", "0"),
        ("-5", "-6", "-5"),
        ("0", "7", "-7"),
        ("5", "-5", "10"),
    ],
)
def test_a_decrement_does_not_cross_zero(make_twins: MakeTwins, start: str, amount: str, after: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, i INT, d DECIMAL(5,1), f DOUBLE, t VARCHAR(9)")
    twins.sql("INSERT INTO t VALUES (1, %s, %s, %s, %s)", start, start, start, start)
    for column in ("i", "d", "f", "t"):
        assert twins.index(column).decrement(1, [amount]) == (0 if after == start else 1), column
    assert twins.sql("SELECT i + 0, d + 0.0, f + 0, t FROM t") == [
        (after.encode(), f"{after}.0".encode(), after.encode(), after.encode())
    ]


def test_a_decrement_that_would_cross_zero_leaves_the_whole_row_and_goes_on_with_the_next(
    make_twins: MakeTwins,
) -> None:
    twins = make_twins("id INT PRIMARY KEY, a INT, b INT")
    twins.sql("INSERT INTO t VALUES (1, 5, 1), (2, 5, 5), (3, 1, 5), (4, 9, 9)")
    assert twins.index("a,b").decrement(0, [3, 3], ">", limit=None) == 2
    assert twins.rows() == [(b"1", b"5", b"1"), (b"2", b"2", b"2"), (b"3", b"1", b"5"), (b"4", b"6", b"6")]


def test_several_columns_are_incremented_at_once_and_null_stays(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, a INT, b DECIMAL(5,2), c INT, d INT")
    twins.sql("INSERT INTO t VALUES (1, 1, 1.5, NULL, 7)")
    assert twins.index("a,b,c,d").increment(1, ["10", "0.25", "3"]) == 1
    assert twins.index("d").increment(1, [None]) == 1
    assert twins.rows() == [(b"1", b"11", b"1.75", None, b"7")]


def test_fetch_and_increment_returns_the_rows_as_they_were(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT")
    twins.sql("INSERT INTO t VALUES (1, 5), (2, -1)")
    index = twins.index("v,id")
    assert index.fetch_and_increment(0, [2], ">", limit=None) == [(b"5", b"1"), (b"-1", b"2")]
    assert index.fetch_and_decrement(1, [7]) == [(b"7", b"1")]
    assert twins.rows() == [(b"1", b"0"), (b"2", b"1")]


def test_what_is_no_number_can_not_be_incremented(users: Twins) -> None:
    with users.unchanged(), pytest.raises(rowsocket.ServerError):
        users.index("name").increment(1, [1])


@pytest.mark.parametrize("amount", ["one", "1.5", "1e2", "0x1"])
def test_what_is_no_whole_number_can_not_be_added_to_one(users: Twins, amount: str) -> None:
    with users.unchanged(), pytest.raises(rowsocket.EngineError) as raised:
        users.index("n").increment(1, [amount])
    assert raised.value.number == 1292


# ── what SQL enforces ───────────────────────────────────────────────────────────────────────────────────────


def test_a_check_constraint_refuses_as_in_sql(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT CHECK (v < 10), w INT, CHECK (w <> v)")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} VALUES (1, 1, 2)")
    with twins.unchanged():
        for values in ([2, 10, 1], [2, 5, 5]):
            with pytest.raises(EngineError) as inserted:
                twins.index("id,v,w").insert(values)
            assert error_number(inserted.value) == twins.sql_error(
                "INSERT INTO twin VALUES (%s, %s, %s)", *values
            )
        with pytest.raises(EngineError) as updated:
            twins.index("v").increment(1, [1])
    assert error_number(updated.value) == twins.sql_error("UPDATE twin SET v = 2")


def test_foreign_keys_are_enforced_and_cascade(make_twins: MakeTwins, writer: Connection) -> None:
    twins = make_twins("id INT PRIMARY KEY")
    twins.sql("INSERT INTO t VALUES (1), (2)")
    twins.sql("CREATE TABLE kept (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES t (id))")
    twins.sql(
        "CREATE TABLE gone (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES t (id) ON"
        " DELETE CASCADE)"
    )
    kept = writer.open_index(twins.database, "kept", "id,parent")
    gone = writer.open_index(twins.database, "gone", "id,parent")
    with pytest.raises(rowsocket.ForeignKeyViolation):
        kept.insert([1, 99])
    kept.insert([1, 1])
    gone.insert([1, 2])
    with twins.unchanged(), pytest.raises(rowsocket.ForeignKeyViolation):
        twins.index("").delete(1)
    assert twins.index("").delete(2) == 1
    assert gone.get(1) is None


def test_a_write_on_the_read_port_is_refused(users: Twins, reader: Connection) -> None:
    index = reader.open_index(users.database, "t", "id,name")
    writes: list[Callable[[], object]] = [
        lambda: index.insert([50, "x"]),
        lambda: index.update(1, [1]),
        lambda: index.delete(1),
        lambda: index.increment(1),
        lambda: index.fetch_and_delete(1),
    ]
    with users.unchanged():
        for write in writes:
            with pytest.raises(rowsocket.ReadOnlyError) as raised:
                write()
            assert (raised.value.code, raised.value.text) == (2, "readonly")
    assert index.get(1) == ("1", "u1")


def test_sql_sees_a_write_as_soon_as_it_is_answered_and_the_other_way_round(
    users: Twins, reader: Connection
) -> None:
    read = reader.open_index(users.database, "t", "n")
    write = users.index("n")
    for number in range(100):
        write.update(1, [number])
        assert users.sql("SELECT n FROM t WHERE id = 1") == [(b"%d" % number,)]
        assert read.get(1) == (str(number),)
        users.sql("UPDATE t SET n = %s WHERE id = 1", -number)
        assert read.get(1) == (str(-number),)


def test_an_error_in_a_pipeline_undoes_its_own_request_only(users: Twins) -> None:
    index = users.index("id,name,n")
    with users.writer.pipeline() as pipe:
        results: list[Pending[Any]] = [
            pipe.insert(index, [20, "a", 1]),
            pipe.insert(index, [20, "b", 1]),
            pipe.update(index, 1, [1, "x" * 99]),
            pipe.update(index, 2, [2, "ok"]),
            pipe.update(index, 3, [4]),
            pipe.delete(index, 5),
            pipe.increment(index, 6, [100]),
        ]
    assert [type(one.error).__name__ for one in results] == [
        "NoneType", "DuplicateKey", "InvalidValue", "NoneType", "DuplicateKey", "NoneType", "NoneType",
    ]  # fmt: skip
    users.sql("INSERT INTO twin (id, name, n) VALUES (20, 'a', 1)")
    users.sql("UPDATE twin SET name = 'ok' WHERE id = 2")
    users.sql("DELETE FROM twin WHERE id = 5")
    users.sql("UPDATE twin SET id = 106 WHERE id = 6")
    users.assert_equal()


def test_a_connection_on_the_write_port_reads_its_own_writes_within_a_pipeline(users: Twins) -> None:
    index = users.index("id,name")
    with users.writer.pipeline() as pipe:
        pipe.insert(index, [50, "new"])
        inserted = pipe.get(index, 50)
        pipe.delete(index, 50)
        deleted = pipe.get(index, 50)
    assert (inserted.result(), deleted.result()) == ((b"50", b"new"), None)


def test_a_row_locked_by_sql_is_waited_for(users: Twins, server: RowSocketServer) -> None:
    waits = "Innodb_row_lock_current_waits"
    index = users.index("n")
    with (
        contextlib.closing(server.connect(users.database)) as sql,
        sql.cursor() as cursor,
        ThreadPoolExecutor(1) as thread,
    ):
        cursor.execute("BEGIN")
        cursor.execute("UPDATE t SET n = 500 WHERE id = 1")
        incremented = thread.submit(index.increment, 1, [1])
        server.wait_until("waits for the row", lambda: server.status(waits)[waits] == "1")
        sql.commit()
        assert incremented.result() == 1
    assert users.sql("SELECT n FROM t WHERE id = 1") == [(b"501",)]


def test_a_row_that_stays_locked_is_a_lock_wait_timeout_and_nothing_changes(
    start: Callable[..., RowSocketServer],
) -> None:
    server = start(RowSocketServer, {"innodb-lock-wait-timeout": 1})
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)")
    server.sql("INSERT INTO d.t VALUES (1, 0), (2, 0)")
    sql = server.connect("d")
    with rowsocket.connect(*server.write_address(), text=True) as writer, sql.cursor() as cursor:
        index = writer.open_index("d", "t", "n")
        cursor.execute("BEGIN")
        cursor.execute("UPDATE t SET n = 5 WHERE id = 2")
        with pytest.raises(rowsocket.LockWaitTimeout):
            index.update(0, [9], ">", limit=None)
        sql.rollback()
        assert server.sql("SELECT n FROM d.t") == [(0,), (0,)]
        assert index.update(0, [9], ">", limit=None) == 2
    sql.close()


def test_a_locked_row_holds_up_the_client_that_wants_it_and_nobody_else(
    start: Callable[..., RowSocketServer],
) -> None:
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)")
    server.sql("INSERT INTO d.t VALUES (1, 0), (2, 0)")
    with (
        contextlib.closing(server.connect("d")) as sql,
        sql.cursor() as cursor,
        rowsocket.connect(*server.write_address(), text=True) as waiting,
        rowsocket.connect(*server.write_address(), text=True) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        wanted, free = waiting.open_index("d", "t", "n"), other.open_index("d", "t", "n")
        cursor.execute("BEGIN")
        cursor.execute("UPDATE t SET n = 5 WHERE id = 1")
        parked_before = server.status("Rowsocket_parked")["Rowsocket_parked"]
        incremented = thread.submit(wanted.increment, 1, [1])
        server.wait_until(
            "waits", lambda: server.status("Rowsocket_parked")["Rowsocket_parked"] != parked_before
        )
        for _ in range(200):
            assert free.increment(2, [1]) == 1
            assert free.get(2) is not None
        assert not incremented.done()
        sql.commit()
        assert incremented.result() == 1
    assert server.sql("SELECT n FROM d.t ORDER BY id") == [(6,), (200,)]


def test_without_a_cluster_a_table_needs_no_primary_key_whatever_a_cluster_would_ask(start: Start) -> None:
    server = start(RowSocketServer, {"wsrep-certify-nonPK": "OFF"})
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (n INT, KEY (n))")
    with rowsocket.connect(*server.write_address()) as writer:
        writer.open_index("d", "t", "n", "n").insert([1])
    assert server.sql("SELECT n FROM d.t") == [(1,)]


def test_every_write_of_aria_is_there_and_a_failed_one_is_not(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(5)", "ENGINE=Aria")
    index = twins.index("id,v")
    index.insert([1, "a"])
    with twins.unchanged():
        with pytest.raises(rowsocket.DuplicateKey):
            index.insert([1, "b"])
        with pytest.raises(EngineError):
            index.update(1, [1, "x" * 6])


def test_a_dropped_table_is_an_error_and_a_new_one_of_the_name_is_found(users: Twins) -> None:
    index = users.index("id,name")
    assert index.get(1) == (b"1", b"u1")
    users.sql("DROP TABLE t")
    with pytest.raises(rowsocket.OpenTableError):
        index.get(1)
    with pytest.raises(pymysql.err.ProgrammingError):
        users.sql("SELECT * FROM t")
    users.sql("CREATE TABLE t (name VARCHAR(9), id INT PRIMARY KEY)")
    assert index.insert([5, "new"]) is None
    assert index.get(5) == (b"5", b"new")
