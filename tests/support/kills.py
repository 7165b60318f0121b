# SPDX-License-Identifier: GPL-2.0-only
"""KILL of RowSocket's threads, from SQL."""

from __future__ import annotations

import pymysql

from support.mariadb import MariaDB

NO_SUCH_THREAD = 1094
_OF_ROWSOCKET = "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'"


def kill(server: MariaDB, thread: int, how: str = "KILL") -> None:
    """KILL a thread, if it is still there: one that nobody needs ends by itself."""
    try:
        server.sql(f"{how} {thread}")
    except pymysql.err.OperationalError as error:
        assert error.args[0] == NO_SUCH_THREAD, error


def kill_all(server: MariaDB, how: str = "KILL") -> None:
    """KILL all of RowSocket's threads."""
    for (thread,) in server.sql(_OF_ROWSOCKET):
        kill(server, thread, how)


def close_all(server: MariaDB) -> None:
    """KILL all of RowSocket's threads, and wait until each has obeyed.

    A thread that has not come to it yet would close the connections of whoever comes next, too.
    """
    kill_all(server)
    killed = f"{_OF_ROWSOCKET} AND command = 'Killed'"
    server.wait_until("all have obeyed the KILL", lambda: not server.sql(killed))
