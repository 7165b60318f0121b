# SPDX-License-Identifier: GPL-2.0-only
"""Where the harness finds the programs that it runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from bench.harness.environment import Environment
from bench.harness.servers import ROOT


def test_sysbench_finds_its_scripts_where_they_were_fetched(tmp_path: Path) -> None:
    """Not only where Debian would have installed them."""
    environment = Environment(tmp_path, tmp_path, peers_tree=tmp_path / "peers")
    paths = environment.of_peers()["LUA_PATH"].split(";")
    assert str(tmp_path / "peers/usr/share/sysbench/?.lua") in paths
    assert "" in paths  # Lua puts its own folders there


def test_the_fetched_sysbench_knows_the_benchmark_that_is_asked_of_it() -> None:
    """Wherever the test runs from, and whatever is installed."""
    environment = Environment(ROOT, ROOT, peers_tree=ROOT / ".rowsocket/peers")
    program = environment.program("sysbench")
    if program is None:
        pytest.skip("sysbench is not there: ./x bench fetches it")
    done = subprocess.run(
        [program, "oltp_point_select", "help"], capture_output=True, text=True, env=environment.of_peers()
    )
    assert done.returncode == 0, done.stdout
    assert "--table_size" in done.stdout
