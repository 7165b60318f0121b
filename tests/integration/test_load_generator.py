# SPDX-License-Identifier: GPL-2.0-only
"""The load generator against a real server: what every workload asks is answered as its files say, by RowSocket and by SQL."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mariadb import Database, RowSocketServer, environment_path

ROWS = 4200
WORKLOADS = sorted(path.stem for path in (Path(__file__).parents[2] / "bench/workloads").glob("*.txt"))
PROTOCOLS = ["rowsocket", "sql-text", "sql-prepared"]


def load(*words: object) -> str:
    """What the generator prints; raises subprocess.CalledProcessError if it fails."""
    program = environment_path("ROWSOCKET_PLUGIN_DIR").parents[1] / "bench/load"
    done = subprocess.run([program, *map(str, words)], stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def description(workload: str) -> dict[str, Any]:
    """What `--describe` says."""
    found: dict[str, Any] = json.loads(load("--describe", "--workload", workload))
    return found


class Target:
    """A server with the table of a workload."""

    def __init__(self, server: RowSocketServer, database: Database, workload: str) -> None:
        self.server, self.database, self.workload = server, database, workload
        self.table = description(workload)["table"]
        self.next_key = ROWS + 1
        for statement in load("--table-sql", "--workload", workload, "--rows", ROWS).splitlines():
            database.sql(statement)

    def run(self, protocol: str, *words: object) -> dict[str, Any]:
        """The report of 300 requests over a few connections."""
        address = ["--socket", self.server.socket] if protocol.startswith("sql") else ["--port", self.server.write_port]
        target = ["--workload", self.workload, "--database", self.database.name, "--rows", ROWS, "--first-key", self.next_key]
        report: dict[str, Any] = json.loads(
            load("--protocol", protocol, *address, *target, "--connections", 4, "--requests", 300, *words)
        )
        self.next_key = report["next_key"]
        return report


@pytest.fixture
def point(server: RowSocketServer, database: Database) -> Iterator[Target]:
    """A server with the table of point selects."""
    yield Target(server, database, "point")


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_is_answered_rightly(server: RowSocketServer, database: Database, workload: str) -> None:
    """Whichever of the protocols it knows; the generator compares every reply with its files."""
    protocols = [name for name in PROTOCOLS if name in description(workload)["protocols"]]
    if not protocols:
        return  # it fills memcached or Redis
    target = Target(server, database, workload)
    for protocol in protocols:
        assert target.run(protocol)["requests"] == 300


def test_inserted_rows_are_all_there(server: RowSocketServer, database: Database) -> None:
    """As many as were acknowledged, over every protocol."""
    target = Target(server, database, "insert")
    for protocol in PROTOCOLS:
        target.run(protocol, "--in-flight", 4)
    assert database.value("SELECT COUNT(*) FROM user") == ROWS + 300 * len(PROTOCOLS) == target.next_key - 1


def test_increments_add_up(server: RowSocketServer, database: Database) -> None:
    """The hot row counts every acknowledged request."""
    target = Target(server, database, "increment")
    for protocol in PROTOCOLS:
        target.run(protocol)
    assert database.value("SELECT hits FROM counter WHERE counter_id = 1") == 300 * len(PROTOCOLS)


def test_a_wrong_row_is_seen(point: Target) -> None:
    """One value that differs from the table's file ends the run."""
    point.database.sql("UPDATE user SET user_email = CONCAT('x', user_email)")
    for protocol in PROTOCOLS:
        with pytest.raises(AssertionError, match="wrong answer"):
            point.run(protocol)


def test_prepared_statements_survive_the_servers_thread_cache(point: Target) -> None:
    """A thread that served other clients goes on counting its statements."""
    for connections in (1, 3, 4):
        assert point.run("sql-prepared", "--connections", connections)["requests"] == 300


def test_a_run_says_what_the_server_used(point: Target) -> None:
    """Time, its parts, threads and memory."""
    assert point.server.process is not None
    report = point.run("rowsocket", "--server-pid", point.server.process.pid)
    parts = report["server_cpu_user_us_per_request"] + report["server_cpu_system_us_per_request"]
    assert report["server_cpu_us_per_request"] == pytest.approx(parts, abs=0.01)
    assert report["server_peak_bytes"] > 10_000_000
    assert report["server_threads"] > 1
