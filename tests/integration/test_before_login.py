# SPDX-License-Identifier: GPL-2.0-only
"""Bytes before, and in, a login: whatever a stranger sends, nothing is served and the server lives."""

from __future__ import annotations

import contextlib
import random

import pytest

from support.accounts import OK, PASSWORD, UNAUTHENTICATED, log_in
from support.mariadb import Database, RowSocketServer, Start
from support.memcached import MemcachedServer
from support.raw import ConnectionClosed, RawConnection

PIECES = [
    b"A", b"A\t2", b"A\t1\tx", b"app", b"root", b"wrong", b"\0", b"\x01", b"\x01t", b"\x01@", b"\t", b"\n",
    b"\r\n",
    b"P\t0\td\tt\t\tid", b"0\t=\t1\t1", b"0\t+\t1\t9", b"G\n", b"E\n", b"\xff" * 300, b"'app'", b"%", b"\xc3",
    b"p" * 5000, b"\t\t\t", b"A\t2\tapp\t\n", b"A\t2\t\t\n",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_a_stranger_sends_is_served(start: Start, seed: int) -> None:
    server = start(
        RowSocketServer, {"loose-rowsocket-anonymous-account": "", "loose-rowsocket-strict": seed % 2}
    )
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    server.sql(f"CREATE USER app@localhost IDENTIFIED BY '{PASSWORD}'")
    server.sql("GRANT ALL ON *.* TO app@localhost")
    chance = random.Random(seed)
    for _ in range(60):
        data = b"".join(chance.choice(PIECES) for _ in range(chance.randint(1, 60)))
        with server.raw("write") as connection, contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.send(data)
            connection.socket.shutdown(1)
            connection.socket.settimeout(0.5)
            assert all(not reply.startswith(b"0\t") for reply in replies(connection))
    assert database.value("SELECT COUNT(*) FROM t") == 0
    assert server.counter("logins") == 0
    with RawConnection(server.write_address()) as connection:
        server.wait_until("lets in", lambda: log_in(connection, "app") == OK)


def replies(connection: RawConnection) -> list[bytes]:
    """What comes until the server closes, or says nothing for a while."""
    lines = []
    with contextlib.suppress(ConnectionClosed, TimeoutError):
        while True:
            lines.append(connection.line())
    return lines


def test_memcached_clients_log_in_with_their_first_set(start: Start) -> None:
    server = start(MemcachedServer, {"loose-rowsocket-anonymous-account": ""})
    server.sql(f"CREATE USER app@localhost IDENTIFIED BY '{PASSWORD}'")
    with RawConnection(("127.0.0.1", server.memcached_port)) as connection:
        assert connection.ask(b"get a\r") == b"CLIENT_ERROR unauthenticated\r"
        assert connection.ask(b"set x 0 0 9\r\napp wrong\r") == b"CLIENT_ERROR authentication failure\r"
        assert connection.ask(b"get a\r") == b"CLIENT_ERROR unauthenticated\r"
        value = f"app {PASSWORD.replace(' ', '')}".encode()
        server.sql(f"ALTER USER app@localhost IDENTIFIED BY '{PASSWORD.replace(' ', '')}'")
        assert connection.ask(b"set x 0 0 %d\r\n%s\r" % (len(value), value)) == b"STORED\r"
        assert not connection.ask(b"get a\r").startswith(b"CLIENT_ERROR unauthenticated")


def test_a_secret_that_is_no_password_of_an_account_lets_nobody_be_one(start: Start) -> None:
    server = start(
        RowSocketServer, {"loose-rowsocket-anonymous-account": "", "loose-rowsocket-secret-read": "sesame"}
    )
    with server.raw("read") as connection:
        assert connection.ask(b"A\t1\tsesame") == OK
        assert connection.ask(b"P\t0\td\tt\t\tid") == UNAUTHENTICATED
