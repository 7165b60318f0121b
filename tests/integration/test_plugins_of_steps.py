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
from support.mariadb import RowSocketServer
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


def test_who_wants_a_second_token_gets_none(asking_server: RowSocketServer) -> None:
    assert reply_to(asking_server, "two_tokens", TOKEN) == UNAUTHENTICATED


def test_a_plugin_that_is_not_known_refuses(asking_server: RowSocketServer) -> None:
    for password in ("", TOKEN, PASSWORD):
        assert reply_to(asking_server, "unheard_of", password) == UNAUTHENTICATED
        assert "Access denied for user 'app'@'localhost'" in asking_server.log_text()
    assert reply_to(asking_server, f"{NATIVE} OR unheard_of", PASSWORD) == OK


def test_passwords_of_servers_before_4_1_are_refused(asking_server: RowSocketServer) -> None:
    old = f"mysql_old_password USING '{asking_server.value('SELECT OLD_PASSWORD(%s)', [PASSWORD])}'"
    assert reply_to(asking_server, old, PASSWORD) == UNAUTHENTICATED
    assert reply_to(asking_server, f"{NATIVE} OR {old}", PASSWORD) == OK
