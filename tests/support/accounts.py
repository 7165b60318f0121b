# SPDX-License-Identifier: GPL-2.0-only
"""Accounts of the server, and clients that log in with them.

A test names its accounts by itself and drops them: `account(server, "app@localhost", ...)`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from support.mariadb import MariaDB, RowSocketServer
from support.raw import RawConnection

OK = b"0\t1"
UNAUTHENTICATED = b"3\t1\tunauth"
ONE_TOO_MANY = b"3\t1\tconnections"
PASSWORD = "correct horse"

DENIED = frozenset({b"1044", b"1142", b"1143"})
"""The server's numbers for what an account may not do with a database, a table or a column."""


@contextlib.contextmanager
def account(
    server: MariaDB, name: str, options: str = f"IDENTIFIED BY '{PASSWORD}'", grants: Sequence[str] = ()
) -> Iterator[str]:
    """An account with these grants (`"SELECT ON shop.*"`), dropped at the end."""
    server.sql(f"CREATE USER {name} {options}".replace("%", "%%"), ())
    try:
        for grant in grants:
            server.sql(f"GRANT {grant} TO {name}".replace("%", "%%"), ())
        yield name
    finally:
        server.sql(f"DROP USER IF EXISTS {name}".replace("%", "%%"), ())


def log_in(connection: RawConnection, user: str, password: str = PASSWORD) -> bytes:
    """The reply to a login."""
    return b"\t".join(connection.tokens("A", 2, user, password))


@contextlib.contextmanager
def client(
    server: RowSocketServer, user: str, password: str = PASSWORD, port: str = "write"
) -> Iterator[RawConnection]:
    """A connection that is logged in."""
    with server.raw(port) as connection:
        reply = log_in(connection, user, password)
        assert reply == OK, reply
        yield connection


def is_denied(reply: bytes) -> bool:
    """True if the reply says that the account may not do this; False if the request was served."""
    tokens = reply.split(b"\t")
    if tokens[0] == b"0":
        return False
    assert tokens[2] in DENIED, f"neither served nor denied: {reply!r}"
    return True
