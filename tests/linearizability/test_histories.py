# SPDX-License-Identifier: GPL-2.0-only
"""Histories of concurrent clients on both ports and several workers are linearizable; see README.md."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from linearizability.checking import NOT_LINEARIZABLE, Checker
from linearizability.clients import ASKING, FOLLOWING_READERS, FOLLOWING_WRITERS
from linearizability.scene import ALTERATIONS, DURABLE, KEPT_IN_MEMORY, Scene
from linearizability.sql import lock_a_row
from linearizability.workload import Pairs, Rows
from support.mariadb import RowSocketServer, Start
from support.soak import Soak

EVERYBODY = [*ASKING, *FOLLOWING_READERS, *FOLLOWING_WRITERS]
REPLIES = 100_000
REPLIES_BETWEEN = 500
ROUNDS_OF_ALTERATIONS = 12
LOCKED_FOR_REPLIES = [0, 20, 200] * 12 + [math.inf] * 2
KILLS = 200
CRASHES = 6
CRASHES_UNTIL_A_LOSS_MAX = 5


@pytest.fixture
def scene(server: RowSocketServer, checker: Checker, soak: Soak) -> Scene:
    """See Scene."""
    return Scene(server, checker, soak)


def test_a_read_sees_all_that_was_acknowledged_before_it_was_sent(scene: Scene, soak: Soak) -> None:
    for _ in soak.trials(1):
        with scene.clients(Rows, EVERYBODY) as clients:
            clients.wait_for_more(REPLIES)
        scene.check(clients)


def test_sql_that_locks_and_changes_rows_is_part_of_the_same_order(scene: Scene, soak: Soak) -> None:
    for _ in soak.trials(1):
        with scene.clients(Rows, EVERYBODY) as clients:
            for replies in LOCKED_FOR_REPLIES:
                clients.wait_for_more(REPLIES_BETWEEN)
                lock_a_row(clients, scene.server, soak.random, replies)
        scene.check(clients)


def test_ddl_neither_loses_nor_repeats_a_change(scene: Scene, soak: Soak) -> None:
    for _ in soak.trials(1):
        with scene.clients(Rows, EVERYBODY) as clients:
            for alteration in ALTERATIONS * ROUNDS_OF_ALTERATIONS:
                clients.wait_for_more(REPLIES_BETWEEN)
                scene.server.sql(alteration)
            clients.wait_for_more(REPLIES_BETWEEN)
        scene.check(clients)


def test_kill_neither_loses_nor_repeats_a_change(scene: Scene, soak: Soak) -> None:
    for _ in soak.trials(1):
        with scene.clients(Rows, EVERYBODY) as clients:
            for _ in range(KILLS):
                clients.wait_for_more(REPLIES_BETWEEN)
                scene.kill_a_worker()
            clients.wait_for_more(REPLIES_BETWEEN)
        assert clients.history.without_reply_count() > 0, "a KILL closes connections that wait for replies"
        scene.check(clients)


def test_a_crash_neither_loses_nor_repeats_a_change(start: Start, checker: Checker, soak: Soak) -> None:
    for _ in soak.trials(CRASHES):
        scene = Scene(start(RowSocketServer, DURABLE), checker, soak)
        with scene.clients(Rows, EVERYBODY) as clients:
            clients.wait_for_more(soak.random.randint(500, 5000))
            scene.crash(clients)
            clients.wait_for_more(REPLIES_BETWEEN)
        assert clients.history.without_reply_count() > 0, "a crash leaves changes without replies"
        scene.check(clients)
        scene.server.remove()


def test_a_lossy_crash_is_noticed(start: Start, checker: Checker, soak: Soak, tmp_path: Path) -> None:
    """A server that keeps its log in memory loses up to a second, and by chance nothing: then once more."""
    scene = Scene(start(RowSocketServer, KEPT_IN_MEMORY), checker, soak)
    for _ in range(CRASHES_UNTIL_A_LOSS_MAX):
        with scene.clients(Rows, EVERYBODY) as clients:
            clients.wait_for_more(REPLIES_BETWEEN)
            scene.crash(clients)
        if checker.verdict(clients.history, tmp_path).code == NOT_LINEARIZABLE:
            return
    pytest.fail("no loss was noticed")


def test_a_find_never_sees_half_of_a_group(scene: Scene, soak: Soak) -> None:
    for _ in soak.trials(1):
        with scene.clients(Pairs, EVERYBODY) as clients:
            clients.wait_for_more(REPLIES // 2)
        scene.check(clients)
