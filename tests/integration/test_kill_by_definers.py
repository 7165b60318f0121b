# SPDX-License-Identifier: GPL-2.0-only
"""While a trigger runs, the server takes a worker's session for one of the trigger's definer, and lets that
account KILL it. Others are served by the same session: they notice nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import pymysql
import pytest

from support.accounts import OK, PASSWORD, account, client
from support.mariadb import Database, RowSocketServer, Start

INTERRUPTED = {b"188", b"1317", b"1927"}


def kill_as(server: RowSocketServer, user: str, workers: Sequence[int], how: str) -> None:
    """This account's KILL, tried until the server allows it."""
    session = pymysql.connect(unix_socket=str(server.socket), user=user, password=PASSWORD)
    with contextlib.closing(session), session.cursor() as cursor:

        def is_allowed() -> bool:
            for worker in workers:
                with contextlib.suppress(pymysql.err.MySQLError):
                    cursor.execute(f"{how} {worker}")
                    return True
            return False

        server.wait_until("the account may KILL a worker", is_allowed)


@pytest.mark.parametrize("how", ["KILL", "KILL SOFT"])
def test_a_definer_ends_the_request_and_closes_no_connection(start: Start, how: str) -> None:
    server = start(
        RowSocketServer,
        {
            "loose-rowsocket-anonymous-account": "",
            "loose-rowsocket-threads-write": 1,
            "loose-rowsocket-threads-max": 0,  # no stand-in takes the other connections over
            "log-bin-trust-function-creators": "ON",
        },
    )
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
    database.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
    with contextlib.ExitStack() as stack:
        stack.enter_context(account(server, "app@localhost", grants=["ALL ON d.*"]))
        stack.enter_context(account(server, "other@localhost", grants=["SELECT, UPDATE ON d.t"]))
        database.sql(
            "CREATE DEFINER = app@localhost TRIGGER slow BEFORE UPDATE ON t FOR EACH ROW "
            "SET NEW.a = NEW.a + BENCHMARK(1000000000000, SHA2('x', 512))"
        )
        idle = [stack.enter_context(client(server, "other")) for _ in range(3)]
        for connection in idle:
            assert connection.ask_all(b"P\t0\td\tt\t\tid,a", b"0\t=\t1\t2") == [OK, b"0\t2\t2\t20"]
        writer = stack.enter_context(client(server, "other"))
        assert writer.ask(b"P\t0\td\tt\t\ta") == OK
        workers = [
            row[0]
            for row in server.sql("SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'")
        ]
        writer.send(b"0\t=\t1\t1\t1\t0\tU\t11\n")
        kill_as(server, "app", workers, how)
        reply = writer.line().split(b"\t")
        assert reply[0] != b"0"
        assert reply[2] in INTERRUPTED
        for connection in [*idle, writer]:
            assert connection.ask_all(b"P\t1\td\tt\t\tid,a", b"1\t=\t1\t1") == [OK, b"0\t2\t1\t10"]
        database.sql("DROP TRIGGER slow")
        assert writer.ask(b"0\t=\t1\t1\t1\t0\tU\t11") == b"0\t1\t1"
