# SPDX-License-Identifier: GPL-2.0-only
"""Random finds of RowSocket against the SELECT that means the same: equal rows in equal order. Other finds in
each run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pymysql
import pytest
from pymysql.converters import encoders

from support import workload
from support.mariadb import RowSocketServer
from support.random_requests import repeat
from support.raw import RawConnection, token
from support.soak import Soak
from support.sql_workload import ALL_INDEXES, ALL_TABLES

FINDS = 1_500
DATABASE = "against_sql"

Parameters = list[workload.Value]
Condition = tuple[str, Parameters]


class Model:
    """Asks SQL what a find asks; values come as the text that the SQL protocol carries."""

    def __init__(self, server: RowSocketServer, database: str = DATABASE, client_flag: int = 0) -> None:
        self.connection = pymysql.connect(
            unix_socket=str(server.socket),
            user="root",
            database=database,
            autocommit=True,
            charset="utf8mb4",
            conv=dict(encoders.items()),
            client_flag=client_flag,
        )

    def reply(self, find: workload.Find) -> bytes:
        """The reply line that the find must get."""
        rows = self.rows(find)
        tokens = [token(as_bytes(value)) for row in rows for value in row]
        return b"\t".join([b"0", b"%d" % len(find.index.columns), *tokens])

    def rows(self, find: workload.Find) -> list[tuple[object, ...]]:
        keys = [find.key] if find.in_part is None else [with_part(find, value) for value in find.in_values]
        found: list[tuple[object, ...]] = []
        for key in keys:
            found += self.rows_of(find, key)
        return found[find.offset : find.offset + max(1, find.limit)]

    def rows_of(self, find: workload.Find, key: tuple[workload.Value, ...]) -> list[tuple[object, ...]]:
        condition = key_condition(find.index, find.operator, key)
        return self.select(find, find.index.columns, condition, downwards=find.operator[0] == "<")

    def select(
        self, find: workload.Find, columns: tuple[str, ...], where: Condition, *, downwards: bool
    ) -> list[tuple[object, ...]]:
        """The rows that pass the find's filters, of those that the condition chooses, in the index's
        order."""
        condition, parameters = where
        kept, kept_parameters = all_of(
            [filter_condition(find.index, one) for one in find.filters if one[0] == "F"]
        )
        stops, stop_parameters = all_of(
            [filter_condition(find.index, one) for one in find.filters if one[0] == "W"]
        )
        query = (
            f"SELECT {', '.join((*columns, kept, stops))} FROM {find.index.table.name} WHERE {condition} "
            f"ORDER BY {find.index.order(downwards)}"
        )
        with self.connection.cursor() as cursor:
            cursor.execute(
                query, [as_parameter(value) for value in [*kept_parameters, *stop_parameters, *parameters]]
            )
            rows = []
            for *row, is_kept, goes_on in cursor.fetchall():
                # Filters are looked at in their order: one that skips, before one that stops, keeps the other
                # from being seen.
                if not as_truth(goes_on) and (as_truth(is_kept) or stops_first(find)):
                    break
                if as_truth(is_kept) and as_truth(goes_on):
                    rows.append(tuple(row))
            return rows


def stops_first(find: workload.Find) -> bool:
    return find.filters[0][0] == "W"


def with_part(find: workload.Find, value: workload.Value) -> tuple[workload.Value, ...]:
    assert find.in_part is not None
    return (*find.key[: find.in_part], value, *find.key[find.in_part + 1 :])


def key_condition(index: workload.Index, operator: str, key: tuple[workload.Value, ...]) -> Condition:
    """The key parts compared in order, where NULL stands before every value."""
    names = index.key[: len(key)]
    equal = all_of([(f"{name} <=> %s", [value]) for name, value in zip(names, key, strict=True)])
    beyond: list[Condition] = []
    for last in range(len(names)):
        before = [(f"{name} <=> %s", [value]) for name, value in zip(names[:last], key[:last], strict=True)]
        direction = operator[0]
        if names[last] in index.descending:
            direction = {">": "<", "<": ">"}.get(direction, direction)
        beyond.append(all_of([*before, strictly(direction, names[last], key[last])]))
    if operator == "=":
        return equal
    return any_of([*beyond, equal] if operator.endswith("=") else beyond)


def strictly(direction: str, name: str, value: workload.Value) -> Condition:
    if value is None:
        return (f"{name} IS NOT NULL", []) if direction == ">" else ("FALSE", [])
    return (f"{name} > %s", [value]) if direction == ">" else (f"({name} IS NULL OR {name} < %s)", [value])


def filter_condition(index: workload.Index, condition: tuple[str, str, int, workload.Value]) -> Condition:
    _, comparison, position, value = condition
    name = index.filters[position]
    equal: Condition = (f"{name} <=> %s", [value])
    match comparison:
        case "=":
            return equal
        case "!=":
            return (f"NOT ({equal[0]})", equal[1])
        case _:
            strict = strictly(comparison[0], f"{name}", value)
            return any_of([strict, equal]) if comparison.endswith("=") else strict


def all_of(conditions: list[Condition]) -> Condition:
    return " AND ".join(f"({text})" for text, _ in conditions) or "TRUE", [
        one for _, some in conditions for one in some
    ]


def any_of(conditions: list[Condition]) -> Condition:
    return "(" + " OR ".join(f"({text})" for text, _ in conditions) + ")", [
        one for _, some in conditions for one in some
    ]


def as_parameter(value: workload.Value) -> str | bytes | None:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def as_bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) or value is None else str(value).encode()


def as_truth(value: object) -> bool:
    return as_bytes(value) == b"1"


@pytest.fixture(scope="module")
def asked(server: RowSocketServer) -> Iterator[tuple[RawConnection, Model]]:
    """A connection that opened every index, and the model beside it."""
    server.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    for table in ALL_TABLES:
        for statement in (table.create(DATABASE), *table.fill(DATABASE)):
            server.sql(statement)
    model = Model(server)
    with server.raw("read") as connection, contextlib.closing(model.connection):
        for index in ALL_INDEXES:
            assert connection.ask(index.open_line(DATABASE)) == b"0\t1"
        yield connection, model
    server.sql(f"DROP DATABASE {DATABASE}")


def test_a_find_equals_its_select(asked: tuple[RawConnection, Model], soak: Soak) -> None:
    connection, model = asked

    def check(find: workload.Find) -> None:
        assert connection.ask(find.line()) == model.reply(find)
        soak.saw("finds", 1)

    repeat(soak, FINDS, check, find=workload.finds(ALL_INDEXES))
