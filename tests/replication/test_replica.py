# SPDX-License-Identifier: GPL-2.0-only
"""A real replica (GTID, parallel) of a server that is written to over RowSocket and SQL at once: the same
tables."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest

import rowsocket
from replication import mixed_writes
from replication.servers import Primary, Replica, assert_equal_history, assert_equal_tables
from support.binlog import assert_binlog_equals_tables, transaction_count
from support.mariadb import Start
from support.soak import Soak

WRITES = 20_000
ROW_IMAGES = ("FULL", "MINIMAL", "NOBLOB")
ALL_TABLES = [f"d.{name}" for name in mixed_writes.NAMES]
HISTORIES = [f"d.{name}" for name in mixed_writes.WITH_HISTORY]


def stop_and_start(replica: Replica) -> Callable[[], None]:
    """What to do beside the writes: stop the replica, let it fall behind, and start it again where it was."""
    steps = itertools.cycle(
        [
            "STOP SLAVE",
            "START SLAVE",
            "STOP SLAVE SQL_THREAD",
            "START SLAVE",
            "STOP SLAVE IO_THREAD",
            "START SLAVE",
        ]
    )

    def step() -> None:
        replica.sql(next(steps))
        time.sleep(0.2)  # no synchronisation: how far it falls behind does not matter

    return step


def trial(start: Start, writes: int, mode: str, row_image: str, soak: Soak) -> None:
    """A new pair of servers; what is written to the first is on the second.

    SQL's own statements are replicated as they are or as row events. A replica that applies them
    optimistically gets row events: at a statement, it once took the table's trigger for malformed
    (docs/reliability.md).
    """
    sql_format = "ROW" if mode == "optimistic" else "MIXED"
    primary = start(Primary, {"binlog-row-image": row_image, "binlog-format": sql_format})
    mixed_writes.make_tables(primary)
    replica = start(Replica, {"slave-parallel-threads": 4, "slave-parallel-mode": mode})
    replica.follow(primary)
    done = mixed_writes.write_mixed(
        primary, writes, soak.random.randrange(1 << 32), beside=stop_and_start(replica)
    )
    replica.sql("START SLAVE")
    replica.catch_up(primary)
    assert_equal_tables(replica, primary, *ALL_TABLES)
    assert_equal_history(replica, primary, *HISTORIES)
    assert_binlog_equals_tables(primary)
    soak.saw("writes over RowSocket done", done)
    replica.remove()
    primary.remove()


@pytest.mark.parametrize("mode", ["optimistic", "conservative"])
def test_a_replica_that_comes_and_goes_ends_with_the_same_tables(start: Start, mode: str, soak: Soak) -> None:
    for _ in soak.trials(1):
        trial(start, WRITES, mode, soak.random.choice(ROW_IMAGES) if soak.is_long() else "FULL", soak)


@pytest.mark.parametrize("row_image", ROW_IMAGES)
def test_whatever_columns_row_events_hold_they_are_enough(start: Start, row_image: str, soak: Soak) -> None:
    trial(start, WRITES // 4, "optimistic", row_image, soak)


def test_a_replica_is_read_and_not_written_to(primary: Primary, make_replica: Callable[..., Replica]) -> None:
    mixed_writes.make_tables(primary)
    replica = make_replica(primary)
    with rowsocket.connect(*primary.write_address(), text=True) as connection:
        connection.open_index("d", "t", "id,n").insert([1, 10])
    replica.catch_up(primary)
    with (
        rowsocket.connect(*replica.read_address(), text=True) as reader,
        rowsocket.connect(*replica.write_address(), text=True) as writer,
    ):
        assert reader.open_index("d", "t", "n").get(1) == ("10",)
        index = writer.open_index("d", "t", "n")
        assert index.get(1) == ("10",)
        with pytest.raises(rowsocket.EngineError, match="1290"):
            index.update(1, [11])
    assert_equal_tables(replica, primary, "d.t")


def test_one_turn_is_one_group_of_the_binlog(primary: Primary) -> None:
    mixed_writes.make_tables(primary)
    before = transaction_count(primary)
    with primary.raw("write") as connection:
        connection.ask(b"P\t1\td\tt\t\tid,n")
        connection.send(b"".join(b"1\t+\t2\t%d\t1\n" % number for number in range(500)))
        assert [connection.line() for _ in range(500)] == [b"0\t1"] * 500
    assert transaction_count(primary) - before < 100
