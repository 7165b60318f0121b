# SPDX-License-Identifier: GPL-2.0-only
"""An index of the beginnings of texts finds the rows that SQL's `WHERE` finds without it, in collations where
the beginning of a text does not say where the text sorts: accents or cases decide behind all the letters."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from differential.test_searched_values import OPERATORS, Searched
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection

LETTERS = "aAbBäÄéEoöß!zZ s"
ALPHABETS = {
    **{
        f"utf8mb4_uca1400_{variant}": LETTERS
        for variant in (
            *("as_ci", "as_cs", "ai_cs", "nopad_as_ci", "nopad_as_cs", "nopad_ai_cs"),
            *("german2_as_cs", "czech_as_ci", "swedish_ai_cs", "spanish2_nopad_as_cs"),
        )
    },
    **dict.fromkeys(["utf8mb4_thai_520_w2", "utf8mb3_thai_520_w2", "ucs2_uca1400_as_cs"], LETTERS),
    "utf16_uca1400_nopad_as_ci": LETTERS,
    "utf8mb4_uca1400_ai_ci": LETTERS + "ﬃf",
    "latin2_czech_cs": "aAáÁbčČcděz Z",
    "cp1250_czech_cs": "aAáÁbčČcděz Z",
    "tis620_thai_ci": "กข\u0e48\u0e49\u0e31าเ a",
}
ORDERS = ["v({})", "v({}) DESC", "n, v({})", "v({}), n"]


class Beginnings:
    """A table of random texts with an index of their beginnings, and what RowSocket and SQL find in it."""

    def __init__(
        self, database: Database, wire: RawConnection, collation: str, order: str, seed: str
    ) -> None:
        self.random = random.Random(seed)
        self.letters = self.random.sample(ALPHABETS[collation], 5)
        self.size = self.random.randint(1, 3)
        charset = collation.split("_")[0]
        type = self.random.choice(["TEXT", "VARCHAR(9)", "CHAR(9)"])
        self.rows = [self.text(0) for _ in range(25)]
        self.table = Searched(
            database,
            wire,
            f"v {type} CHARACTER SET {charset} COLLATE {collation} NOT NULL, n INT DEFAULT 1,"
            f" KEY k ({order.format(self.size)})",
            self.rows,
        )
        self.before = ("1",) if order.startswith("n") else ()
        self.is_descending = "DESC" in order
        self.literal = f"CONVERT(%s USING {charset}) COLLATE {collation}"

    def text(self, size_min: int = 1) -> str:
        return "".join(self.random.choices(self.letters, k=self.random.randint(size_min, self.size + 2)))

    def condition(self, operator: str) -> str:
        if self.is_descending:
            operator = operator.translate(str.maketrans("<>", "><"))
        return f"v {operator} {self.literal}"

    def by_sql(self, condition: str, *values: str) -> list[int]:
        query = f"SELECT id FROM t IGNORE INDEX (k) WHERE {condition} ORDER BY id"
        return [row[0] for row in self.table.database.sql(query, list(values))]

    def by_wire(self, operator: str, value: str, *clauses: str | int) -> list[int]:
        reply = self.table.wire.tokens(
            1, operator, 1 + len(self.before), *self.before, value, 999, 0, *clauses
        )
        assert reply[0] == b"0", (operator, value, reply)
        return sorted(int(id) for id in reply[2:])


@pytest.fixture(params=ALPHABETS)
def make_beginnings(
    request: pytest.FixtureRequest, database: Database, raw: Callable[[str], RawConnection]
) -> Callable[[str], Beginnings]:
    def make(order: str, seed: int = 0) -> Beginnings:
        database.sql("DROP TABLE IF EXISTS t")
        collation = str(request.param)
        return Beginnings(database, raw("read"), collation, order, f"{collation} {order} {seed}")

    return make


MakeBeginnings = Callable[[str], Beginnings]


@pytest.mark.parametrize("order", ORDERS)
def test_every_operator_finds_what_sql_finds(make_beginnings: MakeBeginnings, order: str) -> None:
    asked = make_beginnings(order)
    for value in {*(asked.text() for _ in range(20)), *asked.rows[:5]}:
        for operator in OPERATORS:
            expected = asked.by_sql(asked.condition(operator), value)
            assert asked.by_wire(operator, value) == expected, (operator, value)


@pytest.mark.parametrize("order", ORDERS)
def test_both_ends_a_list_and_a_beginning_find_what_sql_finds(
    make_beginnings: MakeBeginnings, order: str
) -> None:
    asked = make_beginnings(order)
    count = 1 + len(asked.before)
    for _ in range(15):
        value, other = asked.text(), asked.text()
        for first, last in ((">", "<="), ("<", ">="), (">=", "<")):
            both = f"{asked.condition(first)} AND {asked.condition(last)}"
            ends = asked.by_wire(first, value, "T", last, count, *asked.before, other)
            assert ends == asked.by_sql(both, value, other), (first, value, last, other)
        listed = asked.by_wire("=", "", "@", count - 1, 2, value, other)
        assert listed == sorted(
            asked.by_sql(asked.condition("="), value) + asked.by_sql(asked.condition("="), other)
        ), (value, other)
        expected = asked.by_sql("v LIKE %s ESCAPE '|'", value[:2] + "%")
        assert asked.by_wire("^=", value[:2]) == expected, value[:2]


# The last of a collation's characters are the end of what may equal a text that is longer than its column.
def collations(server: RowSocketServer) -> list[tuple[str, str]]:
    """Of all orders that the server has, those of characters of one byte and of the shortest Unicode."""
    return [
        (str(collation), str(charset))
        for collation, charset in server.sql(
            "SELECT full_collation_name, character_set_name"
            " FROM information_schema.collation_character_set_applicability"
            " JOIN information_schema.character_sets USING (character_set_name)"
            " WHERE character_set_name <> 'binary'"
            " AND (maxlen = 1 OR character_set_name IN ('utf8mb3', 'utf8mb4'))"
            " AND (full_collation_name NOT LIKE '%%uca1400%%'"
            " OR full_collation_name RLIKE 'utf8mb[34]_uca1400_(nopad_)?(ai_ci|as_cs)')"
        )
    ]


def test_a_longer_text_of_the_last_letters_finds_all_rows_before_it(
    server: RowSocketServer, database: Database, raw: Callable[[str], RawConnection]
) -> None:
    wire = raw("read")
    letters = ["a", "1", "Z", "z", "?", "9"]
    found = collations(server)
    assert len(found) > 100
    for number, (collation, charset) in enumerate(found):
        rows = [*letters, *("ς", "一", "\ufffd", "\uffff")] if charset.startswith("utf8") else letters
        database.sql(
            f"CREATE OR REPLACE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT,"
            f" v VARCHAR(1) CHARACTER SET {charset} COLLATE {collation} NOT NULL, KEY k (v))"
        )
        marks = ", ".join(["(%s)"] * len(rows))
        database.sql(f"INSERT INTO t (v) VALUES {marks}", rows)
        assert wire.tokens("P", number, database.name, "t", "k", "id") == [b"0", b"1"]
        keys = ["zz", "99", "??a"] + (["\u0301ς", "ςς", "\uffff" * 2] if charset.startswith("utf8") else [])
        for key in keys:
            for operator in OPERATORS:
                query = f"SELECT id FROM t IGNORE INDEX (k) WHERE v {operator} CONVERT(%s USING {charset})"
                query += f" COLLATE {collation} ORDER BY id"
                expected = [row[0] for row in database.sql(query, [key])]
                reply = wire.tokens(number, operator, 1, key, 99, 0)
                assert sorted(map(int, reply[2:])) == expected, (collation, operator, key)
