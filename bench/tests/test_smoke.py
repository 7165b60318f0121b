# SPDX-License-Identifier: GPL-2.0-only
"""The whole way of `./x bench` once, with real servers, a small table and a fraction of a second for each measurement."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.harness import results

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = {"rowsocket", "original", "echo"}


def test_a_run_measures_every_peer_and_writes_its_page(tmp_path: Path) -> None:
    """Nothing of the speeds is asserted: answers are checked by the generator, and a wrong one fails the run."""
    plugin = os.environ.get("ROWSOCKET_PLUGIN_DIR")
    if not plugin or not os.environ.get("ROWSOCKET_SERVER_TREE"):
        pytest.skip("no server and plugin: ./x test bench sets them")
    programs = Path(plugin).parent.parent / "bench"
    words = ["run", "point", "--quick", "--rounds", "1", "--seconds", "0.2", "--rows-max", "1000", "--out", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "bench.harness", *words, "--peers", ",".join(PEERS)],
        cwd=ROOT,
        env={**os.environ, "ROWSOCKET_BENCH_DIR": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(results.read(tmp_path).results.peers("point")) == PEERS
    assert (tmp_path / "report.html").is_file()
