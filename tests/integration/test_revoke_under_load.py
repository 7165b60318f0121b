# SPDX-License-Identifier: GPL-2.0-only
"""What is taken from an account is taken: not one request that began after the statement returned is served,
while clients keep all workers busy."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from support.accounts import OK, PASSWORD, account, client
from support.gate import gate, wait_at_gate, with_gated_table
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

DEPTH = 8
CLIENTS = 6
ROUNDS = 3


@dataclass
class Asker:
    """Sends batches of requests, and notes when it sent what was served, and when what was denied."""

    connection: RawConnection
    request: bytes
    served_at: list[float] = field(default_factory=list)
    denied_at: list[float] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            sent_at = time.perf_counter()
            for reply in self.connection.ask_all(*[self.request] * DEPTH):
                (self.served_at if reply.startswith(b"0\t") else self.denied_at).append(sent_at)


@pytest.fixture
def granted(server: RowSocketServer, database: Database) -> Iterator[str]:
    """The account `loaded@localhost`, which has everything of the database by its role; the table `t`."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO t VALUES (1, 0)")
    for statement in (
        f"CREATE USER loaded@localhost IDENTIFIED BY '{PASSWORD}'",
        "CREATE ROLE load_role",
        "GRANT load_role TO loaded@localhost",
        "SET DEFAULT ROLE load_role FOR loaded@localhost",
    ):
        server.sql(statement)
    yield database.name
    server.sql("DROP USER IF EXISTS loaded@localhost")
    server.sql("DROP ROLE IF EXISTS load_role")


@pytest.mark.parametrize(
    ("give", "take"),
    [
        ("GRANT ALL ON {0}.* TO loaded@localhost", "REVOKE ALL ON {0}.* FROM loaded@localhost"),
        (
            "GRANT ALL ON {0}.t TO loaded@localhost",
            "REVOKE ALL PRIVILEGES, GRANT OPTION FROM loaded@localhost",
        ),
        ("GRANT ALL ON {0}.t TO load_role", "REVOKE load_role FROM loaded@localhost"),
        ("GRANT ALL ON *.* TO loaded@localhost", "DROP USER loaded@localhost"),
        ("GRANT SELECT (id, n), UPDATE (n) ON {0}.t TO load_role", "DROP ROLE load_role"),
    ],
)
@pytest.mark.parametrize("request_line", [b"0\t=\t1\t1", b"0\t=\t1\t1\t1\t0\t+\t0\t1"])
def test_nothing_that_began_after_a_revoke_is_served(
    server: RowSocketServer, granted: str, give: str, take: str, request_line: bytes
) -> None:
    server.sql(give.format(granted))
    with contextlib.ExitStack() as stack:
        askers = []
        for number in range(CLIENTS):
            port = "read" if number % 2 == 0 and b"+" not in request_line else "write"
            connection = stack.enter_context(client(server, "loaded", port=port))
            assert connection.ask(f"P\t0\t{granted}\tt\t\tn".encode()) == OK
            askers.append(
                Asker(connection, request_line if b"+" not in request_line else b"0\t=\t1\t1\t1\t0\t+\t1")
            )
        stop = threading.Event()
        threads = [threading.Thread(target=asker.run, args=(stop,)) for asker in askers]
        for thread in threads:
            thread.start()
        try:
            server.wait_until(
                "serves all", lambda: all(len(asker.served_at) > 20 * DEPTH for asker in askers)
            )
            server.sql(take.format(granted))
            taken_at = time.perf_counter()
            server.wait_until(
                "has answered", lambda: all(len(asker.denied_at) > 20 * DEPTH for asker in askers)
            )
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    for asker in askers:
        assert max(asker.served_at) < taken_at


def test_what_comes_in_the_middle_of_a_turn_is_served_as_its_account_may_by_then(start: Start) -> None:
    """The turn has asked for the account's rights before, and a trigger of it waits at the gate meanwhile."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0})
    database = Database(server, "d")
    with_gated_table(database)
    with (
        account(server, "app@localhost", grants=["ALL ON d.*"]),
        client(server, "app") as first,
        client(server, "app") as second,
    ):
        for connection in (first, second):
            assert connection.ask_all(b"P\t1\td\tt\t\tid", b"P\t2\td\tgated\t\tid") == [OK] * 2
        with gate(database):
            first.send(b"1\t=\t1\t1\n2\t+\t1\t1\n")
            wait_at_gate(server)
            server.sql("REVOKE ALL ON d.* FROM app@localhost")
            second.send(b"1\t=\t1\t1\n")
        assert first.lines(2) == [OK, OK]
        assert second.line() == b"1\t1\t1142"


def test_what_joins_a_transaction_under_way_is_served_as_its_account_may_by_then(start: Start) -> None:
    """A write of the transaction waits for a row meanwhile. (One that waits at the gate has a lock of its
    own, and the transaction ends behind it.)"""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1, "rowsocket-threads-max": 0})
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO t VALUES (1, 0), (2, 0)")
    with (
        account(server, "app@localhost", grants=["ALL ON *.*"]),
        client(server, "app") as first,
        client(server, "app") as second,
        database.session() as holder,
    ):
        for connection in (first, second):
            change = b"1\t=\t1\t2\t1\t0\t+\t1"  # who has written may join
            assert connection.ask_all(b"P\t1\td\tt\t\tn", change) == [OK, b"0\t1\t1"]
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM t WHERE id = 1 FOR UPDATE")
        first.send(b"1\t=\t1\t1\t1\t0\t+\t1\n")
        wait_for_a_row_lock_wait(server)
        server.sql("REVOKE ALL ON *.* FROM app@localhost")
        second.send(b"1\t=\t1\t2\t1\t0\t+\t1\n")
        holder.execute("COMMIT")
        assert first.line() in (b"0\t1\t1", b"1\t1\t1142")  # the latter where it had to begin again
        assert second.line() == b"1\t1\t1142"
