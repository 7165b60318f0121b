# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket's tables in information_schema, as rows with names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pymysql

from support.accounts import PASSWORD
from support.mariadb import MariaDB, RowSocketServer
from support.raw import RawConnection

Row = dict[str, Any]


@contextlib.contextmanager
def session_of(
    server: MariaDB, user: str, password: str = PASSWORD
) -> Iterator[pymysql.connections.Connection[pymysql.cursors.DictCursor]]:
    """A session of SQL as this account."""
    with contextlib.closing(
        pymysql.connect(
            unix_socket=str(server.socket),
            user=user,
            password="" if user == "root" else password,
            autocommit=True,
            cursorclass=pymysql.cursors.DictCursor,
        )
    ) as session:
        yield session


def rows(
    session: pymysql.connections.Connection[pymysql.cursors.DictCursor], table: str, where: str = "TRUE"
) -> list[Row]:
    """The rows of information_schema.ROWSOCKET_<table>."""
    with session.cursor() as cursor:
        cursor.execute(f"SELECT * FROM information_schema.ROWSOCKET_{table} WHERE {where}")
        return list(cursor.fetchall())


def seen(server: MariaDB, table: str, where: str = "TRUE") -> list[Row]:
    """The same as root."""
    with session_of(server, "root") as session:
        return rows(session, table, where)


def of_table(server: MariaDB, database: str, table: str, index: str = "PRIMARY") -> Row:
    """The row of an index in ROWSOCKET_TABLES."""
    [row] = seen(
        server,
        "TABLES",
        f"TABLE_SCHEMA = '{database}' AND TABLE_NAME = '{table}' AND INDEX_NAME = '{index}'",
    )
    return row


def of_client(server: RowSocketServer, client: RawConnection) -> Row:
    """The row of a client that came over TCP."""
    host, port = client.socket.getsockname()[:2]
    [row] = seen(server, "CONNECTIONS", f"ADDRESS = '{host}:{port}'")
    return row


def flush(server: MariaDB, table: str) -> None:
    """Reset what the table shows."""
    server.sql(f"FLUSH ROWSOCKET_{table}")
