# SPDX-License-Identifier: GPL-2.0-only
"""How long a request waits for a lock: at least as long as is set, and then an error. What is set is no more
than a lower bound here: how much later the answer comes is the machine's business."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import rowsocket
from rowsocket import BytesRow, Connection, Index
from support.mariadb import Database, RowSocketServer, Start

TIMEOUT_S = 2


@pytest.fixture
def server_of_one(start: Start) -> RowSocketServer:
    """A server that waits so long for locks, with the table `d.t`."""
    options = {"lock-wait-timeout": TIMEOUT_S, "innodb-lock-wait-timeout": TIMEOUT_S}
    server = start(RowSocketServer, options)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO t VALUES (1, 0), (2, 0)")
    return server


@pytest.fixture
def writer(server_of_one: RowSocketServer) -> Iterator[Connection]:
    with rowsocket.connect(*server_of_one.write_address(), timeout=60, text=True) as connection:
        yield connection


@pytest.mark.parametrize(
    ("lock", "error"),
    [
        (["LOCK TABLES t WRITE"], "lock_tables"),
        (["BEGIN", "UPDATE t SET n = 5 WHERE id = 1"], "146"),
    ],
    ids=["table", "row"],
)
def test_a_lock_is_waited_for_as_long_as_is_set(
    server_of_one: RowSocketServer, writer: Connection, lock: list[str], error: str
) -> None:
    index: Index[BytesRow] = writer.open_index("d", "t", "n", decode=False)
    with server_of_one.connect("d") as session, session.cursor() as holder:
        for statement in lock:
            holder.execute(statement)
        begin_s = time.monotonic()
        with pytest.raises(rowsocket.ServerError) as raised:
            index.increment(1, [1])
        waited_s = time.monotonic() - begin_s
        assert waited_s >= TIMEOUT_S - 0.001  # a worker's clock counts whole milliseconds
        assert raised.value.text == error
    assert server_of_one.sql("SELECT n FROM d.t") == [(0,), (0,)]
