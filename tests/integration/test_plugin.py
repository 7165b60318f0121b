# SPDX-License-Identifier: GPL-2.0-only
"""The plugin in its server: load and unload, variables, status values, process list, log, binlog, restart."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pymysql
import pytest

import rowsocket
from support.commands import run
from support.load import Load, Operation
from support.mariadb import Database, MariaDB, RowSocketServer, Start
from support.raw import ConnectionClosed, RawConnection


class EmptyServer(RowSocketServer):
    """A server that could load RowSocket and has not."""

    def defaults(self) -> dict[str, str | int | None]:
        return {name: value for name, value in super().defaults().items() if name != "plugin-load-add"}


def is_loaded(server: MariaDB) -> bool:
    query = "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'rowsocket' AND plugin_status = 'ACTIVE'"
    return bool(server.value(query))


def make_table(server: MariaDB, name: str = "app") -> None:
    server.sql(f"CREATE DATABASE {name}")
    server.sql(f"CREATE TABLE {name}.t (k INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 0) ENGINE=InnoDB")
    server.sql(f"INSERT INTO {name}.t (k, v) VALUES (1, 'one'), (2, 'two')")


def opened(connection: RawConnection, database: str = "app", columns: str = "k,v") -> RawConnection:
    assert connection.ask(f"P\t1\t{database}\tt\t\t{columns}".encode()) == b"0\t1"
    return connection


def thread_names(server: MariaDB) -> list[str]:
    assert server.process is not None
    tasks = Path(f"/proc/{server.process.pid}/task")
    names = []
    for task in tasks.iterdir():
        with contextlib.suppress(OSError):  # it ended meanwhile
            names.append((task / "comm").read_text().strip())
    return names


@contextlib.contextmanager
def changed(server: MariaDB, **values: int | str) -> Iterator[None]:
    """Variables of the running server with other values for a while."""
    before = {name: server.value(f"SELECT @@GLOBAL.rowsocket_{name}") for name in values}
    try:
        for name, value in values.items():
            server.sql(f"SET GLOBAL rowsocket_{name} = %s", [value])
        yield
    finally:
        for name, value in before.items():
            server.sql(f"SET GLOBAL rowsocket_{name} = %s", [value])


# ── load and unload ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_install_and_uninstall_on_a_running_server(start: Start) -> None:
    server = start(EmptyServer)
    make_table(server)
    server.sql("INSTALL SONAME 'rowsocket'")
    with server.raw("read") as connection:
        assert opened(connection).ask(b"1\t=\t1\t2") == b"0\t2\t2\ttwo"
        port = server.read_port
        server.sql("UNINSTALL SONAME 'rowsocket'")
        assert connection.closed()
    assert not is_loaded(server)
    assert [name for name in thread_names(server) if name.startswith("rowsocket")] == []
    with pytest.raises(ConnectionRefusedError):
        RawConnection(("127.0.0.1", port))


def test_install_survives_a_restart(start: Start) -> None:
    server = start(EmptyServer)
    make_table(server)
    server.sql("INSTALL SONAME 'rowsocket'")
    server.restart()
    with server.raw("write") as connection:
        assert opened(connection).ask(b"1\t=\t1\t2") == b"0\t2\t2\ttwo"
    server.sql("UNINSTALL SONAME 'rowsocket'")
    server.restart()
    assert not is_loaded(server)


def test_install_and_uninstall_again_and_again_under_load(start: Start) -> None:
    """Clients connect, read and write all the time; they may lose connections, the server must lose nothing."""
    server = start(EmptyServer)
    make_table(server)
    server.sql("INSTALL SONAME 'rowsocket'")
    served = threading.Event()
    addresses = {"read": server.read_address(), "write": server.write_address()}

    def make(number: int, stack: ExitStack) -> Operation:
        def use() -> None:
            with (
                contextlib.suppress(OSError, ConnectionClosed),
                RawConnection(addresses["write" if number % 2 else "read"]) as one,
            ):
                opened(one, columns="n")
                for _ in range(20):
                    assert one.ask(b"1\t=\t1\t1" if number % 2 == 0 else b"1\t=\t1\t1\t1\t0\t+\t1").startswith(b"0\t1\t")
                served.set()

        return use

    with Load(8, make):
        for _ in range(5):
            served.clear()
            assert served.wait(20), "nobody is served"
            server.sql("UNINSTALL SONAME 'rowsocket'")
            server.sql("INSTALL SONAME 'rowsocket'")
            addresses.update(read=server.read_address(), write=server.write_address())
    assert server.value("SELECT n FROM app.t WHERE k = 1") > 0
    assert server.sql("CHECK TABLE app.t")[0][3] == "OK"


def test_uninstall_with_many_idle_clients(start: Start) -> None:
    server = start(EmptyServer)
    make_table(server)
    server.sql("INSTALL SONAME 'rowsocket'")
    with ExitStack() as stack:
        clients = [opened(stack.enter_context(server.raw(port))) for port in ("read", "write") * 100]
        server.sql("UNINSTALL SONAME 'rowsocket'")
        assert all(client.closed() for client in clients)


def test_uninstall_does_not_wait_for_a_row_lock_that_a_client_waits_for(start: Start) -> None:
    server = start(EmptyServer, {"innodb-lock-wait-timeout": 1000})
    make_table(server)
    server.sql("INSTALL SONAME 'rowsocket'")
    with server.raw("write") as client, Database(server, "beside").session() as locker:
        opened(client, columns="n")
        locker.execute("BEGIN")
        locker.execute("SELECT * FROM app.t WHERE k = 1 FOR UPDATE")
        client.send(b"1\t=\t1\t1\t1\t0\t+\t1\n")
        waiting = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        server.wait_until("waits for the row", lambda: server.value(waiting) == 1)
        with contextlib.closing(server.connect(read_timeout_s=30)) as admin, admin.cursor() as cursor:
            cursor.execute("UNINSTALL SONAME 'rowsocket'")
        locker.execute("ROLLBACK")
    assert server.value("SELECT n FROM app.t WHERE k = 1") == 0


def test_shutdown_with_clients_connected(start: Start) -> None:
    server = start(RowSocketServer)
    make_table(server)
    with ExitStack() as stack:
        clients = [opened(stack.enter_context(server.raw("write"))) for _ in range(20)]
        server.restart()  # fails if the server dies or hangs
        assert all(client.closed() for client in clients)
    with server.raw("read") as connection:
        assert opened(connection).ask(b"1\t=\t1\t1") == b"0\t2\t1\tone"


def test_a_plugin_for_another_server_version_is_refused(start: Start, tmp_path: Path) -> None:
    """The same plugin with the version that it was built for changed in its bytes."""
    server = start(EmptyServer)
    version = server.value("SELECT VERSION()").split("-")[0].encode()
    plugin = Path(str(server.options["plugin-dir"])) / "rowsocket.so"
    data = plugin.read_bytes()
    assert version in data
    plugin.unlink()
    plugin.write_bytes(data.replace(version, version[:-1] + bytes([version[-1] ^ 1])))
    with pytest.raises(pymysql.err.MySQLError, match="built for MariaDB"):
        server.sql("INSTALL SONAME 'rowsocket'")
    assert not is_loaded(server)
    assert "built for MariaDB" in server.log_text()


# ── where it listens ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_taken_port_is_a_clear_error_and_the_server_starts_without_the_plugin(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = start(RowSocketServer, {"loose-rowsocket-port-read": port})
        assert not is_loaded(server)
        line = next(line for line in server.log_text().splitlines() if "[ERROR]" in line and "rowsocket" in line)
        assert f"127.0.0.1:{port}" in line and "in use" in line
        with pytest.raises(pymysql.err.MySQLError, match="in use"):
            server.sql("INSTALL SONAME 'rowsocket'")
    server.sql("INSTALL SONAME 'rowsocket'")
    assert server.read_port == port


def test_one_port_for_reads_and_writes(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = start(RowSocketServer, {"loose-rowsocket-port-read": port, "loose-rowsocket-port-write": port})
    make_table(server)
    assert (server.read_port, server.write_port) == (port, port)
    with server.raw("read") as connection:
        assert opened(connection).ask(b"1\t+\t2\t3\tthree") == b"0\t1"
        assert connection.ask(b"1\t=\t1\t3") == b"0\t2\t3\tthree"


def test_unix_sockets_without_tcp(start: Start, tmp_path: Path) -> None:
    folder = {"read": tmp_path / "r", "write": tmp_path / "w"}
    options = {f"loose-rowsocket-socket-{port}": str(path) for port, path in folder.items()}
    server = start(RowSocketServer, {"loose-rowsocket-address": "", **options})
    make_table(server)
    with RawConnection(str(folder["write"])) as writer, RawConnection(str(folder["read"])) as reader:
        assert opened(writer).ask(b"1\t+\t2\t3\tthree") == b"0\t1"
        assert opened(reader).ask(b"1\t=\t1\t3") == b"0\t2\t3\tthree"
        assert reader.ask(b"1\t+\t2\t4\tfour") == b"2\t1\treadonly"
    assert (server.read_port, server.write_port) == (0, 0)
    server.stop()
    assert not folder["read"].exists() and not folder["write"].exists()


def test_listens_on_loopback_only_by_default(server: RowSocketServer) -> None:
    port = f":{server.read_port:04X}"
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[1].endswith(port) and line.split()[3] == "0A"
    ]
    loopback = {f"0100007F{port}", f"00000000000000000000000001000000{port}"}
    assert set(listening) <= loopback and f"0100007F{port}" in listening


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="the machine has no IPv6")
def test_serves_ipv6(server: RowSocketServer) -> None:
    with RawConnection(("::1", server.read_port)) as connection:
        assert connection.ask(b"x") == b"2\t1\tcmd"


# ── variables ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_line_bytes", 100),
        ("max_line_bytes", 1 << 40),
        ("max_reply_bytes", 1),
        ("max_in_values", 0),
        ("max_in_values", -1),
        ("max_indexes", 0),
        ("max_connections", 0),
        ("idle_timeout", 1 << 40),
        ("max_in_values", "many"),
    ],
)
def test_a_bad_value_at_run_time_is_refused_with_the_reason(server: RowSocketServer, name: str, value: object) -> None:
    before = server.value(f"SELECT @@GLOBAL.rowsocket_{name}")
    with pytest.raises(pymysql.err.MySQLError, match=r"takes a number from|argument type"):
        server.sql(f"SET GLOBAL rowsocket_{name} = %s", [value])
    assert server.value(f"SELECT @@GLOBAL.rowsocket_{name}") == before


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("port-read", "70000", "rowsocket_port_read=70000: takes a number from 0 to 65535"),
        ("threads-read", "100000", "rowsocket_threads_read"),
        ("max-line-bytes", "10", "rowsocket_max_line_bytes"),
        ("address", "not.an.address", "not.an.address"),
        ("socket-read", "/nowhere/at/all", "/nowhere/at/all"),
        ("socket-read", "/tmp/" + "x" * 200, "rowsocket_socket_read"),
    ],
)
def test_a_bad_value_at_start_is_logged_with_the_reason(start: Start, name: str, value: str, reason: str) -> None:
    server = start(RowSocketServer, {f"loose-rowsocket-{name}": value})
    assert not is_loaded(server)
    assert any("[ERROR]" in line and reason in line for line in server.log_text().splitlines()), server.log_tail()


@pytest.mark.parametrize("name", ["port_read", "address", "threads_write", "socket_read"])
def test_what_can_not_change_at_run_time_says_so(server: RowSocketServer, name: str) -> None:
    with pytest.raises(pymysql.err.MySQLError, match="read only"):
        server.sql(f"SET GLOBAL rowsocket_{name} = '1'")


def test_a_limit_that_changes_holds_for_connections_that_exist(server: RowSocketServer, database: Database) -> None:
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


def test_idle_connections_are_closed_after_idle_timeout(server: RowSocketServer, database: Database) -> None:
    with server.raw("read") as idle:
        assert idle.ask(b"x") == b"2\t1\tcmd"
        timed_out = server.counter("connections_timed_out")
        with changed(server, idle_timeout=1):
            assert idle.closed()
        assert server.counter("connections_timed_out") == timed_out + 1


def test_connections_beyond_max_connections_are_refused(server: RowSocketServer) -> None:
    server.wait_until(
        "has closed earlier connections", lambda: server.counter("connections_read") + server.counter("connections_write") == 0
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
            rowsocket.connect(*server.read_address(), secret="wrong")
        with rowsocket.connect(*server.read_address(), secret="hush"), server.raw("read") as connection:
            assert connection.ask(b"P\t1\ta\tb\t\tc") == b"3\t1\tunauth"
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


# ── what it shows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

STATUS_VALUES = {
    *("connections_accepted", "connections_closed", "connections_refused", "connections_timed_out"),
    *("connections_read", "connections_write", "port_read", "port_write", "bytes_received", "bytes_sent"),
    *("requests_open_index", "requests_find", "requests_in_list", "requests_insert", "requests_update", "requests_delete"),
    *("requests_increment", "requests_authenticate", "requests_unknown"),
    *("rows_read", "rows_inserted", "rows_updated", "rows_deleted"),
    *("errors_request", "errors_authentication", "errors_table", "errors_engine", "errors_internal"),
    *("turns", "turn_requests", "requests_per_turn", "commits", "commit_failures", "replays", "parked"),
    *("table_opens", "metadata_lock_releases"),
}


def test_every_status_value_is_shown(server: RowSocketServer) -> None:
    shown = {name.removeprefix("Rowsocket_") for name in server.status("Rowsocket%")}
    assert shown == STATUS_VALUES


def test_status_counts_what_clients_do(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 0)")
    before = {name: server.counter(name) for name in STATUS_VALUES if name != "requests_per_turn"}
    requests = [
        f"P\t1\t{database.name}\tt\t\tk,v,n".encode(),
        f"P\t2\t{database.name}\tt\t\tn".encode(),
        *(b"1\t+\t2\t%d\tx" % k for k in range(5)),
        b"1\t+\t2\t0\tagain",
        b"1\t>=\t1\t0\t3\t0",
        b"1\t=\t1\t\t9\t0\t@\t0\t2\t1\t2",
        b"1\t=\t1\t1\t1\t0\tU\t1\ty\t5",
        b"2\t=\t1\t2\t1\t0\t+\t5",
        b"1\t=\t1\t4\t1\t0\tD",
        b"nonsense",
        b"A\t1\twrong",
        b"P\t3\tnowhere\tt\t\tk",
    ]
    with server.raw("write") as connection:
        replies = connection.ask_all(*requests)
    server.wait_until("closed the connection", lambda: server.counter("connections_closed") > before["connections_closed"])
    after = {name: server.counter(name) - before[name] for name in before}
    expected = {
        "connections_accepted": 1,
        "requests_open_index": 3,
        "requests_find": 2,
        "requests_in_list": 1,
        "requests_insert": 6,
        "requests_update": 1,
        "requests_increment": 1,
        "requests_delete": 1,
        "requests_unknown": 1,
        "requests_authenticate": 1,
        "rows_inserted": 5,
        "rows_updated": 2,
        "rows_deleted": 1,
        "errors_request": 1,
        "errors_engine": 1,
        "errors_table": 1,
        "errors_authentication": 1,
        "errors_internal": 0,
        "commit_failures": 0,
        "bytes_received": sum(len(request) + 1 for request in requests),
        "bytes_sent": sum(len(reply) + 1 for reply in replies),
        "turn_requests": len(requests),
    }
    assert {name: after[name] for name in expected} == expected
    assert after["rows_read"] >= 8 and after["table_opens"] >= 1
    assert 1 <= after["commits"] <= after["turns"] <= len(requests)
    assert float(server.status("Rowsocket_requests_per_turn")["Rowsocket_requests_per_turn"]) > 0


def test_tables_that_were_opened_are_given_back(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20))")
    before = server.counter("metadata_lock_releases")
    with server.raw("read") as connection:
        opened(connection, database.name)
        server.wait_until("gave the table back", lambda: server.counter("metadata_lock_releases") > before, timeout_s=5)


def test_workers_show_in_the_process_list(server: RowSocketServer) -> None:
    workers = server.sql("SELECT user, command, state, info FROM information_schema.processlist WHERE user = 'rowsocket'")
    assert len(workers) >= 2
    said = " ".join(str(value) for row in workers for value in row)
    assert "read" in said and "write" in said and "connections" in said


def test_killed_worker_closes_its_connections_and_serves_new_ones(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-read": 1})
    make_table(server)
    with server.raw("read") as connection:
        opened(connection)
        for (worker,) in server.sql("SELECT id FROM information_schema.processlist WHERE user = 'rowsocket'"):
            server.sql(f"KILL {worker}")
        assert connection.closed()
    with server.raw("read") as reader, server.raw("write") as writer:
        assert opened(reader).ask(b"1\t=\t1\t1") == b"0\t2\t1\tone"
        assert opened(writer).ask(b"1\t+\t2\t3\tthree") == b"0\t1"


def test_log_says_where_it_serves_and_names_a_connection_that_it_closes(server: RowSocketServer) -> None:
    lines = server.log_text().splitlines()
    assert any("[Note] rowsocket" in line and f"127.0.0.1:{server.read_port}" in line for line in lines)
    with changed(server, max_line_bytes=4096), server.raw("read") as connection:
        port = connection.socket.getsockname()[1]
        connection.send(b"x" * 10_000)
        assert connection.line() == b"2\t1\ttoolong"
        assert connection.closed()
    said = f"127.0.0.1:{port}"
    server.wait_until("names the connection in its log", lambda: said in server.log_text())
    assert any("[Warning]" in line and said in line for line in server.log_text().splitlines())


# ── binlog ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def change_everything(server: RowSocketServer) -> None:
    """Every kind of write, over RowSocket."""
    server.sql("CREATE DATABASE app")
    server.sql(
        "CREATE TABLE app.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30), n DECIMAL(10,2), at DATETIME(6) DEFAULT NOW(6), "
        "data BLOB, KEY by_v (v)) ENGINE=InnoDB CHARSET=utf8mb4"
    )
    server.sql("CREATE TABLE app.p (k INT PRIMARY KEY, v INT) ENGINE=InnoDB PARTITION BY HASH (k) PARTITIONS 3")
    with rowsocket.connect(*server.write_address()) as client:
        t = client.open_index("app", "t", "v,n,data")
        for number in range(50):
            t.insert([f"näme {number % 7} 🐬", str(number), bytes(range(number))])
        by_v = client.open_index("app", "t", "n", index="by_v")
        assert by_v.increment("näme 3 🐬", "0.50", limit=100) == 7
        assert by_v.update("näme 4 🐬", values=[None], limit=3) == 3
        assert t.delete(7, op=">", limit=5) == 5
        p = client.open_index("app", "p", "k,v")
        for k in range(20):
            p.insert([k, k])
        assert p.update(3, values=[33, 3]) == 1


def test_replaying_the_binlog_gives_the_same_tables(start: Start, tmp_path: Path) -> None:
    server = start(RowSocketServer, {"binlog-format": "STATEMENT"})
    change_everything(server)
    binlogs = [server.data / str(row[0]) for row in server.sql("SHOW BINARY LOGS")]
    server.sql("FLUSH BINARY LOGS")
    events = {event for path in binlogs for (_, _, event, *_) in server.sql(f"SHOW BINLOG EVENTS IN '{path.name}'")}
    assert {"Write_rows_v1", "Update_rows_v1", "Delete_rows_v1"} <= events
    environment = server.tree.environment()
    replay = tmp_path / "replay.sql"
    run([server.tree.program("mariadb-binlog"), "--no-defaults", "-r", replay, *binlogs], environment=environment)
    copy = start(EmptyServer)
    options = ["--no-defaults", f"--socket={copy.socket}", "--user=root", "--binary-mode"]
    run([server.tree.program("mariadb"), *options], environment=environment, standard_input=replay)
    for table in ("t", "p"):
        rows = server.sql(f"SELECT * FROM app.{table} ORDER BY 1")
        assert len(rows) >= 20
        assert copy.sql(f"SELECT * FROM app.{table} ORDER BY 1") == rows
        assert copy.sql(f"CHECKSUM TABLE app.{table}") == server.sql(f"CHECKSUM TABLE app.{table}")


def test_nothing_is_binlogged_of_a_request_that_failed(start: Start) -> None:
    server = start(RowSocketServer)
    make_table(server)
    server.sql("FLUSH BINARY LOGS")
    with server.raw("write") as connection:
        assert opened(connection).ask(b"1\t+\t2\t1\tagain") == b"1\t1\t121"
        assert connection.ask(b"1\t=\t1\t9\t1\t0\tU\t9\tx") == b"0\t1\t0"
    log = server.sql("SHOW BINARY LOGS")[-1][0]
    events = {event for (_, _, event, *_) in server.sql(f"SHOW BINLOG EVENTS IN '{log}'")}
    assert not any("rows" in event for event in events)


# ── leaks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_valgrind_finds_no_leak_and_no_bad_access_of_the_plugin(start: Start) -> None:
    """Install, use every request, uninstall with clients connected, under valgrind; only reports that name the plugin count."""
    threads = {"loose-rowsocket-threads-read": 2, "loose-rowsocket-threads-write": 2}
    flags = ["--leak-check=full", "--show-leak-kinds=definite", "--keep-debuginfo=yes", "--num-callers=40", "--error-limit=no"]
    server = start(EmptyServer, {"innodb-use-native-aio": 0, "innodb-buffer-pool-size-max": "64M", **threads}, valgrind=flags)
    server.sql("INSTALL SONAME 'rowsocket'")
    change_everything(server)
    with server.raw("write") as idle, server.raw("read") as half:
        opened(idle, columns="v")
        half.send(b"P\t1\tapp")
        assert idle.ask(b"1\t=\t1\t1\t1\t0\t@\t0\t2\t1\t2\tF\t=\t0\tx") == b"2\t1\tfilterfld"
        assert idle.ask(b"1\t=\t1\tx\x01") == b"2\t1\tsyntax"
        server.sql("UNINSTALL SONAME 'rowsocket'")
        assert idle.closed()
    server.stop()
    report = (server.folder / "valgrind.log").read_text(errors="replace")
    assert "LEAK SUMMARY" in report
    blocks = [block for block in re.split(r"==\d+== *\n", report) if re.search(r"(by|at) 0x\w+: .*rowsocket", block)]
    assert blocks == [], "\n\n".join(blocks[:5])
