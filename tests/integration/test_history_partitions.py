# SPDX-License-Identifier: GPL-2.0-only
"""A table whose history moves on to partitions that are made on the way takes writes as any other."""

from __future__ import annotations

import threading

import pytest

from support.binlog import assert_binlog_equals_tables
from support.gate import gate, wait_at_gate, with_gated_table
from support.locks import assert_waits
from support.mariadb import Database, RowSocketServer, Start

HISTORY_MAX = 3
UPDATES = 30
ADD_ONE = b"1\t=\t1\t1\t1\t0\t+\t1"
ADD_ONE_IN_RANGE = b"1\t>=\t1\t0\t10\t0\t+\t1"
DONE = b"0\t1\t1"
LIMITED = f"WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT {HISTORY_MAX} AUTO PARTITIONS 2"


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    """One thread for writing: a turn that waits in a trigger is one transaction to its end."""
    options: dict[str, str | int | None] = {
        "loose-rowsocket-threads-write": 1,
        "loose-rowsocket-threads-max": 0,
        "loose-rowsocket-error-detail": "ON",
    }
    return start(RowSocketServer, options)


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    """The row (1, 0) in a table `t` that adds partitions."""
    database = Database(server, "app")
    make_limited(database)
    return database


def make_limited(database: Database) -> None:
    """`t`."""
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB {LIMITED}")
    database.sql("INSERT INTO t VALUES (1, 0)")


def history(database: Database) -> list[int]:
    """How many old rows each partition for history has."""
    names = database.sql(
        "SELECT partition_name FROM information_schema.partitions WHERE table_schema = 'app' AND table_name"
        " = 't' "
        "AND partition_name <> 'pn' ORDER BY partition_ordinal_position"
    )
    return [int(database.value(f"SELECT COUNT(*) FROM t PARTITION (`{name}`)")) for (name,) in names]


def kept_in_steps(count: int) -> list[int]:
    """As `history`, where `count` rows were changed, one in a statement."""
    return [HISTORY_MAX] * (count // HISTORY_MAX) + [count % HISTORY_MAX] * (count % HISTORY_MAX > 0)


def test_updates_of_one_turn_make_the_partitions_that_they_need(
    server: RowSocketServer, database: Database
) -> None:
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        assert client.ask_all(*[ADD_ONE] * UPDATES) == [DONE] * UPDATES
    assert history(database) == kept_in_steps(UPDATES)
    assert_binlog_equals_tables(server)


def test_a_group_that_fails_behind_a_new_partition_is_not_in_the_binlog(
    server: RowSocketServer, database: Database
) -> None:
    """The server remembers an ALTER in the transaction, and writes what has one even when it is undone."""
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        assert client.ask(b"P\t2\tapp\tt\t\tid,n") == b"0\t1"
        group = [b"G", *[ADD_ONE] * (HISTORY_MAX + 1), b"2\t+\t2\t1\t1", b"E"]
        replies = client.ask_all(*group, ADD_ONE)
    assert replies[-1] == DONE
    assert [reply[:1] for reply in replies[-3:-1]] == [b"1", b"1"]
    assert list(database.sql("SELECT * FROM t")) == [(1, 1)]
    assert_binlog_equals_tables(server)


@pytest.mark.parametrize("fails", [False, True])
def test_a_group_whose_trigger_needs_a_partition_is_done_as_one(
    server: RowSocketServer, database: Database, fails: bool
) -> None:
    database.sql("CREATE TABLE outer_table (id INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER counts BEFORE INSERT ON outer_table FOR EACH ROW UPDATE t SET n = n + 1")
    database.sql("CREATE TABLE plain (id INT PRIMARY KEY)")
    inserts = [b"1\t+\t1\t%d" % number for number in range(HISTORY_MAX + 2)]
    with server.raw("write") as client:
        opened = client.ask_all(b"P\t1\tapp\touter_table\t\tid", b"P\t2\tapp\tplain\t\tid")
        assert opened == [b"0\t1"] * 2
        client.ask_all(b"G", b"2\t+\t1\t1", *inserts, b"2\t+\t1\t%d" % (1 if fails else 2), b"E")
    done = 0 if fails else len(inserts)
    assert database.sql("SELECT n FROM t") == [(done,)]
    assert database.value("SELECT COUNT(*) FROM outer_table") == done
    assert database.value("SELECT COUNT(*) FROM plain") == (0 if fails else 2)
    assert_binlog_equals_tables(server)


@pytest.mark.parametrize("add_one", [ADD_ONE, ADD_ONE_IN_RANGE])
def test_a_group_makes_the_partitions_that_it_needs(
    server: RowSocketServer, database: Database, add_one: bytes
) -> None:
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        assert client.ask_all(b"G", *[add_one] * UPDATES, b"E")[1:-1] == [DONE] * UPDATES
    assert history(database) == kept_in_steps(UPDATES)


def test_a_group_that_reads_before_it_needs_a_partition_runs_again(
    server: RowSocketServer, database: Database
) -> None:
    """The snapshot of its find is older than the partition."""
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        replies = client.ask_all(b"G", b"1\t=\t1\t1", *[ADD_ONE] * (HISTORY_MAX + 1), b"E")
    assert replies == [b"0\t1", b"0\t1\t0", *[DONE] * (HISTORY_MAX + 1), b"0\t1"]
    assert sum(history(database)) == HISTORY_MAX + 1


def test_what_a_trigger_changes_makes_partitions_too(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE outer_table (id INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER counts BEFORE INSERT ON outer_table FOR EACH ROW UPDATE t SET n = n + 1")
    with server.raw("write") as client:
        opened = client.ask_all(b"P\t1\tapp\tt\t\tn", b"P\t2\tapp\touter_table\t\tid")
        assert opened == [b"0\t1"] * 2
        assert client.ask(b"1\t=\t1\t1") == b"0\t1\t0"
        inserts = [b"2\t+\t1\t%d" % number for number in range(UPDATES)]
        assert client.ask_all(*inserts) == [b"0\t1"] * UPDATES
    assert history(database) == kept_in_steps(UPDATES)


def test_a_trigger_that_fills_a_partition_leaves_the_next_one_to_the_next_request(
    server: RowSocketServer, database: Database
) -> None:
    """A partition that is added in the middle of a statement ends the statement: the binlog lacks changes."""
    database.sql("CREATE TABLE outer_table (id INT PRIMARY KEY)")
    database.sql("INSERT INTO t SELECT seq, 0 FROM seq_2_to_9")
    database.sql(
        "CREATE TRIGGER counts BEFORE INSERT ON outer_table FOR EACH ROW"
        " UPDATE t SET n = n + 1 WHERE id = NEW.id"
    )
    with server.raw("write") as client:
        assert client.ask(b"P\t2\tapp\touter_table\t\tid") == b"0\t1"
        assert client.ask(b"2\t++\t1\t8" + b"".join(b"\t%d" % number for number in range(1, 9))).startswith(
            b"0\t2\t1"
        )
        assert history(database) == [8]
        assert client.ask(b"2\t+\t1\t9") == b"0\t1"
    assert history(database) == [8, 1]
    assert_binlog_equals_tables(server)


def test_a_trigger_that_needs_a_partition_is_not_run_into(
    server: RowSocketServer, database: Database
) -> None:
    """SQL waits for the table that the trigger has changed, to add a partition. In the server the trigger's
    next statement would try again and again, until SQL gives up."""
    database.sql("CREATE TABLE outer_table (id INT PRIMARY KEY)")
    database.sql("INSERT INTO t VALUES (2, 0), (3, 0)")
    database.sql(
        """CREATE TRIGGER waits BEFORE INSERT ON outer_table FOR EACH ROW BEGIN
            UPDATE t SET n = n + 1;
            SET NEW.id = NEW.id + 0 * (GET_LOCK('gate', 100) + RELEASE_LOCK('gate'));
            UPDATE t SET n = n + 1 WHERE id = 1;
        END"""
    )
    waiting = (
        "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'Waiting for table metadata lock'"
    )
    with server.raw("write") as client, database.session() as other:
        assert client.ask(b"P\t2\tapp\touter_table\t\tid") == b"0\t1"
        with gate(database):
            client.send(b"2\t+\t1\t1\n")
            wait_at_gate(server)
            adding = threading.Thread(target=other.execute, args=("UPDATE t SET n = n + 100",))
            adding.start()
            server.wait_until("SQL waits to add a partition", lambda: database.value(waiting) > 0)
        assert client.line() == b"0\t1"
        adding.join()
    assert list(database.sql("SELECT n FROM t")) == [(102,), (101,), (101,)]
    assert_binlog_equals_tables(server)


def test_history_by_time_has_the_partition_of_its_hour(server: RowSocketServer, database: Database) -> None:
    database.sql("DROP TABLE t")
    begin = database.value("SELECT NOW() - INTERVAL 5 HOUR - INTERVAL 30 MINUTE")
    database.sql(
        f"""CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB WITH SYSTEM VERSIONING
        PARTITION BY SYSTEM_TIME INTERVAL 1 HOUR STARTS '{begin}' AUTO PARTITIONS 3"""
    )
    database.sql("INSERT INTO t VALUES (1, 0)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        assert client.ask_all(*[ADD_ONE] * 2) == [DONE] * 2
    assert history(database) == [0, 0, 0, 0, 0, 2]


def test_a_last_partition_whose_time_is_over_takes_history_without_an_error(
    server: RowSocketServer, database: Database
) -> None:
    """Without AUTO the server warns, and a warning is an error to a strict request."""
    database.sql("DROP TABLE t")
    begin = database.value("SELECT NOW() - INTERVAL 5 HOUR - INTERVAL 30 MINUTE")
    database.sql(
        f"""CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB WITH SYSTEM VERSIONING
        PARTITION BY SYSTEM_TIME INTERVAL 1 HOUR STARTS '{begin}' PARTITIONS 3"""
    )
    database.sql("INSERT INTO t VALUES (1, 0)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        assert client.ask_all(*[ADD_ONE] * 2) == [DONE] * 2
    assert history(database) == [0, 2]


def test_who_reads_the_table_all_the_time_does_not_keep_it_from_new_partitions(
    server: RowSocketServer, database: Database
) -> None:
    stop = threading.Event()

    def read() -> None:
        with server.raw("read") as reader:
            reader.ask(b"P\t1\tapp\tt\t\tn")
            while not stop.is_set():
                reader.ask(b"1\t=\t1\t1")

    reading = threading.Thread(target=read)
    reading.start()
    try:
        with server.raw("write") as client:
            assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
            assert [client.ask(ADD_ONE) for _ in range(UPDATES)] == [DONE] * UPDATES
    finally:
        stop.set()
        reading.join()
    assert history(database) == kept_in_steps(UPDATES)


def test_a_long_transaction_keeps_partitions_away_but_no_writes(
    server: RowSocketServer, database: Database
) -> None:
    """As in SQL when lock_wait_timeout is over: the last partition takes more than its share."""
    with server.raw("write") as client, database.session() as holder:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM t")
        assert client.ask_all(*[ADD_ONE] * UPDATES) == [DONE] * UPDATES
        assert history(database) == [UPDATES]
        holder.execute("COMMIT")


def test_a_partition_that_was_waited_for_in_vain_is_not_tried_with_each_write(
    server: RowSocketServer, database: Database
) -> None:
    """Each try would give back all tables, and keep all clients of the worker waiting for a second."""
    tries = 10
    database.sql("CREATE TABLE kept (id INT PRIMARY KEY)")
    with server.raw("write") as client, database.session() as holder:
        assert client.ask_all(b"P\t1\tapp\tt\t\tn", b"P\t2\tapp\tkept\t\tid") == [b"0\t1"] * 2
        assert client.ask_all(*[ADD_ONE] * HISTORY_MAX) == [DONE] * HISTORY_MAX
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM t")
        released = server.counter("metadata_lock_releases")
        assert client.ask_all(*[b"2\t=\t1\t1", ADD_ONE] * tries) == [b"0\t1", DONE] * tries
        assert server.counter("metadata_lock_releases") - released <= tries // 2
        holder.execute("COMMIT")


def waits_for_tables(server: RowSocketServer) -> int:
    """How often a thread has begun to wait for a metadata lock, or gone on for another second."""
    query = (
        "SELECT count_star FROM performance_schema.events_waits_summary_global_by_event_name"
        " WHERE event_name = 'wait/lock/metadata/sql/mdl'"
    )
    return int(server.value(query))


def test_while_a_partition_is_not_tried_no_write_waits_for_the_table(start: Start) -> None:
    """All clients of the worker would wait with it, for a second."""
    writes = 10
    server = start(
        RowSocketServer,
        {
            "rowsocket-threads-write": 1,
            "rowsocket-threads-max": 0,
            "performance-schema": "ON",
            "performance-schema-instrument": "wait/lock/metadata/sql/mdl=ON",
        },
    )
    database = Database(server, "app")
    make_limited(database)
    with server.raw("write") as client, database.session() as holder:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM t")
        assert client.ask_all(*[ADD_ONE] * (HISTORY_MAX + 1)) == [DONE] * (HISTORY_MAX + 1)
        waits = waits_for_tables(server)
        assert client.ask_all(*[ADD_ONE] * writes) == [DONE] * writes
        assert waits_for_tables(server) - waits <= writes // 2
        holder.execute("COMMIT")


def test_a_transaction_that_needs_a_partition_as_well_is_not_run_into(
    server: RowSocketServer, database: Database
) -> None:
    """SQL waits for the table that our turn has changed, to add a partition; the turn needs one, too, and
    goes on."""
    database.script(
        """CREATE TABLE gate (id INT PRIMARY KEY);
        CREATE TRIGGER waits BEFORE INSERT ON gate FOR EACH ROW
            SET NEW.id = NEW.id + 0 * (GET_LOCK('gate', 100) + RELEASE_LOCK('gate'));"""
    )
    waiting = (
        "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'Waiting for table metadata lock'"
    )
    with server.raw("write") as client, database.session() as keeper, database.session() as other:
        opened = client.ask_all(b"P\t1\tapp\tt\t\tn", b"P\t2\tapp\tgate\t\tid")
        assert opened == [b"0\t1"] * 2
        keeper.execute("SELECT GET_LOCK('gate', 100)")
        client.send(b"".join(line + b"\n" for line in [ADD_ONE] * 3 + [b"2\t+\t1\t1"] + [ADD_ONE] * 3))
        server.wait_until(
            "the turn waits in the trigger",
            lambda: (
                database.value(
                    "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"
                )
                > 0
            ),
        )
        adding = threading.Thread(target=other.execute, args=("UPDATE t SET n = n + 100",))
        adding.start()
        server.wait_until("SQL waits to add a partition", lambda: database.value(waiting) > 0)
        keeper.execute("SELECT RELEASE_LOCK('gate')")
        assert client.lines(7) == [DONE] * 3 + [b"0\t1"] + [DONE] * 3
        adding.join()
    assert database.value("SELECT n FROM t") == 106


def test_what_a_turn_has_changed_stays_locked_while_a_partition_is_added(
    server: RowSocketServer, database: Database
) -> None:
    """The worker closes every table that it keeps before it adds a partition, and is in the middle of a
    transaction."""
    database.sql("DROP TABLE t")
    with_gated_table(database)
    database.sql("RENAME TABLE t TO changed")
    make_limited(database)
    with server.raw("write") as client, database.session() as sql:
        opened = client.ask_all(
            b"P\t1\tapp\tt\t\tn", b"P\t2\tapp\tgated\t\tid", b"P\t3\tapp\tchanged\t\tid,n"
        )
        assert opened == [b"0\t1"] * 3
        sql.execute("SET lock_wait_timeout = 1")
        with gate(database):
            requests = [b"3\t+\t2\t1\t1", *[ADD_ONE] * (HISTORY_MAX + 1), b"2\t+\t1\t1"]
            client.send(b"".join(request + b"\n" for request in requests))
            wait_at_gate(server)
            assert len(history(database)) == 2
            # InnoDB would keep off ALTER by itself, and not LOCK TABLES.
            for statement in (
                *(f"LOCK TABLES changed {kind}" for kind in ("READ", "WRITE")),
                "ALTER TABLE changed ADD COLUMN m INT",
            ):
                assert_waits(sql, statement)
        assert client.lines(len(requests)) == [b"0\t1", *[DONE] * (HISTORY_MAX + 1), b"0\t1"]
        sql.execute("ALTER TABLE changed ADD COLUMN m INT")
