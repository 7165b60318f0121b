# SPDX-License-Identifier: GPL-2.0-only
"""Memory that the server is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import rowsocket
from support.binlog import TWO_PHASES, assert_binlog_equals_tables
from support.mariadb import RowSocketServer, Start
from support.plugin import EmptyServer
from support.raw import ConnectionClosed, RawConnection

BYTES = 60_000
TABLES = ("plain", "other", "triggers", "history", "parent")
OPENS = b"".join(b"P\t%d\td\t%s\t\tid,n\n" % (id, table.encode()) for id, table in enumerate(TABLES))
REQUESTS = (
    (OPENS, len(TABLES)),
    (b"".join(b"%d\t+\t2\t\0\t1\n" % id for id in range(len(TABLES))), len(TABLES)),
    (b"G\tgtid\n0\t+\t2\t\0\t2\n1\t+\t2\t\0\t2\n2\t+\t2\t\0\t2\nE\n", 5),
    (b"2\t++\t2\t2\t\0\t3\t\0\t3\tE\n", 1),
    (b"0\t>=\t1\t0\t9\t0\t+\t0\t1\n", 1),
    (b"0\t=\t1\t\t9\t0\t@\t0\t3\t1\t2\t3\n", 1),
    (b"3\t=\t1\t1\t1\t0\tU\t\0\t7\n", 1),
    (b"4\t<\t1\t3\t1\t0\tD\n", 1),
)
"""Each with the lines of its reply."""
READS = (
    (OPENS, len(TABLES)),
    (b"".join(b"%d\t>=\t1\t0\t9\t0\n" % id for id in range(len(TABLES))), len(TABLES)),
    (b"G\n0\t=\t1\t1\n1\t=\t1\t1\n2\t=\t1\t1\nE\n", 5),
    (b"0\t=\t1\t\t9\t0\t@\t0\t3\t1\t2\t3\tC\tn\n", 1),
    (b"P\t9\td\tplain\tn\tid\tn\n9\t>\t1\t0\t9\t0\tF\t>\t0\t1\n", 2),
)


@pytest.mark.parametrize("type", ["LONGBLOB", "MEDIUMTEXT"])
def test_a_value_that_finds_no_memory_fails_alone(start: Start, fault: Path, type: str) -> None:
    """The server's column remembers the size of memory that it did not get, and trusts in it for the next
    value."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE d")
    server.sql(f"CREATE TABLE d.t (id INT PRIMARY KEY, v {type})")
    with rowsocket.connect(*server.write_address(), text=True) as client:
        rows = client.open_index("d", "t", "id,v")
        rows.insert((1, "a" * (BYTES // 3)))
        fault.write_text(f"allocation {BYTES}")
        with pytest.raises(rowsocket.EngineError):
            rows.insert((2, "b" * BYTES))
        fault.unlink()
        rows.insert((3, "c" * (BYTES // 3)))
    assert server.sql("SELECT id, LENGTH(v) FROM d.t ORDER BY id") == [(1, BYTES // 3), (3, BYTES // 3)]


def ask_all(server: RowSocketServer, port: str) -> None:
    """What is asked may fail, or cost a connection."""
    client: RawConnection | None = None
    for request, lines in REQUESTS if port == "write" else READS:
        with contextlib.suppress(ConnectionClosed, OSError):
            if client is None:
                client = server.raw(port)
                client.send(request if request == OPENS else OPENS + request)
                client.lines(lines if request == OPENS else len(TABLES) + lines)
            else:
                client.send(request)
                client.lines(lines)
            continue
        client = None
    if client is not None:
        client.close()


@pytest.mark.parametrize("port", ["write", "read"])
def test_whichever_allocation_is_refused_what_is_acknowledged_is_in_the_binlog_and_nothing_stays_locked(
    start: Start, fault: Path, port: str
) -> None:
    """Each allocation of the port's thread is refused once, in a plugin that has just been loaded."""
    server = start(
        EmptyServer,
        {
            "loose-rowsocket-threads-write": 1,
            "loose-rowsocket-threads-read": 1,
            "loose-rowsocket-threads-max": 2,
            "log-bin": "log",
            "server-id": 1,
            **TWO_PHASES,
        },
    )
    server.sql("CREATE DATABASE d")
    for table in TABLES:
        server.sql(f"CREATE TABLE d.{table} (id INT PRIMARY KEY AUTO_INCREMENT, n INT, KEY (n))")
    server.sql("CREATE TABLE d.written (id INT PRIMARY KEY AUTO_INCREMENT, n INT)")
    server.sql("ALTER TABLE d.history ADD SYSTEM VERSIONING")
    server.sql("CREATE TABLE d.child (p INT, FOREIGN KEY (p) REFERENCES d.parent (id) ON DELETE CASCADE)")
    server.sql(
        "CREATE TRIGGER d.writes AFTER INSERT ON d.triggers"
        " FOR EACH ROW INSERT INTO d.written (n) VALUES (NEW.id)"
    )
    refused = 0
    is_refused = True
    while is_refused:
        server.sql("INSTALL SONAME 'rowsocket'")
        with server.raw(port) as client:
            assert client.ask(b"nothing") == b"2\t1\tcmd", "the thread has begun"
        fault.write_text(f"new {port[0]} {refused + 1}")
        ask_all(server, port)
        is_refused = not fault.exists()
        fault.unlink(missing_ok=True)
        with server.raw("read") as client:
            assert client.ask_all(*OPENS.split(b"\n")[:-1]) == [b"0\t1"] * len(TABLES), refused
            for id in range(len(TABLES)):
                assert client.ask(b"%d\t>=\t1\t0" % id).startswith(b"0\t"), refused
        with server.raw("write") as client:
            assert client.ask_all(*OPENS.split(b"\n")[:-1]) == [b"0\t1"] * len(TABLES), refused
            for id in range(len(TABLES)):
                assert client.ask(b"%d\t+\t2\t\0\t5" % id).startswith(b"0\t"), refused
        for table in (*TABLES, "written"):
            server.sql(f"SET STATEMENT lock_wait_timeout = 20 FOR ALTER TABLE d.{table} COMMENT '{refused}'")
        assert server.counter("broken_invariants") == 0, refused
        server.sql("UNINSTALL SONAME 'rowsocket'")
        refused += 1
    assert refused > 50
    assert server.sql("SELECT COUNT(*) FROM d.triggers") == server.sql("SELECT COUNT(*) FROM d.written")
    assert_binlog_equals_tables(server)
