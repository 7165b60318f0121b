# SPDX-License-Identifier: GPL-2.0-only
"""Indexes that tell less than their column: prefixes, disabled keys, hash keys, and keys over a hidden
hash."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Literal

import pytest

import rowsocket
from rowsocket import BytesRow, Connection, Index, Operator
from support.mariadb import Database, RowSocketServer, Start
from support.twins import Twins

MakeTwins = Callable[..., Twins]

OPERATORS: tuple[Operator, ...] = ("=", "<", "<=", ">", ">=")
TEXTS = ["ab", "abc", "abcd", "abce", "abd", "b"]


def with_texts(make_twins: MakeTwins, type: str, engine: str) -> Twins:
    """Rows 1 to 6 with the texts above; the index `k` knows three letters of each."""
    twins = make_twins(
        f"id INT AUTO_INCREMENT PRIMARY KEY, w {type}, n INT, KEY k (w(3))", f"ENGINE={engine}"
    )
    for text in TEXTS:
        twins.sql("INSERT INTO t (w, n) VALUES (%s, 0)", text)
    return twins


def ids_in_sql(twins: Twins, where: str) -> list[BytesRow]:
    return twins.sql(f"SELECT id FROM t IGNORE INDEX (k) WHERE {where} ORDER BY id")


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM"])
@pytest.mark.parametrize("type", ["VARCHAR(20)", "TEXT", "CHAR(20)"])
def test_a_prefix_decides_by_the_column_even_where_nobody_asked_for_it(
    make_twins: MakeTwins, reader: Connection, type: str, engine: str
) -> None:
    twins = with_texts(make_twins, type, engine)
    index: Index[BytesRow] = reader.open_index(twins.database, "t", "id", "k", decode=False)
    for key in ("abcd", "abce", "abcf", "abc", "abcz"):
        for op in OPERATORS:
            assert sorted(index.find(key, op, limit=None)) == ids_in_sql(twins, f"w {op} '{key}'"), (key, op)
        assert index.count(key) == len(ids_in_sql(twins, f"w = '{key}'"))
    assert sorted(index.starts_with("abcd")) == ids_in_sql(twins, "w LIKE 'abcd%'")
    for low, high in (("abcd", "abd"), ("ab", "abce"), ("abcd", "abcz"), ("abce", "abcd")):
        for reverse in (False, True):
            between = index.find(low, ">=", to=("<", high), limit=None, reverse=reverse)
            assert sorted(between) == ids_in_sql(twins, f"w >= '{low}' AND w < '{high}'"), (low, high)


def test_a_prefix_behind_a_part_that_nobody_asked_for_decides_by_both(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, p INT NOT NULL, w VARCHAR(20), KEY k (p, w(2))")
    twins.sql("INSERT INTO t VALUES (1, 1, 'aaa'), (2, 1, 'bbb'), (3, 1, 'ccc'), (4, 2, 'aaa'), (5, 3, 'a')")
    index = twins.index("id", "k")
    twins.index("id").find(5)  # what the row of an earlier find has left must not count
    for op in OPERATORS:
        found = ids_in_sql(twins, f"(p, w) {op} (1, 'bbb')")
        assert sorted(index.find([1, "bbb"], op, limit=None)) == found, op
        assert index.count([1, "bbb"], op) == len(found), op
    assert index.delete([1, "bbb"], ">", limit=None) == 3
    assert twins.rows("id") == [(b"1",), (b"2",)]


def test_behind_a_prefix_the_other_parts_decide_nothing_alone(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, w VARCHAR(20), n INT, KEY k (w(2), n)")
    for text in ("aba", "abb", "abc"):
        twins.sql("INSERT INTO t (w, n) VALUES (%s, 1), (%s, 5), (%s, 9)", text, text, text)
    index = twins.index("id", "k")
    for op in OPERATORS:
        found = ids_in_sql(twins, f"(w, n) {op} ('abb', 5)")
        assert sorted(index.find(["abb", 5], op, limit=None)) == found, op


def test_a_table_in_which_sql_looked_into_no_partition_has_its_rows(
    make_twins: MakeTwins, reader: Connection
) -> None:
    twins = make_twins("id INT PRIMARY KEY", "PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (9))")
    twins.sql("INSERT INTO t VALUES (1), (2), (3)")
    for _ in range(3):
        assert twins.sql("SELECT * FROM t WHERE id = 10") == []
        index: Index[BytesRow] = reader.open_index(twins.database, "t", "id", decode=False)
        assert index.find(3, "<", limit=None, reverse=True) == [(b"1",), (b"2",)]


def test_rows_of_partitions_come_in_the_order_of_the_index(make_twins: MakeTwins) -> None:
    """Each partition has an index of its own, with every fourth row."""
    twins = make_twins("id INT PRIMARY KEY, n INT, KEY n (n)", "PARTITION BY HASH (id) PARTITIONS 4")
    twins.sql("INSERT INTO t SELECT seq, -seq FROM seq_1_to_20")
    assert twins.index("id").find(3, ">=", limit=5) == [(b"%d" % id,) for id in (3, 4, 5, 6, 7)]
    assert twins.index("id", "n").find(-18, ">", limit=5) == [(b"%d" % id,) for id in (17, 16, 15, 14, 13)]
    assert twins.index("id", "n").find(-18, "<=", limit=9) == [(b"%d" % id,) for id in (18, 19, 20)]


@pytest.mark.parametrize("collation", ["utf8mb4_uca1400_ai_ci", "latin1_nopad_bin"])
def test_a_range_over_the_prefixes_of_partitions_loses_no_row(make_twins: MakeTwins, collation: str) -> None:
    """The server merges the partitions' rows by the bytes of the prefix, and not as the collation orders."""
    twins = make_twins(
        f"id INT AUTO_INCREMENT PRIMARY KEY, w VARCHAR(9) COLLATE {collation} NOT NULL, KEY k (w(1))",
        "PARTITION BY HASH (id) PARTITIONS 2",
    )
    for text in ("\t", "", " ", "", "a", " b"):
        twins.sql("INSERT INTO t (w) VALUES (%s)", text)
    index = twins.index("id", "k")
    ends: tuple[tuple[Operator, Literal["<", "<=", ">", ">="]], ...] = (
        (">=", "<="),
        ("<=", ">="),
        (">", "<"),
        ("<", ">"),
    )
    for op, end in ends:
        for key, last in itertools.product(("", " ", "\t", "a", "b"), repeat=2):
            found = index.find(key, op, to=(end, last), limit=None)
            assert sorted(found) == ids_in_sql(twins, f"w {op} '{key}' AND w {end} '{last}'"), (op, key, last)


@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_a_change_by_a_prefix_changes_the_rows_of_the_whole_value(make_twins: MakeTwins, engine: str) -> None:
    twins = with_texts(make_twins, "VARCHAR(20)", engine)
    assert twins.index("n", "k").increment("abcd", [1], limit=None) == 1
    assert twins.index("", "k").delete("abce", limit=None) == 1
    assert twins.rows("w") == [(text.encode(),) for text in TEXTS if text != "abce"]
    assert twins.sql("SELECT w FROM t WHERE n = 1") == [(b"abcd",)]


PADDED = [
    "VARCHAR(40)",
    "CHAR(40)",
    "TEXT",
    "VARCHAR(40) CHARACTER SET latin1",
    "VARCHAR(40) COLLATE utf8mb4_uca1400_ai_ci",
    "VARCHAR(40) COLLATE utf8mb4_nopad_bin",
]
NAMES = ["John", "John Smith", "John\tSmith", "John Adams", "Joh", "Johnny"]


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
@pytest.mark.parametrize("type", PADDED)
def test_a_value_shorter_than_the_prefix_is_not_taken_for_one_that_goes_on_with_spaces(
    make_twins: MakeTwins, type: str, engine: str
) -> None:
    """The index pads what it holds: `John ` of `John Smith` stands where `John` stands."""
    twins = make_twins(
        f"id INT AUTO_INCREMENT PRIMARY KEY, w {type}, n INT, KEY k (w(5), n)", f"ENGINE={engine}"
    )
    for name in NAMES:
        twins.sql("INSERT INTO t (w, n) VALUES (%s, 0)", name)
    index = twins.index("id", "k")
    for op in OPERATORS:
        assert sorted(index.find("John", op, limit=None)) == ids_in_sql(twins, f"w {op} 'John'"), op
        found = ids_in_sql(twins, f"(w, n) {op} ('John', 0)")
        assert sorted(index.find(["John", 0], op, limit=None)) == found, op
    assert twins.index("n", "k").increment("John", [1], limit=None) == 1
    assert twins.sql("SELECT w FROM t WHERE n = 1") == [(b"John",)]
    assert twins.index("", "k").delete("John", limit=None) == 1
    assert len(twins.rows("w")) == len(NAMES) - 1


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_a_unique_key_over_a_prefix_finds_one_row_or_none(make_twins: MakeTwins, engine: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, w VARCHAR(40), UNIQUE KEY k (w(5))", f"ENGINE={engine}")
    twins.sql("INSERT INTO t VALUES (1, 'John Smith'), (2, 'Mary')")
    index = twins.index("id,w", "k")
    assert index.find("John") == []
    assert index.find("John Smith") == [(b"1", b"John Smith")]
    assert index.find("Mary ") == [(b"2", b"Mary")]
    assert twins.index("", "k").delete("John") == 0


def test_a_position_behind_the_last_index_is_none(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, KEY k (n)")
    twins.sql("INSERT INTO t VALUES (1, 5)")
    assert twins.index("id", "1").find(5) == [(b"1",)]
    for position in ("2", "3", "1x", str(2**32 + 1), str(2**64)):
        with pytest.raises(rowsocket.RequestError) as raised:
            twins.index("id", position)
        assert raised.value.text == "idxnum"


@pytest.mark.parametrize("engine", ["Aria", "MyISAM"])
def test_a_disabled_index_is_none_until_it_is_enabled(make_twins: MakeTwins, engine: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, KEY k (n)", f"ENGINE={engine}")
    twins.sql("INSERT INTO t VALUES (1, 5)")
    twins.sql("ALTER TABLE t DISABLE KEYS")
    twins.sql("INSERT INTO t VALUES (2, 5)")
    for name in ("k", "1"):
        with pytest.raises(rowsocket.RequestError) as raised:
            twins.index("id", name)
        assert raised.value.text == "idxnum"
    assert twins.index("id").count(0, ">") == 2
    twins.sql("ALTER TABLE t ENABLE KEYS")
    assert sorted(twins.index("id", "k").find(5, limit=None)) == [(b"1",), (b"2",)]


def test_an_index_that_is_disabled_while_it_is_in_use_is_an_error_for_its_requests(
    make_twins: MakeTwins,
) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, KEY k (n)", "ENGINE=MyISAM")
    twins.sql("INSERT INTO t VALUES (1, 5)")
    index = twins.index("id", "k")
    assert index.find(5) == [(b"1",)]
    twins.sql("ALTER TABLE t DISABLE KEYS")
    with pytest.raises(rowsocket.RequestError) as raised:
        index.find(5)
    assert raised.value.text == "idxnum"
    twins.sql("ALTER TABLE t ENABLE KEYS")
    assert index.find(5) == [(b"1",)]


def test_half_a_hash_key_is_refused(make_twins: MakeTwins) -> None:
    twins = make_twins("a INT, b INT, n INT, KEY k (a, b) USING HASH", "ENGINE=MEMORY")
    twins.sql("INSERT INTO t VALUES (1, 2, 3), (1, 3, 4)")
    index = twins.index("n", "k")
    assert index.find((1, 3)) == [(b"4",)]
    for refused in (lambda: index.find((1,)), lambda: index.count((1,)), lambda: index.delete((1,))):
        with pytest.raises(rowsocket.RequestError) as raised:
            refused()
        assert raised.value.text == "kpnum"
    with pytest.raises(rowsocket.RequestError) as raised:
        index.find((1, 3), reverse=True)
    assert raised.value.text == "op"
    assert len(twins.rows()) == 2


def test_a_hash_key_of_the_empty_text_finds_the_member(make_twins: MakeTwins) -> None:
    """Where an index has an order, a find also goes to the rows of no member, which are shown as empty."""
    twins = make_twins("id INT PRIMARY KEY, v ENUM('a', '', 'b'), KEY k (v) USING HASH", "ENGINE=MEMORY")
    twins.sql("INSERT INTO t VALUES (1, 'a'), (2, ''), (3, 'b'), (4, '')")
    assert sorted(twins.index("id", "k").find("", limit=None)) == [(b"2",), (b"4",)]


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_an_index_over_a_hidden_hash_can_not_be_opened(make_twins: MakeTwins, engine: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, w TEXT, UNIQUE KEY long_one (w)", f"ENGINE={engine}")
    for name in ("long_one", "1"):
        with pytest.raises(rowsocket.RequestError) as raised:
            twins.index("id", name)
        assert raised.value.text == "idxnum"
    assert twins.index("id,w").insert([1, "x" * 5000]) is None
    assert twins.index("w").get(1) == (b"x" * 5000,)


@pytest.mark.parametrize("key", ["FULLTEXT KEY k (w)", "SPATIAL KEY k (p)"])
@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_an_index_without_an_order_can_not_be_opened(make_twins: MakeTwins, key: str, engine: str) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, w TEXT, p POINT NOT NULL, {key}", f"ENGINE={engine}")
    with pytest.raises(rowsocket.RequestError) as raised:
        twins.index("id", "k")
    assert raised.value.text == "idxnum"


@pytest.mark.parametrize("operator", [">=", "<="])
def test_a_table_of_which_sql_needed_no_partition_is_read_whole(start: Start, operator: Operator) -> None:
    """The server keeps one opening of the table here, with what the last query of SQL left in it."""
    server = start(RowSocketServer, {"table-open-cache": 10, "table-open-cache-instances": 1})
    database = Database(server, "d")
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT) PARTITION BY RANGE (id)"
        " (PARTITION low VALUES LESS THAN (10), PARTITION high VALUES LESS THAN (20))"
    )
    database.sql("INSERT INTO t VALUES (1, 5), (11, 6)")
    assert database.sql("SELECT n FROM t WHERE id = 30") == []
    with rowsocket.connect(*server.read_address()) as reader:
        found = reader.open_index("d", "t", "id,n").find(5, operator, limit=None, reverse=True)
        assert [int(row[1]) for row in found] == ([6] if operator == ">=" else [5])
