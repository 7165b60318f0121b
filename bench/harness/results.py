# SPDX-License-Identifier: GPL-2.0-only
"""results.jsonl: what was measured, one line each.

The first line is about the machine and the build. Then comes a line for each scenario (what it is and what
its goals are), and a line for each measurement as soon as it is made.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.harness.figures import Report, Results
from bench.harness.scenario import Case, Goal, Scenario

FILE = "results.jsonl"


@dataclass
class Folder:
    """Everything that a result folder holds."""

    facts: dict[str, Any] = field(default_factory=dict)
    scenarios: list[Scenario] = field(default_factory=list)
    results: Results = field(default_factory=Results)
    left_out: list[str] = field(default_factory=list)
    """Why some scenario or peer was not measured."""


class Writer:
    """Appends to the file, and keeps the same in memory."""

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self._path = path
        path.unlink(missing_ok=True)
        self.folder = Folder(facts={"time": _now(), **facts})
        self._line({"kind": "facts", **self.folder.facts})

    def scenario(self, scenario: Scenario) -> None:
        """A scenario begins."""
        self.folder.scenarios.append(scenario)
        self._line({"kind": "scenario", **asdict(scenario)})

    def measured(self, case: Case, peer: str, number: int, report: Report) -> None:
        """A measurement was made, in round `number` from 1."""
        self.folder.results.add(case.scenario, case.label, peer, report)
        line = {"kind": "run", "scenario": case.scenario, "case": case.label, "peer": peer, "round": number}
        self._line(
            {**line, **report, "buffer_pool": case.buffer_pool, "binlog": case.binlog, "flush": case.flush}
        )

    def left_out(self, what: str) -> None:
        """Something was not measured; the text says what and why."""
        self.folder.left_out.append(what)
        self._line({"kind": "left_out", "what": what})

    def _line(self, line: Mapping[str, object]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"time": _now(), **line}, default=str) + "\n")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def read(path: Path) -> Folder:
    """A result folder, or its results.jsonl. Raises OSError, ValueError."""
    folder = Folder()
    file = path / FILE if path.is_dir() else path
    for text in file.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        kind = line.pop("kind")
        if kind == "facts":
            folder.facts = line
        elif kind == "scenario":
            folder.scenarios.append(_scenario(line))
        elif kind == "left_out":
            folder.left_out.append(line["what"])
        else:
            folder.results.add(line["scenario"], line["case"], line["peer"], line)
    return folder


def _scenario(line: dict[str, Any]) -> Scenario:
    line.pop("time")
    cases = [Case(**{**case, "settings": tuple(map(tuple, case["settings"]))}) for case in line.pop("cases")]
    goals = [Goal(**goal) for goal in line.pop("goals")]
    return Scenario(**{**line, "peers": tuple(line["peers"]), "cases": tuple(cases), "goals": tuple(goals)})
