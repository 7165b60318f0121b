# SPDX-License-Identifier: MIT
"""Rows of a MariaDB table over a socket: a client for RowSocket and for HandlerSocket.

    import rowsocket

    with rowsocket.connect() as connection:
        users = connection.open_index("app", "user", ["id", "name", "email"])
        print(users.get(42))

A connection is used by one thread at a time; threads share a `ConnectionPool`. `rowsocket.aio` is the same
for asyncio.
"""

from rowsocket._inserts import Inserted
from rowsocket._protocol import NOW, Value
from rowsocket._selection import Comparison, Filter, Key, Operator, RangeOperator, Selection, While
from rowsocket._session import Pending
from rowsocket.connection import Connection, connect
from rowsocket.errors import (
    AuthenticationError,
    ConnectionLost,
    Deadlock,
    DuplicateKey,
    EngineError,
    ForeignKeyViolation,
    GroupError,
    InvalidValue,
    LockWaitTimeout,
    NothingChanged,
    NoTransactions,
    OpenTableError,
    ProtocolError,
    ReadOnlyError,
    RequestError,
    RowSocketError,
    ServerError,
    Timeout,
    TlsRefused,
    TransportError,
    UndoneWithGroup,
)
from rowsocket.executor import BytesRow, Group, Index, Pipeline, Row, TextRow
from rowsocket.pool import ConnectionPool

__version__ = "0.1.0"

__all__ = [
    "NOW",
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
    "Group",
    "GroupError",
    "Index",
    "Inserted",
    "InvalidValue",
    "Key",
    "LockWaitTimeout",
    "NoTransactions",
    "NothingChanged",
    "OpenTableError",
    "Operator",
    "Pending",
    "Pipeline",
    "ProtocolError",
    "RangeOperator",
    "ReadOnlyError",
    "RequestError",
    "Row",
    "RowSocketError",
    "Selection",
    "ServerError",
    "TextRow",
    "Timeout",
    "TlsRefused",
    "TransportError",
    "UndoneWithGroup",
    "Value",
    "While",
    "connect",
]
