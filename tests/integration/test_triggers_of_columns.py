# SPDX-License-Identifier: GPL-2.0-only
"""A trigger for some columns only (UPDATE OF, since MariaDB 11.8) runs where an update names one of them."""

from __future__ import annotations

from collections.abc import Callable

import pymysql
import pytest

from support.mariadb import Database
from support.raw import RawConnection

TriggerMaker = Callable[[str, str], None]


@pytest.fixture
def fires(database: Database) -> TriggerMaker:
    """fires(time, columns): a trigger of `t` for columns of it; `log` has a row for each time that it ran."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT)")
    database.sql("CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, named VARCHAR(9))")
    database.sql("INSERT INTO t VALUES (1, 1, 1, 1)")

    def make(time: str, columns: str) -> None:
        try:
            database.sql(
                f"CREATE TRIGGER {time}_{columns[0]} {time} UPDATE OF {columns} ON t FOR EACH ROW"
                f" INSERT INTO log (named) VALUES ('{columns}')"
            )
        except pymysql.err.ProgrammingError:
            pytest.skip("this MariaDB has no triggers for some columns")

    return make


def ran(database: Database) -> list[str]:
    return [str(named) for (named,) in database.sql("SELECT named FROM log ORDER BY id")]


@pytest.mark.parametrize("time", ["BEFORE", "AFTER"])
@pytest.mark.parametrize(
    ("columns", "expected"),
    [("a", ["a"]), ("b", []), ("b,a", ["a"]), ("c,b", []), ("id,a", ["a"])],
    ids=["it", "another", "it behind another", "two others", "it behind the key"],
)
def test_it_runs_where_an_update_names_its_column(
    database: Database,
    raw: Callable[[str], RawConnection],
    fires: TriggerMaker,
    time: str,
    columns: str,
    expected: list[str],
) -> None:
    fires(time, "a")
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", columns) == [b"0", b"1"]
    values = ["1" if column == "id" else "5" for column in columns.split(",")]
    assert wire.tokens(1, "=", 1, 1, 1, 0, "U", *values) == [b"0", b"1", b"1"]
    assert ran(database) == expected


@pytest.mark.parametrize(("changed", "expected"), [("1", ["a"]), ("2", [])])
def test_it_runs_where_an_upsert_names_its_column(
    database: Database,
    raw: Callable[[str], RawConnection],
    fires: TriggerMaker,
    changed: str,
    expected: list[str],
) -> None:
    fires("BEFORE", "a")
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", "id,a,b") == [b"0", b"1"]
    assert wire.tokens(1, "++", 3, 1, 1, 7, 8, "U", changed)[:2] == [b"0", b"2"]
    assert ran(database) == expected


def test_each_of_several_runs_for_its_own(
    database: Database, raw: Callable[[str], RawConnection], fires: TriggerMaker
) -> None:
    fires("BEFORE", "a")
    fires("BEFORE", "b")
    fires("AFTER", "c, a")
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", "b") == [b"0", b"1"]
    assert wire.tokens(1, "=", 1, 1, 1, 0, "U", 5) == [b"0", b"1", b"1"]
    assert ran(database) == ["b"]


def test_what_another_trigger_sets_is_not_named(
    database: Database, raw: Callable[[str], RawConnection], fires: TriggerMaker
) -> None:
    fires("AFTER", "a")
    database.sql("CREATE TRIGGER sets BEFORE UPDATE ON t FOR EACH ROW SET NEW.a = 9")
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", "b") == [b"0", b"1"]
    assert wire.tokens(1, "=", 1, 1, 1, 0, "U", 5) == [b"0", b"1", b"1"]
    assert ran(database) == []
    assert database.sql("SELECT a FROM t") == [(9,)]


def test_an_update_of_many_rows_runs_it_for_each(
    database: Database, raw: Callable[[str], RawConnection], fires: TriggerMaker
) -> None:
    database.sql("INSERT INTO t SELECT seq, 1, 1, 1 FROM seq_2_to_1000")
    fires("AFTER", "a")
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", "a") == [b"0", b"1"]
    assert wire.tokens(1, ">=", 1, 1, 2000, 0, "U", 5) == [b"0", b"1", b"1000"]
    assert len(ran(database)) == 1000
