# SPDX-License-Identifier: GPL-2.0-only
"""Random requests over a few tables, for the original, for RowSocket and for SQL.

The requests keep clear of what is known to differ (tests/vectors/DIFFERENCES.md): values fit their columns,
an insert gives all columns, an update of several rows touches no key, an IN list with `=` stands on a unique
key. Everything else is free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from support.raw import token

Value = bytes | None
Values = st.SearchStrategy[Value]


@dataclass(frozen=True)
class Column:
    """A column and values that fit it. `is_number`: `+` and `-` may be asked of it."""

    name: str
    values: Values
    is_number: bool = False
    in_key: bool = False
    others: tuple[str, ...] = ()
    """What does not fit it and may be looked for all the same."""

    @property
    def searched(self) -> Values:
        """Values for a key."""
        return st.one_of(self.values, self.values, one_of(*self.others)) if self.others else self.values


@dataclass(frozen=True)
class Table:
    """A table with its first rows."""

    name: str
    definition: str
    columns: tuple[Column, ...]
    rows: str
    primary_key: tuple[str, ...]
    options: str = "ENGINE=InnoDB"
    then: tuple[str, ...] = ()
    """Statements that follow the first rows, with {} for the table: what leaves history, and the like."""

    def create(self, database: str) -> str:
        """The statement that makes it, empty."""
        return f"CREATE TABLE {database}.{self.name} ({self.definition}) {self.options}"

    def fill(self, database: str) -> list[str]:
        """The statements that give an empty table its first rows."""
        name = f"{database}.{self.name}"
        return [f"INSERT INTO {name} {self.rows_into()}", *(one.format(name) for one in self.then)]

    def rows_into(self) -> str:
        """What stands behind INSERT INTO and the name."""
        return self.rows if self.rows.startswith("(k, ") else f"VALUES {self.rows}"

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True)
class Index:
    """An open_index: the id stands for the same on every connection."""

    id: int
    table: Table
    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    filters: tuple[str, ...]
    unique: bool
    descending: tuple[str, ...] = ()
    """Those of its parts that are DESC."""
    prefix: int = 0
    """Of its last part it knows so many characters only; 0 = all."""

    def order(self, downwards: bool) -> str:
        """What stands behind ORDER BY where it is walked this way."""
        parts = [(name, name in self.descending) for name in self.key]
        if self.prefix:
            parts[-1] = (f"LEFT({parts[-1][0]}, {self.prefix})", parts[-1][1])
        behind = [name for name in self.table.primary_key if name not in self.key or self.prefix]
        parts += [(name, False) for name in behind]
        return ", ".join(
            f"{name} {'DESC' if is_descending != downwards else 'ASC'}" for name, is_descending in parts
        )

    def __repr__(self) -> str:
        return f"{self.table.name}.{self.name}({','.join(self.key)})"

    def open_line(self, database: str) -> bytes:
        names = [database, self.table.name, self.name, ",".join(self.columns), ",".join(self.filters)]
        return b"P\t%d\t" % self.id + "\t".join(names).encode()


@dataclass(frozen=True)
class Find:
    """A find, in parts, so that SQL can be asked the same."""

    index: Index
    operator: str
    key: tuple[Value, ...]
    limit: int
    offset: int
    in_part: int | None = None
    in_values: tuple[Value, ...] = ()
    filters: tuple[tuple[str, str, int, Value], ...] = ()
    modification: tuple[Value | str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.index}: {self.line()!r}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def line(self) -> bytes:
        tokens: list[bytes | str | int | None] = [
            self.index.id,
            self.operator,
            len(self.key),
            *self.key,
            self.limit,
            self.offset,
        ]
        if self.in_part is not None:
            tokens += ["@", self.in_part, len(self.in_values), *self.in_values]
        for condition in self.filters:
            tokens += [*condition]
        tokens += self.modification
        return b"\t".join(map(token, tokens))


def integers(low: int, high: int) -> Values:
    """Numbers from a range as text."""
    return st.integers(low, high).map(lambda number: str(number).encode())


def one_of(*values: str) -> Values:
    """One of these texts."""
    return st.sampled_from([value.encode() for value in values])


def nullable(values: Values) -> Values:
    """The values, and NULL now and then."""
    return st.one_of(values, values, values, st.none())


small = integers(-3, 12)
word = st.text(alphabet="abAB éß✓🐬", min_size=1, max_size=4).map(lambda text: text.strip().encode() or b"a")
any_bytes = st.binary(max_size=6)

INTS = Table(
    "ints",
    "k INT PRIMARY KEY, g INT NULL, v VARBINARY(6) NULL, n INT NOT NULL, KEY by_g (g), KEY by_g_v (g, v),"
    " KEY by_v (v)",
    (
        Column("k", integers(-3, 25), in_key=True),
        Column("g", nullable(small), is_number=True, in_key=True),
        Column("v", nullable(any_bytes), in_key=True),
        Column("n", integers(1000, 2000), is_number=True),
    ),
    "(1, 1, 'a', 1000), (2, 1, 'b', 1000), (3, 1, NULL, 1000), (4, 2, '', 1000), (5, NULL, 'a', 1000), (6,"
    " NULL, NULL, 1000), "
    "(7, 3, X'00', 1000), (9, 3, X'FF01', 1000), (12, 5, 'a', 1000), (20, -2, 'zz', 1000)",
    ("k",),
)
PAIRS = Table(
    "pairs",
    "a INT, b VARCHAR(8), n BIGINT NULL, m BIGINT UNSIGNED NOT NULL, PRIMARY KEY (a, b), KEY by_n (n), KEY"
    " by_b_n (b, n)",
    (
        Column("a", small, in_key=True),
        Column("b", word, in_key=True),
        Column("n", nullable(integers(-9, 9)), is_number=True, in_key=True),
        Column("m", integers(1000, 2000), is_number=True),
    ),
    "(1, 'a', 1, 1000), (1, 'b', 2, 1000), (1, 'é', 2, 1000), (2, 'a', NULL, 1000), "
    "(2, '✓', 5, 1000), (5, 'B', -3, 1000), (9, '🐬', 4, 1000)",
    ("a", "b"),
)
WORDS = Table(
    "words",
    "w VARCHAR(10) PRIMARY KEY, n INT NOT NULL, t TEXT NULL, KEY by_n_w (n, w)",
    (
        Column("w", word, in_key=True),
        Column("n", small, is_number=True, in_key=True),
        Column("t", nullable(any_bytes.map(lambda data: data.hex().encode()))),
    ),
    "('a', 1, 'x'), ('b', 1, NULL), ('é', 2, ''), ('ß', 2, 'y'), ('✓', 3, 'z'), ('🐬', 3, NULL), ('ab', 4,"
    " 'w')",
    ("w",),
)
dates = one_of("2000-02-29", "1999-12-31", "2024-07-01", "2024-07-02")
moments = one_of("2000-02-29 23:59:59.125", "1999-12-31 00:00:00.000", "2024-07-01 12:30:00.500")
prices = one_of("-1.50", "0.00", "0.25", "99.99", "123456.78")
TYPED = Table(
    "typed",
    "k SMALLINT UNSIGNED PRIMARY KEY, d DATE NULL, m DATETIME(3) NULL, p DECIMAL(10,2) NULL, h TIME NULL, y"
    " YEAR NULL, "
    "f DOUBLE NULL, e ENUM('red','green','blue') NULL, s SET('a','b','c') NULL, c CHAR(6) NULL, KEY by_d"
    " (d), "
    "KEY by_m (m), KEY by_p_d (p, d), "
    "KEY by_h (h), KEY by_y (y), KEY by_c (c)",
    (
        Column("k", integers(0, 12), in_key=True),
        Column("d", nullable(dates), in_key=True),
        Column("m", nullable(moments), in_key=True),
        Column("p", nullable(prices), in_key=True),
        Column("h", nullable(one_of("00:00:00", "12:34:56", "-01:00:00", "100:00:01")), in_key=True),
        Column("y", nullable(one_of("1901", "2000", "2155")), in_key=True),
        Column("f", nullable(one_of("0", "-1.5", "1e100", "0.1"))),
        Column("e", nullable(one_of("red", "green", "blue"))),
        Column("s", nullable(one_of("a", "a,c", "a,b,c"))),
        Column("c", nullable(one_of("x", "longer", "y")), in_key=True),
    ),
    "(1, '2000-02-29', '2000-02-29 23:59:59.125', 1.5, '12:34:56', 2000, 0.1, 'red', 'a,c', 'x'), "
    "(2, '2024-07-01', '2024-07-01 12:30:00.500', -1.5, '-01:00:00', 1901, 1e100, 'blue', 'a', 'longer'), "
    "(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), "
    "(4, '2024-07-01', '1999-12-31', 0.25, '100:00:01', 2155, -1.5, 'green', 'a,b,c', 'y'), "
    "(5, '1999-12-31', '2024-07-01 12:30:00.500', 99.99, '00:00:00', 2000, 0, 'red', 'a', 'x')",
    ("k",),
)
TABLES = (INTS, PAIRS, WORDS, TYPED)


def index_of(id: int, table: Table, name: str, key: str, *, unique: bool, columns: str = "") -> Index:
    names = tuple(column.name for column in table.columns)
    # A filter on a BLOB is refused by the original, and one on ENUM or SET goes by the member's number.
    filters = tuple(column for column in names if column not in ("t", "e", "s"))
    return Index(
        id,
        table,
        name,
        tuple(key.split(",")),
        tuple(columns.split(",")) if columns else names,
        filters,
        unique,
    )


INDEXES = (
    index_of(0, INTS, "", "k", unique=True),
    index_of(1, INTS, "by_g", "g", unique=False),
    index_of(2, INTS, "by_g_v", "g,v", unique=False),
    index_of(3, INTS, "by_v", "v", unique=False, columns="v,k"),
    index_of(4, PAIRS, "PRIMARY", "a,b", unique=True),
    index_of(5, PAIRS, "by_n", "n", unique=False, columns="n,a,b"),
    index_of(6, PAIRS, "2", "b,n", unique=False),
    index_of(7, WORDS, "0", "w", unique=True),
    index_of(8, WORDS, "by_n_w", "n,w", unique=True),
    index_of(9, TYPED, "", "k", unique=True),
    index_of(10, TYPED, "by_d", "d", unique=False),
    index_of(11, TYPED, "by_m", "m", unique=False),
    index_of(12, TYPED, "by_p_d", "p,d", unique=False),
    index_of(13, TYPED, "by_h", "h", unique=False),
    index_of(14, TYPED, "by_y", "y", unique=False),
    index_of(15, TYPED, "by_c", "c", unique=False),
)
# The same tables for changes: the columns that a request may set are the first ones.
CHANGES = (
    index_of(20, INTS, "", "k", unique=True, columns="n"),
    index_of(21, INTS, "by_g", "g", unique=False, columns="n"),
    index_of(22, PAIRS, "", "a,b", unique=True, columns="m"),
    index_of(23, INTS, "", "k", unique=True, columns="g,n"),
    index_of(24, TYPED, "", "k", unique=True, columns="d,p,c,e,s,f"),
    index_of(25, WORDS, "", "w", unique=True, columns="n,t"),
    index_of(26, PAIRS, "by_b_n", "b,n", unique=False, columns="m"),
)


def finds(indexes: tuple[Index, ...] = INDEXES) -> st.SearchStrategy[Find]:
    """Finds with every operator, prefix, limit, IN list and filter."""
    return st.sampled_from(indexes).flatmap(_find)


@st.composite
def _find(draw: st.DrawFn, index: Index) -> Find:
    parts = draw(st.integers(1, len(index.key)))
    key = tuple(draw(index.table.column(name).searched) for name in index.key[:parts])
    operator = draw(st.sampled_from(["=", "=", ">", ">=", "<", "<="]))
    in_part: int | None = None
    in_values: tuple[Value, ...] = ()
    one_row_per_value = operator == "=" and index.unique and parts == len(index.key)
    if one_row_per_value and draw(st.booleans()):
        in_part = draw(st.integers(0, parts - 1))
        values = index.table.column(index.key[in_part]).values.filter(lambda value: value is not None)
        in_values = tuple(draw(st.lists(values, min_size=1, max_size=6)))
    return Find(
        index,
        operator,
        key,
        draw(st.sampled_from([0, 1, 2, 3, 5, 100])),
        draw(st.sampled_from([0, 0, 0, 1, 2, 10])),
        in_part,
        in_values,
        draw(filters(index, may_stop=in_part is None)),
    )


@st.composite
def filters(draw: st.DrawFn, index: Index, *, may_stop: bool) -> tuple[tuple[str, str, int, Value], ...]:
    """Conditions on the index's filter columns."""
    conditions = []
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        column = draw(st.integers(0, len(index.filters) - 1))
        kind = draw(st.sampled_from("FFW")) if may_stop else "F"
        comparison = draw(st.sampled_from(["=", "!=", ">", ">=", "<", "<="]))
        conditions.append((kind, comparison, column, draw(index.table.column(index.filters[column]).values)))
    return tuple(conditions)


@st.composite
def modifications(draw: st.DrawFn, indexes: tuple[Index, ...] = CHANGES) -> Find:
    """Updates, deletes, increments and decrements of a find's rows, also with the rows as they were."""
    found = draw(finds(indexes))
    columns = [found.index.table.column(name) for name in found.index.columns]
    kinds = ["U", "D", "U?", "D?"]
    if all(column.is_number for column in columns):
        kinds += ["+", "-", "+?", "-?"]
    kind = draw(st.sampled_from(kinds))
    # A key that moves while several rows are walked is met again by the original.
    limit = 1 if any(column.in_key for column in columns) else max(1, found.limit)
    values: tuple[Value, ...] = ()
    if kind[0] == "U":
        values = tuple(draw(column.values) for column in columns)
    elif kind[0] in "+-":
        values = tuple(draw(integers(-20, 20)) for _ in columns)
    return replace(found, limit=limit, modification=(kind, *values))


@st.composite
def inserts(draw: st.DrawFn, indexes: tuple[Index, ...] = INDEXES) -> bytes:
    """Inserts of whole rows, some of which exist."""
    index = draw(
        st.sampled_from([index for index in indexes if len(index.columns) == len(index.table.columns)])
    )
    values = [draw(column.values) for column in index.table.columns]
    return b"\t".join(map(token, [index.id, "+", len(values), *values]))


MISTAKES = [
    line.encode()
    for line in (
        *(
            "",
            "X",
            "\t",
            "0",
            "0\t",
            "77\t=\t1\t1",
            "0\t=\t0",
            "0\t=\t2\t1\t2",
            "0\t~\t1\t1",
            "0\t==\t1\t1",
            "0\t+\t0",
        ),
        *(
            "0\t=\t1\t1\t1\t0\t@\t0\t0",
            "0\t=\t1\t1\t1\t0\tF\t=\t9\t1",
            "0\t=\t1\t1\t1\t0\tFF\t=\t0\t1",
            "0\t=\t1\t1\t1\t0\tX\t1",
        ),
        *("P\t99\tnowhere\tt\t\tk", "P\t99", "A\t1\t", "A\t3\tx", "A\t1\tx"),
    )
]


def mistakes() -> st.SearchStrategy[bytes]:
    """Requests that are refused, by both in the same words."""
    return st.sampled_from(MISTAKES)


def lines() -> st.SearchStrategy[list[bytes]]:
    """What one connection asks, pipelined."""
    find_lines = finds().map(Find.line)
    change_lines = modifications().map(Find.line)
    return st.lists(
        st.one_of(find_lines, find_lines, change_lines, inserts(), inserts(), mistakes()),
        min_size=1,
        max_size=40,
    )
