# SPDX-License-Identifier: GPL-2.0-only
"""SQL sessions that change tables' definitions while others use them."""

from __future__ import annotations

import pymysql


class AlteringSession:
    """An SQL session that says how long its DDL waited for others: for the metadata lock, and for the table
    to be given back.

    The server's profile tells it state by state, so that the statement's own work, slow on a busy machine,
    does not count.
    """

    def __init__(self, cursor: pymysql.cursors.Cursor) -> None:
        self.cursor = cursor
        cursor.execute("SET SESSION profiling = 1, profiling_history_size = 1, lock_wait_timeout = 30")

    def wait_s(self, statement: str) -> float:
        """Execute a statement; the seconds that it waited."""
        self.cursor.execute(statement)
        self.cursor.execute(
            "SELECT SUM(duration) FROM information_schema.profiling WHERE state LIKE 'Waiting for table%'"
        )
        row = self.cursor.fetchone()
        assert row is not None
        return float(row[0] or 0)
