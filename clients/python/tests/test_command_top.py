# SPDX-License-Identifier: MIT
"""What `rowsocket top` makes of two looks, and its picture."""

from __future__ import annotations

import dataclasses

import pytest
from rich.cells import cell_len

from rowsocket.cli.activity import Activity, ClientRates, Look, TableRates, between, growth, percentile_us
from rowsocket.cli.picture import count, duration, picture

LOOK = Look(10.0, {"requests_find": 100.0, "connections_read": 2.0}, {}, {}, {}, ())


def test_a_percentile_is_the_end_of_its_bucket() -> None:
    counts = {1.0: 50.0, 2.0: 49.0, 4.0: 0.0, None: 1.0}
    assert percentile_us(counts, 500) == 1.0
    assert percentile_us(counts, 501) == 2.0
    assert percentile_us(counts, 990) == 2.0
    assert percentile_us(counts, 1000) is None
    assert percentile_us({8.0: 1.0}, 500) == 8.0


def test_what_shrank_began_anew() -> None:
    assert growth({"a": 5.0, "b": 9.0}, {"a": 7.0, "b": 3.0, "c": 1.0}) == {"a": 2.0, "b": 3.0, "c": 1.0}


def test_rates_are_of_the_time_between() -> None:
    table = ("d", "t", "PRIMARY")
    before = dataclasses.replace(
        LOOK, tables={table: (10.0, 10.0, 10.0, 0.0, 1.0, 1000.0)}, times={"find": {1.0: 7.0, 2.0: 1.0}}
    )
    now = dataclasses.replace(
        before,
        at_s=12.0,
        status={"requests_find": 120.0, "connections_read": 3.0},
        tables={table: (30.0, 50.0, 20.0, 0.0, 3.0, 1400.0), ("d", "new", "a"): (4.0,) + (0.0,) * 5},
        times={"find": {1.0: 7.0, 2.0: 21.0}},
        clients={7: ("u@h", "1.2.3.4:5", "resp", "write", "TLSv1.3", "idle", 3, 40)},
    )
    did = between(before, now)
    assert did.seconds == 2.0
    assert did.status["requests_find_per_s"] == 10.0
    assert did.status["connections_read"] == 3.0
    assert did.tables[0] == TableRates("d", "t", "PRIMARY", 10.0, 20.0, 5.0, 0.0, 1.0, 20.0)
    assert did.tables[1] == TableRates("d", "new", "a", 2.0, 0.0, 0.0, 0.0, 0.0, None)
    [find] = did.times
    assert (find.requests_per_s, find.p50_us, find.max_us) == (10.0, 2.0, 2.0)
    assert did.clients == [ClientRates(7, "u@h", "1.2.3.4:5", "resp", "write", "TLSv1.3", "idle", 3, 20.0)]


FIRST, SECOND = ("d", "first", "PRIMARY"), ("d", "second", "PRIMARY")


def of_finds(number: float) -> tuple[float, ...]:
    """The row of a table that was asked so often."""
    return (number, number, number, 0.0, 0.0, number)


@pytest.mark.parametrize("first", [30.0, None])
def test_where_one_table_began_anew_all_have(first: float | None) -> None:
    """One has more than before all the same: what it has now is what it was asked since the FLUSH. The other
    has less, or was not asked.
    """
    before = dataclasses.replace(
        LOOK,
        status={"requests_find": 105.0, "requests_update": 4.0},
        tables={FIRST: of_finds(100.0), SECOND: of_finds(5.0)},
        times={"find": {1.0: 105.0}, "update": {1.0: 4.0}},
    )
    now = dataclasses.replace(
        before,
        at_s=11.0,
        status={"requests_find": 155.0, "requests_update": 10.0},
        tables={**({FIRST: of_finds(first)} if first else {}), SECOND: of_finds(25.0)},
        times={"find": {1.0: 50.0}, "update": {1.0: 5.0}},
    )
    did = between(before, now)
    assert {one.table: one.requests_per_s for one in did.tables} == {
        **({"first": first} if first else {}),
        "second": 25.0,
    }
    assert [(one.operation, one.requests_per_s) for one in did.times] == [("find", 50.0), ("update", 5.0)]


def test_what_was_read_before_the_flush_is_not_new() -> None:
    """It came between two rows of the second look. The first of them has its old count, and a find more."""
    before = dataclasses.replace(
        LOOK, status={"requests_find": 1000.0}, tables={FIRST: of_finds(900.0), SECOND: of_finds(100.0)}
    )
    now = dataclasses.replace(
        before,
        at_s=11.0,
        status={"requests_find": 1004.0},
        tables={FIRST: of_finds(901.0), SECOND: of_finds(3.0)},
    )
    did = between(before, now)
    assert [(one.table, one.requests_per_s) for one in did.tables] == [("second", 3.0), ("first", 1.0)]


def test_without_change_nothing_is_told() -> None:
    look = dataclasses.replace(LOOK, tables={("d", "t", "a"): (1.0,) * 6}, times={"find": {1.0: 7.0}})
    did = between(look, dataclasses.replace(look, at_s=11.0))
    assert (did.tables, did.times) == ([], [])


def much(tables: int = 30, clients: int = 30) -> Activity:
    did = between(LOOK, dataclasses.replace(LOOK, at_s=11.0, status={"requests_find": 1100.0}))
    table = TableRates("schöma", "表" * 30, "PRIMARY", 5.0, 5.0, 5.0, 5.0, 5.0, 5.0)
    client = ClientRates(1, "u@h", "127.0.0.1:1", "resp", "read", None, "executing", 0, 1.5)
    return dataclasses.replace(
        did, tables=[table] * tables, clients=[client] * clients, notes=("a note " * 30,)
    )


@pytest.mark.parametrize("width", [1, 2, 20, 44, 80, 200])
@pytest.mark.parametrize("height", [1, 2, 6, 12, 24, 100])
def test_a_picture_fits(width: int, height: int) -> None:
    lines = picture("title " * 30, much(), width, height)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width


def test_where_there_is_room_all_of_it_is_shown() -> None:
    lines = picture("title", much(3, 4), None, None)
    assert sum("表" in line for line in lines) == 3
    assert sum("127.0.0.1:1" in line for line in lines) == 4
    assert "per second: requests 1,000" in "\n".join(lines)


@pytest.mark.parametrize(("tables", "clients"), [(30, 2), (2, 30), (30, 30)])
def test_the_room_is_used(tables: int, clients: int) -> None:
    lines = picture("title", much(tables, clients), 100, 24)
    assert len(lines) == 24
    assert "more" in "\n".join(lines)


def test_what_is_left_out_is_counted() -> None:
    lines = picture("title", much(30, 5), None, None, rows_max=10)
    assert [line for line in lines if "more" in line] == ["... and 20 more"]
    assert sum("表" in line for line in lines) == 10


def test_names_do_not_command_the_terminal() -> None:
    table = TableRates("d", "\x1b[2J", "a\nb", 5.0, 5.0, 5.0, 5.0, 5.0, 5.0)
    text = "".join(picture("title", dataclasses.replace(much(), tables=[table]), 100, 30))
    assert "\x1b" not in text
    assert "\\x1b[2J" in text
    assert "a\\nb" in text


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (0.256, "0.26 us"),
        (9.99, "9.99 us"),
        (12.34, "12.3 us"),
        (999.4, "999 us"),
        (999.9, "1.00 ms"),
        (65536.0, "65.5 ms"),
        (999_999.0, "1.00 s"),
        (68e6, "68.0 s"),
        (None, "> 69 s"),
    ],
)
def test_a_duration_has_three_digits(time_us: float | None, text: str) -> None:
    assert duration(time_us) == text


def test_numbers_are_for_people() -> None:
    assert [count(number) for number in (0.0, 1.5, 99.9, 100.4, 1234567.8)] == [
        "0",
        "1.5",
        "99.9",
        "100",
        "1,234,568",
    ]
