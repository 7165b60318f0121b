# SPDX-License-Identifier: GPL-2.0-only
"""SQL as sysbench measures it, as a second opinion: oltp_point_select, prepared, on eight tables."""

from __future__ import annotations

import os
import re
import subprocess

from bench.harness.figures import Report
from bench.harness.measuring import Run, cpu_us
from bench.harness.peers.base import Peer
from bench.harness.peers.database import options_of
from bench.harness.peers.rowsocket import ONE_THREAD
from bench.harness.scenario import Case
from bench.harness.servers import GENERATOR_CPU, RowSocketOverTcp, Server, Servers
from bench.traffic.protocol import WrongAnswer

TABLES = 8
DATABASE = "sbtest"
PREPARE_SECONDS_MAX = 600.0


class Sysbench(Peer):
    """sysbench against the SQL port of the peer `rowsocket`. The tables together hold the case's rows."""

    def __init__(self, servers: Servers) -> None:
        super().__init__(servers, "sysbench")

    def cannot(self, case: Case) -> str:
        """It has its own tables and requests."""
        if self.servers.environment.program("sysbench") is None:
            return "sysbench is not there"
        return "" if case.workload == "point" else "no such request"

    def measure(self, case: Case, run: Run) -> Report:
        """One run with as many sessions as the case has connections."""
        server = self.servers.database(
            RowSocketOverTcp, {**options_of(case, binlog=case.binlog), **ONE_THREAD}
        )
        assert server.sql is not None
        if DATABASE not in server.warmed:
            self.servers.say(f"filling sysbench's {TABLES} tables")
            server.sql.sql(f"CREATE DATABASE {DATABASE}")
            self._run(server, case, "prepare", 1, PREPARE_SECONDS_MAX)
            self._run(server, case, "prewarm", 1, PREPARE_SECONDS_MAX)
            server.warmed.add(DATABASE)
        before_us = cpu_us(server.pid)
        text = self._run(server, case, "run", case.connections, run.seconds)
        return parse(text, cpu_us(server.pid) - before_us)

    def _run(self, server: Server, case: Case, command: str, threads: int, seconds: float) -> str:
        program = self.servers.environment.program("sysbench")
        assert program is not None and server.sql is not None
        options = {
            "db-driver": "mysql",
            "mysql-host": "127.0.0.1",
            "mysql-port": server.sql.options["port"],
            "mysql-user": "root",
            "mysql-db": DATABASE,
            "tables": TABLES,
            "table-size": case.rows // TABLES,
            "threads": threads,
            "time": max(1, round(seconds)),
            "percentile": 99,
        }
        words = [
            program,
            "oltp_point_select",
            *(f"--{name}={value}" for name, value in options.items()),
            command,
        ]
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            env=self.servers.environment.of_peers(),
            timeout=seconds + PREPARE_SECONDS_MAX,
            preexec_fn=lambda: os.sched_setaffinity(0, {GENERATOR_CPU}),
        )
        if done.returncode != 0:
            raise WrongAnswer(f"{self.name}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        return done.stdout


def parse(text: str, server_cpu_us: float) -> Report:
    """The figures in sysbench's output. The server's time includes the start and the end of the sessions."""
    requests = int(_found(r"queries:\s+(\d+)", text))
    return {
        "protocol": "sysbench",
        "requests": requests,
        "requests_per_s": _found(r"queries:\s+\d+\s+\(([\d.]+) per sec", text),
        "keys_per_request": 1,
        "mean_us": _found(r"avg:\s+([\d.]+)", text) * 1000,
        "p99_us": _found(r"99th percentile:\s+([\d.]+)", text) * 1000,
        "max_us": _found(r"max:\s+([\d.]+)", text) * 1000,
        "server_cpu_us_per_request": server_cpu_us / requests if requests else None,
    }


def _found(pattern: str, text: str) -> float:
    match = re.search(pattern, text)
    if match is None:
        raise WrongAnswer(f"sysbench does not say {pattern}:\n{text[-1000:]}")
    return float(match[1])
