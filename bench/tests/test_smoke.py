# SPDX-License-Identifier: GPL-2.0-only
"""The whole way of `./x bench` once, with real servers, a small table and very short measurements."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.harness import results

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = {"rowsocket", "original", "echo"}


def harness(out: Path, seconds: float) -> subprocess.Popen[str]:
    """`./x bench point` with a small table and one round."""
    plugin = os.environ.get("ROWSOCKET_PLUGIN_DIR")
    if not plugin or not os.environ.get("ROWSOCKET_SERVER_TREE"):
        pytest.skip("no server and plugin: ./x test bench sets them")
    words = [
        "run",
        "point",
        "--quick",
        "--rounds",
        "1",
        "--seconds",
        str(seconds),
        "--rows-max",
        "1000",
        "--out",
        str(out),
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "bench.harness", *words, "--peers", ",".join(PEERS)],
        cwd=ROOT,
        env={**os.environ, "ROWSOCKET_BENCH_DIR": str(Path(plugin).parent.parent / "bench")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_run_measures_every_peer_and_writes_its_page(tmp_path: Path) -> None:
    """No speed is asserted. The player checks the answers, and a wrong one fails the run."""
    run = harness(tmp_path, seconds=0.2)
    _, errors = run.communicate()
    assert run.returncode == 0, errors
    assert set(results.read(tmp_path).results.peers("point")) == PEERS
    assert (tmp_path / "report.html").is_file()


def test_a_run_that_is_terminated_leaves_no_server(tmp_path: Path) -> None:
    run = harness(tmp_path, seconds=0.2)
    assert run.stderr is not None
    for line in run.stderr:
        if "filling" in line:  # a server serves
            break
    children = [
        Path("/proc") / pid for pid in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    ]
    run.terminate()
    run.communicate()
    assert children
    assert [child for child in children if child.exists()] == []
