# SPDX-License-Identifier: GPL-2.0-only
"""Which rows a find returns, in which order: operators, key prefixes, limit and offset, IN lists, filters;
all as by SQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import rowsocket
from rowsocket import BytesRow, Comparison, Connection, Filter, Index, Operator, Value, While
from support.mariadb import Database, RowSocketServer
from support.twins import Twins

MakeTwins = Callable[..., Twins]
OPERATORS: list[Operator] = ["=", ">", ">=", "<", "<="]
COMPARISONS: list[Comparison] = ["=", "!=", ">", ">=", "<", "<="]


@pytest.fixture
def numbers(make_twins: MakeTwins) -> Twins:
    """`t` with the composite primary key (a, b, c), 0..3 each with gaps, and n, which repeats."""
    twins = make_twins("a INT, b VARCHAR(5), c INT, n INT, PRIMARY KEY (a, b, c), KEY n (n)")
    rows = [
        (a, b, c, a * c)
        for a, b, c in itertools.product((0, 1, 3), ("", "b", "bb"), (-1, 0, 2))
        if (a, b) != (1, "b")
    ]
    twins.sql("INSERT INTO t VALUES " + ", ".join(f"({a}, '{b}', {c}, {n})" for a, b, c, n in rows))
    return twins


def direction(op: Operator) -> str:
    return "DESC" if op in ("<", "<=") else "ASC"


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("part_count", [1, 2, 3])
def test_operators_compare_a_whole_key_or_its_first_parts(
    numbers: Twins, op: Operator, part_count: int
) -> None:
    index = numbers.index("a,b,c")
    parts = ["a", "b", "c"][:part_count]
    order = ", ".join(f"{part} {direction(op)}" for part in ("a", "b", "c"))
    for key in itertools.product(*[(-1, 0, 1, 2, 3, 4), ("", "b", "ba", "c"), (-2, -1, 1, 2)][:part_count]):
        condition = f"({', '.join(parts)}) {op} ({', '.join(['%s'] * part_count)})"
        expected = numbers.sql(f"SELECT a, b, c FROM t WHERE {condition} ORDER BY {order}", *key)
        assert index.find(key, op, limit=None) == expected, key


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("offset", [0, 1, 5, 1000])
def test_limit_and_offset_count_rows_in_the_order_of_the_operator(
    numbers: Twins, op: Operator, offset: int
) -> None:
    index = numbers.index("a,b,c")
    rows = index.find(1, op, limit=None)
    for limit in (1, 2, 7, 1000):
        assert index.find(1, op, limit=limit, offset=offset) == rows[offset : offset + limit]


def test_the_largest_limit_and_offset_are_no_trouble(numbers: Twins) -> None:
    index = numbers.index("a,b,c")
    assert index.find(0, ">=", limit=2**63 - 1) == numbers.rows("a,b,c", "a,b,c")
    assert index.find(0, ">=", limit=2**63 - 1, offset=2**63 - 1) == []


def test_a_limit_of_nothing_is_one_row(numbers: Twins) -> None:
    assert len(numbers.index("a").find(0, ">=")) == 1


@pytest.mark.parametrize("op", OPERATORS)
def test_an_index_with_equal_keys_gives_all_of_them(numbers: Twins, op: Operator) -> None:
    index = numbers.index("n,a,b,c", "n")
    order = ", ".join(f"{column} {direction(op)}" for column in ("n", "a", "b", "c"))
    for key in (-4, -3, 0, 1, 6, 7):
        expected = numbers.sql(f"SELECT n, a, b, c FROM t WHERE n {op} %s ORDER BY {order}", key)
        assert index.find(key, op, limit=None) == expected, key


def test_null_stands_before_every_key(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, KEY v (v, id)")
    twins.sql("INSERT INTO t VALUES (1, NULL), (2, 5), (3, NULL), (4, -5)")
    index = twins.index("id", "v")
    in_order = [(b"1",), (b"3",), (b"4",), (b"2",)]
    assert index.find(None, limit=None) == in_order[:2]
    assert index.find(None, ">", limit=None) == in_order[2:]
    assert index.find(None, ">=", limit=None) == in_order
    assert index.find(None, "<", limit=None) == []
    assert index.find(None, "<=", limit=None) == in_order[1::-1]
    assert index.find(-5, "<", limit=None) == in_order[1::-1]
    assert index.find((None, 1), ">", limit=None) == in_order[1:]


def test_an_index_is_named_by_name_number_or_nothing(numbers: Twins, reader: Connection) -> None:
    for name in ("PRIMARY", "primary", "", 0):
        index = reader.open_index(numbers.database, "t", "a,b,c", name)
        assert index.get(3, "bb", 2) == ("3", "bb", "2")
    assert reader.open_index(numbers.database, "t", "n", 1).get(6) == ("6",)


@pytest.mark.parametrize("name", ["nope", "2", "99999999999"])
def test_an_index_that_is_not_there_is_an_error(numbers: Twins, reader: Connection, name: str) -> None:
    with pytest.raises(rowsocket.RequestError) as raised:
        reader.open_index(numbers.database, "t", "a", name)
    assert raised.value.text == "idxnum"


def test_more_key_values_than_the_index_has_parts_are_an_error(numbers: Twins) -> None:
    index = numbers.index("a")
    with pytest.raises(rowsocket.RequestError) as raised:
        index.find((1, "b", 0, 0))
    assert raised.value.text == "kpnum"
    assert index.find(3) == [(b"3",)]


def test_a_secondary_index_that_covers_the_columns_gives_the_same_rows(numbers: Twins) -> None:
    covered = numbers.index("n,c,b,a", "n").find(0, ">=", limit=None)
    assert covered == numbers.sql("SELECT n, c, b, a FROM t WHERE n >= 0 ORDER BY n, a, b, c")


# ── IN lists ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_find_that_the_index_does_not_cover_has_its_values_behind_one_that_it_covers(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY a (a))")
    database.sql("INSERT INTO t VALUES (1, 5, 50), (2, 6, 60)")
    with server.raw("read") as connection:
        for number, columns in enumerate(("a", "b")):
            assert connection.tokens("P", number, database.name, "t", "a", columns) == [b"0", b"1"]
        replies = connection.ask_all(b"0\t=\t1\t5", b"1\t=\t1\t5", b"0\t=\t1\t6", b"1\t=\t1\t6")
    assert replies == [b"0\t1\t5", b"0\t1\t50", b"0\t1\t6", b"0\t1\t60"]


def test_in_gives_every_row_of_each_value_in_turn(numbers: Twins) -> None:
    index = numbers.index("n,a,b,c", "n")
    values = [6, -3, 99, 0]
    expected = [row for value in values for row in index.find(value, limit=None)]
    assert index.find_in(values) == expected
    assert sorted(expected) == sorted(numbers.sql("SELECT n, a, b, c FROM t WHERE n IN (6, -3, 99, 0)"))


@pytest.mark.parametrize(("limit", "offset"), [(1, 0), (3, 0), (3, 2), (1000, 4), (5, 1000)])
def test_limit_and_offset_of_in_count_over_all_values(numbers: Twins, limit: int, offset: int) -> None:
    index = numbers.index("n,a,b,c", "n")
    rows = index.find_in([0, 2, 6])
    assert index.find_in([0, 2, 6], limit=limit, offset=offset) == rows[offset : offset + limit]


@pytest.mark.parametrize("in_part", [0, 1, 2])
def test_in_takes_the_place_of_any_key_part(numbers: Twins, in_part: int) -> None:
    key: list[Value] = [3, "b", 2]
    choices: list[list[Value]] = [[3, 0, 7], ["bb", "", "x"], [2, -1, 5]]
    others = [*key[:in_part], *key[in_part + 1 :]]
    found = numbers.index("a,b,c").find_in(choices[in_part], key=others, in_part=in_part)
    single = numbers.index("a,b,c")
    assert found == [
        row for value in choices[in_part] if (row := single.get(*key[:in_part], value, *key[in_part + 1 :]))
    ]
    assert len(found) == 2


def test_in_with_another_operator_gives_the_first_row_from_each_value(numbers: Twins) -> None:
    index = numbers.index("a,b,c")
    for op in OPERATORS[1:]:
        assert index.find_in([3, 1, -9], op) == index.find(3, op) + index.find(1, op) + index.find(-9, op)


def test_in_matches_null(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(5), KEY v (v)")
    twins.sql("INSERT INTO t VALUES (1, NULL), (2, ''), (3, NULL), (4, 'x')")
    assert twins.index("id", "v").find_in([None, "x"]) == [(b"1",), (b"3",), (b"4",)]
    assert twins.index("id", "v").find_in([""]) == [(b"2",)]


def test_in_over_thousands_of_values(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT")
    twins.sql("INSERT INTO t SELECT seq, seq * 2 FROM seq_1_to_6000")
    keys = list(range(10_000, 0, -1))
    assert twins.index("id,v").find_in(keys) == [
        (b"%d" % key, b"%d" % (key * 2)) for key in keys if key <= 6000
    ]


# ── filters ─────────────────────────────────────────────────────────────────────────────────────────────────

FILTERED: dict[str, tuple[list[Value], list[Value]]] = {
    "INT": (["-5", "0", "7", None], ["-5", "3", "7", "6.5", "-4.6", "9999999999", "-9999999999", None]),
    "BIGINT UNSIGNED": (
        ["0", "18446744073709551615", "5", None],
        ["-1", "5", "18446744073709551615", "9" * 30],
    ),
    "DECIMAL(10,2)": (["-1.50", "0", "2.25", None], ["-1.5", "2.2", "2.250", "1e3", "-1", "2"]),
    "DOUBLE": (["-1e100", "0", "2.5", None], ["-1e100", "2.5", "2.6", "2", "3"]),
    "VARCHAR(20)": (["", "abc", "ABD", "żółw", "🦊", None], ["", "ABC", "abc ", "żółw", "🦊", "zzz", None]),
    "VARCHAR(20) CHARACTER SET latin1": (["", "abc", "é", "?", None], ["É", "abc", "b"]),
    "VARCHAR(20) COLLATE utf8mb4_bin": (["a", "A", "b", None], ["a", "B"]),
    "TEXT": (["", "abc", "long " * 100, None], ["ABC", "long", ""]),
    "BLOB": ([b"", b"\0", b"a\xff", b"x" * 3000, None], [b"\0", b"a", b"a\xff", b"x" * 3000, None]),
    "VARBINARY(9)": ([b"", b"\0", b"a", b"A", None], [b"a", b"\0\0"]),
    "DATE": (["1999-12-31", "2024-02-29", None], ["2024-02-29", "2000-01-01"]),
    "DATETIME(3)": (
        ["2024-01-01 00:00:00.001", "2024-01-01", None],
        ["2024-01-01", "2024-01-01 00:00:00.001"],
    ),
    "TIME": (["-10:00:00", "00:00:01", None], ["-10:00:00", "00:00:00"]),
    "TIMESTAMP NULL": (["2024-01-01 00:00:00", "2024-06-01 00:00:00", None], ["2024-06-01 00:00:00"]),
    "YEAR": (["1999", "2024", None], ["2024", "2000"]),
    "ENUM('a','b','c')": (["a", "b", "c", None], ["a", "b"]),
    "UUID": (
        ["123e4567-e89b-12d3-a456-426655440000", "00000000-0000-0000-0000-000000000000", None],
        ["123E4567E89B12D3A456426655440000"],
    ),
    "INET6": (["::1", "2001:db8::", None], ["::1", "::2"]),
}


def holds(comparison: Comparison, value: Value) -> tuple[str, tuple[Value, ...]]:
    """SQL for the comparison of `v`: NULL stands before everything, and NULL = NULL is true."""
    if value is None:
        null_is = "1" if comparison in ("=", ">=", "<=") else "0"
        return f"IF(v IS NULL, {null_is}, {int(comparison in ('!=', '>', '>='))})", ()
    return f"IFNULL(v {comparison} %s, {int(comparison in ('!=', '<', '<='))})", (value,)


@pytest.mark.parametrize("type", FILTERED)
def test_a_filter_skips_the_rows_that_sql_would_not_give(make_twins: MakeTwins, type: str) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v {type}")
    stored, asked = FILTERED[type]
    for id, value in enumerate(stored):
        twins.sql("INSERT INTO t VALUES (%s, %s)", id, value)
    index = twins.index("id", filter_columns="v")
    for comparison, value in itertools.product(COMPARISONS, asked):
        condition, parameters = holds(comparison, value)
        expected = twins.sql(f"SELECT id FROM t WHERE {condition} ORDER BY id", *parameters)
        found = index.find(0, ">=", limit=None, filters=[Filter("v", comparison, value)])
        assert found == expected, (comparison, value)


def test_a_value_beyond_one_column_says_nothing_of_the_next_filter(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, name VARCHAR(9)")
    twins.sql("INSERT INTO t VALUES (1, 5, 'a')")
    index = twins.index("id", filter_columns="n,name")
    for beyond in ("9" * 30, "-" + "9" * 30):
        assert index.find(0, ">=", limit=None, filters=[Filter("n", "=", beyond)]) == []
        assert index.find(0, ">=", limit=None, filters=[Filter("name", "=", "a")]) == [(b"1",)]


@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_bits_are_compared_as_numbers(make_twins: MakeTwins, engine: str) -> None:
    """Aria keeps some of them in another place of the record."""
    numbers = (0, 1, 5, 255, 256, 257, 511)
    twins = make_twins("id INT PRIMARY KEY, v BIT(9)", f"ENGINE={engine}")
    for number in numbers:
        twins.sql("INSERT INTO t VALUES (%s, %s)", number, number)
    index = twins.index("id", filter_columns="v")
    for comparison, number in itertools.product(COMPARISONS, numbers):
        condition, parameters = holds(comparison, number)
        expected = twins.sql(f"SELECT id FROM t WHERE {condition} ORDER BY id", *parameters)
        value = number.to_bytes(2, "big")
        assert index.find(0, ">=", limit=None, filters=[Filter("v", comparison, value)]) == expected


def test_a_filter_over_a_virtual_column_is_decided_by_its_own_row(
    server: RowSocketServer, database: Database
) -> None:
    """Also where nobody asks for the column that it is computed from."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, b INT, v INT AS (b * 2) VIRTUAL)")
    database.sql("INSERT INTO t (id, b) VALUES (1, 7), (2, 5), (3, 7)")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "id", "v") == [b"0", b"1"]
        assert connection.tokens(1, ">", 1, 0, 9, 0, "F", "=", 0, 14) == [b"0", b"1", b"1", b"3"]


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_while_stops_at_the_first_row_that_does_not_match(
    make_twins: MakeTwins, comparison: Comparison
) -> None:
    twins = make_twins("id INT PRIMARY KEY, v BLOB")
    twins.sql("INSERT INTO t VALUES (1, 'b'), (2, 'b'), (3, 'c'), (4, 'a'), (5, NULL), (6, 'b')")
    index = twins.index("id", filter_columns="v")
    for value in ("a", "b", "c", None):
        condition, parameters = holds(comparison, value)
        matching = twins.sql(f"SELECT {condition} FROM t ORDER BY id", *parameters)
        expected = [
            (b"%d" % (id + 1),)
            for id in range(len(list(itertools.takewhile(lambda row: row == (b"1",), matching))))
        ]
        assert index.find(0, ">", limit=None, filters=[While("v", comparison, value)]) == expected, value


@pytest.fixture
def filtered(make_twins: MakeTwins) -> Index[BytesRow]:
    """Rows id 0..19 with even = id % 2 and tens = id / 10; filter columns even, tens, id."""
    twins = make_twins("id INT PRIMARY KEY, even INT, tens INT, KEY even (even, id)")
    twins.sql("INSERT INTO t SELECT seq, seq % 2, seq DIV 10 FROM seq_0_to_19")
    return twins.index("id", filter_columns="even,tens,id")


def ids(rows: Iterable[BytesRow]) -> list[int]:
    return [int(row[0] or -1) for row in rows]


def test_all_filters_must_hold(filtered: Index[BytesRow]) -> None:
    both = [Filter("even", "=", 0), Filter("tens", "=", 1)]
    assert ids(filtered.find(0, ">=", limit=None, filters=both)) == [10, 12, 14, 16, 18]
    span = [Filter("id", ">", 3), Filter("id", "<=", 6)]
    assert ids(filtered.find(0, ">=", limit=None, filters=span)) == [4, 5, 6]


def test_skipped_rows_count_neither_to_limit_nor_to_offset(filtered: Index[BytesRow]) -> None:
    assert ids(filtered.find(0, ">=", limit=3, offset=2, filters=[Filter("even", "=", 1)])) == [5, 7, 9]
    assert ids(filtered.find(19, "<=", limit=2, offset=1, filters=[Filter("even", "=", 0)])) == [16, 14]


def test_filter_and_while_work_together(filtered: Index[BytesRow]) -> None:
    conditions = [Filter("even", "=", 0), While("id", "<", 7)]
    assert ids(filtered.find(1, ">=", limit=None, filters=conditions)) == [2, 4, 6]


def test_while_ends_the_walk_of_its_own_in_value_only(filtered: Index[BytesRow]) -> None:
    found = filtered.find_in([0, 10], ">=", filters=[While("even", "=", 0)])
    assert ids(found) == [0, 10]


def test_filters_apply_to_in_lists(filtered: Index[BytesRow]) -> None:
    assert ids(filtered.find_in([1, 2, 3, 4, 15], filters=[Filter("even", "=", 1)])) == [1, 3, 15]
    assert ids(filtered.find_in([1, 2, 3, 4, 15], filters=[Filter("even", "=", 1)], limit=1, offset=1)) == [3]


def test_filters_choose_the_rows_that_are_changed(filtered: Index[BytesRow]) -> None:
    assert filtered.delete(0, ">=", limit=None, filters=[Filter("even", "=", 1), Filter("tens", "=", 0)]) == 5
    assert ids(filtered.find(0, ">=", limit=None)) == [0, 2, 4, 6, 8, *range(10, 20)]


# ── against a model, many at once ───────────────────────────────────────────────────────────────────────────


def test_a_thousand_finds_in_one_pipeline_answer_as_one_by_one(numbers: Twins) -> None:
    index = numbers.index("a,b,c")
    asked: list[tuple[Any, Operator, int]] = [
        (key, op, limit)
        for key in itertools.product((0, 1, 2, 3), ("", "b", "c"), (-1, 0, 1))
        for op in OPERATORS
        for limit in (1, 2, 3, 5, 1000)
    ]
    with numbers.writer.pipeline() as pipe:
        promised = [pipe.find(index, key, op, limit=limit) for key, op, limit in asked]
    assert [one.result() for one in promised] == [
        index.find(key, op, limit=limit) for key, op, limit in asked
    ]
