# SPDX-License-Identifier: GPL-2.0-only
"""Many connections that are all busy, and know what they were told when the server closes them.

Every other one reads, over the read port; the others each increment a counter of their own in `app.c`, over
the write port. One thread drives many connections: it sends one request on each, then takes one reply from
each.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Self

from support.mariadb import MariaDB, RowSocketServer
from support.raw import ConnectionClosed, RawConnection
from support.threads import Threads

THREADS = 8
TIMEOUT_S = 60.0
SHUTDOWN = b"1\t1\tshutdown"


def make_counters(server: MariaDB, count: int) -> None:
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.c (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
    server.sql(f"INSERT INTO app.c SELECT seq, 0 FROM app.seq_0_to_{count - 1}")


class Client:
    """One connection and its counter."""

    def __init__(
        self, number: int, server_addresses: dict[str, tuple[str, int]], stack: ExitStack, before: int
    ) -> None:
        self.number = number
        self.writes = number % 2 == 1
        self.connection = stack.enter_context(
            RawConnection(server_addresses["write" if self.writes else "read"], TIMEOUT_S)
        )
        assert self.connection.ask(b"P\t1\tapp\tc\t\tn") == b"0\t1"
        self.request = b"1\t=\t1\t%d" % number + (b"\t1\t0\t+\t1\n" if self.writes else b"\n")
        self.right = b"0\t1\t1" if self.writes else b"0\t1\t%d" % before
        self.least = self.most = before
        self.answers = 0

    def send(self) -> bool:
        """Ask; False when the connection was closed."""
        try:
            self.connection.send(self.request)
        except OSError:
            return False
        self.most += self.writes
        return True

    def receive(self) -> bool:
        """Take the answer; False when the connection was closed."""
        try:
            reply = self.connection.line()
        except (ConnectionClosed, OSError):
            return False
        if reply == SHUTDOWN:
            self.most -= self.writes
        else:
            assert reply == self.right, f"client {self.number}: {reply!r}"
            self.least += self.writes
            self.answers += 1
        return True


def _keep_busy(clients: Iterable[Client]) -> None:
    """Until all of them are closed."""
    left = list(clients)
    while left:
        asked = [client for client in left if client.send()]
        left = [client for client in asked if client.receive()]


class Crowd:
    """Busy connections, until the server has closed all of them."""

    def __init__(self, server: RowSocketServer, count: int) -> None:
        self._stack = ExitStack()
        before = {int(id): int(n) for id, n in server.sql("SELECT id, n FROM app.c")}
        addresses = {"read": server.read_address(), "write": server.write_address()}
        self.clients = [Client(number, addresses, self._stack, before[number]) for number in range(count)]
        shares = [self.clients[first::THREADS] for first in range(THREADS)]
        self._threads = Threads(partial(_keep_busy, share) for share in shares)

    def answers(self) -> int:
        return sum(client.answers for client in self.clients)

    def wait_for_answers(self, count: int) -> None:
        """Wait until so many more requests were answered."""
        aim = self.answers() + count
        seen, deadline = self.answers(), time.monotonic() + TIMEOUT_S
        while self.answers() < aim:
            self._threads.raise_error()
            if self.answers() > seen:
                seen, deadline = self.answers(), time.monotonic() + TIMEOUT_S
            assert time.monotonic() < deadline, f"{self.answers()} answers, not {aim}"
            time.sleep(0.002)

    def wait_until_closed(self) -> None:
        """Wait until the server has closed every connection."""
        assert self._threads.join(TIMEOUT_S), "some connections are not closed"
        self._threads.raise_error()

    def wrong_counters(self, server: MariaDB) -> list[tuple[int, int]]:
        """Counters that lost an acknowledged increment, or have one that nobody sent: (id, n)."""
        bounds = {client.number: (client.least, client.most) for client in self.clients}
        rows = [(int(id), int(n)) for id, n in server.sql("SELECT id, n FROM app.c")]
        return [(id, n) for id, n in rows if not bounds[id][0] <= n <= bounds[id][1]]

    def __enter__(self) -> Self:
        self._threads.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
