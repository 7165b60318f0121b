# SPDX-License-Identifier: GPL-2.0-only
"""Histories on a server whose requests wait until another thread has taken their worker over, though they
need not (src/server/drill.h). They are linearizable, and threads and memory do not grow."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from linearizability.checking import Checker
from linearizability.clients import ASKING, FOLLOWING_READERS, FOLLOWING_WRITERS, Clients
from linearizability.scene import ALTERATIONS, WORKERS, Scene
from linearizability.sql import lock_a_row
from linearizability.workload import Pairs, Rows
from support.mariadb import DrilledServer, Start
from support.plugin import threads, wait_for_end_of_stand_ins
from support.soak import Soak

EVERYBODY = [*ASKING, *FOLLOWING_READERS, *FOLLOWING_WRITERS]
EVENTS = 30
REPLIES_BETWEEN = 300
LOCKED_FOR_REPLIES = 200
HAND_OVERS_MIN = 300
"""In each history."""
MEBIBYTE = 1 << 20
MEMORY_GROWTH_MAX = 48 * MEBIBYTE
"""From the first quarter of the histories to the last one: the server's own unrest."""


def test_stand_ins_that_take_over_all_the_time_keep_the_order_and_end(
    start: Start, checker: Checker, soak: Soak
) -> None:
    server = start(DrilledServer, WORKERS)
    scene = Scene(server, checker, soak)
    of_the_start = threads(server)
    memory = []
    for trial in soak.trials(2):
        before = server.counter("hand_overs")
        with scene.clients(Pairs if trial % 2 else Rows, EVERYBODY) as clients:
            run_with_events(scene, clients, soak)
        hand_overs = server.counter("hand_overs") - before
        assert hand_overs >= HAND_OVERS_MIN
        soak.saw("hand-overs", hand_overs)
        scene.check(clients)
        memory.append(server.memory_bytes())
    assert server.counter("waited_alone") > 0
    wait_for_end_of_stand_ins(server, of_the_start)
    early = memory[len(memory) // 4]
    soak.note("memory", f"{early // MEBIBYTE} MiB early, {memory[-1] // MEBIBYTE} MiB at the end")
    assert memory[-1] - early < MEMORY_GROWTH_MAX


def run_with_events(scene: Scene, clients: Clients, soak: Soak) -> None:
    """While the clients ask, SQL locks rows, tables are altered, and workers are killed."""
    alterations = itertools.cycle(ALTERATIONS)
    events: list[Callable[[], object]] = [lambda: scene.server.sql(next(alterations)), scene.kill_a_worker]
    if isinstance(clients.workload, Rows):
        waits = "Rowsocket_waited_alone"
        events.append(lambda: lock_a_row(clients, scene.server, soak.random, LOCKED_FOR_REPLIES, waits))
    for event in range(EVENTS):
        clients.wait_for_more(REPLIES_BETWEEN)
        events[event % len(events)]()
    clients.wait_for_more(REPLIES_BETWEEN)
