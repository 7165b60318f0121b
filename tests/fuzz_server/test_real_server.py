# SPDX-License-Identifier: GPL-2.0-only
"""Fuzzed requests into a real server with tables of all kinds: it lives, answers each line, and nothing breaks.

Every run is another one and prints its seed. To repeat a run: ROWSOCKET_SOAK_SEED=SEED ./x test fuzz-server.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuzz_server.fuzzing import Run
from support.mariadb import RowSocketServer, Start
from support.soak import Soak
from support.tree import ServerTree

RUN_S = 15.0
LONG_RUN_S = 60.0
VALGRIND_CLIENTS = 2
VALGRIND = ("--leak-check=no", "--keep-debuginfo=yes", "--num-callers=30", "--error-limit=no")


def test_fuzzed_requests_break_nothing(start: Start, soak: Soak, tree: ServerTree, tmp_path: Path) -> None:
    for trial in soak.trials(1):
        run = Run(tree, soak.seed + trial)
        server = start(RowSocketServer, run.options)
        run.prepare(server)
        duration_s = LONG_RUN_S if soak.is_long() else RUN_S
        for what, count in run.work(server, tmp_path / f"journal-{run.seed}", duration_s).items():
            soak.saw(what, count)
        server.remove()


@pytest.mark.slow
def test_valgrind_finds_nothing_while_requests_are_fuzzed(
    start: Start, soak: Soak, tree: ServerTree, tmp_path: Path
) -> None:
    """Only reports that name the plugin count, be it for the access or for the memory's owner."""
    for trial in soak.trials(1):
        run = Run(tree, soak.seed + trial, plugins=("ha_archive",))
        more = {"innodb-use-native-aio": 0, "innodb-buffer-pool-size-max": "64M"}
        server = start(RowSocketServer, {**run.options, **more}, valgrind=VALGRIND)
        run.prepare(server)
        duration_s = LONG_RUN_S if soak.is_long() else RUN_S
        seen = run.work(server, tmp_path / f"journal-{run.seed}", duration_s, VALGRIND_CLIENTS)
        for what, count in seen.items():
            soak.saw(what, count)
        server.stop()
        reports = (server.folder / "valgrind.log").read_text(errors="replace")
        assert "ERROR SUMMARY" in reports
        named = [one for one in re.split(r"==\d+== *\n", reports) if re.search(r"(by|at) 0x\w+: .*rowsocket", one)]
        assert named == [], "\n\n".join([f"seed {run.seed}", *named[:5]])
        server.remove()
