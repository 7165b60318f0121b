# SPDX-License-Identifier: GPL-2.0-only
"""The plugin and the server go while a thousand connections are busy: nothing is lost, nothing is left."""

from __future__ import annotations

import time

import pytest

from faults.crowd import Crowd, make_counters
from support.mariadb import RowSocketServer, Start
from support.plugin import EmptyServer, is_loaded, wait_for_end_of_threads
from support.raw import RawConnection
from support.soak import Soak

CONNECTIONS = 1000
ANSWERS = 5000
TRIALS = 5


def test_uninstall_under_load_of_a_thousand_connections_leaves_nothing(start: Start, soak: Soak) -> None:
    server = start(EmptyServer)
    make_counters(server, CONNECTIONS)
    longest_s = 0.0
    for _ in soak.trials(TRIALS):
        server.sql("INSTALL SONAME 'rowsocket'")
        ports = server.read_port, server.write_port
        with Crowd(server, CONNECTIONS) as crowd:
            crowd.wait_for_answers(ANSWERS)
            began_s = time.monotonic()
            server.sql("UNINSTALL SONAME 'rowsocket'")
            longest_s = max(longest_s, time.monotonic() - began_s)
            crowd.wait_until_closed()
        assert_nothing_left(server, ports)
        assert crowd.wrong_counters(server) == []
        soak.saw("answers", crowd.answers())
    soak.note("longest UNINSTALL", f"{longest_s:.2f} s")


def assert_nothing_left(server: RowSocketServer, ports: tuple[int, int]) -> None:
    """No plugin, thread, session, port, lock of a table or lock of a row."""
    assert not is_loaded(server)
    wait_for_end_of_threads(server)
    assert server.sql("SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'") == []
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            RawConnection(("127.0.0.1", port))
    assert server.sql("SHOW OPEN TABLES FROM app WHERE In_use > 0") == []
    server.sql(
        "SET STATEMENT lock_wait_timeout = 120, innodb_lock_wait_timeout = 120 FOR ALTER TABLE app.c FORCE"
    )  # waits for purge
    assert len(server.sql("SELECT id FROM app.c FOR UPDATE NOWAIT")) == CONNECTIONS


def test_shutdown_under_load_of_a_thousand_connections_loses_nothing(start: Start, soak: Soak) -> None:
    """That the server ends well, with exit code 0, is a matter of `stop`."""
    server = start(RowSocketServer)
    make_counters(server, CONNECTIONS)
    longest_s = 0.0
    for _ in soak.trials(TRIALS):
        with Crowd(server, CONNECTIONS) as crowd:
            crowd.wait_for_answers(ANSWERS)
            began_s = time.monotonic()
            server.stop()
            longest_s = max(longest_s, time.monotonic() - began_s)
            crowd.wait_until_closed()
        assert "[ERROR]" not in server.log_text()
        server.start()
        assert crowd.wrong_counters(server) == []
        soak.saw("answers", crowd.answers())
    soak.note("longest shutdown", f"{longest_s:.2f} s")


def test_a_shutdown_while_the_workers_are_still_starting_ends_them_all(start: Start, soak: Soak) -> None:
    server = start(
        RowSocketServer, {"loose-rowsocket-threads-read": 500, "loose-rowsocket-threads-write": 500}
    )
    for _ in soak.trials(TRIALS):
        server.restart()
