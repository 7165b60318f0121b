# SPDX-License-Identifier: GPL-2.0-only
"""Who waits for a lock."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import pymysql
import pytest

from support.mariadb import Database, MariaDB

_INNODB_TRX_IS_OLD_S = 0.11
_LOCK_WAIT_TIMEOUT = 1205


def wait_for_a_row_lock_wait(server: MariaDB) -> None:
    """Wait until a transaction waits for a row lock. The counter is live; see `waiting_for_a_row`."""
    server.wait_until("has a transaction that waits for a row", lambda: row_lock_waits(server) > 0)


def row_lock_waits(server: MariaDB) -> int:
    """How many transactions wait for a row lock now."""
    return int(server.status("Innodb_row_lock_current_waits")["Innodb_row_lock_current_waits"])


def waiting_for_a_row(server: MariaDB) -> list[int]:
    """The ids of RowSocket's workers that wait for a row lock, once there is one.

    innodb_trx shows what it showed before for as long as it is looked at more often than every 0.1 s. A
    request that waits long is presented again from time to time, and does not wait for a moment.
    """
    query = (
        "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx JOIN information_schema.processlist "
        "ON id = trx_mysql_thread_id WHERE trx_state = 'LOCK WAIT' AND host = 'rowsocket'"
    )
    found: list[int] = []

    def has_one() -> bool:
        time.sleep(_INNODB_TRX_IS_OLD_S)
        found.extend(int(row[0]) for row in server.sql(query))
        return found != []

    server.wait_until("has a worker that waits for a row", has_one)
    return found


def wait_for_state(server: MariaDB, state: str, *, of_worker: bool) -> None:
    """Wait until a worker's thread, or one of SQL, is in this state."""
    sign = "=" if of_worker else "<>"
    query = (
        f"SELECT COUNT(*) FROM information_schema.processlist WHERE state = %s AND host {sign} 'rowsocket'"
    )
    server.wait_until(state, lambda: server.value(query, [state]) > 0)


def assert_waits(session: pymysql.cursors.Cursor, statement: str) -> None:
    """The statement waits for a lock, for longer than it may."""
    with pytest.raises(pymysql.err.OperationalError) as raised:
        session.execute(statement)
    assert raised.value.args[0] == _LOCK_WAIT_TIMEOUT


@contextlib.contextmanager
def deadlock_with_a_heavier_one(database: Database) -> Iterator[None]:
    """SQL has changed row 2 of `shared`. In the block a request is sent that changes row 1, and then row 2.
    Behind the block SQL changes row 1: the request loses its transaction.

    Makes the tables `log` and `weight`, before the block.
    """
    database.sql("CREATE TABLE log (id INT) ENGINE=MyISAM")
    database.sql("INSERT INTO log VALUES (0)")
    database.sql("CREATE TABLE weight (id INT PRIMARY KEY)")
    with database.session() as rival:
        rival.execute("BEGIN")
        # InnoDB would rather undo a transaction that has changed less, and nothing of MyISAM.
        rival.execute("INSERT INTO weight SELECT seq FROM seq_1_to_1000")
        rival.execute("INSERT INTO log VALUES (0)")
        rival.execute("UPDATE shared SET n = n + 10 WHERE id = 2")
        yield
        wait_for_a_row_lock_wait(database.server)
        rival.execute("UPDATE shared SET n = n + 10 WHERE id = 1")
        rival.execute("COMMIT")
