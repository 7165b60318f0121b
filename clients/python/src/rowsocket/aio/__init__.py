# SPDX-License-Identifier: MIT
"""The asyncio client: the same names as in `rowsocket`, to be awaited.

    async with await rowsocket.aio.connect() as connection:
        users = await connection.open_index("app", "user", ["id", "name"])
        print(await users.get(42))

Any number of tasks may share a connection: their requests are pipelined and answered in the order in which
they were sent. A call that is cancelled leaves the connection good, and its write may have been done. A call
that times out closes it. A `ConnectionPool` is made inside the event loop that uses it.
"""

from rowsocket.aio.connection import Connection, connect
from rowsocket.aio.executor import Group, Index, Pipeline
from rowsocket.aio.pool import ConnectionPool

__all__ = ["Connection", "ConnectionPool", "Group", "Index", "Pipeline", "connect"]
