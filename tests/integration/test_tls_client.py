# SPDX-License-Identifier: GPL-2.0-only
"""The Python client and its command inside TLS, also where both sides have much to send."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rowsocket
from rowsocket import _link, aio
from support.accounts import PASSWORD, account
from support.certificates import Authority, Pair
from support.command_page import command_runner
from support.kills import close_all
from support.mariadb import RowSocketServer
from support.plugin import changed

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ["id", "value"]


@pytest.fixture(scope="module")
def values(secured: RowSocketServer) -> Iterator[RowSocketServer]:
    """`big.t` takes values of any size."""
    secured.sql("CREATE DATABASE big")
    secured.sql("CREATE TABLE big.t (id INT PRIMARY KEY, value LONGTEXT)")
    yield secured


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocking client's sockets hold little."""
    connect = _link._connect_plain

    def with_small_buffers(*arguments: object) -> socket.socket:
        connected = connect(*arguments)  # type: ignore[arg-type]
        # Over TCP, less than a record of TLS makes the system itself wait, without TLS, too.
        buffer_bytes = 65536 if connected.family == socket.AF_INET else 4096
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
        return connected

    monkeypatch.setattr(_link, "_connect_plain", with_small_buffers)


def url(server: RowSocketServer, authority: Authority, more: str = "") -> str:
    """Where the server is, and whom to trust."""
    return f"rowsocket://localhost:{server.write_port}/d?tls_ca={authority.file}{more}"


def test_the_client_speaks_tls(secured: RowSocketServer, authority: Authority) -> None:
    host, port = secured.write_address()
    with rowsocket.connect(host, port, tls_ca=str(authority.file), database="d") as by_file:
        assert by_file.table("t", ["id", "a"]).get(1) == (1, 10)
        assert secured.counter("connections_tls") == 1
    with rowsocket.connect(host, port, tls=authority.context(), database="d") as by_context:
        assert by_context.table("t", ["id", "a"]).get(1) == (1, 10)
    with rowsocket.connect(url(secured, authority)) as by_url:
        assert by_url.table("t", ["id", "a"]).get(1) == (1, 10)
    with rowsocket.ConnectionPool(url(secured, authority)) as pool:
        assert pool.table("t", ["id", "a"]).get(1) == (1, 10)


def test_the_asyncio_client_speaks_tls(secured: RowSocketServer, authority: Authority) -> None:
    async def read(where: str, **options: object) -> object:
        async with await aio.connect(where, **options) as connection:  # type: ignore[arg-type]
            return await (await connection.table("t", ["id", "a"])).get(1)

    path = str(secured.folder / "write")
    assert asyncio.run(read(url(secured, authority))) == (1, 10)
    assert asyncio.run(read("127.0.0.1", port=secured.write_port, tls=authority.context(), database="d")) == (
        1,
        10,
    )
    assert asyncio.run(read("localhost", unix_socket=path, tls_ca=str(authority.file), database="d")) == (
        1,
        10,
    )


def test_tls_is_served_over_a_unix_socket(secured: RowSocketServer, authority: Authority) -> None:
    path = str(secured.folder / "write")
    with rowsocket.connect("localhost", unix_socket=path, tls_ca=str(authority.file)) as connection:
        assert connection.open_index("d", "t", ["id", "a"]).get(1) == (1, 10)


def test_another_authority_is_not_trusted(secured: RowSocketServer, tmp_path: Path) -> None:
    stranger = Authority(tmp_path)
    with pytest.raises(rowsocket.TlsRefused, match="CERTIFICATE_VERIFY_FAILED"):
        rowsocket.connect(url(secured, stranger))
    with pytest.raises(rowsocket.TlsRefused, match="CERTIFICATE_VERIFY_FAILED"):
        rowsocket.connect(f"rowsocket://localhost:{secured.write_port}/d?tls=1")
    with pytest.raises(rowsocket.TlsRefused, match="CERTIFICATE_VERIFY_FAILED"):
        asyncio.run(aio.connect(url(secured, stranger)))


def test_the_certificate_must_be_for_the_host(secured: RowSocketServer, authority: Authority) -> None:
    with pytest.raises(rowsocket.TlsRefused, match="Hostname mismatch"):
        path = str(secured.folder / "write")
        rowsocket.connect("elsewhere", unix_socket=path, tls_ca=str(authority.file))


def test_a_clients_certificate_is_shown(secured: RowSocketServer, authority: Authority) -> None:
    own = authority.sign("client")
    with account(secured, "app@localhost", f"IDENTIFIED BY '{PASSWORD}' REQUIRE X509", ["SELECT ON d.t"]):
        options = {"user": "app", "password": PASSWORD}
        more = f"&tls_cert={own.certificate}&tls_key={own.key}"
        with rowsocket.connect(url(secured, authority, more), **options) as connection:  # type: ignore[arg-type]
            assert connection.table("t", ["id", "a"]).get(1) == (1, 10)
        with pytest.raises(rowsocket.AuthenticationError):
            rowsocket.connect(url(secured, authority), **options)  # type: ignore[arg-type]


def test_a_connection_that_rested_is_used_again(
    secured: RowSocketServer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tickets of TLS 1.3 are no end of the connection."""
    monkeypatch.setattr(_link, "FRESH_S", 0.0)
    with rowsocket.connect(url(secured, authority)) as connection:
        index = connection.table("t", ["id", "a"])
        done = secured.counter("tls_handshakes")
        for _ in range(5):
            assert connection.usable
            assert index.get(1) == (1, 10)
        assert secured.counter("tls_handshakes") == done
        close_all(secured)
        secured.wait_until("closed it", lambda: secured.counter("connections_tls") == 0)
        assert not connection.usable
        assert index.get(1) == (1, 10)  # over a new one


@pytest.mark.usefixtures("small_buffers")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("over_unix", [False, True])
def test_both_sides_have_much_to_send(
    values: RowSocketServer, authority: Authority, version: ssl.TLSVersion, over_unix: bool
) -> None:
    values.sql("DELETE FROM big.t")
    path = str(values.folder / "write") if over_unix else None
    context = authority.context(version=version)
    with rowsocket.connect(
        "localhost", values.write_port, unix_socket=path, tls=context, timeout=120
    ) as connection:
        index = connection.open_index("big", "t", COLUMNS)
        index.insert((0, "x" * 300_000))
        with connection.pipeline() as pipe:
            written = [pipe.insert(index, (number, "y" * 100_000)) for number in range(1, 40)]
            read = [pipe.get(index, 0) for _ in range(40)]
            more = [pipe.insert(index, (number, "z" * 100_000)) for number in range(40, 60)]
        for reply in written + more:
            reply.result()  # raises what failed
        assert all(reply.result() == (0, "x" * 300_000) for reply in read)
    assert values.value("SELECT SUM(LENGTH(value)) FROM big.t") == 300_000 + 59 * 100_000


def test_many_tasks_of_asyncio_have_much_to_send(values: RowSocketServer, authority: Authority) -> None:
    values.sql("DELETE FROM big.t")

    async def work() -> None:
        where = url(values, authority).replace("/d?", "/big?")
        async with await aio.connect(where, timeout=120) as connection:
            index = await connection.table("t", COLUMNS)
            await index.insert((0, "x" * 300_000))

            async def one(number: int) -> None:
                await index.insert((number, "y" * 100_000))
                assert await index.get(0) == (0, "x" * 300_000)

            await asyncio.gather(*(one(number) for number in range(1, 50)))

    asyncio.run(work())
    assert values.value("SELECT COUNT(*) FROM big.t") == 50


def test_a_client_that_reads_late_gets_everything(values: RowSocketServer, authority: Authority) -> None:
    values.sql("DELETE FROM big.t")
    values.sql("INSERT INTO big.t VALUES (0, REPEAT('x', 1000000))")
    with values.raw("read", authority.context()) as client:
        client.send(b"P\t0\tbig\tt\t\tid,value\n" + b"0\t=\t1\t0\n" * 30)
        values.wait_until("stopped reading", lambda: values.counter("requests_find") > 0)
        assert client.line() == b"0\t1"
        for _ in range(30):
            assert client.line() == b"0\t2\t0\t" + b"x" * 1_000_000


def test_a_slow_reader_does_not_hold_up_others(values: RowSocketServer, authority: Authority) -> None:
    values.sql("DELETE FROM big.t")
    values.sql("INSERT INTO big.t VALUES (0, REPEAT('x', 1000000)), (1, 'small')")
    opening = b"P\t0\tbig\tt\t\tid,value\n"
    with (
        values.raw("read", authority.context()) as slow,
        values.raw("read", authority.context()) as other,
    ):
        slow.send(opening + b"0\t=\t1\t0\n" * 50)
        other.send(opening)
        assert other.line() == b"0\t1"
        for _ in range(200):
            assert other.ask(b"0\t=\t1\t1") == b"0\t2\t1\tsmall"
        assert slow.line() == b"0\t1"


def test_the_command_speaks_tls(secured: RowSocketServer, authority: Authority) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    command = [sys.executable, "-m", "rowsocket", "--url", url(secured, authority)]
    done = subprocess.run(
        [*command, "get", "t", "1", "--columns", "id,a", "--json"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, '{"id": 1, "a": 10}\n')


def test_a_client_without_tls_is_told_that_it_takes_tls(secured: RowSocketServer) -> None:
    plain = f"rowsocket://localhost:{secured.write_port}/d"
    with changed(secured, require_tls=1):
        for where in (plain, plain.replace("//", "//app:hush@")):
            with pytest.raises(rowsocket.AuthenticationError, match="inside TLS only"):
                rowsocket.connect(where).table("t", ["id", "a"])
        done = command_runner()("--url", plain, "get", "t", "1", "--columns", "id,a")
    assert (done.returncode, "tls_ca=FILE" in done.stderr, "PASSWORD" in done.stderr) == (3, True, False)


def test_files_that_do_not_fit_are_said(secured: RowSocketServer, authority: Authority) -> None:
    missing = Pair(Path("/nowhere/key.pem"), Path("/nowhere/cert.pem"))
    with pytest.raises(rowsocket.ConnectionLost, match="No such file"):
        rowsocket.connect(url(secured, authority, f"&tls_cert={missing.certificate}"))
    with pytest.raises(ValueError, match="tls_cert"):
        rowsocket.connect(url(secured, authority, "&tls_key=key.pem"))
    with pytest.raises(ValueError, match="context"):
        rowsocket.connect("localhost", tls=authority.context(), tls_ca=str(authority.file))


def test_nobody_waits_for_a_server_that_does_not_answer_a_handshake() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began_s = time.monotonic()
        with pytest.raises(rowsocket.Timeout):
            rowsocket.connect("127.0.0.1", silent.getsockname()[1], tls=True, timeout=0.5)
        with pytest.raises(rowsocket.Timeout):
            asyncio.run(aio.connect("127.0.0.1", silent.getsockname()[1], tls=True, timeout=0.5))
        assert time.monotonic() > began_s
