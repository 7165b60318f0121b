# SPDX-License-Identifier: GPL-2.0-only
"""Values that are searched for: of each type of column, a key and a filter find the rows that SQL's `WHERE`
finds, also where the value is one that no row can have."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from support.mariadb import Database
from support.raw import RawConnection

NUMBERS = [
    *("0", "1", "-1", "127", "128", "-128", "255", "256", "32767", "2147483647", "-2147483649"),
    *("9223372036854775807", "18446744073709551616", "9" * 90, "-" + "9" * 90, "1e400", "-1e400", "1e-400"),
    *("1e3", "1.5", "-1.5", " 7", "7 ", "abc", "", "+5", "007", "0x10", "12abc", ".5", "- 1", "1.005"),
]
YEARS = [
    *("0000", "00", "12", "69", "70", "99", "100", "1899", "1900", "1901", "1970", "1970.5", "2000", "2024"),
    *("2069", "2155", "2155.5", "2156", "2012x"),
]
TIMES = [
    *("2020-01-01", "2020-02-30", "0000-00-00", "2020-00-00", "2020-01-01 12:34:56", "2020-1-1", "20-1-1"),
    *("2020-01-01 12:34:56.789", "2020-01-01T12:34:56", "20200101", "20200101123456", "200101", "1"),
    *("2020-01-01 00:00:00.0000001", "2020-01-01 23:59:59.9999999", "2020-01-01 00:00:00.000000"),
    *("2038-01-19 03:14:07", "2038-01-19 03:14:08", "1970-01-01 00:00:00", "9999-12-31 23:59:59", "abc", ""),
    *("12:34:56", "-12:34:56", "12:34:56.0000001", "12:34:56.7899999", "838:59:59", "900:00:00", "10:00"),
    *("1 12:00:00", "101112", "-00:00:01", "99:99:99", "2020-01-01 ", "2020-01-01x", "2020-01-01 25:00:00"),
]
BINARIES = ["", "a", "ab", "abc", "abcd", "abcde", "a\0", "a\0\0\0", "a ", "b", "\0"]
MEMBERS = ["", "a", "b", "c", "A", "a ", "q", "1", "2", "99", "a,c", "c,a", "a,z", "a,a", "b,c", "ü", "🦊"]
UUIDS = [
    *("123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "", "abc"),
    *("ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"),
]
ADDRESSES = ["::", "::1", "1.2.3.4", "::ffff:1.2.3.4", "ff::1", "abc", "", "255.255.255.255", "0.0.0.0"]

TEXTS = [
    *("", "a", "ab", "ab ", "abb", "abc", "abd", "b", "abc ", "abc  ", "ab  ", "a   ", "abc\t", "abc\n\r"),
    *(
        "abc \t",
        "abc\x01",
        "abc\x1f",
        "abc\x7f",
        "abcd",
        "abb\t",
        "abd\n",
        "   ",
        "    ",
        "  \t",
        "   \t",
        "abbz",
    ),
]
IGNORED = [*TEXTS, "abc\u00ad", "\u00ad\u00adabc", "a\u00adbc", "abc\u200d\u200d", "ab\u00ad  "]
TEXT_TYPES = {
    **{
        f"{type}(3) {charset}": TEXTS
        for type in ("VARCHAR", "CHAR")
        for charset in (
            *("CHARACTER SET latin1", "CHARACTER SET ucs2", "CHARACTER SET utf16", "CHARACTER SET utf32"),
            *("CHARACTER SET gbk", "COLLATE utf8mb4_general_ci", "COLLATE utf8mb4_bin"),
            *("COLLATE utf8mb4_nopad_bin", "COLLATE utf8mb4_general_nopad_ci"),
        )
    },
    **{
        f"{type}(3) COLLATE {collation}": IGNORED
        for type in ("VARCHAR", "CHAR")
        for collation in ("utf8mb4_unicode_ci", "uca1400_ai_ci", "utf8mb4_unicode_nopad_ci")
    },
}

TYPES = {
    **dict.fromkeys(
        ["TINYINT", "INT UNSIGNED", "BIGINT", "DECIMAL(10,2)", "DECIMAL(5,0) UNSIGNED", "DECIMAL(65,30)"],
        NUMBERS,
    ),
    **dict.fromkeys(["DOUBLE", "DOUBLE UNSIGNED"], NUMBERS),
    "YEAR": YEARS + NUMBERS,
    **dict.fromkeys(["DATE", "DATETIME", "DATETIME(3)", "TIMESTAMP(2)", "TIME", "TIME(2)", "TIME(6)"], TIMES),
    **dict.fromkeys(["BINARY(4)", "VARBINARY(4)"], BINARIES),
    **dict.fromkeys(
        ["ENUM('c','a','b','ü')", "SET('a','b','c')", "ENUM('a','b') COLLATE utf8mb4_bin"], MEMBERS
    ),
    "UUID": UUIDS,
    "INET6": ADDRESSES,
    "INET4": ADDRESSES,
}
OPERATORS = ("=", "<", "<=", ">", ">=")


class Searched:
    """A table `t` with a column `v` of a type, and what RowSocket and SQL find in it."""

    def __init__(self, database: Database, wire: RawConnection, definition: str, values: list[str]) -> None:
        self.database, self.wire = database, wire
        self.is_filled = definition.startswith("v BINARY(4)")
        self.is_time = definition.startswith(("v TIME ", "v TIME("))
        database.sql("SET sql_mode = 'ALLOW_INVALID_DATES'")
        database.sql(f"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, {definition})")
        for value in values:
            database.sql("INSERT IGNORE INTO t (v) VALUES (%s)", [value])
        assert wire.tokens("P", 1, database.name, "t", "k", "id") == [b"0", b"1"]
        assert wire.tokens("P", 2, database.name, "t", "", "id", "v") == [b"0", b"1"]

    def by_key(self, operator: str, *key: str) -> list[int]:
        return self._ids(1, operator, len(key), *key, 999, 0)

    def by_filter(self, operator: str, value: str) -> list[int]:
        return self._ids(2, ">", 1, 0, 999, 0, "F", operator, 0, value)

    def by_sql(self, operator: str, value: str) -> list[int]:
        condition, values = f"v {operator} %s", [value.ljust(4, "\0") if self.is_filled else value]
        if self.is_time and operator == "=":
            # A date before the time is counted from today by SQL's `=` alone, where it finds a row that
            # neither `<=` nor `>=` finds. These take the time of day.
            condition, values = "v >= %s AND v <= %s", [value, value]
        query = f"SELECT id FROM t IGNORE INDEX (k) WHERE {condition} ORDER BY id"
        return [row[0] for row in self.database.sql(query, values)]

    def by_sql_in_index(self, operator: str, value: str) -> list[int]:
        query = f"SELECT id FROM t FORCE INDEX (k) WHERE n = 1 AND v {operator} %s ORDER BY id"
        return [row[0] for row in self.database.sql(query, [value])]

    def _ids(self, *tokens: str | int) -> list[int]:
        reply = self.wire.tokens(*tokens)
        assert reply[0] == b"0", (tokens, reply)
        return sorted(int(value) for value in reply[2:])


@pytest.fixture
def search(database: Database, raw: Callable[[str], RawConnection]) -> Callable[[str, list[str]], Searched]:
    """search(definition of `v` and the index `k`, values)"""
    return lambda definition, values: Searched(database, raw("read"), definition, values)


Search = Callable[[str, list[str]], Searched]


def is_member(type: str) -> bool:
    return type.startswith(("ENUM", "SET"))


@pytest.mark.parametrize("type", TYPES)
def test_a_key_finds_what_sql_finds(search: Search, type: str) -> None:
    table = search(f"v {type} NOT NULL, KEY k (v)", TYPES[type])
    # An index over ENUM or SET is in the order of the members, which SQL does not compare by.
    for operator in "=" if is_member(type) else OPERATORS:
        for value in TYPES[type]:
            assert table.by_key(operator, value) == table.by_sql(operator, value), (operator, value)


@pytest.mark.parametrize("type", ["INT", "BIGINT UNSIGNED", "DECIMAL(10,2)", "DECIMAL(65,30)"])
def test_more_digits_than_a_double_has_count_as_in_a_number_literal(search: Search, type: str) -> None:
    table = search(f"v {type} NOT NULL, KEY k (v)", ["4", "5", "6"])
    for value in ("5." + "0" * 40 + "1", "4." + "9" * 40):
        for operator in OPERATORS:
            query = f"SELECT id FROM t IGNORE INDEX (k) WHERE v {operator} {value} ORDER BY id"
            expected = [row[0] for row in table.database.sql(query)]
            assert table.by_key(operator, value) == table.by_filter(operator, value) == expected, operator
        assert table.by_sql("=", value) == [2], "SQL compares text as a DOUBLE"


@pytest.mark.parametrize("type", TYPES)
def test_a_filter_finds_what_sql_finds(search: Search, type: str) -> None:
    table = search(f"v {type} NOT NULL, KEY k (v)", TYPES[type])
    for operator in (*OPERATORS, "!="):
        for value in TYPES[type]:
            expected = table.by_sql(operator, value)
            assert table.by_filter(operator, value) == expected, (operator, value)


@pytest.mark.parametrize("type", [type for type in TYPES if not is_member(type)])
@pytest.mark.parametrize("order", ["v DESC", "n, v"])
def test_a_key_finds_it_in_every_kind_of_index(search: Search, type: str, order: str) -> None:
    table = search(f"v {type} NOT NULL, n INT DEFAULT 1, KEY k ({order})", TYPES[type])
    before = ("1",) if order == "n, v" else ()
    for operator in OPERATORS:
        sql_operator = operator.translate(str.maketrans("<>", "><")) if "DESC" in order else operator
        for value in TYPES[type]:
            expected = table.by_sql(sql_operator, value)
            assert table.by_key(operator, *before, value) == expected, (operator, value)


@pytest.mark.parametrize("type", TEXT_TYPES)
@pytest.mark.parametrize("order", ["v", "v DESC", "n, v", "v, n"])
def test_a_text_longer_than_its_column_finds_what_sql_finds(search: Search, type: str, order: str) -> None:
    table = search(f"v {type} NOT NULL, n INT DEFAULT 1, KEY k ({order})", TEXT_TYPES[type])
    before = ("1",) if order == "n, v" else ()
    for operator in OPERATORS:
        sql_operator = operator.translate(str.maketrans("<>", "><")) if "DESC" in order else operator
        for value in TEXT_TYPES[type]:
            expected = table.by_sql(sql_operator, value)
            assert table.by_filter(sql_operator, value) == expected, (operator, value)
            if type.startswith("CHAR") and "nopad" in type:
                # The index has "a" behind "a\t", but SQL's comparison before it: SQL misses rows, too.
                expected = table.by_sql_in_index(sql_operator, value)
            assert table.by_key(operator, *before, value) == expected, (operator, value)


def test_a_part_before_the_value_decides_alone(search: Search) -> None:
    """As in SQL, where (n > 2 OR n = 2 AND v > 'x') is true of a greater n."""
    table = search("v UUID, n INT, KEY k (n, v)", UUIDS[:1] * 3)
    table.database.sql("UPDATE t SET n = id")
    found = {operator: table.by_key(operator, "2", "no uuid") for operator in OPERATORS}
    assert found == {"=": [], "<": [1], "<=": [1], ">": [3], ">=": [3]}


@pytest.mark.parametrize("type", ["ENUM('c','a','b')", "SET('c','a','b')"])
def test_what_is_no_member_has_no_place_in_the_order_of_members(search: Search, type: str) -> None:
    table = search(f"v {type} NOT NULL, KEY k (v)", ["a", "b", "c"])
    assert [table.by_key(operator, "q") for operator in OPERATORS] == [[]] * len(OPERATORS)
    assert table.by_key(">", "c") == [1, 2]


@pytest.mark.parametrize(
    ("type", "values", "none"),
    [
        ("UUID", UUIDS[:1], "x"),
        ("INET6", ["::1"], "1.2.3"),  # 11.8 takes an address of IPv4 for one of IPv6
        ("ENUM('a','b')", ["b"], "q"),
        ("SET('a','b')", ["a,b"], "a,q"),
    ],
)
def test_an_in_list_and_both_ends_of_a_range_take_what_is_no_value(
    search: Search, type: str, values: list[str], none: str
) -> None:
    table = search(f"v {type} NOT NULL, KEY k (v)", values)
    listed = table.wire.tokens(1, "=", 1, "", 9, 0, "@", 0, 3, none, values[0], none)
    assert listed == [b"0", b"1", b"1"]
    assert table.wire.tokens(1, ">=", 1, values[0], 9, 0, "T", "<=", 1, none) == [b"0", b"1"]
    assert table.wire.tokens(1, "<=", 1, values[0], 9, 0, "T", ">=", 1, none) == [b"0", b"1"]


def test_a_text_of_a_float_finds_its_row(search: Search) -> None:
    """SQL compares a FLOAT by its value as DOUBLE, and so does not find what it shows as 0.1."""
    table = search("v FLOAT, KEY k (v)", ["0.1", "1e39", "-1e39"])
    assert [table.by_key("=", "0.1"), table.by_filter("=", "0.1")] == [[1], [1]]
    for operator in OPERATORS:
        for value in ("1e39", "-1e39", "1e400", "abc"):
            assert table.by_key(operator, value) == table.by_sql(operator, value), (operator, value)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_prefix_of_a_binary_column_decides_nothing_alone(search: Search, size: int) -> None:
    table = search(f"v BINARY(4), KEY k (v({size}))", BINARIES)
    for operator in OPERATORS:
        for value in BINARIES:
            assert table.by_key(operator, value) == table.by_sql(operator, value), (operator, value)


EMPTY_MEMBERS = {
    **dict.fromkeys(["ENUM('a','','b')", "ENUM('','a')", "ENUM('b','a','') COLLATE utf8mb4_bin"], 4),
    **dict.fromkeys(["ENUM('a',' ','b')", "ENUM('a','b')"], 4),
    **dict.fromkeys(["SET('','a')", "SET('b','','a')", "SET('a','b')"], 8),
}
"""Types, and how many numbers a column of it can have."""


def with_every_number(search: Search, definition: str, count: int) -> Searched:
    """A row of each number that the column takes, twice; 0 is an ENUM's error value."""
    table = search(definition, [])
    table.database.sql("SET sql_mode = ''")
    for number in (*range(count), *range(count)):
        table.database.sql("INSERT IGNORE INTO t (v) VALUES (%s)", [number])
    return table


@pytest.mark.parametrize("type", EMPTY_MEMBERS)
@pytest.mark.parametrize("order", ["v", "v DESC", "n, v", "v, n"])
def test_the_empty_text_is_a_member_and_no_member(search: Search, type: str, order: str) -> None:
    table = with_every_number(search, f"v {type}, n INT DEFAULT 1, KEY k ({order})", EMPTY_MEMBERS[type])
    before, behind = ("1",) if order == "n, v" else (), ("1",) if order == "v, n" else ()
    for value in ("", " ", "a", "b", ",a", "q"):
        expected = table.by_sql("=", value)
        assert table.by_filter("=", value) == table.by_key("=", *before, value, *behind) == expected, value
        listed = table.wire.tokens(1, "=", 1 + len(before), *before, "", 99, 0, "@", len(before), 1, value)
        assert sorted(map(int, listed[2:])) == expected, value
        for operator in OPERATORS:
            assert table.by_filter(operator, value) == table.by_sql(operator, value), (operator, value)


@pytest.mark.parametrize("type", ["ENUM('a','','b')", "SET('b','','a')"])
def test_a_change_meets_the_empty_text_as_sql_does(
    search: Search, raw: Callable[[str], RawConnection], type: str
) -> None:
    table = with_every_number(search, f"v {type}, KEY k (v)", 4)
    wire = raw("write")
    assert wire.tokens("P", 1, table.database.name, "t", "k", "v") == [b"0", b"1"]
    table.database.sql("CREATE TABLE twin SELECT * FROM t")
    rows = "SELECT id, v + 0 FROM {} ORDER BY id"
    for old, new in (("", "b"), ("a", ""), ("b", "a")):
        changed = table.by_sql("=", old)
        table.database.sql("UPDATE twin SET v = %s WHERE v = %s", [new, old])
        assert wire.tokens(1, "=", 1, old, 99, 0, "U", new) == [b"0", b"1", str(len(changed)).encode()]
        assert table.database.sql(rows.format("t")) == table.database.sql(rows.format("twin")), (old, new)


def test_the_empty_text_as_the_end_of_a_range_is_the_member(search: Search) -> None:
    """The error value stands before all members."""
    table = with_every_number(search, "v ENUM('a','','b') NOT NULL, KEY k (v)", 4)
    numbers = {"<": {0, 1}, "<=": {0, 1, 2}, ">": {3}, ">=": {2, 3}}
    for operator, wanted in numbers.items():
        expected = [id for id, number in table.database.sql("SELECT id, v + 0 FROM t") if number in wanted]
        assert table.by_key(operator, "") == sorted(expected), operator


# Alphabets with characters that count as two, for nothing, or as one together.
UNEVEN = {
    "CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci": "sßa\u00ad",
    "CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_ai_ci": "sßa\u00ad",
    "CHARACTER SET utf8mb4 COLLATE utf8mb4_german2_ci": "aäe",
    "CHARACTER SET latin1 COLLATE latin1_german2_ci": "sßä",
    "CHARACTER SET utf8mb4 COLLATE utf8mb4_danish_ci": "aåb",
    "CHARACTER SET utf8mb4 COLLATE utf8mb4_czech_ci": "chz",
}


def texts_over(alphabet: str, sizes: range) -> list[str]:
    return ["".join(letters) for size in sizes for letters in itertools.product(alphabet, repeat=size)]


@pytest.mark.parametrize("collation", UNEVEN)
@pytest.mark.parametrize("order", ["v", "v DESC", "n, v", "v, n"])
def test_a_longer_text_may_equal_a_shorter_one(search: Search, collation: str, order: str) -> None:
    alphabet = UNEVEN[collation]
    table = search(
        f"v VARCHAR(2) {collation} NOT NULL, n INT DEFAULT 1, KEY k ({order})", texts_over(alphabet, range(3))
    )
    before = ("1",) if order == "n, v" else ()
    for operator in OPERATORS:
        sql_operator = operator.translate(str.maketrans("<>", "><")) if "DESC" in order else operator
        for value in texts_over(alphabet, range(3, 5))[:: 3 if len(alphabet) > 3 else 1]:
            expected = table.by_sql(sql_operator, value)
            assert table.by_key(operator, *before, value) == expected, (operator, value)


@pytest.mark.parametrize("collation", list(UNEVEN)[:4])
@pytest.mark.parametrize("order", ["v(2)", "v(2) DESC", "n, v(2)", "v(2), n"])
def test_a_prefix_may_begin_otherwise_than_the_text(search: Search, collation: str, order: str) -> None:
    alphabet = UNEVEN[collation]
    rows = texts_over(alphabet.replace("\u00ad", ""), range(5))
    table = search(f"v VARCHAR(9) {collation} NOT NULL, n INT DEFAULT 1, KEY k ({order})", rows)
    before = ("1",) if order == "n, v(2)" else ()
    for operator in OPERATORS:
        sql_operator = operator.translate(str.maketrans("<>", "><")) if "DESC" in order else operator
        for value in texts_over(alphabet, range(1, 5))[::5]:
            expected = table.by_sql(sql_operator, value)
            assert table.by_key(operator, *before, value) == expected, (operator, value)


@pytest.mark.parametrize("collation", list(UNEVEN)[:3])
def test_a_prefix_finds_a_text_with_characters_that_do_not_count(search: Search, collation: str) -> None:
    """Equal texts that begin otherwise may be missed, as SQL's walk over the index misses them. Never the
    same text."""
    rows = texts_over("a\u00ad\u0301b", range(5))
    table = search(f"v VARCHAR(9) {collation} NOT NULL, KEY k (v(2))", rows)
    for id, value in enumerate(rows, 1):
        query = "SELECT id FROM t FORCE INDEX (k) WHERE v = %s"
        in_index = {row[0] for row in table.database.sql(query, [value])}
        assert in_index | {id} <= set(table.by_key("=", value)) <= set(table.by_sql("=", value)), value
        for operator in (">=", "<="):
            assert id in table.by_key(operator, value), (operator, value)


@pytest.mark.parametrize("character_set", ["ucs2", "utf16", "utf32"])
@pytest.mark.parametrize("collation", ["unicode_ci", "uca1400_ai_ci", "uca1400_nopad_as_cs"])
@pytest.mark.parametrize("size", [1, 3])
def test_a_prefix_of_wide_characters_finds_plain_letters(
    search: Search, character_set: str, collation: str, size: int
) -> None:
    values = ["b", "bb", "bcd", "hello", "hello world", "Zoë", "c"]
    column = f"v TEXT CHARACTER SET {character_set} COLLATE {character_set}_{collation} NOT NULL"
    table = search(f"{column}, KEY k (v({size}))", values)
    for operator in OPERATORS:
        for value in values:
            assert table.by_key(operator, value) == table.by_sql(operator, value), (operator, value)


LAST = ["\U0010ffff", "\U0010fffd", "\U0001f98a", "\uffff", "\ufffd"]


@pytest.mark.parametrize("collation", ["unicode_ci", "uca1400_ai_ci", "uca1400_nopad_ai_ci", "general_ci"])
@pytest.mark.parametrize("definition", ["VARCHAR(1) {}, KEY k (v)", "TEXT {}, KEY k (v(1))"])
def test_a_longer_text_of_the_last_characters_finds_what_sql_finds(
    search: Search, collation: str, definition: str
) -> None:
    text = f"CHARACTER SET utf8mb4 COLLATE utf8mb4_{collation} NOT NULL"
    table = search(f"v {definition.format(text)}", ["a", "z", *LAST])
    for operator in OPERATORS:
        for last in LAST:
            for value in (last * 2, last * 3, "z" + last, last + "a"):
                assert table.by_key(operator, value) == table.by_sql(operator, value), (operator, value)


def test_the_last_characters_behind_another_part_are_no_error(search: Search) -> None:
    column = "v TINYTEXT COLLATE utf8mb4_uca1400_czech_nopad_as_cs NOT NULL"
    table = search(f"{column}, n INT DEFAULT 1, KEY k (n, v(2))", ["a", LAST[0] * 3])
    assert table.by_key("=", "1", LAST[0] * 2) == []
    assert table.by_key("=", "1", LAST[0] * 3) == [2]
    assert table.by_key("<", "2", LAST[0] * 2) == [1, 2]
    assert table.by_key(">", "0", LAST[0] * 2 + "a") == [1, 2]
    reply = table.wire.tokens(1, ">=", 1, "1", 9, 0, "T", "<=", 2, "1", LAST[0] * 2)
    assert reply == [b"0", b"1", b"1"]
