# SPDX-License-Identifier: GPL-2.0-only
"""Tables of many kinds, whose rows belong to places: those of a place p have the ids p * 1000 to
p * 1000 + 999.

What a request is answered, and what it makes of the rows of its place, does not depend on what others do in
other places (support/catalogue_requests.py). So whoever runs it behind something else knows what it ought to
do: the same as alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from support.mariadb import MariaDB

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
        " PARTITION BY RANGE (id MOD 100)"
        " (PARTITION a VALUES LESS THAN (15), PARTITION b VALUES LESS THAN (25),"
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
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT AUTO_INCREMENT, s VARCHAR(20) DEFAULT 'none', KEY (n))"
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
            (
                "CREATE TRIGGER {t}_i BEFORE INSERT ON {t} FOR EACH ROW"
                f" IF NEW.s <> '-' THEN SET NEW.s = {_SESSION_SEEN}; END IF"
            ),
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
            (
                "CREATE TRIGGER {t}_i BEFORE INSERT ON {t} FOR EACH ROW IF NEW.s <> '-' THEN BEGIN"
                " DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET @kept = 'handled';"
                " INSERT INTO {t}_ids VALUES (NULL);"
                " SET @lock = GET_LOCK('kept', 0), @number = NEXTVAL(numbers);"
                " SET SESSION max_sort_length = 99, SESSION time_zone = '+03:00', SESSION sql_mode = 'ANSI',"
                " SESSION group_concat_max_len = 77, SESSION lc_time_names = 'de_DE', timestamp = 1000000;"
                " SET @kept = CAST('12x' AS INT); SIGNAL SQLSTATE '45000'; END; END IF"
            ),
            (
                "CREATE TRIGGER {t}_u AFTER UPDATE ON {t} FOR EACH ROW BEGIN"
                " INSERT INTO {t}_ids VALUES (NULL); SET @kept = 'after', insert_id = 4711,"
                " SESSION foreign_key_checks = 0, SESSION div_precision_increment = 9; END"
            ),
        ),
    ),
    Table(
        "logging",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20))",
        "id,n,s",
        _simple(1, "-"),
        (
            _LOG,
            (
                "CREATE TRIGGER {t}_i AFTER INSERT ON {t} FOR EACH ROW"
                " INSERT INTO {t}_log VALUES (NEW.id, CONCAT('i', NEW.n))"
            ),
            (
                "CREATE TRIGGER {t}_u AFTER UPDATE ON {t} FOR EACH ROW"
                " INSERT INTO {t}_log SELECT NEW.id, CONCAT('u', COUNT(*)) FROM {t}_log WHERE id = OLD.id"
            ),
            (
                "CREATE TRIGGER {t}_d BEFORE DELETE ON {t} FOR EACH ROW"
                " INSERT INTO {t}_log VALUES (OLD.id, (SELECT s FROM plain WHERE id = OLD.id))"
            ),
        ),
    ),
    Table(
        "refusing",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20))",
        "id,n,s",
        _simple(1, "-"),
        (
            _LOG,
            (
                "CREATE TRIGGER {t}_i AFTER INSERT ON {t} FOR EACH ROW BEGIN"
                " INSERT INTO {t}_log VALUES (NEW.id, 'i');"
                " IF NEW.n > 5 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too much'; END IF; END"
            ),
            (
                "CREATE TRIGGER {t}_u BEFORE UPDATE ON {t} FOR EACH ROW"
                " IF NEW.n > 5 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no more'; END IF"
            ),
        ),
    ),
    Table(
        "temporary",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20))",
        "id,n,s",
        _simple(1, "-"),
        (
            (
                "CREATE PROCEDURE {t}_counts (INOUT n INT) BEGIN"
                " CREATE TEMPORARY TABLE IF NOT EXISTS shadow (n INT); INSERT INTO shadow VALUES (n), (n);"
                " SELECT COUNT(*) INTO n FROM shadow; END"
            ),
            (
                "CREATE TRIGGER {t}_i BEFORE INSERT ON {t} FOR EACH ROW"
                " IF NEW.s <> '-' THEN CALL {t}_counts(NEW.n); END IF"
            ),
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
    Table(
        "aria",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20)) ENGINE=Aria",
        "id,n,s",
        _simple(1, "a"),
    ),
    Table(
        "myisam",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20)) ENGINE=MyISAM",
        "id,n,s",
        _simple(1, "m"),
    ),
    Table(
        "memory",
        "CREATE TABLE {t} (id INT, n INT, s VARCHAR(20), PRIMARY KEY (id) USING HASH,"
        " KEY by_n (n, id) USING BTREE) ENGINE=MEMORY",
        "id,n,s",
        _simple(1, "m"),
        indexes=("PRIMARY", "by_n"),
    ),
    Table(
        "rocks",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20), KEY by_n (n, id))"
        " ENGINE=ROCKSDB CHARSET=latin1 COLLATE=latin1_bin",
        "id,n,s",
        _simple(1, "r"),
        indexes=("PRIMARY", "by_n"),
    ),
    Table(
        "past",
        "CREATE TABLE {t} (id INT PRIMARY KEY, n INT, s VARCHAR(20), v INT AS (n + id) VIRTUAL,"
        " KEY by_v (v, id)) WITH SYSTEM VERSIONING"
        " PARTITION BY SYSTEM_TIME (PARTITION old HISTORY, PARTITION now CURRENT)",
        "id,n,s",
        _simple(1, "p"),
    ),
    Table(
        "wide",
        "CREATE TABLE {t} (id BIGINT UNSIGNED, n DOUBLE, s VARCHAR(20) COLLATE utf8mb4_german2_ci,"
        " PRIMARY KEY (id DESC), UNIQUE KEY by_s (s(4), id))",
        "id,n,s",
        ((10, 0.5, "Äpfel"), (20, 1, "apfelbaum"), (30, 1e300, "AEPF")),
        ("CREATE TRIGGER {t}_i AFTER INSERT ON {t} FOR EACH ROW SET @seen = CONCAT(NEW.s, @seen)",),
        indexes=("PRIMARY", "by_s"),
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
        sequence = f"seq_{places[0]}_to_{places[-1]}"
        for table in TABLES:
            expressions = [", ".join(map(_expression, (f"~{row[0]}", *row[1:]))) for row in table.rows]
            rows = " UNION ALL ".join(f"SELECT {one} FROM {sequence}" for one in expressions)
            self.sql(f"INSERT INTO {table.name} ({table.columns}) {rows}")
        return places

    def rows(self, places: range) -> list[list[str]]:
        """What is in each of the places, with ids counted from the beginning of the place."""
        found: dict[int, list[str]] = {place: [] for place in places}
        first, last = places[0] * ROWS_OF_A_PLACE, (places[-1] + 1) * ROWS_OF_A_PLACE - 1
        where = f"WHERE id BETWEEN {first} AND {last} ORDER BY id, 2"
        told = [(table.name, table.told or table.columns) for table in TABLES]
        for name, columns in [*told, *((log, "id,what") for log in LOGS)]:
            for row in self.sql(f"SELECT {columns} FROM {name} {where}"):
                place, number = divmod(int(row[0]), ROWS_OF_A_PLACE)  # type: ignore[call-overload]
                found[place].append(f"{name} {number} {of_any_place(place, row[1:])}")
        return list(found.values())

    @contextlib.contextmanager
    def locked(self, places: list[int]) -> Iterator[None]:
        """Another session has locked the rows of the places, in tables that have such locks."""
        ids = [place * ROWS_OF_A_PLACE for place in places]
        with contextlib.closing(self._server.connect(self.database)) as session, session.cursor() as cursor:
            cursor.execute("BEGIN")
            for table in ("plain", "parts", "logging", "parent", "rocks"):
                for begins in ids:
                    cursor.execute(
                        f"SELECT 1 FROM {table} WHERE id BETWEEN {begins} AND {begins + 999} FOR UPDATE"
                    )
            yield

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


def of_any_place(place: int, values: tuple[object, ...]) -> str:
    """Values as text, without what is of the place, and without the numbers that AUTO_INCREMENT and sequences
    made."""
    text = re.sub(rf"\b{place}(\d{{3}})\b", r"~\1", " ".join(map(str, values)))
    return _GENERATED.sub("#", text)
