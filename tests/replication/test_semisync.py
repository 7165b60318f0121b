# SPDX-License-Identifier: GPL-2.0-only
"""Semi-synchronous replication (AFTER_SYNC): the primary dies under load, and its replica has every
acknowledged write."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pymysql
import pytest

import rowsocket
from faults.writers import Writers, make_tables
from replication.servers import Primary, Replica
from support.binlog import assert_binlog_equals_tables
from support.gate import gate, wait_at_gate, with_gated_table
from support.mariadb import Database, Options, Start
from support.raw import RawConnection
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


# ---- waits that end without the replica


def waiting_threads(primary: Primary, host: str) -> list[int]:
    """The ids of those that wait for the replica now; SQL's are of `localhost`."""
    rows = primary.sql(
        "SELECT id FROM information_schema.processlist WHERE host = %s AND state LIKE"
        " 'Waiting for semi-sync ACK%%'",
        [host],
    )
    return [int(thread) for [thread] in rows]


def thread_that_waits(primary: Primary, host: str) -> int:
    """The one that does, or will soon. The list says `Busy` of a thread whose lock it did not get, so it is
    asked until it names one, and not again."""
    named: list[int] = []

    def names_one() -> bool:
        named[:] = waiting_threads(primary, host)
        return len(named) == 1

    primary.wait_until(f"a commit of {host} waits", names_one)
    return named[0]


def open_counter(wire: RawConnection) -> None:
    """As 1."""
    assert wire.ask(b"P\t1\td\tcounter\t\tid,n") == b"0\t1"


def assert_no_reply(
    primary: Primary, wire: RawConnection, requests: bytes, end: Callable[[Primary, int], object]
) -> None:
    """To none of the requests, where this ends the wait of a commit of theirs."""
    wire.send(requests)
    end(primary, thread_that_waits(primary, "rowsocket"))
    assert wire.closed()


ENDINGS: dict[str, Callable[[Primary, int], object]] = {
    "KILL": lambda primary, thread: primary.sql(f"KILL {thread}"),
    "KILL QUERY": lambda primary, thread: primary.sql(f"KILL QUERY {thread}"),
    "UNINSTALL": lambda primary, _: primary.sql("UNINSTALL SONAME 'rowsocket'"),
    "shutdown": lambda primary, _: primary.stop(),
}


@pytest.mark.parametrize(
    ("point", "ending"), [*(("AFTER_SYNC", ending) for ending in ENDINGS), ("AFTER_COMMIT", "KILL")]
)
def test_a_write_that_no_replica_will_acknowledge_has_no_reply(start: Start, point: str, ending: str) -> None:
    primary, replica = pair(start, {**SEMI_SYNC, "rpl-semi-sync-master-wait-point": point})
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire:
        open_counter(wire)
        assert_no_reply(primary, wire, b"1\t+\t2\t1\t1\n", ENDINGS[ending])
    assert "no semi-synchronous replica has acknowledged a commit" in primary.log_text()


def test_flush_status_hides_no_wait_that_is_cut(start: Start) -> None:
    """The server counts the waits that were cut: one before, and one when it has begun to count anew."""
    primary, replica = pair(start)
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire, ThreadPoolExecutor(1) as sessions:
        open_counter(wire)
        cut = sessions.submit(insert, primary, 2)
        primary.sql(f"KILL {thread_that_waits(primary, 'localhost')}")
        assert isinstance(cut.exception(), pymysql.err.OperationalError)
        wire.send(b"1\t+\t2\t1\t1\n")
        thread = thread_that_waits(primary, "rowsocket")
        status = "STATUS" if primary.tree.series == "10.11" else "GLOBAL STATUS"
        primary.sql(f"FLUSH LOCAL {status}")  # it is not replicated, and so waits for nobody
        primary.sql(f"KILL QUERY {thread}")
        assert wire.closed()


def test_a_write_waits_on_when_the_leader_of_its_group_of_commits_is_killed(start: Start) -> None:
    """The leader of a group waits for all of it, and the next group waits behind that. SQL's second insert
    leads the second group; its third one leads RowSocket's, which has come last."""
    primary, replica = pair(start)
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire, ThreadPoolExecutor(3) as sessions:
        open_counter(wire)
        leaders = []
        for number in range(3):
            leaders.append(sessions.submit(insert, primary, number))
            primary.wait_until(f"{number + 1} are prepared", lambda: prepared(primary) == len(leaders))
        wire.send(b"1\t+\t2\t100\t1\n")
        primary.wait_until("RowSocket's is, too", lambda: prepared(primary) == 4)
        for leader in leaders:
            primary.sql(f"KILL {thread_that_waits(primary, 'localhost')}")
            assert isinstance(leader.exception(), pymysql.err.OperationalError)
        thread_that_waits(primary, "rowsocket")
        replica.sql("START SLAVE IO_THREAD")
        assert wire.line() == b"0\t1"


@pytest.mark.parametrize("ending", ["KILL", "KILL QUERY"])
def test_of_a_pipeline_nothing_is_answered_behind_a_write_without_a_reply(start: Start, ending: str) -> None:
    """The insert into Aria commits what comes before it."""
    primary, replica = pair(start)
    primary.sql("CREATE TABLE d.plain (id INT PRIMARY KEY) ENGINE=Aria")
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire:
        opened = wire.ask_all(b"P\t1\td\tcounter\t\tid,n", b"P\t2\td\tplain\t\tid")
        assert opened == [b"0\t1"] * 2
        requests = b"1\t+\t2\t1\t1\n2\t+\t1\t1\n1\t=\t1\t1\n1\t+\t2\t2\t1\n"
        assert_no_reply(primary, wire, requests, ENDINGS[ending])
    assert primary.sql("SELECT id FROM d.plain") == []


def test_a_row_whose_commit_no_replica_has_is_not_told_as_failed(start: Start) -> None:
    primary, replica = pair(start)
    primary.sql("CREATE TABLE d.log (id INT PRIMARY KEY) ENGINE=InnoDB")
    primary.sql("CREATE TABLE d.plain (id INT PRIMARY KEY) ENGINE=MyISAM")
    primary.sql("CREATE TRIGGER d.logs AFTER INSERT ON d.plain FOR EACH ROW INSERT INTO log VALUES (NEW.id)")
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tplain\t\tid") == b"0\t1"
        assert_no_reply(primary, wire, b"1\t++\t1\t2\t1\t2\tE\n", ENDINGS["KILL QUERY"])


def test_semi_synchronous_replication_may_begin_under_a_transaction(start: Start) -> None:
    primary, replica = pair(start, {**SEMI_SYNC, "rpl-semi-sync-master-enabled": 0})
    database = Database(primary, "app")
    with_gated_table(database)
    replica.catch_up(primary)
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire:
        assert wire.ask(b"P\t1\tapp\tgated\t\tid") == b"0\t1"
        with gate(database):
            wire.send(b"1\t+\t1\t1\n")
            wait_at_gate(primary)
            primary.sql("SET GLOBAL rpl_semi_sync_master_enabled = 1")
        primary.sql(f"KILL {thread_that_waits(primary, 'rowsocket')}")
        assert wire.closed()


@pytest.mark.parametrize("engine", ["MyISAM", "Aria"])
def test_a_table_without_transactions_waits_for_the_replica_as_others_do(start: Start, engine: str) -> None:
    primary, replica = pair(start)
    primary.sql(f"CREATE TABLE d.plain (id INT PRIMARY KEY) ENGINE={engine}")
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tplain\t\tid") == b"0\t1"
        assert_no_reply(primary, wire, b"1\t+\t1\t1\n", ENDINGS["KILL"])


def test_a_write_beside_one_that_is_killed_waits_on(start: Start) -> None:
    primary, replica = pair(start, {**SEMI_SYNC, "rpl-semi-sync-master-wait-point": "AFTER_COMMIT"})
    replica.sql("STOP SLAVE IO_THREAD")
    with primary.raw("write") as wire, ThreadPoolExecutor(1) as sessions:
        open_counter(wire)
        wire.send(b"1\t+\t2\t1\t1\n")
        thread_that_waits(primary, "rowsocket")
        killed = sessions.submit(insert, primary, 2)
        primary.sql(f"KILL {thread_that_waits(primary, 'localhost')}")
        assert isinstance(killed.exception(), pymysql.err.OperationalError)
        replica.sql("START SLAVE IO_THREAD")
        assert wire.line() == b"0\t1"


def insert(primary: Primary, number: int) -> None:
    """In a session of its own."""
    with primary.connect() as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO d.counter VALUES (%s, 1)", [number])


def prepared(primary: Primary) -> int:
    """How many transactions wait for their commit."""
    [[_, _, status]] = primary.sql("SHOW ENGINE INNODB STATUS")
    return str(status).count("(PREPARED)")


def test_a_replica_that_is_there_is_waited_for_also_where_none_would_not_be(start: Start) -> None:
    """The replica's process stands still while the server's own wait is cut."""
    primary, replica = pair(start, {**SEMI_SYNC, "rpl-semi-sync-master-wait-no-slave": "OFF"})
    assert replica.process is not None
    with primary.raw("write") as wire:
        open_counter(wire)
        replica.process.send_signal(signal.SIGSTOP)
        try:
            assert_no_reply(primary, wire, b"1\t+\t2\t1\t1\n", ENDINGS["KILL QUERY"])
        finally:
            replica.process.send_signal(signal.SIGCONT)
