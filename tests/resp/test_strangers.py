# SPDX-License-Identifier: GPL-2.0-only
"""Clients that may not read: none is told anything of the server, whatever it was before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.accounts import PASSWORD, account
from support.resp import RespConnection, RespServer
from support.tree import ServerTree

COMMANDS = (
    "PING",
    "ECHO a",
    "INFO",
    "CONFIG GET maxclients",
    "CLIENT INFO",
    "COMMAND COUNT",
    "TIME",
    "SELECT shop",
    "MULTI",
    "GET a",
    "GET @@none.a",
    "NOSUCH",
)
NO_AUTHENTICATION = b"-NOAUTH Authentication required.\r\n"


@pytest.fixture(scope="module")
def guarded_server(tree: ServerTree, template: Path) -> Iterator[RespServer]:
    """A server with the account `app`, whose other clients act as `guest`, who is locked.

    Neither may use the table of the container `hidden`.
    """
    with RespServer(tree, template, {"loose-rowsocket-anonymous-account": "root@localhost"}) as server:
        server.prepare()
        server.sql("CREATE DATABASE closed")
        server.sql("CREATE TABLE closed.t LIKE app.item")
        server.contain("hidden", "closed.t")
        with (
            account(server, "app@localhost", grants=["ALL ON app.*"]),
            account(server, "guest@localhost", "ACCOUNT LOCK", ["ALL ON app.*"]),
        ):
            yield server


@pytest.fixture
def guarded(guarded_server: RespServer) -> Iterator[RespServer]:
    """The same; what a test sets is taken back."""
    guarded_server.sql("SET GLOBAL rowsocket_anonymous_account = 'guest@localhost'")
    yield guarded_server
    guarded_server.sql("SET GLOBAL rowsocket_max_account_connections = 0")
    guarded_server.sql("SET GLOBAL require_secure_transport = OFF")
    guarded_server.sql("ALTER USER guest@localhost REQUIRE NONE")
    guarded_server.wait_until("is alone", lambda: accounts_shown(guarded_server) == [])


def is_told_nothing(client: RespConnection) -> bool:
    """Whether each command is refused; none of them is served else."""
    replies = [client.command(*command.split()) for command in COMMANDS]
    told = [reply != NO_AUTHENTICATION for reply in replies]
    assert all(told) or not any(told), replies
    return not any(told)


def accounts_shown(server: RespServer) -> list[str | None]:
    """Those of clients, as administrators see them."""
    rows = server.sql("SELECT ACCOUNT FROM information_schema.ROWSOCKET_CONNECTIONS ORDER BY ID")
    return [name for (name,) in rows]


@pytest.mark.parametrize("command", COMMANDS)
def test_who_comes_without_the_tls_that_is_required_is_told_nothing(
    guarded: RespServer, command: str
) -> None:
    """With its first command, too."""
    guarded.sql("ALTER USER guest@localhost REQUIRE SSL")
    with guarded.resp() as client:
        assert client.command(*command.split()) == NO_AUTHENTICATION
        assert is_told_nothing(client)
        assert client.command("HELLO", 3).startswith(b"-NOAUTH HELLO ")
        assert client.command("RESET") == b"+RESET\r\n"
        assert accounts_shown(guarded) == [None]
        assert client.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        assert accounts_shown(guarded) == ["app@localhost"]
        assert client.command("PING") == b"+PONG\r\n"


def test_require_secure_transport_holds_for_what_asks_for_no_table(guarded: RespServer) -> None:
    guarded.sql("SET GLOBAL require_secure_transport = ON")
    with guarded.resp() as client:
        assert is_told_nothing(client)
        assert client.command("QUIT") == b"+OK\r\n"


def test_who_has_no_seat_is_told_nothing_and_may_log_in(guarded: RespServer) -> None:
    guarded.sql("SET GLOBAL rowsocket_max_account_connections = 1")
    with guarded.resp() as first, guarded.resp() as second:
        assert first.command("PING") == b"+PONG\r\n"
        for command in ("PING", "INFO", "MULTI"):
            assert second.command(*command.split()) == NO_AUTHENTICATION
        assert second.command("HELLO", 3).startswith(b"-NOAUTH HELLO ")
        assert accounts_shown(guarded) == ["guest@localhost", None]
        assert second.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        assert second.command("PING") == b"+PONG\r\n"
        with guarded.resp() as third:
            assert third.command("GET", "a").startswith(b"-ERR too_many_connections")
            assert third.closed()
    with guarded.resp() as client:
        guarded.wait_until("has a seat", lambda: client.command("PING") == b"+PONG\r\n")
        assert accounts_shown(guarded) == ["guest@localhost"]


def test_a_failed_login_takes_back_what_a_right_one_gave(guarded: RespServer) -> None:
    guarded.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    with guarded.resp() as client:
        assert client.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        assert client.command("PING") == b"+PONG\r\n"
        assert client.command("AUTH", "app", "wrong").startswith(b"-WRONGPASS")
        assert is_told_nothing(client)


def test_a_dropped_account_is_told_nothing(guarded: RespServer) -> None:
    guarded.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    with contextlib.ExitStack() as stack:
        with account(guarded, "word@localhost", grants=["ALL ON app.*"]):
            clients = [stack.enter_context(guarded.resp()) for _ in COMMANDS]
            for client in clients:
                assert client.command("AUTH", "word", PASSWORD) == b"+OK\r\n"
        for client, command in zip(clients, COMMANDS, strict=True):
            assert client.command(*command.split()) == NO_AUTHENTICATION
            assert is_told_nothing(client)
        assert set(accounts_shown(guarded)) == {None}


def test_a_dropped_account_that_is_made_anew_does_not_take_over_old_connections(guarded: RespServer) -> None:
    guarded.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    with guarded.resp() as noticed, guarded.resp() as silent:
        with account(guarded, "word@localhost", grants=["ALL ON app.*"]):
            for client in (noticed, silent):
                assert client.command("AUTH", "word", PASSWORD) == b"+OK\r\n"
        assert noticed.command("GET", "a") == NO_AUTHENTICATION
        with account(guarded, "word@localhost", grants=["ALL ON app.*"]):
            for client in (noticed, silent):
                assert client.command("GET", "a") == NO_AUTHENTICATION
                assert is_told_nothing(client)
            assert noticed.command("AUTH", "word", PASSWORD) == b"+OK\r\n"
            assert noticed.command("PING") == b"+PONG\r\n"
            assert silent.command("PING") == NO_AUTHENTICATION


def test_a_dropped_anonymous_account_is_told_nothing(guarded: RespServer) -> None:
    with account(guarded, "word@localhost", grants=["ALL ON app.*"]):
        guarded.sql("SET GLOBAL rowsocket_anonymous_account = 'word@localhost'")
        client = guarded.resp()
        guarded.wait_until("serves", lambda: client.command("PING") == b"+PONG\r\n")
    with client:
        assert is_told_nothing(client)
        assert accounts_shown(guarded) == [None]


def test_nothing_is_done_of_what_a_dropped_account_collected(guarded: RespServer) -> None:
    guarded.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    with guarded.resp() as client, guarded.resp() as other:
        with account(guarded, "word@localhost", grants=["ALL ON app.*"]):
            for one in (client, other):
                assert one.command("AUTH", "word", PASSWORD) == b"+OK\r\n"
                assert one.command("MULTI") == b"+OK\r\n"
                assert one.command("SET", "never", "1") == b"+QUEUED\r\n"
        assert client.command("SET", "never", "2") == NO_AUTHENTICATION
        assert client.command("EXEC") == NO_AUTHENTICATION
        assert client.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        assert client.command("GET", "never") == b"$-1\r\n"
        assert other.command("RESET") == b"+RESET\r\n"
        assert other.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        assert other.command("EXEC") == b"-ERR EXEC without MULTI\r\n"


@pytest.mark.parametrize(
    "command",
    [
        "MGET @@hidden.1",
        "MGET a @@hidden.1",
        "DEL a @@hidden.1",
        "EXISTS a @@hidden.1",
        "MSET a x @@hidden.1 y",
    ],
)
def test_a_refusal_names_no_table_that_the_client_did_not_name(guarded: RespServer, command: str) -> None:
    refusal = b"-NOPERM container 'hidden': sql 1142: SELECT denied to 'app'@'localhost'\r\n"
    with guarded.resp() as client:
        assert client.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        assert client.command(*command.split()) == refusal
        assert client.command("MULTI") == b"+OK\r\n"
        assert client.command("GET", "a") == b"+QUEUED\r\n"
        assert client.command(*command.split()) == b"+QUEUED\r\n"
        assert client.command("EXEC") == refusal
