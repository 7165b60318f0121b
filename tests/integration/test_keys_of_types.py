# SPDX-License-Identifier: GPL-2.0-only
"""Keys over prefixes, in descending order, with NULL, and outside of what their columns hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

import rowsocket
from rowsocket import Operator, Value
from support.mariadb import Database, RowSocketServer
from support.twins import Twins

MakeTwins = Callable[..., Twins]
FOX = "🦊"
OPERATORS: list[Operator] = ["=", ">", ">=", "<", "<="]

PREFIX_TEXTS = ["", "a", "abc", "abcd", "abcde", "abd", "zażó", "zażół", "zażółć", "zaz", FOX * 3, FOX * 4]


@pytest.mark.parametrize(
    "type", ["VARCHAR(20)", "TEXT", "VARCHAR(20) CHARACTER SET latin2", "CHAR(20) COLLATE utf8mb4_bin"]
)
@pytest.mark.parametrize("op", OPERATORS)
def test_a_key_over_a_prefix_of_its_column_finds_what_sql_finds(
    make_twins: MakeTwins, type: str, op: Operator
) -> None:
    texts = [text for text in PREFIX_TEXTS if FOX not in text or "latin2" not in type]
    twins = make_twins(f"id INT PRIMARY KEY, v {type}, KEY k (v(3))")
    for id, text in enumerate(texts):
        twins.sql("INSERT INTO t VALUES (%s, %s)", id, text)
    index = twins.index("id,v", "k")
    for key in [*texts, "ab", "abcx", "zz"]:
        expected = twins.sql(f"SELECT id, v FROM t WHERE v {op} %s", key)
        assert sorted(index.find(key, op, limit=None)) == sorted(expected), key


@pytest.mark.parametrize("op", ["<", "<="])
def test_a_text_that_is_not_padded_stands_before_one_that_goes_on_with_a_control_character(
    make_twins: MakeTwins, op: Operator
) -> None:
    """A key of a CHAR column has it with spaces, and so behind the other."""
    twins = make_twins("id INT PRIMARY KEY, v CHAR(4) COLLATE utf8mb4_unicode_nopad_ci, KEY k (v(2))")
    for id, text in enumerate(["", "a", "a\t", "a\tb", "ab"]):
        twins.sql("INSERT INTO t VALUES (%s, %s)", id, text)
    index = twins.index("id,v", "k")
    for key in ("a\t", "a\tb", "a\tz"):
        expected = twins.sql(f"SELECT id, v FROM t IGNORE INDEX (k) WHERE v {op} %s", key)
        assert sorted(index.find(key, op, limit=None)) == sorted(expected), key


@pytest.mark.parametrize(("op", "sql_op"), [("=", "="), (">", "<"), (">=", "<="), ("<", ">"), ("<=", ">=")])
def test_operators_follow_the_order_of_a_descending_index(
    make_twins: MakeTwins, op: Operator, sql_op: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT NOT NULL, KEY k (v DESC)")
    for id, v in enumerate([1, 3, 3, 5, 7, -2]):
        twins.sql("INSERT INTO t VALUES (%s, %s)", id, v)
    index = twins.index("v", "k")
    direction = "DESC" if op in (">", ">=") else "ASC"
    for key in (-3, -2, 0, 3, 7, 8, 2**40, -(2**40)):
        expected = twins.sql(f"SELECT v FROM t WHERE v {sql_op} %s ORDER BY v {direction}", key)
        assert index.find(key, op, limit=None) == expected, key


def test_descending_and_ascending_key_parts_stand_side_by_side(make_twins: MakeTwins) -> None:
    twins = make_twins("a INT, b INT, c VARCHAR(5), PRIMARY KEY (a, b DESC, c)")
    for n in range(27):
        twins.sql("INSERT INTO t VALUES (%s, %s, %s)", n % 3, n // 3 % 3, "xyz"[n // 9])
    index = twins.index("a,b,c")
    in_order = twins.sql("SELECT a, b, c FROM t ORDER BY a, b DESC, c")
    assert index.find(0, ">=", limit=None) == in_order
    assert index.find((1, 1), limit=None) == [row for row in in_order if row[:2] == (b"1", b"1")]
    for position, key in enumerate(in_order):
        assert index.find(key, ">=", limit=None) == in_order[position:]
        assert index.find(key, "<", limit=None) == in_order[:position][::-1]


def test_a_nullable_unique_key_takes_null_often_and_a_value_once(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, UNIQUE KEY k (v)")
    index = twins.index("id,v")
    for id in (1, 2):
        index.insert([id, None])
    index.insert([3, 7])
    with twins.unchanged(), pytest.raises(rowsocket.DuplicateKey):
        index.insert([4, 7])
    by_value = twins.index("id,v", "k")
    assert by_value.find(None, limit=None) == [(b"1", None), (b"2", None)]
    assert by_value.find(7, limit=None) == [(b"3", b"7")]


def test_a_unique_key_with_a_null_in_it_finds_every_row(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, a INT, b INT, UNIQUE KEY k (a, b)")
    twins.sql("INSERT INTO t VALUES (1, NULL, 1), (2, NULL, 1), (3, 1, NULL), (4, 1, NULL), (5, 1, 1)")
    index = twins.index("id", "k")
    assert index.find([None, 1], limit=None) == [(b"1",), (b"2",)]
    assert index.find([1, None], limit=None) == [(b"3",), (b"4",)]
    assert index.find([1, 1], limit=None) == [(b"5",)]


@pytest.mark.parametrize(
    ("collation", "nothing"), [("utf8mb4_czech_ci", "\u200d"), ("uca1400_czech_ai_ci", "\u00ad")]
)
def test_a_character_that_counts_for_nothing_parts_two_that_are_one_together(
    make_twins: MakeTwins, collation: str, nothing: str
) -> None:
    """The Czech `ch`, and a joiner or a hyphen in it, for which the column has no room."""
    twins = make_twins(
        f"id INT PRIMARY KEY, v VARCHAR(2) CHARACTER SET utf8mb4 COLLATE {collation}, KEY k (v)"
    )
    twins.sql("INSERT INTO t VALUES (1, 'ch'), (2, 'ci')")
    index = twins.index("id", "k")
    assert index.find(f"c{nothing}i", limit=None) == [(b"2",)]
    assert index.find(f"ch{nothing}", limit=None) == [(b"1",)]
    assert index.find(f"c{nothing}h", limit=None) == []


@pytest.mark.parametrize(
    ("type", "low", "high"),
    [
        ("TINYINT", "-129", "128"),
        ("INT UNSIGNED", "-1", "4294967296"),
        ("BIGINT", "-9223372036854775809", "9" * 40),
        ("BIGINT UNSIGNED", "-1", "18446744073709551616"),
        ("DECIMAL(5,2)", "-1000", "1000"),
        ("DECIMAL(5,2)", "-999.999", "999.999"),
        ("BINARY(2)", None, b"\xff\xff\xff"),
        ("VARCHAR(3)", None, "zzzzz"),
    ],
)
def test_a_key_outside_of_the_columns_range_is_before_or_after_every_row(
    make_twins: MakeTwins, type: str, low: Value, high: Value
) -> None:
    twins = make_twins(f"v {type} PRIMARY KEY")
    for value in ("1", "2", "3"):
        twins.sql("INSERT INTO t VALUES (%s)", value)
    index = twins.index("v")
    up = twins.rows()
    assert [index.find(key, "=", limit=None) for key in (low, high)] == [[], []]
    assert [index.find(low, op, limit=None) for op in (">", ">=")] == [up, up]
    assert [index.find(low, op, limit=None) for op in ("<", "<=")] == [[], []]
    assert [index.find(high, op, limit=None) for op in ("<", "<=")] == [up[::-1], up[::-1]]
    assert [index.find(high, op, limit=None) for op in (">", ">=")] == [[], []]


def test_a_key_between_two_values_of_the_column_finds_its_neighbours(make_twins: MakeTwins) -> None:
    twins = make_twins("i INT, d DECIMAL(4,1), t DATETIME, KEY i (i), KEY d (d), KEY t (t)")
    for n in (1, 2, 3):
        twins.sql("INSERT INTO t VALUES (%s, %s, %s)", n, n, f"2024-01-01 00:00:0{n}")
    for column, key in (
        ("i", "1.55"),
        ("i", "1.4"),
        ("d", "1.55"),
        ("t", "2024-01-01 00:00:01.7"),
        ("t", "2024-01-01 00:00:02.2"),
    ):
        index = twins.index(column, column)
        for op in OPERATORS:
            order = "DESC" if op in ("<", "<=") else "ASC"
            # Without the index: with it, the server cuts a time's fraction before `=`, and finds a row that
            # is not equal.
            expected = twins.sql(
                f"SELECT {column} FROM t IGNORE INDEX ({column}) WHERE {column} {op} %s ORDER BY {column}"
                f" {order}",
                key,
            )
            assert index.find(key, op, limit=None) == expected, (column, op, key)


def test_bits_that_a_column_lacks_stand_behind_all_of_its_values(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v BIT(3), KEY k (v)")
    twins.sql("INSERT INTO t VALUES (1, b'111'), (2, b'011')")
    index = twins.index("id", "k")
    for op in OPERATORS:
        found = [(b"2",), (b"1",)] if op in ("<", "<=") else []
        assert sorted(index.find(b"\x0f", op, limit=None)) == sorted(found), op


@pytest.mark.parametrize("type", ["YEAR", "YEAR(2)"])
def test_years_are_in_their_order_however_many_digits_are_shown(make_twins: MakeTwins, type: str) -> None:
    """SQL takes a YEAR(2) for what it shows without the index, and for its year with it."""
    twins = make_twins(f"id INT PRIMARY KEY, v {type}, KEY k (v)")
    years = ["0000", "1969", "1970", "1999", "2000", "2069"]
    for id, year in enumerate(years):
        twins.sql("INSERT INTO t VALUES (%s, %s)", id, year)
    by_key, by_filter = twins.index("id", "k"), twins.index("id", "PRIMARY", "v")

    def found(op: Literal["=", "<", "<=", ">", ">="], key: str) -> list[str]:
        rows = by_key.find(key, op, limit=None)
        filtered = by_filter.find(0, ">=", limit=None, filters=[rowsocket.Filter("v", op, key)])
        assert sorted(rows) == filtered, (op, key)
        return [years[int(id or b"")] for (id,) in sorted(rows)]

    for year in years:
        assert found("=", year) == [year]
        assert found("<", year) == [one for one in years if one < year]
    assert [found("=", shown) for shown in ("0", "69", "70")] == [["2000"], ["2069"], ["1970"]]
    for key in ("100", "1800", "1900"):
        assert (found("=", key), found("<", key), found(">=", key)) == ([], years[:1], years[1:])
    assert (found("<", "-1"), found(">", "-1")) == ([], years)
    assert (found(">", "2156"), found("<=", "9999")) == ([], years)
    assert found("=", "no year") == ["0000"]


def test_bits_are_numbers_whose_leading_zeros_may_be_left_out(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, a INT, v BIT(11), KEY k (a, v)")
    numbers = [0, 5, 53, 255, 256, 2047]
    for number in numbers:
        twins.sql("INSERT INTO t VALUES (%s, 1, %s)", number, number)
    twins.sql("INSERT INTO t VALUES (-1, 1, NULL)")
    index = twins.index("id,v", "k")
    for number in numbers:
        shown = number.to_bytes(2, "big")
        for key in (shown, shown.lstrip(b"\0"), b"\0" * 9 + shown):
            assert index.find([1, key]) == [(b"%d" % number, shown)], key
            behind = [number.to_bytes(2, "big") for number in numbers if number.to_bytes(2, "big") > shown]
            assert [row[1] for row in index.find([1, key], ">", limit=None)] == behind
    assert index.find([1, b"5"]) == [(b"53", b"\0005")], "no digits, but the byte"
    assert index.find([1, None]) == [(b"-1", None)]


def test_a_shorter_binary_value_goes_on_with_zeros(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v BINARY(4), KEY k (v)")
    twins.sql("INSERT INTO t VALUES (1, 'ab'), (2, 'abc'), (3, 'b')")
    index = twins.index("id", "k", "v")
    assert index.find(b"ab") == [(b"1",)]
    assert index.find(b"", ">", limit=None, filters=[rowsocket.Filter("v", "=", b"ab")]) == [(b"1",)]


def test_no_text_begins_with_null(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(9), w VARCHAR(9), KEY k (v, w)")
    twins.sql("INSERT INTO t VALUES (1, 'a', 'a'), (2, 'a', NULL), (3, NULL, NULL)")
    index = twins.index("id", "k")
    assert index.starts_with(["a", None]) == index.starts_with(None) == []
    assert index.starts_with(["a", ""]) == [(b"1",)]


def test_a_find_goes_to_one_place_where_the_one_before_went_to_two(
    server: RowSocketServer, database: Database
) -> None:
    """The empty text is a member of the ENUM, and what stands for no member."""
    database.sql("CREATE TABLE members (id INT PRIMARY KEY, v ENUM('a', '', 'b'), KEY k (v))")
    database.sql("CREATE TABLE numbers (id INT PRIMARY KEY, n INT NOT NULL, KEY k (n))")
    database.sql("INSERT INTO members VALUES (1, 'a'), (2, ''), (3, 'b')")
    database.sql("INSERT INTO numbers VALUES (1, 5), (2, 6), (3, 7)")
    with server.raw("read") as connection:
        for number, table in enumerate(("members", "numbers")):
            assert connection.tokens("P", number, database.name, table, "k", "id") == [b"0", b"1"]
        replies = connection.ask_all(b"0\t=\t1\t\t9\t0", b"1\t=\t1\t5\t9\t0", b"1\t=\t1\t6\t9\t0")
        assert replies == [b"0\t1\t2", b"0\t1\t1", b"0\t1\t2"]


def test_where_a_text_begins_with_nothing_the_parts_before_it_decide(
    server: RowSocketServer, database: Database
) -> None:
    """Whatever the find before was about."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, v VARCHAR(9), KEY k (n, v))")
    database.sql("INSERT INTO t VALUES (1, 1, 'a'), (2, 1, ''), (3, 2, 'a'), (4, 3, 'b')")
    with server.raw("read") as connection:
        assert connection.tokens("P", 0, database.name, "t", "k", "id") == [b"0", b"1"]
        everything, beginning = b"0\t>=\t1\t\0\t9\t0\tR", b"0\t^=\t2\t1\t\t9\t0"
        assert connection.ask_all(everything, beginning) == [b"0\t1\t4\t3\t1\t2", b"0\t1\t2\t1"]


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_texts_with_a_beginning_are_found_in_both_places_of_the_part_before_them(
    server: RowSocketServer, database: Database, direction: str
) -> None:
    """The empty text is a member of the ENUM, and what stands for no member."""
    database.sql(
        f"CREATE TABLE t (id INT PRIMARY KEY, v ENUM('a', '', 'b'), w VARCHAR(9), KEY k (v, w {direction}))"
    )
    database.sql("INSERT INTO t VALUES (1, 'a', 'cat'), (2, '', 'cat'), (3, '', 'dog'), (4, 'b', 'cat')")
    database.sql("INSERT IGNORE INTO t VALUES (5, 'none', 'cat')")
    with server.raw("read") as connection:
        assert connection.tokens("P", 0, database.name, "t", "k", "id") == [b"0", b"1"]
        assert sorted(connection.tokens(0, "^=", 2, "", "ca", 9, 0)[2:]) == [b"2", b"5"]


@pytest.mark.parametrize("type", ["VARCHAR(9)", "ENUM('a', '?')", "SET('a', '?')"])
def test_a_text_with_a_character_that_the_column_lacks_finds_nothing(
    make_twins: MakeTwins, type: str
) -> None:
    """Not what it is once the character is a question mark."""
    twins = make_twins(f"id INT PRIMARY KEY, v {type} CHARACTER SET latin1, KEY k (v)")
    twins.sql("INSERT INTO t VALUES (1, 'a'), (2, '?')")
    index = twins.index("id", "k")
    assert index.find("?") == [(b"2",)]
    assert index.find("ż") == []
    if type == "VARCHAR(9)":
        assert index.starts_with("?") == [(b"2",)]
        assert index.starts_with("ż") == []


@pytest.mark.parametrize("type", ["VARCHAR(9)", "CHAR(9)", "TEXT"])
def test_a_text_with_a_character_that_the_column_lacks_differs_from_all(
    make_twins: MakeTwins, server: RowSocketServer, type: str
) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v {type} CHARACTER SET latin1")
    twins.sql("INSERT INTO t VALUES (1, 'a'), (2, '?'), (3, NULL)")
    with server.raw("read") as wire:
        assert wire.tokens("P", 1, twins.database, "t", "", "id", "v") == [b"0", b"1"]
        assert wire.tokens(1, ">", 1, 0, 9, 0, "F", "!=", 0, "ż")[2:] == [b"1", b"2", b"3"]


@pytest.mark.parametrize(
    ("last", "behind"),
    [
        ("FROM_UNIXTIME(2147483647.999999)", "2200-01-01"),
        ("'2001-02-28 23:59:59.999999'", "2001-02-30"),
    ],
)
def test_the_last_fraction_of_a_second_is_before_what_is_no_moment_behind_it(
    make_twins: MakeTwins, server: RowSocketServer, last: str, behind: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY, v TIMESTAMP(6) NULL, KEY k (v)")
    twins.sql(f"INSERT INTO t VALUES (1, {last})")
    with server.raw("read") as wire:
        assert wire.tokens("P", 1, twins.database, "t", "k", "id") == [b"0", b"1"]
        assert wire.tokens("P", 2, twins.database, "t", "", "id", "v") == [b"0", b"1"]
        for op, found in (("<", [b"1"]), ("<=", [b"1"]), ("=", []), (">=", []), (">", [])):
            assert wire.tokens(1, op, 1, behind, 9, 0)[2:] == found, op
            assert wire.tokens(2, ">=", 1, 0, 9, 0, "F", op, 0, behind)[2:] == found, op


@pytest.mark.parametrize("charset", ["latin1", "ucs2", "utf8mb4"])
def test_members_are_utf8_on_the_wire_whatever_the_column(make_twins: MakeTwins, charset: str) -> None:
    twins = make_twins(
        f"id INT PRIMARY KEY, e ENUM('grün', 'weiß') CHARACTER SET {charset},"
        f" s SET('ä', 'ö') CHARACTER SET {charset}, KEY k (e, s)"
    )
    twins.index("id,e,s").insert([1, "weiß", "ä,ö"])
    twins.sql("INSERT INTO twin VALUES (1, 'weiß', 'ä,ö')")
    twins.assert_equal()
    row = ("weiß".encode(), "ä,ö".encode())
    assert twins.index("e,s", "k").find(["weiß", "ä,ö"]) == [row]


def test_the_value_of_a_filter_is_raw_where_the_columns_are(
    make_twins: MakeTwins, server: RowSocketServer
) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(9) CHARACTER SET latin1, KEY k (v)")
    twins.sql("INSERT INTO t VALUES (1, 'ä'), (2, 'b')")
    with server.raw("read") as wire:
        assert wire.tokens("P", 1, twins.database, "t", "", "id,v", "v", "raw") == [b"0", b"1"]
        assert wire.tokens(1, ">", 1, 0, 9, 0, "F", "=", 0, b"\xe4") == [b"0", b"2", b"1", b"\xe4"]
        assert wire.tokens(1, ">", 1, 0, 9, 0, "F", "=", 0, "ä") == [b"0", b"2"]
