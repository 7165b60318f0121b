# SPDX-License-Identifier: GPL-2.0-only
"""More tables for random requests, and indexes of them: what the original can not do, or does otherwise.

They are compared with SQL only: descending parts, prefixes, generated columns, partitions, history, other
engines and collations. ALL_TABLES, ALL_INDEXES and ALL_CHANGES are those of `workload` and these.
"""

from __future__ import annotations

from dataclasses import replace

from support import workload
from support.workload import Column, Table, index_of, integers, nullable, small, word

BETWEEN = ("0.5", "1.5", "2.5", "99999999999", "-99999999999")
LONG = ("abab", "abb", "ababababababab", "é✓ß")

DOWN = Table(
    "down",
    "k INT PRIMARY KEY, g INT NULL, w VARCHAR(6) NULL, n INT NOT NULL, KEY gd (g DESC), KEY gd_w (g DESC, w),"
    " KEY g_wd (g, w DESC), KEY wd (w DESC), KEY gd_wd (g DESC, w DESC)",
    (
        Column("k", integers(-3, 25), in_key=True),
        Column("g", nullable(small), is_number=True, in_key=True, others=BETWEEN),
        Column("w", nullable(word), in_key=True, others=LONG),
        Column("n", integers(1000, 2000), is_number=True),
    ),
    "(1, 1, 'a', 1000), (2, 1, 'b', 1000), (3, 1, NULL, 1000), (4, 2, '', 1000), (5, NULL, 'a', 1000),"
    " (6, NULL, NULL, 1000), (7, 3, 'é', 1000), (9, 3, 'ab', 1000), (12, 5, 'a', 1000), (20, -2, 'ß', 1000)",
    ("k",),
)
PREFIXES = Table(
    "prefixes",
    "k INT PRIMARY KEY, g INT NULL, w VARCHAR(12) NULL, t TEXT NULL, n INT NOT NULL, KEY w2 (w(2)),"
    " KEY g_t2 (g, t(2)), KEY w2d (w(2) DESC)",
    (
        Column("k", integers(-3, 25), in_key=True),
        Column("g", nullable(small), is_number=True, in_key=True, others=BETWEEN),
        Column("w", nullable(word), in_key=True, others=LONG),
        Column("t", nullable(word), in_key=True, others=LONG),
        Column("n", integers(1000, 2000), is_number=True),
    ),
    "(1, 1, 'aba', 'aba', 1000), (2, 1, 'abb', 'abb', 1000), (3, 1, 'ab', 'ab', 1000), (4, 1, 'a', 'ABAé',"
    " 1000),"
    " (5, NULL, 'abab', NULL, 1000), (6, 2, NULL, 'é✓ß', 1000), (7, 2, 'é✓ß', 'b', 1000), (9, 2, 'é✓🐬',"
    " 'ba', 1000)",
    ("k",),
)
GENERATED = Table(
    "made",
    "k INT PRIMARY KEY, g INT NULL, n INT NOT NULL, v INT AS (g * 2) VIRTUAL, s INT AS (g + 1) STORED,"
    " KEY v (v), KEY s_k (s, k), KEY vd (v DESC)",
    (
        Column("k", integers(-3, 25), in_key=True),
        Column("g", nullable(small), is_number=True, in_key=True, others=BETWEEN),
        Column("n", integers(1000, 2000), is_number=True),
        Column("v", nullable(small), in_key=True, others=BETWEEN),
        Column("s", nullable(small), in_key=True),
    ),
    "(k, g, n) VALUES (1, 1, 1000), (2, 1, 1000), (3, NULL, 1000), (4, 2, 1000), (5, -1, 1000), (9, 5, 1000)",
    ("k",),
)
PARTS = Table(
    "parts",
    "k INT PRIMARY KEY, g INT NULL, n INT NOT NULL, KEY g_k (g, k)",
    (
        Column("k", integers(-3, 25), in_key=True),
        Column("g", nullable(small), is_number=True, in_key=True, others=BETWEEN),
        Column("n", integers(1000, 2000), is_number=True),
    ),
    "(1, 1, 1000), (2, 1, 1000), (3, 1, 1000), (4, 2, 1000), (5, NULL, 1000), (6, NULL, 1000), (9, 5, 1000)",
    ("k",),
    "ENGINE=InnoDB PARTITION BY HASH (k) PARTITIONS 3",
)
PAST = Table(
    "past",
    "k INT PRIMARY KEY, g INT NULL, n INT NOT NULL, KEY g (g), KEY gd (g DESC)",
    PARTS.columns,
    PARTS.rows,
    ("k",),
    "ENGINE=InnoDB WITH SYSTEM VERSIONING",
    ("UPDATE {} SET g = 3 WHERE k < 3", "UPDATE {} SET g = 1 WHERE k < 3", "DELETE FROM {} WHERE k = 9"),
)
_FLAT = "k INT PRIMARY KEY, g INT NULL, v VARBINARY(6) NULL, n INT NOT NULL, KEY by_g (g), KEY by_g_v (g, v)"
FLAT = tuple(
    Table(
        f"ints_{engine.lower()}", _FLAT, workload.INTS.columns, workload.INTS.rows, ("k",), f"ENGINE={engine}"
    )
    for engine in ("Aria", "MyISAM")
)
_COLLATIONS = ("utf8mb4_bin", "utf8mb4_unicode_ci", "uca1400_as_cs", "utf8mb4_general_nopad_ci")
COLLATED = tuple(
    Table(
        f"words_{collation}",
        f"k INT PRIMARY KEY, w VARCHAR(10) COLLATE {collation}, n INT NOT NULL, KEY w (w), KEY n_wd (n, w"
        f" DESC)",
        (
            Column("k", integers(-3, 25), in_key=True),
            Column("w", word, in_key=True),
            Column("n", small, is_number=True),
        ),
        "(1, 'a', 1), (2, 'b', 1), (3, 'é', 2), (4, 'ß', 2), (5, '✓', 3), (6, '🐬', 3), (7, 'ab', 4), (8,"
        " 'A', 4),"
        " (9, 'a ', 4), (10, '', 4)",
        ("k",),
    )
    for collation in _COLLATIONS
)
MORE_TABLES = (DOWN, PREFIXES, GENERATED, PARTS, PAST, *FLAT, *COLLATED)
MORE_INDEXES = (
    replace(index_of(100, DOWN, "gd", "g", unique=False), descending=("g",)),
    replace(index_of(101, DOWN, "gd_w", "g,w", unique=False), descending=("g",)),
    replace(index_of(102, DOWN, "g_wd", "g,w", unique=False), descending=("w",)),
    replace(index_of(103, DOWN, "wd", "w", unique=False, columns="w,k"), descending=("w",)),
    replace(index_of(104, DOWN, "gd_wd", "g,w", unique=False, columns="k"), descending=("g", "w")),
    replace(index_of(105, PREFIXES, "w2", "w", unique=False, columns="k,g"), prefix=2, filters=("k",)),
    replace(index_of(106, PREFIXES, "g_t2", "g,t", unique=False, columns="k"), prefix=2, filters=("k", "g")),
    replace(
        index_of(107, PREFIXES, "w2d", "w", unique=False, columns="k"),
        prefix=2,
        descending=("w",),
        filters=("n",),
    ),
    index_of(108, GENERATED, "v", "v", unique=False, columns="v,k,g"),
    index_of(109, GENERATED, "s_k", "s,k", unique=True, columns="k,s"),
    replace(index_of(110, GENERATED, "vd", "v", unique=False, columns="v,k,n"), descending=("v",)),
    index_of(111, PARTS, "", "k", unique=True),
    index_of(112, PARTS, "g_k", "g,k", unique=True),
    index_of(113, PAST, "", "k", unique=True),
    index_of(114, PAST, "g", "g", unique=False, columns="k"),
    replace(index_of(115, PAST, "gd", "g", unique=False, columns="k,n"), descending=("g",)),
    *(index_of(120 + 2 * number, table, "by_g", "g", unique=False) for number, table in enumerate(FLAT)),
    *(
        index_of(121 + 2 * number, table, "by_g_v", "g,v", unique=False, columns="k")
        for number, table in enumerate(FLAT)
    ),
    *(
        index_of(130 + 2 * number, table, "w", "w", unique=False, columns="k,w")
        for number, table in enumerate(COLLATED)
    ),
    *(
        replace(
            index_of(131 + 2 * number, table, "n_wd", "n,w", unique=False, columns="k"), descending=("w",)
        )
        for number, table in enumerate(COLLATED)
    ),
)
MORE_CHANGES = (
    replace(index_of(150, DOWN, "gd", "g", unique=False, columns="n"), descending=("g",)),
    replace(index_of(151, DOWN, "g_wd", "g,w", unique=False, columns="g,n"), descending=("w",)),
    replace(index_of(152, DOWN, "wd", "w", unique=False, columns="w,n"), descending=("w",)),
    replace(index_of(153, PREFIXES, "w2", "w", unique=False, columns="n"), prefix=2),
    replace(index_of(154, PREFIXES, "g_t2", "g,t", unique=False, columns="t,w"), prefix=2),
    index_of(155, GENERATED, "v", "v", unique=False, columns="g,n"),
    index_of(156, GENERATED, "s_k", "s,k", unique=True, columns="n"),
    index_of(157, PARTS, "g_k", "g,k", unique=True, columns="n"),
    index_of(158, PARTS, "", "k", unique=True, columns="g,n"),
    index_of(159, PAST, "g", "g", unique=False, columns="n"),
    index_of(160, PAST, "", "k", unique=True, columns="g,n"),
    *(
        index_of(161 + number, table, "w", "w", unique=False, columns="n")
        for number, table in enumerate(COLLATED)
    ),
)

ALL_TABLES = (*workload.TABLES, *MORE_TABLES)
ALL_INDEXES = (*workload.INDEXES, *MORE_INDEXES)
ALL_CHANGES = (*workload.CHANGES, *MORE_CHANGES)
