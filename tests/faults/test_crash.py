# SPDX-License-Identifier: GPL-2.0-only
"""kill -9 of the server under write load: what was acknowledged is there, and nothing is there by half.

ROWSOCKET_FAULT_TRIALS sets the number of trials (5 by default).
"""

from __future__ import annotations

import os
import random

import pytest

from faults.writers import Writers, make_tables
from support.mariadb import Options, RowSocketServer, Start

TRIALS = int(os.environ.get("ROWSOCKET_FAULT_TRIALS", "5"))
CRASHES_UNTIL_A_LOSS_MAX = 5
WRITES_BEFORE_A_CRASH = (300, 5000)
DURABLE: Options = {"innodb-flush-log-at-trx-commit": 1, "sync-binlog": 1, "binlog-format": "ROW"}


def crash_under_load(server: RowSocketServer) -> int:
    """Make the tables, write for a while, kill, start again; how many acknowledged writes are lost."""
    make_tables(server)
    with Writers(server) as writers:
        writers.wait_for_more(random.randint(*WRITES_BEFORE_A_CRASH))
        writers.server_may_go()
        server.crash()
    assert writers.refusals() == {"no such row": 8}  # what the first round deletes
    server.start()
    return writers.losses(server)


@pytest.mark.parametrize("trial", range(TRIALS))
def test_no_acknowledged_write_is_lost_in_a_crash(start: Start, trial: int) -> None:
    assert crash_under_load(start(RowSocketServer, DURABLE)) == 0


def test_a_server_that_flushes_once_per_second_loses_nothing_when_only_its_process_dies(start: Start) -> None:
    assert crash_under_load(start(RowSocketServer, {**DURABLE, "innodb-flush-log-at-trx-commit": 2, "sync-binlog": 0})) == 0


def test_the_ledger_sees_the_loss_of_a_server_that_keeps_its_log_in_memory(start: Start) -> None:
    """Up to a second is lost, and by chance nothing: then once more. What is left is still whole."""
    settings: Options = {"innodb-flush-log-at-trx-commit": 0, "sync-binlog": 0, "skip-log-bin": None}
    assert any(crash_under_load(start(RowSocketServer, settings)) > 0 for _ in range(CRASHES_UNTIL_A_LOSS_MAX))
