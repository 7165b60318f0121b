# SPDX-License-Identifier: GPL-2.0-only
"""Authentication plugins that want more of a client than a password: what works, and what can not."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.accounts import OK, PASSWORD, UNAUTHENTICATED, account, log_in
from support.mariadb import Database, RowSocketServer
from support.tree import ServerTree

TOKEN = base64.b64encode(b"\x60\0token\xff").decode()
NATIVE = f"mysql_native_password USING PASSWORD('{PASSWORD}')"


@pytest.fixture(scope="module")
def asking_server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """A server with the plugins of auth_steps.c."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    server = RowSocketServer(tree, template, {"loose-rowsocket-anonymous-account": "", "secure-auth": "OFF"})
    library = Path(str(server.options["plugin-dir"])) / "auth_steps.so"
    headers = tree.root / "usr/include/mariadb/server"
    source = Path(__file__).with_name("auth_steps.c")
    command = [compiler, "-shared", "-fPIC", "-DMYSQL_DYNAMIC_PLUGIN", "-I", str(headers), "-o", str(library)]
    subprocess.run([*command, str(source)], check=True)
    with server:
        server.sql("INSTALL SONAME 'auth_steps'")
        yield server


def reply_to(server: RowSocketServer, plugins: str, password: str) -> bytes:
    """What a client with this password is told that logs in with an account of these plugins."""
    with account(server, "app@localhost", f"IDENTIFIED VIA {plugins}"), server.raw("write") as connection:
        return log_in(connection, "app", password)


def test_a_token_in_base64_is_what_gssapi_asks_for(asking_server: RowSocketServer) -> None:
    assert reply_to(asking_server, "one_token", TOKEN) == OK
    for wrong in ("", "x", TOKEN[:-1], TOKEN + "=", base64.b64encode(b"another").decode(), TOKEN * 100):
        assert reply_to(asking_server, "one_token", wrong) == UNAUTHENTICATED, wrong


def test_a_token_may_be_as_long_as_kerberos_makes_it(asking_server: RowSocketServer) -> None:
    """It is compared, and not refused unread."""
    before = asking_server.counter("logins_untried")
    long_token = base64.b64encode(b"\x60" * 12_000).decode()
    assert reply_to(asking_server, "one_token", long_token) == UNAUTHENTICATED
    assert asking_server.counter("logins_untried") == before


@pytest.mark.parametrize("plugins", [f"one_token OR {NATIVE}", f"{NATIVE} OR one_token"])
def test_an_account_may_have_gssapi_and_a_password(asking_server: RowSocketServer, plugins: str) -> None:
    for password in (TOKEN, PASSWORD):
        assert reply_to(asking_server, plugins, password) == OK
    assert reply_to(asking_server, plugins, "wrong") == UNAUTHENTICATED


def test_an_account_may_have_two_plugins_of_tokens(asking_server: RowSocketServer) -> None:
    assert reply_to(asking_server, "another_token OR one_token", TOKEN) == OK


def test_who_wants_a_second_token_gets_none(asking_server: RowSocketServer) -> None:
    assert reply_to(asking_server, "two_tokens", TOKEN) == UNAUTHENTICATED


def test_who_asks_again_and_again_gets_no_answer_any_more(asking_server: RowSocketServer) -> None:
    assert reply_to(asking_server, "many_questions", PASSWORD) == UNAUTHENTICATED


def test_a_plugin_that_is_not_known_refuses(asking_server: RowSocketServer) -> None:
    for password in ("", TOKEN, PASSWORD):
        assert reply_to(asking_server, "unheard_of", password) == UNAUTHENTICATED
        assert "Access denied for user 'app'@'localhost'" in asking_server.log_text()
    assert reply_to(asking_server, f"{NATIVE} OR unheard_of", PASSWORD) == OK


def test_passwords_of_servers_before_4_1_are_refused(asking_server: RowSocketServer) -> None:
    old = f"mysql_old_password USING '{asking_server.value('SELECT OLD_PASSWORD(%s)', [PASSWORD])}'"
    assert reply_to(asking_server, old, PASSWORD) == UNAUTHENTICATED
    assert reply_to(asking_server, f"{NATIVE} OR {old}", PASSWORD) == OK


def test_a_proxied_login_acts_as_the_other_account(asking_server: RowSocketServer) -> None:
    """What it may do is the other account's, now. Who it was matters for the login only, as in SQL."""
    server = asking_server
    database = Database(server, "d")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, u VARCHAR(90) DEFAULT (USER()), c VARCHAR(90) DEFAULT
        (CURRENT_USER()))"""
    )
    with (
        account(server, "boss@localhost", "ACCOUNT LOCK", ["SELECT, INSERT ON d.t"]),
        account(server, "app@localhost", "IDENTIFIED VIA another_name USING 'boss'"),
        server.raw("write") as connection,
    ):
        assert log_in(connection, "app", "x") == UNAUTHENTICATED
        server.sql("GRANT PROXY ON boss@localhost TO app@localhost")
        assert log_in(connection, "app", "x") == OK
        assert connection.ask(b"P\t1\td\tt\t\tid,u,c") == OK
        assert connection.ask(b"1\t+\t1\t5") == OK
        assert connection.ask(b"1\t=\t1\t5") == b"0\t3\t5\tapp@localhost\tboss@localhost"
        server.sql("REVOKE PROXY ON boss@localhost FROM app@localhost")
        server.sql("DROP USER app@localhost")
        assert connection.ask(b"1\t+\t1\t6") == OK
        server.sql("REVOKE INSERT ON d.t FROM boss@localhost")
        assert connection.ask(b"1\t+\t1\t7") == b"1\t1\t1142"
        server.sql("DROP USER boss@localhost")
        assert connection.ask(b"1\t=\t1\t5") == UNAUTHENTICATED
