# SPDX-License-Identifier: GPL-2.0-only
"""One measurement of a peer: plays the case's load, and adds how often the server flushed.

Writes are checked beyond the answers: after inserts the table must hold as many rows as were acknowledged.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.harness.figures import Report
from bench.harness.player import Load, Tls, play
from bench.harness.scenario import Case
from bench.harness.servers import GENERATOR_CPU, Server
from bench.traffic.protocol import Address, Protocol, WrongAnswer

COMMITS_METRIC = "trx_rw_commits"
"""InnoDB's count of transactions that wrote and were committed; a server has to be told to keep it."""

_FLUSHES = ("Innodb_data_fsyncs", "Binlog_group_commits")


@dataclass(frozen=True)
class Run:
    """How to measure, once."""

    seconds: float
    seed: int = 1
    rate: float = 0.0
    """Requests per second of the open loop; 0 = closed."""
    warm_up_seconds: float = 0.5
    tls: Tls | None = None
    """None = the plain port."""


@dataclass(frozen=True)
class Target:
    """A running server, as the player sees it."""

    peer: str
    protocol: Protocol
    server: Server
    address: Address
    player: Path


def load_of(target: Target, case: Case) -> Load:
    """What does not change from round to round."""
    return Load(
        connections=case.connections,
        in_flight=case.in_flight,
        zipf=case.zipf,
        server_pid=target.server.pid,
        cpu=GENERATOR_CPU,
    )


def measure(target: Target, case: Case, run: Run) -> Report:
    """One run of the player. Raises WrongAnswer."""
    makes_rows = target.protocol.workload.keys.next
    first_key = target.server.next_keys.get(case.database, 0)
    load = replace(
        load_of(target, case),
        seconds=run.seconds,
        warm_up_s=run.warm_up_seconds,
        seed=run.seed,
        rate_per_s=run.rate,
        first_key=first_key,
        tls=run.tls,
    )
    before = flushes(target.server)
    what = f"{target.peer}, {case.scenario} {case.label}".strip()
    report = play(target.player, target.protocol, target.address, load, what)
    report |= flush_figures(case, report["writes_in_all"], before, flushes(target.server))
    if makes_rows:
        target.server.next_keys[case.database] = report["next_key"]
        _check_rows(target, case, report)
    return report


def flushes(server: Server) -> dict[str, int]:
    """The server's counts of fsyncs and commits; empty if it is no database."""
    if server.sql is None:
        return {}
    names = ", ".join(f"'{name}'" for name in _FLUSHES)
    status = server.sql.sql(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")
    metric = f"SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '{COMMITS_METRIC}'"
    return {
        **{str(name): int(value) for name, value in status},
        COMMITS_METRIC: int(server.sql.value(metric)),
    }


def flush_figures(case: Case, writes: int, before: Mapping[str, int], after: Mapping[str, int]) -> Report:
    """The server's flushes for acknowledged writes: by row, and by transaction (one may hold many rows)."""
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


def _check_rows(target: Target, case: Case, report: Report) -> None:
    if target.server.sql is None:
        return
    table = target.protocol.workload.table
    found = int(target.server.sql.value(f"SELECT COUNT(*) FROM {case.database}.{table.name} WHERE 1 = 1"))
    expected = report["next_key"] - table.first
    if found != expected:
        raise WrongAnswer(f"{target.peer}: {found} rows where {expected} were acknowledged")


def measure_idle(target: Target, case: Case, seconds: float) -> Report:
    """The CPU time of a server whose connections ask nothing: all of it, and that of the plugin's threads."""
    pid = target.server.pid
    assert not isinstance(target.address, str)
    with contextlib.ExitStack() as stack:
        for _ in range(case.connections):
            stack.enter_context(socket.create_connection(target.address))
        time.sleep(
            2.0
        )  # what the connections themselves cost, and what a worker gives back after it was busy
        before_us, plugin_before_us = cpu_us(pid), plugin_threads_cpu_us(pid)
        time.sleep(seconds)
        after_us, plugin_after_us = cpu_us(pid), plugin_threads_cpu_us(pid)
    return {
        "protocol": target.protocol.name,
        "connections": case.connections,
        "seconds": seconds,
        "idle_cpu_us_per_s": (after_us - before_us) / seconds,
        "idle_plugin_cpu_us_per_s": (plugin_after_us - plugin_before_us) / seconds,
    }


def cpu_us(pid: int) -> float:
    """The run time of all threads of a process, those that ended included."""
    scheduler_clock = (
        2  # CPUCLOCK_SCHED; clock_getcpuclockid(3) makes the same number, and Python does not offer it
    )
    return time.clock_gettime_ns((~pid << 3) | scheduler_clock) / 1000


def plugin_threads_cpu_us(pid: int) -> float:
    """The run time of a plugin's own threads, which live as long as their server."""
    total_us = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (task / "comm").read_text().startswith(("rowsocket", "handlersocket")):
                total_us += int((task / "schedstat").read_text().split()[0]) / 1000
    return total_us
