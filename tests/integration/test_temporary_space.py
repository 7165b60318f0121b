# SPDX-License-Identifier: GPL-2.0-only
"""A transaction too large for what the session may have on the disk (max_tmp_session_space_usage) is refused,
and the small ones of the same turn are done."""

from __future__ import annotations

import pytest

from support.binlog import assert_binlog_equals_tables
from support.mariadb import Database, RowSocketServer, Start

SPACE_BYTES = 128 << 10
PIECE = b"x" * 100_000
ROUNDS = 30
"""Where the space runs out depends on what is in the cache already: at a row, or not before the commit."""


def test_a_transaction_beyond_the_temporary_space_takes_no_other_with_it(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0})
    if not server.sql("SHOW VARIABLES LIKE 'max_tmp_session_space_usage'"):
        pytest.skip("this MariaDB has no bound of temporary space")
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB)")
    server.sql(f"SET GLOBAL max_tmp_session_space_usage = {SPACE_BYTES}")
    refusals = set()
    with server.raw("write") as wire:
        assert wire.ask(b"P\t0\td\tt\t\tid,b") == b"0\t1"
        for first in range(0, 10 * ROUNDS, 10):
            rows = b"\t".join(b"%d\t%s" % (first + number, PIECE) for number in range(3))
            small = [b"0\t+\t2\t%d\ty" % (first + number) for number in (5, 6)]
            before, refused, behind = wire.ask_all(small[0], b"0\t++\t2\t3\t" + rows, small[1])
            assert (before, behind) == (b"0\t1", b"0\t1")
            refusals.add(refused)
    assert not any(refused.startswith(b"0") for refused in refusals)
    assert b"1\t1\tcommit" in refusals, "the case that is meant was among them"
    assert database.value("SELECT COUNT(*) FROM t") == 2 * ROUNDS
    assert_binlog_equals_tables(server)
