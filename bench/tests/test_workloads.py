# SPDX-License-Identifier: GPL-2.0-only
"""Every workload against a real server: what RowSocket and SQL answer is what the workload says."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from bench.harness.__main__ import app
from bench.harness.player import Load, play
from bench.harness.servers import RowSocketOverTcp, Server, Servers
from bench.traffic import PROTOCOLS, protocols_of, workloads
from bench.traffic.protocol import Address, WrongAnswer

ROWS = 4200
KINDS = ["rowsocket", "handlersocket", "sql-text", "sql-prepared"]


class Asked:
    """A server with the table of a workload."""

    def __init__(self, servers: Servers, workload: str) -> None:
        self.player = servers.environment.player
        self.server: Server = servers.database(
            RowSocketOverTcp, {"skip-log-bin": None, "thread-cache-size": 8}
        )
        self.workload = workloads.make(workload, ROWS)
        self.next_key = 0
        self.sql("DROP DATABASE IF EXISTS asked")
        self.sql("CREATE DATABASE asked")
        for statement in self.workload.table.statements(ROWS):
            self.sql(statement, "asked")

    def sql(self, statement: str, database: str | None = None) -> list[tuple[object, ...]]:
        """Execute a statement; the rows."""
        assert self.server.sql is not None
        return self.server.sql.sql(statement, database=database)

    def run(self, protocol: str, connections: int = 4) -> int:
        """300 requests; how many were answered."""
        assert isinstance(self.server.sql, RowSocketOverTcp)
        sql: Address = ("127.0.0.1", int(str(self.server.sql.options["port"])))
        address = sql if protocol.startswith("sql") else self.server.sql.write_address()
        load = Load(connections=connections, in_flight=4, requests=300, first_key=self.next_key)
        report = play(self.player, PROTOCOLS[protocol](self.workload, "asked"), address, load, protocol)
        self.next_key = report["next_key"]
        return int(report["requests"])


@pytest.fixture
def point(servers: Servers) -> Iterator[Asked]:
    """The commonest workload."""
    yield Asked(servers, "point")


@pytest.mark.parametrize("workload", workloads.WORKLOADS)
def test_every_workload_is_answered_rightly(servers: Servers, workload: str) -> None:
    """In whichever protocol it can be asked; the player compares every reply."""
    asked = Asked(servers, workload)
    for protocol in set(KINDS) & set(protocols_of(asked.workload)):
        assert asked.run(protocol) == 300


def test_inserted_rows_are_all_there(servers: Servers) -> None:
    """As many as were acknowledged, over every protocol."""
    asked = Asked(servers, "insert")
    for protocol in KINDS:
        asked.run(protocol)
    [(count,)] = asked.sql("SELECT COUNT(*) FROM asked.user")
    assert count == ROWS + 300 * len(KINDS) == asked.next_key - 1


def test_inserted_rows_hold_what_the_table_says(servers: Servers) -> None:
    """A row that was inserted is as one that was there from the beginning."""
    asked = Asked(servers, "insert")
    for protocol in KINDS:
        asked.run(protocol)
    asked.sql("RENAME TABLE asked.user TO asked.inserted")
    for statement in asked.workload.table.statements(asked.next_key - 1):
        asked.sql(statement, "asked")
    assert asked.sql("SELECT * FROM asked.inserted EXCEPT SELECT * FROM asked.user") == []


def test_increments_add_up(servers: Servers) -> None:
    """The hot row counts every acknowledged request."""
    asked = Asked(servers, "increment")
    for protocol in KINDS:
        asked.run(protocol)
    assert asked.sql("SELECT hits FROM asked.counter WHERE counter_id = 1") == [(300 * len(KINDS),)]


def test_a_wrong_row_is_seen(point: Asked) -> None:
    """One value that differs ends the run."""
    point.sql("UPDATE asked.user SET user_email = CONCAT('x', user_email)")
    for protocol in KINDS:
        with pytest.raises(WrongAnswer, match="wrong answer"):
            point.run(protocol)


def test_a_run_by_hand_prints_its_figures(point: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    """As bench/README.md has it."""
    assert isinstance(point.server.sql, RowSocketOverTcp)
    words = [
        "load",
        "--port",
        point.server.sql.read_port,
        "--database",
        "asked",
        "--rows",
        ROWS,
        "--seconds",
        0.2,
    ]
    words += ["--connections", 3, "--in-flight", 2, "--program", point.player]
    app([str(word) for word in words], standalone_mode=False)
    report = json.loads(capsys.readouterr().out)
    assert report["requests"] > 0
    assert (report["connections"], report["in_flight"]) == (3, 2)


def test_the_sql_that_fills_a_table_is_printed(point: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    app(
        ["load", "--table-sql", "--workload", "value", "--rows", "5", "--set", "value_bytes=30"],
        standalone_mode=False,
    )
    point.sql("DROP TABLE IF EXISTS asked.item")
    for statement in filter(str.strip, capsys.readouterr().out.split(";\n")):
        point.sql(statement, "asked")
    assert point.sql("SELECT COUNT(*), MIN(LENGTH(data)), MAX(LENGTH(data)) FROM asked.item") == [(5, 30, 30)]


def test_prepared_statements_survive_the_servers_thread_cache(point: Asked) -> None:
    """A thread that served other clients goes on counting its statements."""
    for connections in (1, 3, 4):
        assert point.run("sql-prepared", connections) == 300
