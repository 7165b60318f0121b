# SPDX-License-Identifier: GPL-2.0-only
"""KILL QUERY interrupts the request that is executed, and no other."""

from __future__ import annotations

import pytest

from support.gate import gate, wait_at_gate, with_gated_table
from support.mariadb import Database, RowSocketServer, Start


@pytest.mark.parametrize("how", ["KILL QUERY", "KILL SOFT QUERY"])
def test_requests_behind_the_one_that_was_killed_are_done(start: Start, how: str) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    with_gated_table(database)
    with server.raw("write") as client:
        assert client.ask_all(b"P\t1\tapp\tt\t\tid", b"P\t2\tapp\tgated\t\tid") == [b"0\t1"] * 2
        with gate(database):
            client.send(b"1\t+\t1\t1\n2\t+\t1\t7\n1\t+\t1\t2\n1\t=\t1\t1\n1\t+\t1\t3\n")
            wait_at_gate(server)
            worker = server.value("SELECT id FROM information_schema.processlist WHERE state = 'User lock'")
            server.sql(f"{how} {worker}")
            replies = client.lines(5)
    assert replies[1].startswith(b"1\t1\t")
    assert replies[:1] + replies[2:] == [b"0\t1", b"0\t1", b"0\t1\t1", b"0\t1"]
