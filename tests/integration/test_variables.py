# SPDX-License-Identifier: GPL-2.0-only
"""The system variables: bad values are refused with a reason, what can change at run time does."""

from __future__ import annotations

import socket
from pathlib import Path

import pymysql
import pytest

import rowsocket
from support.mariadb import Database, RowSocketServer, Start
from support.plugin import changed, is_loaded, opened
from support.ports import free_ports


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_line_bytes", 100),
        ("max_line_bytes", 1 << 40),
        ("max_reply_bytes", 1),
        ("max_rows_examined", 1 << 40),
        ("max_request_ms", 1 << 40),
        ("max_in_values", 0),
        ("max_in_values", -1),
        ("max_indexes", 0),
        ("max_connections", 0),
        ("idle_timeout", 1 << 40),
        ("max_in_values", "many"),
    ],
)
def test_a_bad_value_at_run_time_is_refused_with_the_reason(
    server: RowSocketServer, name: str, value: object
) -> None:
    before = server.value(f"SELECT @@GLOBAL.rowsocket_{name}")
    with pytest.raises(pymysql.err.MySQLError, match=r"takes a number from|argument type"):
        server.sql(f"SET GLOBAL rowsocket_{name} = %s", [value])
    assert server.value(f"SELECT @@GLOBAL.rowsocket_{name}") == before


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("port-read", "70000", "rowsocket_port_read=70000: takes a number from 0 to 65536"),
        ("threads-read", "100000", "rowsocket_threads_read"),
        ("max-line-bytes", "10", "rowsocket_max_line_bytes"),
        ("max-request-ms", "-1", "rowsocket_max_request_ms=-1: takes a number from 0 to 31536000000"),
        ("max-request-ms", "31536000001", "rowsocket_max_request_ms=31536000001"),
        ("port-memcached", "-1", "rowsocket_port_memcached=-1: takes a number from 0 to 65536"),
        ("idle-timeout", "-1", "rowsocket_idle_timeout=-1"),
        ("address", "not.an.address", "not.an.address"),
        ("anonymous-account", "nobody", "rowsocket_anonymous_account=nobody: takes user@host"),
        ("socket-read", "/nowhere/at/all", "/nowhere/at/all"),
        ("socket-read", "/tmp/" + "x" * 200, "rowsocket_socket_read"),
    ],
)
def test_a_bad_value_at_start_is_logged_with_the_reason(
    start: Start, name: str, value: str, reason: str
) -> None:
    server = start(RowSocketServer, {f"loose-rowsocket-{name}": value})
    assert not is_loaded(server)
    assert any("[ERROR]" in line and reason in line for line in server.log_text().splitlines()), (
        server.log_tail()
    )


@pytest.mark.parametrize("which", ["port", "extra-port"])
def test_the_port_of_sql_is_left_to_sql(start: Start, which: str) -> None:
    """The server would find its port taken, and end."""
    port, other = free_ports(2)
    of_sql: dict[str, str | int | None] = {"skip-networking": 0, "port": other, which: port}
    server = start(RowSocketServer, of_sql | {"bind-address": "127.0.0.1", "loose-rowsocket-port-read": port})
    assert not is_loaded(server)
    assert f"rowsocket: rowsocket_port_read={port}: is the port of SQL" in server.log_text()
    socket.create_connection(("127.0.0.1", port), 10).close()


def test_the_port_that_sql_does_not_use_may_be_used(start: Start) -> None:
    (port,) = free_ports(1)
    server = start(RowSocketServer, {"port": port, "loose-rowsocket-port-read": port})
    assert server.counter("port_read") == port


def test_without_an_address_no_port_is_in_the_way_of_sql(start: Start, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    of_sql: dict[str, str | int | None] = {"skip-networking": 0, "port": port, "bind-address": "127.0.0.1"}
    path = tmp_path / "read"
    own: dict[str, str | int | None] = {
        "loose-rowsocket-address": "",
        "loose-rowsocket-socket-read": str(path),
    }
    server = start(RowSocketServer, of_sql | own | {"loose-rowsocket-port-read": port})
    assert is_loaded(server)
    assert path.is_socket()


def test_the_socket_of_sql_is_left_to_sql(start: Start) -> None:
    server = start(RowSocketServer)
    path = str(server.socket)
    server.restart({"loose-rowsocket-socket-write": path})
    assert not is_loaded(server)
    assert f"rowsocket: rowsocket_socket_write={path}: is the socket of SQL" in server.log_text()


def test_the_bounds_of_numbers_are_told(server: RowSocketServer) -> None:
    told = server.sql(
        "SELECT VARIABLE_NAME, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE FROM information_schema.SYSTEM_VARIABLES"
        " WHERE VARIABLE_NAME LIKE 'ROWSOCKET%' AND NUMERIC_MAX_VALUE IS NOT NULL"
    )
    bounds = {name: (least, most) for name, least, most in told if name != "ROWSOCKET_KILL"}
    assert len(bounds) >= 15
    assert bounds["ROWSOCKET_PORT_READ"] == ("0", "65536")
    for name, (least, most) in bounds.items():
        for beyond in (int(least) - 1, int(most) + 1):
            with pytest.raises(pymysql.err.MySQLError, match=r"takes a number from|read only"):
                server.sql(f"SET GLOBAL {name} = {beyond}")


NO_NUMBERS = ["off", "12x", str(1 << 80)]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_at_start_disables_the_plugin(start: Start, value: str) -> None:
    server = start(RowSocketServer, {"rowsocket-max-request-ms": value})
    assert not is_loaded(server)
    assert f"[ERROR] {server.tree.mariadbd}: Error while setting value '{value}'" in server.log_text()


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_at_start_is_0_where_the_option_is_loose(start: Start, value: str) -> None:
    """So the server has it: see docs/operating.md."""
    server = start(RowSocketServer, {"loose-rowsocket-max-request-ms": value})
    assert is_loaded(server)
    assert server.value("SELECT @@GLOBAL.rowsocket_max_request_ms") == 0
    assert f"[ERROR] {server.tree.mariadbd}: Error while setting value '{value}'" in server.log_text()


@pytest.mark.parametrize("name", ["port_read", "address", "threads_write", "socket_read"])
def test_what_can_not_change_at_run_time_says_so(server: RowSocketServer, name: str) -> None:
    with pytest.raises(pymysql.err.MySQLError, match="read only"):
        server.sql(f"SET GLOBAL rowsocket_{name} = '1'")


def test_a_limit_that_changes_holds_for_connections_that_exist(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20))")
    with server.raw("read") as connection:
        opened(connection, database.name)
        with changed(server, max_in_values=2):
            assert connection.ask(b"1\t=\t1\t\t9\t0\t@\t0\t3\t1\t2\t3") == b"2\t1\tinvalueslen"
        assert connection.ask(b"1\t=\t1\t\t9\t0\t@\t0\t3\t1\t2\t3") == b"0\t2"
        with changed(server, max_indexes=2):
            assert connection.ask(f"P\t2\t{database.name}\tt\t\tk".encode()) == b"2\t1\tstmtnum"


def test_a_reply_beyond_its_limit_is_an_error(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)")
    database.sql("INSERT INTO t VALUES (1, REPEAT('x', 60000)), (2, REPEAT('x', 60000))")
    with server.raw("read") as connection, changed(server, max_reply_bytes=65536):
        opened(connection, database.name)
        assert connection.ask(b"1\t>=\t1\t1\t2\t0") == b"2\t1\treplylen"
        assert len(connection.ask(b"1\t=\t1\t1")) > 60000


def test_a_change_whose_reply_is_beyond_its_limit_is_not_made(
    server: RowSocketServer, database: Database
) -> None:
    """What stands beside it in the same turn is done."""
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v TEXT, w TEXT)")
    database.sql("INSERT INTO t SELECT seq, REPEAT('x', 60000), '' FROM seq_1_to_3")
    with server.raw("write") as connection, changed(server, max_reply_bytes=65536):
        opened(connection, database.name)
        told = b"\t1\t0\tC\tw,v\tU!\t" + b"y" * 9000
        replies = connection.ask_all(
            b"1\t=\t1\t1\t1\t0\tC\tw\tU\ty", b"1\t=\t1\t2" + told, b"1\t=\t1\t3\t1\t0\tD"
        )
    assert replies == [b"0\t1\t1", b"2\t1\treplylen", b"0\t1\t1"]
    assert database.sql("SELECT k, w FROM t ORDER BY k") == [(1, "y"), (2, "")]


def test_a_request_that_looks_at_too_many_rows_is_an_error(
    server: RowSocketServer, database: Database
) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    database.sql("INSERT INTO t SELECT seq, 0 FROM seq_1_to_100")
    with server.raw("write") as connection, changed(server, max_rows_examined=50):
        opened(connection, database.name)
        assert connection.ask(b"1\t>=\t1\t1\t50\t0").startswith(b"0\t")
        assert connection.ask(b"1\t>=\t1\t1\t51\t0") == b"2\t1\trowsexamined"
        assert connection.ask(b"1\t>=\t1\t1\t51\t0\tD") == b"2\t1\trowsexamined"
    assert database.value("SELECT COUNT(*) FROM t") == 100


def test_a_request_that_takes_too_long_is_an_error(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v INT, KEY (v))")
    database.sql("INSERT INTO t SELECT seq, 1 FROM seq_1_to_20000")
    with server.raw("read") as connection, changed(server, max_request_ms=50):
        connection.ask(f"P\t1\t{database.name}\tt\tv\tk\tk".encode())
        keys = b"\t".join([b"1"] * 9999)
        request = b"1\t=\t1\t1\t1000000000\t0\t@\t0\t9999\t" + keys + b"\tF\t=\t0\t-1"
        assert connection.ask(request) == b"2\t1\trequesttime"
        assert connection.ask(b"1\t=\t1\t2").startswith(b"0\t")


def test_idle_connections_are_closed_after_idle_timeout(server: RowSocketServer, database: Database) -> None:
    with server.raw("read") as idle:
        assert idle.ask(b"x") == b"2\t1\tcmd"
        timed_out = server.counter("connections_timed_out")
        with changed(server, idle_timeout=1):
            assert idle.closed()
        assert server.counter("connections_timed_out") == timed_out + 1


def test_connections_beyond_max_connections_are_refused(server: RowSocketServer) -> None:
    server.wait_until(
        "has closed earlier connections",
        lambda: server.counter("connections_read") + server.counter("connections_write") == 0,
    )
    refused = server.counter("connections_refused")
    with changed(server, max_connections=2), server.raw("read") as one, server.raw("write") as two:
        assert [one.ask(b"x"), two.ask(b"x")] == [b"2\t1\tcmd"] * 2
        with server.raw("read") as third:
            assert third.closed()
        assert one.ask(b"x") == b"2\t1\tcmd"
    assert server.counter("connections_refused") == refused + 1


def test_error_detail_adds_a_text_for_people(server: RowSocketServer) -> None:
    with server.raw("read") as connection, changed(server, error_detail=1):
        code, count, text, detail = connection.ask(b"P\t1\tnowhere\tt\t\tk").split(b"\t")
        assert (code, count, text) == (b"1", b"1", b"open_table")
        assert len(detail) > 10


def test_secrets_are_not_shown_and_guard_new_connections(server: RowSocketServer) -> None:
    with changed(server, secret_read="hush"):
        assert server.value("SELECT @@GLOBAL.rowsocket_secret_read") == "(set)"
        with pytest.raises(rowsocket.AuthenticationError):
            rowsocket.connect(*server.read_address(), secret="wrong", text=True)
        with (
            rowsocket.connect(*server.read_address(), secret="hush", text=True),
            server.raw("read") as connection,
        ):
            assert connection.ask(b"P\t1\ta\tb\t\tc") == b"3\t1\tunauth"
    assert server.value("SELECT @@GLOBAL.rowsocket_secret_read") == ""
    with server.raw("read") as connection:
        assert connection.ask(b"P\t1\ta\tb\t\tc") == b"1\t1\topen_table"


def test_a_read_only_server_refuses_writes(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20))")
    with server.raw("write") as connection:
        opened(connection, database.name)
        server.sql("SET GLOBAL read_only = 1")
        try:
            assert connection.ask(b"1\t+\t2\t1\tone") == b"1\t1\t1290"
            assert connection.ask(b"1\t=\t1\t1") == b"0\t2"
        finally:
            server.sql("SET GLOBAL read_only = 0")
        assert connection.ask(b"1\t+\t2\t1\tone") == b"0\t1"
