# SPDX-License-Identifier: GPL-2.0-only
"""The tables of information_schema come and go with the plugin, whoever reads them."""

from __future__ import annotations

import contextlib
import socket
import threading

import pymysql
import pytest

from support.load import Load, Operation
from support.mariadb import RowSocketServer, Start
from support.plugin import EmptyServer, make_table, opened
from support.ports import free_ports
from support.raw import ConnectionClosed, RawConnection
from support.schema_tables import rows, seen, session_of

TABLES = ("CONNECTIONS", "LATENCY", "PERCENTILES", "TABLES")
NO_SUCH_TABLE = (1109, 1146)
"""The server's numbers."""


def installed(server: RowSocketServer) -> list[str]:
    """The tables that are loaded, and those that a restart would load."""
    query = (
        "SELECT plugin_name FROM information_schema.plugins WHERE plugin_name LIKE 'ROWSOCKET\\_%%'"
        " AND plugin_status = 'ACTIVE' UNION ALL"
        " SELECT name FROM mysql.plugin WHERE name LIKE 'ROWSOCKET\\_%%' ORDER BY 1"
    )
    return [str(name) for (name,) in server.sql(query, ())]


def test_the_tables_are_installed_and_removed_with_the_library(start: Start) -> None:
    server = start(EmptyServer)
    server.sql("INSTALL SONAME 'rowsocket'")
    assert installed(server) == sorted(f"ROWSOCKET_{table}" for table in TABLES * 2)
    for table in TABLES:
        assert seen(server, table) == []
    server.sql("UNINSTALL SONAME 'rowsocket'")
    assert installed(server) == []
    for table in TABLES:
        with pytest.raises(pymysql.err.MySQLError, match="Unknown table"):
            seen(server, table)


def test_where_the_plugin_does_not_start_no_table_is_left(start: Start) -> None:
    (port,) = free_ports(1)
    with socket.create_server(("127.0.0.1", port)):
        server = start(RowSocketServer, {"loose-rowsocket-port-read": port})
        assert installed(server) == []
        with pytest.raises(pymysql.err.MySQLError, match="in use"):
            server.sql("INSTALL SONAME 'rowsocket'")
        assert installed(server) == []
    server.sql("INSTALL SONAME 'rowsocket'")
    assert installed(server) == sorted(f"ROWSOCKET_{table}" for table in TABLES * 2)


def test_the_tables_are_empty_while_the_plugin_alone_is_gone(start: Start) -> None:
    server = start(RowSocketServer)
    make_table(server)
    with server.raw("read") as client:
        opened(client).ask(b"1\t=\t1\t1")
        server.sql("UNINSTALL PLUGIN rowsocket")
        for table in TABLES:
            assert seen(server, table) == []
        server.sql("FLUSH ROWSOCKET_TABLES")
    server.sql("INSTALL PLUGIN rowsocket SONAME 'rowsocket'")
    with server.raw("read") as client:
        opened(client).ask(b"1\t=\t1\t1")
        [row] = seen(server, "TABLES")
        assert row["FINDS"] == 1
        assert len(seen(server, "CONNECTIONS")) == 1


def test_readers_survive_that_the_plugin_goes_and_comes_under_load(start: Start) -> None:
    server = start(EmptyServer)
    make_table(server)
    server.sql("INSTALL SONAME 'rowsocket'")
    addresses = [server.read_address()]
    read = threading.Event()

    def make_client(stack: contextlib.ExitStack) -> Operation:
        def use() -> None:
            with (
                contextlib.suppress(OSError, ConnectionClosed),
                RawConnection(addresses[-1]) as one,
            ):
                opened(one)
                one.ask_all(*[b"1\t=\t1\t1"] * 50)

        return use

    def make_reader(stack: contextlib.ExitStack) -> Operation:
        session = stack.enter_context(session_of(server, "root"))

        def look() -> None:
            for table in TABLES:
                try:
                    rows(session, table)
                    read.set()
                except pymysql.err.MySQLError as error:
                    assert error.args[0] in NO_SUCH_TABLE, error

        return look

    def make(number: int, stack: contextlib.ExitStack) -> Operation:
        return make_client(stack) if number % 2 == 0 else make_reader(stack)

    with Load(8, make) as load:
        for _ in range(8):
            load.wait_for_more()
            read.clear()
            assert read.wait(120), "nobody reads"
            server.sql("UNINSTALL SONAME 'rowsocket'")
            server.sql("INSTALL SONAME 'rowsocket'")
            addresses.append(server.read_address())
    server.sql("INSTALL SONAME 'rowsocket'") if len(installed(server)) < 2 * len(TABLES) else None
    assert installed(server) == sorted(f"ROWSOCKET_{table}" for table in TABLES * 2)


def test_readers_do_not_keep_the_server_from_shutting_down(start: Start) -> None:
    server = start(RowSocketServer)
    make_table(server)
    stop = threading.Event()
    read = threading.Event()

    def look() -> None:
        with contextlib.suppress(pymysql.err.MySQLError, OSError), session_of(server, "root") as session:
            while not stop.is_set():
                for table in TABLES:
                    rows(session, table)
                read.set()

    readers = [threading.Thread(target=look) for _ in range(4)]
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.raw("read")) for _ in range(200)]
        for client in clients:
            opened(client)
        for reader in readers:
            reader.start()
        try:
            assert read.wait(120)
            server.stop()  # fails if it dies or hangs
        finally:
            stop.set()
            for reader in readers:
                reader.join()
    assert "[ERROR]" not in server.log_text()
