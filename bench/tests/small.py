# SPDX-License-Identifier: GPL-2.0-only
"""The cases of `./x bench` made small, for tests that only want to see them answered."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from bench.harness import scenario
from bench.harness.figures import Report
from bench.harness.measuring import Run
from bench.harness.peers.base import Peer
from bench.harness.scenario import Case
from bench.harness.servers import ROOT

ROWS = 5000
SHORT = Run(seconds=0.2, warm_up_seconds=0.0)


def environment_variables() -> dict[str, str]:
    """What the harness reads; programs lie beside the plugin. Skips where there is no server or plugin."""
    plugin = os.environ.get("ROWSOCKET_PLUGIN_DIR")
    if not plugin or not os.environ.get("ROWSOCKET_SERVER_TREE"):
        pytest.skip("no server and plugin: ./x test bench sets them")
    programs = str(Path(plugin).parent.parent / "bench")
    return {
        "ROWSOCKET_PEERS_TREE": str(ROOT / ".rowsocket/peers"),
        "ROWSOCKET_BENCH_DIR": programs,
        **os.environ,
    }


def small(case: Case) -> Case:
    """A case of a scenario that one server without a binlog can answer at once."""
    return replace(
        case,
        rows=ROWS,
        connections=4,
        mode="closed",
        binlog=False,
        flush=2,
        buffer_pool=Case.buffer_pool,
        label="small",
    )


def one_row() -> Case:
    """Point selects on a table of one row, so that the first request already asks for it."""
    return replace(small(Case("wrong")), rows=1)


def cases() -> Sequence[Case]:
    """All that the tests ask for."""
    return [one_row(), *(small(case) for one in scenario.load() for case in one.cases)]


def answered(peer: Peer, case: Case) -> Report:
    """A short run's figures; again, where the machine stood still for as long and nothing was answered."""
    for _ in range(20):
        report = peer.measure(case, SHORT)
        if report.get("requests", 1):  # not every peer tells them
            return report
    raise AssertionError(f"{peer.name} answered nothing in 20 runs")
