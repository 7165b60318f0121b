# SPDX-License-Identifier: GPL-2.0-only
"""Random finds with RowSocket's own clauses against the SELECT that means the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from differential.test_against_sql import (
    FINDS,
    Condition,
    Model,
    all_of,
    as_bytes,
    key_condition,
)
from support import workload
from support.mariadb import RowSocketServer
from support.random_requests import repeat
from support.range_workload import Key, RangeFind, range_finds
from support.raw import RawConnection, token
from support.soak import Soak
from support.sql_workload import ALL_INDEXES, ALL_TABLES

DATABASE = "ranges_against_sql"


class RangeModel(Model):
    """Asks SQL what a find with clauses asks."""

    def range_reply(self, asked: RangeFind) -> bytes:
        columns = asked.columns or asked.find.index.columns
        limit = asked.find.limit
        found: list[tuple[object, ...]] = []
        for key, end_key in asked.key_pairs():
            found += self.range_rows(asked, columns, key, end_key)[: limit_of_value(asked)]
        chosen = found[asked.find.offset :][: None if asked.counts and limit == 0 else max(1, limit)]
        if asked.counts:
            return b"0\t1\t%d" % len(chosen)
        return b"\t".join(
            [b"0", b"%d" % len(columns), *(token(as_bytes(value)) for row in chosen for value in row)]
        )

    def range_rows(
        self, asked: RangeFind, columns: tuple[str, ...], key: Key, end_key: Key
    ) -> list[tuple[object, ...]]:
        find = asked.find
        conditions = [
            prefix_condition(find.index, key)
            if find.operator == "^="
            else key_condition(find.index, find.operator, key)
        ]
        if asked.end is not None:
            conditions.append(key_condition(find.index, asked.end[0], end_key))
        downwards = (find.operator[0] == "<") != asked.reverse
        return self.select(find, columns, all_of(conditions), downwards=downwards)


def limit_of_value(asked: RangeFind) -> int | None:
    """How many rows a value gives at most; None = all."""
    if asked.find.in_part is None:
        return None
    return asked.limit_per_value or (None if asked.find.operator in ("=", "^=") else 1)


def prefix_condition(index: workload.Index, key: Key) -> Condition:
    *before, prefix = key
    name = index.key[len(before)]
    equal = [(f"{part} <=> %s", [value]) for part, value in zip(index.key, before, strict=False)]
    if prefix is None:
        return "FALSE", []
    pattern = b"".join(b"\\" + bytes([byte]) if byte in b"%_\\" else bytes([byte]) for byte in prefix) + b"%"
    return all_of([*equal, (f"{name} LIKE %s", [pattern])])


@pytest.fixture(scope="module")
def asked_server(server: RowSocketServer) -> Iterator[tuple[RawConnection, RangeModel]]:
    """A connection that opened every index, and the model beside it."""
    server.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    for table in ALL_TABLES:
        for statement in (table.create(DATABASE), *table.fill(DATABASE)):
            server.sql(statement)
    model = RangeModel(server, DATABASE)
    with server.raw("read") as connection, contextlib.closing(model.connection):
        for index in ALL_INDEXES:
            assert connection.ask(index.open_line(DATABASE)) == b"0\t1"
        yield connection, model
    server.sql(f"DROP DATABASE {DATABASE}")


def test_a_find_with_clauses_equals_its_select(
    asked_server: tuple[RawConnection, RangeModel], soak: Soak
) -> None:
    connection, model = asked_server

    def check(asked: RangeFind) -> None:
        assert connection.ask(asked.line()) == model.range_reply(asked)
        soak.saw("finds with clauses", 1)

    repeat(
        soak,
        FINDS,
        check,
        asked=range_finds(ALL_INDEXES),
    )
