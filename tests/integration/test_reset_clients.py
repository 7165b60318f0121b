# SPDX-License-Identifier: GPL-2.0-only
"""Clients that have reset their connection before a worker comes to it: nothing is begun for them, and
nothing is told of them."""

from __future__ import annotations

import pytest

from support.accounts import PASSWORD, account
from support.gate import gate, wait_at_gate, with_gated_table
from support.logs import general_entries, general_log, switched
from support.mariadb import Database, RowSocketServer, Start


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    """A server with one worker, and the tables of support/gate.py in `d`."""
    options: dict[str, str | int | None] = {
        "rowsocket-threads-write": 1,
        "rowsocket-threads-max": 0,
        "general-log-file": "general.log",
    }
    server = start(RowSocketServer, options)
    with_gated_table(Database(server, "d"))
    return server


def come_and_reset(server: RowSocketServer, data: bytes) -> None:
    """A client comes, sends this and resets its connection, while the worker is stuck."""
    with server.raw("write") as stuck:
        assert stuck.ask(b"P\t1\td\tgated\t\tid") == b"0\t1"
        with gate(Database(server, "beside")):
            stuck.send(b"1\t+\t1\t5\n")
            wait_at_gate(server)
            accepted = server.counter("connections_accepted")
            closed = server.counter("connections_closed")
            client = server.raw("write")
            server.wait_until("it came", lambda: server.counter("connections_accepted") == accepted + 1)
            client.send(data)
            client.reset()
        assert stuck.line() == b"0\t1"
        server.wait_until("it is closed", lambda: server.counter("connections_closed") == closed + 1)


def test_what_was_asked_before_a_reset_is_not_begun(server: RowSocketServer) -> None:
    log = general_log(server)
    with switched(server, general_log=1):
        come_and_reset(server, b"P\t0\td\tt\t\tid\n0\t+\t1\t7\n")
    arrivals = [entry.text for entry in general_entries(log) if "rowsocket_anonymous_account" in entry.text]
    assert len(arrivals) == 1, "the one that was stuck"
    assert server.sql("SELECT * FROM d.t WHERE id = 7") == []


def test_a_local_password_is_not_taken_for_one_that_crosses_a_network(server: RowSocketServer) -> None:
    with account(server, "app@localhost"):
        come_and_reset(server, f"A\t2\tapp\t{PASSWORD}\n".encode())
    assert "sends a password over a network" not in server.log_text()
    assert server.counter("logins_untried") == 0
