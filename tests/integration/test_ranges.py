# SPDX-License-Identifier: GPL-2.0-only
"""Ranges, prefixes and reverse order over every kind of key: the rows that the SELECT that means the same
gives, in its order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection, token

WORDS = [
    "a",
    "A",
    "ab",
    "aB",
    "abc",
    "abcd",
    "abcdefghijk",
    "abcdefghijz",
    "á",
    "ä",
    "ß",
    "ss",
    "b",
    "B%",
    "%_%_%_%_%_%_%_%_%",
    "b_",
    "b\\",
    "bb",
    "",
    "z",
]
LATIN = [word for word in WORDS if word.isascii() or word in "áäß"]


@pytest.fixture
def ask(server: RowSocketServer, database: Database) -> Callable[..., list[list[str]]]:
    """ask(definition, words, request...): the words found over index `by_w` of a new table of them."""

    def make(definition: str, words: list[str], *requests: list[str | int]) -> list[list[str]]:
        database.sql("DROP TABLE IF EXISTS t")
        database.sql(f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, w {definition})")
        for word in words:
            database.sql("INSERT INTO t (w) VALUES (%s)", [word])
        with server.raw("read") as connection:
            assert connection.tokens("P", 1, database.name, "t", "by_w", "w") == [b"0", b"1"]
            return [found(connection, request) for request in requests]

    return make


def found(connection: RawConnection, request: list[str | int]) -> list[str]:
    reply = connection.tokens(1, *request)
    assert reply[:2] == [b"0", b"1"], reply
    return [value.decode() for value in reply[2:]]


def steps(server: RowSocketServer) -> int:
    """How often the server has gone from a row to the next one of an index."""
    return int(server.status("Handler_read_next")["Handler_read_next"])


def sql_words(database: Database, where: str, parameters: list[str], order: str = "ASC") -> list[str]:
    return [
        row[0]
        for row in database.sql(f"SELECT w FROM t WHERE {where} ORDER BY w {order}, id {order}", parameters)
    ]


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, KEY by_w (w)", WORDS),
        ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, KEY by_w (w)", WORDS),
        ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, KEY by_w (w)", WORDS),
        ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE uca1400_ai_ci, KEY by_w (w)", WORDS),
        ("VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german2_ci, KEY by_w (w)", LATIN),
        ("VARCHAR(20) CHARACTER SET ucs2, KEY by_w (w)", WORDS),
        ("VARCHAR(20) CHARACTER SET utf8mb4, KEY by_w (w DESC)", WORDS),
        ("CHAR(20) CHARACTER SET utf8mb4, KEY by_w (w)", WORDS),
        ("VARCHAR(20) CHARACTER SET utf8mb4, KEY by_w (w(3))", WORDS),
        ("TEXT CHARACTER SET utf8mb4, KEY by_w (w(5))", WORDS),
        ("VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL, KEY by_w (w)", WORDS),
    ],
)
def test_a_prefix_finds_what_like_finds(
    ask: Callable[..., list[list[str]]], database: Database, definition: str, words: list[str]
) -> None:
    prefixes = ["a", "A", "ab", "abcdefghij", "b", "b%", "B_", "b\\", "ss", "", "none", "á"]
    prefixes.append("%_%_%_%_%_%_%_%_")
    answers = ask(definition, words, *(["^=", 1, prefix, 100, 0] for prefix in prefixes))
    for prefix, answer in zip(prefixes, answers, strict=True):
        like = "".join("\\" + letter if letter in "%_\\" else letter for letter in prefix) + "%"
        assert sorted(answer) == sorted(sql_words(database, "w LIKE %s", [like])), prefix


@pytest.mark.parametrize(
    "collation",
    [
        "utf8mb4_general_ci",
        "utf8mb4_bin",
        "utf8mb4_czech_ci",
        "uca1400_ai_ci",
        "latin1_german2_ci",
        "latin1_swedish_ci",
    ],
)
def test_a_prefix_reads_the_rows_of_its_range_only(
    server: RowSocketServer, database: Database, collation: str
) -> None:
    """Also where the first letter would be half of another one before an `h`."""
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, w VARCHAR(20) CHARACTER SET"
        f" {'latin1' if 'latin1' in collation else 'utf8mb4'} COLLATE {collation}, KEY by_w (w))"
    )
    database.sql("INSERT INTO t SELECT seq, CONCAT('cat ', seq) FROM seq_1000_to_1999")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "by_w", "id") == [b"0", b"1"]
        before = steps(server)
        assert connection.tokens(1, "^=", 1, "cat 155", 99, 0)[2:] == [b"%d" % id for id in range(1550, 1560)]
        assert steps(server) - before < 100


@pytest.mark.parametrize("collation", ["uca1400_ai_ci", "uca1400_as_cs", "utf8mb4_czech_ci"])
def test_a_key_over_a_prefix_of_its_column_reads_the_rows_of_its_beginning_only(
    server: RowSocketServer, database: Database, collation: str
) -> None:
    """Also where two characters may count as one, so that rows which begin otherwise are looked at."""
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, w VARCHAR(20) CHARACTER SET utf8mb4"
        f" COLLATE {collation}, KEY by_w (w(7)))"
    )
    database.sql("INSERT INTO t SELECT seq, CONCAT('key ', seq) FROM seq_1000_to_1999")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "by_w", "id") == [b"0", b"1"]
        before = steps(server)
        assert connection.tokens(1, "=", 1, "key 1555", 99, 0) == [b"0", b"1", b"1555"]
        assert steps(server) - before < 100


@pytest.mark.parametrize("number", [128, -129, "1.5"])
def test_a_prefix_behind_a_value_that_no_row_can_have_finds_nothing(
    server: RowSocketServer, database: Database, number: int | str
) -> None:
    database.sql("CREATE TABLE t (n TINYINT, w VARCHAR(20), PRIMARY KEY (n, w))")
    database.sql("INSERT INTO t VALUES (127, 'ab'), (-128, 'ab'), (1, 'ab'), (2, 'ab')")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "n") == [b"0", b"1"]
        assert connection.tokens(1, "^=", 2, 127, "a", 9, 0) == [b"0", b"1", b"127"]
        assert connection.tokens(1, "^=", 2, number, "a", 9, 0) == [b"0", b"1"]


@pytest.mark.parametrize("index", ["w", "w(2)", "w DESC"])
@pytest.mark.parametrize(
    "definition",
    [
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "CHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
        "CHAR(20) CHARACTER SET utf8mb4 COLLATE uca1400_ai_ci",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_czech_ci",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_thai_520_w2",
        "VARCHAR(20) CHARACTER SET utf32 COLLATE utf32_unicode_ci",
    ],
)
def test_a_prefix_finds_what_sorts_at_the_ends_of_a_collation(
    ask: Callable[..., list[list[str]]], database: Database, definition: str, index: str
) -> None:
    """SQL's own LIKE leaves out some of them where it uses the index."""
    prefixes = ["", "a", "c", "เ", "😀"]
    ends = ["", "\t", "\0", "h", "ก", "\ufffd", "\uffff", "😀", "\U00020000", "\U0010ffff" * 9]
    words = [prefix + end for prefix in prefixes for end in ends]
    requests = [["^=", 1, prefix, 100, 0, *reverse] for prefix in prefixes for reverse in ([], ["R"])]
    answers = iter(ask(f"{definition}, KEY by_w ({index})", words, *requests))
    for prefix in prefixes:
        like = database.sql("SELECT w FROM t IGNORE INDEX (by_w) WHERE w LIKE %s", [f"{prefix}%"])
        tokens = sorted(token(word).decode() for (word,) in like)
        assert [sorted(next(answers)), sorted(next(answers))] == [tokens, tokens], prefix


def one_byte_collations(server: RowSocketServer) -> list[tuple[str, str]]:
    """Character sets whose characters are one byte each, with their collations."""
    rows = server.sql(
        "SELECT COLLATION_NAME, CHARACTER_SET_NAME FROM information_schema.COLLATIONS"
        " JOIN information_schema.CHARACTER_SETS USING (CHARACTER_SET_NAME)"
        " WHERE MAXLEN = 1 AND CHARACTER_SET_NAME <> 'binary'"
    )
    return [(collation, charset) for collation, charset in rows]


@pytest.mark.slow
def test_a_prefix_of_any_byte_finds_what_like_finds(server: RowSocketServer, database: Database) -> None:
    """With `%` and `_`, in character sets that lack the backslash, and bytes that mean no character."""
    texts = [before + bytes([byte]) for before in (b"", b"a") for byte in range(256)]
    prefixes = [texts[byte + 256 * (byte % 2)] for byte in range(256)]
    for number, (collation, charset) in enumerate(one_byte_collations(server)):
        as_text = f"CONVERT(CAST(%s AS BINARY) USING {charset}) COLLATE {collation}"
        type = f"VARCHAR(20) CHARACTER SET {charset} COLLATE {collation}"
        database.sql(f"CREATE TABLE t{number} (id INT PRIMARY KEY, w {type}, KEY w (w))")
        database.sql(f"INSERT INTO t{number} VALUES " + ",".join(f"({id}, '')" for id in range(len(texts))))
        with server.raw("write") as wire:
            opened = wire.tokens("P", 1, database.name, f"t{number}", "", "w", "", "raw")
            assert opened == wire.tokens("P", 2, database.name, f"t{number}", "w", "id", "", "raw")
            for id, text in enumerate(texts):
                assert wire.tokens(1, "=", 1, id, 1, 0, "U", text) == [b"0", b"1", b"1"]
            for prefix in prefixes:
                like = prefix.replace(b"\1", b"\1\1").replace(b"%", b"\1%").replace(b"_", b"\1_") + b"%"
                query = f"SELECT id FROM t{number} IGNORE INDEX (w) WHERE w LIKE {as_text} ESCAPE X'01'"
                wanted = sorted(id for (id,) in database.sql(query, [like]))
                assert sorted(map(int, wire.tokens(2, "^=", 1, prefix, 999, 0)[2:])) == wanted, collation


@pytest.mark.parametrize("collation", ["utf8mb4_spanish2_ci", "utf8mb4_czech_ci", "utf8mb4_danish_ci"])
def test_a_prefix_finds_a_letter_of_two_characters_by_a_variant_of_the_first(
    ask: Callable[..., list[list[str]]], database: Database, collation: str
) -> None:
    words = ["c", "chico", "čhico", "Cz", "d", "llama", "l", "ĺlama", "m", "aa", "áa", "b", "ch", "cha"]
    prefixes = ["c", "č", "ć", "čh", "ćh", "l", "ĺ", "ĺl", "á", "áa", "a", "xč", "C"]
    definition = f"VARCHAR(20) CHARACTER SET utf8mb4 COLLATE {collation}, KEY by_w (w)"
    answers = ask(definition, words, *(["^=", 1, prefix, 100, 0] for prefix in prefixes))
    for prefix, answer in zip(prefixes, answers, strict=True):
        found = database.sql("SELECT w FROM t IGNORE INDEX (by_w) WHERE w LIKE %s", [f"{prefix}%"])
        assert sorted(answer) == sorted(word for (word,) in found), prefix


@pytest.mark.parametrize("charset", ["ucs2", "utf16", "utf32", "utf8mb3", "utf8mb4"])
@pytest.mark.parametrize("definition", ["CHAR(2)", "CHAR(20)", "VARCHAR(2)"])
@pytest.mark.parametrize("index", ["w", "w(2)", "w(2) DESC"])
def test_a_range_goes_on_behind_a_character_that_does_not_sort(
    ask: Callable[..., list[list[str]]], database: Database, charset: str, definition: str, index: str
) -> None:
    words = ["a", "a\t", "a\0", "ah", "b", " ", "\u0905", "\u0905\u200b", "\u0905\t", "\u0905h"]
    ends = [(low, high) for low in words for high in words]
    up, down = ("<", ">") if "DESC" in index else (">", "<")
    requests = [[f"{down}=", 1, high, 100, 0, "T", f"{up}=", 1, low] for low, high in ends]
    requests += [[f"{up}=", 1, low, 100, 0, "T", f"{down}=", 1, high] for low, high in ends]
    full = f"{definition} CHARACTER SET {charset} COLLATE {charset}_unicode_ci, KEY by_w ({index})"
    answers = ask(full, words, *requests)
    for (low, high), answer in zip(ends + ends, answers, strict=True):
        found = database.sql("SELECT w FROM t IGNORE INDEX (by_w) WHERE w >= %s AND w <= %s", [low, high])
        assert sorted(answer) == sorted(token(word).decode() for (word,) in found), (low, high)


@pytest.mark.parametrize(
    "definition",
    [
        "VARCHAR(20) CHARACTER SET utf8mb4, KEY by_w (w)",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, KEY by_w (w)",
        "VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL, KEY by_w (w)",
        "VARCHAR(20) CHARACTER SET ucs2, KEY by_w (w)",
    ],
)
def test_both_ends_in_both_directions(
    ask: Callable[..., list[list[str]]], database: Database, definition: str
) -> None:
    ends = [
        ("ab", "b"),
        ("", "abc"),
        ("b", "a"),
        ("abc", "abc"),
        ("a", "far too long for the column of twenty"),
    ]
    requests = [
        [">=", 1, low, 100, 0, "T", "<", 1, high, *reverse] for low, high in ends for reverse in ([], ["R"])
    ]
    answers = iter(ask(definition, WORDS, *requests))
    for low, high in ends:
        for order in ("ASC", "DESC"):
            assert next(answers) == sql_words(database, "w >= %s AND w < %s", [low, high], order), (
                low,
                high,
                order,
            )


def test_a_prefix_of_an_index_decides_nothing_about_longer_values(
    ask: Callable[..., list[list[str]]], database: Database
) -> None:
    words = ["abcd", "abce", "abcf", "abd", "abc"]
    requests = [
        ["<=", 1, "abce", 9, 0, "T", ">", 1, "abc"],
        [">", 1, "abcd", 9, 0, "T", "<=", 1, "abcf", "R"],
        ["=", 1, "abce", 9, 0, "R"],
    ]
    first, second, third = ask("VARCHAR(9), KEY by_w (w(3))", words, *requests)
    assert sorted(first) == sql_words(database, "w <= 'abce' AND w > 'abc'", [])
    assert sorted(second) == sql_words(database, "w > 'abcd' AND w <= 'abcf'", [])
    assert third == ["abce"]


def test_descending_parts_follow_the_index(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b DESC))")
    database.sql("INSERT INTO t SELECT a.seq, b.seq FROM seq_1_to_3 a, seq_1_to_5 b")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "b") == [b"0", b"1"]
        assert found(connection, [">=", 2, 2, 4, 100, 0, "T", "<=", 2, 2, 2]) == ["4", "3", "2"]
        assert found(connection, [">=", 2, 2, 4, 100, 0, "T", "<=", 2, 2, 2, "R"]) == ["2", "3", "4"]
        assert found(connection, ["=", 1, 2, 2, 0]) == ["5", "4"]
        assert found(connection, ["=", 1, 2, 2, 0, "R"]) == ["1", "2"]


def test_the_latest_messages_of_each_friend_in_one_request(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE m (id INT PRIMARY KEY, friend INT, sent INT, KEY by_friend (friend, sent))")
    database.sql(
        "INSERT INTO m SELECT f.seq * 100 + s.seq, f.seq, s.seq FROM seq_1_to_20 f, seq_1_to_9 s WHERE"
        " s.seq <= f.seq"
    )
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "m", "by_friend", "friend,sent") == [b"0", b"1"]
        reply = connection.tokens(1, "=", 1, "", 100, 0, "@", 0, 3, 9, 2, 15, "L", 3, "R")
        assert reply[2:] == [
            b"9",
            b"9",
            b"9",
            b"8",
            b"9",
            b"7",
            b"2",
            b"2",
            b"2",
            b"1",
            b"15",
            b"9",
            b"15",
            b"8",
            b"15",
            b"7",
        ]
        before = connection.tokens(1, "<=", 2, "", 5, 100, 0, "T", ">=", 1, "", "@", 0, 2, 9, 2, "L", 2)
        assert before[2:] == [b"9", b"5", b"9", b"4", b"2", b"2", b"2", b"1"]


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM", "MEMORY"])
def test_every_engine_with_an_order_walks_both_ways(
    server: RowSocketServer, database: Database, engine: str
) -> None:
    database.sql(
        f"CREATE TABLE t (k INT NULL, KEY by_k (k) {'USING BTREE' if engine == 'MEMORY' else ''})"
        f" ENGINE={engine}"
    )
    database.sql("INSERT INTO t SELECT seq FROM seq_1_to_9 UNION ALL SELECT NULL")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "by_k", "k") == [b"0", b"1"]
        assert found(connection, [">", 1, 3, 9, 0, "T", "<=", 1, 6]) == ["4", "5", "6"]
        assert found(connection, [">", 1, 3, 9, 0, "T", "<=", 1, 6, "R"]) == ["6", "5", "4"]
        assert found(connection, [">", 1, 7, 9, 0, "R"]) == ["9", "8"]
        assert found(connection, ["<", 1, 2, 9, 0]) == ["1", "\0"]
        assert found(connection, ["<", 1, 2, 0, 0, "#"]) == ["2"]


def test_a_hash_index_has_no_ranges(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT, KEY by_k (k) USING HASH) ENGINE=MEMORY")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "by_k", "k") == [b"0", b"1"]
        assert connection.tokens(1, "=", 1, 1, 1, 0, "R") == [b"2", b"1", b"op"]
        assert connection.tokens(1, "^=", 1, 1) == [b"2", b"1", b"op"]


def test_counting_reads_the_index_only(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, g INT, body LONGTEXT, KEY by_g (g))")
    database.sql("INSERT INTO t SELECT seq, seq % 3, REPEAT('x', 1000) FROM seq_1_to_300")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "by_g", "id,body") == [b"0", b"1"]
        assert connection.tokens(1, "=", 1, 1, 0, 0, "#") == [b"0", b"1", b"100"]
        assert connection.tokens(1, "=", 1, 1, 7, 2, "#") == [b"0", b"1", b"7"]
        assert connection.tokens(1, "=", 1, "", 0, 0, "@", 0, 2, 1, 2, "L", 4, "#") == [b"0", b"1", b"8"]


def test_a_range_behind_a_find_of_one_turn_ends_by_a_column_that_nobody_asked_for(
    server: RowSocketServer, database: Database
) -> None:
    """The find leaves the index as it used it, without the column."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, g INT, body TEXT, KEY by_g (g))")
    database.sql("INSERT INTO t SELECT seq, seq, 'x' FROM seq_1_to_9")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "by_g", "id,body") == [b"0", b"1"]
        requests = [b"1\t=\t1\t4\t9\t0\tC\tid", b"1\t>=\t1\t4\t9\t0\tT\t<=\t1\t6\tC\tid"]
        assert connection.ask_all(*requests) == [b"0\t1\t4", b"0\t1\t4\t5\t6"]


def test_a_range_that_no_row_can_be_in_does_not_empty_the_next_find(
    server: RowSocketServer, database: Database
) -> None:
    """Upwards, downwards, and as a prefix."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, w VARCHAR(9), KEY by_w (w))")
    database.sql("INSERT INTO t VALUES (1, 'a')")
    with server.raw("read") as connection:
        for number, index in ((1, "PRIMARY"), (2, "by_w")):
            assert connection.tokens("P", number, database.name, "t", index, "id") == [b"0", b"1"]
        finds = [b"1\t=\t1\t1", b"2\t=\t1\ta", b"1\t>=\t1\t0", b"2\t^=\t1\ta\t9\t0"]
        before_all = b"1\t>=\t1\t0\t9\t0\tT\t<\t1\t-9999999999"
        for nothing in (b"1\t=\t1\t1.5\t9\t0", b"2\t^=\t1\t\0\t9\t0", before_all):
            for end in (b"", b"\tR"):
                requests = [request for find in finds for request in (nothing + end, find)]
                assert connection.ask_all(*requests) == [b"0\t1", b"0\t1\t1"] * len(finds), nothing + end


def test_a_range_of_the_first_part_of_a_key_is_of_all_values_of_the_next(
    server: RowSocketServer, database: Database
) -> None:
    """Whatever a find before it has looked for in that part."""
    database.sql("CREATE TABLE t (c CHAR(4) CHARACTER SET utf8mb4, n INT, PRIMARY KEY (c, n))")
    database.sql("INSERT INTO t VALUES ('a', 1), ('a', 2), ('a', 3), ('b', 1)")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "PRIMARY", "n") == [b"0", b"1"]
        for end, order in ((b"", b"0\t1\t1\t2\t3"), (b"\tR", b"0\t1\t3\t2\t1")):
            requests = [
                b"1\t>=\t2\ta\t2\t9\t0\tT\t<=\t2\ta\t2" + end,
                b"1\t>=\t1\ta\t9\t0\tT\t<=\t1\ta" + end,
            ]
            assert connection.ask_all(*requests) == [b"0\t1\t2", order]


def test_an_index_on_a_virtual_column_has_ranges(server: RowSocketServer, database: Database) -> None:
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT, v INT AS (n % 10) VIRTUAL, body TEXT, KEY by_v (v))"
    )
    database.sql("INSERT INTO t (id, n, body) SELECT seq, seq, 'x' FROM seq_1_to_30")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "by_v", "id,body") == [b"0", b"1"]
        reply = connection.tokens(1, ">=", 1, 8, 99, 0, "T", "<=", 1, 9, "C", "id")
        assert reply[2:] == [b"8", b"18", b"28", b"9", b"19", b"29"]
        assert connection.tokens(1, ">=", 1, 9, 1, 0, "T", "<=", 1, 9, "R")[2:] == [b"29", b"x"]


def test_a_select_that_needed_no_partition_does_not_empty_the_next_find(
    server: RowSocketServer, database: Database
) -> None:
    """The server's cache of tables gives the find the table that the SELECT used last."""
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY) PARTITION BY LIST (id) (PARTITION a VALUES IN (1), PARTITION b"
        " VALUES IN (2))"
    )
    database.sql("INSERT INTO t VALUES (1), (2)")
    assert database.sql("SELECT id FROM t WHERE id = 9") == []
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, database.name, "t", "", "id") == [b"0", b"1"]
        assert connection.tokens(1, ">", 1, 0, 9, 0, "R") == [b"0", b"1", b"2", b"1"]
        assert connection.tokens(1, "<", 1, 9, 9, 0, "R") == [b"0", b"1", b"1", b"2"]


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM", "MEMORY"])
@pytest.mark.parametrize("operator", [">", ">="])
def test_a_range_upwards_meets_each_row_of_a_partitioned_table_once(
    server: RowSocketServer, database: Database, engine: str, operator: str
) -> None:
    """One partition has nothing behind the key."""
    database.sql(
        f"CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY k (a) USING BTREE) ENGINE={engine} PARTITION BY"
        f" HASH (id) PARTITIONS 3"
    )
    database.sql("INSERT INTO t VALUES (3, 5), (1, 7), (4, 8), (2, 9), (6, 4), (9, 4), (0, 3)")
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "t", "k", "a") == [b"0", b"1"]
        key = 5 if operator == ">" else 6
        assert connection.tokens(1, operator, 1, key, 99, 0) == [b"0", b"1", b"7", b"8", b"9"]
        assert connection.tokens(1, operator, 1, key, 99, 0, "T", "<=", 1, 8) == [b"0", b"1", b"7", b"8"]
        assert connection.tokens(1, operator, 1, key, 99, 0, "D") == [b"0", b"1", b"3"]
    assert database.sql("SELECT a FROM t ORDER BY a") == [(3,), (4,), (4,), (5,)]


@pytest.fixture
def virtually_ordered(database: Database) -> Database:
    """`t` with three partitions and an index over the virtual column `v`, of the values 0 to 8."""
    database.sql(
        "CREATE TABLE t (id INT NOT NULL, b INT, v INT AS (b) VIRTUAL, KEY (id), KEY k (v))"
        " PARTITION BY HASH (id) PARTITIONS 3"
    )
    database.sql("INSERT INTO t (id, b) SELECT seq, seq * 7 % 9 FROM seq_1_to_9")
    return database


def test_partitions_are_merged_upwards_by_a_virtual_column(
    server: RowSocketServer, virtually_ordered: Database
) -> None:
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, virtually_ordered.name, "t", "k", "v") == [b"0", b"1"]
        upwards = connection.tokens(1, ">=", 1, 3, 99, 0, "T", "<=", 1, 5)
        assert upwards == [b"0", b"1", b"3", b"4", b"5"]
        from_the_start = connection.tokens(1, "<", 1, 3, 99, 0, "R")
        assert from_the_start == [b"0", b"1", b"0", b"1", b"2"]


@pytest.mark.parametrize(
    "walk",
    [("<=", 1, 5, 99, 0), ("<", 1, 5, 99, 0, "T", ">=", 1, 3), (">=", 1, 3, 99, 0, "R")],
    ids=["below", "between", "reversed"],
)
def test_partitions_are_not_walked_downwards_by_a_virtual_column(
    server: RowSocketServer, virtually_ordered: Database, walk: tuple[bytes | str | int, ...]
) -> None:
    """The server has not computed the column when it merges them: rows would be left out."""
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, virtually_ordered.name, "t", "k", "v") == [b"0", b"1"]
        assert connection.tokens(1, *walk) == [b"2", b"1", b"op"]
        virtually_ordered.sql("ALTER TABLE t REMOVE PARTITIONING")
        assert connection.tokens(1, *walk)[0] == b"0"


def test_partitions_are_merged_by_a_virtual_column_behind_an_equal_one(
    server: RowSocketServer, virtually_ordered: Database
) -> None:
    virtually_ordered.sql("ALTER TABLE t ADD c INT DEFAULT 1, ADD KEY behind (c, v)")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, virtually_ordered.name, "t", "behind", "v", "v") == [b"0", b"1"]
        assert connection.tokens(1, "=", 1, 1, 99, 0)[2:] == [str(v).encode() for v in range(9)]
        assert connection.tokens(1, "=", 1, 1, 2, 0)[2:] == [b"0", b"1"]
        assert connection.tokens(1, "=", 1, 1, 99, 0, "W", "<", 0, 4)[2:] == [b"0", b"1", b"2", b"3"]


def test_partitions_are_not_walked_downwards_by_a_virtual_column_before_a_stored_one(
    server: RowSocketServer, virtually_ordered: Database
) -> None:
    virtually_ordered.sql("ALTER TABLE t ADD KEY first (v, b)")
    with server.raw("read") as connection:
        assert connection.tokens("P", 1, virtually_ordered.name, "t", "first", "v") == [b"0", b"1"]
        assert connection.tokens(1, "<=", 1, 5, 99, 0) == [b"2", b"1", b"op"]
        assert connection.tokens(1, ">=", 1, 6, 99, 0) == [b"0", b"1", b"6", b"7", b"8"]


@pytest.mark.parametrize("charset", ["ucs2", "utf32"])
def test_rows_that_an_index_of_aria_has_out_of_order_are_left_alone(
    server: RowSocketServer, database: Database, charset: str
) -> None:
    database.sql(
        f"CREATE TABLE t (id INT PRIMARY KEY, v CHAR(5) CHARACTER SET {charset} NOT NULL, KEY k (v))"
        " ENGINE=Aria"
    )
    database.sql("INSERT INTO t VALUES (1, 'v'), (2, 'b'), (3, 'w'), (4, 'vv')")
    with server.raw("write") as connection:
        assert connection.tokens("P", 1, database.name, "t", "k", "id") == [b"0", b"1"]
        assert connection.tokens(1, "<", 1, "v", 99, 0) == [b"0", b"1", b"2"]
        assert connection.tokens(1, "<", 1, "v", 99, 0, "D") == [b"0", b"1", b"1"]
    assert database.sql("SELECT id FROM t IGNORE INDEX (k) ORDER BY id") == [(1,), (3,), (4,)]
