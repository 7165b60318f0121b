# SPDX-License-Identifier: GPL-2.0-only
"""An insert that waits for a row keeps the ids that were made for it, and none of an earlier request."""

from __future__ import annotations

import pytest

from support.mariadb import Database, RowSocketServer, Start

ALONE = {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0}
"""One thread: what waits is tried again and again."""
TRIES = 3


@pytest.mark.parametrize("count", [1, 2])
def test_an_insert_that_waits_is_given_no_id_of_an_earlier_request(start: Start, count: int) -> None:
    """Not even where its row is gone: each id is given once."""
    server = start(RowSocketServer, ALONE)
    database = Database(server, "d")
    database.sql("CREATE TABLE held (id INT PRIMARY KEY)")
    database.sql("INSERT INTO held VALUES (1)")
    database.sql(
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, parent INT,"
        " FOREIGN KEY (parent) REFERENCES held (id))"
    )

    def writes_tried() -> int:
        return int(server.status("Handler_write")["Handler_write"])

    with database.session() as sql, server.raw("write") as client:
        assert client.ask(b"P\t1\td\tt\t\tparent") == b"0\t1"
        assert client.ask_all(*[b"1\t+\t1\t\0"] * count) == [b"0\t1\t%d" % (id + 1) for id in range(count)]
        database.sql("DELETE FROM t")
        sql.execute("BEGIN")
        sql.execute("SELECT * FROM held FOR UPDATE")
        before = writes_tried()
        client.send(b"1\t+\t1\t1\n")
        server.wait_until("is tried again", lambda: writes_tried() - before >= TRIES)
        sql.execute("ROLLBACK")
        assert client.line() == b"0\t1\t%d" % (count + 1)
