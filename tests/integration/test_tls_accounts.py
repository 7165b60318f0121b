# SPDX-License-Identifier: GPL-2.0-only
"""Logins inside TLS: REQUIRE SSL and X509, and passwords that come over a network."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.accounts import OK, PASSWORD, UNAUTHENTICATED, account, log_in
from support.certificates import Authority, prepare_row
from support.mariadb import RowSocketServer
from support.raw import RawConnection
from support.tree import ServerTree

OPEN = b"P\t0\td\tt\t\tid,a"
FIND = b"0\t=\t1\t1"
ROW = b"0\t2\t1\t10"


@pytest.fixture(scope="module")
def guarded(tree: ServerTree, template: Path, authority: Authority) -> Iterator[RowSocketServer]:
    """A server with TLS on all addresses, that serves accounts only."""
    server = RowSocketServer(
        tree,
        template,
        {
            **authority.server_options(),
            "loose-rowsocket-anonymous-account": "",
            "loose-rowsocket-address": "*",
        },
    )
    server.options["loose-rowsocket-socket-write"] = str(server.folder / "write")
    with server:
        prepare_row(server)
        yield server


def can_log_in(server: RowSocketServer, tls: ssl.SSLContext | None) -> bool:
    """Whether `app` may log in like this, and then reads its row."""
    with server.raw("write", tls) as connection:
        reply = log_in(connection, "app")
        assert reply in (OK, UNAUTHENTICATED)
        if reply == OK:
            assert connection.ask_all(OPEN, FIND) == [OK, ROW]
        return reply == OK


for_each_requirement = pytest.mark.parametrize(
    ("requirement", "plain", "tls", "certificate"),
    [
        # what the account requires, then who may log in: without TLS, with TLS, with a certificate
        ("NONE", True, True, True),
        ("SSL", False, True, True),
        ("X509", False, False, True),
        ("SUBJECT '/CN=client'", False, False, True),
        ("SUBJECT '/CN=other'", False, False, False),
        ("ISSUER '/CN=RowSocket test CA'", False, False, True),
        ("ISSUER '/CN=another CA'", False, False, False),
        ("SUBJECT '/CN=client' AND ISSUER '/CN=RowSocket test CA'", False, False, True),
        ("SUBJECT '/CN=client' AND ISSUER '/CN=another CA'", False, False, False),
        ("CIPHER 'TLS_AES_256_GCM_SHA384'", False, True, True),
        ("CIPHER 'ECDHE-ECDSA-AES128-SHA'", False, False, False),
    ],
)


@for_each_requirement
def test_requirements_of_accounts_hold(
    guarded: RowSocketServer,
    authority: Authority,
    requirement: str,
    plain: bool,
    tls: bool,
    certificate: bool,
) -> None:
    options = f"IDENTIFIED BY '{PASSWORD}' REQUIRE {requirement}"
    with account(guarded, "app@localhost", options, ["SELECT ON d.t"]):
        assert can_log_in(guarded, None) == plain
        assert can_log_in(guarded, authority.context()) == tls
        assert can_log_in(guarded, authority.context(authority.sign("client"))) == certificate


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_certificate_is_checked_again_when_its_session_is_offered(
    guarded: RowSocketServer, authority: Authority, version: ssl.TLSVersion
) -> None:
    """Else one that has expired since, or was revoked, would still be good."""
    context = authority.context(authority.sign("client"), version=version)
    with account(guarded, "app@localhost", f"IDENTIFIED BY '{PASSWORD}' REQUIRE X509"):
        with guarded.raw("write", context) as first:
            assert log_in(first, "app") == OK
            assert isinstance(first.socket, ssl.SSLSocket)
            session = first.socket.session
        plain = socket.create_connection(guarded.write_address())
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as again:
            assert not again.session_reused
            again.sendall(f"A\t2\tapp\t{PASSWORD}\n".encode())
            assert again.recv(100) == OK + b"\n"


def test_accounts_of_unix_sockets_may_come_inside_tls(guarded: RowSocketServer, authority: Authority) -> None:
    with (
        account(guarded, "app@localhost", f"IDENTIFIED BY '{PASSWORD}' REQUIRE SSL"),
        RawConnection(str(guarded.folder / "write"), tls=authority.context()) as connection,
    ):
        assert log_in(connection, "app") == OK


def own_address() -> str:
    """An address of this machine that is not a loopback one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no network")
        address: str = probe.getsockname()[0]
    if address.startswith("127."):
        pytest.skip("this machine has no network")
    return address


def test_a_password_from_a_network_is_read_inside_tls_only(
    guarded: RowSocketServer, authority: Authority
) -> None:
    address = (own_address(), guarded.write_port)
    with account(guarded, "app@'%'", grants=["SELECT ON d.t"]):
        untried = guarded.counter("logins_untried")
        with RawConnection(address) as plain:
            assert log_in(plain, "app") == UNAUTHENTICATED
        assert guarded.counter("logins_untried") == untried + 1
        assert "sends a password over a network without encryption" in guarded.log_text()
        with RawConnection(address, tls=authority.context()) as inside:
            assert log_in(inside, "app") == OK
            assert inside.ask_all(OPEN, FIND) == [OK, ROW]


def test_a_thousand_logins_inside_tls_leave_nothing_behind(
    guarded: RowSocketServer, authority: Authority
) -> None:
    login = f"A\t2\tapp\t{PASSWORD}\n".encode()
    with (
        account(guarded, "app@localhost", f"IDENTIFIED BY '{PASSWORD}' REQUIRE X509", ["SELECT ON d.t"]),
        guarded.raw("write", authority.context(authority.sign("client"))) as connection,
    ):
        connection.send(login * 1000)
        assert set(connection.lines(1000)) == {OK}
        before_bytes = guarded.memory_bytes()
        for _ in range(5):
            connection.send(login * 1000)
            assert set(connection.lines(1000)) == {OK}
        assert guarded.memory_bytes() - before_bytes < 8 << 20


def test_a_client_that_vanishes_during_its_login_harms_nobody(
    guarded: RowSocketServer, authority: Authority
) -> None:
    """The server looks at the certificate while, or after, the connection goes."""
    context = authority.context(authority.sign("client"))
    with account(guarded, "app@localhost", f"IDENTIFIED BY '{PASSWORD}' REQUIRE X509", ["SELECT ON d.t"]):
        for _ in range(50):
            connection = guarded.raw("write", context)
            connection.send(f"A\t2\tapp\t{PASSWORD}\n".encode())
            connection.reset()
        assert can_log_in(guarded, context)


# ---- clients that name no account. (Their lines would keep those above out of the log.)


@pytest.fixture
def guest(guarded: RowSocketServer) -> Iterator[RowSocketServer]:
    """Clients that name no account act as `guest@localhost`, which is locked."""
    with account(guarded, "guest@localhost", "ACCOUNT LOCK", ["SELECT ON d.t"]):
        guarded.sql("SET GLOBAL rowsocket_anonymous_account = 'guest@localhost'")
        yield guarded
        guarded.sql("SET GLOBAL rowsocket_anonymous_account = ''")


def is_served(connection: RawConnection) -> bool:
    """Whether a client that names no account may read the row."""
    replies = connection.ask_all(OPEN, FIND)
    assert replies in ([OK, ROW], [UNAUTHENTICATED] * 2)
    return replies[0] == OK


@for_each_requirement
def test_requirements_of_the_anonymous_account_hold(
    guest: RowSocketServer,
    authority: Authority,
    requirement: str,
    plain: bool,
    tls: bool,
    certificate: bool,
) -> None:
    guest.sql(f"ALTER USER guest@localhost REQUIRE {requirement}")
    with (
        guest.raw("write") as in_plain,
        guest.raw("write", authority.context()) as in_tls,
        guest.raw("write", authority.context(authority.sign("client"))) as with_certificate,
        RawConnection(str(guest.folder / "write")) as over_unix,
    ):
        assert is_served(in_plain) == plain
        assert is_served(in_tls) == tls
        assert is_served(with_certificate) == certificate
        assert is_served(over_unix) == plain, "as by the server, a unix socket is no TLS"


@pytest.mark.parametrize("name", ["o'brien", "a REQUIRE b", 'a"b', "a`b"])
@pytest.mark.parametrize("mode", ["", "ANSI_QUOTES"])
def test_no_quote_in_a_name_hides_what_the_anonymous_account_requires(
    guarded: RowSocketServer, authority: Authority, name: str, mode: str
) -> None:
    quoted = "`" + name.replace("`", "``") + "`@localhost"
    guarded.sql("SET GLOBAL sql_mode = %s", [mode])
    try:
        with account(guarded, quoted, "REQUIRE SSL", ["SELECT ON d.t"]):
            guarded.sql("SET GLOBAL rowsocket_anonymous_account = %s", [f"{name}@localhost"])
            with guarded.raw("write") as in_plain, guarded.raw("write", authority.context()) as in_tls:
                assert not is_served(in_plain)
                assert is_served(in_tls)
    finally:
        guarded.sql("SET GLOBAL rowsocket_anonymous_account = ''")
        guarded.sql("SET GLOBAL sql_mode = DEFAULT")


@pytest.mark.parametrize(
    "requirement", ["SUBJECT ''", "ISSUER ''", "SUBJECT '' AND ISSUER ''"], ids=["subject", "issuer", "both"]
)
def test_an_empty_requirement_of_the_anonymous_account_still_wants_tls(
    guest: RowSocketServer, authority: Authority, requirement: str
) -> None:
    """As acl_check_ssl of the server, which reads the account's row again with FLUSH PRIVILEGES."""
    guest.sql(f"ALTER USER guest@localhost REQUIRE {requirement} ACCOUNT UNLOCK")
    guest.sql("FLUSH PRIVILEGES")
    with guest.raw("write") as in_plain, guest.raw("write", authority.context()) as in_tls:
        assert not is_served(in_plain)
        assert is_served(in_tls)


def test_a_certificate_that_the_anonymous_account_requires_may_have_a_quote_in_its_name(
    guest: RowSocketServer, authority: Authority
) -> None:
    guest.sql("ALTER USER guest@localhost REQUIRE SUBJECT '/CN=O''Brien'")
    with (
        guest.raw("write", authority.context(authority.sign("O'Brien"))) as the_one,
        guest.raw("write", authority.context(authority.sign("O"))) as another,
    ):
        assert is_served(the_one)
        assert not is_served(another)


@pytest.mark.parametrize(
    "rule",
    [
        "REQUIRE SUBJECT '/CN=client'' and more'",
        "REQUIRE ISSUER '/CN=x'' y' AND SUBJECT '/CN=client'",
        "IDENTIFIED VIA unix_socket USING 'it''s' REQUIRE SUBJECT '/CN=O''Brien'",
        "IDENTIFIED VIA unix_socket USING 'a REQUIRE b' REQUIRE SSL",
        "IDENTIFIED VIA unix_socket USING 'a REQUIRE b'",
    ],
)
def test_what_the_anonymous_account_requires_is_refused_where_it_cannot_be_told(
    guest: RowSocketServer, authority: Authority, rule: str
) -> None:
    """The server writes the quotes of a value as they are."""
    guest.sql(f"ALTER USER guest@localhost {rule}")
    with (
        guest.raw("write") as in_plain,
        guest.raw("write", authority.context(authority.sign("client"))) as with_certificate,
    ):
        assert not is_served(in_plain)
        assert not is_served(with_certificate)


def test_a_quote_in_a_secret_hides_nothing_that_the_anonymous_account_requires(
    guest: RowSocketServer, authority: Authority
) -> None:
    guest.sql("ALTER USER guest@localhost IDENTIFIED VIA unix_socket USING 'it''s' REQUIRE SSL")
    with guest.raw("write") as in_plain, guest.raw("write", authority.context()) as in_tls:
        assert not is_served(in_plain)
        assert is_served(in_tls)


@pytest.mark.parametrize(
    "rule", ["WITH MAX_STATEMENT_TIME 5", "WITH MAX_USER_CONNECTIONS 9", "PASSWORD EXPIRE NEVER"]
)
def test_other_rules_of_the_anonymous_account_hide_nothing_that_it_requires(
    guest: RowSocketServer, authority: Authority, rule: str
) -> None:
    guest.sql(f"ALTER USER guest@localhost REQUIRE SSL {rule}")
    with guest.raw("write") as in_plain, guest.raw("write", authority.context()) as in_tls:
        assert not is_served(in_plain)
        assert is_served(in_tls)


def test_who_is_not_let_in_may_log_in(guest: RowSocketServer) -> None:
    guest.sql("ALTER USER guest@localhost REQUIRE SSL")
    with account(guest, "app@localhost", grants=["SELECT ON d.t"]), guest.raw("write") as connection:
        assert not is_served(connection)
        assert log_in(connection, "app") == OK
        assert is_served(connection)
        assert log_in(connection, "app", "wrong") == UNAUTHENTICATED
        assert not is_served(connection)


def test_who_came_before_there_was_an_anonymous_account_is_asked_how_he_came(
    guarded: RowSocketServer, authority: Authority
) -> None:
    guarded.sql("SET GLOBAL rowsocket_anonymous_account = 'late@localhost'")
    try:
        with guarded.raw("write") as in_plain, guarded.raw("write", authority.context()) as in_tls:
            assert not is_served(in_plain)
            assert not is_served(in_tls)
            with account(guarded, "late@localhost", "REQUIRE SSL", ["SELECT ON d.t"]):
                assert not is_served(in_plain)
                assert is_served(in_tls)
    finally:
        guarded.sql("SET GLOBAL rowsocket_anonymous_account = ''")


def test_require_secure_transport_holds_for_clients_without_an_account(
    guest: RowSocketServer, authority: Authority
) -> None:
    guest.sql("SET GLOBAL require_secure_transport = ON")
    try:
        with (
            guest.raw("write") as in_plain,
            guest.raw("write", authority.context()) as in_tls,
            RawConnection(str(guest.folder / "write")) as over_unix,
        ):
            assert not is_served(in_plain)
            assert is_served(in_tls)
            assert is_served(over_unix)
    finally:
        guest.sql("SET GLOBAL require_secure_transport = OFF")


def test_a_changed_requirement_holds_for_clients_that_come(guest: RowSocketServer) -> None:
    with guest.raw("write") as before, guest.raw("write") as after:
        assert is_served(before)
        guest.sql("ALTER USER guest@localhost REQUIRE SSL")
        assert is_served(before), "as a session of SQL"
        assert not is_served(after)
        guest.sql("SET GLOBAL rowsocket_anonymous_account = ''")
        guest.wait_until("is nobody", lambda: not is_served(before))
        guest.sql("SET GLOBAL rowsocket_anonymous_account = 'guest@localhost'")
        assert not is_served(before), "it comes in again"
        guest.sql("ALTER USER guest@localhost REQUIRE NONE")
        with guest.raw("write") as another:
            assert is_served(another)
