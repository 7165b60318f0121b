# SPDX-License-Identifier: GPL-2.0-only
"""The tables of the benchmark. A column says what stands in row n, for filling tables and checking replies.

Numbers inside texts have leading zeros, so that a text is equally long in every row. Where a request returns
a number, the table begins with row 10,000,001, so that the number has eight digits by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.traffic.forms import Number, fill, sql_expression

Column = tuple[str, Callable[[Number], str]]
"""Its type, and what stands in it in row n."""

ROWS_PER_STATEMENT = 500_000
"""So that no transaction is huge."""
EIGHT_DIGITS = 10_000_001


@dataclass(frozen=True)
class Table:
    """One table, or several of the same rows."""

    name: str
    columns: Mapping[str, Column]
    keys: str
    first: int = 1
    """The number of the first row."""
    copies: int = 0
    """0 = one table; else so many, called name1, name2, ..."""

    def values(self, columns: str, row: Number) -> list[str]:
        """What stands in columns, given with commas between, of a row."""
        return [self.columns[column][1](row) for column in columns.split(",")]

    def statements(self, rows: int) -> list[str]:
        """The SQL that makes the table and fills it."""
        definitions = ", ".join(f"{name} {kind}" for name, (kind, _) in self.columns.items())
        values = ", ".join(sql_expression(value(Number()), "seq") for _, value in self.columns.values())
        options = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
        made = []
        for name in [f"{self.name}{copy}" for copy in range(1, self.copies + 1)] or [self.name]:
            made.append(f"CREATE TABLE {name} ({definitions}, {self.keys}) {options}")
            end = self.first + rows
            for begin in range(self.first, end, ROWS_PER_STATEMENT):
                last = min(begin + ROWS_PER_STATEMENT, end) - 1
                made.append(f"INSERT INTO {name} SELECT {values} FROM seq_{begin}_to_{last}")
        return made


def _time(n: Number) -> str:
    return f"2026-01-01 12:{n * 7 % 60:02}:{n % 60:02}"


_PERSONAL: Mapping[str, Column] = {
    "user_name": ("VARCHAR(50)", lambda n: f"user{n}"),
    "user_email": ("VARCHAR(255)", lambda n: f"user{n}@example.com"),
    "created": ("DATETIME", _time),
}

USER = Table("user", {"user_id": ("INT UNSIGNED", lambda n: f"{n}"), **_PERSONAL}, "PRIMARY KEY (user_id)")
"""What a session or a profile page looks up. The handler floor counts its keys from 1."""

ACCOUNT = Table(
    "account",
    {
        "account_id": ("INT UNSIGNED", lambda n: f"{n}"),
        **_PERSONAL,
        "version": ("INT UNSIGNED NOT NULL", lambda _: "0"),
    },
    "PRIMARY KEY (account_id)",
)
"""The same with a column that only writes touch, so that reads can be checked beside writes."""

COUNTER = Table(
    "counter",
    {"counter_id": ("INT UNSIGNED", lambda n: f"{n}"), "hits": ("BIGINT UNSIGNED NOT NULL", lambda _: "0")},
    "PRIMARY KEY (counter_id)",
)
"""Row 1 is the hot one."""

PERSON = Table(
    "person",
    {
        "person_id": ("INT UNSIGNED", lambda n: f"{n}"),
        "email": ("VARCHAR(100)", lambda n: f"person{n}@example.com"),
        "city": ("INT UNSIGNED NOT NULL", lambda n: f"{n // 20}"),
        "name": ("VARCHAR(50)", lambda n: f"Person {n}"),
    },
    "PRIMARY KEY (person_id), UNIQUE KEY email (email), KEY city (city)",
    first=EIGHT_DIGITS,
)
"""Rows with a unique and a non-unique secondary key; 20 persons live in each city."""

MESSAGE = Table(
    "message",
    {
        "friend_id": ("INT UNSIGNED NOT NULL", lambda n: f"{n // 20:06}"),
        "message_no": ("INT UNSIGNED NOT NULL", lambda n: f"{n % 20:02}"),
        "body": ("VARCHAR(255)", lambda n: f"message {n % 20:02} of friend {n // 20:06}"),
    },
    "PRIMARY KEY (friend_id, message_no)",
    first=EIGHT_DIGITS,
)
"""20 messages of each friend."""

SYSBENCH = Table(
    "sbtest",
    {
        "id": ("INT UNSIGNED", lambda n: f"{n}"),
        "k": ("INT UNSIGNED NOT NULL", lambda n: f"{n % 1000:03}"),
        "c": ("CHAR(120) NOT NULL", lambda n: fill(f"{n:011}-{n * 7 % 100_000_000:011}-", 119)),
        "pad": ("CHAR(60) NOT NULL", lambda n: fill(f"{n:011}-", 59)),
    },
    "PRIMARY KEY (id), KEY k (k)",
    copies=8,
)
"""Eight tables like those of sysbench."""


def diary(body_bytes: int) -> Table:
    """Rows with a long text that few requests want; the index `short` holds all the others."""
    columns: dict[str, Column] = {
        "entry_id": ("INT UNSIGNED", lambda n: f"{n}"),
        "written": ("DATETIME NOT NULL", _time),
        "title": ("VARCHAR(80) NOT NULL", lambda n: f"Day {n}"),
        "mood": ("TINYINT UNSIGNED NOT NULL", lambda n: f"{n % 10:01}"),
        "body": ("TEXT NOT NULL", lambda n: fill(f"Dear diary, this is entry {n}. ", body_bytes)),
    }
    return Table("diary", columns, "PRIMARY KEY (entry_id), KEY short (entry_id, written, title, mood)")


def item(value_bytes: int) -> Table:
    """A key and one value of any size, for what grows with the value."""
    columns: dict[str, Column] = {
        "id": ("INT UNSIGNED", lambda n: f"{n}"),
        "data": ("MEDIUMTEXT NOT NULL", lambda n: fill(f"{n} ", value_bytes)),
    }
    return Table("item", columns, "PRIMARY KEY (id)")


def wide(value_columns: int) -> Table:
    """As many short columns as are asked for."""

    def numbered(number: int) -> Column:
        return "VARCHAR(30) NOT NULL", lambda n: f"column {number} of row {n}"

    others = {f"c{number}": numbered(number) for number in range(1, value_columns + 1)}
    return Table("wide", {"id": ("INT UNSIGNED", lambda n: f"{n}"), **others}, "PRIMARY KEY (id)")
