# SPDX-License-Identifier: GPL-2.0-only
"""Keys that no row can have, over descending parts: each stands at the place in the index where it would
be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from rowsocket import Operator, Value
from support.twins import Twins

MakeTwins = Callable[..., Twins]

MIRRORED: dict[Operator, str] = {"=": "=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
"""What an operator that follows a descending index means in SQL."""


@dataclass(frozen=True)
class Descending:
    """The type of a column, its values, and keys of which some are none of its values."""

    type: str
    values: tuple[Value, ...]
    keys: tuple[Value, ...]


COLUMNS = [
    Descending(
        "INT", (1, 2, 3, None), ("0.5", "1.4", "1.5", "2.0", "2.6", "99999999999", "-99999999999", None)
    ),
    Descending("INT UNSIGNED", (0, 1, 4294967295), ("-1", "0.1", "4294967296", "4294967294.5")),
    Descending(
        "DECIMAL(4,1)", ("-1.5", "0.0", "999.9"), ("-1.55", "-1.45", "0.01", "1000", "-1000", "999.95")
    ),
    Descending(
        "DATETIME", ("2024-01-01 00:00:01", "2024-01-01 00:00:02"), ("2024-01-01 00:00:01.5", "2024-01-01")
    ),
    Descending("VARCHAR(3)", ("", "a", "ab", "abc", "b", None), ("abcd", "aa", "abca", "bbbb", "", "zzzz")),
    Descending("VARBINARY(3)", (b"", b"a", b"abc", b"\xff"), (b"abcd", b"\xff\xff\xff\xff", b"aaaa")),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.type)
@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_a_key_that_is_no_value_finds_its_neighbours(
    make_twins: MakeTwins, column: Descending, engine: str
) -> None:
    twins = make_twins(
        f"id INT AUTO_INCREMENT PRIMARY KEY, v {column.type}, KEY k (v DESC)", f"ENGINE={engine}"
    )
    for value in column.values:
        twins.sql("INSERT INTO t (v) VALUES (%s)", value)
    index = twins.index("v", "k")
    for key in column.keys:
        for op, in_sql in MIRRORED.items():
            order = "ASC" if op in ("<", "<=") else "DESC"
            expected = twins.sql(
                f"SELECT v FROM t IGNORE INDEX (k) WHERE {_compared(key, in_sql)} ORDER BY v {order}",
                *([] if key is None else [key]),
            )
            assert index.find(key, op, limit=None) == expected, (key, op)


def _compared(key: Value, operator: str) -> str:
    """The comparison with a key, where NULL stands before every value."""
    if key is not None:
        return f"v {operator} %s" + (" OR v IS NULL" if operator in ("<", "<=") else "")
    return {"=": "v IS NULL", "<=": "v IS NULL", "<": "FALSE", ">": "v IS NOT NULL", ">=": "TRUE"}[operator]


WORDS = ["", "a", "ab", "abc", "abcd", "abce", "abd", "b", "bcde"]


@pytest.mark.parametrize("type", ["VARCHAR(20)", "TEXT", "CHAR(20)", "VARBINARY(20)"])
def test_keys_longer_than_a_descending_prefix_are_compared_whole(make_twins: MakeTwins, type: str) -> None:
    twins = make_twins(f"id INT AUTO_INCREMENT PRIMARY KEY, v {type}, KEY k (v(3) DESC)")
    for word in WORDS:
        twins.sql("INSERT INTO t (v) VALUES (%s)", word)
    index = twins.index("v", "k")
    for key in ("abcd", "abcda", "abce", "abcz", "abd", "abc", "zzzz"):
        for op, in_sql in MIRRORED.items():
            expected = twins.sql(f"SELECT v FROM t IGNORE INDEX (k) WHERE v {in_sql} %s", key)
            assert sorted(index.find(key, op, limit=None)) == sorted(expected), (key, op)


@pytest.mark.parametrize("part", ["w DESC", "g, w DESC", "w(3) DESC"])
def test_texts_that_begin_so_are_found_over_descending_parts(make_twins: MakeTwins, part: str) -> None:
    twins = make_twins(f"id INT AUTO_INCREMENT PRIMARY KEY, g INT DEFAULT 1, w VARCHAR(20), KEY k ({part})")
    for word in WORDS:
        twins.sql("INSERT INTO t (w) VALUES (%s)", word)
    index = twins.index("w", "k")
    for begin in ("", "a", "ab", "abc", "abcd", "b", "c"):
        key = (1, begin) if part.startswith("g") else (begin,)
        expected = twins.sql("SELECT w FROM t WHERE w LIKE CONCAT(%s, '%%')", begin)
        assert sorted(index.starts_with(key, limit=None)) == sorted(expected), begin
        reverse = index.starts_with(key, limit=None, reverse=True)
        assert sorted(reverse) == sorted(expected), begin


@pytest.mark.parametrize("high", ["2.5", "3.5", "99999999999"])
def test_both_ends_of_a_range_may_be_no_values_of_a_descending_part(make_twins: MakeTwins, high: str) -> None:
    twins = make_twins("a INT, b INT, PRIMARY KEY (a, b DESC)")
    twins.sql("INSERT INTO t SELECT a.seq, b.seq FROM seq_1_to_2 a, seq_1_to_5 b")
    index = twins.index("a,b")
    expected = twins.sql("SELECT a, b FROM t WHERE a = 1 AND b <= %s AND b > 0.5 ORDER BY b DESC", high)
    assert index.find((1, high), ">=", to=("<", (1, "0.5")), limit=None) == expected
    assert index.find((1, high), ">=", to=("<", (1, "0.5")), limit=None, reverse=True) == expected[::-1]


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_null_stands_before_every_value_even_where_no_row_may_have_it(
    make_twins: MakeTwins, direction: str
) -> None:
    twins = make_twins(f"v INT NOT NULL, w VARCHAR(9) NOT NULL, KEY k (v {direction}), KEY w (w {direction})")
    twins.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    for column, name in (("v", "k"), ("w", "w")):
        index = twins.index(column, name)
        up = twins.sql(f"SELECT {column} FROM t ORDER BY {column}")
        after = up if direction == "ASC" else []
        before = [] if direction == "ASC" else up
        assert [index.find(None, op, limit=None) for op in (">", ">=", "=")] == [after, after, []]
        assert [index.find(None, op, limit=None) for op in ("<", "<=")] == [before, before]
        assert index.find(up[1], ">=", to=("<", None), limit=None) == (
            [] if direction == "ASC" else [up[1], up[0]]
        )
        assert index.find(up[1], "<=", to=(">", None), limit=None) == (
            [up[1], up[0]] if direction == "ASC" else []
        )
    assert twins.index("w", "w").starts_with(None) == []
