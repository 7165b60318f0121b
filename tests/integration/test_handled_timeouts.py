# SPDX-License-Identifier: GPL-2.0-only
"""A row that stays locked is no matter for a trigger's own handlers, as in SQL: the statement fails, or waits
on.

The server lets no handler inside of a trigger handle a row lock's time-out (`THD::is_fatal_sub_stmt_error`).
So that a worker waits for a second only, and then presents the request again, is not seen by the trigger.
"""

from __future__ import annotations

import pytest

from support.gate import LaterReplies, open_ids
from support.locks import assert_waits, wait_for_a_row_lock_wait
from support.mariadb import Database, RowSocketServer, Start

HANDLERS = {
    "goes on": "DECLARE CONTINUE HANDLER FOR 1205 SET NEW.n = -1",
    "leaves": "DECLARE EXIT HANDLER FOR SQLEXCEPTION SET NEW.n = -1",
    "fails in its own words": "DECLARE EXIT HANDLER FOR 1205 SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31000",
}
LOCK_WAIT_TIMEOUT = 1205
INSERT = b"1\t+\t2\t5\t7"
GROUP = b"G\n1\t+\t2\t5\t7\nE"


def server_with_timeout(start: Start, timeout_s: int) -> RowSocketServer:
    return start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "innodb-lock-wait-timeout": timeout_s})


def make_tables(server: RowSocketServer, handler: str) -> Database:
    """An insert into `t` counts in `total`."""
    database = Database(server, "app")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, n INT);
        CREATE TABLE plain (id INT PRIMARY KEY);
        CREATE TABLE total (id INT PRIMARY KEY, n INT NOT NULL);
        INSERT INTO total VALUES (1, 0)"""
    )
    database.sql(
        f"""CREATE TRIGGER counts BEFORE INSERT ON t FOR EACH ROW
        BEGIN {HANDLERS[handler]}; UPDATE total SET n = n + 1 WHERE id = 1; END"""
    )
    return database


@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("request_line", [INSERT, GROUP], ids=["insert", "group"])
def test_a_row_that_is_free_in_time_is_not_a_matter_for_the_handler(
    start: Start, handler: str, request_line: bytes
) -> None:
    """Others are served while it waits."""
    server = server_with_timeout(start, 50)
    database = make_tables(server, handler)
    with server.raw("write") as wire, server.raw("write") as other, database.session() as sql:
        open_ids(wire, database, (1, "t", "id,n"))
        open_ids(other, database, (1, "plain", "id"))
        sql.execute("BEGIN")
        sql.execute("UPDATE total SET n = n + 10 WHERE id = 1")
        wire.send(request_line + b"\n")
        replies = LaterReplies(wire, 3 if request_line == GROUP else 1)
        wait_for_a_row_lock_wait(server)
        server.wait_until("the request is parked", lambda: server.counter("parked") > 0)
        for number in range(3):
            assert other.ask(b"1\t+\t1\t%d" % number) == b"0\t1"
        sql.execute("COMMIT")
        assert set(replies.lines()) == {b"0\t1"}
    assert database.sql("SELECT * FROM t") == [(5, 7)]
    assert database.value("SELECT n FROM total") == 11


@pytest.mark.parametrize("handler", HANDLERS)
def test_when_the_time_is_over_the_request_fails_as_in_sql(start: Start, handler: str) -> None:
    server = server_with_timeout(start, 2)
    database = make_tables(server, handler)
    with server.raw("write") as wire, database.session() as sql, database.session() as other:
        open_ids(wire, database, (1, "t", "id,n"))
        sql.execute("BEGIN")
        sql.execute("UPDATE total SET n = n + 10 WHERE id = 1")
        assert_waits(other, "INSERT INTO t VALUES (5, 7)")
        assert wire.ask(INSERT) == b"1\t1\t%d" % LOCK_WAIT_TIMEOUT
        assert server.counter("parked") == 1
        sql.execute("COMMIT")
    assert database.sql("SELECT * FROM t") == []
    assert database.value("SELECT n FROM total") == 10
