# SPDX-License-Identifier: GPL-2.0-only
"""Clients that are several accounts, one after the other, on one connection: each has its own rights, and
nothing of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.accounts import OK, UNAUTHENTICATED, account
from support.mariadb import RowSocketServer
from support.resp import RespServer, encoded
from support.tree import ServerTree

PLAIN = "horse"
"""A password without a blank, which ends one of memcached."""
IDENTIFIED = f"IDENTIFIED BY '{PLAIN}'"
FIND = b"0\t=\t1\t1"
OPEN = b"P\t0\tshop\tuser\t\tname"
DENIED = b"1\t1\t1142"


@pytest.fixture(scope="module")
def closed(tree: ServerTree, template: Path) -> Iterator[RespServer]:
    """A server without an anonymous account. `reader` may read `shop.user` and `app.item`, `writer` may
    insert into them, and `nobody` may do nothing."""
    with RespServer(tree, template) as server:
        server.prepare()
        server.sql("SET GLOBAL rowsocket_anonymous_account = ''")
        server.sql("INSERT INTO shop.user (id, name) VALUES (1, 'ann')")
        server.sql("INSERT INTO app.item (k, v) VALUES ('k', 'value')")
        reads = [f"SELECT ON {table}" for table in ("shop.user", "app.item")]
        writes = [f"SELECT, INSERT, UPDATE ON {table}" for table in ("shop.user", "app.item")]
        with (
            account(server, "reader@localhost", IDENTIFIED, reads),
            account(server, "writer@localhost", IDENTIFIED, writes),
            account(server, "nobody@localhost", IDENTIFIED),
        ):
            yield server


def login(user: str, password: str = PLAIN) -> bytes:
    return f"A\t2\t{user}\t{password}".encode()


def test_by_the_line_protocol(closed: RowSocketServer) -> None:
    with closed.raw("write") as connection:
        replies = connection.ask_all(
            *(login("reader"), OPEN, FIND, login("nobody"), FIND, OPEN, login("reader"), FIND, OPEN, FIND),
            *(login("reader", "wrong"), FIND, OPEN, login("writer"), OPEN, FIND),
        )
    not_open = b"2\t1\tstmtnum"
    assert replies == [
        *(OK, OK, b"0\t1\tann", OK, not_open, DENIED, OK, not_open, OK, b"0\t1\tann"),
        *(UNAUTHENTICATED, UNAUTHENTICATED, UNAUTHENTICATED, OK, OK, b"0\t1\tann"),
    ]


def test_in_the_middle_of_a_group(closed: RowSocketServer) -> None:
    with closed.raw("write") as connection:
        assert connection.ask_all(login("reader"), OPEN) == [OK, OK]
        connection.send(b"G\n" + FIND + b"\n" + login("writer") + b"\nE\n" + FIND + b"\n")
        assert connection.lines(5) == [OK, b"1\t1\tgroup", b"2\t1\tgroup", b"1\t1\tgroup", b"0\t1\tann"]


def test_by_resp(closed: RespServer) -> None:
    refused = b"-NOPERM"
    with closed.resp() as redis:
        assert redis.command("GET", "k").startswith(b"-NOAUTH")
        assert redis.command("AUTH", "reader", PLAIN) == b"+OK\r\n"
        assert redis.command("GET", "k") == b"$5\r\nvalue\r\n"
        assert redis.command("AUTH", "nobody", PLAIN) == b"+OK\r\n"
        assert redis.command("GET", "k").startswith(refused)
        assert redis.command("HELLO", 3, "AUTH", "reader", PLAIN).startswith(b"%7")
        assert redis.command("GET", "k") == b"$5\r\nvalue\r\n"
        assert redis.command("SET", "k", "x").startswith(refused)
        assert redis.command("HELLO", 2, "AUTH", "writer", "wrong").startswith(b"-WRONGPASS")
        assert redis.command("GET", "k").startswith(b"-NOAUTH")


def test_in_a_transaction_of_resp(closed: RespServer) -> None:
    """What was queued as one account does not run as another."""
    with closed.resp() as redis:
        assert redis.command("AUTH", "nobody", PLAIN) == b"+OK\r\n"
        assert redis.command("MULTI") == b"+OK\r\n"
        assert redis.command("GET", "k") == b"+QUEUED\r\n"
        for switch in (("AUTH", "reader", PLAIN), ("HELLO", 3, "AUTH", "reader", PLAIN)):
            assert redis.command(*switch).startswith(b"-")
        assert redis.command("EXEC").startswith(b"-EXECABORT")
        assert redis.command("GET", "k").startswith(b"-NOPERM")


def test_reset_of_resp_forgets_the_account(closed: RespServer) -> None:
    """As with Redis: whoever gets the connection next is not who had it before."""
    with closed.resp() as redis:
        assert redis.command("AUTH", "reader", PLAIN) == b"+OK\r\n"
        assert redis.command("MULTI") == b"+OK\r\n"
        assert redis.command("GET", "k") == b"+QUEUED\r\n"
        assert redis.command("RESET") == b"+RESET\r\n"
        assert redis.command("GET", "k").startswith(b"-NOAUTH")
        assert redis.command("AUTH", "reader", PLAIN) == b"+OK\r\n"
        redis.send(encoded("RESET") + encoded("GET", "k") + encoded("AUTH", "reader", PLAIN))
        redis.send(encoded("GET", "k"))
        assert redis.reply() == b"+RESET\r\n"
        assert redis.reply().startswith(b"-NOAUTH")
        assert redis.reply() == b"+OK\r\n"
        assert redis.reply() == b"$5\r\nvalue\r\n"


def test_by_memcached(closed: RespServer) -> None:
    """The first set that is right is the login. A later one is a store, as the account that logged in."""

    def store(key: str, value: str) -> bytes:
        return f"set {key} 0 0 {len(value)}\r\n{value}\r\n".encode()

    with closed.memcached() as cache:
        cache.send(store("auth", "reader wrong") + b"get k\r\n")
        assert cache.line().startswith(b"CLIENT_ERROR")
        assert cache.line().startswith(b"CLIENT_ERROR")
        cache.send(store("auth", f"reader {PLAIN}") + b"get k\r\n")
        assert cache.line() == b"STORED\r"
        assert cache.lines(3) == [b"VALUE k 0 5\r", b"value\r", b"END\r"]
        cache.send(store("auth", f"writer {PLAIN}"))
        assert not cache.line().startswith(b"STORED")
        cache.send(store("other", "x"))
        assert not cache.line().startswith(b"STORED"), "it is the reader still"
    assert closed.sql("SELECT * FROM app.item WHERE k <> 'k'") == []
