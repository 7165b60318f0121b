# SPDX-License-Identifier: GPL-2.0-only
"""Wrong passwords: how often they are tried, what they leave in the log, and what they cost others."""

from __future__ import annotations

import contextlib
import select
import socket
import time

import pytest

from support.accounts import OK, PASSWORD, UNAUTHENTICATED, account, log_in
from support.mariadb import RowSocketServer, Start
from support.raw import REPLY_TIMEOUT_S, RawConnection

AT_ONCE = 5
"""Wrong passwords of one party that are tried without a pause; then one per second."""
WAITING = 16
"""Logins of a party that guesses that may wait."""

WRONG = b"A\t2\tapp\twrong\n"


@pytest.fixture
def guarded(start: Start) -> RowSocketServer:
    """A server with the account `app@localhost`, a unix socket, and no anonymous account."""
    server = start(
        RowSocketServer,
        {"loose-rowsocket-anonymous-account": "", "max-password-errors": 4294967295},
    )
    server.options["loose-rowsocket-socket-write"] = str(server.folder / "write")
    server.restart()
    server.sql(f"CREATE USER app@localhost IDENTIFIED BY '{PASSWORD}'")
    return server


def occupy(server: RowSocketServer, stack: contextlib.ExitStack) -> None:
    """This machine's loopback has guessed too often, and as many logins wait as may."""
    for _ in range(AT_ONCE + WAITING):
        stack.enter_context(server.raw("write")).send(WRONG)

    def refuses_untried() -> bool:
        # One more each time: on a slow machine one of the first was tried before the last one came.
        stack.enter_context(server.raw("write")).send(WRONG)
        return server.counter("logins_untried") > 0

    server.wait_until("refuses untried", refuses_untried)


@pytest.mark.slow
def test_a_flood_of_guesses_is_answered_but_few_are_tried(guarded: RowSocketServer) -> None:
    total = 1_000_000
    with contextlib.ExitStack() as stack:
        occupy(guarded, stack)
        before_bytes = guarded.memory_bytes()
        began = time.monotonic()
        flood(guarded, stack, total)
        took_s = time.monotonic() - began
        tried = guarded.counter("logins_refused")
        assert tried <= 2 * AT_ONCE + took_s + WAITING
        assert guarded.counter("logins_untried") >= total - took_s - WAITING
        lines = guarded.log_text().count("Access denied for user 'app'")
        assert lines <= tried
        assert guarded.memory_bytes() - before_bytes < 64 << 20


def flood(server: RowSocketServer, stack: contextlib.ExitStack, total: int) -> None:
    """Wrong passwords over many connections, until so many were refused.

    A connection whose login waits stands still, and the others go on.
    """
    sockets = [stack.enter_context(server.raw("write")).socket for _ in range(3 * WAITING)]
    asked = dict.fromkeys(sockets, 0)
    refused = dict.fromkeys(sockets, 0)
    line = UNAUTHENTICATED + b"\n"
    while sum(refused.values()) < total * len(line):
        ahead = [one for one in sockets if asked[one] // len(WRONG) < refused[one] // len(line) + 5000]
        readable, writable, _ = select.select(sockets, ahead, [], REPLY_TIMEOUT_S)
        assert readable or writable
        for one in writable:
            asked[one] += one.send(WRONG[asked[one] % len(WRONG) :] + WRONG * 1000)
        for one in readable:
            piece = one.recv(1 << 16)
            assert piece, "the server has closed"
            assert piece in line * (len(piece) // len(line) + 2)
            refused[one] += len(piece)


def test_who_guesses_slows_down_its_own_address_only(guarded: RowSocketServer) -> None:
    with contextlib.ExitStack() as stack:
        occupy(guarded, stack)
        with RawConnection(str(guarded.folder / "write")) as other:
            assert log_in(other, "app") == OK


def test_guesses_for_one_account_hold_up_no_other_of_the_same_address(guarded: RowSocketServer) -> None:
    guarded.sql(f"CREATE USER other@localhost IDENTIFIED BY '{PASSWORD}'")
    with contextlib.ExitStack() as stack:
        occupy(guarded, stack)
        with guarded.raw("write") as connection:
            assert log_in(connection, "other") == OK


def test_who_was_right_before_comes_before_a_flood_from_many_addresses(guarded: RowSocketServer) -> None:
    with guarded.raw("write") as connection:
        assert log_in(connection, "app") == OK
        assert any(overtakes_a_flood(guarded, connection, network) for network in range(1, 9))


def overtakes_a_flood(server: RowSocketServer, connection: RawConnection, network: int) -> bool:
    """Whether the login had its answer before the flood was over. It may be over before the login is sent, on
    a machine that gives the test no time: then nothing is known."""
    count = 1000
    before = server.counter("logins_refused")
    with contextlib.ExitStack() as stack:
        for number in range(count):
            guesser = stack.enter_context(socket.socket())
            guesser.bind((f"127.{network}.{number >> 8}.{number & 255}", 0))
            guesser.connect(server.write_address())
            guesser.sendall(b"A\t2\troot\twrong\n")
        assert log_in(connection, "app") == OK
        return server.counter("logins_refused") - before < count


def test_who_is_logged_in_is_not_held_up(guarded: RowSocketServer) -> None:
    guarded.sql("CREATE DATABASE d")
    guarded.sql("CREATE TABLE d.t (id INT PRIMARY KEY)")
    guarded.sql("GRANT SELECT ON d.t TO app@localhost")
    with guarded.raw("write") as connection, contextlib.ExitStack() as stack:
        assert log_in(connection, "app") == OK
        assert connection.ask(b"P\t0\td\tt\t\tid") == OK
        occupy(guarded, stack)
        for _ in range(100):
            assert connection.ask(b"0\t=\t1\t1") == b"0\t1"


def test_right_passwords_are_never_slowed_down(guarded: RowSocketServer) -> None:
    with guarded.raw("write") as connection:
        login = b"A\t2\tapp\t" + PASSWORD.encode()
        assert set(connection.ask_all(*[login] * 2000)) == {OK}
    assert guarded.counter("logins") == 2000


def test_a_thousand_clients_log_in_at_once(guarded: RowSocketServer) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(guarded.raw("write")) for _ in range(1000)]
        for connection in clients:
            connection.send(b"A\t2\tapp\t" + PASSWORD.encode() + b"\n")
        assert {connection.line() for connection in clients} == {OK}


def test_clients_that_vanish_leave_nothing_behind(guarded: RowSocketServer) -> None:
    guarded.sql("ALTER USER app@localhost WITH MAX_USER_CONNECTIONS 20")
    for _ in range(20):
        clients = [guarded.raw("write") for _ in range(10)]
        for connection in clients:
            connection.send(b"A\t2\tapp\t" + PASSWORD.encode() + b"\n")
        for connection in clients:
            connection.reset()
    with guarded.raw("write") as connection:
        guarded.wait_until("lets in", lambda: log_in(connection, "app") == OK)
    guarded.wait_until("closed them", lambda: int(guarded.counter("connections_write")) == 0)


def test_the_plugin_is_uninstalled_while_clients_log_in(start: Start) -> None:
    server = start(RowSocketServer)
    with account(server, "app@localhost"), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.raw("write")) for _ in range(200)]
        for connection in clients:
            connection.send(b"A\t2\tapp\t" + PASSWORD.encode() + b"\n")
        server.sql("UNINSTALL SONAME 'rowsocket'")
        assert server.value("SELECT 1") == 1
