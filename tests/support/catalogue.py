# SPDX-License-Identifier: GPL-2.0-only
"""Tables of many kinds, and requests of many kinds to them, each on rows of its own.

Rows of a place p have the ids p * 1000 to p * 1000 + 999. What a request is answered, and what it makes of the
rows of its place, does not depend on what others do in other places. So whoever runs it behind something else
knows what it ought to do: the same as alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from support.mariadb import MariaDB
from support.raw import RawConnection, token

ROWS_OF_A_PLACE = 1000
FIRST_GENERATED = 1_500_000_000
"""AUTO_INCREMENT and sequences begin here, so that numbers that they made are known when they are seen."""
_GENERATED = re.compile(r"\b15\d{8}\b")


@dataclass(frozen=True)
class Table:
    """A table with rows in each place; `{t}` in the statements is its name."""

    name: str
    create: str
    columns: str
    """What is opened, and told of the rows afterwards; `id` is the first."""
    rows: tuple[tuple[object, ...], ...]
    """The rows of a place; the id is added to the beginning of the place."""
    and_then: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ("PRIMARY",)
    filters: str = ""
    told: str = ""
    """Expressions of SQL in place of the columns, where a value differs from one time to the next."""


def _simple(*values: object) -> tuple[tuple[object, ...], ...]:
    """Three rows, with the ids 10, 20 and 30."""
    return tuple((number, *values) for number in (10, 20, 30))


_LOG = "CREATE TABLE {t}_log (id INT, what VARCHAR(200), KEY (id))"
_SESSION_SEEN = (
    "CONCAT_WS('|', LAST_INSERT_ID(), ROW_COUNT(), IFNULL(@kept, 'none'), @@SESSION.sql_mode,"
    " @@SESSION.time_zone, @@SESSION.max_sort_length, @@SESSION.foreign_key_checks,"
    " @@SESSION.warning_count, @@SESSION.error_count, DATABASE(), CURRENT_USER(),"
    " IFNULL(IS_USED_LOCK('kept'), 'free'), @@SESSION.tx_isolation, @@SESSION.autocommit,"
    " @@SESSION.last_insert_id, @@SESSION.identity, @@SESSION.insert_id,"
    " @@SESSION.group_concat_max_len, @@SESSION.div_precision_increment, @@SESSION.sql_big_selects,"
    " @@SESSION.character_set_client, @@SESSION.collation_connection, @@SESSION.lc_time_names,"
    " IFNULL(LASTVAL(numbers), 'no'), ABS(UNIX_TIMESTAMP() - UNIX_TIMESTAMP(SYSDATE())) < 600)"
)
TABLES = (
    Table(
        "plain",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20), KEY by_n (n, id), KEY by_s (s(2), id),"
        " KEY down (n DESC, id DESC))",
        "id,n,s",
        ((10, 1, "abc"), (20, 2, "abd"), (30, 3, None), (40, 3, "ABC"), (50, None, "abcd")),
        indexes=("PRIMARY", "by_n", "by_s", "down"),
        filters="n,s",
    ),
    Table(
        "parts",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20), KEY by_n (n, id))"
        " PARTITION BY RANGE (id MOD 100) (PARTITION a VALUES LESS THAN (15), PARTITION b VALUES LESS THAN (25),"
        " PARTITION c VALUES LESS THAN (60))",
        "id,n,s",
        _simple(4, "p"),
        indexes=("PRIMARY", "by_n"),
    ),
    Table(
        "versioned",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20)) WITH SYSTEM VERSIONING",
        "id,n,s",
        _simple(5, "v"),
    ),
    Table(
        "generated",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20), twice INT AS (n * 2) VIRTUAL,"
        " upper_s VARCHAR(20) AS (UPPER(s)) STORED, big INT AS (n + 1000) VIRTUAL, KEY by_twice (twice, id),"
        " KEY by_upper (upper_s, id), CONSTRAINT small CHECK (n < 100))",
        "id,n,s",
        ((10, 1, "a"), (20, 2, "b"), (30, 3, "c")),
        indexes=("PRIMARY", "by_twice", "by_upper"),
        told="id,n,s,twice,upper_s,big",
    ),
    Table(
        "numbered",
        "CREATE TABLE {t} (id INT, n INT AUTO_INCREMENT, s VARCHAR(20) DEFAULT 'none', PRIMARY KEY (id), KEY (n))"
        f" AUTO_INCREMENT={FIRST_GENERATED}",
        "id,n,s",
        ((10, 1001, "a"), (20, 1002, "b")),
    ),
    Table(
        "defaults",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT DEFAULT (NEXTVAL(numbers)), s VARCHAR(20) DEFAULT"
        " (CONCAT('d ', id)), at TIMESTAMP(6) DEFAULT NOW(6) ON UPDATE NOW(6), u VARCHAR(40) DEFAULT"
        " (CONCAT(USER(), @@SESSION.sql_mode = '')), e INT DEFAULT (LENGTH(s) IN (1, 2, 3)))",
        "id,n,s,at",
        ((10, 1, "a", "2020-01-01 00:00:00"), (20, 2, "b", "2020-01-01 00:00:00")),
        told="id,n,s,at > NOW() - INTERVAL 1 HOUR,u,e",
    ),
    Table(
        "parent",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20), UNIQUE KEY by_n (n))",
        "id,n,s",
        ((10, None, "a"), (20, None, "b"), (30, None, "c")),
    ),
    Table(
        "child",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20),"
        " CONSTRAINT of_parent FOREIGN KEY (n) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
        "id,n,s",
        ((10, "~10", "x"), (20, "~20", "y"), (30, None, "z")),
    ),
    Table(
        "grandchild",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20),"
        " FOREIGN KEY (n) REFERENCES child (id) ON DELETE SET NULL)",
        "id,n,s",
        ((10, "~10", "x"), (20, "~30", "y")),
    ),
    Table(
        "seeing",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(2000))",
        "id,n,s",
        _simple(1, "-"),
        (
            "CREATE TRIGGER {t}_i BEFORE INSERT ON {t} FOR EACH ROW"
            f" IF NEW.s <> '-' THEN SET NEW.s = {_SESSION_SEEN}; END IF",
            "CREATE TRIGGER {t}_u BEFORE UPDATE ON {t} FOR EACH ROW SET NEW.s = " + _SESSION_SEEN,
        ),
    ),
    Table(
        "leaving",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20))",
        "id,n,s",
        _simple(1, "-"),
        (
            "CREATE TABLE {t}_ids (id INT AUTO_INCREMENT PRIMARY KEY)",
            "CREATE TRIGGER {t}_i BEFORE INSERT ON {t} FOR EACH ROW IF NEW.s <> '-' THEN BEGIN"
            " DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET @kept = 'handled';"
            " INSERT INTO {t}_ids VALUES (NULL); SET @lock = GET_LOCK('kept', 0), @number = NEXTVAL(numbers);"
            " SET SESSION max_sort_length = 99, SESSION time_zone = '+03:00', SESSION sql_mode = 'ANSI',"
            " SESSION group_concat_max_len = 77, SESSION lc_time_names = 'de_DE', timestamp = 1000000;"
            " SET @kept = CAST('12x' AS INT); SIGNAL SQLSTATE '45000'; END; END IF",
            "CREATE TRIGGER {t}_u AFTER UPDATE ON {t} FOR EACH ROW BEGIN"
            " INSERT INTO {t}_ids VALUES (NULL); SET @kept = 'after', insert_id = 4711,"
            " SESSION foreign_key_checks = 0, SESSION div_precision_increment = 9; END",
        ),
    ),
    Table(
        "logging",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20))",
        "id,n,s",
        _simple(1, "-"),
        (
            _LOG,
            "CREATE TRIGGER {t}_i AFTER INSERT ON {t} FOR EACH ROW"
            " INSERT INTO {t}_log VALUES (NEW.id, CONCAT('i', NEW.n))",
            "CREATE TRIGGER {t}_u AFTER UPDATE ON {t} FOR EACH ROW"
            " INSERT INTO {t}_log SELECT NEW.id, CONCAT('u', COUNT(*)) FROM {t}_log WHERE id = OLD.id",
            "CREATE TRIGGER {t}_d BEFORE DELETE ON {t} FOR EACH ROW"
            " INSERT INTO {t}_log VALUES (OLD.id, (SELECT s FROM plain WHERE id = OLD.id))",
        ),
    ),
    Table(
        "refusing",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20))",
        "id,n,s",
        _simple(1, "-"),
        (
            _LOG,
            "CREATE TRIGGER {t}_i AFTER INSERT ON {t} FOR EACH ROW BEGIN"
            " INSERT INTO {t}_log VALUES (NEW.id, 'i');"
            " IF NEW.n > 5 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too much'; END IF; END",
            "CREATE TRIGGER {t}_u BEFORE UPDATE ON {t} FOR EACH ROW"
            " IF NEW.n > 5 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no more'; END IF",
        ),
    ),
    Table(
        "temporary",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20))",
        "id,n,s",
        _simple(1, "-"),
        (
            "CREATE PROCEDURE {t}_counts (INOUT n INT) BEGIN"
            " CREATE TEMPORARY TABLE IF NOT EXISTS shadow (n INT); INSERT INTO shadow VALUES (n), (n);"
            " SELECT COUNT(*) INTO n FROM shadow; END",
            "CREATE TRIGGER {t}_i BEFORE INSERT ON {t} FOR EACH ROW"
            " IF NEW.s <> '-' THEN CALL {t}_counts(NEW.n); END IF",
        ),
    ),
    Table(
        "moving",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20), KEY by_n (n, id))",
        "id,n,s",
        _simple(1, "-"),
        ("CREATE TRIGGER {t}_u BEFORE UPDATE ON {t} FOR EACH ROW SET NEW.n = OLD.n + 1",),
        indexes=("PRIMARY", "by_n"),
    ),
    Table(
        "words",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s TEXT, FULLTEXT (s))",
        "id,n,s",
        _simple(1, "some words"),
    ),
    Table(
        "hashed",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s LONGTEXT, UNIQUE KEY (s, n))",
        "id,n,s",
        ((10, "~1", "long"), (20, "~2", "long"), (30, "~3", "longer")),
    ),
    Table(
        "types",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n DECIMAL(6,2), s ENUM('a', 'b', 'c'), d DATE, t TIME(3),"
        " f DOUBLE, b BIT(9), y YEAR, st SET('x', 'y'), bin VARBINARY(9), c CHAR(4) CHARSET latin1,"
        " KEY by_n (n, id), KEY by_s (s, id), KEY by_d (d, id), KEY by_t (t, id), KEY by_c (c, id))",
        "id,n,s,d,t,f,y,st,bin,c",
        (
            (10, 1.5, "a", "2020-01-01", "01:02:03.5", 0.5, 2001, "x", "ab", "x"),
            (20, 2.25, "b", "2021-12-31", "-01:00:00", 1e10, 1999, "x,y", "ac", "\u00e4b"),
            (30, None, "c", None, None, None, None, None, None, None),
        ),
        indexes=("PRIMARY", "by_n", "by_s", "by_d", "by_t", "by_c"),
        filters="n,s,d,t,f,y,st,bin,c",
    ),
    Table("aria", "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20)) ENGINE=Aria", "id,n,s", _simple(1, "a")),
    Table("myisam", "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20)) ENGINE=MyISAM", "id,n,s", _simple(1, "m")),
    Table(
        "memory",
        "CREATE TABLE {t} (id INT, n INT, s VARCHAR(20), PRIMARY KEY (id) USING HASH, KEY by_n (n, id) USING BTREE)"
        " ENGINE=MEMORY",
        "id,n,s",
        _simple(1, "m"),
        indexes=("PRIMARY", "by_n"),
    ),
)
BY_NAME = {table.name: table for table in TABLES}
_FIRST_PLACE = 10_000
"""So that no other number looks like an id."""
LOGS = ("logging_log", "refusing_log")


def value_at(place: int, value: object) -> object:
    """A value of a row: "~20" is the id 20 of the place."""
    if isinstance(value, str) and value.startswith("~"):
        return place * ROWS_OF_A_PLACE + int(value[1:])
    return value


class Tables:
    """All of them on a server, in a database of their own."""

    def __init__(self, server: MariaDB, database: str) -> None:
        self._server = server
        self.database = database
        self._connection = server.connect()
        self.sql(f"CREATE DATABASE {database}")
        self.sql(f"USE {database}")
        self.sql("SET SESSION system_versioning_alter_history = KEEP")
        self.sql(f"CREATE SEQUENCE numbers START WITH {FIRST_GENERATED} MAXVALUE 1599999999")
        for table in TABLES:
            for statement in (table.create, *table.and_then):
                self.sql(statement.format(t=table.name))
        self._places = _FIRST_PLACE

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        """The rows of a statement."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def prepare(self, count: int) -> range:
        """So many new places, with their first rows."""
        places = range(self._places + 1, self._places + 1 + count)
        self._places += count
        for table in TABLES:
            rows = " UNION ALL ".join(
                f"SELECT {', '.join(map(_expression, (f'~{row[0]}', *row[1:])))} FROM seq_{places[0]}_to_{places[-1]}"
                for row in table.rows
            )
            self.sql(f"INSERT INTO {table.name} ({table.columns}) {rows}")
        return places

    def rows(self, places: range) -> list[list[str]]:
        """What is in each of the places, with ids counted from the beginning of the place."""
        found: dict[int, list[str]] = {place: [] for place in places}
        where = f"WHERE id BETWEEN {places[0] * ROWS_OF_A_PLACE} AND {places[-1] * ROWS_OF_A_PLACE + 999} ORDER BY id, 2"
        told = [(table.name, table.told or table.columns) for table in TABLES]
        for name, columns in [*told, *((log, "id,what") for log in LOGS)]:
            for row in self.sql(f"SELECT {columns} FROM {name} {where}"):
                place, number = divmod(int(row[0]), ROWS_OF_A_PLACE)  # type: ignore[call-overload]
                found[place].append(f"{name} {number} {_of_place(place, row[1:])}")
        return list(found.values())

    def close(self) -> None:
        """Drop them."""
        self.sql("USE mysql")
        self.sql(f"DROP DATABASE {self.database}")
        self._connection.close()


def _expression(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"seq * {ROWS_OF_A_PLACE} + {value[1:]}" if value.startswith("~") else f"'{value}'"
    return str(value)


def _of_place(place: int, values: tuple[object, ...]) -> str:
    text = re.sub(rf"\b{place}(\d{{3}})\b", r"~\1", " ".join(map(str, values)))
    return _GENERATED.sub("#", text)


# ---- requests


def ids() -> dict[tuple[str, str], int]:
    """The id under which each index of each table is opened."""
    return {pair: number for number, pair in enumerate((t.name, i) for t in TABLES for i in t.indexes)}


IDS = ids()


def open_all(client: RawConnection, database: str) -> None:
    """Open every index of every table on a connection."""
    lines = [
        f"P\t{number}\t{database}\t{table}\t{index}\t{BY_NAME[table].columns}\t{BY_NAME[table].filters}\tdetail"
        for (table, index), number in IDS.items()
    ]
    for line in lines:
        reply = client.ask(line.encode())
        assert reply == b"0\t1", (line, reply)


Make = Callable[[int], list[bytes]]


@dataclass(frozen=True)
class Request:
    """A request, or a group of them: lines for a place."""

    name: str
    lines: Make


def _line(place: int, table: str, index: str, *words: object) -> bytes:
    made = [value_at(place, word) for word in words]
    return b"\t".join(token(word) for word in (IDS[table, index], *made))  # type: ignore[arg-type]


def _one(name: str, table: str, *words: object, index: str = "PRIMARY") -> Request:
    return Request(f"{table} {name}", lambda place: [_line(place, table, index, *words)])


def _group(name: str, *members: Request, options: str = "") -> Request:
    def lines(place: int) -> list[bytes]:
        begin = b"G" + (b"\t" + options.encode() if options else b"")
        return [begin, *(line for member in members for line in member.lines(place)), b"E"]

    return Request(f"group {name}", lines)


def _of_any_table() -> Iterator[Request]:
    for table in TABLES:
        name = table.name
        sample = {"types": ("7.5", "b"), "hashed": ("~77", "q"), "parent": ("~77", "q"), "child": ("~20", "q"),
                  "grandchild": ("~20", "q"), "numbered": ("1777", "q")}.get(name, ("3", "q"))
        yield _one("get", name, "=", 1, "~10")
        yield _one("update", name, "=", 1, "~20", 1, 0, "C", "n,s", "U", *sample)
        yield _one("insert", name, "+", 3, "~15", *sample)
        yield _one("duplicate", name, "+", 3, "~10", *sample)
        yield _one("delete", name, "=", 1, "~10", 1, 0, "D")
        yield _one("rows", name, "++", 3, 2, "~12", *sample, "~10", *sample, "U", "2")


def _of_some() -> Iterator[Request]:
    upto = ("T", "<", 1, "~900")
    yield _one("range", "plain", ">=", 1, "~10", 10, 0, *upto)
    yield _one("range down", "plain", "<=", 1, "~40", 2, 1, "T", ">", 1, "~1")
    yield _one("reverse", "plain", ">=", 1, "~10", 2, 0, *upto, "R")
    yield _one("list", "plain", "=", 1, 0, 9, 0, "@", 0, 3, "~30", "~11", "~10")
    yield _one("keys", "plain", "=", 1, "~10", 9, 0, "@@", 2, "~20", "~10")
    yield _one("filter", "plain", ">=", 1, "~10", 9, 0, "F", ">", 0, 1, *upto)
    yield _one("while", "plain", ">=", 1, "~10", 9, 0, "W", "=", 0, 1, *upto)
    yield _one("null filter", "plain", ">=", 1, "~10", 9, 0, "F", "=", 0, None, *upto)
    yield _one("count", "plain", ">=", 1, "~10", 0, 0, *upto, "#")
    yield _one("by number", "plain", "=", 2, 3, "~30", 9, 0, index="by_n")
    yield _one("by null", "plain", "=", 2, None, "~50", 9, 0, index="by_n")
    yield _one("by prefix", "plain", "=", 2, "abc", "~10", 9, 0, index="by_s")
    yield _one("number in keys", "plain", ">=", 2, 3, "~20", 2, 0, "F", "=", 0, 3, "T", "<=", 2, 3, "~900", index="by_n")
    yield _one("descending", "plain", ">=", 2, 3, "~40", 2, 0, "T", "<=", 2, 3, "~1", index="down")
    yield _one("update several", "plain", ">=", 1, "~10", 9, 0, *upto, "C", "n", "U", 8)
    yield _one("add", "plain", "=", 1, "~10", 1, 0, "C", "n", "+", 5)
    yield _one("add and tell", "plain", "=", 1, "~10", 1, 0, "C", "n", "+!", 5)
    yield _one("subtract below zero", "plain", "=", 1, "~10", 1, 0, "C", "n", "-", 5)
    yield _one("tell and delete", "plain", ">=", 1, "~20", 2, 0, *upto, "D?")
    yield _one("move", "plain", "=", 1, "~10", 1, 0, "U", "~35")
    yield _one("move onto", "plain", "=", 1, "~10", 1, 0, "U", "~20")
    yield _one("too long", "plain", "+", 3, "~15", 1, "x" * 21)
    yield _one("too large", "plain", "=", 1, "~10", 1, 0, "C", "n", "+", 2147483647)
    yield _one("ignore", "plain", "++", 3, 2, "~10", 7, "i", "~16", 7, "i", "I")
    yield _one("replace", "plain", "++", 3, 2, "~10", 7, "r", "~16", 7, "r", "R")
    yield _one("each", "plain", "++", 3, 3, "~16", 7, "e", "~10", 7, "e", "~17", 7, "e", "E")
    yield _one("add on duplicate", "plain", "++", 3, 2, "~10", 7, "a", "~18", 7, "a", "+", 1)
    yield _one("no such operator", "plain", "%", 1, "~10")
    yield _one("key too long", "plain", "=", 3, "~10", 1, 1)
    yield _one("number made", "numbered", "++", 2, 2, "~15", "x", "~16", "y", "C", "id,s")
    yield _one("number made on duplicate", "numbered", "++", 2, 2, "~15", "x", "~10", "y", "C", "id,s", "U", 1)
    yield _one("default", "defaults", "+", 1, "~15")
    yield _one("defaults of rows", "defaults", "++", 1, 2, "~15", "~16", "C", "id")
    yield _one("now", "defaults", "=", 1, "~10", 1, 0, "C", "s", "U", "z")
    yield _one("out of check", "generated", "=", 1, "~10", 1, 0, "C", "n", "U", 100)
    yield _one("by virtual", "generated", "=", 2, 4, "~20", 9, 0, index="by_twice")
    yield _one("by stored", "generated", "=", 2, "B", "~20", 9, 0, index="by_upper")
    yield _one("update by virtual", "generated", "=", 2, 4, "~20", 9, 0, "C", "n", "U", 9, index="by_twice")
    yield _one("virtual told", "generated", ">=", 1, "~10", 9, 0, *upto, "C", "twice,big,upper_s")
    yield _one("no partition", "parts", "+", 3, "~77", 1, "x")
    yield _one("to another partition", "parts", "=", 1, "~10", 1, 0, "U", "~45")
    yield _one("range", "parts", ">=", 1, "~10", 10, 0, *upto)
    yield _one("by number", "parts", "=", 2, 4, "~20", 9, 0, index="by_n")
    yield _one("history told", "versioned", "=", 1, "~10", 1, 0, "C", "n", "U!", 8)
    yield _one("same again", "versioned", "=", 1, "~10", 1, 0, "C", "n", "U", 5)
    yield _one("no parent", "child", "+", 3, "~15", "~99", "x")
    yield _one("moves children", "parent", "=", 1, "~10", 1, 0, "U", "~35")
    yield _one("several gone", "parent", ">=", 1, "~10", 9, 0, *upto, "D")
    yield _one("refused", "refusing", "+", 3, "~15", 6, "x")
    yield _one("refused row", "refusing", "++", 3, 3, "~15", 1, "x", "~16", 6, "y", "~17", 1, "z", "E")
    yield _one("refused change", "refusing", ">=", 1, "~10", 9, 0, *upto, "C", "n", "U", 6)
    yield _one("twice", "temporary", "++", 3, 2, "~15", 1, "x", "~16", 1, "y")
    yield _one(
        "all by number", "moving", ">=", 2, 1, "~10", 9, 0, "T", "<=", 2, 1, "~900", "C", "s", "U", "m", index="by_n"
    )
    yield _one("by decimal", "types", "=", 2, "1.50", "~10", 9, 0, index="by_n")
    yield _one("by fraction", "types", ">", 2, "1.499", "~1", 1, 0, "F", "=", 0, "1.5", "T", "<", 1, "1.6", index="by_n")
    yield _one("by member", "types", "=", 2, "c", "~30", 9, 0, index="by_s")
    yield _one("by date", "types", "=", 2, "2021-12-31", "~20", 9, 0, index="by_d")
    yield _one("by no date", "types", "=", 2, "abc", "~20", 9, 0, index="by_d")
    yield _one("by time", "types", "=", 2, "-01:00:00", "~20", 9, 0, index="by_t")
    yield _one("by letter", "types", "=", 2, "\u00e4b", "~20", 9, 0, index="by_c")
    yield _one("by no letter", "types", "=", 2, "\u0416", "~20", 9, 0, index="by_c")
    yield _one("all told", "types", ">=", 1, "~10", 9, 0, *upto, "C", "n,s,d,t,f,y,st,bin,c")
    yield _one("bad date", "types", "=", 1, "~10", 1, 0, "C", "d", "U", "2021-02-30")
    yield _one("bad member", "types", "=", 1, "~10", 1, 0, "C", "s", "U", "z")
    yield _one("filtered", "types", ">=", 1, "~10", 9, 0, "F", ">", 2, "2020-06-01", *upto)
    yield _one("by hash", "memory", "=", 1, "~20", 9, 0)
    yield _one("by tree", "memory", "=", 2, 1, "~20", 9, 0, index="by_n")
    yield _one("several of no transaction", "myisam", ">=", 1, "~10", 9, 0, *upto, "C", "n", "U", 9)
    yield _one("each", "aria", "++", 3, 3, "~16", 7, "e", "~10", 7, "e", "~17", 7, "e", "E")


def _groups() -> Iterator[Request]:
    put = _one("insert", "plain", "+", 3, "~61", 1, "g")
    log = _one("insert", "logging", "+", 3, "~61", 1, "g")
    read = _one("get", "parts", "=", 1, "~10")
    change = _one("change", "generated", "=", 1, "~10", 1, 0, "C", "n", "U", 7)
    fails = _one("duplicate", "plain", "+", 3, "~10", 1, "g")
    missing = _one("miss", "plain", "=", 1, "~99", 1, 0, "C", "n", "U", 7)
    refused = _one("refused", "refusing", "+", 3, "~15", 6, "x")
    aria = _one("insert", "aria", "+", 3, "~61", 1, "g")
    yield _group("done", put, read, change, log)
    yield _group("failed", read, put, log, fails, change)
    yield _group("failed first", fails, put)
    yield _group("must", put, missing, change, options="must")
    yield _group("refused by a trigger", put, refused)
    yield _group("without transactions", put, aria)
    yield _group("of reads", read, _one("get", "types", "=", 1, "~10"))


def _others(database: str) -> Iterator[Request]:
    def fixed(name: str, *lines: bytes) -> Request:
        return Request(name, lambda place: list(lines))

    yield fixed("open", f"P\t900\t{database}\tplain\tby_n\tid\t\tdetail".encode())
    yield fixed("open no table", f"P\t900\t{database}\tnone\t\tid".encode())
    yield fixed("open no column", f"P\t900\t{database}\tplain\t\tnone".encode())
    yield fixed("open no index", f"P\t900\t{database}\tplain\tnone\tid".encode())
    yield fixed("open a system's", b"P\t900\tmysql\tuser\t\tHost")
    yield fixed("nothing opened", b"999\t=\t1\t1")
    yield fixed("no request", b"X")
    yield fixed("an end", b"E")


def requests(database: str) -> list[Request]:
    """All of them."""
    made = [*_of_any_table(), *_of_some(), *_groups(), *_others(database)]
    names = [one.name for one in made]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    return made


def as_of_any_place(place: int, lines: list[bytes]) -> list[str]:
    """Replies without what is of the place, and without the numbers that AUTO_INCREMENT and sequences made."""
    return [_of_place(place, (line.decode(),)) for line in lines]
