# SPDX-License-Identifier: GPL-2.0-only
"""Clients that write for as long as the server answers, each with a ledger; and the comparison of the server
with the ledgers.

Every writer has its own rows in `d.t` (inserted, updated, deleted) and its own counter in `d.counter`
(incremented), which its ledger knows under a negative id. Some writers send one change after the other, some
a whole round of changes at once, so that a turn holds one request of some clients and many of others; and
some send many rounds as an atomic group.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

import rowsocket
from faults.ledger import NO_SUCH_ROW, Ledger, partial_rows, row_of
from rowsocket import Connection, Group, Pending, Pipeline
from support.mariadb import MariaDB, RowSocketServer
from support.threads import Threads

WRITER_COUNT = 8
ROWS_PER_WRITER = 1_000_000
ANSWER_TIMEOUT_S = 120.0
ROUNDS_OF_A_GROUP = 60  # more than is received at once: what is no group is committed in parts
CHANGES_OF_A_GROUP = 6 * ROUNDS_OF_A_GROUP  # a round has six
TABLES = (
    "CREATE DATABASE d",
    """CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL, text VARCHAR(800) NOT NULL, checksum BIGINT NOT
    NULL, KEY by_v (v), KEY by_text (text(20))) ENGINE=InnoDB CHARSET=latin1""",
    "CREATE TABLE d.counter (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB",
)

NO_HISTORY = {"Innodb_history_list_length": "0"}
"""Until then, CHECK TABLE finds entries of rows that were deleted a moment ago."""

Send = Callable[[Pipeline | Group], Pending[Any]]
Change = tuple[Send, int, int | None]
"""How to send it, and what the ledger calls it."""


def make_tables(server: MariaDB) -> None:
    for statement in TABLES:
        server.sql(statement)


class Writer:
    """One client: its connection, its rows, its ledger."""

    def __init__(self, number: int, address: tuple[str, int]) -> None:
        self.number = number
        self.ledger = Ledger()
        self._rounds_at_once = ROUNDS_OF_A_GROUP if number % 4 == 3 else 1
        self._connection: Connection = rowsocket.connect(
            *address, reconnect=False, timeout=ANSWER_TIMEOUT_S, text=True
        )
        self._rows = self._connection.open_index("d", "t", "id,v,text,checksum")
        self._counter = self._connection.open_index("d", "counter", "id,n")
        self._amount = self._connection.open_index("d", "counter", "n")

    def write(self, stop: threading.Event) -> None:
        """Round after round, until told to stop; raises TransportError when nobody answers any more."""
        counter = -1 - self.number
        with self._connection:
            self._do([(lambda pipe: pipe.insert(self._counter, [self.number, 0]), counter, 0)])
            first, rounds = self.number * ROWS_PER_WRITER + 1, 1
            while first < (self.number + 1) * ROWS_PER_WRITER - 2 * ROUNDS_OF_A_GROUP:
                steps = self._rounds_from(first, rounds, counter)
                for batch in [steps] if self.number % 2 else [[change] for change in steps]:
                    if stop.is_set():
                        return
                    self._do(batch)
                first, rounds = first + 2 * rounds, self._rounds_at_once

    def _rounds_from(self, first: int, count: int, counter: int) -> list[Change]:
        total = self._last_total(counter)
        return [
            change
            for nth in range(count)
            for change in self._round(first + 2 * nth, counter, total + nth + 1)
        ]

    def _last_total(self, counter: int) -> int:
        return next(
            (n for row_id, n, _ in reversed(self.ledger.changes) if row_id == counter and n is not None), 0
        )

    def _round(self, first: int, counter: int, total: int) -> list[Change]:
        """Two new rows, a change to each, one of the round before deleted, and one more on the counter:
        `total`."""
        second, before, value = first + 1, first - 2, first % ROWS_PER_WRITER
        return [
            (lambda pipe: pipe.insert(self._rows, row_of(first, value)), first, value),
            (lambda pipe: pipe.insert(self._rows, row_of(second, value)), second, value),
            (lambda pipe: pipe.increment(self._amount, self.number, [1]), counter, total),
            (lambda pipe: pipe.update(self._rows, first, row_of(first, value + 1)), first, value + 1),
            (lambda pipe: pipe.delete(self._rows, before), before, None),
            (lambda pipe: pipe.update(self._rows, second, row_of(second, value + 2)), second, value + 2),
        ]

    def _do(self, batch: Sequence[Change]) -> None:
        """Send changes at once and enter into the ledger what came of them."""
        is_group = self._rounds_at_once > 1 and len(batch) > 1
        for left, (_, row_id, value) in zip(range(len(batch) - 1, -1, -1), batch, strict=True):
            self.ledger.sent(row_id, value, group_goes_on=is_group and left > 0)
        promised: list[Pending[Any]] = []
        try:
            with (
                contextlib.suppress(rowsocket.ServerError),
                self._connection.group() if is_group else self._connection.pipeline() as pipe,
            ):
                promised += [send(pipe) for send, _, _ in batch]
        finally:
            for pending in promised:
                if isinstance(pending.error, rowsocket.TransportError):
                    break
                self._settle(pending)

    def _settle(self, pending: Pending[Any]) -> None:
        try:
            rows_changed = pending.result()
        except rowsocket.ServerError as error:
            cause = error.cause if isinstance(error, rowsocket.UndoneWithGroup) else None
            self.ledger.refused(cause.text if isinstance(cause, rowsocket.ServerError) else error.text)
        else:
            if rows_changed == 0:
                self.ledger.refused(NO_SUCH_ROW)
            else:
                self.ledger.acknowledged()


class Writers:
    """All writers at once, until the end of the `with` block, which raises what surprised any of them.

    A writer whose server is gone ends. That is a surprise unless `server_may_go` was said before.
    """

    def __init__(self, server: RowSocketServer, count: int = WRITER_COUNT) -> None:
        self.server = server
        self._server_may_go = False
        self._lost_the_server_count = 0
        self._stop = threading.Event()
        self.writers = [Writer(number, server.write_address()) for number in range(count)]
        self._threads = Threads(partial(self._run, writer) for writer in self.writers)

    def _run(self, writer: Writer) -> None:
        try:
            writer.write(self._stop)
        except rowsocket.TransportError:
            self._lost_the_server_count += 1
            if not self._server_may_go:
                raise

    def __enter__(self) -> Self:
        self._threads.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        have_ended = self._threads.join(ANSWER_TIMEOUT_S)
        if error is None:
            assert have_ended, "a writer still waits for its answer"
            self.raise_error()

    def raise_error(self) -> None:
        self._threads.raise_error()

    def server_may_go(self) -> None:
        """From here on, that the server is gone surprises nobody."""
        self._server_may_go = True

    def acknowledged_counts(self) -> list[int]:
        """How many changes of each writer were acknowledged."""
        return [writer.ledger.acknowledged_count for writer in self.writers]

    def sent_counts(self) -> list[int]:
        """How many changes each writer has sent, answered or not, without those that were refused."""
        return [len(writer.ledger.changes) for writer in self.writers]

    def acknowledged_count(self) -> int:
        return sum(self.acknowledged_counts())

    def refusals(self) -> dict[str, int]:
        """How many changes were refused, by error."""
        found: dict[str, int] = {}
        for writer in self.writers:
            for why, count in list(writer.ledger.outcomes.items()):
                found[why] = found.get(why, 0) + count
        return found

    def wait_until(
        self, what: str, condition: Callable[[], bool], timeout_s: float = ANSWER_TIMEOUT_S
    ) -> None:
        """Wait while they write; raises the first surprise, or AssertionError when for `timeout_s` seconds no
        write is acknowledged: how many are in a time is the machine's business.

        When all have lost a server that may go, there is nothing to wait for any more.
        """
        count, deadline = self.acknowledged_count(), time.monotonic() + timeout_s
        while not condition() and not self.all_have_lost_the_server():
            self.raise_error()
            if self.acknowledged_count() > count:
                count, deadline = self.acknowledged_count(), time.monotonic() + timeout_s
            seen = f"{self.acknowledged_count()} writes, refused {self.refusals()}"
            assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}; {seen}"
            time.sleep(0.002)

    def wait_for_more(self, write_count: int) -> None:
        """Wait until so many more writes were acknowledged."""
        aim = self.acknowledged_count() + write_count
        self.wait_until(f"{write_count} more writes", lambda: self.acknowledged_count() >= aim)

    def wait_for_first_rounds(self) -> None:
        """Wait until each writer has done its first round, whose delete finds no row: from here on every
        change finds one."""
        self.wait_until_refused([NO_SUCH_ROW], len(self.writers))

    def wait_until_refused(self, errors: Collection[str], count: int = 1) -> None:
        """Wait until so many changes were refused with one of these errors."""
        self.wait_until(
            f"{count} refused with {errors}",
            lambda: sum(self.refusals().get(one, 0) for one in errors) >= count,
        )

    def all_have_lost_the_server(self) -> bool:
        """Whether no writer has a server any more."""
        self.raise_error()
        return self._lost_the_server_count == len(self.writers)

    def losses(self, server: MariaDB) -> int:
        """How many acknowledged changes `server` does not have; raises AssertionError on damaged rows, tables
        or histories."""
        pairs = zip(self.kept_counts(server), self.acknowledged_counts(), strict=True)
        return sum(acknowledged - kept for kept, acknowledged in pairs)

    def kept_counts(self, server: MariaDB) -> list[int]:
        """How many acknowledged changes of each writer `server` still has; raises AssertionError as
        `losses`."""
        assert partial_rows(server.sql("SELECT id, v, text, checksum FROM d.t")) == []
        server.wait_until(
            "has purged what was deleted", lambda: server.status("Innodb_history_list_length") == NO_HISTORY
        )
        checked = server.sql("CHECK TABLE d.t, d.counter EXTENDED")
        assert {text for _, _, _, text in checked if "Unpurged" not in text} == {
            "OK"
        }  # deleted a moment ago is no damage
        ledgers = [(writer.ledger, dict(self._rows_of(writer, server))) for writer in self.writers]
        return [ledger.acknowledged_count - ledger.lost(rows) for ledger, rows in ledgers]

    def _rows_of(self, writer: Writer, server: MariaDB) -> Iterator[tuple[int, int]]:
        first = writer.number * ROWS_PER_WRITER
        for row_id, value in server.sql(
            "SELECT id, v FROM d.t WHERE id BETWEEN %s AND %s", [first, first + ROWS_PER_WRITER - 1]
        ):
            yield int(row_id), int(value)
        for number, total in server.sql("SELECT id, n FROM d.counter WHERE id = %s", [writer.number]):
            yield -1 - int(number), int(total)
