# SPDX-License-Identifier: GPL-2.0-only
"""A generated column or a default that can not be computed fails the request, as in SQL on a twin table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rowsocket import EngineError
from support.twins import Twins, error_number

MakeTwins = Callable[..., Twins]

OUT_OF_RANGE = 1264
KINDS = ["STORED", "VIRTUAL, KEY g (g)", "VIRTUAL CHECK (g > 0)"]


@pytest.fixture(params=KINDS)
def twins(make_twins: MakeTwins, request: pytest.FixtureRequest) -> Twins:
    """Twins with one row each, whose column `g` can hold n * 100 as long as n is 1."""
    twins = make_twins(f"id INT PRIMARY KEY, n INT, g TINYINT AS (n * 100) {request.param}")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} (id, n) VALUES (1, 1)")
    return twins


def add_triggers(twins: Twins, does: str) -> None:
    """BEFORE triggers: the generated columns are computed before them, and again behind them."""
    for table in ("t", "twin"):
        for event in ("INSERT", "UPDATE"):
            twins.sql(f"CREATE TRIGGER {table}_{event} BEFORE {event} ON {table} FOR EACH ROW SET {does}")


def assert_refused(twins: Twins, request: Callable[[], object], statement: str) -> None:
    """Both fail alike, and change nothing."""
    with twins.unchanged(), pytest.raises(EngineError) as raised:
        request()
    assert error_number(raised.value) == twins.sql_error(statement) == OUT_OF_RANGE


@pytest.mark.parametrize("watched", [False, True], ids=["plain", "with triggers"])
def test_an_impossible_generated_column_fails_every_write(twins: Twins, watched: bool) -> None:
    if watched:
        add_triggers(twins, "@seen = NEW.g")
    index = twins.index("id,n")
    assert_refused(twins, lambda: index.insert([2, 5]), "INSERT INTO twin (id, n) VALUES (2, 5)")
    assert_refused(twins, lambda: twins.index("n").update(1, [5]), "UPDATE twin SET n = 5")
    assert_refused(
        twins,
        lambda: index.upsert([1, 1], add="n"),
        "INSERT INTO twin (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = n + 1",
    )


def test_what_a_trigger_makes_impossible_fails_the_write(twins: Twins) -> None:
    add_triggers(twins, "NEW.n = 5")
    index = twins.index("id,n")
    assert_refused(twins, lambda: index.insert([2, 1]), "INSERT INTO twin (id, n) VALUES (2, 1)")
    assert_refused(twins, lambda: twins.index("n").update(1, [0]), "UPDATE twin SET n = 0")


def test_an_impossible_default_fails_the_insert(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT, d TINYINT DEFAULT (n * 100)")
    insert = "INSERT INTO twin (id, n) VALUES (1, 5)"
    assert_refused(twins, lambda: twins.index("id,n").insert([1, 5]), insert)
