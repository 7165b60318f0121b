# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket for clients of Redis: a server whose door for RESP is open, and connections that speak bytes."""

from __future__ import annotations

from support.memcached import MemcachedServer
from support.raw import RawConnection

CREATE_USERS = """
    CREATE OR REPLACE TABLE shop.user (
        id INT PRIMARY KEY,
        name VARCHAR(40) NOT NULL,
        email VARCHAR(80) UNIQUE,
        visits INT,
        balance DECIMAL(10, 2)
    ) ENGINE=InnoDB
"""
"""Rows for hashes: one column can not be NULL, and has no default."""

CREATE_ORDERS = """
    CREATE OR REPLACE TABLE shop.orders (
        shop INT,
        number INT,
        customer INT,
        total INT,
        PRIMARY KEY (shop, number),
        KEY by_customer (customer, number)
    ) ENGINE=InnoDB
"""


class RespServer(MemcachedServer):
    """A server with both doors that address containers: the other one says when containers are served."""

    def defaults(self) -> dict[str, str | int | None]:
        return {**super().defaults(), "loose-rowsocket-port-resp": 0}

    def prepare_tables(self) -> None:
        super().prepare_tables()
        self.sql("CREATE DATABASE shop")
        self.sql(CREATE_USERS)
        self.sql(CREATE_ORDERS)

    def resp(self) -> RespConnection:
        """A new connection to the door."""
        return RespConnection(("127.0.0.1", self.resp_port))


class RespConnection(RawConnection):
    """Commands out, replies in, as bytes."""

    def command(self, *arguments: str | bytes | int) -> bytes:
        """Send a command and take its whole reply, as it came."""
        self.send(encoded(*arguments))
        return self.reply()

    def reply(self) -> bytes:
        """One whole reply, with the replies that it holds."""
        head = self.line() + b"\n"
        kind, number = head[:1], head[1:].strip()
        if kind == b"$" and number != b"-1":
            return head + self.take(int(number) + 2)
        if kind in b"*%" and number != b"-1":
            count = int(number) * (2 if kind == b"%" else 1)
            return head + b"".join(self.reply() for _ in range(count))
        return head


def encoded(*arguments: str | bytes | int) -> bytes:
    """A command as bytes."""
    words = [one if isinstance(one, bytes) else str(one).encode() for one in arguments]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
