# SPDX-License-Identifier: GPL-2.0-only
"""No password of a client stands in a log of the server, however it was sent: in the general log, the slow
log, the log of an audit plugin, the error log."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import pytest

from support.accounts import account
from support.mariadb import RowSocketServer
from support.raw import ConnectionClosed, RawConnection
from support.resp import RespServer, encoded
from support.tree import ServerTree

RIGHT = "the_right_password_of_app"
WRONG = "a_wrong_password_of_app"
SECRET = "the_secret_of_the_port"

LINES = [
    line.format(password)
    for password in (RIGHT, WRONG)
    for line in (
        "A\t2\tapp\t{0}",
        "A\t2\tapp\t{0}\tmore",
        "A\t2",
        "A\t3\tapp\t{0}",
        "A\t1\t{0}",
        "A\t1\t{0}\t{0}",
        "A\tapp\t{0}",
        "A\t2\tapp\t{0}\x01",
        "B\t2\tapp\t{0}",
        "G\nA\t2\tapp\t{0}\nE",
    )
] + [f"A\t1\t{SECRET}", f"A\t2\tapp\t{SECRET}", f"A\t1\t{SECRET}x"]

COMMANDS = [
    tuple(word.format(password) for word in words)
    for password in (RIGHT, WRONG, SECRET)
    for words in (
        ("AUTH", "app", "{0}"),
        ("AUTH", "{0}"),
        ("AUTH", "app", "{0}", "more"),
        ("auth", "app", "{0}"),
        ("AUTHENTICATE", "app", "{0}"),
        ("HELLO", "3", "AUTH", "app", "{0}"),
        ("HELLO", "3", "AUTH", "app", "{0}", "SETNAME", "x"),
        ("HELLO", "3", "AUTH", "app", "{0}", "BOGUS"),
        ("HELLO", "9", "AUTH", "app", "{0}"),
        ("HELLO", "3", "AUTH", "{0}"),
        ("MULTI",),
        ("AUTH", "app", "{0}"),
        ("EXEC",),
        ("CONFIG", "SET", "requirepass", "{0}"),
        ("ACL", "SETUSER", "app", ">{0}"),
    )
]


def stores(password: str) -> list[bytes]:
    """Logins of memcached, right ones and some that are cut or too long."""
    value = f"app {password}".encode()
    return [
        b"set auth 0 0 %d\r\n%s\r\n" % (len(value), value),
        b"set auth 0 0 %d noreply\r\n%s\r\n" % (len(value), value),
        b"set auth 0 0 3\r\n%s\r\n" % value,
        b"set auth 0 0 %d\r\n%s\r\n" % (len(value) + 2, value),
        b"ms auth %d\r\n%s\r\n" % (len(value), value),
        b"add auth 0 0 %d\r\n%s\r\n" % (len(value), value),
    ]


def say(connection: RawConnection, data: bytes) -> None:
    """Send it, and read until the server has answered all of it, or has closed."""
    with contextlib.suppress(ConnectionClosed, ConnectionError, TimeoutError):
        connection.send(data)
        connection.silent(0.05)
    connection.close()


@pytest.mark.parametrize("anonymous", ["", "root@localhost"], ids=["closed", "with an anonymous account"])
def test_no_password_is_logged(tree: ServerTree, template: Path, anonymous: str) -> None:
    options: dict[str, str | int | None] = {
        "plugin-load-add": "rowsocket;server_audit",
        "loose-server-audit-logging": "ON",
        "loose-server-audit-events": "CONNECT,QUERY,TABLE",
        "general-log": 1,
        "general-log-file": "general.log",
        "slow-query-log": 1,
        "slow-query-log-file": "slow.log",
        "long-query-time": 0,
        "log-warnings": 9,
        "loose-rowsocket-error-detail": 1,
    }
    with RespServer(tree, template, options) as server:
        server.prepare()
        server.sql("SET GLOBAL rowsocket_anonymous_account = %s", (anonymous,))
        with account(server, "app@localhost", "IDENTIFIED VIA mysql_native_password AS ''"):
            give_password(server)
            for line in LINES:
                say(server.raw("write"), line.encode() + b"\nP\t0\tshop\tuser\t\tname\n")
            for words in COMMANDS:
                say(server.resp(), encoded(*words) + encoded("GET", "k"))
            if not anonymous:
                for password in (RIGHT, WRONG):
                    for store in stores(password):
                        say(server.memcached(), store + b"get k\r\n")
        logs = [server.data / name for name in ("general.log", "slow.log", "server_audit.log")]
        texts = {path.name: path.read_text(errors="replace") for path in logs} | {"error": server.log_text()}
    assert "ROWSOCKET" in texts["general.log"]
    for name, text in texts.items():
        for password in (RIGHT, WRONG, SECRET):
            found = [line for line in text.splitlines() if password in line]
            assert not found, f"{name}: {found[:3]}"


def give_password(server: RowSocketServer) -> None:
    """Without its text in the logs of SQL."""
    hashed = "*" + hashlib.sha1(hashlib.sha1(RIGHT.encode()).digest()).hexdigest().upper()
    server.sql(f"ALTER USER app@localhost IDENTIFIED BY PASSWORD '{hashed}'")
