# SPDX-License-Identifier: GPL-2.0-only
"""A table whose history moves on to partitions that are made on the way takes writes as any other."""

from __future__ import annotations

import pytest

from support.mariadb import RowSocketServer, Start


@pytest.mark.xfail(strict=True, reason="a partition is added only by a THD without metadata locks")
def test_updates_of_one_turn_make_the_partitions_that_they_need(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-error-detail": "ON"})
    server.sql("CREATE DATABASE app")
    server.sql(
        """CREATE TABLE app.t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB
        WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT 3 AUTO PARTITIONS 2"""
    )
    server.sql("INSERT INTO app.t VALUES (1, 0)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tn") == b"0\t1"
        replies = client.ask_all(*[b"1\t=\t1\t1\t1\t0\t+\t1"] * 30)
    assert [reply for reply in replies if reply != b"0\t1\t1"] == []
