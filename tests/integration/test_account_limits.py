# SPDX-License-Identifier: GPL-2.0-only
"""rowsocket_max_account_*: what all clients of one account may have at once. Its flood is its own.

Limits of 0 are the default, so each test says its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.accounts import OK, ONE_TOO_MANY, PASSWORD, UNAUTHENTICATED, account, client, log_in
from support.mariadb import Database, RowSocketServer
from support.raw import ConnectionClosed, RawConnection
from support.resp import RespConnection
from support.tree import ServerTree

OPEN = b"P\t0\td\tt\t\tid,a"
FIND = b"0\t=\t1\t1"
ROW = b"0\t2\t1\tten"
CHANGE = b"0\t=\t1\t1\t1\t0\tU\t1\tten"
CHANGED = b"0\t1\t1"

LIMITS = ("connections", "requests", "bytes")


@pytest.fixture(scope="module")
def limited_server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """A server with the accounts `app` and `other`, and all doors; `d.t` has the row (1, "ten")."""
    server = RowSocketServer(
        tree,
        template,
        {
            "loose-rowsocket-anonymous-account": "",
            "loose-rowsocket-port-resp": "0",
            "loose-rowsocket-port-memcached": "0",
            "loose-rowsocket-error-detail": "OFF",
            "loose-rowsocket-threads-write": "2",
        },
    )
    with server:
        database = Database(server, "d")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY, a LONGTEXT)")
        database.sql("INSERT INTO t VALUES (1, 'ten')")
        with contextlib.ExitStack() as stack:
            for user in ("app", "other"):
                stack.enter_context(account(server, f"{user}@localhost", grants=["ALL ON d.*"]))
            yield server


@pytest.fixture
def own(limited_server: RowSocketServer) -> Iterator[RowSocketServer]:
    """The same; what a test sets is taken back."""
    yield limited_server
    for limit in LIMITS:
        set_limit(limited_server, limit, 0)
    limited_server.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    limited_server.sql("SET GLOBAL rowsocket_error_detail = OFF")
    limited_server.wait_until("is alone", lambda: limited_server.counter("connections_write") == 0)


def set_limit(server: RowSocketServer, limit: str, count: int) -> None:
    """`SET GLOBAL rowsocket_max_account_<limit>`."""
    server.sql(f"SET GLOBAL rowsocket_max_account_{limit} = {count}")


@contextlib.contextmanager
def reader(server: RowSocketServer, user: str) -> Iterator[RawConnection]:
    """A client of this account that has opened the table."""
    with client(server, user) as connection:
        assert connection.ask(OPEN) == OK
        yield connection


# ---- connections


def test_a_connection_too_many_is_refused_when_it_logs_in(own: RowSocketServer) -> None:
    set_limit(own, "connections", 2)
    refused = own.counter("account_connections_refused")
    with contextlib.ExitStack() as stack:
        stack.enter_context(client(own, "app"))
        second = stack.enter_context(own.raw("write"))
        assert log_in(second, "app") == OK
        third = stack.enter_context(own.raw("write"))
        assert log_in(third, "app") == ONE_TOO_MANY
        assert third.ask(OPEN) == UNAUTHENTICATED
        assert log_in(third, "app", "wrong") == UNAUTHENTICATED, "who guesses is told nothing"
        assert own.counter("account_connections_refused") == refused + 1
        stack.enter_context(client(own, "other"))
        second.close()
        own.wait_until("has forgotten it", lambda: log_in(third, "app") == OK)


def test_a_connection_too_many_takes_none_of_those_that_the_account_may_have(own: RowSocketServer) -> None:
    """The server has counted it already, against MAX_USER_CONNECTIONS."""
    set_limit(own, "connections", 1)
    options = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 2"
    with (
        account(own, "counted@localhost", options),
        client(own, "counted"),
        own.raw("write") as second,
    ):
        for _ in range(3):
            assert log_in(second, "counted") == ONE_TOO_MANY
        set_limit(own, "connections", 0)
        assert log_in(second, "counted") == OK


def test_the_refusal_is_in_the_servers_own_words(own: RowSocketServer) -> None:
    set_limit(own, "connections", 1)
    own.sql("SET GLOBAL rowsocket_error_detail = ON")
    with client(own, "app"), own.raw("write") as second:
        reply = log_in(second, "app")
    words = b"User 'app' has exceeded the 'rowsocket_max_account_connections' resource (current value: 1)"
    assert reply == ONE_TOO_MANY + b"\t" + words


def test_each_protocol_says_so(own: RowSocketServer) -> None:
    set_limit(own, "connections", 1)
    text = b"too_many_connections 1226: User 'word' has exceeded the 'rowsocket_max_account_connections'"
    secret = b"word word-only"
    with account(own, "word@localhost", "IDENTIFIED BY 'word-only'"), client(own, "word", "word-only"):
        with RawConnection(("127.0.0.1", own.resp_port)) as resp:
            assert resp.ask(b"AUTH word word-only").startswith(b"-ERR " + text)
            assert resp.ask(b"AUTH word wrong").startswith(b"-WRONGPASS")
        with RawConnection(("127.0.0.1", own.memcached_port)) as memcached:
            assert memcached.ask(b"set a 0 0 %d\r\n%s\r" % (len(secret), secret)).startswith(
                b"SERVER_ERROR " + text
            )


def test_clients_without_an_account_are_of_the_one_that_the_variable_names(own: RowSocketServer) -> None:
    own.sql("SET GLOBAL rowsocket_anonymous_account = 'app@localhost'")
    set_limit(own, "connections", 1)
    with own.raw("write") as first, own.raw("write") as second, own.raw("write") as third:
        assert first.ask(OPEN) == OK
        assert log_in(second, "app") == ONE_TOO_MANY
        assert log_in(third, "other") == OK
        assert second.ask(OPEN) == ONE_TOO_MANY
        with pytest.raises(ConnectionClosed):
            second.line()
        assert first.ask(FIND) == ROW


def test_a_thousand_connections_are_counted(own: RowSocketServer) -> None:
    set_limit(own, "connections", 1000)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(own.raw("write")) for _ in range(1001)]
        for one in clients:
            one.send(f"A\t2\tapp\t{PASSWORD}\n".encode())
        replies = sorted(one.line() for one in clients)
        assert replies == [OK] * 1000 + [ONE_TOO_MANY]


# ---- requests


def test_an_account_at_its_limit_keeps_no_other_waiting(own: RowSocketServer) -> None:
    set_limit(own, "requests", 2)
    held_back = own.counter("requests_held_back")
    with contextlib.ExitStack() as stack:
        flood = [stack.enter_context(reader(own, "app")) for _ in range(20)]
        other = stack.enter_context(reader(own, "other"))
        session = stack.enter_context(contextlib.closing(own.connect()))
        with session.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT * FROM d.t WHERE id = 1 FOR UPDATE")
            for one in flood:
                one.send(CHANGE + b"\n")
            own.wait_until("holds them back", lambda: own.counter("requests_held_back") >= held_back + 18)
            for _ in range(10):
                assert other.ask(FIND) == ROW
            with reader(own, "other") as another:
                assert another.ask(FIND) == ROW
            with client(own, "app"):
                pass  # a login is no request of the account
            cursor.execute("ROLLBACK")
        replies = {one.line() for one in flood}
    assert replies == {CHANGED}, "all are served"


def test_what_needs_no_table_takes_no_place(own: RowSocketServer) -> None:
    set_limit(own, "requests", 1)
    parked = own.counter("parked")
    with (
        reader(own, "app") as busy,
        RespConnection(("127.0.0.1", own.resp_port)) as resp,
        contextlib.closing(own.connect()) as session,
        session.cursor() as cursor,
    ):
        assert resp.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM d.t WHERE id = 1 FOR UPDATE")
        busy.send(CHANGE + b"\n")
        own.wait_until("it has the only place", lambda: own.counter("parked") > parked)
        assert resp.command("PING") == b"+PONG\r\n"
        cursor.execute("ROLLBACK")
        assert busy.line() == CHANGED


def test_a_client_that_vanishes_gives_back_its_share(own: RowSocketServer) -> None:
    set_limit(own, "requests", 1)
    set_limit(own, "connections", 3)
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(contextlib.closing(own.connect()))
        with session.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT * FROM d.t WHERE id = 1 FOR UPDATE")
            gone = [stack.enter_context(reader(own, "app")) for _ in range(3)]
            for one in gone:
                one.send(CHANGE + b"\n")
            own.wait_until("waits", lambda: own.counter("requests_held_back") > 0)
            for one in gone:
                one.close()
            last = stack.enter_context(own.raw("write"))
            own.wait_until("has forgotten them", lambda: log_in(last, "app") == OK)
            assert last.ask_all(OPEN, FIND) == [OK, ROW], "the place of who waited for the lock"
            cursor.execute("ROLLBACK")


def test_the_limit_changes_while_it_is_in_use(own: RowSocketServer) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(reader(own, "app")) for _ in range(8)]
        for limit in (1, 3, 0, 2, 1000, 1, 0):
            for one in clients:
                one.send((FIND + b"\n") * 500)
            set_limit(own, "requests", limit)
            for one in clients:
                assert {one.line() for _ in range(500)} == {ROW}


def test_a_thousand_clients_with_one_request_at_a_time_are_all_served(own: RowSocketServer) -> None:
    set_limit(own, "requests", 1)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(reader(own, "app")) for _ in range(1000)]
        for one in clients:
            one.send((FIND + b"\n") * 3)
        for one in clients:
            assert [one.line() for _ in range(3)] == [ROW] * 3


# ---- bytes


def test_who_holds_most_of_its_account_is_closed(own: RowSocketServer) -> None:
    set_limit(own, "bytes", 8 << 20)
    closed = own.counter("account_connections_closed")
    half = b"0\t+\t2\t2\t" + b"x" * (3 << 20)
    with reader(own, "app") as large, reader(own, "app") as small, reader(own, "other") as other:
        large.send(half)
        other.send(half)
        small.send(half[: 1 << 20])
        with contextlib.suppress(OSError):
            large.send(half)
        with pytest.raises(ConnectionClosed):
            large.line()
        assert own.counter("account_connections_closed") == closed + 1
        other.send(b"\n")
        assert other.line() == OK
        assert other.ask(b"0\t=\t1\t2\t1\t0\tD") == CHANGED
        assert small.ask(b"") == OK
        assert small.ask(b"0\t=\t1\t2\t1\t0\tD") == CHANGED


def test_none_is_closed_for_what_another_holds_that_waits_for_a_lock(own: RowSocketServer) -> None:
    """That one could not be closed now; closing the others would win nothing."""
    closed, waited = own.counter("account_connections_closed"), own.counter("waited_alone")
    with contextlib.ExitStack() as stack:
        large, *small = [stack.enter_context(reader(own, "app")) for _ in range(6)]
        session = stack.enter_context(contextlib.closing(own.connect()))
        with session.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT * FROM d.t WHERE id = 1 FOR UPDATE")
            large.send(b"0\t=\t1\t1\t1\t0\tU\t1\t" + b"x" * (3 << 20) + b"\n")
            own.wait_until("waits on a thread of its own", lambda: own.counter("waited_alone") > waited)
            set_limit(own, "bytes", 2 << 20)
            for one in small:
                assert one.ask(FIND) == ROW
            cursor.execute("ROLLBACK")
        assert large.line() == CHANGED
        assert own.counter("account_connections_closed") == closed
        own.sql("UPDATE d.t SET a = 'ten'")
