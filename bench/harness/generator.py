# SPDX-License-Identifier: GPL-2.0-only
"""One measurement: runs bench/load against a target, and adds what only the server can say (how often it flushed).

Writes are checked beyond the answers: after inserts the table must hold exactly the rows that were acknowledged.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench.harness.figures import Report
from bench.harness.scenario import Case
from bench.harness.servers import GENERATOR_CPU, Server

SILENCE_SECONDS_MAX = 60.0
"""What a run may take beyond its own time before it counts as failed."""

COMMITS_METRIC = "trx_rw_commits"
"""InnoDB's count of transactions that wrote and were committed; a server has to be told to keep it."""

_FLUSHES = ("Innodb_data_fsyncs", "Binlog_group_commits")


class WrongAnswer(Exception):
    """A peer failed a run; the text says how."""


@dataclass(frozen=True)
class Target:
    """A running server, as the generator sees it."""

    peer: str
    protocol: str
    server: Server
    address: tuple[str, str]
    """`--port N` or `--socket PATH`."""
    load: Path
    workload: str


@cache
def describe(load: Path, workload: str) -> Mapping[str, Any]:
    """What bench/load says about a workload."""
    done = subprocess.run([load, "--describe", "--workload", workload], capture_output=True, text=True, check=True)
    described: Mapping[str, Any] = json.loads(done.stdout)
    return described


def table_sql(load: Path, case: Case) -> list[str]:
    """The statements that make and fill the case's table."""
    settings = [word for name, value in case.table_settings for word in ("--set", f"{name}={value}")]
    command = [str(load), "--table-sql", "--workload", case.workload, "--rows", str(case.rows), *settings]
    return [line.rstrip().rstrip(";") for line in _output(command).splitlines() if line.strip()]


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WrongAnswer(f"{' '.join(command)}: {done.stdout.strip() or done.stderr.strip()}")
    return done.stdout


def arguments(target: Target, case: Case) -> list[str]:
    """The options of bench/load that do not change from round to round."""
    options: dict[str, object] = {
        "protocol": target.protocol,
        target.address[0].removeprefix("--"): target.address[1],
        "database": case.database,
        "workload": target.workload,
        "connections": case.connections,
        "in-flight": case.in_flight,
        "rows": case.rows,
        "zipf": case.zipf,
        "server-pid": target.server.pid,
        "cpu": GENERATOR_CPU,
    }
    if case.keys:
        options["keys"] = case.keys
    words = [str(target.load), *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    return [*words, *(word for name, value in case.settings for word in ("--set", f"{name}={value}"))]


def measure(target: Target, case: Case, *, seconds: float, seed: int, rate: float, warm_up_seconds: float) -> Report:
    """One run of the generator. Raises WrongAnswer."""
    described = describe(target.load, target.workload)
    command = [*arguments(target, case), "--seconds", str(seconds), "--warm-up", str(warm_up_seconds), "--seed", str(seed)]
    if rate:
        command += ["--rate", str(round(rate))]
    keys = target.server.next_keys
    first_key = keys.get(case.database, case.rows + 1)
    if described["makes_rows"]:
        command += ["--first-key", str(first_key)]
    before = flushes(target.server)
    report = run(command, f"{target.peer}, {case.scenario} {case.label}", seconds + warm_up_seconds)
    after = flushes(target.server)
    report.update(flush_figures(case, int(report.get("writes_in_all") or 0), before, after))
    if described["makes_rows"]:
        keys[case.database] = int(report.get("next_key") or first_key + int(report["requests_in_all"]))
        _check_rows(target, case, str(described["table"]))
    return report


def run(command: list[str], what: str, seconds: float) -> Report:
    """Run bench/load to its end; its JSON line. Raises WrongAnswer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + SILENCE_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise WrongAnswer(f"{what}: no end after {seconds + SILENCE_SECONDS_MAX:.0f} s: {' '.join(command)}") from None
    if done.returncode != 0:
        raise WrongAnswer(f"{what}: {done.stdout.strip() or done.stderr.strip()}: {' '.join(command)}")
    report: Report = json.loads(done.stdout)
    return report


def flushes(server: Server) -> dict[str, int]:
    """The server's counts of fsyncs and commits; empty if it is no database."""
    if server.sql is None:
        return {}
    names = ", ".join(f"'{name}'" for name in _FLUSHES)
    counts = {str(name): int(value) for name, value in server.sql.sql(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")}
    commits = server.sql.value(f"SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '{COMMITS_METRIC}'")
    return {**counts, COMMITS_METRIC: int(commits)}


def flush_figures(case: Case, writes: int, before: Mapping[str, int], after: Mapping[str, int]) -> Report:
    """What the server flushed for the writes that it acknowledged: by row, and by transaction (which may hold many rows)."""
    if not writes or not after:
        return {}
    gained = {name: after[name] - before.get(name, 0) for name in after}
    innodb = gained.get("Innodb_data_fsyncs", 0)
    binlog = gained.get("Binlog_group_commits", 0) if case.binlog and case.sync_binlog == 1 else 0
    commits = gained[COMMITS_METRIC]
    return {
        "innodb_fsyncs_per_row": innodb / writes,
        "binlog_fsyncs_per_row": binlog / writes,
        "fsyncs_per_row": (innodb + binlog) / writes,
        "fsyncs_per_commit": (innodb + binlog) / commits if commits else None,
        "rows_per_commit": writes / commits if commits else None,
    }


def _check_rows(target: Target, case: Case, table: str) -> None:
    if target.server.sql is None:
        return
    found = int(target.server.sql.value(f"SELECT COUNT(*) FROM {case.database}.{table} WHERE 1 = 1"))
    expected = target.server.next_keys[case.database] - 1
    if found != expected:
        raise WrongAnswer(f"{target.peer}: {found} rows where {expected} were acknowledged")


def measure_idle(target: Target, case: Case, seconds: float) -> Report:
    """The CPU time of a server whose connections ask nothing: the whole server's, and that of the plugin's threads alone."""
    pid = target.server.pid
    with contextlib.ExitStack() as stack:
        for _ in range(case.connections):
            stack.enter_context(socket.create_connection(("127.0.0.1", int(target.address[1]))))
        time.sleep(2.0)  # what the connections themselves cost, and that a worker gives back what it held while it was busy
        before_us, plugin_before_us = cpu_us(pid), plugin_threads_cpu_us(pid)
        time.sleep(seconds)
        after_us, plugin_after_us = cpu_us(pid), plugin_threads_cpu_us(pid)
    return {
        "protocol": target.protocol,
        "connections": case.connections,
        "seconds": seconds,
        "idle_cpu_us_per_s": (after_us - before_us) / seconds,
        "idle_plugin_cpu_us_per_s": (plugin_after_us - plugin_before_us) / seconds,
    }


def cpu_us(pid: int) -> float:
    """The run time of all threads of a process, those that ended included."""
    scheduler_clock = 2  # CPUCLOCK_SCHED; clock_getcpuclockid(3) makes the same number, and Python does not offer it
    return time.clock_gettime_ns((~pid << 3) | scheduler_clock) / 1000


def plugin_threads_cpu_us(pid: int) -> float:
    """The run time of a plugin's own threads, which live as long as their server."""
    total_us = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (task / "comm").read_text().startswith(("rowsocket", "handlersocket")):
                total_us += int((task / "schedstat").read_text().split()[0]) / 1000
    return total_us
