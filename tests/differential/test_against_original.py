# SPDX-License-Identifier: GPL-2.0-only
"""The same random requests to RowSocket and to the original: equal replies, then equal tables.

`ROWSOCKET_DIFFERENTIAL_REQUESTS` says about how many requests (default 5,000, always the same ones; more than that are random).
What is known to differ stands in tests/vectors/DIFFERENCES.md, and workload.py keeps clear of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support import workload
from support.mariadb import HandlerSocketServer, OriginalServer, RowSocketServer
from support.raw import RawConnection

REQUESTS_DEFAULT = 5_000
REQUESTS = int(os.environ.get("ROWSOCKET_DIFFERENTIAL_REQUESTS", REQUESTS_DEFAULT))
REQUESTS_PER_EXAMPLE = 15  # what hypothesis makes of lists of up to 40, seen over many runs
DATABASE = "differential"

run = settings(
    max_examples=max(10, REQUESTS // REQUESTS_PER_EXAMPLE),
    derandomize=REQUESTS <= REQUESTS_DEFAULT,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)


class Subject:
    """One of the two servers, with the tables and a connection that opened every index."""

    def __init__(self, server: HandlerSocketServer) -> None:
        self.server = server
        server.sql(f"DROP DATABASE IF EXISTS {DATABASE}")
        server.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
        for table in workload.TABLES:
            server.sql(f"CREATE TABLE {DATABASE}.{table.name} ({table.definition}) ENGINE=InnoDB")
        self.write = self.connect("write")
        self.read = self.connect("read")

    def connect(self, port: str) -> RawConnection:
        connection = self.server.raw(port)
        for index in (*workload.INDEXES, *workload.CHANGES):
            assert connection.ask(index.open_line(DATABASE)) == b"0\t1", index
        return connection

    def reset(self) -> None:
        """The first rows again. By DELETE: the original's open tables stand in the way of TRUNCATE."""
        for table in workload.TABLES:
            self.server.sql(f"DELETE FROM {DATABASE}.{table.name}")
            self.server.sql(f"INSERT INTO {DATABASE}.{table.name} VALUES {table.rows}")

    def contents(self) -> dict[str, list[tuple[object, ...]]]:
        return {
            table.name: self.server.sql(f"SELECT * FROM {DATABASE}.{table.name} ORDER BY {', '.join(table.primary_key)}")
            for table in workload.TABLES
        }

    def close(self) -> None:
        self.write.close()
        self.read.close()
        self.server.sql(f"DROP DATABASE {DATABASE}")


@pytest.fixture(scope="module")
def subjects(server: RowSocketServer, original: OriginalServer) -> Iterator[tuple[Subject, Subject]]:
    with contextlib.closing(Subject(server)) as ours, contextlib.closing(Subject(original)) as theirs:
        yield ours, theirs


@run
@given(changes=workload.lines(), reads=st.lists(workload.finds(), max_size=10))
def test_replies_and_tables_equal_the_originals(
    subjects: tuple[Subject, Subject], changes: list[bytes], reads: list[workload.Find]
) -> None:
    ours, theirs = subjects
    for subject in subjects:
        subject.reset()
    for request, our_reply, their_reply in zip(
        changes, ours.write.ask_all(*changes), theirs.write.ask_all(*changes), strict=True
    ):
        assert our_reply == their_reply, request
    lines = [find.line() for find in reads]
    for request, our_reply, their_reply in zip(lines, ours.read.ask_all(*lines), theirs.read.ask_all(*lines), strict=True):
        assert our_reply == their_reply, request
    assert ours.contents() == theirs.contents()
