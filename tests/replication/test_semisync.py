# SPDX-License-Identifier: GPL-2.0-only
"""Semi-synchronous replication (AFTER_SYNC): the primary dies under load, and its replica has every
acknowledged write."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import rowsocket
from faults.writers import Writers, make_tables
from replication.servers import Primary, Replica
from support.binlog import assert_binlog_equals_tables
from support.mariadb import Options, Start
from support.soak import Soak

TRIALS = 1
WRITES_BEFORE_THE_END = (100, 3000)
NEVER_MS = 3_600_000
SEMI_SYNC: Options = {
    "rpl-semi-sync-master-enabled": 1,
    "rpl-semi-sync-master-wait-point": "AFTER_SYNC",
    "rpl-semi-sync-master-timeout": NEVER_MS,
    "innodb-flush-log-at-trx-commit": 1,
    "sync-binlog": 1,
}
FOLLOWING: Options = {"rpl-semi-sync-slave-enabled": 1, "slave-parallel-threads": 4}


def pair(start: Start, primary_options: Options = SEMI_SYNC) -> tuple[Primary, Replica]:
    """A primary with the tables of the writers, and a replica that has them, too."""
    primary = start(Primary, {**primary_options, "rpl-semi-sync-master-enabled": 0})
    make_tables(primary)
    replica = start(Replica, FOLLOWING)
    replica.follow(primary)
    replica.catch_up(primary)
    enabled = primary_options.get("rpl-semi-sync-master-enabled", 0)
    primary.sql("SET GLOBAL rpl_semi_sync_master_enabled = %s", [enabled])
    if enabled:
        primary.wait_until("the replica confirms", lambda: semi_sync(primary, "clients") == "1")
    return primary, replica


def semi_sync(primary: Primary, name: str) -> str:
    """The status value Rpl_semi_sync_master_<name>."""
    return primary.status(f"Rpl_semi_sync_master_{name}")[f"Rpl_semi_sync_master_{name}"]


def test_every_acknowledged_write_is_on_the_promoted_replica(start: Start, soak: Soak) -> None:
    for _ in soak.trials(TRIALS):
        with ExitStack() as trial:
            primary, replica = pair(start)
            trial.callback(replica.remove)
            trial.callback(primary.remove)
            with Writers(primary) as writers:
                writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_THE_END))
                assert semi_sync(primary, "status") == "ON"
                writers.server_may_go()
                primary.crash()
            replica.promote()
            lost = writers.losses(replica)
            assert_binlog_equals_tables(replica)
            soak.saw("acknowledged writes", writers.acknowledged_count())
            soak.saw("lost", lost)
            assert lost == 0
            with rowsocket.connect(*replica.write_address(), text=True) as writer:
                assert writer.open_index("d", "counter", "id,n").insert([1000, 1]) is None


def test_what_a_replica_did_not_get_is_lost_without_semi_sync(start: Start) -> None:
    primary, replica = pair(start, {})
    replica.sql("STOP SLAVE IO_THREAD")
    with Writers(primary) as writers:
        writers.wait_for_more(100)
        writers.server_may_go()
        primary.crash()
    replica.sql("START SLAVE SQL_THREAD")
    replica.promote()
    assert writers.losses(replica) >= 100


def test_a_write_is_not_acknowledged_before_a_replica_has_it(start: Start) -> None:
    primary, replica = pair(start)
    replica.sql("STOP SLAVE IO_THREAD")
    with rowsocket.connect(*primary.write_address(), text=True) as writer, ThreadPoolExecutor(1) as thread:
        counters = writer.open_index("d", "counter", "id,n")
        inserted = thread.submit(counters.insert, [1, 1])
        primary.wait_until(
            "the commit waits for a replica", lambda: semi_sync(primary, "wait_sessions") == "1"
        )
        assert not inserted.done()
        assert primary.sql("SELECT * FROM d.counter") == []
        replica.sql("START SLAVE IO_THREAD")
        inserted.result()
    replica.catch_up(primary)
    assert replica.sql("SELECT id, n FROM d.counter") == [(1, 1)]
