# SPDX-License-Identifier: GPL-2.0-only
"""Clients log in with accounts of the server: the server decides, by its own rules, as for SQL."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.accounts import OK, ONE_TOO_MANY, PASSWORD, UNAUTHENTICATED, account, client, log_in
from support.mariadb import Database, RowSocketServer, Start
from support.raw import REPLY_TIMEOUT_S, RawConnection
from support.tree import ServerTree

OPEN = b"P\t0\td\tt\t\tid,a"
FIND = b"0\t=\t1\t1"
ROW = b"0\t2\t1\t10"


@pytest.fixture(scope="module")
def closed_server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """A server as the default is: a client that names no account may do nothing.

    `d.t` has the row (1, 10).
    """
    server = RowSocketServer(tree, template, {"loose-rowsocket-anonymous-account": ""})
    server.options["loose-rowsocket-socket-write"] = str(server.folder / "write")
    with server:
        database = Database(server, "d")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
        database.sql("INSERT INTO t VALUES (1, 10)")
        yield server


def read_row(connection: RawConnection) -> bytes:
    """What a find of the row 1 is answered, or why the table is not opened."""
    opened, found = connection.ask_all(OPEN, FIND)
    return found if opened == OK else opened


def test_by_default_a_client_that_names_no_account_may_do_nothing(closed_server: RowSocketServer) -> None:
    with closed_server.raw("write") as connection:
        replies = connection.ask_all(OPEN, FIND, b"0\t+\t1\t2", b"G", FIND, b"E", b"A\t1\t")
    assert replies[:3] == [UNAUTHENTICATED] * 3
    assert UNAUTHENTICATED in replies[3:6]
    assert OK not in replies[:6]


def test_a_client_may_end_its_sending_side_behind_a_login(closed_server: RowSocketServer) -> None:
    """As `printf ... | nc` does. The last of many logins is surely looked at behind the end."""
    login = b"A\t2\tapp\t" + PASSWORD.encode()
    with (
        account(closed_server, "app@localhost", grants=["SELECT ON d.t"]),
        closed_server.raw("write") as connection,
    ):
        connection.send(b"".join(line + b"\n" for line in [*[login] * 20, OPEN, FIND]))
        connection.socket.shutdown(socket.SHUT_WR)
        assert [connection.line() for _ in range(22)] == [*[OK] * 21, ROW]


def test_the_password_of_an_account_lets_in(closed_server: RowSocketServer) -> None:
    with account(closed_server, "app@localhost", grants=["SELECT ON d.t"]):
        with client(closed_server, "app") as connection:
            assert read_row(connection) == ROW
        with client(closed_server, "app", port="read") as connection:
            assert read_row(connection) == ROW


def test_a_wrong_password_is_refused_and_takes_back_what_a_right_one_gave(
    closed_server: RowSocketServer,
) -> None:
    with (
        account(closed_server, "app@localhost", grants=["SELECT ON d.t"]),
        client(closed_server, "app") as connection,
    ):
        assert read_row(connection) == ROW
        assert log_in(connection, "app", "wrong") == UNAUTHENTICATED
        assert connection.ask(FIND) == UNAUTHENTICATED
        assert "Access denied for user 'app'@'localhost' (using password: YES)" in closed_server.log_text()


@pytest.mark.parametrize("user", ["nobody", "", "app\0", "a" * 100, "'app'", "root\n"])
def test_an_account_that_is_not_there_is_refused_like_a_wrong_password(
    closed_server: RowSocketServer, user: str
) -> None:
    with closed_server.raw("write") as connection:
        assert log_in(connection, user, "any") == UNAUTHENTICATED
        assert log_in(connection, user, "p" * 2000) == UNAUTHENTICATED


def test_what_was_opened_is_the_accounts_own(closed_server: RowSocketServer) -> None:
    with (
        account(closed_server, "app@localhost", grants=["SELECT ON d.t"]),
        account(closed_server, "other@localhost"),
        client(closed_server, "app") as connection,
    ):
        assert read_row(connection) == ROW
        assert log_in(connection, "other") == OK
        assert connection.ask(FIND) == b"2\t1\tstmtnum"


def test_requests_behind_a_login_wait_for_it(closed_server: RowSocketServer) -> None:
    with (
        account(closed_server, "app@localhost", grants=["SELECT ON d.t"]),
        closed_server.raw("write") as connection,
    ):
        login = b"A\t2\tapp\t" + PASSWORD.encode()
        replies = connection.ask_all(OPEN, login, OPEN, FIND, b"A\t2\tapp\twrong", FIND, login, OPEN, FIND)
    assert replies == [UNAUTHENTICATED, OK, OK, ROW, UNAUTHENTICATED, UNAUTHENTICATED, OK, OK, ROW]


def test_the_hosts_of_accounts_hold(closed_server: RowSocketServer) -> None:
    with (
        account(closed_server, "near@'127.0.0.%'", grants=["SELECT ON d.t"]),
        account(closed_server, "far@'10.%'", grants=["SELECT ON d.t"]),
        closed_server.raw("write") as connection,
    ):
        assert log_in(connection, "far") == UNAUTHENTICATED
        assert log_in(connection, "near") == OK
        assert read_row(connection) == ROW


@pytest.mark.parametrize(
    "options",
    [
        f"IDENTIFIED BY '{PASSWORD}' ACCOUNT LOCK",
        f"IDENTIFIED BY '{PASSWORD}' PASSWORD EXPIRE",
        f"IDENTIFIED BY '{PASSWORD}' REQUIRE SSL",
        f"IDENTIFIED BY '{PASSWORD}' REQUIRE X509",
        "IDENTIFIED VIA unix_socket",
    ],
)
def test_who_may_not_come_in_like_this_does_not(closed_server: RowSocketServer, options: str) -> None:
    with account(closed_server, "app@localhost", options), closed_server.raw("write") as connection:
        assert log_in(connection, "app") == UNAUTHENTICATED


def test_unix_socket_needs_no_password(closed_server: RowSocketServer) -> None:
    user = getpass.getuser()
    address = str(closed_server.options["loose-rowsocket-socket-write"])
    before = closed_server.value(f"SELECT authentication_string FROM mysql.user WHERE user = '{user}'")
    assert os.geteuid() == 0 and before == "", "the tests run as root, who has no password"
    closed_server.sql(f"ALTER USER {user}@localhost IDENTIFIED VIA unix_socket")
    try:
        with RawConnection(address) as connection:
            assert log_in(connection, user, "") == OK
            assert read_row(connection) == ROW
        with RawConnection(address) as connection:
            assert log_in(connection, "nobody", "") == UNAUTHENTICATED
        with closed_server.raw("write") as connection:
            assert log_in(connection, user, "") == UNAUTHENTICATED
    finally:
        closed_server.sql(f"ALTER USER {user}@localhost IDENTIFIED VIA mysql_native_password USING ''")


def test_ed25519(closed_server: RowSocketServer) -> None:
    closed_server.sql("INSTALL SONAME 'auth_ed25519'")
    try:
        for password in (PASSWORD, "x", "p" * 200):
            identified = f"IDENTIFIED VIA ed25519 USING PASSWORD('{password}')"
            with account(closed_server, "app@localhost", identified, ["SELECT ON d.t"]):
                with client(closed_server, "app", password) as connection:
                    assert read_row(connection) == ROW
                with closed_server.raw("write") as connection:
                    assert log_in(connection, "app", password + "x") == UNAUTHENTICATED
    finally:
        closed_server.sql("UNINSTALL SONAME 'auth_ed25519'")


def test_parsec(closed_server: RowSocketServer) -> None:
    if not (closed_server.tree.plugins / "auth_parsec.so").exists():
        pytest.skip("this MariaDB has no parsec")
    closed_server.sql("INSTALL SONAME 'auth_parsec'")
    try:
        for password in (PASSWORD, "x", "p" * 200):
            parsec = f"parsec USING PASSWORD('{password}')"
            native = "mysql_native_password USING PASSWORD('y')"
            for plugins in (parsec, f"unix_socket OR {parsec}", f"{native} OR {parsec}"):
                identified = f"IDENTIFIED VIA {plugins}"
                with account(closed_server, "app@localhost", identified, ["SELECT ON d.t"]):
                    with client(closed_server, "app", password) as connection:
                        assert read_row(connection) == ROW
                    with closed_server.raw("write") as connection:
                        assert log_in(connection, "app", password + "x") == UNAUTHENTICATED
                        assert log_in(connection, "app", "") == UNAUTHENTICATED
    finally:
        closed_server.sql("UNINSTALL SONAME 'auth_parsec'")


@pytest.fixture
def pam_service(closed_server: RowSocketServer, tmp_path: Path) -> Iterator[str]:
    """A service of PAM for which PASSWORD is right, whoever says it; the server asks PAM."""
    if os.geteuid() != 0:
        pytest.skip("making a service of PAM takes root")
    if closed_server.tree.has_own_loader:
        pytest.skip("PAM's modules are of the machine's Debian release")
    check = tmp_path / "check"
    check.write_text(f"#!/bin/sh\ntest \"$(tr -d '\\000')\" = '{PASSWORD}'\n")
    check.chmod(0o755)
    service = Path("/etc/pam.d") / f"rowsocket-test-{os.getpid()}"
    service.write_text(
        f"auth required pam_exec.so quiet expose_authtok {check}\naccount required pam_permit.so\n"
    )
    closed_server.sql("INSTALL SONAME 'auth_pam_v1'")
    try:
        yield service.name
    finally:
        closed_server.sql("UNINSTALL SONAME 'auth_pam_v1'")
        service.unlink()


def test_pam_decides_over_the_whole_password(closed_server: RowSocketServer, pam_service: str) -> None:
    """PAM takes the password in clear, up to a byte 0."""
    with account(
        closed_server, "app@localhost", f"IDENTIFIED VIA pam USING '{pam_service}'", ["SELECT ON d.t"]
    ):
        with client(closed_server, "app") as connection:
            assert read_row(connection) == ROW
        for wrong in ("wrong", "", f"{PASSWORD}\0", f"{PASSWORD}\0more", f"\0{PASSWORD}"):
            with closed_server.raw("write") as connection:
                assert log_in(connection, "app", wrong) == UNAUTHENTICATED, wrong


def test_a_default_role_is_taken_on(closed_server: RowSocketServer) -> None:
    closed_server.sql("CREATE ROLE reading")
    closed_server.sql("GRANT SELECT ON d.* TO reading")
    try:
        with account(closed_server, "app@localhost", grants=["reading"]):
            with client(closed_server, "app") as connection:
                assert read_row(connection) == b"1\t1\t1142"
            closed_server.sql("SET DEFAULT ROLE reading FOR app@localhost")
            with client(closed_server, "app") as connection:
                assert read_row(connection) == ROW
                closed_server.sql("REVOKE reading FROM app@localhost")
                assert connection.ask(FIND) == b"1\t1\t1142"
    finally:
        closed_server.sql("DROP ROLE reading")


def test_the_default_role_is_that_of_the_login_beside_clients_of_earlier_ones(
    closed_server: RowSocketServer,
) -> None:
    closed_server.sql("CREATE ROLE reading")
    closed_server.sql("GRANT SELECT ON d.* TO reading")
    try:
        with (
            account(closed_server, "app@localhost", grants=["reading"]),
            client(closed_server, "app") as earlier,
        ):
            closed_server.sql("SET DEFAULT ROLE reading FOR app@localhost")
            with client(closed_server, "app") as later:
                closed_server.sql("SET DEFAULT ROLE NONE FOR app@localhost")
                with client(closed_server, "app") as last:
                    rows = [read_row(connection) for connection in (earlier, later, last)]
                    assert rows == [b"1\t1\t1142", ROW, b"1\t1\t1142"]
    finally:
        closed_server.sql("DROP ROLE reading")


@pytest.mark.parametrize(
    ("default", "init_connect", "reply"),
    [
        ("reading", "SET ROLE NONE", b"1\t1\t1142"),
        ("writing", "SET ROLE reading", ROW),
        ("reading", "CALL d.tells()", ROW),
        ("reading", "SELECT 1 FROM d.nothing", None),
    ],
)
def test_init_connect_runs_at_a_login(
    start: Start, default: str, init_connect: str, reply: bytes | None
) -> None:
    """As in SQL: a role that it sets is the session's, and where it fails nobody comes in."""
    server = start(RowSocketServer, {"init-connect": init_connect, "rowsocket-anonymous-account": ""})
    database = Database(server, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY, a INT);\nINSERT INTO t VALUES (1, 10)")
    database.script("CREATE ROLE reading;\nCREATE ROLE writing")
    database.script("GRANT SELECT ON d.* TO reading;\nGRANT INSERT ON d.* TO writing")
    database.sql("CREATE PROCEDURE tells() SELECT 1")
    with account(server, "app@localhost", grants=["reading", "writing", "EXECUTE ON d.*"]):
        server.sql(f"SET DEFAULT ROLE {default} FOR app@localhost")
        with server.raw("write") as connection:
            assert log_in(connection, "app", PASSWORD) == (UNAUTHENTICATED if reply is None else OK)
            assert reply is None or read_row(connection) == reply


def test_skip_grant_tables_lets_in_whoever_logs_in(start: Start) -> None:
    """As SQL. Who has the anonymous account's rights has none while there are no accounts."""
    server = start(RowSocketServer, {"skip-grant-tables": None})
    database = Database(server, "d")
    database.script("CREATE TABLE t (id INT PRIMARY KEY, a INT);\nINSERT INTO t VALUES (1, 10)")
    with server.raw("write") as connection:
        assert connection.ask(OPEN) == UNAUTHENTICATED
        assert log_in(connection, "anybody", "anything") == OK
        assert read_row(connection) == ROW
        assert connection.ask(b"P\t1\tmysql\tglobal_priv\t\tUser").startswith(b"1\t1\t")
        server.sql("FLUSH PRIVILEGES")
        assert connection.ask(FIND) == UNAUTHENTICATED


def test_max_user_connections_counts_clients_that_are_logged_in(closed_server: RowSocketServer) -> None:
    options = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 2"
    with account(closed_server, "app@localhost", options, ["SELECT ON d.t"]):
        with (
            client(closed_server, "app"),
            client(closed_server, "app"),
            closed_server.raw("write") as third,
        ):
            assert log_in(third, "app") == ONE_TOO_MANY
            assert log_in(third, "app", "wrong") == UNAUTHENTICATED, "who guesses is told nothing"
        with closed_server.raw("write") as another:
            closed_server.wait_until("has forgotten them", lambda: log_in(another, "app") == OK)


def test_a_connection_too_many_is_told_in_the_servers_words(closed_server: RowSocketServer) -> None:
    options = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 1"
    closed_server.sql("SET GLOBAL rowsocket_error_detail = ON")
    try:
        with (
            account(closed_server, "app@localhost", options),
            client(closed_server, "app"),
            closed_server.raw("write") as second,
        ):
            words = b"User 'app' has exceeded the 'max_user_connections' resource (current value: 1)"
            assert log_in(second, "app") == ONE_TOO_MANY + b"\t" + words
    finally:
        closed_server.sql("SET GLOBAL rowsocket_error_detail = DEFAULT")


@pytest.mark.parametrize("user", ["jürgen", "Юрий"])
def test_a_name_may_have_any_letters(closed_server: RowSocketServer, user: str) -> None:
    with (
        account(closed_server, f"`{user}`@localhost", grants=["SELECT ON d.t"]),
        client(closed_server, user) as connection,
    ):
        assert read_row(connection) == ROW


def test_max_password_errors_locks_an_account(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-anonymous-account": "", "max-password-errors": 2})
    with account(server, "app@localhost"), server.raw("write") as connection:
        for _ in range(2):
            assert log_in(connection, "app", "wrong") == UNAUTHENTICATED
        assert log_in(connection, "app") == UNAUTHENTICATED
        server.sql("FLUSH PRIVILEGES")
        assert log_in(connection, "app") == OK


def test_the_general_log_and_audit_plugins_learn_of_logins(start: Start) -> None:
    server = start(
        RowSocketServer,
        {
            "loose-rowsocket-anonymous-account": "",
            "general-log": 1,
            "general-log-file": "general.log",
            "plugin-load-add": "rowsocket;server_audit",
            "loose-server-audit-logging": "ON",
            "loose-server-audit-events": "CONNECT",
        },
    )
    with account(server, "app@localhost"), server.raw("write") as connection:
        assert log_in(connection, "app", "wrong") == UNAUTHENTICATED
        assert log_in(connection, "app") == OK
    general = (server.data / "general.log").read_text()
    audit = (server.data / "server_audit.log").read_text()
    assert "Connect\tapp@localhost on  using TCP/IP" in general
    assert ",app,localhost," in audit
    assert ",CONNECT," in audit
    assert ",FAILED_CONNECT," in audit


def test_a_ports_secret_and_accounts_go_side_by_side(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    open_table = f"P\t0\t{database.name}\tt\t\tid".encode()
    server.sql("SET GLOBAL rowsocket_secret_read = 'sesame'")
    try:
        with account(server, "app@localhost"), server.raw("read") as connection:
            assert connection.ask(open_table) == UNAUTHENTICATED
            assert connection.ask(b"A\t1\tsesame") == OK
            assert connection.ask(open_table) == OK
            assert log_in(connection, "app") == OK
            assert connection.ask(open_table) == b"1\t1\t1142"
            assert connection.ask(b"A\t1\tsesame") == OK
            assert connection.ask(open_table) == OK
    finally:
        server.sql("SET GLOBAL rowsocket_secret_read = ''")


@pytest.mark.parametrize(
    ("hosts", "address"),
    [
        (["127.0.0.%", "127.0.0._"], "127.0.0.5"),
        (["127.0.0.%", "127.0.0._"], "127.0.0.55"),
        (["127.0.0.0/255.0.0.0", "127.%"], "127.0.0.1"),
        (["127.0.0.%", "127.0.0.0/255.255.255.0"], "127.0.0.1"),
    ],
)
def test_patterns_of_hosts_that_stand_for_each_other(
    closed_server: RowSocketServer, hosts: list[str], address: str
) -> None:
    """Whichever account the server has chosen, its rights hold."""
    with contextlib.ExitStack() as stack:
        for host in hosts:
            stack.enter_context(account(closed_server, f"app@'{host}'", grants=["SELECT ON d.t"]))
        connection = stack.enter_context(closed_server.raw("write"))
        connection.socket.close()
        connection.socket = socket.socket()
        connection.socket.settimeout(REPLY_TIMEOUT_S)
        connection.socket.bind((address, 0))
        connection.socket.connect(closed_server.write_address())
        assert log_in(connection, "app") == OK
        assert read_row(connection) == ROW
