# SPDX-License-Identifier: GPL-2.0-only
"""The plugin in its server: load and unload under load, where it listens, leaks."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pymysql
import pytest

from support.load import Load, Operation
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, Options, RowSocketServer, Start
from support.plugin import (
    EmptyServer,
    change_everything,
    is_loaded,
    make_table,
    opened,
    wait_for_end_of_threads,
)
from support.ports import free_ports
from support.raw import ConnectionClosed, RawConnection


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
    wait_for_end_of_threads(server)
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
    """Clients connect, read and write all the time; they may lose connections, the server must lose
    nothing."""
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
                    assert one.ask(
                        b"1\t=\t1\t1" if number % 2 == 0 else b"1\t=\t1\t1\t1\t0\t+\t1"
                    ).startswith(b"0\t1\t")
                served.set()

        return use

    with Load(8, make):
        for _ in range(5):
            served.clear()
            assert served.wait(120), "nobody is served"
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
        wait_for_a_row_lock_wait(server)
        with contextlib.closing(server.connect(read_timeout_s=120)) as admin, admin.cursor() as cursor:
            cursor.execute("UNINSTALL SONAME 'rowsocket'")
        locker.execute("ROLLBACK")
    assert server.value("SELECT n FROM app.t WHERE k = 1") == 0


@pytest.mark.parametrize("releases", ["CREATE FUNCTION app.other() RETURNS INT NO SQL RETURN 1", None])
def test_uninstall_where_a_worker_of_its_own_ends_the_plugin(start: Start, releases: str | None) -> None:
    """The code that a trigger runs names a variable of the plugin, and keeps it loaded. A worker is the last
    that has this code: any other routine that is made lets it go, and so does the end of the server."""
    server = start(EmptyServer)
    make_table(server)
    server.sql("INSTALL SONAME 'rowsocket'")
    server.sql("CREATE FUNCTION app.detail() RETURNS INT READS SQL DATA RETURN @@rowsocket_error_detail")
    server.sql("CREATE TRIGGER app.calls BEFORE UPDATE ON app.t FOR EACH ROW SET NEW.n = app.detail()")
    change = b"1\t=\t1\t1\t1\t0\tU\t5"
    with server.raw("write") as client:
        assert opened(client, columns="n").ask(change) == b"0\t1\t1"
        server.sql("UNINSTALL SONAME 'rowsocket'")
        if releases is not None:
            server.sql(releases)
            with contextlib.suppress(ConnectionClosed):
                while True:
                    client.ask(change)
            wait_for_end_of_threads(server)
    server.restart()  # fails if the server died, or hangs


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


def test_a_taken_port_is_a_clear_error_and_the_server_starts_without_the_plugin(start: Start) -> None:
    (port,) = free_ports(1)
    with socket.create_server(("127.0.0.1", port)):
        server = start(RowSocketServer, {"loose-rowsocket-port-read": port})
        assert not is_loaded(server)
        line = next(
            line for line in server.log_text().splitlines() if "[ERROR]" in line and "rowsocket" in line
        )
        assert f"127.0.0.1:{port}" in line and "in use" in line
        with pytest.raises(pymysql.err.MySQLError, match="in use"):
            server.sql("INSTALL SONAME 'rowsocket'")
    server.sql("INSTALL SONAME 'rowsocket'")
    assert server.read_port == port


def test_one_port_for_reads_and_writes(start: Start) -> None:
    (port,) = free_ports(1)
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


@pytest.mark.slow
def test_valgrind_finds_no_leak_and_no_bad_access_of_the_plugin(start: Start) -> None:
    """Install, use every request, uninstall with clients connected, under valgrind; only reports that name
    the plugin count."""
    threads: Options = {"loose-rowsocket-threads-read": 2, "loose-rowsocket-threads-write": 2}
    logs: Options = {"general-log": 1, "slow-query-log": 1, "long-query-time": 0, "log-output": "FILE,TABLE"}
    flags = [
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--keep-debuginfo=yes",
        "--num-callers=40",
        "--error-limit=no",
    ]
    server = start(
        EmptyServer,
        {"innodb-use-native-aio": 0, "innodb-buffer-pool-size-max": "64M", **threads, **logs},
        valgrind=flags,
    )
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
    blocks = [
        block for block in re.split(r"==\d+== *\n", report) if re.search(r"(by|at) 0x\w+: .*rowsocket", block)
    ]
    assert blocks == [], "\n\n".join(blocks[:5])
