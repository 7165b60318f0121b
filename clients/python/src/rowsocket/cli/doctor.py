# SPDX-License-Identifier: MIT
"""`rowsocket doctor`: whether a server is set up for what RowSocket is good at, with the figures.

`look` asks the server, and this machine where the server is on it; `judge` makes findings of the facts, and
asks nobody. RowSocket saves a server CPU. It makes no disk faster: where most requests wait for one, it will
not help, and the first findings say so.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pymysql

from rowsocket.cli.catalog import SEES_TABLES, rights_on_all, rows_of
from rowsocket.cli.output import print_json, print_table
from rowsocket.cli.storage import Storage

MISSES_FINE, MISSES_MANY = 0.001, 0.01
"""Shares of the requests for a page that wait for the disk. One request of a client asks for some pages."""

READS_TO_JUDGE = 100_000
"""Requests for pages since the start of the server, below which its hit rate says nothing."""

FLASH_PAGES_PER_S = 2000
"""Random pages in a second with one in flight: a spinning disk has some hundred, flash several thousand."""

FSYNCS_FEW = 500
MIB = 2**20


class Verdict(enum.Enum):
    """Of a finding."""

    GOOD = "good"
    LOOK = "look"
    BAD = "bad"


@dataclasses.dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, the figures, and what they mean."""

    subject: str
    verdict: Verdict
    figures: str
    says: str


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known of a server."""

    variables: Mapping[str, str]
    status: Mapping[str, float]
    data_bytes: int | None
    """Of all tables of InnoDB with their indexes, by the server's statistics; None if the account does not
    see all of them."""
    memory_bytes: int | None = None
    """Of the machine, if the server is on this one."""
    numa_nodes: int | None = None
    storage: Storage | None = None

    @property
    def pool_bytes(self) -> float:
        """Of the buffer pool."""
        return self.number("innodb_buffer_pool_size")

    @property
    def data_fits(self) -> bool:
        """True if all data fits into the buffer pool, as far as is known."""
        return self.data_bytes is not None and self.data_bytes <= 0.9 * self.pool_bytes

    def number(self, name: str) -> float:
        """A variable that is a number; 0 if the server does not have it."""
        try:
            return float(self.variables.get(name, "0"))
        except ValueError:
            return 0.0


def look(sql: pymysql.connections.Connection[Any], is_local: bool, storage: Storage | None) -> Facts:
    """The facts of a server. Raises MySQLError."""
    variables = {str(name): str(value) for name, value in rows_of(sql, "SHOW GLOBAL VARIABLES")}
    status = {
        str(name): float(value)
        for name, value in rows_of(sql, "SHOW GLOBAL STATUS")
        if str(value).replace(".", "", 1).isdigit()
    }
    memory, nodes = _machine() if is_local else (None, None)
    return Facts(variables, status, _data_bytes(sql), memory, nodes, storage=storage)


def _data_bytes(sql: pymysql.connections.Connection[Any]) -> int | None:
    if not rights_on_all(sql) & SEES_TABLES:
        return None
    [[data_bytes]] = rows_of(
        sql,
        "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables"
        " WHERE engine = 'InnoDB' AND table_schema NOT IN ('mysql', 'sys')",
    )
    return int(data_bytes)


def judge(facts: Facts) -> list[Finding]:
    """The findings, those first that decide most."""
    parts = (_plugin, _memory, _hit_rate, _storage, _machine_memory, _hash_index, _durability, _files, _numa)
    return [finding for part in parts for finding in part(facts)]


def show(findings: list[Finding], as_json: bool) -> bool:
    """Print them; whether none is bad."""
    if as_json:
        for one in findings:
            print_json({**dataclasses.asdict(one), "verdict": one.verdict.value})
    else:
        rows = [[one.subject, one.verdict.value, one.figures, one.says] for one in findings]
        print_table(["subject", "verdict", "figures", "what it means"], [list(row) for row in rows])
    return all(one.verdict is not Verdict.BAD for one in findings)


# ── findings ────────────────────────────────────────────────────────────────────────────────────────────────


def _plugin(facts: Facts) -> Iterator[Finding]:
    if "rowsocket_port_read" not in facts.variables:
        says = "The plugin is not loaded: see its page on installing."
        yield Finding("plugin", Verdict.BAD, "no variable of RowSocket", says)


def _memory(facts: Facts) -> Iterator[Finding]:
    pool = facts.pool_bytes
    if facts.data_bytes is None:
        says = "This account does not see all tables. SHOW VIEW ON *.* is enough to see how large they are."
        yield Finding("memory", Verdict.LOOK, f"data not known, buffer pool {_size(pool)}", says)
        return
    figures = f"data {_size(facts.data_bytes)}, buffer pool {_size(pool)}"
    if facts.data_fits:
        yield Finding("memory", Verdict.GOOD, figures, "All data fits into the buffer pool.")
    else:
        share = pool / facts.data_bytes
        says = (
            f"{share:.0%} of the data fits. It is enough if what is asked for often fits: see the hit rate."
        )
        yield Finding("memory", Verdict.LOOK, figures, says)


def _hit_rate(facts: Facts) -> Iterator[Finding]:
    requests = facts.status.get("Innodb_buffer_pool_read_requests", 0.0)
    reads = facts.status.get("Innodb_buffer_pool_reads", 0.0)
    if requests < READS_TO_JUDGE:
        says = "Too little was asked since the server began. Ask again under your load."
        yield Finding("hit rate", Verdict.LOOK, f"{requests:,.0f} requests for pages", says)
        return
    misses = reads / requests
    figures = f"{1 - misses:.3%} of {requests:,.0f} requests for pages"
    if misses <= MISSES_FINE:
        yield Finding("hit rate", Verdict.GOOD, figures, "Hardly a request waits for the disk.")
    elif misses <= MISSES_MANY:
        says = "Some requests wait for the disk. More memory would save more than RowSocket does."
        yield Finding("hit rate", Verdict.LOOK, figures, says)
    else:
        says = (
            "Many requests wait for the disk. RowSocket saves CPU, and will not help here: add memory first."
        )
        yield Finding("hit rate", Verdict.BAD, figures, says)


def _storage(facts: Facts) -> Iterator[Finding]:
    if facts.storage is None:
        says = (
            "Name a folder on the disk of the data: --storage FOLDER (fio measures there for half a minute)."
        )
        yield Finding("storage", Verdict.LOOK, "not measured", says)
        return
    pages, knee = facts.storage.pages_per_s, facts.storage.knee
    curve = ", ".join(f"{depth}: {pages[depth]:,.0f}" for depth in sorted(pages))
    figures = f"pages/s by reads in flight: {curve}; knee at {knee}"
    if pages[min(pages)] >= FLASH_PAGES_PER_S:
        says = f"Flash. With data beyond memory it gives about {pages[knee]:,.0f} pages in a second."
        yield Finding("random reads", Verdict.GOOD, figures, says)
    else:
        says = "Slow storage. All that is asked for often has to fit into memory" + (
            ", as it does." if facts.data_fits else "."
        )
        is_bad = facts.data_bytes is not None and not facts.data_fits
        yield Finding("random reads", Verdict.BAD if is_bad else Verdict.LOOK, figures, says)
    fsyncs = facts.storage.fsyncs_per_s
    says = "A durable write waits for at least one. Writes of many clients share them."
    verdict = Verdict.GOOD if fsyncs >= FSYNCS_FEW else Verdict.LOOK
    yield Finding("fsync", verdict, f"{fsyncs:,.0f} per second, one after the other", says)


def _machine_memory(facts: Facts) -> Iterator[Finding]:
    if facts.memory_bytes is None:
        return
    pool = facts.pool_bytes
    figures = f"machine {_size(facts.memory_bytes)}, buffer pool {_size(pool)}"
    if pool > 0.9 * facts.memory_bytes:
        says = "The buffer pool leaves too little to the rest: the machine may swap, or end the server."
        yield Finding("machine", Verdict.BAD, figures, says)
    elif pool < 0.5 * facts.memory_bytes and facts.data_bytes is not None and not facts.data_fits:
        says = "The machine has memory for a larger buffer pool (innodb_buffer_pool_size)."
        yield Finding("machine", Verdict.LOOK, figures, says)
    else:
        yield Finding("machine", Verdict.GOOD, figures, "Enough is left for the rest.")


def _hash_index(facts: Facts) -> Iterator[Finding]:
    state = facts.variables.get("innodb_adaptive_hash_index", "OFF")
    if state == "ON":
        yield Finding(
            "hash index", Verdict.GOOD, "innodb_adaptive_hash_index=ON", "Lookups by unique keys use it."
        )
    else:
        says = "Turn it on where lookups by unique keys are most of the traffic, and measure."
        yield Finding("hash index", Verdict.LOOK, "innodb_adaptive_hash_index=OFF", says)


def _durability(facts: Facts) -> Iterator[Finding]:
    flush = facts.variables.get("innodb_flush_log_at_trx_commit", "")
    binlog = facts.variables.get("log_bin", "OFF") == "ON"
    figures = f"innodb_flush_log_at_trx_commit={flush}"
    figures += f", sync_binlog={facts.variables.get('sync_binlog', '')}" if binlog else ", no binlog"
    durable = flush == "1" and (not binlog or facts.variables.get("sync_binlog") == "1")
    if durable:
        says = "An ok to a write survives a loss of power."
        yield Finding("durability", Verdict.GOOD, figures, says)
    else:
        says = "The last moments of writes that had an ok are lost with the power. It is your choice."
        yield Finding("durability", Verdict.LOOK, figures, says)


def _files(facts: Facts) -> Iterator[Finding]:
    limit = facts.number("open_files_limit")
    clients = facts.number("rowsocket_max_connections") + facts.number("max_connections")
    wanted = clients + facts.number("table_open_cache")
    parts = f"rowsocket_max_connections + max_connections + table_open_cache = {wanted:,.0f}"
    figures = f"open_files_limit={limit:,.0f}; {parts}"
    if limit >= wanted:
        yield Finding("files", Verdict.GOOD, figures, "There are descriptors for all of them.")
    else:
        says = "Not all can be open at once. Raise the limit (LimitNOFILE of the service), or lower these."
        yield Finding("files", Verdict.LOOK, figures, says)


def _numa(facts: Facts) -> Iterator[Finding]:
    if facts.numa_nodes is None:
        return
    if facts.numa_nodes <= 1:
        yield Finding("NUMA", Verdict.GOOD, "1 node", "All memory is as near to all cores.")
    else:
        spread = facts.variables.get("innodb_numa_interleave", "OFF")
        says = "A worker reads memory of other nodes, too. Measure with the server bound to one node."
        figures = f"{facts.numa_nodes} nodes, innodb_numa_interleave={spread}"
        yield Finding("NUMA", Verdict.LOOK, figures, says)


# ── where facts come from ───────────────────────────────────────────────────────────────────────────────────


def _machine(root: Path = Path("/")) -> tuple[int | None, int | None]:
    """Memory in bytes and NUMA nodes of this machine; None for what it does not tell."""
    memory = nodes = None
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
        memory = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal:"))
        found = len(list((root / "sys/devices/system/node").glob("node[0-9]*")))
        nodes = found or None
    except (OSError, StopIteration):
        pass
    return memory, nodes


def _size(number: float) -> str:
    return f"{number / 2**30:.1f} GiB" if number >= 2**30 else f"{number / MIB:.0f} MiB"
