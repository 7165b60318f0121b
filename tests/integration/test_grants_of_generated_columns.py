# SPDX-License-Identifier: GPL-2.0-only
"""Grants on columns of a table with generated ones: both RowSocket and SQL serve an operation, or deny it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pymysql
import pytest

from support.accounts import DENIED, PASSWORD, account, client, is_denied
from support.mariadb import Database, RowSocketServer
from support.tree import ServerTree


@dataclass(frozen=True)
class Operation:
    """An index opened with these columns (behind `;` those of filters), a request, and the like statement."""

    index: str
    columns: str
    request: bytes
    sql: str


OPERATIONS = {
    "find v": Operation("", "v", b"0\t=\t1\t1", "SELECT v FROM d.t WHERE id = 1"),
    "find p": Operation("", "p", b"0\t=\t1\t1", "SELECT p FROM d.t WHERE id = 1"),
    "find by v": Operation("by_v", "id", b"0\t=\t1\t20", "SELECT id FROM d.t WHERE v = 20"),
    "find by p": Operation("by_p", "id", b"0\t=\t1\t110", "SELECT id FROM d.t WHERE p = 110"),
    "filter by v": Operation(
        "", "id;v", b"0\t=\t1\t1\t1\t0\tF\t=\t0\t20", "SELECT id FROM d.t WHERE id = 1 AND v = 20"
    ),
    "update a": Operation("", "a", b"0\t=\t1\t1\t1\t0\tU\t10", "UPDATE d.t SET a = 10 WHERE id = 1"),
    "update a by v": Operation(
        "by_v", "a", b"0\t=\t1\t20\t1\t0\tU\t10", "UPDATE d.t SET a = 10 WHERE v = 20"
    ),
    "add to b": Operation("", "b", b"0\t=\t1\t1\t1\t0\t+\t0", "UPDATE d.t SET b = b + 0 WHERE id = 1"),
    "insert": Operation("", "id,a", b"0\t+\t2\t2\t20", "INSERT INTO d.t (id, a) VALUES (2, 20)"),
    "upsert": Operation(
        "",
        "id,a",
        b"0\t++\t2\t1\t1\t10\tU\t1",
        "INSERT INTO d.t (id, a) VALUES (1, 10) ON DUPLICATE KEY UPDATE a = 10",
    ),
    "delete by p": Operation("by_p", "id", b"0\t=\t1\t9999\t1\t0\tD", "DELETE FROM d.t WHERE p = 9999"),
}


@pytest.fixture(scope="module")
def server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    with RowSocketServer(tree, template, {"loose-rowsocket-anonymous-account": ""}) as server:
        database = Database(server, "d")
        database.sql(
            "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT DEFAULT 100, v INT AS (a * 2) VIRTUAL,"
            " p INT AS (a + b) PERSISTENT, KEY by_v (v), KEY by_p (p))"
        )
        yield server


@pytest.mark.parametrize(
    "grants",
    [
        ["SELECT (id, v)"],
        ["SELECT (id, a)"],
        ["SELECT (id, p)"],
        ["SELECT (v, p)"],
        ["SELECT (id), UPDATE (a)"],
        ["SELECT (id, v), UPDATE (a)"],
        ["SELECT (id, b), UPDATE (b)"],
        ["INSERT (id, a)"],
        ["INSERT (id, a), UPDATE (a), SELECT (id, a)"],
        ["INSERT (id, v)"],
        ["UPDATE (v, p)", "SELECT (id)"],
        ["DELETE", "SELECT (id, p)"],
        ["DELETE", "SELECT (id, a, b)"],
    ],
)
def test_a_generated_column_is_a_column_like_others(server: RowSocketServer, grants: list[str]) -> None:
    by_sql: dict[str, bool] = {}
    by_rowsocket: dict[str, bool] = {}
    with account(server, "app@localhost", grants=[f"{grant} ON d.t" for grant in grants]):
        session = pymysql.connect(
            unix_socket=str(server.socket), user="app", password=PASSWORD, autocommit=True
        )
        with contextlib.closing(session), session.cursor() as cursor, client(server, "app") as connection:
            for name, one in OPERATIONS.items():
                fill(server)
                opens, _, filters = one.columns.partition(";")
                words = ["P", "0", "d", "t", one.index, opens, *([filters] if filters else [])]
                opened = connection.ask("\t".join(words).encode())
                by_rowsocket[name] = is_denied(opened) or is_denied(connection.ask(one.request))
                fill(server)
                try:
                    cursor.execute(one.sql)
                    by_sql[name] = False
                except pymysql.err.MySQLError as error:
                    assert str(error.args[0]).encode() in DENIED, error
                    by_sql[name] = True
    assert by_rowsocket == by_sql


def fill(server: RowSocketServer) -> None:
    server.sql("DELETE FROM d.t")
    server.sql("INSERT INTO d.t (id, a) VALUES (1, 10)")
