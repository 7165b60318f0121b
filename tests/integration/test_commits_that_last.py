# SPDX-License-Identifier: GPL-2.0-only
"""A commit costs those who wait for it: the worker's other clients go on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

ONE_WORKER = {"rowsocket-threads-read": 1, "rowsocket-threads-write": 1, "rowsocket-threads-max": 16}
OPEN = b"P\t1\td\tt\tPRIMARY\tid,n"
FIND = b"1\t=\t1\t0"
FOUND = b"0\t2\t0\t0"
CLIENTS = 20
COMMITS_MAX = 4
"""Of a worker, beside its loop."""


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    server = start(RowSocketServer, ONE_WORKER)
    Database(server, "d").sql("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    server.sql("INSERT INTO d.t VALUES (0, 0)")
    return server


@contextlib.contextmanager
def commits_wait(server: RowSocketServer) -> Iterator[None]:
    """As at the end of a backup."""
    with server.connect() as session, session.cursor() as backup:
        try:
            for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
                backup.execute(f"BACKUP STAGE {stage}")
            yield
        finally:
            backup.execute("BACKUP STAGE END")


@contextlib.contextmanager
def replicas_are_gone(server: RowSocketServer) -> Iterator[None]:
    """Commits wait for one."""
    try:
        server.sql("SET GLOBAL rpl_semi_sync_master_timeout = 3600000, rpl_semi_sync_master_enabled = 1")
        yield
    finally:
        server.sql("SET GLOBAL rpl_semi_sync_master_enabled = 0")


def opened(server: RowSocketServer) -> RawConnection:
    wire = server.raw("write")
    assert wire.ask(OPEN) == b"0\t1"
    return wire


def insert(number: int) -> bytes:
    return b"1\t+\t2\t%d\t%d\n" % (number, number)


def waiting_commits(server: RowSocketServer) -> int:
    """For a backup or for a replica."""
    return int(
        server.value(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE host = 'rowsocket' AND"
            " (state LIKE '%%backup lock%%' OR state LIKE '%%semi-sync ACK%%')"
        )
    )


def wait_for_commits(server: RowSocketServer, count: int) -> None:
    server.wait_until(f"{count} commits wait", lambda: waiting_commits(server) == count)


def test_readers_of_the_write_port_go_on_while_a_commit_waits(server: RowSocketServer) -> None:
    with opened(server) as writer, opened(server) as reader:
        with commits_wait(server):
            writer.send(insert(1))
            wait_for_commits(server, 1)
            for _ in range(CLIENTS):
                assert reader.ask(FIND) == FOUND
            assert server.value("SELECT COUNT(*) FROM d.t") == 1
        assert writer.line() == b"0\t1"


def test_writes_behind_commits_that_wait_take_few_threads(server: RowSocketServer) -> None:
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(opened(server)) for _ in range(CLIENTS)]
        reader = stack.enter_context(opened(server))
        with commits_wait(server):
            for number, writer in enumerate(writers, 1):
                writer.send(insert(number))
                count = min(number, COMMITS_MAX)
                wait_for_commits(server, count)
                assert reader.ask(FIND) == FOUND
        for writer in writers:
            assert writer.line() == b"0\t1"
    assert server.value("SELECT COUNT(*) FROM d.t") == 1 + CLIENTS


def test_writes_that_came_behind_a_commit_that_waits_share_the_next_one(server: RowSocketServer) -> None:
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(opened(server)) for _ in range(CLIENTS)]
        with commits_wait(server):
            writers[0].send(insert(1))
            wait_for_commits(server, 1)
            before = server.counter("commits")
            for number, writer in enumerate(writers[1:], 2):
                writer.send(insert(number))
        for writer in writers:
            assert writer.line() == b"0\t1"
        assert server.counter("commits") - before <= COMMITS_MAX


def test_a_client_reads_behind_its_own_write_only_once_that_is_committed(server: RowSocketServer) -> None:
    with opened(server) as writer, opened(server) as reader:
        with commits_wait(server):
            writer.send(insert(1) + b"1\t=\t1\t1\n")
            wait_for_commits(server, 1)
            assert reader.ask(b"1\t=\t1\t1") == b"0\t2", "it is not committed"
        assert [writer.line(), writer.line()] == [b"0\t1", b"0\t2\t1\t1"]


def test_a_client_that_goes_while_its_commit_waits_has_written(server: RowSocketServer) -> None:
    with opened(server) as reader:
        with commits_wait(server):
            with opened(server) as writer:
                writer.send(insert(1))
                wait_for_commits(server, 1)
            assert reader.ask(FIND) == FOUND
        server.wait_until("it is committed", lambda: server.value("SELECT COUNT(*) FROM d.t") == 2)


@pytest.mark.parametrize("port", ["write", "socket"])
def test_a_client_that_goes_while_its_write_waits_for_another_commit_has_written(
    server: RowSocketServer, port: str
) -> None:
    path = str(server.folder / "write")
    server.restart({"loose-rowsocket-socket-write": path})
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(opened(server)) for _ in range(COMMITS_MAX)]
        with commits_wait(server):
            for number, writer in enumerate(writers, 1):
                writer.send(insert(number))
                wait_for_commits(server, number)
            with RawConnection(path) if port == "socket" else server.raw("write") as goes:
                assert goes.ask(OPEN) == b"0\t1"
                goes.send(insert(9))
                server.wait_until(
                    "it waits for a commit",
                    lambda: (
                        server.value(
                            "SELECT COUNT(*) FROM information_schema.rowsocket_connections WHERE"
                            " state = 'waiting'"
                        )
                        == 1
                    ),
                )
        server.wait_until("it is written", lambda: server.value("SELECT COUNT(*) FROM d.t WHERE id = 9") == 1)


def test_a_commit_that_waits_keeps_no_table_that_was_only_read(start: Start) -> None:
    """Be it read before the write or behind it."""
    server = start(RowSocketServer, {**ONE_WORKER, "log-bin": "log", "server-id": 1})
    database = Database(server, "d")
    tables = ["read_before", "read_behind"]
    for table in ["t", *tables]:
        database.sql(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT)")
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(opened(server)) for _ in range(3)]
        opens = [
            f"P\t{number}\td\t{table}\tPRIMARY\tid,n\n".encode() for number, table in enumerate(tables, 2)
        ]
        with replicas_are_gone(server):
            for number in (1, 2):  # they tell that commits last
                writers[number - 1].send(insert(number))
                wait_for_commits(server, number)
            # Opened only now: the first commit does not know yet that it will last, and keeps what is open.
            writers[2].send(b"".join(opens) + b"2\t=\t1\t1\n" + insert(3) + b"3\t=\t1\t1\n")
            wait_for_commits(server, 3)
            with server.connect() as session, session.cursor() as other:
                other.execute("SET lock_wait_timeout = 1")
                for table in tables:
                    other.execute(f"LOCK TABLES d.{table} WRITE")
        replies = [writers[2].line() for _ in range(5)]
    assert replies == [b"0\t1", b"0\t1", b"0\t2", b"0\t1", b"0\t2"]


@pytest.mark.parametrize("ending", ["shutdown", "UNINSTALL"])
def test_the_plugin_ends_while_commits_wait_beside_the_loop(server: RowSocketServer, ending: str) -> None:
    """No commit is cut off: the end waits for them."""
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(opened(server)) for _ in range(2)]
        reader = stack.enter_context(opened(server))
        with commits_wait(server):
            for number, writer in enumerate(writers, 1):
                writer.send(insert(number))
                wait_for_commits(server, number)
                assert reader.ask(FIND) == FOUND
        if ending == "UNINSTALL":
            server.sql("UNINSTALL SONAME 'rowsocket'")
        else:
            server.stop()
            server.start()
    assert server.value("SELECT COUNT(*) FROM d.t") == 3
