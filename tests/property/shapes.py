# SPDX-License-Identifier: GPL-2.0-only
"""Tables of many shapes, all with the same four columns that clients know: id, g, n and s.

A shape says in SQL how its table is made, and to the model (rows.py) what differs: the indexes and their
order, what a trigger makes of a row, which keys are unique, whether what failed is undone. Clients own ids
and values of g, and the texts of s begin with their number, so that no two clients meet in an owned row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from property.ingredients import register

COLUMNS = ("id", "g", "n", "s")


@dataclass(frozen=True)
class Part:
    """A part of an index; `prefix` characters of it, all if 0."""

    column: str
    is_descending: bool = False
    prefix: int = 0


PRIMARY = (Part("id"),)
BY_G = (Part("g"), Part("n"), Part("id"))
BY_S = (Part("s"), Part("id"))
Index = tuple[Part, ...]


@dataclass(frozen=True)
class Shape:
    """A table. `{name}` in the statements is its name."""

    name: str
    create: str
    and_then: tuple[str, ...] = ()
    """Triggers, and the tables that they write to."""
    indexes: dict[str, Index] = field(default_factory=lambda: {"": PRIMARY, "by_g": BY_G, "by_s": BY_S})
    extras: tuple[str, ...] = ()
    """Further columns that are read: attributes of `rows.Row`."""
    counts_changes: bool = False
    """A BEFORE UPDATE trigger adds one to `changes`."""
    unique_s: bool = False
    is_transactional: bool = True
    has_one_phase: bool = False
    """Its engine takes part in transactions, but has no first phase of a commit."""
    is_versioned: bool = False
    """An upsert of a row that is there already, value for value, changes it, with history, as in SQL."""
    log: str = ""
    """A table that AFTER triggers write (op, id) to, without transactions."""
    audit: str = ""
    """A table in which AFTER triggers count changes by `g MOD AUDITED`, which clients count in as well."""
    alterations: tuple[str, ...] = ()
    """Statements of DDL that leave all as it is, but for those of all shapes."""
    plugin: str = ""
    """Of its storage engine, where the server has to load one."""

    @property
    def is_for_groups(self) -> bool:
        """Whether a group may write to it: all that is done must be undone with the group."""
        return self.is_transactional and not self.log

    def statements(self) -> list[str]:
        """Everything that makes the table."""
        return [statement.format(name=self.name) for statement in (self.create, *self.and_then)]


AUDITED = 3
_BASE = "id INT NOT NULL, g INT NOT NULL, n BIGINT NOT NULL, s VARCHAR(40) NULL"
_KEYS = "PRIMARY KEY (id), KEY by_g (g, n, id), KEY by_s (s, id)"
_WITH_TEXT = (
    "id INT NOT NULL, g INT NOT NULL, n BIGINT NOT NULL, s LONGTEXT NULL,"
    " PRIMARY KEY (id), KEY by_g (g, n, id)"
)
_ROCKSDB = "ENGINE=ROCKSDB CHARSET=latin1 COLLATE=latin1_bin"
_MYISAM_LOG = "CREATE TABLE {name}_log (op CHAR(1) NOT NULL, id INT NOT NULL) ENGINE=MyISAM"
_AFTER = {"i": ("INSERT", "NEW"), "u": ("UPDATE", "NEW"), "d": ("DELETE", "OLD")}


def _after(what: str) -> tuple[str, ...]:
    """AFTER triggers for all three events; `{op}` is the event's letter and `{row}` the row."""
    return tuple(
        f"CREATE TRIGGER {{name}}_{op} AFTER {event} ON {{name}} FOR EACH ROW "
        + what.replace("<op>", op).replace("<row>", row)
        for op, (event, row) in _AFTER.items()
    )


SHAPES = (
    Shape("plain", f"CREATE TABLE {{name}} ({_BASE}, {_KEYS})"),
    Shape(
        "descending",
        f"CREATE TABLE {{name}} ({_BASE}, PRIMARY KEY (id DESC), KEY by_g (g DESC, n, id DESC),"
        " KEY by_s (s(4) DESC, id)) CHARSET=latin1 COLLATE=latin1_german2_ci",
        indexes={
            "": (Part("id", True),),
            "by_g": (Part("g", True), Part("n"), Part("id", True)),
            "by_s": (Part("s", True, prefix=4), Part("id")),
        },
    ),
    Shape(
        "collated",
        "CREATE TABLE {name} (s VARCHAR(40) CHARSET ucs2 COLLATE ucs2_turkish_ci NULL,"
        " n DECIMAL(20) NOT NULL, g SMALLINT NOT NULL, id MEDIUMINT UNSIGNED NOT NULL,"
        " KEY by_g (g, n DESC, id), UNIQUE KEY by_s (s, id), PRIMARY KEY (id)) ROW_FORMAT=COMPRESSED",
        indexes={"": PRIMARY, "by_g": (Part("g"), Part("n", True), Part("id")), "by_s": BY_S},
    ),
    Shape(
        "generated",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS},"
        " twice BIGINT AS (n * 2) STORED, less BIGINT AS (n - 1) VIRTUAL,"
        " KEY by_twice (g, twice, id), KEY by_less (g, less, id))",
        indexes={
            "": PRIMARY,
            "by_g": BY_G,
            "by_s": BY_S,
            "by_twice": (Part("g"), Part("twice"), Part("id")),
            "by_less": (Part("g"), Part("less"), Part("id")),
        },
        extras=("twice", "less"),
    ),
    Shape(
        "moving",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS},"
        " changes INT NOT NULL DEFAULT 0, updated_at DATETIME(6) DEFAULT NOW(6),"
        " KEY by_changes (g, changes, id), KEY by_time (g, updated_at))",
        (
            (
                "CREATE TRIGGER {name}_u BEFORE UPDATE ON {name} FOR EACH ROW"
                " SET NEW.changes = OLD.changes + 1, NEW.updated_at = NOW(6)"
            ),
        ),
        indexes={
            "": PRIMARY,
            "by_g": BY_G,
            "by_s": BY_S,
            "by_changes": (Part("g"), Part("changes"), Part("id")),
            "by_time": (Part("g"),),
        },
        extras=("changes",),
        counts_changes=True,
    ),
    Shape(
        "logged",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS})",
        (_MYISAM_LOG, *_after("INSERT INTO {name}_log VALUES ('<op>', <row>.id)")),
        log="logged_log",
    ),
    Shape(
        "audited",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS})",
        (
            "CREATE TABLE {name}_audit (id INT PRIMARY KEY, n BIGINT NOT NULL)",
            f"INSERT INTO {{name}}_audit SELECT seq, 0 FROM seq_0_to_{AUDITED - 1}",
            *_after(f"UPDATE {{name}}_audit SET n = n + 1 WHERE id = <row>.g MOD {AUDITED}"),
        ),
        audit="audited_audit",
    ),
    Shape(
        "partitioned",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) PARTITION BY HASH (id) PARTITIONS 3",
        alterations=(
            "ALTER TABLE {name} ADD PARTITION PARTITIONS 1",
            "ALTER TABLE {name} COALESCE PARTITION 1",
        ),
    ),
    Shape(
        "ranged",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) PARTITION BY RANGE (id)"
        " (PARTITION a VALUES LESS THAN (1006), PARTITION b VALUES LESS THAN (3004),"
        " PARTITION c VALUES LESS THAN MAXVALUE)",
        ("CREATE TRIGGER {name}_u BEFORE UPDATE ON {name} FOR EACH ROW SET NEW.n = NEW.n",),
    ),
    Shape(
        "versioned",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) WITH SYSTEM VERSIONING",
        is_versioned=True,
    ),
    Shape(
        "history",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) WITH SYSTEM VERSIONING"
        " PARTITION BY SYSTEM_TIME (PARTITION past HISTORY, PARTITION now CURRENT)",
        is_versioned=True,
    ),
    Shape(
        "hashed",
        "CREATE TABLE {name} (id INT NOT NULL, g INT NOT NULL, n BIGINT NOT NULL, s LONGTEXT NULL,"
        " PRIMARY KEY (id), KEY by_g (g, n, id), UNIQUE KEY by_s (s))",
        indexes={"": PRIMARY, "by_g": BY_G},
        unique_s=True,
    ),
    Shape("myisam", f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) ENGINE=MyISAM", is_transactional=False),
    Shape(
        "aria",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) ENGINE=Aria",
        is_transactional=False,
        has_one_phase=True,
    ),
    Shape(
        "rocks",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) {_ROCKSDB}",
        plugin="ha_rocksdb",
    ),
    Shape(
        "rocks_parts",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) {_ROCKSDB} PARTITION BY HASH (id) PARTITIONS 3",
        alterations=(
            "ALTER TABLE {name} ADD PARTITION PARTITIONS 1",
            "ALTER TABLE {name} COALESCE PARTITION 1",
        ),
        plugin="ha_rocksdb",
    ),
    Shape(
        "myisam_parts",
        f"CREATE TABLE {{name}} ({_BASE}, {_KEYS}) ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS 3",
        is_transactional=False,
    ),
    Shape(
        "myisam_history",
        f"CREATE TABLE {{name}} ({_WITH_TEXT}) ENGINE=MyISAM WITH SYSTEM VERSIONING",
        indexes={"": PRIMARY, "by_g": BY_G},
        is_transactional=False,
        is_versioned=True,
    ),
)
BY_NAME = {shape.name: shape for shape in SHAPES}
OF_PLUGINS = frozenset(shape.name for shape in SHAPES if shape.plugin)
for _shape in SHAPES:
    register(_shape.name, "shape", f"a table of rows that clients own: {_shape.name}")
