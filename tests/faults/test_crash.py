# SPDX-License-Identifier: GPL-2.0-only
"""kill -9 of the server under write load: what was acknowledged is there, and nothing is there by half."""

from __future__ import annotations

from faults.writers import Writers, make_tables
from support.binlog import assert_binlog_equals_tables
from support.mariadb import Options, RowSocketServer, Start
from support.soak import Soak

TRIALS = 5
CRASHES_UNTIL_A_LOSS_MAX = 5
WRITES_BEFORE_A_CRASH = (300, 5000)
DURABLE: Options = {"innodb-flush-log-at-trx-commit": 1, "sync-binlog": 1, "binlog-format": "ROW"}
FLUSHED_BY_NOBODY: Options = {"innodb-flush-log-at-trx-commit": 2, "sync-binlog": 0, "binlog-format": "ROW"}
KEPT_IN_MEMORY: Options = {"innodb-flush-log-at-trx-commit": 0, "sync-binlog": 0, "skip-log-bin": None}


def crash_under_load(server: RowSocketServer, soak: Soak) -> int:
    """Make the tables, write for a while, kill, start again, remove; how many acknowledged writes were
    lost."""
    make_tables(server)
    with Writers(server) as writers:
        writers.wait_for_first_rounds()
        writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_A_CRASH))
        writers.server_may_go()
        server.crash()
    assert writers.refusals() == {"no such row": 8}  # what the first round deletes
    server.start()
    losses = writers.losses(server)
    if server.value("SELECT @@log_bin"):
        assert_binlog_equals_tables(server)
    server.remove()
    soak.saw("acknowledged writes", writers.acknowledged_count())
    soak.saw("lost", losses)
    return losses


def test_no_acknowledged_write_is_lost_in_a_crash(start: Start, soak: Soak) -> None:
    for _ in soak.trials(TRIALS):
        assert crash_under_load(start(RowSocketServer, DURABLE), soak) == 0


def test_a_server_that_flushes_once_per_second_loses_nothing_when_only_its_process_dies(
    start: Start, soak: Soak
) -> None:
    for _ in soak.trials(1):
        assert crash_under_load(start(RowSocketServer, FLUSHED_BY_NOBODY), soak) == 0


def test_the_ledger_sees_the_loss_of_a_server_that_keeps_its_log_in_memory(start: Start, soak: Soak) -> None:
    """Up to a second is lost, and by chance nothing: then once more. What is left is still whole."""
    for _ in soak.trials(1):
        crashes = range(CRASHES_UNTIL_A_LOSS_MAX)
        assert any(crash_under_load(start(RowSocketServer, KEPT_IN_MEMORY), soak) > 0 for _ in crashes)


def test_a_server_that_keeps_its_log_in_memory_loses_nothing_that_it_has_flushed(
    start: Start, soak: Soak
) -> None:
    """The window of the loss: what was acknowledged before the log's last flush is there."""
    for _ in soak.trials(1):
        server = start(RowSocketServer, KEPT_IN_MEMORY)
        make_tables(server)
        with Writers(server) as writers:
            writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_A_CRASH))
            flushed = writers.acknowledged_counts()
            wait_for_a_flush(server, writers)
            writers.server_may_go()
            server.crash()
        server.start()
        assert all(kept >= count for kept, count in zip(writers.kept_counts(server), flushed, strict=True))
        server.remove()


def wait_for_a_flush(server: RowSocketServer, writers: Writers) -> None:
    """Until all is flushed that is in the log now."""
    end_of_log = log_position(server, "current")
    writers.wait_until("has flushed its log", lambda: log_position(server, "flushed") >= end_of_log)


def log_position(server: RowSocketServer, name: str) -> int:
    return int(server.status(f"Innodb_lsn_{name}")[f"Innodb_lsn_{name}"])
