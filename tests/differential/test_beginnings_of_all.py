# SPDX-License-Identifier: GPL-2.0-only
"""An index of the beginnings of texts finds what SQL finds, in every collation that the server has.

SQL itself misses rows with such an index: in many collations a character counts for nothing, or two count as
one, and then the beginning of a text does not say where the text sorts. RowSocket may miss such a row of SQL,
too, and no other. It never finds what SQL does not find without the index.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from differential.test_searched_values import OPERATORS
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection

PLAIN = "abcdehlnszABCHZ 1!"
SPECIAL = (
    "ßäÄéÉöøæÆœﬃǆčČňñłıİςσΣ\xad\u0301\u0308\u200b\t\x01\uffff"
    "กเ\u0e48\u0e31かがカヽ一亜가각ჰ\u0430яЯ\uff11\uff12"
)
SIZES = (1, 2, 3, 4)
"""Of the beginnings, in characters."""
TYPES = ("VARCHAR(9)", "CHAR(9)", "TEXT")

Condition = tuple[str, str]
"""An operator and a value."""


class Asked:
    """A table of random texts of one collation, with an index `k1` of beginnings of one character, and so
    on."""

    def __init__(self, database: Database, wire: RawConnection, collation: str, charset: str) -> None:
        self.random = random.Random(collation)
        self.database, self.wire = database, wire
        self.charset, self.collation = charset, collation
        special = self._known(SPECIAL)
        self.letters = self.random.sample(self._known(PLAIN), 4)
        self.letters += self.random.sample(special, min(3, len(special)))
        type = self.random.choice(TYPES)
        keys = ", ".join(f"KEY k{size} (v({size}))" for size in SIZES)
        database.sql(
            f"CREATE OR REPLACE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v {type} CHARACTER SET {charset}"
            f" COLLATE {collation} NOT NULL, {keys})"
        )
        rows = [self.text() for _ in range(20)]
        database.sql(f"INSERT INTO t (v) VALUES {', '.join(['(%s)'] * len(rows))}", rows)
        for size in SIZES:
            assert wire.tokens("P", size, database.name, "t", f"k{size}", "id") == [b"0", b"1"]

    def _known(self, characters: str) -> list[str]:
        """Those of the characters that the character set has."""
        same = f"CONVERT(CONVERT(%s USING {self.charset}) USING utf8mb4) = BINARY %s"
        twice = [character for one in characters for character in (one, one)]
        (known,) = self.database.sql(f"SELECT {', '.join([same] * len(characters))}", twice)
        return [one for one, is_known in zip(characters, known, strict=True) if is_known]

    def text(self) -> str:
        return "".join(self.random.choices(self.letters, k=self.random.randint(0, 6)))

    def by_sql(self, hint: str, conditions: Sequence[Condition]) -> set[int]:
        """The rows that meet all conditions."""
        value = f"CONVERT(%s USING {self.charset}) COLLATE {self.collation}"
        clauses = " AND ".join(f"v {operator} {value}" for operator, _ in conditions)
        query = f"SELECT id FROM t {hint} WHERE {clauses}"
        return {int(str(row[0])) for row in self.database.sql(query, [value for _, value in conditions])}

    def by_wire(self, *tokens: str | int) -> set[int]:
        reply = self.wire.tokens(*tokens)
        assert reply[0] == b"0", (tokens, reply)
        return set(map(int, reply[2:]))

    def check(self, alternatives: Sequence[Sequence[Condition]], *request: str | int) -> None:
        """The request finds the rows that meet one of the alternatives, in each of the indexes."""
        hint = f"IGNORE INDEX ({', '.join(f'k{size}' for size in SIZES)})"
        there = set().union(*(self.by_sql(hint, one) for one in alternatives))
        for size in SIZES:
            found = self.by_wire(size, *request)
            if found == there:
                continue
            by_sql = set().union(*(self.by_sql(f"FORCE INDEX (k{size})", one) for one in alternatives))
            where = (self.collation, size, request)
            assert not found - there, where
            assert not by_sql - found, where


def collations(server: RowSocketServer) -> Iterator[tuple[str, str]]:
    for collation, charset in server.sql(
        "SELECT full_collation_name, character_set_name"
        " FROM information_schema.collation_character_set_applicability"
        " WHERE character_set_name <> 'binary' ORDER BY 1"
    ):
        yield str(collation), str(charset)


def test_beginnings_find_what_sql_finds(
    server: RowSocketServer, database: Database, raw: Callable[[str], RawConnection]
) -> None:
    wire = raw("read")
    count = 0
    for collation, charset in collations(server):
        count += 1
        asked = Asked(database, wire, collation, charset)
        for _ in range(4):
            value, other = asked.text(), asked.text()
            for operator in OPERATORS:
                asked.check([[(operator, value)]], operator, 1, value, 99, 0)
            for first, last in ((">", "<="), ("<", ">=")):
                both = [(first, value), (last, other)]
                asked.check([both], first, 1, value, 99, 0, "T", last, 1, other)
            if value != other:
                asked.check([[("=", value)], [("=", other)]], "=", 1, "", 99, 0, "@", 0, 2, value, other)
    assert count > 500
