# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench clients`: its arithmetic, what a process that asks counts and compares, and one small run."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from sys import stderr

import pytest
from bench.harness import clients
from bench.harness.askers import (
    ASKERS,
    MEMCACHED,
    POOL,
    PYMYSQL,
    PYMYSQL_BEST,
    ROWSOCKET,
    ROWSOCKET_UNIX,
    SQL,
    SQL_UNIX,
    TASKS,
    TYPED,
    Asker,
    AsyncGet,
    Get,
    Row,
    Told,
    expected,
    measure,
)
from bench.harness.clients import FIGURE, Measured
from bench.harness.environment import from_variables
from bench.harness.progress import Progress
from bench.harness.servers import GENERATOR_CPU
from bench.tests.small import environment_variables
from bench.traffic.protocol import WrongAnswer

TOLD = Told(
    "client", "server", port=1, unix_socket="", database="bench", rows=200, seconds=0.01, seed=1, cpu=0
)


def measured(client: str, server: str, us: Sequence[float]) -> Measured:
    return Measured(client, server, [{FIGURE: one, "gets_per_s": 1e6 / one} for one in us])


def all_measured(**us: Sequence[float]) -> list[Measured]:
    places = {
        "typed": (TYPED, ROWSOCKET),
        "pool": (POOL, ROWSOCKET),
        "tasks": (TASKS, ROWSOCKET),
        "pymysql": (PYMYSQL, SQL),
        "best": (PYMYSQL_BEST, SQL),
        "typed_unix": (TYPED, ROWSOCKET_UNIX),
        "pymysql_unix": (PYMYSQL, SQL_UNIX),
        "best_unix": (PYMYSQL_BEST, SQL_UNIX),
    }
    given = {name: [10.0, 10.0, 10.0] for name in places} | us
    return [measured(*place, given[name]) for name, place in places.items()]


def test_a_quotient_is_taken_within_each_round() -> None:
    """A slow round is slow for both."""
    text = clients.table(all_measured(typed=[10.0, 30.0, 10.0], pymysql=[25.0, 75.0, 25.0]))
    assert f"| {TYPED} | {ROWSOCKET} | 10.0 (10.0 - 30.0) | 0.40 (0.40 - 0.40) | 100,000 |" in text
    assert f"- {TYPED} / {PYMYSQL}: 0.40 (0.40 - 0.40) (goal: at most 0.5): met." in text


def test_a_goal_that_is_not_met_is_told() -> None:
    text = clients.table(all_measured(pool=[13.0, 12.5, 12.1]))
    assert f"- {POOL} / {TYPED}: 1.25 (1.21 - 1.30) (goal: at most 1.2): NOT MET." in text


def test_what_is_asked_over_unix_sockets_is_compared_with_its_like() -> None:
    text = clients.table(all_measured(typed=[9.0], pymysql=[10.0], typed_unix=[2.0], pymysql_unix=[5.0]))
    assert f"- {TYPED} / {PYMYSQL}, over Unix sockets: 0.40 (0.40 - 0.40) (goal: at most 0.5): met." in text


def test_a_row_is_the_same_as_text_and_with_its_date() -> None:
    texts = ("user00000007", "user00000007@example.com", "2026-01-01 12:49:07")
    assert expected(7, typed=False) == texts
    assert expected(7, typed=True) == (*texts[:2], datetime.datetime(2026, 1, 1, 12, 49, 7))


@contextlib.asynccontextmanager
async def right_asyncio(told: Told) -> AsyncIterator[AsyncGet]:
    async def get(key: int) -> Row | None:
        return expected(key, typed=False)

    yield get


def test_a_process_counts_what_it_asked_but_for_the_first_batch() -> None:
    asked = []

    @contextlib.contextmanager
    def counting(told: Told) -> Iterator[Get]:
        def get(key: int) -> tuple[str, ...]:
            asked.append(key)
            return expected(key, typed=False)

        yield get

    report = measure(Asker("client", "server", counting), TOLD)
    assert report["gets"] == len(asked) - TOLD.rows
    assert set(asked) == set(range(1, TOLD.rows + 1))
    assert report[FIGURE] > 0
    assert report["gets_per_s"] > 0


@pytest.mark.parametrize("tasks", [1, 7, 100])
def test_tasks_share_the_keys(tasks: int) -> None:
    report = measure(Asker("client", "server", asyncio=right_asyncio, tasks=tasks), TOLD)
    assert report["gets"] % TOLD.rows == 0


@pytest.mark.parametrize("wrong", [None, ("user00000008", "", "")])
def test_a_row_that_is_wrong_or_missing_ends_the_measurement(wrong: tuple[str, ...] | None) -> None:
    @contextlib.contextmanager
    def wrong_once(told: Told) -> Iterator[Get]:
        yield lambda key: wrong if key == 7 else expected(key, typed=False)

    with pytest.raises(WrongAnswer, match=r"client of server: .*user00000007"):
        measure(Asker("client", "server", wrong_once), TOLD)


def test_a_process_that_fails_ends_the_run() -> None:
    told = replace(TOLD, client=TYPED, server=ROWSOCKET, cpu=GENERATOR_CPU)
    with pytest.raises(WrongAnswer, match=f"(?s){TYPED} of {ROWSOCKET}: .*refused"):
        clients.ask(told)


def test_a_run_asks_every_client_and_tells_the_goals(tmp_path: Path) -> None:
    """No speed is asserted. Each process compares its rows."""
    environment = from_variables(environment_variables())
    found = clients.run(
        environment, tmp_path, Progress(stderr, len(ASKERS)), rounds=1, seconds=0.05, rows_max=500
    )
    assert [(one.client, one.server) for one in found] == [(one.client, one.server) for one in ASKERS]
    assert all(len(one.reports) == 1 and one.reports[0]["gets"] > 0 for one in found)
    assert (tmp_path / "clients.jsonl").read_text().count('"kind": "run"') == len(ASKERS)
    text = clients.table(found)
    assert text.count("(goal: at most ") == len(clients.GOALS)
    assert f"| pymemcache, get | {MEMCACHED} |" in text
