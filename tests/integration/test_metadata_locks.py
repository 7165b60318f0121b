# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket is never in the way of DDL, FLUSH TABLES WITH READ LOCK, BACKUP STAGE or LOCK TABLES, and
survives all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import ExitStack

import pytest

import rowsocket
from support.flood import Flood
from support.gate import gate, open_ids, wait_at_gate, with_gated_table
from support.load import Load, Operation
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

CLIENTS = 50
ROWS = 200
ALTERS = 20
LOCK_WAIT_S_MAX = 60  # far longer than anybody waits, so that it is a failure


@pytest.fixture
def hot(database: Database) -> Database:
    """A database with the table `hot`, that clients read."""
    database.sql("CREATE TABLE hot (k INT PRIMARY KEY, v VARCHAR(20) NOT NULL) ENGINE=InnoDB")
    database.sql("INSERT INTO hot VALUES " + ", ".join(f"({k}, 'value {k}')" for k in range(ROWS)))
    return database


def readers(server: RowSocketServer, database: Database, count: int = CLIENTS) -> Load:
    """Clients that read rows of `hot`, each with its own checks."""
    address = server.read_address()

    def make(number: int, stack: ExitStack) -> Operation:
        connection = stack.enter_context(RawConnection(address))
        assert connection.ask(f"P\t1\t{database.name}\thot\t\tk,v".encode()) == b"0\t1"
        keys = [(number * 7 + i) % ROWS for i in range(4)]

        def read() -> None:
            replies = connection.ask_all(*[b"1\t=\t1\t%d" % k for k in keys])
            assert replies == [b"0\t2\t%d\tvalue %d" % (k, k) for k in keys]

        return read

    return Load(count, make)


def writers(server: RowSocketServer, database: Database, count: int = 8) -> Load:
    """Clients that each increment their own row of `hot_counts`."""
    database.sql("CREATE TABLE hot_counts (k INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
    rows = ", ".join(f"({k}, 0)" for k in range(count))
    database.sql(f"INSERT INTO hot_counts VALUES {rows}")
    address = server.write_address()

    def make(number: int, stack: ExitStack) -> Operation:
        connection = stack.enter_context(RawConnection(address))
        assert connection.ask(f"P\t1\t{database.name}\thot_counts\t\tn".encode()) == b"0\t1"

        def increment() -> None:
            assert connection.ask(b"1\t=\t1\t%d\t1\t0\t+\t1" % number) == b"0\t1\t1"

        return increment

    return Load(count, make)


def floods(server: RowSocketServer, database: Database, port: str, stack: ExitStack) -> list[Flood]:
    """For each worker of the port a connection that always has more to ask of it."""
    workers = f"SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'rowsocket: {port}%%'"
    connections = [stack.enter_context(server.raw(port)) for _ in range(int(server.value(workers)))]
    for connection in connections:
        assert connection.ask(f"P\t1\t{database.name}\thot\t\tv".encode()) == b"0\t1"
    return [
        stack.enter_context(Flood(connection, b"1\t=\t1\t7", b"0\t1\tvalue 7")) for connection in connections
    ]


@pytest.mark.parametrize("port", ["read", "write"])
def test_workers_that_are_never_idle_give_a_table_back_to_who_wants_to_alter_it(
    server: RowSocketServer, hot: Database, port: str
) -> None:
    """How long that takes is told by `./x soak ddl`; here it is that nobody has to wait for an idle
    moment."""
    hot.sql(f"SET SESSION lock_wait_timeout = {LOCK_WAIT_S_MAX}")
    with ExitStack() as stack:
        served = floods(server, hot, port, stack)
        for number in range(ALTERS):
            for flood in served:
                flood.wait_for_more()
            releases_before = server.counter("metadata_lock_releases")
            hot.sql(f"ALTER TABLE hot ADD COLUMN c{number} INT NOT NULL DEFAULT {number}, ALGORITHM=INSTANT")
            assert server.counter("metadata_lock_releases") - releases_before >= len(served)
    with rowsocket.connect(*server.read_address(), text=True) as client:
        index = client.open_index(hot.name, "hot", ["k", "v", "c1", f"c{ALTERS - 1}"])
        assert index.get(3) == ("3", "value 3", "1", str(ALTERS - 1))


def test_idle_clients_hold_no_lock(server: RowSocketServer, hot: Database) -> None:
    with contextlib.suppress(Exception):
        server.sql("INSTALL SONAME 'metadata_lock_info'")
    query = f"SELECT COUNT(*) FROM information_schema.metadata_lock_info WHERE table_schema = '{hot.name}'"
    with (
        rowsocket.connect(*server.read_address(), text=True) as reader,
        rowsocket.connect(*server.write_address(), text=True) as writer,
    ):
        assert reader.open_index(hot.name, "hot", "v").get(1) == ("value 1",)
        assert writer.open_index(hot.name, "hot", "v").update(1, values=["one"]) == 1
        server.wait_until("clients that fell idle hold no lock", lambda: server.value(query) == 0)
        hot.sql("SET SESSION lock_wait_timeout = 1")
        hot.sql("ALTER TABLE hot ADD COLUMN w INT")
        assert reader.open_index(hot.name, "hot", "v").get(1) == ("one",)


def test_flush_tables_with_read_lock_passes_and_writers_go_on_after_it(
    server: RowSocketServer, hot: Database
) -> None:
    with writers(server, hot) as load, readers(server, hot, 8) as reads:
        hot.sql("SET SESSION lock_wait_timeout = 60")
        hot.sql("FLUSH TABLES WITH READ LOCK")
        total = hot.value("SELECT SUM(n) FROM hot_counts")
        reads.wait_for_more()
        assert hot.value("SELECT SUM(n) FROM hot_counts") == total
        hot.sql("UNLOCK TABLES")
        load.wait_for_more()
    assert hot.value("SELECT SUM(n) FROM hot_counts") == load.operations()


def test_backup_stages_pass_and_writers_go_on_after_them(server: RowSocketServer, hot: Database) -> None:
    with writers(server, hot) as load:
        hot.sql("SET SESSION lock_wait_timeout = 60")
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            hot.sql(f"BACKUP STAGE {stage}")
        total = hot.value("SELECT SUM(n) FROM hot_counts")
        with readers(server, hot, 4) as reads:
            reads.wait_for_more()
        assert hot.value("SELECT SUM(n) FROM hot_counts") == total
        hot.sql("BACKUP STAGE END")
        load.wait_for_more()
    assert hot.value("SELECT SUM(n) FROM hot_counts") == load.operations()


def test_a_backup_holds_up_writes_without_transactions_from_its_flush_on_and_no_others(
    server: RowSocketServer, hot: Database, raw: Callable[[str], RawConnection]
) -> None:
    """A worker that is never idle keeps the table open, so that no opening of it meets the backup's lock."""
    hot.sql("CREATE TABLE plain (k INT PRIMARY KEY, n INT NOT NULL) ENGINE=MyISAM")
    hot.sql("INSERT INTO plain VALUES (0, 0)")
    connection = raw("write")
    assert connection.ask(f"P\t1\t{hot.name}\tplain\t\tn".encode()) == b"0\t1"
    with writers(server, hot) as others, Flood(connection, b"1\t=\t1\t0\t1\t0\t+\t1", b"0\t1\t1") as flood:
        flood.wait_for_more()
        hot.sql("SET SESSION lock_wait_timeout = 60")
        for stage in ("START", "FLUSH"):
            hot.sql(f"BACKUP STAGE {stage}")
        total = hot.value("SELECT n FROM plain")
        for _ in range(5):
            others.wait_for_more()
        assert hot.value("SELECT n FROM plain") == total
        hot.sql("BACKUP STAGE END")
        flood.wait_for_more()
    assert hot.value("SELECT n FROM plain") == flood.replies


def test_lock_tables_write_is_granted_and_keeps_everybody_out(server: RowSocketServer, hot: Database) -> None:
    with writers(server, hot) as load, readers(server, hot, 8) as reads:
        hot.sql("SET SESSION lock_wait_timeout = 60")
        hot.sql("LOCK TABLES hot_counts WRITE")
        total = hot.value("SELECT SUM(n) FROM hot_counts")
        reads.wait_for_more()  # another table: not their concern
        assert hot.value("SELECT SUM(n) FROM hot_counts") == total
        hot.sql("UNLOCK TABLES")
        load.wait_for_more()
    assert hot.value("SELECT SUM(n) FROM hot_counts") == load.operations()


def test_lock_tables_read_lets_readers_read(server: RowSocketServer, hot: Database) -> None:
    with readers(server, hot, 8) as reads:
        hot.sql("SET SESSION lock_wait_timeout = 60")
        hot.sql("LOCK TABLES hot READ")
        reads.wait_for_more()
        hot.sql("UNLOCK TABLES")


def test_dropped_table_is_a_clear_error_and_others_go_on(server: RowSocketServer, hot: Database) -> None:
    with readers(server, hot, 8) as others, server.raw("read") as connection:
        hot.sql("CREATE TABLE gone (k INT PRIMARY KEY)")
        assert connection.ask(f"P\t1\t{hot.name}\tgone\t\tk".encode()) == b"0\t1"
        hot.sql("DROP TABLE gone")
        assert connection.ask(b"1\t=\t1\t1") == b"1\t1\topen_table"
        assert connection.ask(f"P\t2\t{hot.name}\thot\t\tv".encode()) == b"0\t1"
        assert connection.ask(b"2\t=\t1\t1") == b"0\t1\tvalue 1"
        others.wait_for_more()


def test_recreated_table_with_the_same_columns_is_read_on(server: RowSocketServer, hot: Database) -> None:
    with server.raw("read") as connection:
        assert connection.ask(f"P\t1\t{hot.name}\thot\t\tv,k".encode()) == b"0\t1"
        assert connection.ask(b"1\t=\t1\t1") == b"0\t2\tvalue 1\t1"
        hot.sql("DROP TABLE hot")
        hot.sql("CREATE TABLE hot (extra INT, v TEXT, k BIGINT PRIMARY KEY)")
        hot.sql("INSERT INTO hot VALUES (0, 'new', 1)")
        assert connection.ask(b"1\t=\t1\t1") == b"0\t2\tnew\t1"


def test_table_altered_so_that_an_index_no_longer_fits_is_an_error_for_that_index_alone(
    server: RowSocketServer, hot: Database
) -> None:
    with server.raw("read") as connection:
        hot.sql("ALTER TABLE hot ADD KEY by_v (v)")
        assert connection.ask(f"P\t1\t{hot.name}\thot\tby_v\tk".encode()) == b"0\t1"
        assert connection.ask(f"P\t2\t{hot.name}\thot\t\tk,v".encode()) == b"0\t1"
        assert connection.ask(f"P\t3\t{hot.name}\thot\t\tk".encode()) == b"0\t1"
        assert connection.ask(b"1\t=\t1\tvalue 7") == b"0\t1\t7"
        hot.sql("ALTER TABLE hot DROP KEY by_v")
        assert connection.ask(b"1\t=\t1\tvalue 7").startswith((b"1\t1\t", b"2\t1\t"))
        assert connection.ask(b"2\t=\t1\t7") == b"0\t2\t7\tvalue 7"
        hot.sql("ALTER TABLE hot DROP COLUMN v")
        assert connection.ask(b"2\t=\t1\t7").startswith((b"1\t1\t", b"2\t1\t"))
        assert connection.ask(b"3\t=\t1\t7") == b"0\t1\t7"


def test_column_moved_by_alter_is_found_by_its_name(server: RowSocketServer, hot: Database) -> None:
    with server.raw("write") as connection:
        assert connection.ask(f"P\t1\t{hot.name}\thot\t\tv".encode()) == b"0\t1"
        hot.sql("ALTER TABLE hot ADD COLUMN first_now INT NOT NULL DEFAULT 5 FIRST")
        assert connection.ask(b"1\t=\t1\t7") == b"0\t1\tvalue 7"
        assert connection.ask(b"1\t=\t1\t7\t1\t0\tU\tseven") == b"0\t1\t1"
        assert hot.sql("SELECT * FROM hot WHERE k = 7") == [(5, 7, "seven")]


def test_renamed_table_is_gone_under_its_old_name_and_there_under_the_new(
    server: RowSocketServer, hot: Database
) -> None:
    with server.raw("read") as connection:
        assert connection.ask(f"P\t1\t{hot.name}\thot\t\tv".encode()) == b"0\t1"
        assert connection.ask(b"1\t=\t1\t7") == b"0\t1\tvalue 7"
        hot.sql("RENAME TABLE hot TO moved")
        assert connection.ask(b"1\t=\t1\t7") == b"1\t1\topen_table"
        assert connection.ask(f"P\t1\t{hot.name}\tmoved\t\tv".encode()) == b"0\t1"
        assert connection.ask(b"1\t=\t1\t7") == b"0\t1\tvalue 7"


def test_truncated_table_is_empty(server: RowSocketServer, hot: Database) -> None:
    with server.raw("write") as connection:
        assert connection.ask(f"P\t1\t{hot.name}\thot\t\tk,v".encode()) == b"0\t1"
        assert connection.ask(b"1\t=\t1\t7") == b"0\t2\t7\tvalue 7"
        hot.sql("TRUNCATE TABLE hot")
        assert connection.ask(b"1\t>=\t1\t0") == b"0\t2"
        assert connection.ask(b"1\t+\t2\t7\tagain") == b"0\t1"
        assert connection.ask(b"1\t=\t1\t7") == b"0\t2\t7\tagain"


def test_a_storm_of_ddl_beside_reads_gives_right_rows_or_clear_errors(
    server: RowSocketServer, hot: Database
) -> None:
    """Every statement that gives the table another shape, over and over, while clients read: never a wrong
    row."""
    address = server.read_address()
    wrong: list[bytes] = []

    def make(number: int, stack: ExitStack) -> Operation:
        connection = stack.enter_context(RawConnection(address))
        assert connection.ask(f"P\t1\t{hot.name}\thot\t\tk,v".encode()) == b"0\t1"
        right = {b"0\t2\t%d\tvalue %d" % (number, number), b"0\t2", b"1\t1\topen_table"}

        def read() -> None:
            wrong.extend(set(connection.ask_all(*[b"1\t=\t1\t%d" % number] * 4)) - right)

        return read

    fill = f"INSERT INTO hot (k, v) SELECT seq, CONCAT('value ', seq) FROM seq_0_to_{ROWS - 1}"
    with Load(8, make) as load:
        for _ in range(8):
            hot.sql("ALTER TABLE hot ADD COLUMN w INT NOT NULL DEFAULT 3 FIRST")
            hot.sql("ALTER TABLE hot ADD KEY by_v (v), ALGORITHM=COPY")
            hot.sql("OPTIMIZE TABLE hot")
            hot.sql("TRUNCATE TABLE hot")
            hot.sql(fill)
            hot.sql("RENAME TABLE hot TO away")
            hot.sql("RENAME TABLE away TO hot")
            hot.sql("DROP TABLE hot")
            hot.sql("CREATE TABLE hot (v VARCHAR(30) NOT NULL, k INT PRIMARY KEY) ENGINE=InnoDB")
            hot.sql(fill)
        load.wait_for_more()
    assert wrong == []


@pytest.mark.parametrize("asked", [b"3\t=\t1\t1", b"3\t+\t1\t2"], ids=["find", "insert"])
def test_a_table_that_is_refused_is_free_for_ddl_before_the_turn_ends(start: Start, asked: bytes) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0})
    database = Database(server, "app")
    with_gated_table(database)
    database.sql("CREATE TABLE refused (id INT PRIMARY KEY)")
    with server.raw("write") as client, database.session() as other:
        open_ids(client, database, (1, "gated", "id"), (2, "t", "id"), (3, "refused", "id"))
        other.execute("ALTER TABLE refused DROP PRIMARY KEY, ENGINE=CSV, MODIFY id INT NOT NULL")
        with gate(database):
            client.send(b"2\t+\t1\t1\n" + asked + b"\n1\t+\t1\t1\n")
            wait_at_gate(server)
            other.execute("SET STATEMENT lock_wait_timeout = 1 FOR DROP TABLE refused")
        assert [line[:3] for line in client.lines(3)] == [b"0\t1", b"1\t1", b"0\t1"]
