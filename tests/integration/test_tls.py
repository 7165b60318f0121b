# SPDX-License-Identifier: GPL-2.0-only
"""TLS on the same ports, with the server's own certificates: who may come in, and how the stream ends."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.certificates import Authority, Pair, prepare_row
from support.kills import close_all
from support.mariadb import RowSocketServer, Start
from support.raw import ConnectionClosed, RawConnection

OPEN = b"P\t0\td\tt\t\tid,a"
FIND = b"0\t=\t1\t1"
OK = b"0\t1"
ROW = b"0\t2\t1\t10"
NEEDS_TLS = b"3\t1\ttls"

V1_1 = ssl.TLSVersion.TLSv1_1
V1_2 = ssl.TLSVersion.TLSv1_2
V1_3 = ssl.TLSVersion.TLSv1_3

WORKERS = "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'"


@contextlib.contextmanager
def requiring_tls(server: RowSocketServer) -> Iterator[None]:
    """Meanwhile nobody comes in over TCP without TLS."""
    server.sql("SET GLOBAL rowsocket_require_tls = ON")
    try:
        yield
    finally:
        server.sql("SET GLOBAL rowsocket_require_tls = OFF")


# ── who may come in ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", [V1_2, V1_3])
@pytest.mark.parametrize("port", ["read", "write"])
def test_tls_is_served_on_the_port_of_plain_clients(
    secured: RowSocketServer, authority: Authority, version: ssl.TLSVersion, port: str
) -> None:
    with secured.raw(port) as plain, secured.raw(port, authority.context(version=version)) as client:
        assert client.ask_all(OPEN, FIND) == [OK, ROW]
        assert plain.ask_all(OPEN, FIND) == [OK, ROW]
        assert isinstance(client.socket, ssl.SSLSocket)
        assert client.socket.version() == {V1_2: "TLSv1.2", V1_3: "TLSv1.3"}[version]


def test_tls_is_served_over_a_unix_socket(secured: RowSocketServer, authority: Authority) -> None:
    with RawConnection(str(secured.folder / "write"), tls=authority.context()) as client:
        assert client.ask_all(OPEN, FIND) == [OK, ROW]


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1")
def test_a_version_below_1_2_is_refused_even_where_the_server_allows_it(
    start: Start, authority: Authority
) -> None:
    server = start(
        RowSocketServer, {**authority.server_options(), "tls-version": "TLSv1.0,TLSv1.1,TLSv1.2,TLSv1.3"}
    )
    with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION"):
        server.raw("read", authority.context(version=V1_1, ciphers="ALL:@SECLEVEL=0"))
    server.wait_until("counted it", lambda: server.counter("tls_handshakes_failed") == 1)
    with server.raw("read", authority.context()) as client:
        client.send(b"P\n")


def test_the_versions_of_the_server_hold(start: Start, authority: Authority) -> None:
    server = start(RowSocketServer, {**authority.server_options(), "tls-version": "TLSv1.3"})
    with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION"):
        server.raw("read", authority.context(version=V1_2))
    server.raw("read", authority.context(version=V1_3)).close()


def test_the_ciphers_of_the_server_hold(start: Start, authority: Authority) -> None:
    options = {**authority.server_options(), "ssl-cipher": "ECDHE-ECDSA-AES256-GCM-SHA384"}
    server = start(RowSocketServer, options)
    with pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"):
        server.raw("read", authority.context(version=V1_2, ciphers="ECDHE-ECDSA-CHACHA20-POLY1305"))
    server.raw("read", authority.context(version=V1_2, ciphers="ECDHE-ECDSA-AES256-GCM-SHA384")).close()


def test_a_client_refuses_the_certificate_of_another_authority(
    secured: RowSocketServer, tmp_path: Path
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        secured.raw("read", Authority(tmp_path, "another").context())


def test_a_client_refuses_an_expired_certificate(start: Start, authority: Authority) -> None:
    server = start(RowSocketServer, authority.server_options("late", expired=True))
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        server.raw("read", authority.context())


def test_a_certificate_of_a_client_must_be_of_the_servers_authority(
    secured: RowSocketServer, authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger").sign("stranger")
    with pytest.raises((ssl.SSLError, ConnectionClosed, ConnectionError)):
        secured.raw("read", authority.context(stranger)).ask(OPEN)
    late = authority.sign("late-client", expired=True)
    with pytest.raises((ssl.SSLError, ConnectionClosed, ConnectionError)):
        secured.raw("read", authority.context(late)).ask(OPEN)
    with secured.raw("read", authority.context(authority.sign("client"))) as client:
        assert client.ask(OPEN) == OK


def test_a_revoked_certificate_of_a_client_is_refused(
    start: Start, authority: Authority, tmp_path: Path
) -> None:
    revoked, good = authority.sign("revoked"), authority.sign("good")
    server = start(RowSocketServer, {**authority.server_options(), "ssl-crl": str(authority.revoke(revoked))})
    with pytest.raises((ssl.SSLError, ConnectionClosed, ConnectionError)):
        server.raw("read", authority.context(revoked)).ask(OPEN)
    server.wait_until("says why", lambda: "certificate revoked" in server.log_text())
    with server.raw("read", authority.context(good)) as client:
        assert client.ask(b"A\t1\t") == OK


def test_a_server_without_a_certificate_closes_who_begins_with_tls(
    start: Start, authority: Authority
) -> None:
    server = start(RowSocketServer, {"loose-skip-ssl": None})
    with pytest.raises((ssl.SSLError, ConnectionError)):
        server.raw("read", authority.context())
    assert "but the server has no certificate (ssl_cert)" in server.log_text()


# ── rowsocket_require_tls ───────────────────────────────────────────────────────────────────────────────────


def test_with_require_tls_plain_clients_are_refused(secured: RowSocketServer, authority: Authority) -> None:
    with secured.raw("read") as before, requiring_tls(secured):
        with secured.raw("read", authority.context()) as client:
            assert client.ask_all(OPEN, FIND) == [OK, ROW]
        with secured.raw("write") as plain:
            assert plain.ask(OPEN) == NEEDS_TLS
            assert plain.closed()
        assert before.ask(OPEN) == NEEDS_TLS
        with RawConnection(str(secured.folder / "write")) as local:
            assert local.ask_all(OPEN, FIND) == [OK, ROW]
    with secured.raw("read") as after:
        assert after.ask(OPEN) == OK


def test_require_tls_can_be_set_from_the_start(start: Start, authority: Authority) -> None:
    server = start(RowSocketServer, {**authority.server_options(), "loose-rowsocket-require-tls": "ON"})
    with server.raw("read") as plain:
        assert plain.ask(b"A\t1\tsecret") == NEEDS_TLS
    assert server.counter("errors_authentication") == 1
    assert "comes without TLS, which rowsocket_require_tls asks for" in server.log_text()


# ── FLUSH SSL ───────────────────────────────────────────────────────────────────────────────────────────────


def test_flush_ssl_serves_the_new_certificate_and_leaves_open_connections_alone(
    start: Start, authority: Authority, tmp_path: Path
) -> None:
    options = authority.server_options("renewed")
    server = start(RowSocketServer, options)
    prepare_row(server)
    before = server.raw("read", authority.context())
    other = Authority(tmp_path, "other")
    Pair(Path(str(options["ssl-key"])), Path(str(options["ssl-cert"]))).replace(other.sign("new"))
    server.raw("read", authority.context()).close()
    server.sql("FLUSH SSL")
    with pytest.raises(ssl.SSLCertVerificationError):
        server.raw("read", authority.context())
    with server.raw("read", other.context()) as after:
        assert after.ask_all(OPEN, FIND) == [OK, ROW]
    assert before.ask_all(OPEN, FIND) == [OK, ROW]
    before.close()


# ── the end of a stream ─────────────────────────────────────────────────────────────────────────────────────


def test_a_client_that_says_goodbye_gets_its_replies_and_a_goodbye(
    secured: RowSocketServer, authority: Authority
) -> None:
    with secured.raw("read", authority.context()) as client:
        assert isinstance(client.socket, ssl.SSLSocket)
        client.send(OPEN + b"\n" + (FIND + b"\n") * 100)
        assert client.line() == OK
        assert client.lines(100) == [ROW] * 100
        plain = client.socket.unwrap()  # waits for the server's close_notify
        assert plain.recv(1) == b""
    secured.wait_until("closed it", lambda: secured.counter("connections_tls") == 0)


def test_requests_before_a_goodbye_are_answered(secured: RowSocketServer, authority: Authority) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = authority.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with RawConnection(secured.read_address()) as raw:
        while True:
            try:
                session.do_handshake()
                break
            except ssl.SSLWantReadError:
                raw.send(outgoing.read())
                incoming.write(raw.socket.recv(1 << 16))
        session.write(OPEN + b"\n" + FIND + b"\n")
        with contextlib.suppress(ssl.SSLWantReadError):
            session.unwrap()
        raw.send(outgoing.read())  # requests and close_notify in one piece, and the socket stays open
        while piece := raw.socket.recv(1 << 16):
            incoming.write(piece)
        assert session.read(1 << 16) == OK + b"\n" + ROW + b"\n"
        with pytest.raises(ssl.SSLZeroReturnError):  # not a cut stream
            session.read(1)


def test_a_stream_that_can_not_be_followed_ends_with_a_goodbye(start: Start, authority: Authority) -> None:
    server = start(RowSocketServer, {**authority.server_options(), "loose-rowsocket-max-line-bytes": 4096})
    with server.raw("read", authority.context()) as client:
        client.send(b"x" * 10_000)
        assert client.line() == b"2\t1\ttoolong"
        assert client.socket.recv(1) == b""  # ssl.SSLEOFError without a close_notify


def test_counters_tell_of_tls(secured: RowSocketServer, authority: Authority) -> None:
    done = secured.counter("tls_handshakes")
    with secured.raw("read", authority.context()) as client:
        client.send(b"P\n")
        secured.wait_until("counts it", lambda: secured.counter("connections_tls") == 1)
        assert secured.counter("tls_handshakes") == done + 1
    secured.wait_until("counts no more", lambda: secured.counter("connections_tls") == 0)
    assert secured.counter("broken_invariants") == 0


def test_a_client_can_not_renegotiate(secured: RowSocketServer, authority: Authority) -> None:
    port = secured.read_port
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2", "-CAfile"]
    done = subprocess.run(
        [*command, str(authority.file)], input=b"R\n", capture_output=True, timeout=60, check=False
    )
    assert b"no renegotiation" in done.stderr.lower() + done.stdout.lower()


@pytest.mark.parametrize("version", [V1_2, V1_3])
def test_a_session_is_not_resumed_but_shaken_hands_for_anew(
    secured: RowSocketServer, authority: Authority, version: ssl.TLSVersion
) -> None:
    context = authority.context(version=version)
    with secured.raw("read", context) as first:
        assert isinstance(first.socket, ssl.SSLSocket)
        assert first.ask(OPEN) == OK
        session = first.socket.session
    plain = socket.create_connection(secured.read_address())
    with context.wrap_socket(plain, server_hostname="localhost", session=session) as again:
        assert not again.session_reused
        again.sendall(OPEN + b"\n")
        assert again.recv(100) == OK + b"\n"


def test_key_updates_are_followed(secured: RowSocketServer, authority: Authority) -> None:
    """`openssl s_client` makes one of the line K, and asks for one in turn."""
    key_update, done = b"K", b"KEYUPDATE"
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{secured.read_port}", "-tls1_3", "-CAfile"]
    with subprocess.Popen(
        [*command, str(authority.file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        for line, answer in (
            (OPEN, OK),
            (key_update, done),
            (FIND, ROW),
            (key_update, done),
            (key_update, done),
            (FIND, ROW),
        ):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            while process.stdout.readline().strip() != answer:
                assert process.poll() is None
        process.kill()


def cut_now(connection: RawConnection) -> None:
    """Close with a reset, beneath TLS."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.socket.close()


def test_clients_that_vanish_leave_nothing_behind(secured: RowSocketServer, authority: Authority) -> None:
    context = authority.context()
    for _ in range(30):
        client = secured.raw("write", context)
        client.send((OPEN + b"\n") * 50)
        cut_now(client)
    secured.wait_until("closed them", lambda: secured.counter("connections_tls") == 0)
    secured.wait_until("counts none", lambda: secured.counter("connections_write") == 0)


def test_kill_closes_connections_inside_tls(secured: RowSocketServer, authority: Authority) -> None:
    with secured.raw("read", authority.context()) as client:
        assert client.ask(OPEN) == OK
        close_all(secured)
        assert client.closed()
    with secured.raw("read", authority.context()) as client:
        assert client.ask(OPEN) == OK
