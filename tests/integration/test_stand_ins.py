# SPDX-License-Identifier: GPL-2.0-only
"""A request costs its own client: whoever else is on the same worker goes on."""

from __future__ import annotations

import contextlib
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gate import gate, open_ids, wait_at_gate, with_gated_table
from support.kills import kill_all
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

ONE_WORKER = {"rowsocket-threads-read": 1, "rowsocket-threads-write": 1, "rowsocket-threads-max": 8}
ROOM_FOR_ALL = ONE_WORKER | {"rowsocket-threads-max": 32}
PLACES = 8
"""Of the waiting room of a worker."""
KEYS = 9_999
LOOKS = 20
"""Of a test, one after the other, at something that is to be still."""
STACK_BYTES = 8 << 20
ROUNDS = 12
SLEEPERS = 60
COLD_ROWS = 100_000
"""More than the buffer pool of the test holds."""
LONG_MS = 100
"""Some commits."""
BUSY = 500
"""Writes that keep a worker busy for some milliseconds."""
GROUP_MEMBERS = 200
ROWS_PER_QUESTION = 64
"""After so many, a request asks by itself whether its client is there."""


def with_rows(server: RowSocketServer) -> Database:
    """A database with `t`: 20,000 rows with one value in `same`."""
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, same INT, KEY (same))")
    database.sql("INSERT INTO t SELECT seq, 1 FROM seq_1_to_20000")
    return database


ENDLESS = b"0\t=\t1\t1\t1000000000\t0\t@\t0\t%d\t%s\tF\t=\t0\t-1" % (KEYS, b"\t".join([b"1"] * KEYS))
"""Walks over all rows of `t` 10,000 times, and finds none that its filter passes. Takes OPEN_BY_SAME."""
OPEN_BY_SAME = b"P\t0\td\tt\tsame\tid\tid"


@contextlib.contextmanager
def endless_find(server: RowSocketServer, port: str) -> Iterator[RawConnection]:
    """KILL ends it."""
    with server.raw(port) as connection:
        connection.ask(OPEN_BY_SAME)
        connection.send(ENDLESS + b"\n")
        try:
            yield connection
        finally:
            kill_all(server, "KILL QUERY")


@pytest.mark.parametrize("port", ["read", "write"])
def test_an_endless_find_holds_up_no_other_client(start: Start, port: str) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    with_rows(server)
    with server.raw(port) as other, endless_find(server, port):
        other.ask(b"P\t0\td\tt\t\tid")
        for key in range(1, 50):
            assert other.ask(b"0\t=\t1\t%d" % key) == b"0\t1\t%d" % key
    assert server.counter("hand_overs") >= 1


@pytest.mark.parametrize("walk", ["a find", "a change", "a group that has changed a row"])
def test_a_walk_that_nobody_expected_keeps_nobody_who_shares_its_turn(start: Start, walk: str) -> None:
    """The walk comes while the turn is busy with others. It makes a connection for each request, so nothing
    is known of it."""
    server = start(RowSocketServer, ONE_WORKER)
    database = with_rows(server)
    database.sql("CREATE TABLE light (id INT PRIMARY KEY)")
    lines = {
        "a find": ENDLESS,
        "a change": ENDLESS + b"\tU\t1",
        "a group that has changed a row": b"G\n2\t=\t1\t1\t1\t0\t+\t1\n%s\nE" % ENDLESS,
    }[walk]
    with server.raw("write") as other:
        open_ids(other, database, (1, "light", "id"))
        for number in range(1, ROUNDS):
            with server.raw("write") as walking:
                walking.ask(OPEN_BY_SAME)
                open_ids(walking, database, (2, "t", "same"))
                other.send(b"".join(b"1\t+\t1\t%d\n" % (number * BUSY + one) for one in range(BUSY)))
                walking.send(lines + b"\n")
                assert other.lines(BUSY) == [b"0\t1"] * BUSY
            server.wait_until("it has ended", lambda: server.counter("connections_write") == 1)
    assert database.sql("SELECT COUNT(*) FROM light") == [((ROUNDS - 1) * BUSY,)]
    assert database.sql("SELECT SUM(same) FROM t") == [(20_000,)]
    assert server.counter("hand_overs") >= 1


def ticks(server: RowSocketServer) -> int:
    """How often the thread that looks at the workers has gone to sleep."""
    assert server.process is not None
    for task in Path(f"/proc/{server.process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "rowsocket-tick":
            [line] = [
                line
                for line in (task / "status").read_text().splitlines()
                if line.startswith("voluntary_ctxt_switches")
            ]
            return int(line.split()[1])
    raise AssertionError("no such thread")


def test_workers_that_wait_for_clients_are_not_looked_at_until_one_goes_on(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    with_rows(server)
    seen: list[int] = []

    def is_still() -> bool:
        seen.append(ticks(server))
        return len(seen) > LOOKS and seen[-1] == seen[-LOOKS]

    with server.raw("read") as other:
        other.ask(b"P\t0\td\tt\t\tid")
        server.wait_until("nobody looks at the workers", is_still)
        with endless_find(server, "read"):
            for key in range(1, 50):
                assert other.ask(b"0\t=\t1\t%d" % key) == b"0\t1\t%d" % key
    assert server.counter("hand_overs") >= 1


def test_many_endless_finds_use_as_many_threads_as_are_allowed(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER | {"rowsocket-threads-max": 4})
    with_rows(server)
    with contextlib.ExitStack() as finds, server.raw("write") as other:
        for _ in range(3):
            finds.enter_context(endless_find(server, "read"))
        server.wait_until("no thread is left", lambda: server.counter("stand_ins_missed") > 0)
        other.ask(b"P\t0\td\tt\t\tid")
        assert other.ask(b"0\t=\t1\t1") == b"0\t1\t1"
        sessions = [row for row in server.sql("SHOW PROCESSLIST") if row[2] == "rowsocket"]
        assert len(sessions) == 4


def test_a_write_that_waits_in_a_trigger_holds_up_no_other_client(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    database = Database(server, "d")
    with_gated_table(database)
    with server.raw("write") as waiting, server.raw("write") as other:
        open_ids(waiting, database, (1, "gated", "id"))
        open_ids(other, database, (1, "t", "id,n"))
        with gate(database):
            waiting.send(b"1\t+\t1\t1\n")
            wait_at_gate(server)
            assert other.ask(b"1\t+\t2\t1\t5") == b"0\t1"
            assert database.sql("SELECT id, n FROM t") == [(1, 5)]
        assert waiting.line() == b"0\t1"
    assert database.sql("SELECT id FROM gated") == [(1,)]


def sleepers(server: RowSocketServer) -> int:
    """How many threads wait in SLEEP()."""
    return sum(state == "User sleep" for *_, state, _, _ in server.sql("SHOW PROCESSLIST"))


SAME_CLIENT, NEW_CLIENTS, BEHIND_SHORT_ONES = (
    "by one client",
    "by new clients",
    "behind short writes of its own",
)


@pytest.mark.parametrize(
    ("table", "way"),
    [
        *(("napping", way) for way in (SAME_CLIENT, NEW_CLIENTS, BEHIND_SHORT_ONES)),
        ("gated", NEW_CLIENTS),
        ("reading", NEW_CLIENTS),
    ],
)
def test_a_write_that_took_long_last_time_keeps_nobody_who_shares_its_turn(
    start: Start, table: str, way: str
) -> None:
    """They come together, so that most rounds are one turn. What came before is committed before it.

    One trigger waits for nobody: it naps. Another one waits for a lock that is no row's, and one for a page
    from the disk before it naps. All take longer than a few commits.
    """
    server = start(RowSocketServer, ONE_WORKER | {"innodb-buffer-pool-size": "12M"})
    database = Database(server, "d")
    with_gated_table(database)
    database.sql("CREATE TABLE napping (id INT PRIMARY KEY)")
    database.sql(
        "CREATE TRIGGER naps BEFORE INSERT ON napping FOR EACH ROW"
        " WHILE IS_USED_LOCK('gate') IS NOT NULL DO DO SLEEP(0.05); END WHILE"
    )
    database.sql("CREATE TABLE reading (id INT PRIMARY KEY)")
    if table == "reading":
        database.sql("CREATE TABLE cold (id INT PRIMARY KEY, pad CHAR(250) CHARACTER SET latin1)")
        database.sql(f"INSERT INTO cold SELECT seq, REPEAT('x', 250) FROM seq_1_to_{COLD_ROWS}")
    database.sql(
        "CREATE TRIGGER looks BEFORE INSERT ON reading FOR EACH ROW BEGIN DECLARE n INT;"
        f" SELECT LENGTH(pad) INTO n FROM cold WHERE id = 1 + NEW.id * 7001 % {COLD_ROWS};"
        " WHILE IS_USED_LOCK('gate') IS NOT NULL DO DO SLEEP(0.05); END WHILE; END"
    )
    database.sql("CREATE TRIGGER late BEFORE INSERT ON gated FOR EACH ROW PRECEDES at_gate DO SLEEP(0.05)")

    def wait_until_it_waits() -> None:
        if table == "gated":
            wait_at_gate(server)
        else:
            server.wait_until("it naps", lambda: sleepers(server) == 1)

    def slow_client() -> RawConnection:
        client = server.raw("write")
        open_ids(client, database, (1, table, "id"), (2, "t", "id"))
        return client

    def slow_lines(number: int) -> bytes:
        short = b"".join(b"2\t+\t1\t%d\n" % (2000 + number * 3 + one) for one in range(3))
        return (short if way == BEHIND_SHORT_ONES else b"") + b"1\t+\t1\t%d\n" % number

    def pages_read() -> int:
        return int(server.status("Innodb_buffer_pool_reads")["Innodb_buffer_pool_reads"])

    pages_before = pages_read()
    with slow_client() as staying, server.raw("write") as other:
        open_ids(other, database, (1, "t", "id,n"))
        with gate(database):
            staying.send(b"1\t+\t1\t1000\n")
            wait_until_it_waits()
            server.wait_until("another thread goes on", lambda: server.counter("hand_overs") > 0)
            assert other.ask(b"1\t+\t1\t1000") == b"0\t1"
        assert staying.line() == b"0\t1"
        for number in range(ROUNDS):
            with contextlib.ExitStack() as clients:
                slow = clients.enter_context(slow_client()) if way == NEW_CLIENTS else staying
                lines = slow_lines(number)
                with gate(database):
                    for client, sent in [(other, b"1\t+\t1\t%d\n" % number), (slow, lines)][
                        :: 1 if number % 3 > 0 else -1
                    ]:
                        client.send(sent)
                    wait_until_it_waits()
                    assert other.line() == b"0\t1"
                assert slow.lines(lines.count(b"\n")) == [b"0\t1"] * lines.count(b"\n")
    assert table != "reading" or pages_read() >= pages_before + ROUNDS // 2


def test_a_write_that_goes_on_is_known_to_take_long_to_every_worker(start: Start) -> None:
    """Behind the first one, all that is in the turn of such a write is committed before it."""
    server = start(RowSocketServer, ROOM_FOR_ALL | {"rowsocket-threads-write": 2})
    database = Database(server, "d")
    with_gated_table(database)
    with contextlib.ExitStack() as clients:

        def client() -> RawConnection:
            opened = clients.enter_context(server.raw("write"))
            open_ids(opened, database, (1, "t", "id,n"), (2, "gated", "id"))
            return opened

        others = [client(), client()]  # one for each worker
        slow = [client() for _ in range(ROUNDS)]
        with gate(database):
            slow[0].send(b"2\t+\t1\t0\n")
            server.wait_until("another thread goes on", lambda: server.counter("hand_overs") > 0)
            looked_at = ticks(server) + LONG_MS
            server.wait_until("it has gone on for a while", lambda: ticks(server) > looked_at)
            for number in range(1, ROUNDS):
                for one, other in enumerate(others):
                    other.send(b"1\t+\t1\t%d\n" % (2 * number + one))
                slow[number].send(b"2\t+\t1\t%d\n" % number)
                assert [other.line() for other in others] == [b"0\t1"] * 2
        assert [one.line() for one in slow] == [b"0\t1"] * ROUNDS


def test_a_write_that_waits_in_a_trigger_is_not_done_when_its_client_goes(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    database = Database(server, "d")
    with_gated_table(database)
    with gate(database):
        with server.raw("write") as waiting, server.raw("write") as other:
            open_ids(waiting, database, (1, "gated", "id"))
            open_ids(other, database, (1, "t", "id,n"))
            waiting.send(b"1\t+\t1\t1\n")
            wait_at_gate(server)
            assert other.ask(b"1\t+\t2\t1\t5") == b"0\t1"
        server.wait_until("both are closed", lambda: server.counter("connections_write") == 0)
        assert server.counter("requests_stopped") == 1
    assert database.sql("SELECT id FROM gated") == []


def test_many_that_sleep_in_a_trigger_are_all_stopped_when_their_clients_go(start: Start) -> None:
    """All sleeps of a server share a mutex, which one that wakes keeps while others are told to wake."""
    server = start(RowSocketServer, ONE_WORKER | {"rowsocket-threads-max": SLEEPERS + 8})
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("CREATE TRIGGER naps BEFORE INSERT ON t FOR EACH ROW DO SLEEP(3600)")
    with contextlib.ExitStack() as clients:
        for number in range(SLEEPERS):
            sleeper = clients.enter_context(server.raw("write"))
            open_ids(sleeper, database, (1, "t", "id"))
            sleeper.send(b"1\t+\t1\t%d\n" % number)
        server.wait_until("all sleep", lambda: sleepers(server) == SLEEPERS)
    server.wait_until("all are stopped", lambda: server.counter("requests_stopped") == SLEEPERS)
    server.wait_until("all are closed", lambda: server.counter("connections_write") == 0)
    assert database.sql("SELECT id FROM t") == []


@contextlib.contextmanager
def held_row(database: Database) -> Iterator[None]:
    """`hot` has one row, which a transaction of SQL has locked."""
    database.sql("CREATE TABLE hot (id INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO hot VALUES (1, 0)")
    with database.session() as session:
        session.execute("BEGIN")
        session.execute("UPDATE hot SET n = 0 WHERE id = 1 OR id = 2")
        session.execute("SELECT * FROM hot WHERE id = 1 FOR UPDATE")
        yield
        session.execute("COMMIT")


def wait_for_full_room(server: RowSocketServer) -> None:
    """Wait until as many requests as may wait on threads of their own are in InnoDB's queue for the row.
    (A thread that is still starting counts among the threads, and has no session yet for KILL to name.)"""
    name = "Innodb_row_lock_current_waits"
    server.wait_until("the waiting room is full", lambda: server.status(name) == {name: str(PLACES)})


def counting_up(server: RowSocketServer, finds: contextlib.ExitStack, count: int) -> list[RawConnection]:
    """Clients that have sent an increment of the row."""
    clients = [finds.enter_context(server.raw("write")) for _ in range(count)]
    for client in clients:
        client.ask(b"P\t0\td\thot\t\tn")
        client.send(b"0\t=\t1\t1\t1\t0\t+\t1\n")
    return clients


def test_writers_of_a_row_that_sql_holds_keep_nobody_else_and_are_all_done(start: Start) -> None:
    server = start(RowSocketServer, ROOM_FOR_ALL)
    database = with_rows(server)
    with contextlib.ExitStack() as clients:
        with held_row(database):
            waiting = counting_up(server, clients, 40)
            wait_for_full_room(server)
            with server.raw("write") as other:
                other.ask(b"P\t0\td\tt\t\tsame")
                for key in range(1, 50):
                    assert other.ask(b"0\t=\t1\t%d\t1\t0\tU\t2" % key) == b"0\t1\t1"
            assert server.counter("threads") <= 2 + PLACES + 2
        assert [client.line() for client in waiting] == [b"0\t1\t1"] * 40
    assert database.sql("SELECT n FROM hot") == [(40,)]


def test_readers_and_writers_of_a_locked_table_keep_nobody_else(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    database = with_rows(server)
    database.sql("CREATE TABLE locked (id INT PRIMARY KEY)")
    with server.raw("write") as waiting, server.raw("write") as other:
        waiting.ask(b"P\t0\td\tlocked\t\tid")
        other.ask(b"P\t0\td\tt\t\tid")
        with database.session() as session:
            session.execute("LOCK TABLES locked WRITE")
            waiting.send(b"0\t+\t1\t5\n")
            server.wait_until("it waits alone", lambda: server.counter("waited_alone") == 1)
            for key in range(1, 50):
                assert other.ask(b"0\t=\t1\t%d" % key) == b"0\t1\t%d" % key
            session.execute("UNLOCK TABLES")
        assert waiting.line() == b"0\t1"
    assert database.sql("SELECT id FROM locked") == [(5,)]


@pytest.mark.parametrize("threads_max", [0, 16])
def test_a_find_ends_when_its_client_goes(start: Start, threads_max: int) -> None:
    server = start(RowSocketServer, ONE_WORKER | {"rowsocket-threads-max": threads_max})
    with_rows(server)
    before = server.counter("requests_stopped")
    with server.raw("read") as client:
        client.ask(OPEN_BY_SAME)
        client.send(ENDLESS + b"\n")
        server.wait_until("it is received", lambda: server.counter("bytes_received") > KEYS)
    server.wait_until("it has ended", lambda: server.counter("requests_stopped") == before + 1)
    server.wait_until("it is closed", lambda: server.counter("connections_read") == 0)


@pytest.mark.parametrize("threads_max", [0, 16])
def test_behind_a_request_whose_client_has_gone_nothing_of_it_is_begun(
    start: Start, threads_max: int
) -> None:
    """The client has ended its side, so it still reads what it is told."""
    server = start(RowSocketServer, ONE_WORKER | {"rowsocket-threads-max": threads_max})
    database = with_rows(server)
    database.sql("CREATE TABLE behind (id INT PRIMARY KEY)")
    with server.raw("write") as client:
        client.ask(OPEN_BY_SAME)
        client.ask(b"P\t1\td\tbehind\t\tid")
        client.send(ENDLESS + b"\n1\t+\t1\t1\n")
        client.socket.shutdown(socket.SHUT_WR)
        assert client.line() == b"2\t1\tgone"
        assert client.closed()
    assert database.sql("SELECT id FROM behind") == []


def test_behind_a_trigger_that_sleeps_and_whose_client_has_gone_nothing_of_it_is_begun(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    database = Database(server, "d")
    with_gated_table(database)
    with gate(database), server.raw("write") as waiting:
        open_ids(waiting, database, (1, "gated", "id"), (2, "t", "id,n"))
        waiting.send(b"1\t+\t1\t1\n2\t+\t2\t1\t5\n")
        wait_at_gate(server)
        waiting.socket.shutdown(socket.SHUT_WR)
        assert waiting.line() == b"2\t1\tgone"
        assert waiting.closed()
    assert database.sql("SELECT id FROM gated UNION SELECT id FROM t") == []


def test_behind_an_opening_whose_client_has_gone_nothing_of_it_is_begun(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    database = with_rows(server)
    database.sql("CREATE TABLE locked (id INT PRIMARY KEY)")
    database.sql("CREATE TABLE behind (id INT PRIMARY KEY)")
    with server.raw("write") as waiting, database.session() as session:
        waiting.ask(b"P\t1\td\tbehind\t\tid")
        session.execute("LOCK TABLES locked WRITE")
        waiting.send(b"P\t2\td\tlocked\t\tid\n1\t+\t1\t1\n")
        server.wait_until("it waits alone", lambda: server.counter("waited_alone") == 1)
        waiting.socket.shutdown(socket.SHUT_WR)
        assert waiting.line() == b"2\t1\tgone"
        assert waiting.closed()
        session.execute("UNLOCK TABLES")
    assert database.sql("SELECT id FROM behind") == []


def test_a_write_that_waits_for_a_row_is_not_done_when_its_client_goes(start: Start) -> None:
    server = start(RowSocketServer, ROOM_FOR_ALL)
    database = with_rows(server)
    with held_row(database):
        with contextlib.ExitStack() as clients:
            counting_up(server, clients, 12)
            wait_for_full_room(server)
        server.wait_until("all are closed", lambda: server.counter("connections_write") == 0)
    assert database.sql("SELECT n FROM hot") == [(0,)]


def test_the_plugin_is_uninstalled_while_requests_wait_and_walk(start: Start) -> None:
    server = start(RowSocketServer, ROOM_FOR_ALL)
    database = with_rows(server)
    with contextlib.ExitStack() as clients, held_row(database):
        counting_up(server, clients, 12)
        wait_for_full_room(server)
        find = clients.enter_context(server.raw("read"))
        find.ask(OPEN_BY_SAME)
        find.send(ENDLESS + b"\n")
        server.wait_until("it is received", lambda: server.counter("bytes_received") > KEYS)
        server.sql("UNINSTALL SONAME 'rowsocket'")
        server.sql("INSTALL SONAME 'rowsocket'")
    assert database.sql("SELECT n FROM hot") == [(0,)]


def test_a_kill_of_every_thread_leaves_a_server_that_serves(start: Start) -> None:
    server = start(RowSocketServer, ROOM_FOR_ALL)
    database = with_rows(server)
    with contextlib.ExitStack() as clients, held_row(database):
        counting_up(server, clients, 12)
        wait_for_full_room(server)
        kill_all(server)
        server.wait_until("all are closed", lambda: server.counter("connections_write") == 0)
    with server.raw("write") as client:
        client.ask(b"P\t0\td\thot\t\tn")
        assert client.ask(b"0\t=\t1\t1\t1\t0\t+\t1") == b"0\t1\t1"
    assert database.sql("SELECT n FROM hot") == [(1,)]


def test_ten_thousand_requests_for_one_row_that_is_held_are_all_done(start: Start) -> None:
    server = start(RowSocketServer, ROOM_FOR_ALL)
    database = with_rows(server)
    with contextlib.ExitStack() as clients:
        with held_row(database):
            wires = [clients.enter_context(server.raw("write")) for _ in range(100)]
            for wire in wires:
                wire.ask(b"P\t0\td\thot\t\tn")
                wire.send(b"0\t=\t1\t1\t1\t0\t+\t1\n" * 100)
            wait_for_full_room(server)
            assert server.counter("threads") <= 2 + PLACES + 2
        for wire in wires:
            assert wire.lines(100) == [b"0\t1\t1"] * 100
    assert database.sql("SELECT n FROM hot") == [(10_000,)]


def test_threads_that_nobody_needs_end(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    database = with_rows(server)
    with contextlib.ExitStack() as clients:
        with held_row(database):
            waiting = counting_up(server, clients, 2)
            server.wait_until("they wait alone", lambda: server.counter("waited_alone") == 2)
        assert [client.line() for client in waiting] == [b"0\t1\t1"] * 2
    server.wait_until("they have ended", lambda: server.counter("threads") == 2)


def test_a_worker_without_stand_ins_serves_as_before(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER | {"rowsocket-threads-max": 0})
    with_rows(server)
    with server.raw("read") as client:
        client.ask(b"P\t0\td\tt\t\tid")
        assert client.ask(b"0\t=\t1\t7") == b"0\t1\t7"
    assert server.counter("hand_overs") == 0


def test_a_thread_that_the_system_refuses_is_counted_as_missed(start: Start) -> None:
    server = start(RowSocketServer, ONE_WORKER)
    with_rows(server)
    server.sql("SELECT 1")  # the threads that SQL needs are there
    assert server.process is not None
    pid = server.process.pid
    status = Path(f"/proc/{pid}/status").read_text()
    address_space_bytes = int(status.split("VmSize:")[1].split()[0]) * 1024
    # No room for the stack of a thread. (A limit on threads does not hold for root.) The limit stands before
    # the find begins: a stand-in starts within milliseconds.
    before = resource.prlimit(pid, resource.RLIMIT_AS, (address_space_bytes + STACK_BYTES // 2, -1))
    with contextlib.ExitStack() as limit:
        limit.callback(resource.prlimit, pid, resource.RLIMIT_AS, before)
        with endless_find(server, "read"):
            server.wait_until("it is counted", lambda: server.counter("stand_ins_missed") > 0)
            limit.close()
            server.wait_until("a thread takes over", lambda: server.counter("hand_overs") > 0)


def test_a_group_whose_client_has_gone_ends_before_its_next_member(start: Start) -> None:
    """Each member reads one row, which takes long enough for a question of its own."""
    server = start(RowSocketServer, ONE_WORKER)
    database = Database(server, "d")
    database.sql(
        "CREATE TABLE slow (id INT PRIMARY KEY, n INT,"
        " digest CHAR(128) AS (SHA2(REPEAT(CONCAT(n, 'x'), 4000000), 512)) VIRTUAL)"
    )
    database.sql(f"INSERT INTO slow (id, n) SELECT seq, 1 FROM seq_1_to_{GROUP_MEMBERS}")
    finds = b"".join(b"0\t=\t1\t%d\n" % key for key in range(1, GROUP_MEMBERS + 1))
    with server.raw("write") as client:
        open_ids(client, database, (0, "slow", "digest"))
        client.send(b"G\n" + finds + b"E\n")
        server.wait_until("the group goes on beside the loop", lambda: server.counter("hand_overs") > 0)
    server.wait_until("its turn is over", lambda: server.counter("rows_read") > 0)
    assert server.counter("rows_read") < ROWS_PER_QUESTION - 1
