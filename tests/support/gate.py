# SPDX-License-Identifier: GPL-2.0-only
"""A gate in the middle of a turn: while it is closed, an insert into the table `gated` waits in a trigger,
and the test does what it likes between the requests before it and those behind."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from support.mariadb import Database, MariaDB
from support.raw import RawConnection


def open_ids(wire: RawConnection, database: Database, *opens: tuple[int, str, str]) -> None:
    """Open (id, table, columns) on the connection, each over the primary key."""
    for number, table, columns in opens:
        assert wire.tokens("P", number, database.name, table, "", columns) == [b"0", b"1"]


@contextlib.contextmanager
def gate(database: Database) -> Iterator[None]:
    """While it is closed, a trigger that asks for the lock `gate` waits, and so does its turn."""
    with database.session() as session:
        session.execute("SELECT GET_LOCK('gate', 100)")
        yield
        session.execute("SELECT RELEASE_LOCK('gate')")


def is_at_gate(server: MariaDB) -> bool:
    """Whether a trigger waits at the gate. (This needs no room in tmpdir.)"""
    return any(state == "User lock" for *_, state, _, _ in server.sql("SHOW PROCESSLIST"))


def wait_at_gate(server: MariaDB) -> None:
    """Wait until a trigger waits at the gate. (The same.)"""
    server.wait_until("waits at the gate", lambda: is_at_gate(server))


@contextlib.contextmanager
def standing_still(server: MariaDB) -> Iterator[None]:
    """Its process is stopped, and goes on behind the block."""
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def with_gated_table(database: Database) -> None:
    """Two plain tables, and one whose trigger waits at the gate."""
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0);
        CREATE TABLE gated (id INT PRIMARY KEY);
        CREATE TRIGGER at_gate BEFORE INSERT ON gated FOR EACH ROW
            SET NEW.id = NEW.id + 0 * (GET_LOCK('gate', 100) + RELEASE_LOCK('gate'))"""
    )


class LaterReplies(threading.Thread):
    """Waits for the replies to what was sent already."""

    def __init__(self, wire: RawConnection, count: int) -> None:
        super().__init__(daemon=True)
        self._wire = wire
        self._count = count
        self._lines: list[bytes] = []
        self.start()

    def run(self) -> None:
        self._lines = self._wire.lines(self._count)

    def lines(self) -> list[bytes]:
        """The replies, once they are there."""
        self.join(120)
        return self._lines
