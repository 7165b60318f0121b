# SPDX-License-Identifier: GPL-2.0-only
"""A KILL that a worker is about to obey does not hide from it that the server stops."""

from __future__ import annotations

import contextlib
import threading

import pymysql
import pytest

from support.mariadb import RowSocketServer, Start


def kill_workers_until_the_end(server: RowSocketServer, number: int) -> None:
    """Without a pause, in a session of its own."""
    with contextlib.suppress(pymysql.err.MySQLError), server.connect("mysql") as session:
        cursor = session.cursor()
        while True:
            with contextlib.suppress(pymysql.err.ProgrammingError):  # it has just ended
                cursor.execute(f"KILL {number}")


@pytest.mark.parametrize("attempt", range(4))
def test_the_server_stops_while_its_workers_are_killed(start: Start, attempt: int) -> None:
    server = start(RowSocketServer, {"rowsocket-threads-read": 2, "rowsocket-threads-write": 2})
    ids = [
        number
        for (number,) in server.sql("SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'")
    ]
    assert len(ids) >= 4
    killers = [threading.Thread(target=kill_workers_until_the_end, args=[server, number]) for number in ids]
    for killer in killers:
        killer.start()
    server.wait_until("they are killed", lambda: server.log_text().count("killed: closes") > 100)
    server.stop()
    for killer in killers:
        killer.join()
