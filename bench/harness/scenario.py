# SPDX-License-Identifier: GPL-2.0-only
"""What a text file of bench/scenarios means.

    about = "the row of one key"
    order = 10                      # the most important first: the budget cuts from the end
    workload = "point"              # a function of bench/traffic/workloads.py
    rows = 1_000_000
    connections = 100
    in_flight = 1
    peers = ["rowsocket", "original"]
    [vary]                          # one case for each value; the first is the scenario's main one
    connections = [100, 1, 8]
    [[goals]]
    text = "at least 1.25 times the original"
    figure = "server_cpu_us_per_request"
    ratio = "original / rowsocket"  # sums with +; peer@connections=8 means the peer in another case
    at_least = 1.25

What varies may be any field of `Case` or, as `settings.NAME`, an argument of the workload's function.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from bench.traffic import workloads
from bench.traffic.workloads import Workload

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"

MODES = ("closed", "open", "idle")


class ScenarioMistake(Exception):
    """A scenario file says something that makes no sense; the text names the file."""


@dataclass(frozen=True)
class Case:
    """Everything that one measurement needs to be told, apart from the peer."""

    scenario: str
    label: str = ""
    """What distinguishes it from the scenario's other cases: `connections=8`; empty if there are none."""
    workload: str = "point"
    rows: int = 1_000_000
    connections: int = 100
    in_flight: int = 1
    keys: int = 0
    """Keys of one request; 0 = as the workload says."""
    zipf: float = 0.0
    mode: str = "closed"
    load: float = 0.7
    """Of the open loop: requests due per second, as a share of the slowest peer's peak in the same run."""
    transport: str = "tcp"
    """tcp or unix."""
    settings: tuple[tuple[str, int], ...] = ()
    """Arguments of the workload's function."""
    binlog: bool = False
    flush: int = 1
    """innodb_flush_log_at_trx_commit."""
    sync_binlog: int = 1
    buffer_pool: str = "2G"

    @property
    def database(self) -> str:
        """The database that holds the workload's table with these rows: one for each size and setting."""
        return "_".join(
            ["bench", str(self.rows), *(f"{name}_{value}" for name, value in self.table_settings)]
        )

    @property
    def table_settings(self) -> tuple[tuple[str, int], ...]:
        """The settings that change what stands in the table."""
        return tuple(pair for pair in self.settings if pair[0].endswith(("_bytes", "_columns")))

    def asked(self) -> Workload:
        """The workload, as this case has it. Raises WorkloadMistake."""
        return _workload(self.workload, self.rows, self.settings, self.keys)


@dataclass(frozen=True)
class Goal:
    """A ratio of figures, or a figure, with a bound."""

    text: str
    figure: str
    ratio: str
    at_most: float | None = None
    at_least: float | None = None


@dataclass(frozen=True)
class Scenario:
    """One file."""

    name: str
    about: str
    order: int
    group: str
    peers: tuple[str, ...]
    cases: tuple[Case, ...]
    goals: tuple[Goal, ...] = ()
    varies: str = ""
    """The name of what varies from case to case; empty = nothing."""
    default: bool = True
    """Whether it runs without being named."""
    proxies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Peers that are asked another way for the same work: `[proxies.original]` with fields of `Case`."""

    def runs_per_round(self) -> int:
        """How many measurements a round has."""
        return len(self.peers) * len(self.cases)


@cache
def _workload(name: str, rows: int, settings: tuple[tuple[str, int], ...], keys: int) -> Workload:
    return workloads.make(name, rows, **dict(settings), **({"keys": keys} if keys else {}))


_CASE_FIELDS = {one.name for one in fields(Case)} - {"scenario", "label", "settings"}
_OWN_FIELDS = {"about", "order", "group", "peers", "goals", "vary", "settings", "default", "proxies"}


def parse(name: str, text: str) -> Scenario:
    """The scenario of a file's text. Raises ScenarioMistake."""
    try:
        words = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioMistake(f"{name}: {error}") from None
    unknown = set(words) - _CASE_FIELDS - _OWN_FIELDS
    if unknown:
        raise ScenarioMistake(f"{name}: nobody knows {', '.join(sorted(unknown))}")
    settings = tuple(sorted(words.get("settings", {}).items()))
    try:
        base = Case(
            scenario=name, settings=settings, **{key: words[key] for key in _CASE_FIELDS & set(words)}
        )
        scenario = Scenario(
            name=name,
            about=words["about"],
            order=words["order"],
            group=words.get("group", "reads"),
            peers=tuple(words["peers"]),
            cases=_cases(name, base, words.get("vary", {})),
            goals=tuple(Goal(**goal) for goal in words.get("goals", [])),
            varies=", ".join(words.get("vary", {})),
            default=words.get("default", True),
            proxies=words.get("proxies", {}),
        )
        for case in scenario.cases:
            case.asked()
    except (KeyError, TypeError, workloads.WorkloadMistake) as error:
        raise ScenarioMistake(f"{name}: {error}") from None
    if base.mode not in MODES:
        raise ScenarioMistake(f"{name}: mode is one of {', '.join(MODES)}")
    return scenario


def _cases(name: str, base: Case, vary: Mapping[str, Sequence[Any]]) -> tuple[Case, ...]:
    """Every combination of what varies."""
    cases = [base]
    for field_name, values in vary.items():
        if field_name not in _CASE_FIELDS and not field_name.startswith("settings."):
            raise ScenarioMistake(f"{name}: {field_name} cannot vary")
        cases = [varied for case in cases for varied in _varieties(case, field_name, values)]
    return tuple(cases)


def _varieties(case: Case, field_name: str, values: Sequence[Any]) -> list[Case]:
    """The case with each of the values; without a binlog, syncing it is no setting."""
    if field_name == "sync_binlog" and not case.binlog:
        return [case]
    return [_varied(case, field_name, value) for value in values]


def _varied(case: Case, field_name: str, value: Any) -> Case:
    label = " ".join(filter(None, [case.label, f"{field_name.removeprefix('settings.')}={_short(value)}"]))
    if field_name.startswith("settings."):
        others = {**dict(case.settings), field_name.removeprefix("settings."): value}
        return replace(case, label=label, settings=tuple(sorted(others.items())))
    changed: dict[str, Any] = {field_name: value}
    return replace(case, label=label, **changed)


def _short(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def load(folder: Path = SCENARIOS) -> list[Scenario]:
    """All scenarios, the most important first. Raises ScenarioMistake."""
    found = [parse(path.stem, path.read_text(encoding="utf-8")) for path in folder.glob("*.toml")]
    return sorted(found, key=lambda scenario: (scenario.order, scenario.name))


def select(scenarios: Sequence[Scenario], names: Sequence[str]) -> list[Scenario]:
    """Those of these names or groups; without names the default ones. Raises ScenarioMistake."""
    for name in names:
        if not any(name in (scenario.name, scenario.group) for scenario in scenarios):
            known = " ".join(scenario.name for scenario in scenarios)
            raise ScenarioMistake(f"there is no scenario {name}; there are: {known}")
    if not names:
        return [scenario for scenario in scenarios if scenario.default]
    return [scenario for scenario in scenarios if scenario.name in names or scenario.group in names]


def narrowed(scenario: Scenario, peers: Sequence[str] | None, rows_max: int | None) -> Scenario:
    """The scenario with fewer peers, or fewer rows."""
    cases = tuple(replace(case, rows=min(case.rows, rows_max or case.rows)) for case in scenario.cases)
    kept = tuple(peer for peer in scenario.peers if peers is None or peer in peers)
    return replace(scenario, peers=kept, cases=cases)
