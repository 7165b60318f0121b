# SPDX-License-Identifier: GPL-2.0-only
"""Fuzzed requests into a real server with tables of all kinds: it lives and answers each line.

Every run is another one and prints its seed, from which follows what each client and SQL send:

    ROWSOCKET_SOAK_SEED=1 ./x test fuzz-server

What happens also depends on who comes first. So each run leaves a journal of what was sent in its order (the
failure says where), which can be sent again:

    ROWSOCKET_FUZZ_JOURNAL=FILE ./x test fuzz-server -- -k journal

With ROWSOCKET_FUZZ_SMALLER=FILE as well, events are left out as long as the server still ends; what is left
is written there.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from fuzz_server import journal, replay
from fuzz_server.fuzzing import Run
from support.mariadb import Options, RowSocketServer, Start
from support.soak import Soak
from support.tree import ServerTree

JOURNAL = os.environ.get("ROWSOCKET_FUZZ_JOURNAL")
SMALLER = os.environ.get("ROWSOCKET_FUZZ_SMALLER")
RUN_S = 12.0
LONG_RUN_S = 60.0
VALGRIND_CLIENTS = 2
VALGRIND_SHARE = 0.4
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
        run = Run(tree, soak.seed + trial, plugins=("ha_archive",), share=VALGRIND_SHARE)
        more: Options = {"innodb-use-native-aio": 0, "innodb-buffer-pool-size-max": "64M"}
        server = start(RowSocketServer, {**run.options, **more}, valgrind=VALGRIND)
        run.prepare(server)
        duration_s = LONG_RUN_S if soak.is_long() else RUN_S
        seen = run.work(server, tmp_path / f"journal-{run.seed}", duration_s, VALGRIND_CLIENTS)
        for what, count in seen.items():
            soak.saw(what, count)
        server.stop()
        reports = (server.folder / "valgrind.log").read_text(errors="replace")
        assert "ERROR SUMMARY" in reports
        named = [
            one for one in re.split(r"==\d+== *\n", reports) if re.search(r"(by|at) 0x\w+: .*rowsocket", one)
        ]
        if named:
            pytest.fail("\n".join([f"{len(named)} reports, seed {run.seed}", *named[:5]]), pytrace=False)
        server.remove()


if JOURNAL:

    def test_what_a_journal_says_breaks_nothing(tree: ServerTree, template: Path) -> None:
        run, events = journal.read(Path(str(JOURNAL)))

        def breaks(some: list[journal.Event]) -> bool:
            server = RowSocketServer(tree, template, run_of(tree, run).options)
            server.start()
            try:
                run_of(tree, run).prepare(server)
                replay.play(server, some)
                return not server.alive()
            finally:
                server.crash()
                shutil.rmtree(server.folder, ignore_errors=True)

        has_broken = breaks(events)
        if has_broken and SMALLER:
            replay.smaller(events, breaks, lambda left: journal.write(Path(SMALLER), run, left))
        assert not has_broken


def run_of(tree: ServerTree, header: journal.Event) -> Run:
    """The run that a journal is of."""
    return Run(tree, int(header[2]), tuple(header[3].split()))
