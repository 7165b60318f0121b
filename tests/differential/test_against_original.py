# SPDX-License-Identifier: GPL-2.0-only
"""The same random requests to RowSocket and to the original: equal replies, then equal tables.

About 5,000 requests in `./x test`, other ones in each run; more in a soak.
What is known to differ stands in tests/vectors/DIFFERENCES.md, and workload.py keeps clear of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import strategies as st

from support import workload
from support.mariadb import HandlerSocketServer, OriginalServer, RowSocketServer
from support.random_requests import repeat
from support.raw import RawConnection
from support.soak import Soak

EXAMPLES = 740
"""Of about 7 requests each: 5,000 in all."""
DATABASE = "differential"


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
            table.name: self.server.sql(
                f"SELECT * FROM {DATABASE}.{table.name} ORDER BY {', '.join(table.primary_key)}"
            )
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


def test_replies_and_tables_equal_the_originals(subjects: tuple[Subject, Subject], soak: Soak) -> None:
    ours, theirs = subjects

    def check(changes: list[bytes], reads: list[workload.Find]) -> None:
        for subject in subjects:
            subject.reset()
        lines = [find.line() for find in reads]
        replies = zip(changes, ours.write.ask_all(*changes), theirs.write.ask_all(*changes), strict=True)
        found = zip(lines, ours.read.ask_all(*lines), theirs.read.ask_all(*lines), strict=True)
        for request, our_reply, their_reply in (*replies, *found):
            assert our_reply == their_reply, request
        assert ours.contents() == theirs.contents()
        soak.saw("requests", len(changes) + len(reads))

    repeat(soak, EXAMPLES, check, changes=workload.lines(), reads=st.lists(workload.finds(), max_size=10))
