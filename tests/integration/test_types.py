# SPDX-License-Identifier: GPL-2.0-only
"""Every column type: stored and shown as by SQL, as a value and as a key; what does not fit is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

import rowsocket
from rowsocket import Connection, EngineError, Filter, Operator, Value
from support.mariadb import Database, RowSocketServer
from support.twins import Twins, error_number

MakeTwins = Callable[..., Twins]
ALL_BYTES = bytes(range(256))
FOX = "🦊"
OPERATORS: list[Operator] = ["=", ">", ">=", "<", "<="]

INTEGERS: dict[str, list[Value]] = {
    "TINYINT": ["-128", "127", "0", "-1", " 7", "1.0", "1e2"],
    "TINYINT UNSIGNED": ["0", "255", "128"],
    "SMALLINT": ["-32768", "32767"],
    "SMALLINT UNSIGNED": ["0", "65535"],
    "MEDIUMINT": ["-8388608", "8388607", "-1"],
    "MEDIUMINT UNSIGNED": ["0", "16777215"],
    "INT": ["-2147483648", "2147483647", "007", "+5"],
    "INT UNSIGNED": ["0", "4294967295"],
    "INT(6) ZEROFILL": ["0", "42", "4294967295"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807", "9007199254740993"],
    "BIGINT UNSIGNED": ["0", "18446744073709551615", "9223372036854775808"],
}
OTHER_NUMBERS: dict[str, list[Value]] = {
    "DECIMAL(65,30)": ["-" + "9" * 35 + "." + "9" * 30, "0", "0.000000000000000000000000000001"],
    "DECIMAL(10,2)": ["1.050", "-99999999.99", "99999999.99", "0.1", "5"],
    "DECIMAL(10,2) UNSIGNED": ["0", "99999999.99"],
    "DECIMAL(3,3)": ["0.999", "-.5"],
    "FLOAT": ["0.1", "-3.402823e38", "1e-38", "16777216", "0"],
    "DOUBLE": ["0.1", "-1.7976931348623157e308", "5e-324", "1e15", "1e16", "123456789.123456789"],
    "DOUBLE(10,3)": ["1234567.8900", "-0.5"],
    "BIT(1)": [b"\0", b"\1"],
    "BIT(17)": [b"\0\0\0", b"\1\xff\xff", b"\x0a"],
    "BIT(64)": [b"\xff" * 8, b"\0" * 8, b"\1\2\3\4\5\6\7\x08"],
}
TEXTS: dict[str, list[Value]] = {
    "CHAR(10)": ["", "a", "trailing  ", "zażółć", FOX * 10, "t\tl\nnul\0"],
    "VARCHAR(100)": ["", "trailing  ", "żółć " + FOX, "\x0f\x10", "a" * 100, FOX * 100],
    "VARCHAR(2000)": ["x" * 2000],
    "TINYTEXT": ["", "a" * 255, FOX],
    "TEXT": ["", "żółć", "x" * 65535],
    "MEDIUMTEXT": ["x" * 70_000],
    "LONGTEXT": [FOX * 50_000],
    "BINARY(4)": [b"", b"\0\1", b"abcd", b"\xff\xfe\0\0"],
    "VARBINARY(300)": [b"", ALL_BYTES, b"\0", b"trailing\0\0"],
    "TINYBLOB": [b"", ALL_BYTES[:255]],
    "BLOB": [b"", ALL_BYTES, b"x" * 65535],
    "MEDIUMBLOB": [ALL_BYTES * 300],
    "LONGBLOB": [b"\t\n\r\0\1" * 10_000],
    "ENUM('small','medium','großer Hut')": ["small", "großer Hut", "MEDIUM", "2"],
    "SET('a','b','c','ü')": ["", "a", "c,a", "ü,b", "a,b,c,ü", "5"],
    "JSON": ['{"a": [1, 2.50, null]}', '"' + FOX + '"', "[]", "null", '{"b":1,  "a":2}'],
    "UUID": [
        "123e4567-e89b-12d3-a456-426655440000",
        "00000000000000000000000000000000",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ],
    "INET6": ["::", "2001:db8::1", "::ffff:192.0.2.1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    "INET4": ["0.0.0.0", "192.0.2.1", "255.255.255.255"],
}
TIMES: dict[str, list[Value]] = {
    "DATE": [
        *("1000-01-01", "9999-12-31", "2024-02-29", "0000-00-00", "20240229", "2024-02-29 00:00:00"),
    ],
    "TIME": ["-838:59:59", "838:59:59", "00:00:00", "1:2:3", "12:34:56.000"],
    "TIME(6)": ["-838:59:59.999999", "00:00:00.000001", "-00:00:00.5"],
    "DATETIME": [
        "1000-01-01 00:00:00",
        "9999-12-31 23:59:59",
        "2024-02-29T01:02:03",
        "2024-02-29 01:02:03.0",
        "2024-02-29",
        "0000-00-00 00:00:00",
    ],
    "DATETIME(3)": ["2024-02-29 01:02:03.456", "2024-02-29 01:02:03.4560"],
    "DATETIME(6)": ["2024-02-29 01:02:03.000001", "0000-00-00 00:00:00"],
    "TIMESTAMP NULL": [
        "1970-01-02 00:00:01",
        "2038-01-18 03:14:07",
        "0000-00-00 00:00:00",
        "2024-06-30 12:00:00",
    ],
    "TIMESTAMP(6) NULL": ["2024-02-29 01:02:03.123456"],
    "YEAR": ["1901", "2155", "0", "0000", "24"],
}
COMPRESSED: dict[str, list[Value]] = {
    "VARCHAR(2000) COMPRESSED": ["", "a", "x" * 2000],
    "TEXT COMPRESSED": ["", "żółć", "x" * 60_000],
}
TYPES = {**INTEGERS, **OTHER_NUMBERS, **TEXTS, **TIMES, **COMPRESSED}


@pytest.mark.parametrize("type", TYPES)
def test_values_are_stored_and_shown_as_sql_does(make_twins: MakeTwins, type: str) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v {type} DEFAULT NULL")
    index = twins.index("id,v")
    for id, value in enumerate([*TYPES[type], None]):
        index.insert([id, value])
        twins.sql("INSERT INTO twin VALUES (%s, %s)", id, value)
    twins.assert_equal()
    assert index.find(0, ">=", limit=None) == twins.rows()


@pytest.mark.parametrize("type", TYPES)
def test_updates_store_what_sql_stores(make_twins: MakeTwins, type: str) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v {type} DEFAULT NULL")
    index = twins.index("v")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} VALUES (1, NULL)")
    for value in [*TYPES[type], None]:
        assert index.update(1, [value]) == 1
        twins.sql("UPDATE twin SET v = %s WHERE id = 1", value)
        twins.assert_equal()


# FLOAT is shown with fewer digits than it holds: only these are found by what is shown.
KEYS: dict[str, list[Value]] = {**TYPES, "FLOAT": ["-3e38", "0.1", "0", "0.5"]}
for not_a_key in ("JSON", *COMPRESSED):
    del KEYS[not_a_key]
PREFIXED = ("TEXT", "BLOB", "VARCHAR(2000)")


def key_definition(type: str) -> str:
    part = "v(20)" if type.endswith(PREFIXED) else "v"
    return f"v {type.removesuffix(' NULL')} NOT NULL, n INT, KEY k ({part})"


@pytest.mark.parametrize("type", KEYS)
def test_a_key_of_any_type_finds_its_rows(make_twins: MakeTwins, type: str) -> None:
    twins = make_twins(key_definition(type))
    for n, value in enumerate(KEYS[type]):
        twins.sql("INSERT INTO t VALUES (%s, %s)", value, n)
    index = twins.index("n,v", "k")
    for row, shown in twins.sql("SELECT n, v FROM t"):
        equal = twins.sql("SELECT n, v FROM t WHERE v = (SELECT v FROM t WHERE n = %s) ORDER BY n", row)
        assert sorted(index.find(shown, limit=None)) == equal, shown


@pytest.mark.parametrize("type", KEYS)
def test_an_index_of_any_type_is_walked_in_its_order(make_twins: MakeTwins, type: str) -> None:
    twins = make_twins(key_definition(type).replace("KEY k (v)", "KEY k (v, n)"))
    for n, value in enumerate(KEYS[type]):
        twins.sql("INSERT INTO t VALUES (%s, %s)", value, n)
    [(lowest, _), *_] = in_order = twins.sql("SELECT v, n FROM t ORDER BY v, n")
    found = twins.index("v,n", "k").find(lowest, ">=", limit=None)
    # A prefix orders no further than it reaches.
    assert (sorted(found) if type.endswith(PREFIXED) else found) == (
        sorted(in_order) if type.endswith(PREFIXED) else in_order
    )


@pytest.mark.parametrize("type", [type for type in TYPES if type not in COMPRESSED])
def test_null_is_a_key_and_the_empty_string_another(make_twins: MakeTwins, type: str) -> None:
    part = "v(20)" if type.endswith((*PREFIXED, "JSON")) else "v"
    twins = make_twins(f"id INT PRIMARY KEY, v {type} DEFAULT NULL, KEY k ({part})")
    twins.sql("INSERT INTO t VALUES (1, NULL), (2, NULL), (3, %s)", TYPES[type][0])
    assert twins.index("id,v", "k").find(None, limit=None) == [(b"1", None), (b"2", None)]


REFUSED: list[tuple[str, Value]] = [
    ("TINYINT", "128"),
    ("TINYINT", "-129"),
    ("TINYINT UNSIGNED", "-1"),
    ("SMALLINT", "x"),
    ("SMALLINT", ""),
    ("MEDIUMINT", "12x"),
    ("INT", "2147483648"),
    ("INT", "99999999999999999999999"),
    ("INT", FOX),
    ("BIGINT", "9223372036854775808"),
    ("BIGINT UNSIGNED", "18446744073709551616"),
    ("BIGINT UNSIGNED", "-1"),
    ("DECIMAL(5,2)", "1000"),
    ("DECIMAL(5,2)", "x"),
    ("DECIMAL(5,2) UNSIGNED", "-0.01"),
    ("FLOAT", "1e39"),
    ("DOUBLE", "1e400"),
    ("DOUBLE", "1.5x"),
    ("BIT(4)", b"\x10"),
    ("CHAR(2)", "abc"),
    ("VARCHAR(2)", FOX * 3),
    ("TINYTEXT", "x" * 256),
    ("TEXT", "x" * 65536),
    ("VARCHAR(5)", b"\xff"),
    ("VARCHAR(5)", b"a\xc3"),
    ("TEXT", b"\xf5\x80\x80\x80"),
    ("BINARY(2)", b"abc"),
    ("VARBINARY(2)", b"abc"),
    ("TINYBLOB", b"x" * 256),
    ("ENUM('a','b')", "c"),
    ("ENUM('a','b')", "3"),
    ("SET('a','b')", "a,z"),
    ("DATE", "2024-02-30"),
    ("DATE", "2024-13-01"),
    ("DATE", "x"),
    ("TIME", "839:00:00"),
    ("TIME", "12:60:00"),
    ("DATETIME", "2024-01-01 25:00:00"),
    ("DATETIME", "yesterday"),
    ("TIMESTAMP NULL", "1960-01-01 00:00:00"),
    ("TIMESTAMP NULL", "2200-01-01 00:00:00"),
    ("YEAR", "1800"),
    ("YEAR", "x"),
    ("JSON", "{"),
    ("UUID", "x"),
    ("INET6", "2001:db8::g"),
    ("INET4", "1.2.3"),
    ("INT NOT NULL", None),
    ("VARCHAR(5) NOT NULL", None),
]


@pytest.mark.parametrize(("type", "value"), REFUSED)
def test_what_does_not_fit_is_the_error_of_strict_sql_and_changes_nothing(
    make_twins: MakeTwins, type: str, value: Value
) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, other INT, v {type}")
    twins.sql("INSERT INTO t VALUES (1, 10, %s)", "1" if "NOT NULL" in type else None)
    twins.sql("INSERT INTO twin SELECT * FROM t")
    index = twins.index("other,v,id")
    with twins.unchanged():
        with pytest.raises(EngineError) as inserted:
            index.insert([20, value, 2])
        with pytest.raises(EngineError) as updated:
            index.update(1, [20, value])
    assert error_number(inserted.value) == twins.sql_error(
        "INSERT INTO twin (other, v, id) VALUES (20, %s, 2)", value
    )
    assert error_number(updated.value) == twins.sql_error(
        "UPDATE twin SET other = 20, v = %s WHERE id = 1", value
    )


ALTERED = {
    "INT": ("127.5", "127.4", "1e-1", "-0.001"),
    "BIGINT UNSIGNED": ("1.5", "12345678901234567890.5"),
    "YEAR": ("1970.5",),
    "DECIMAL(5,2)": ("1.005", "0.004", "1e-3"),
    "DECIMAL(10,0)": ("127.5",),
    "DOUBLE(7,2)": ("1.005",),
    "DATE": ("2024-01-01 23:59:59", "2024-01-01 00:00:00.5"),
    "TIME": ("2024-01-01 10:00:00", "10:00:00.9", "10:00:00.0000001"),
    "TIME(2)": ("10:00:00.999",),
    "DATETIME": ("2024-01-01 10:00:00.999999", "2024-01-01T10:00:00.5", "20240101100000.5"),
    "DATETIME(3)": ("2024-01-01 10:00:00.9999",),
    "TIMESTAMP NULL": ("2024-01-01 10:00:00.1",),
    "VARCHAR(3)": ("abc ", "abc\t", "abc\n\r"),
    "VARCHAR(3) CHARACTER SET latin1": ("éèê\t",),
    "CHAR(3)": ("abc\t", "abc \n"),
    "CHAR(3) CHARACTER SET latin1": ("éèê\t",),
    "TINYTEXT": ("x" * 255 + " ", "x" * 255 + "\t\n"),
}


@pytest.mark.parametrize("type", ALTERED)
def test_what_sql_would_shorten_or_round_with_a_note_at_most_is_refused(
    make_twins: MakeTwins, type: str
) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v {type}")
    twins.sql("INSERT INTO t VALUES (1, NULL)")
    twins.sql("INSERT INTO twin SELECT * FROM t")
    index = twins.index("id,v")
    number = 1406 if "CHAR" in type or "TEXT" in type else 1265
    for value in ALTERED[type]:
        twins.sql("UPDATE twin SET v = %s", value)
        twins.sql("UPDATE twin SET v = NULL")
        with twins.unchanged():
            with pytest.raises(EngineError) as inserted:
                index.insert([2, value])
            with pytest.raises(EngineError) as updated:
                index.update(1, [1, value])
            with pytest.raises(EngineError) as upserted:
                index.upsert([1, value])
        for error in (inserted.value, updated.value, upserted.value):
            assert error_number(error) == number, value


KEPT: dict[str, list[Value]] = {
    "INT": ["5.0", "1e2", "120e-1", " 7 "],
    "YEAR": ["70", "1970.0"],
    "DECIMAL(5,1)": ["1.50", "15e-1"],
    "FLOAT": ["0.1", "16777217"],
    "DOUBLE": ["0.1", "1e-400"],
    "DATE": ["2024-01-01 00:00:00", "2024-1-1", "24-01-01"],
    "TIME": ["10:00:00.000", "1 10:00:00", "101112"],
    "DATETIME(1)": ["2024-01-01 10:00:00.500", "2024-01-01T10:00", "20240101100000.5"],
    "CHAR(3)": ["abc   ", "ab ", "éèê  "],
    "VARCHAR(3)": ["ab ", "ab\t"],
}


@pytest.mark.parametrize("type", KEPT)
def test_what_loses_nothing_but_its_form_is_stored(make_twins: MakeTwins, type: str) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v {type}")
    for id, value in enumerate(KEPT[type]):
        twins.index("id,v").insert([id, value])
        twins.sql("INSERT INTO twin VALUES (%s, %s)", id, value)
    twins.assert_equal()


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("latin1", "Ærø — ñ €"),
        ("latin2", "zażółć"),
        ("cp1251", "Привет"),
        ("utf8mb3", "日本語"),
        ("utf16", f"日本語 {FOX}"),
        ("utf16le", f"ä{FOX}"),
        ("utf32", f"ä{FOX}"),
        ("ucs2", "zażółć 日本"),
        ("sjis", "日本語テスト"),
        ("gbk", "中文"),
        ("utf8mb4", f"a{FOX}"),
    ],
)
def test_text_is_utf8_on_the_wire_whatever_the_column(make_twins: MakeTwins, charset: str, text: str) -> None:
    twins = make_twins(
        f"v VARCHAR(20) CHARACTER SET {charset} PRIMARY KEY, c CHAR(20) CHARACTER SET {charset}, b TEXT"
        f" CHARACTER SET {charset}"
    )
    index = twins.index("v,c,b")
    index.insert([text, text, text])
    twins.sql("INSERT INTO twin VALUES (%s, %s, %s)", text, text, text)
    twins.assert_equal("HEX(v), HEX(c), HEX(b)")
    encoded = text.encode()
    assert index.get(text) == (encoded, encoded, encoded)
    twins.sql("UPDATE t SET c = '', b = ''")
    index.upsert([text, text, text], update=["c", "b"])
    twins.assert_equal("HEX(v), HEX(c), HEX(b)")


@pytest.mark.parametrize("charset", ["latin1", "utf8mb3", "ucs2", "ascii"])
def test_a_character_that_the_column_lacks_is_refused(make_twins: MakeTwins, charset: str) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET {charset}")
    twins.sql("INSERT INTO t VALUES (1, 'a')")
    index = twins.index("id,v")
    with twins.unchanged(), pytest.raises(EngineError) as raised:
        index.update(1, [1, FOX])
    twins.sql("INSERT INTO twin VALUES (1, 'a')")
    assert error_number(raised.value) == twins.sql_error("UPDATE twin SET v = %s", FOX)


@pytest.mark.parametrize("charset", ["latin1", "utf8mb3"])
def test_a_key_with_a_character_that_the_column_lacks_finds_nothing(
    make_twins: MakeTwins, charset: str
) -> None:
    twins = make_twins(f"v VARCHAR(20) CHARACTER SET {charset} PRIMARY KEY")
    twins.sql("INSERT INTO t VALUES ('a'), ('?')")
    assert twins.index("v").find(FOX, limit=None) == []


@pytest.mark.parametrize("op", [">", ">=", "<", "<="])
def test_no_row_is_before_or_after_a_character_that_the_column_lacks(
    make_twins: MakeTwins, op: Literal[">", ">=", "<", "<="]
) -> None:
    """As in SQL: the replacement's place, the one of `?`, is not that of the character."""
    twins = make_twins("v VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY")
    twins.sql("INSERT INTO t VALUES ('a'), ('?')")
    number = twins.sql_error(f"SELECT * FROM t WHERE v {op} %s", FOX)
    index = twins.index("v", filter_columns="v")
    with pytest.raises(EngineError) as found:
        index.find(FOX, op, limit=None)
    with pytest.raises(EngineError) as deleted:
        index.delete(FOX, op, limit=None)
    with pytest.raises(EngineError) as filtered:
        index.find("", ">=", filters=[Filter("v", op, FOX)], limit=None)
    assert [error_number(error.value) for error in (found, deleted, filtered)] == [number] * 3


def test_a_raw_index_shows_and_takes_the_bytes_of_the_column(
    make_twins: MakeTwins, writer: Connection
) -> None:
    twins = make_twins("v VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY, u VARCHAR(9) CHARACTER SET utf16")
    raw = writer.open_index(twins.database, "t", "v,u", raw=True)
    raw.insert([b"\xe9t\xe9", b"\0a"])
    assert twins.rows() == [("été".encode(), b"a")]
    assert raw.get(b"\xe9t\xe9") == (b"\xe9t\xe9", b"\0a")


def test_every_byte_value_travels_as_key_and_value(make_twins: MakeTwins) -> None:
    twins = make_twins("k VARBINARY(300) PRIMARY KEY, v BLOB")
    index = twins.index("k,v")
    for byte in ALL_BYTES:
        index.insert([bytes([byte]), ALL_BYTES])
    index.insert([ALL_BYTES, b""])
    assert index.get(ALL_BYTES) == (ALL_BYTES, b"")
    assert [index.get(bytes([byte])) for byte in ALL_BYTES] == [
        (bytes([byte]), ALL_BYTES) for byte in ALL_BYTES
    ]
    assert twins.sql("SELECT COUNT(*) FROM t") == [(b"257",)]


@pytest.mark.parametrize(
    "collation",
    ["utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_bin", "utf8mb4_nopad_bin", "latin1_german2_ci"],
)
def test_a_text_key_finds_what_its_collation_calls_equal(make_twins: MakeTwins, collation: str) -> None:
    twins = make_twins(
        f"id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET {collation.split('_')[0]} COLLATE {collation},"
        f" KEY k (v)"
    )
    for id, text in enumerate(["Ada", "ada", "ADA ", "äda", "aeda", "b", ""]):
        twins.sql("INSERT INTO t VALUES (%s, %s)", id, text)
    index = twins.index("id", "k")
    for key in ("ada", "ADA", "ada  ", "Äda", "aeda", "", " ", "B"):
        expected = twins.sql("SELECT id FROM t WHERE v = %s ORDER BY id", key)
        assert sorted(index.find(key, limit=None)) == expected, key


def test_a_timestamp_is_in_the_default_time_zone_of_sql_sessions(
    start: Callable[..., RowSocketServer],
) -> None:
    server = start(RowSocketServer, {"default-time-zone": "+05:30"})
    server.sql("CREATE DATABASE zones")
    server.sql("CREATE TABLE zones.t (id INT PRIMARY KEY, v TIMESTAMP NULL, d DATETIME)")
    server.sql("INSERT INTO zones.t VALUES (1, FROM_UNIXTIME(86400), FROM_UNIXTIME(86400))")
    with rowsocket.connect(*server.write_address(), text=True) as writer:
        index = writer.open_index("zones", "t", "id,v,d")
        assert index.get(1) == ("1", "1970-01-02 05:30:00", "1970-01-02 05:30:00")
        index.insert([2, "1970-01-02 05:30:00", None])
    assert server.sql("SELECT UNIX_TIMESTAMP(v) FROM zones.t") == [(86400,), (86400,)]


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM", "MEMORY"])
def test_tables_of_every_engine_are_read_and_written(make_twins: MakeTwins, engine: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(20), n INT, KEY n (n) USING BTREE", f"ENGINE={engine}")
    index = twins.index("id,v,n")
    by_n = twins.index("id,n", "n")
    for id in range(20):
        index.insert([id, f"v{id}", id % 5])
        twins.sql("INSERT INTO twin VALUES (%s, %s, %s)", id, f"v{id}", id % 5)
    assert index.get(7) == (b"7", b"v7", b"2")
    assert sorted(by_n.find(2, limit=None)) == sorted(twins.sql("SELECT id, n FROM t WHERE n = 2"))
    assert [row[1] for row in by_n.find(3, ">=", limit=None)] == [b"3"] * 4 + [b"4"] * 4
    index.update(7, [7, "changed"])
    index.increment((), [100], in_values=[8, 9], limit=None)
    assert by_n.delete(1, limit=None) == 4
    twins.sql("UPDATE twin SET v = 'changed' WHERE id = 7")
    twins.sql("UPDATE twin SET id = id + 100 WHERE id IN (8, 9)")
    twins.sql("DELETE FROM twin WHERE n = 1")
    twins.assert_equal()


def test_a_hash_index_finds_equal_keys_and_refuses_to_walk(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT, n INT, PRIMARY KEY (id) USING HASH, KEY n (n) USING HASH", "ENGINE=MEMORY")
    twins.sql("INSERT INTO t VALUES (1, 5), (2, 5), (3, 6)")
    index = twins.index("id", "n")
    assert sorted(index.find(5, limit=None)) == [(b"1",), (b"2",)]
    with pytest.raises(rowsocket.ServerError):
        index.find(5, ">", limit=None)
    assert index.find(6) == [(b"3",)]


@pytest.mark.parametrize(
    "partitions",
    [
        "PARTITION BY HASH (id) PARTITIONS 4",
        "PARTITION BY KEY (id) PARTITIONS 3",
        "PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN (1000))",
        "PARTITION BY LIST (id % 3) (PARTITION a VALUES IN (0), PARTITION b VALUES IN (1, 2))",
    ],
)
def test_a_partitioned_table_is_as_any_other(make_twins: MakeTwins, partitions: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, KEY n (n)", partitions)
    index = twins.index("id,n")
    by_n = twins.index("n,id", "n")
    for id in range(30):
        index.insert([id, id // 3])
        twins.sql("INSERT INTO twin VALUES (%s, %s)", id, id // 3)
    assert index.find(0, ">=", limit=None) == twins.rows()
    assert index.find(25, "<=", limit=3) == [(b"25", b"8"), (b"24", b"8"), (b"23", b"7")]
    assert sorted(by_n.find(4, ">=", limit=None)) == sorted(twins.sql("SELECT n, id FROM t WHERE n >= 4"))
    assert index.update(3, [500]) == 1  # into another partition
    assert index.increment(4, [100], ">=", limit=5) == 5
    assert by_n.delete(8, limit=None) == 3
    twins.sql("UPDATE twin SET id = 500 WHERE id = 3")
    twins.sql("UPDATE twin SET id = id + 100 WHERE id BETWEEN 4 AND 8")
    twins.sql("DELETE FROM twin WHERE n = 8")
    twins.assert_equal()


def test_a_row_that_no_partition_takes_is_refused(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY", "PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10))")
    index = twins.index("id")
    index.insert([1])
    with twins.unchanged():
        with pytest.raises(EngineError):
            index.insert([10])
        with pytest.raises(EngineError):
            index.update(1, [10])


@pytest.mark.parametrize(
    "definition",
    ["VIEW v AS SELECT * FROM t", "SEQUENCE v", "TEMPORARY TABLE v (id INT PRIMARY KEY)"],
    ids=["view", "sequence", "temporary"],
)
def test_what_is_no_base_table_is_refused(
    make_twins: MakeTwins, writer: Connection, reader: Connection, definition: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY")
    twins.sql(f"CREATE {definition}")
    for connection in (writer, reader):
        with pytest.raises(rowsocket.OpenTableError) as raised:
            connection.open_index(twins.database, "v", "")
        assert (raised.value.code, raised.value.text) == (1, "open_table")
        assert connection.open_index(twins.database, "t", "id").get(1) is None


@pytest.mark.parametrize(
    ("schema", "table", "index"),
    [
        ("mysql", "global_priv", "PRIMARY"),
        ("MYSQL", "db", "PRIMARY"),
        ("information_schema", "TABLES", "0"),
        ("INFORMATION_SCHEMA", "tables", "0"),
        ("performance_schema", "threads", "PRIMARY"),
        ("sys", "sys_config", "PRIMARY"),
    ],
)
def test_system_schemas_are_refused(
    writer: Connection, reader: Connection, schema: str, table: str, index: str
) -> None:
    for connection in (writer, reader):
        with pytest.raises(rowsocket.OpenTableError):
            connection.open_index(schema, table, "", index)


def test_generated_columns_are_read_as_keys_and_values(make_twins: MakeTwins) -> None:
    twins = make_twins(
        "id INT PRIMARY KEY, a INT, s INT AS (a * 2) STORED, v INT AS (a + 1) VIRTUAL, KEY s (s), KEY v (v)"
    )
    index = twins.index("id,a")
    for id in range(5):
        index.insert([id, id * 10])
        twins.sql("INSERT INTO twin (id, a) VALUES (%s, %s)", id, id * 10)
    index.update(2, [2, 7])
    twins.sql("UPDATE twin SET a = 7 WHERE id = 2")
    twins.assert_equal()
    assert twins.index("id,a,s,v").find(0, ">=", limit=None) == twins.rows("id,a,s,v")
    assert twins.index("id,v", "v").find(8) == [(b"2", b"8")]
    assert twins.index("id,s", "s").find(14) == [(b"2", b"14")]


@pytest.mark.parametrize("column", ["s", "v"])
def test_a_generated_column_can_not_be_set(make_twins: MakeTwins, column: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, a INT, s INT AS (a * 2) STORED, v INT AS (a + 1) VIRTUAL")
    twins.sql("INSERT INTO t (id, a) VALUES (1, 1)")
    twins.sql("INSERT INTO twin (id, a) VALUES (1, 1)")
    index = twins.index(f"{column},id")
    with twins.unchanged():
        with pytest.raises(EngineError) as raised:
            index.update(1, [5])
        with pytest.raises(EngineError):
            index.insert([5, 2])
        with pytest.raises(EngineError):
            index.increment(1, [1])
    assert error_number(raised.value) == twins.sql_error(f"UPDATE twin SET {column} = 5")


def test_a_database_a_table_and_columns_may_have_any_name(database: Database, writer: Connection) -> None:
    database.sql(
        "CREATE TABLE `sch öne.täb``le/` (`i d` INT PRIMARY KEY, `grüße 日本` VARCHAR(9), KEY `k·1` (`grüße"
        " 日本`))"
    )
    index = writer.open_index(database.name, "sch öne.täb`le/", ["i d", "grüße 日本"], "k·1")
    index.insert([1, "x"])
    assert index.get("x") == ("1", "x")


def test_columns_may_repeat_and_stand_in_any_order(make_twins: MakeTwins) -> None:
    twins = make_twins("a INT PRIMARY KEY, b INT, c INT")
    twins.sql("INSERT INTO t VALUES (1, 2, 3)")
    assert twins.index("c,a,c").get(1) == (b"3", b"1", b"3")


def test_rows_of_thousands_of_bytes_travel_in_one_reply(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v LONGBLOB")
    index = twins.index("id,v")
    values = [bytes([id]) * 1_000_000 for id in range(8)]
    for id, value in enumerate(values):
        index.insert([id, value])
    assert [row[1] for row in index.find(0, ">=", limit=None)] == values
