# SPDX-License-Identifier: GPL-2.0-only
"""The statements of docs/operating.md about clients, tables and times, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pymysql
import pytest

from support.mariadb import RowSocketServer, Start
from support.plugin import make_table, opened
from support.schema_tables import Row, of_client, seen, session_of

PAGE = Path(__file__).parents[2] / "docs/operating.md"
SECTION = PAGE.read_text().partition("## Clients, tables and times\n")[2].partition("\n## ")[0]
STATEMENTS = [
    statement.strip()
    for block in re.findall(r"```sql\n(.*?)```", SECTION, re.DOTALL)
    for statement in block.split(";\n")
    if statement.strip()
]
COLUMN = re.compile(r"`([A-Z0-9_]+)`")


@pytest.fixture
def busy(start: Start) -> RowSocketServer:
    """A server that has done something for each table to tell of."""
    server = start(RowSocketServer, {"loose-rowsocket-request-times": 1})
    make_table(server)
    with server.raw("write") as client:
        opened(client)
        client.ask_all(b"1\t=\t1\t1", b"1\t+\t2\t9\tnine")
    return server


def rows_of(session: pymysql.connections.Connection[pymysql.cursors.DictCursor], statement: str) -> list[Row]:
    with session.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def test_there_are_statements() -> None:
    assert sum(statement.startswith("SELECT") for statement in STATEMENTS) == 4
    assert sum(statement.startswith("FLUSH") for statement in STATEMENTS) == 2
    assert sum("rowsocket_kill = 4711" in statement for statement in STATEMENTS) == 1


def test_each_statement_runs_and_each_query_finds_something(busy: RowSocketServer) -> None:
    with session_of(busy, "root") as session, busy.raw("read") as client:
        opened(client)
        number = of_client(busy, client)["ID"]
        for statement in STATEMENTS:
            found = rows_of(session, statement.replace("4711", str(number)))
            assert bool(found) == statement.startswith("SELECT"), statement
        assert seen(busy, "TABLES") == seen(busy, "LATENCY") == []


def test_every_column_is_on_the_page_and_no_other(busy: RowSocketServer) -> None:
    columns = {
        str(name)
        for (name,) in busy.sql(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'information_schema'"
            " AND table_name LIKE 'ROWSOCKET\\_%%'",
            (),
        )
    }
    told = {name.upper() for name in re.findall(r"[A-Za-z0-9_]+", SECTION)}
    assert columns - told == set()
    marked = set(COLUMN.findall(SECTION)) - {
        f"ROWSOCKET_{name}" for name in ("CONNECTIONS", "TABLES", "LATENCY", "PERCENTILES")
    }
    assert marked - columns - {"KILL"} == set()
