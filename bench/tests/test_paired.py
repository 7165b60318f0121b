# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench --against`: the arithmetic of two builds, and that both are really asked."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from bench.harness import paired, scenario
from bench.harness.figures import Results, median_interval, quartiles
from bench.harness.scenario import Case, ScenarioMistake
from bench.harness.servers import Server, Servers
from bench.tests.small import answered, small


def rounds(old_us: Sequence[float], new_us: Sequence[float]) -> Results:
    """The results of both builds at one case."""
    results = Results()
    for name, values in ((paired.OLD, old_us), (paired.NEW, new_us)):
        for value in values:
            results.add("point", "", name, {paired.FIGURE: value})
    return results


def verdict(old_us: Sequence[float], new_us: Sequence[float]) -> str:
    [difference] = paired.differences(rounds(old_us, new_us))
    return difference.verdict


def test_a_slower_machine_is_no_slower_build() -> None:
    assert verdict([5.0, 10.0, 7.0] * 4, [5.1, 9.9, 7.0] * 4) == "inside the noise"


def test_a_build_that_is_slower_in_nearly_every_round_is_told() -> None:
    old_us = [5.0, 10.0, 7.0, 5.5] * 3
    new_us = [us * 1.04 for us in old_us]
    new_us[0] = 1.0
    assert verdict(old_us, new_us) == "4.0 % SLOWER"
    assert verdict(new_us, old_us) == "3.8 % faster"


def test_few_rounds_give_no_verdict() -> None:
    assert "tell nothing" in verdict([5.0] * 5, [6.0] * 5)


def test_the_table_tells_the_quotient_with_its_quartiles() -> None:
    assert "1.100      1.100 - 1.100" in paired.text(rounds([10.0] * 6, [11.0] * 6))


def test_quartiles_lie_around_the_median() -> None:
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]).least == 2.0
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]).most == 4.0
    assert quartiles([7.0]).median == 7.0


def test_the_medians_interval_holds_the_true_median_as_often_as_it_says() -> None:
    """2,000 runs of 12 rounds: 96.1 % by the binomial distribution."""
    chance = random.Random(1)
    intervals = [median_interval([chance.random() for _ in range(12)]) for _ in range(2000)]
    held = sum(one.least <= 0.5 <= one.most for one in intervals)
    assert 0.95 < held / len(intervals) < 0.975


def test_without_names_the_first_case_of_the_scenarios_that_guard_speed_is_chosen() -> None:
    assert [case.scenario for case in paired.chosen(scenario.load(), [])] == list(paired.SCENARIOS)


def test_a_named_scenario_is_chosen_with_all_its_cases() -> None:
    assert [case.keys for case in paired.chosen(scenario.load(), ["keys"])] == [1, 2, 5, 10, 50, 200]


@pytest.mark.parametrize("name", ["latency", "idle", "nonsense"])
def test_what_cannot_be_compared_is_refused_with_its_name(name: str) -> None:
    with pytest.raises(ScenarioMistake, match=name):
        paired.chosen(scenario.load(), [name])


@pytest.fixture
def old_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the plugin, so that the server sees two files."""
    plugin = os.environ.get("ROWSOCKET_PLUGIN_DIR")
    if not plugin:
        pytest.skip("no plugin: ./x test bench sets it")
    copy = tmp_path / "before.so"
    shutil.copy(Path(plugin) / "rowsocket.so", copy)
    monkeypatch.setenv(paired.VARIABLE, str(copy))
    return copy


def mapped(server: Server) -> set[str]:
    """The plugin's files in the server's memory."""
    lines = Path(f"/proc/{server.pid}/maps").read_text().splitlines()
    return {Path(line.split()[-1]).name for line in lines if line.endswith(("before.so", "rowsocket.so"))}


@pytest.mark.parametrize("workload", ["point", "insert"])
def test_each_build_is_measured_by_itself_in_one_server(
    servers: Servers, old_build: Path, workload: str
) -> None:
    case = small(Case(workload, workload=workload))
    processes = set()
    for name, file in (
        (paired.OLD, old_build.name),
        (paired.NEW, "rowsocket.so"),
        (paired.OLD, old_build.name),
    ):
        build = paired.Build(servers, name)
        assert answered(build, case)[paired.FIGURE] > 0
        server = build.database_server(case)
        assert mapped(server) == {file}
        processes.add(server.pid)
    assert len(processes) == 1
