# SPDX-License-Identifier: GPL-2.0-only
"""A change that moves rows within the index that is being walked meets no row twice, whatever it is that
moves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from rowsocket import Operator, Value
from support.mariadb import RowSocketServer
from support.twins import Twins

MakeTwins = Callable[..., Twins]


@dataclass(frozen=True)
class Moving:
    """A table, its index `k`, and the change of column `n` by 1 of all rows after `key`."""

    definition: str
    rows: str
    key: tuple[Value, ...]
    options: str = ""
    op: Operator = ">"

    @property
    def engines(self) -> tuple[str, ...]:
        """Those that can have it: an index of a virtual column is InnoDB's alone."""
        return ("InnoDB",) if "VIRTUAL" in self.definition else ("InnoDB", "Aria")


MOVING = {
    "a virtual column": Moving(
        "id INT PRIMARY KEY, n INT, v INT AS (n + 0) VIRTUAL, KEY k (v)", "seq, seq", (0,)
    ),
    "a stored generated column": Moving(
        "id INT PRIMARY KEY, n INT, v INT AS (n * 2) STORED, KEY k (v)", "seq, seq", (0,)
    ),
    "a virtual column in the second place": Moving(
        "id INT PRIMARY KEY, n INT, g INT, v INT AS (n + 0) VIRTUAL, KEY k (g, v)",
        "seq, seq, 1",
        (1,),
        op="=",
    ),
    "an ON UPDATE column": Moving(
        "id INT PRIMARY KEY, n INT, at TIMESTAMP(6) NULL ON UPDATE NOW(6), KEY k (at)",
        "seq, 0, '2024-01-01' + INTERVAL seq SECOND",
        ("2000-01-01",),
    ),
    "a prefix in the second place": Moving(
        "id INT PRIMARY KEY, n VARCHAR(9), g INT, KEY k (g, n(2))", "seq, 10 + seq, 1", (1,), op="="
    ),
    "a prefix of a BLOB": Moving("id INT PRIMARY KEY, n TEXT, KEY k (n(2))", "seq, 10 + seq", ("00",)),
    "a key part behind another": Moving(
        "id INT PRIMARY KEY, n INT, g INT, KEY k (g, n)", "seq, seq, 1", (1,), op="="
    ),
    "the clustered key behind the index": Moving(
        "id INT, n INT, g INT, PRIMARY KEY (n), KEY k (g)", "seq, 10 * seq, 1", (1,), op="="
    ),
    "a descending key": Moving("id INT PRIMARY KEY, n INT, KEY k (n DESC)", "seq, seq", (0,), op="<"),
    "another partition": Moving(
        "id INT, n INT, g INT, KEY k (g)",
        "seq, seq, 1",
        (1,),
        "PARTITION BY RANGE (n) (PARTITION a VALUES LESS THAN (6), PARTITION b VALUES LESS THAN (99))",
        op="=",
    ),
    "a subpartition": Moving(
        "id INT, n INT, g INT, KEY k (g)",
        "seq, seq, 1",
        (1,),
        "PARTITION BY RANGE (n) SUBPARTITION BY HASH (n) SUBPARTITIONS 3 (PARTITION a VALUES LESS THAN"
        " MAXVALUE)",
        op="=",
    ),
}


@pytest.mark.parametrize(
    ("what", "engine"), [(what, engine) for what, moving in MOVING.items() for engine in moving.engines]
)
def test_a_change_meets_no_row_twice(make_twins: MakeTwins, what: str, engine: str) -> None:
    moving = MOVING[what]
    twins = make_twins(moving.definition, f"ENGINE={engine} {moving.options}")
    columns = ", ".join(name for name in ("id", "n", "g", "at") if f" {name} " in f" {moving.definition}")
    twins.sql(f"INSERT INTO t ({columns}) SELECT {moving.rows} FROM seq_1_to_20")
    before = [int(row[0] or b"") for row in twins.rows("n", "id")]
    assert twins.index("n", "k").increment(moving.key, [1], moving.op, limit=None) == 20
    assert [int(row[0] or b"") for row in twins.rows("n", "id")] == [n + 1 for n in before]


@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_a_change_whose_trigger_moves_the_row_meets_no_row_twice(make_twins: MakeTwins, engine: str) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, place INT, KEY k (place)", f"ENGINE={engine}")
    twins.sql("INSERT INTO t SELECT seq, 0, seq FROM seq_1_to_20")
    twins.sql("CREATE TRIGGER moves BEFORE UPDATE ON t FOR EACH ROW SET NEW.place = OLD.place + 1")
    assert twins.index("n", "k").increment(0, [1], ">", limit=None) == 20
    assert twins.rows("n, place", "id") == [(b"1", b"%d" % place) for place in range(2, 22)]


@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_changes_of_one_turn_each_move_the_rows_that_they_found(
    make_twins: MakeTwins, server: RowSocketServer, engine: str
) -> None:
    """Over two indexes, and more columns than those of the index."""
    twins = make_twins(
        "id INT PRIMARY KEY, n INT, m INT, body VARCHAR(9), KEY by_n (n), KEY by_m (m)", f"ENGINE={engine}"
    )
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} SELECT seq, seq, 100 - seq, 'x' FROM seq_1_to_20")
    with server.raw("write") as wire:
        for number, index, columns in ((1, "by_n", "n"), (2, "by_m", "m,body")):
            assert wire.tokens("P", number, twins.database, "t", index, columns) == [b"0", b"1"]
        assert wire.ask_all(
            b"1\t>\t1\t10\t99\t0\t+\t1",
            b"2\t>=\t1\t95\t99\t0\tU\t200\ty",
            b"1\t<\t1\t9\t99\t0\t-\t1",
            b"2\t<\t1\t83\t99\t0\t+\t1",
        ) == [b"0\t1\t10", b"0\t1\t5", b"0\t1\t8", b"0\t1\t3"]
    for change in ("n = n + 1 WHERE n > 10", "m = 200, body = 'y' WHERE m >= 95"):
        twins.sql(f"UPDATE twin SET {change}")
    for change in ("n = n - 1 WHERE n < 9", "m = m + 1 WHERE m < 83"):
        twins.sql(f"UPDATE twin SET {change}")
    twins.assert_equal()


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM"])
def test_a_row_that_a_list_names_twice_is_changed_once_where_that_moves_it(
    make_twins: MakeTwins, server: RowSocketServer, engine: str
) -> None:
    """To another partition, so that it is no longer where the second one was collected."""
    twins = make_twins("id INT, n INT, KEY k (id)", f"ENGINE={engine} PARTITION BY HASH (n) PARTITIONS 2")
    twins.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
    with server.raw("write") as wire:
        assert wire.tokens("P", 1, twins.database, "t", "k", "n") == [b"0", b"1"]
        assert wire.tokens(1, "=", 1, "", 9, 0, "@", 0, 3, 1, 1, 2, "+", 1) == [b"0", b"1", b"2"]
    assert twins.rows() == [(b"1", b"11"), (b"2", b"21")]


@pytest.mark.parametrize(
    "trigger", ["", "CREATE TRIGGER u BEFORE UPDATE ON t FOR EACH ROW SET NEW.id = NEW.id"]
)
def test_a_row_that_a_list_names_twice_is_changed_only_while_its_filter_takes_it(
    make_twins: MakeTwins, server: RowSocketServer, trigger: str
) -> None:
    """Whether rows are collected before they are changed depends on triggers, which no client knows."""
    twins = make_twins("id INT PRIMARY KEY, n INT")
    twins.sql("INSERT INTO t VALUES (1, 10)")
    if trigger:
        twins.sql(trigger)
    take_ten = (1, "=", 1, "", 9, 0, "@", 0, 2, 1, 1, "F", ">=", 0, 10, "-", 10)
    with server.raw("write") as wire:
        assert wire.tokens("P", 1, twins.database, "t", "", "n", "n") == [b"0", b"1"]
        assert wire.tokens(*take_ten) == [b"0", b"1", b"1"]
    assert twins.rows("n") == [(b"0",)]
