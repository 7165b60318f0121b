# SPDX-License-Identifier: GPL-2.0-only
"""The tables that requests are fuzzed on: every engine that is served, every feature that a write must mind.

A shape is one table and what belongs to it (triggers, children, sequences). All of it can be dropped and made
again at any time. A column's kind says which values suit it (values.py).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

DATABASE = "fuzz"
MARKS = "marks"
"""A table that no request and no DDL changes: its finds show that a connection still serves."""
MARK_COUNT = 1000
ROWS = 30

_BASE = "id INT NOT NULL, g INT NOT NULL DEFAULT 0, n BIGINT NOT NULL DEFAULT 0, s VARCHAR(40) NULL"
_KEYS = "PRIMARY KEY (id), KEY by_g (g, n), KEY by_s (s, id)"
_COLUMNS = "id:i g:i n:i s:t"
_INDEXES = {"": "id", "by_g": "g,n", "by_s": "s,id"}


@dataclass(frozen=True)
class Shape:
    """A table. `{name}` in the statements is its name."""

    name: str
    create: str
    and_then: tuple[str, ...] = ()
    """What is made after the table: triggers, children, rows that belong to it."""
    columns: str = _COLUMNS
    """`name:kind` of each column that requests use."""
    indexes: dict[str, str] = field(default_factory=lambda: dict(_INDEXES))
    """Name (empty: the primary key) to the columns of the index."""
    before: tuple[str, ...] = ()
    """What must be there before the table."""
    alterations: tuple[str, ...] = ()
    """DDL that suits this table alone."""
    is_served: bool = True
    """Whether an open_index can be answered with ok."""
    needs: str = ""
    """The plugin of the engine, where it is not built in."""
    fill: str = ""
    """Fills the table with rows; empty: the four columns of all."""

    @property
    def kinds(self) -> dict[str, str]:
        """Column to kind."""
        return {name: kind for name, _, kind in (word.partition(":") for word in self.columns.split())}

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.kinds)

    def statements(self) -> list[str]:
        """Everything that makes the table, with rows."""
        fill = self.fill or (
            f"INSERT IGNORE INTO {{name}} (id, g, n, s) SELECT seq, seq MOD 4, seq * 10, CONCAT('s',"
            f" seq MOD 9)"
            f" FROM seq_1_to_{ROWS}"
        )
        made = (*self.before, self.create, *self.and_then, *([fill] if self.is_served else []))
        return [statement.replace("{name}", self.name) for statement in made]

    def altered(self) -> list[str]:
        """The statements of `alterations`."""
        return [statement.replace("{name}", self.name) for statement in self.alterations]


def _after(what: str) -> tuple[str, ...]:
    """AFTER triggers for all three events; `<op>` is the event's letter and `<row>` the row."""
    events = (("i", "INSERT", "NEW"), ("u", "UPDATE", "NEW"), ("d", "DELETE", "OLD"))
    return tuple(
        f"CREATE TRIGGER {{name}}_a{op} AFTER {event} ON {{name}} FOR EACH ROW "
        + what.replace("<op>", op).replace("<row>", row)
        for op, event, row in events
    )


def _of_engine(name: str, options: str, needs: str = "", keys: str = _KEYS) -> Shape:
    return Shape(name, f"CREATE TABLE {{name}} ({_BASE}, {keys}) {options}", needs=needs)


def _child(name: str, parent: str, rule: str, more: str = "") -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {name} (id INT NOT NULL PRIMARY KEY, g INT NULL, n INT NULL, KEY"
        f" (g){more},"
        f" FOREIGN KEY (g) REFERENCES {parent} (id) {rule})"
    )


INNODB = (
    _of_engine("plain", "ENGINE=InnoDB"),
    Shape(
        "descending",
        f"CREATE TABLE {{name}} ({_BASE}, PRIMARY KEY (id DESC), KEY by_g (g DESC, n), KEY by_s (s(3)"
        f" DESC, id))"
        " CHARSET=latin1 COLLATE=latin1_german2_ci",
    ),
    Shape(
        "prefixes",
        "CREATE TABLE {name} (id INT NOT NULL, g INT NOT NULL DEFAULT 0, n BIGINT NOT NULL DEFAULT"
        " 0, s TEXT NULL,"
        " PRIMARY KEY (id), KEY by_g (g, s(2), n), UNIQUE KEY by_s (s(5), id)) CHARSET=utf8mb4"
        " COLLATE=utf8mb4_unicode_520_nopad_ci",
        indexes={"": "id", "by_g": "g,s,n", "by_s": "s,id"},
    ),
    Shape(
        "partitioned",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) PARTITION BY HASH (id) PARTITIONS 3",
        alterations=(
            "ALTER TABLE {name} ADD PARTITION PARTITIONS 1",
            "ALTER TABLE {name} COALESCE PARTITION 1",
            "ALTER TABLE {name} TRUNCATE PARTITION ALL",
            "ALTER TABLE {name} REBUILD PARTITION ALL",
            "ALTER TABLE {name} REMOVE PARTITIONING",
            "ALTER TABLE {name} PARTITION BY KEY (id) PARTITIONS 5",
        ),
    ),
    Shape(
        "ranged",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) PARTITION BY RANGE (id) SUBPARTITION BY HASH (id)"
        " SUBPARTITIONS 2 (PARTITION a VALUES LESS THAN (5), PARTITION b VALUES LESS THAN (100))",
        (
            "CREATE TRIGGER {name}_u BEFORE UPDATE ON {name} FOR EACH ROW SET NEW.n = NEW.n + 1",
            *_after("INSERT INTO seen VALUES ('<op>', <row>.id)"),
        ),
        alterations=(
            "ALTER TABLE {name} ADD PARTITION (PARTITION c VALUES LESS THAN MAXVALUE)",
            "ALTER TABLE {name} DROP PARTITION c",
            "ALTER TABLE {name} TRUNCATE PARTITION a",
        ),
    ),
    Shape(
        "listed",
        "CREATE TABLE {name} (id INT NOT NULL, g INT NOT NULL DEFAULT 0, n BIGINT NOT NULL DEFAULT 0,"
        " s VARCHAR(40) NULL, up BIGINT AS (n + 1) VIRTUAL, KEY by_id (id), KEY by_g (g, up), KEY by_s (s))"
        " PARTITION BY LIST (g) (PARTITION a VALUES IN (0, 1), PARTITION b VALUES IN (2), PARTITION"
        " c DEFAULT)",
        columns=_COLUMNS + " up:i",
        indexes={"by_id": "id", "by_g": "g,up", "by_s": "s"},
    ),
    Shape(
        "triggered",
        f"CREATE TABLE {{name}} ({_BASE}, changes INT NOT NULL DEFAULT 0, at DATETIME(6) DEFAULT NOW(6),"
        f" {_KEYS}, KEY by_changes (changes, at))",
        (
            (
                "CREATE TRIGGER {name}_u BEFORE UPDATE ON {name} FOR EACH ROW SET NEW.changes ="
                " OLD.changes + 1, NEW.at = NOW(6)"
            ),
            (
                "CREATE TRIGGER {name}_i BEFORE INSERT ON {name} FOR EACH ROW"
                " SET NEW.s = COALESCE(NEW.s, 'set'), NEW.n = IF(NEW.n > 1000000, NULL, NEW.n)"
            ),
            *_after("INSERT INTO noted (op, id) VALUES ('<op>', <row>.id)"),
        ),
        columns=_COLUMNS + " changes:i at:d",
        indexes={**_INDEXES, "by_changes": "changes,at"},
    ),
    Shape(
        "signalling",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS})",
        (
            (
                "CREATE TRIGGER {name}_i BEFORE INSERT ON {name} FOR EACH ROW"
                " IF NEW.g = 11 THEN SIGNAL SQLSTATE '45000'; ELSE SET @last = NEW.id; END IF"
            ),
            (
                "CREATE TRIGGER {name}_u AFTER UPDATE ON {name} FOR EACH ROW BEGIN"
                " CREATE TEMPORARY TABLE IF NOT EXISTS scratch (id INT); INSERT INTO scratch VALUES (NEW.id);"
                " IF GET_LOCK('fuzz', 0) THEN UPDATE counted SET n = n + 1 WHERE id = NEW.id MOD 4; END IF;"
                " END"
            ),
            (
                "CREATE TRIGGER {name}_d AFTER DELETE ON {name} FOR EACH ROW DELETE FROM child_cascade"
                " WHERE id = OLD.id"
            ),
        ),
    ),
    Shape(
        "parent",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS})",
        (
            _child("child_cascade", "{name}", "ON DELETE CASCADE ON UPDATE CASCADE"),
            _child("grandchild", "child_cascade", "ON DELETE CASCADE ON UPDATE CASCADE"),
            _child(
                "child_null",
                "{name}",
                "ON DELETE SET NULL ON UPDATE SET NULL",
                ", up INT AS (g + 1), KEY (up)",
            ),
            _child("child_restrict", "{name}", "ON DELETE RESTRICT"),
        ),
    ),
    Shape(
        "child_cascade",
        _child("child_cascade", "parent", "ON DELETE CASCADE ON UPDATE CASCADE"),
        columns="id:i g:i n:i",
        indexes={"": "id", "g": "g"},
        fill=f"INSERT IGNORE INTO {{name}} SELECT seq, seq, seq FROM seq_1_to_{ROWS}",
    ),
    Shape(
        "child_restrict",
        _child("child_restrict", "parent", "ON DELETE RESTRICT"),
        columns="id:i g:i n:i",
        indexes={"": "id", "g": "g"},
        fill=f"INSERT IGNORE INTO {{name}} SELECT seq, seq + 12, seq FROM seq_1_to_{ROWS // 3}",
    ),
    Shape(
        "itself",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}, p INT NULL, FOREIGN KEY (p) REFERENCES {{name}}"
        f" (id) ON DELETE CASCADE)",
        columns=_COLUMNS + " p:i",
    ),
    Shape(
        "versioned",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) WITH SYSTEM VERSIONING",
        alterations=("DELETE HISTORY FROM {name}", "ALTER TABLE {name} DROP SYSTEM VERSIONING"),
    ),
    Shape(
        "history",
        f"CREATE TABLE {{name}} ({_BASE}, x INT WITHOUT SYSTEM VERSIONING, a TIMESTAMP(6) AS ROW START,"
        f" b TIMESTAMP(6) AS ROW END, PERIOD FOR SYSTEM_TIME (a, b), {_KEYS}) WITH SYSTEM VERSIONING"
        " PARTITION BY SYSTEM_TIME (PARTITION past HISTORY, PARTITION now CURRENT)",
        columns=_COLUMNS + " x:i a:d b:d",
    ),
    Shape(
        "by_transaction",
        f"CREATE TABLE {{name}} ({_BASE}, a BIGINT UNSIGNED GENERATED ALWAYS AS ROW START,"
        f" b BIGINT UNSIGNED GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b), {_KEYS})"
        " WITH SYSTEM VERSIONING",
    ),
    Shape(
        "period",
        f"CREATE TABLE {{name}} ({_BASE}, a DATE NOT NULL DEFAULT '2020-01-01', b DATE NOT NULL"
        f" DEFAULT '2021-01-01',"
        f" PERIOD FOR p (a, b), {_KEYS})",
        columns=_COLUMNS + " a:d b:d",
    ),
    Shape(
        "generated",
        f"CREATE TABLE {{name}} ({_BASE}, twice BIGINT AS (n * 2) STORED, less BIGINT AS (n - 1) VIRTUAL,"
        f" up VARCHAR(40) AS (UPPER(s)) VIRTUAL, {_KEYS}, KEY by_twice (twice), UNIQUE KEY by_less"
        f" (less, id),"
        " KEY by_up (up(3)))",
        columns=_COLUMNS + " twice:i less:i up:t",
        indexes={**_INDEXES, "by_twice": "twice", "by_less": "less,id", "by_up": "up"},
    ),
    Shape(
        "sequenced",
        "CREATE TABLE {name} (id INT NOT NULL DEFAULT NEXTVAL(numbers), g INT NOT NULL DEFAULT 0,"
        " n BIGINT NOT NULL DEFAULT NEXTVAL(numbers), s VARCHAR(40) DEFAULT CONCAT('at ', NOW()),"
        f" {_KEYS})",
        before=("CREATE SEQUENCE IF NOT EXISTS numbers START WITH 100 CACHE 7",),
    ),
    Shape(
        "blobs",
        "CREATE TABLE {name} (id INT NOT NULL AUTO_INCREMENT, g BLOB NULL, n BIGINT NOT NULL DEFAULT 0,"
        " s LONGTEXT COMPRESSED NULL, j JSON NULL, u TEXT NULL, PRIMARY KEY (id), KEY by_g (g(4),"
        " n), UNIQUE KEY by_u (u))"
        " ROW_FORMAT=DYNAMIC",
        columns="id:i g:b n:i s:t j:j u:b",
        indexes={"": "id", "by_g": "g,n"},
        fill=f"INSERT IGNORE INTO {{name}} (id, g, n, s, u) SELECT seq, REPEAT(CHAR(seq), seq * 40),"
        f" seq, REPEAT('x', seq), seq"
        f" FROM seq_1_to_{ROWS}",
    ),
    Shape(
        "types",
        "CREATE TABLE {name} (id MEDIUMINT UNSIGNED NOT NULL AUTO_INCREMENT, g TINYINT NULL, n"
        " DECIMAL(30,10) NULL,"
        " f FLOAT NULL, x DOUBLE NOT NULL DEFAULT 0, d DATE NULL, t TIME(3) NULL, at TIMESTAMP(6) NULL,"
        " y YEAR NULL, e ENUM('a', 'b', 'ç') NULL, m SET('a', 'b', 'c') NULL, b BIT(13) NULL, c CHAR(7) NULL,"
        " w BINARY(5) NULL, v VARBINARY(30) NULL, u UUID NULL, i INET6 NULL, s VARCHAR(40) CHARSET ucs2 NULL,"
        " PRIMARY KEY (id), KEY by_n (n, f), KEY by_x (x), KEY by_d (d, t DESC), KEY by_at (at), KEY"
        " by_e (e, m),"
        " KEY by_b (b, y), KEY by_c (c, w), UNIQUE KEY by_v (v(9)), KEY by_u (u, i), KEY by_s (s,"
        " g), CHECK (g < 100))",
        columns="id:i g:i n:n f:n x:n d:d t:d at:d y:i e:e m:e b:b c:t w:b v:b u:u i:u s:t",
        indexes={
            "": "id",
            "by_n": "n,f",
            "by_x": "x",
            "by_d": "d,t",
            "by_at": "at",
            "by_e": "e,m",
            "by_b": "b,y",
            "by_c": "c,w",
            "by_v": "v",
            "by_u": "u,i",
            "by_s": "s,g",
        },
        fill=f"INSERT IGNORE INTO {{name}} (g, n, f, x, d, t, at, e, c, v, s) SELECT seq, seq / 3,"
        f" seq, seq, '2024-01-01'"
        f" + INTERVAL seq DAY, seq, NOW(6), 'a', seq, seq, seq FROM seq_1_to_{ROWS}",
    ),
    Shape(
        "special_keys",
        f"CREATE TABLE {{name}} ({_BASE}, p POINT NOT NULL DEFAULT POINT(1, 1), {_KEYS}, SPATIAL KEY"
        f" by_p (p),"
        " FULLTEXT KEY by_words (s), KEY unseen (g) IGNORED)",
        columns=_COLUMNS + " p:b",
        indexes={**_INDEXES, "by_p": "p", "by_words": "s", "unseen": "g"},
    ),
    Shape("keyless", f"CREATE TABLE {{name}} ({_BASE})", indexes={"": "id", "0": "id"}),
    Shape(
        "no_primary",
        f"CREATE TABLE {{name}} ({_BASE}, KEY by_g (g, n), KEY by_s (s))",
        indexes={"by_g": "g,n", "by_s": "s"},
    ),
    Shape(
        "wide",
        "CREATE TABLE {name} (id INT NOT NULL, g INT NOT NULL DEFAULT 0, n BIGINT NOT NULL DEFAULT 0,"
        " s VARCHAR(40) NULL INVISIBLE, "
        + ", ".join(f"c{number} INT NULL" for number in range(200))
        + f", {_KEYS})"
        " ROW_FORMAT=COMPRESSED",
        columns=_COLUMNS + " c0:i c77:i c199:i",
    ),
    Shape('`näme "x"#1`', f"CREATE TABLE {{name}} ({_BASE}, {_KEYS})"),
)
OTHER_ENGINES = (
    _of_engine("myisam", "ENGINE=MyISAM"),
    Shape(
        "myisam_more",
        "CREATE TABLE {name} (id INT NOT NULL AUTO_INCREMENT, g INT NOT NULL DEFAULT 0, n BIGINT NOT"
        " NULL DEFAULT 0,"
        " s CHAR(40) NULL, PRIMARY KEY (g, id), KEY by_s (s(4), id), SPATIAL KEY by_p (p), p POINT NOT NULL"
        " DEFAULT POINT(1, 1), FULLTEXT KEY by_words (s)) ENGINE=MyISAM DELAY_KEY_WRITE=1"
        " PACK_KEYS=1 ROW_FORMAT=FIXED",
        (_after("INSERT INTO noted (op, id) VALUES ('<op>', <row>.id)")[1],),
        indexes={"": "g,id", "by_s": "s,id", "by_p": "p"},
        columns=_COLUMNS + " p:b",
    ),
    _of_engine("aria", "ENGINE=Aria TRANSACTIONAL=1"),
    _of_engine("aria_dynamic", "ENGINE=Aria TRANSACTIONAL=0 ROW_FORMAT=DYNAMIC"),
    _of_engine("aria_parts", "ENGINE=Aria PARTITION BY HASH (id) PARTITIONS 3"),
    _of_engine(
        "memory",
        "ENGINE=MEMORY",
        keys="PRIMARY KEY (id), KEY by_g (g, n) USING BTREE, KEY by_s (s, id) USING HASH",
    ),
)
ROCKSDB = (
    _of_engine("rocks", "ENGINE=ROCKSDB", "ha_rocksdb"),
    _of_engine(
        "rocks_reverse",
        "ENGINE=ROCKSDB COLLATE=utf8mb4_bin",
        "ha_rocksdb",
        "PRIMARY KEY (id) COMMENT 'rev:back', KEY by_g (g, n), KEY by_s (s, id) COMMENT 'rev:back'",
    ),
    _of_engine("rocks_parts", "ENGINE=ROCKSDB PARTITION BY KEY (id) PARTITIONS 3", "ha_rocksdb"),
    Shape(
        "rocks_more",
        "CREATE TABLE {name} (id INT NOT NULL AUTO_INCREMENT, g INT NOT NULL DEFAULT 0, n BIGINT NOT"
        " NULL DEFAULT 0,"
        " s TEXT NULL, KEY by_id (id), KEY by_g (g, n), KEY by_s (s(6))) ENGINE=ROCKSDB",
        _after("INSERT INTO noted (op, id) VALUES ('<op>', <row>.id)"),
        indexes={"by_id": "id", "by_g": "g,n", "by_s": "s"},
        needs="ha_rocksdb",
    ),
)
REFUSED = (
    Shape("csv", "CREATE TABLE {name} (id INT NOT NULL, g INT NOT NULL) ENGINE=CSV", is_served=False),
    Shape("archive", f"CREATE TABLE {{name}} ({_BASE}) ENGINE=ARCHIVE", is_served=False, needs="ha_archive"),
    Shape(
        "blackhole",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) ENGINE=BLACKHOLE",
        is_served=False,
        needs="ha_blackhole",
    ),
    Shape(
        "merged",
        f"CREATE TABLE {{name}} ({_BASE}, KEY by_g (g, n)) ENGINE=MERGE UNION=(part) INSERT_METHOD=LAST",
        before=(f"CREATE TABLE IF NOT EXISTS part ({_BASE}, KEY by_g (g, n)) ENGINE=MyISAM",),
        is_served=False,
    ),
    Shape("viewed", "CREATE VIEW {name} AS SELECT * FROM plain", is_served=False),
    Shape("a_sequence", "CREATE SEQUENCE {name}", is_served=False),
)
SHAPES = (*INNODB, *OTHER_ENGINES, *ROCKSDB, *REFUSED)

AUXILIARY = (
    f"CREATE TABLE {MARKS} (k INT PRIMARY KEY)",
    f"INSERT INTO {MARKS} SELECT seq FROM seq_0_to_{MARK_COUNT - 1}",
    "CREATE TABLE seen (op CHAR(1), id INT) ENGINE=MyISAM",
    "CREATE TABLE noted (number INT AUTO_INCREMENT PRIMARY KEY, op CHAR(1), id INT)",
    "CREATE TABLE counted (id INT PRIMARY KEY, n INT NOT NULL)",
    "INSERT INTO counted VALUES (0, 0), (1, 0), (2, 0), (3, 0)",
)


NEEDED_BY_OTHERS = ("plain", "parent")


def shapes(plugins: tuple[str, ...]) -> tuple[Shape, ...]:
    """The shapes whose engine is built in or among these plugins."""
    return tuple(shape for shape in SHAPES if not shape.needs or shape.needs in plugins)


def some(choose: random.Random, among: tuple[Shape, ...], share: float) -> tuple[Shape, ...]:
    """About this share of them."""
    return tuple(one for one in among if one.name in NEEDED_BY_OTHERS or choose.random() < share)


def statements(chosen: tuple[Shape, ...]) -> list[str]:
    """What makes the database with all tables of these shapes."""
    made = [f"CREATE DATABASE {DATABASE} CHARSET utf8mb4", f"USE {DATABASE}", *AUXILIARY]
    return made + [statement for shape in chosen for statement in shape.statements()]
