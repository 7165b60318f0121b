# SPDX-License-Identifier: MIT
"""`rowsocket metrics`: what RowSocket's tables in information_schema say, for Prometheus.

Status values are not here: mysqld_exporter shows those. Each look asks the server anew, on a connection of
its own. A look that fails is a look, too: `rowsocket_up 0` and nothing else.
"""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import sys
import threading
import wsgiref.simple_server
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pymysql

from rowsocket.cli.catalog import UNKNOWN_TABLE, is_refusal, rows_of, sql_connection
from rowsocket.cli.output import ExitCode, is_terminal, plain, print_bytes, print_error

try:
    from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app, write_to_textfile
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
    from prometheus_client.registry import Collector
except ModuleNotFoundError as error:
    raise ValueError(
        f"{error}; metrics needs: pip install 'rowsocket[metrics]', or apt install python3-prometheus-client"
    ) from None

Place = tuple[str, str, str]
"""Schema, table and index; all are empty for what the server counts without names."""

PLACE = ("schema", "table", "index")
OPERATIONS = ("find", "insert", "update", "delete", "increment")
ANSWER_TIMEOUT_S = 10.0

GRANTS = "PROCESS, SHOW VIEW ON *.*"
DENIED = (1044, 1045, 1142, 1227, 1698)
"""SQL's numbers: the account is not there, has another password, or a right is missing."""
_ACCOUNT = re.compile("'[^']*'@'[^']*'")

OCTAVES = range(10, 37)
"""Bounds of the buckets of time are 2^n ns: 1 microsecond to 69 seconds."""

TABLES = (
    "SELECT COALESCE(table_schema, ''), COALESCE(table_name, ''), COALESCE(index_name, ''),"
    " finds, inserts, updates, deletes, increments,"
    " rows_examined, rows_sent, rows_changed, COALESCE(error_codes, '')"
    " FROM information_schema.rowsocket_tables"
    " ORDER BY finds + inserts + updates + deletes + increments DESC, 1, 2, 3"
)
# The time of a bucket is its end, so that the sum never shrinks: an eighth too much at most.
TIMES = (
    "SELECT COALESCE(table_schema, ''), COALESCE(table_name, ''), COALESCE(index_name, ''), operation,"
    f" COALESCE(GREATEST({OCTAVES[0]}, CEIL(LOG2(below_us * 1000) - 0.000001)), {OCTAVES[-1] + 1}) AS octave,"
    f" SUM(requests), SUM(requests * COALESCE(below_us, {2 ** OCTAVES[-1] / 1000})) / 1000000"
    " FROM information_schema.rowsocket_latency GROUP BY 1, 2, 3, 4, 5"
)
CLIENTS = (
    "SELECT protocol, port, state, COUNT(*), SUM(bytes_held)"
    " FROM information_schema.rowsocket_connections GROUP BY 1, 2, 3"
)


class RowSocketCollector(Collector):
    """What Prometheus is told of one server. Any thread may call `collect`; one looks at a time."""

    def __init__(self, sql_url: str, indexes_max: int) -> None:
        self._sql_url = sql_url
        self._indexes_max = indexes_max
        self._lock = threading.Lock()
        self.code = ExitCode.OK
        """What came of the last look."""

    def collect(self) -> Iterable[Metric]:
        """All figures of now, or that the server did not tell them."""
        with self._lock:
            try:
                with contextlib.closing(sql_connection(self._sql_url, ANSWER_TIMEOUT_S)) as sql:
                    found = [*_of_tables(sql, self._indexes_max), *_of_clients(sql)]
                self.code = ExitCode.OK
            except (pymysql.err.Error, OSError) as error:
                found, self.code = [], _code_of(error)
                print_error(f"SQL: {error.args[-1] if error.args else error}{_what_is_missing(error)}")
            up = GaugeMetricFamily(
                "rowsocket_up", "Whether RowSocket's tables could be read", self.code is ExitCode.OK
            )
        return [up, *found]


def _of_tables(sql: pymysql.connections.Connection[Any], indexes_max: int) -> Iterator[Metric]:
    """By table and index: those that were used most."""
    rows = rows_of(sql, TABLES)
    requests = CounterMetricFamily(
        "rowsocket_table_requests", "Requests that had their answer", labels=(*PLACE, "operation")
    )
    examined = CounterMetricFamily("rowsocket_table_rows_examined", "Rows looked at", labels=PLACE)
    sent = CounterMetricFamily("rowsocket_table_rows_sent", "Rows told", labels=PLACE)
    changed = CounterMetricFamily("rowsocket_table_rows_changed", "Rows changed and committed", labels=PLACE)
    errors = CounterMetricFamily("rowsocket_table_errors", "Requests that failed", labels=(*PLACE, "code"))
    for row in rows[:indexes_max]:
        place = row[:3]
        for operation, count in zip(OPERATIONS, row[3:8]):
            requests.add_metric((*place, operation), count)
        for family, count in zip((examined, sent, changed), row[8:11]):
            family.add_metric(place, count)
        for code, _, count in (word.partition("=") for word in row[11].split()):
            errors.add_metric((*place, code), float(count))
    yield from (requests, examined, sent, changed, errors)
    yield from _of_times(sql, {row[:3] for row in rows[:indexes_max]})
    left_out = "Indexes that are not shown, since others were used more"
    yield GaugeMetricFamily("rowsocket_indexes_left_out", left_out, max(len(rows) - indexes_max, 0))


def _of_times(sql: pymysql.connections.Connection[Any], shown: set[Place]) -> Iterator[Metric]:
    """The histogram of each index and operation; empty as long as times are not measured."""
    counts: dict[tuple[str, ...], dict[int, int]] = {}
    seconds: dict[tuple[str, ...], float] = {}
    for *labels, octave, count, time_s in rows_of(sql, TIMES):
        key = tuple(labels)
        if key[:3] in shown:
            counts.setdefault(key, {})[int(octave)] = int(count)
            seconds[key] = seconds.get(key, 0.0) + float(time_s)
    times = HistogramMetricFamily(
        "rowsocket_table_seconds", "How long requests took", labels=(*PLACE, "operation")
    )
    for key, of_octave in counts.items():
        buckets, below = [], 0
        for octave in OCTAVES:
            below += of_octave.get(octave, 0)
            buckets.append((repr(2**octave / 1e9), below))
        buckets.append(("+Inf", sum(of_octave.values())))
        times.add_metric(key, buckets, seconds[key])
    yield times


def _of_clients(sql: pymysql.connections.Connection[Any]) -> Iterator[Metric]:
    """The clients of now."""
    labels = ("protocol", "port", "state")
    clients = GaugeMetricFamily("rowsocket_clients", "Clients that are connected", labels=labels)
    held = GaugeMetricFamily("rowsocket_clients_held_bytes", "Memory that they hold", labels=labels)
    for *key, count, held_bytes in rows_of(sql, CLIENTS):
        clients.add_metric(key, count)
        held.add_metric(key, held_bytes)
    yield from (clients, held)


def address_of(text: str) -> tuple[str, int]:
    """HOST:PORT or [HOST]:PORT. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    is_number = port.isascii() and port.isdigit() and len(port) < 6
    if not colon or not host or not is_number or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is no HOST:PORT")
    return host.strip("[]"), int(port)


def _code_of(error: Exception) -> ExitCode:
    """A server that does not know RowSocket's tables has not refused: it has nothing to tell."""
    is_no = isinstance(error, pymysql.err.MySQLError) and is_refusal(error) and error.args[0] != UNKNOWN_TABLE
    return ExitCode.REFUSED if is_no else ExitCode.NO_ANSWER


def _what_is_missing(error: Exception) -> str:
    """A sentence about the account, if the server has denied it something."""
    number, said = (*error.args, "", "")[:2]
    if number not in DENIED:
        return ""
    found = _ACCOUNT.search(str(said))
    return f"; an account that may see all has: GRANT {GRANTS} TO {found[0] if found else 'it'}"


def export(collector: RowSocketCollector, listen: str | None, file: Path | None) -> ExitCode:
    """Answer Prometheus at HOST:PORT until Ctrl-C; or look once, and write it into the file, or print it.

    Whether the server told. A file is there whole, or as it was before. Raises ValueError.
    """
    if listen is not None and file is not None:
        raise ValueError("--listen or --textfile, not both")
    if file is not None and file.suffix != ".prom":
        raise ValueError(
            f"--textfile {file}: node_exporter reads files whose names end with .prom, no others"
        )
    registry = CollectorRegistry()
    registry.register(collector)
    try:
        if listen is not None:
            _serve(*address_of(listen), registry)
        elif file is not None:
            write_to_textfile(str(file), registry)
        else:
            _print(generate_latest(registry))
    except OSError as error:
        raise ValueError(f"{listen or file}: {error.strerror or error}") from None
    return ExitCode.OK if listen is not None else collector.code


class _Handler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """No line for each request."""


def _serve(host: str, port: int, registry: CollectorRegistry) -> None:
    """Until Ctrl-C; the port is free behind it. Raises OSError."""

    class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
        daemon_threads = True
        address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]

    app: Any = make_wsgi_app(registry)
    server = wsgiref.simple_server.make_server(host, port, app, Server, _Handler)
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


def _print(text: bytes) -> None:
    if is_terminal(sys.stdout):
        print(*map(plain, text.decode("utf-8").split("\n")), sep="\n", end="")
    else:
        print_bytes(text)
