# SPDX-License-Identifier: GPL-2.0-only
"""Random sequences of requests, reads and changes, against the same operations in SQL: equal replies, then
equal tables.

A modification in SQL is a SELECT of the rows that the find means, and a statement for each of them, in one
transaction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pymysql
import pytest
from hypothesis import strategies as st
from pymysql.constants import CLIENT

from differential.test_against_sql import Model, as_bytes, as_parameter
from support import workload
from support.mariadb import RowSocketServer
from support.random_requests import repeat
from support.raw import RawConnection, token, untoken
from support.soak import Soak
from support.sql_workload import ALL_CHANGES, ALL_INDEXES, ALL_TABLES, FLAT

# Engines that fill gaps give rows with the same key in no order that SQL could be asked for.
TABLES = tuple(table for table in ALL_TABLES if table not in FLAT)
INDEXES = tuple(index for index in ALL_INDEXES if index.table in TABLES)
DATABASES = ("changes", "changes_in_sql")
EXAMPLES = 140
"""Of about 15 requests each: 2,000 in all."""
DUPLICATE_KEY = b"1\t1\t121"

Request = workload.Find | bytes


class ChangingModel(Model):
    """Does in SQL what a request asks."""

    def __init__(self, server: RowSocketServer) -> None:
        super().__init__(server, DATABASES[1], CLIENT.FOUND_ROWS)  # an update to what is there already counts

    def answer(self, request: Request) -> bytes:
        """The reply that the request must get."""
        if isinstance(request, bytes):
            return self.insert(request)
        if not request.modification:
            return self.reply(request)
        kind, *values = request.modification
        rows = self.found(request)
        with self.connection.cursor() as cursor:
            cursor.execute("BEGIN")
            changed = sum(self.change(cursor, request, str(kind)[0], values, row) for row in rows)
            cursor.execute("COMMIT")
        if not str(kind).endswith("?"):
            return b"0\t1\t%d" % changed
        before = [
            token(as_bytes(value)) for row in rows for value in row[len(request.index.table.primary_key) :]
        ]
        return b"\t".join([b"0", b"%d" % len(request.index.columns), *before])

    def found(self, find: workload.Find) -> list[tuple[object, ...]]:
        """Primary keys and columns of the rows that the find means."""
        index = find.index
        with_key = replace(index, columns=(*index.table.primary_key, *index.columns))
        return self.rows(replace(find, index=with_key))

    def change(
        self,
        cursor: pymysql.cursors.Cursor,
        find: workload.Find,
        kind: str,
        values: Sequence[object],
        row: tuple[object, ...],
    ) -> int:
        """Change one row; how many rows that changed."""
        table = find.index.table
        where = " AND ".join(f"{name} <=> %s" for name in table.primary_key)
        key = list(row[: len(table.primary_key)])
        names = find.index.columns[: len(values)]
        if kind == "D":
            return int(cursor.execute(f"DELETE FROM {table.name} WHERE {where}", key))
        parameters = [as_parameter(value) if isinstance(value, bytes) else value for value in values]
        if kind == "U":
            sets = ", ".join(f"{name} = %s" for name in names)
            return cursor.execute(f"UPDATE {table.name} SET {sets} WHERE {where}", [*parameters, *key])
        sums = [f"{name} {kind} %s" for name in names]
        if kind == "-":
            where += "".join(
                f" AND NOT IFNULL({name} <> 0 AND SIGN({name}) = -SIGN({new}), 0)"
                for name, new in zip(names, sums, strict=True)
            )
            key += parameters
        sets = ", ".join(f"{name} = IFNULL({new}, {name})" for name, new in zip(names, sums, strict=True))
        return cursor.execute(f"UPDATE {table.name} SET {sets} WHERE {where}", [*parameters, *key])

    def insert(self, line: bytes) -> bytes:
        index_id, _, count, *values = line.split(b"\t")
        index = next(index for index in INDEXES if index.id == int(index_id))
        names = ", ".join(index.columns[: int(count)])
        places = ", ".join(["%s"] * len(values))
        try:
            with self.connection.cursor() as cursor:
                parameters = [as_parameter(untoken(value)) for value in values]
                cursor.execute(f"INSERT INTO {index.table.name} ({names}) VALUES ({places})", parameters)
        except pymysql.err.IntegrityError as error:
            assert error.args[0] == 1062
            return DUPLICATE_KEY
        return b"0\t1"


class Subjects:
    """Two databases with the same tables: one changed over RowSocket, one in SQL."""

    def __init__(self, server: RowSocketServer) -> None:
        self.server = server
        for database in DATABASES:
            server.sql(f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
            for table in TABLES:
                server.sql(table.create(database))
        self.model = ChangingModel(server)
        self.client = server.raw("write")
        for index in (*INDEXES, *ALL_CHANGES):
            assert self.client.ask(index.open_line(DATABASES[0])) == b"0\t1"

    def reset(self) -> None:
        with self.model.connection.cursor() as cursor:
            cursor.execute("BEGIN")
            for database in DATABASES:
                for table in TABLES:
                    cursor.execute(f"DELETE FROM {database}.{table.name}")
                    for statement in table.fill(database):
                        cursor.execute(statement)
            cursor.execute("COMMIT")

    def contents(self, database: str) -> list[list[tuple[object, ...]]]:
        return [
            self.server.sql(f"SELECT * FROM {database}.{table.name} ORDER BY {', '.join(table.primary_key)}")
            for table in TABLES
        ]

    def close(self) -> None:
        self.client.close()
        self.model.connection.close()
        for database in DATABASES:
            self.server.sql(f"DROP DATABASE {database}")


@pytest.fixture
def subjects(server: RowSocketServer) -> Iterator[Subjects]:
    with contextlib.closing(Subjects(server)) as subjects:
        yield subjects


def without_repetition(find: workload.Find) -> workload.Find:
    """A row is not found again after it was deleted: what an IN list with a value twice does is not what two
    statements do."""
    values = {value.lower(): value for value in find.in_values if value is not None}
    return replace(find, in_values=tuple(values.values()))


def requests() -> st.SearchStrategy[list[Request]]:
    finds = workload.finds(INDEXES)
    changes = workload.modifications(ALL_CHANGES).map(without_repetition)
    return st.lists(st.one_of(finds, changes, changes, workload.inserts(INDEXES)), min_size=10, max_size=40)


def ask(client: RawConnection, request: Request) -> bytes:
    return client.ask(request if isinstance(request, bytes) else request.line())


def test_a_sequence_of_reads_and_changes_does_what_it_does_in_sql(subjects: Subjects, soak: Soak) -> None:
    def check(asked: list[Request]) -> None:
        subjects.reset()
        for request in asked:
            assert ask(subjects.client, request) == subjects.model.answer(request), request
        assert subjects.contents(DATABASES[0]) == subjects.contents(DATABASES[1])
        soak.saw("requests", len(asked))

    repeat(soak, EXAMPLES, check, asked=requests())
