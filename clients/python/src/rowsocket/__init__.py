# SPDX-License-Identifier: MIT
"""Rows of a MariaDB table over a socket: a client for RowSocket and for HandlerSocket.

    import rowsocket

    with rowsocket.connect() as connection:
        users = connection.open_index("app", "user", ["id", "name", "email"])
        print(users.get(42))

`rowsocket.aio` is the same for asyncio.
"""

from rowsocket._protocol import Value
from rowsocket._requests import Comparison, Filter, Operator, While
from rowsocket._session import Pending
from rowsocket.connection import BytesRow, Connection, Index, Pipeline, TextRow, connect
from rowsocket.errors import (
    AuthenticationError,
    ConnectionLost,
    Deadlock,
    DuplicateKey,
    EngineError,
    ForeignKeyViolation,
    InvalidValue,
    LockWaitTimeout,
    OpenTableError,
    ProtocolError,
    ReadOnlyError,
    RequestError,
    RowSocketError,
    ServerError,
    Timeout,
    TransportError,
)
from rowsocket.pool import ConnectionPool

__version__ = "0.1.0"

__all__ = [
    "AuthenticationError",
    "BytesRow",
    "Comparison",
    "Connection",
    "ConnectionLost",
    "ConnectionPool",
    "Deadlock",
    "DuplicateKey",
    "EngineError",
    "Filter",
    "ForeignKeyViolation",
    "Index",
    "InvalidValue",
    "LockWaitTimeout",
    "OpenTableError",
    "Operator",
    "Pending",
    "Pipeline",
    "ProtocolError",
    "ReadOnlyError",
    "RequestError",
    "RowSocketError",
    "ServerError",
    "TextRow",
    "Timeout",
    "TransportError",
    "Value",
    "While",
    "connect",
]
