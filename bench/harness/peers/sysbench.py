# SPDX-License-Identifier: GPL-2.0-only
"""SQL as sysbench measures it, as a second opinion: oltp_point_select, prepared, on eight tables."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.harness.figures import Report
from bench.harness.measuring import Run, cpu_us
from bench.harness.peers.base import Peer
from bench.harness.peers.database import options_of
from bench.harness.peers.rowsocket import ONE_THREAD
from bench.harness.scenario import Case
from bench.harness.servers import GENERATOR_CPU, RowSocketOverTcp, Server, Servers
from bench.traffic.protocol import WrongAnswer

from support.mariadb import Options

TABLES = 8
DATABASE = "sbtest"
PREPARE_SECONDS_MAX = 600.0
AUTHORITY_FILE = "cacert.pem"
"""Who must have signed the server's certificate. sysbench looks for it, and for its own certificate, in the
folder in which it is started."""
CLIENT = "client"
"""The name of its own certificate, as `Authority.sign` takes it."""


class Sysbench(Peer):
    """sysbench against the SQL port of the peer `rowsocket`. The tables together hold the case's rows."""

    def __init__(self, servers: Servers, options: Options = ONE_THREAD) -> None:
        super().__init__(servers, "sysbench")
        self.options = options

    def cannot(self, case: Case) -> str:
        """It has its own tables and requests."""
        if self.servers.environment.program("sysbench") is None:
            return "sysbench is not there"
        return "" if case.workload == "point" else "no such request"

    def measure(self, case: Case, run: Run) -> Report:
        """One run with as many sessions as the case has connections."""
        server = self._filled(case)
        before_us = cpu_us(server.pid)
        text = self._run(server, case, "run", case.connections, run.seconds)
        return parse(text, cpu_us(server.pid) - before_us)

    def steady(self, case: Case, run: Run) -> Report:
        """The same load, measured from the end of its first second: by then all sessions have begun."""
        server = self._filled(case)
        assert server.sql is not None
        seconds = max(1, round(run.seconds))
        words = self._words(server, case, "run", case.connections, seconds + 2)
        words[-1:] = ["--report-interval=1", *(["--mysql-ssl=on"] if run.tls else []), "run"]
        accepts = int(server.sql.status("Ssl_accepts")["Ssl_accepts"])
        with subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            text=True,
            env=self.servers.environment.of_peers(),
            cwd=run.tls.authority.parent if run.tls else None,
            preexec_fn=_on_its_core,
        ) as process:
            assert process.stdout is not None
            marks, others = [], []
            for line in process.stdout:
                told = re.match(r"\[ \d+s \].* qps: ([\d.]+) ", line)
                if told:
                    marks.append(Mark(time.monotonic(), cpu_us(server.pid), float(told[1])))
                else:
                    others.append(line)
        if process.returncode != 0 or len(marks) <= seconds:
            raise WrongAnswer(f"{self.name}: {''.join(others)[-1000:]}")
        accepts = int(server.sql.status("Ssl_accepts")["Ssl_accepts"]) - accepts
        if accepts != (case.connections if run.tls else 0):
            raise WrongAnswer(f"{self.name}: {accepts} sessions were inside TLS")
        return steady_figures(marks[: seconds + 1])

    def _filled(self, case: Case) -> Server:
        server = self.servers.database(
            RowSocketOverTcp, {**options_of(case, binlog=case.binlog), **self.options}
        )
        assert server.sql is not None
        if DATABASE not in server.warmed:
            self.servers.say(f"filling sysbench's {TABLES} tables")
            server.sql.sql(f"CREATE DATABASE {DATABASE}")
            self._run(server, case, "prepare", 1, PREPARE_SECONDS_MAX)
            self._run(server, case, "prewarm", 1, PREPARE_SECONDS_MAX)
            server.warmed.add(DATABASE)
        return server

    def _words(self, server: Server, case: Case, command: str, threads: int, seconds: float) -> list[str]:
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
        named = [f"--{name}={value}" for name, value in options.items()]
        return [program, "oltp_point_select", *named, command]

    def _run(self, server: Server, case: Case, command: str, threads: int, seconds: float) -> str:
        done = subprocess.run(
            self._words(server, case, command, threads, seconds),
            capture_output=True,
            text=True,
            check=False,
            env=self.servers.environment.of_peers(),
            timeout=seconds + PREPARE_SECONDS_MAX,
            preexec_fn=_on_its_core,
        )
        if done.returncode != 0:
            raise WrongAnswer(f"{self.name}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        return done.stdout


def _on_its_core() -> None:
    os.sched_setaffinity(0, {GENERATOR_CPU})


@dataclass(frozen=True)
class Mark:
    """What is known when sysbench reports."""

    at_s: float
    server_cpu_us: float
    queries_per_s: float
    """Since the report before."""


def steady_figures(marks: Sequence[Mark]) -> Report:
    """The figures from the first of at least two reports to the last."""
    pairs = list(pairwise(marks))
    requests = sum(later.queries_per_s * (later.at_s - earlier.at_s) for earlier, later in pairs)
    seconds = marks[-1].at_s - marks[0].at_s
    spent_us = marks[-1].server_cpu_us - marks[0].server_cpu_us
    return {
        "protocol": "sysbench",
        "requests": round(requests),
        "seconds": seconds,
        "requests_per_s": requests / seconds,
        "server_busy": spent_us / 1e6 / seconds,
        "server_cpu_us_per_request": spent_us / requests if requests else None,
    }


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
