# SPDX-License-Identifier: MIT
"""What a server does, for `rowsocket top`: two looks at its status values and RowSocket's tables in
information_schema, and what happened between them.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pymysql

from rowsocket.cli.catalog import SEES_TABLES, UNKNOWN_TABLE, rights_on_all, rows_of

OPERATIONS = ("find", "insert", "update", "delete", "increment")
GAUGES = ("connections_read", "connections_write")
RATES = (
    *("requests_find", "requests_insert", "requests_update", "requests_delete", "requests_increment"),
    *("requests_open_index", "requests_group"),
    *("rows_read", "rows_inserted", "rows_updated", "rows_deleted"),
    *("errors_request", "errors_authentication", "errors_table", "errors_engine", "errors_internal"),
    *("commits", "commit_failures", "replays", "parked", "turns", "turn_requests"),
    *("bytes_received", "bytes_sent"),
)
"""Status values, without `Rowsocket_`, of which the growth per second is shown."""

PERMILLES = {"p50_us": 500, "p95_us": 950, "p99_us": 990, "max_us": 1000}

TABLES = (
    "SELECT table_schema, table_name, index_name, finds + inserts + updates + deletes + increments,"
    " rows_examined, rows_sent, rows_changed, errors, time_us FROM information_schema.rowsocket_tables"
)
TIMES = "SELECT operation, below_us, SUM(requests) FROM information_schema.rowsocket_latency GROUP BY 1, 2"
CLIENTS = (
    "SELECT id, account, address, protocol, port, tls_version, state, seconds_idle, requests"
    " FROM information_schema.rowsocket_connections"
)

Place = tuple[Any, Any, Any]
"""Schema, table and index; None for what the server counts without names."""
Counts = Mapping[Any, float]


class NotLoadedError(Exception):
    """The server has no status values of RowSocket."""


# ── a look ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclasses.dataclass(frozen=True)
class Look:
    """What the server counted up to a moment."""

    at_s: float
    status: Mapping[str, float]
    tables: Mapping[Place, tuple[float, ...]]
    """Requests, rows examined, sent and changed, errors, microseconds."""
    times: Mapping[str, Counts]
    """Of each operation: how many requests took less than so many microseconds (None: longer than all)."""
    clients: Mapping[int, tuple[Any, ...]]
    """The columns behind the id."""
    notes: tuple[str, ...]
    """What was not told, and why."""


def look(sql: pymysql.connections.Connection[Any]) -> Look:
    """Ask for everything. Raises NotLoadedError, MySQLError."""
    status = {
        str(name).removeprefix("Rowsocket_").lower(): float(value)
        for name, value in rows_of(sql, "SHOW GLOBAL STATUS LIKE 'Rowsocket%'")
        if value.replace(".", "", 1).isdigit()
    }
    if not status:
        raise NotLoadedError("this server has no status values of RowSocket: is the plugin loaded?")
    at_s = time.monotonic()
    notes = list(_notes(sql))
    tables = {tuple(row[:3]): tuple(map(float, row[3:])) for row in _told(sql, TABLES, notes)}
    times: dict[str, dict[Any, float]] = {}
    for operation, below_us, requests in _told(sql, TIMES, notes):
        times.setdefault(operation, {})[None if below_us is None else float(below_us)] = float(requests)
    clients = {int(row[0]): tuple(row[1:]) for row in _told(sql, CLIENTS, notes)}
    return Look(at_s, status, tables, times, clients, tuple(dict.fromkeys(notes)))


def _told(sql: pymysql.connections.Connection[Any], query: str, notes: list[str]) -> list[tuple[Any, ...]]:
    """The rows; none, and a note, where the server does not know the table."""
    try:
        return rows_of(sql, query)
    except pymysql.err.MySQLError as error:
        if error.args[0] != UNKNOWN_TABLE:
            raise
        notes.append(f"{error.args[1]} (INSTALL SONAME 'rowsocket' makes it)")
        return []


def _notes(sql: pymysql.connections.Connection[Any]) -> Iterator[str]:
    """What this account does not see, and what is switched off."""
    everywhere = rights_on_all(sql)
    if not everywhere & SEES_TABLES:
        yield "TABLES and TIMES: only tables that this account has a right on (SHOW VIEW ON *.* shows all)"
    if not everywhere & {"ALL PRIVILEGES", "PROCESS"}:
        yield "CLIENTS: only those of this user (PROCESS shows all)"
    variables = dict(rows_of(sql, "SHOW GLOBAL VARIABLES LIKE 'rowsocket%'"))
    if variables.get("rowsocket_statistics") == "OFF":
        yield "TABLES and TIMES: not counted; SET GLOBAL rowsocket_statistics = ON"
    elif variables.get("rowsocket_request_times") == "OFF":
        yield "TIMES: not measured; SET GLOBAL rowsocket_request_times = ON"


# ── between two looks ───────────────────────────────────────────────────────────────────────────────────────


@dataclasses.dataclass(frozen=True)
class OperationTimes:
    """How long the requests of one kind took, in microseconds."""

    operation: str
    requests_per_s: float
    p50_us: float | None
    """An eighth too high at most, like the others; None: longer than the server tells apart."""
    p95_us: float | None
    p99_us: float | None
    max_us: float | None


@dataclasses.dataclass(frozen=True)
class TableRates:
    """What was asked of one index."""

    schema: str | None
    table: str | None
    index: str | None
    requests_per_s: float
    rows_examined_per_s: float
    rows_sent_per_s: float
    rows_changed_per_s: float
    errors_per_s: float
    time_us: float | None
    """Of a request, on the average; None if it was not measured."""


@dataclasses.dataclass(frozen=True)
class ClientRates:
    """What one client does."""

    id: int
    account: str | None
    address: str
    protocol: str
    port: str
    tls: str | None
    state: str
    idle_s: int
    requests_per_s: float


@dataclasses.dataclass(frozen=True)
class Activity:
    """What happened between two looks. The busiest are first; what was not asked for anything is left out of
    the tables.
    """

    seconds: float
    status: Mapping[str, float]
    times: list[OperationTimes]
    tables: list[TableRates]
    clients: list[ClientRates]
    notes: tuple[str, ...]

    def as_json(self, rows_max: int) -> dict[str, Any]:
        """For programs, with so many tables and clients at most; 0: all."""
        most = rows_max or None
        return {
            **self.status,
            "seconds": round(self.seconds, 3),
            "times": [dataclasses.asdict(one) for one in self.times],
            "tables": [dataclasses.asdict(one) for one in self.tables[:most]],
            "clients": [dataclasses.asdict(one) for one in self.clients[:most]],
            "notes": list(self.notes),
        }


def between(before: Look, now: Look) -> Activity:
    """What happened meanwhile."""
    seconds = max(now.at_s - before.at_s, 1e-3)
    status = {name: now.status.get(name, 0.0) for name in GAUGES}
    grown = growth(before.status, now.status)
    status.update({f"{name}_per_s": _rate(grown.get(name, 0.0), seconds) for name in RATES})
    return Activity(
        seconds,
        status,
        _times(before, now, seconds),
        _tables(before, now, seconds),
        _clients(before, now, seconds),
        now.notes,
    )


def growth(before: Counts, now: Counts) -> dict[Any, float]:
    """By how much each count grew. What shrank was begun anew since."""
    return {
        key: count - before.get(key, 0.0) if count >= before.get(key, 0.0) else count
        for key, count in now.items()
    }


def shrank(before: Counts, now: Counts) -> bool:
    """Whether one of them did: then all were begun anew since."""
    return any(now.get(key, 0.0) < count for key, count in before.items())


def percentile_us(counts: Counts, permille: int) -> float | None:
    """So many in a thousand of the requests took less than this. There is one at least."""
    ordered = sorted(counts.items(), key=lambda item: math.inf if item[0] is None else item[0])
    wanted = math.ceil(sum(counts.values()) * permille / 1000)
    seen = 0.0
    for below_us, count in ordered:
        seen += count
        if count and seen >= wanted:
            return None if below_us is None else float(below_us)
    return None


def _rate(count: float, seconds: float) -> float:
    return round(count / seconds, 1)


def _times(before: Look, now: Look, seconds: float) -> list[OperationTimes]:
    """A FLUSH begins all of them anew."""
    served = growth(before.status, now.status)
    was_flushed = any(shrank(were, now.times.get(operation, {})) for operation, were in before.times.items())
    found = []
    for operation in OPERATIONS:
        counts, were = now.times.get(operation, {}), before.times.get(operation, {})
        may_be_new = was_flushed and sum(counts.values()) <= served.get(f"requests_{operation}", 0.0)
        grown = dict(counts) if shrank(were, counts) or may_be_new else growth(were, counts)
        requests = sum(grown.values())
        if requests:
            shares = {name: percentile_us(grown, permille) for name, permille in PERMILLES.items()}
            found.append(OperationTimes(operation, _rate(requests, seconds), **shares))
    return found


def _tables(before: Look, now: Look, seconds: float) -> list[TableRates]:
    """A FLUSH begins all of them anew. Where it comes between two rows of a look, those that were read before
    it have more requests than the server had meanwhile.
    """
    grown_status = growth(before.status, now.status)
    served = sum(grown_status.get(f"requests_{operation}", 0.0) for operation in OPERATIONS)
    counts_of, were_of = (
        {place: dict(enumerate(row)) for place, row in look.tables.items()} for look in (now, before)
    )
    was_flushed = any(shrank(were, counts_of.get(place, {})) for place, were in were_of.items())
    found = []
    for place, counts in counts_of.items():
        were = were_of.get(place, {})
        may_be_new = was_flushed and counts[0] <= served
        grown = counts if shrank(were, counts) or may_be_new else growth(were, counts)
        *figures, time_us = grown.values()
        requests = grown[0]
        if requests:
            average_us = round(time_us / requests, 1) if time_us else None
            rates: Any = (*place, *(_rate(count, seconds) for count in figures), average_us)
            found.append(TableRates(*rates))
    return sorted(found, key=lambda one: (-one.requests_per_s, one.schema or "", one.table or ""))


def _clients(before: Look, now: Look, seconds: float) -> list[ClientRates]:
    found = []
    for number, (*columns, requests) in now.clients.items():
        were = before.clients.get(number)
        of_client: Any = (number, *columns, _rate(requests - (were[-1] if were else 0), seconds))
        found.append(ClientRates(*of_client))
    return sorted(found, key=lambda one: (-one.requests_per_s, one.state == "idle", one.id))
