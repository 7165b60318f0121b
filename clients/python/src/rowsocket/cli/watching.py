# SPDX-License-Identifier: MIT
"""`rowsocket latency` and `rowsocket top`: what a server's round trips take, and what it does."""

from __future__ import annotations

import time
from typing import Any

import pymysql
from rich.console import Console
from rich.live import Live
from rich.table import Table

import rowsocket
from rowsocket.cli.catalog import sql_connection
from rowsocket.cli.output import print_json, print_table

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}

GAUGES = ("connections_read", "connections_write")
RATES = {
    "requests": (
        *("requests_find", "requests_insert", "requests_update", "requests_delete", "requests_increment"),
        *("requests_open_index", "requests_group"),
    ),
    "rows": ("rows_read", "rows_inserted", "rows_updated", "rows_deleted"),
    "errors": ("errors_request", "errors_authentication", "errors_table", "errors_engine", "errors_internal"),
    "work": ("commits", "commit_failures", "replays", "parked", "turns", "turn_requests"),
    "bytes": ("bytes_received", "bytes_sent"),
}
"""Status values, without `Rowsocket_`, of which the growth per second is shown."""


def measure_latency(connection: rowsocket.Connection, number: int, as_json: bool) -> None:
    """Print what `number` pings take, in microseconds, one after the other. Raises RowSocketError."""
    connection.ping()
    times_us = sorted(connection.ping() * 1e6 for _ in range(number))
    figures = {
        "count": number,
        "min_us": round(times_us[0], 1),
        **{
            f"{name}_us": round(times_us[min(int(share * number), number - 1)], 1)
            for name, share in PERCENTILES.items()
        },
        "max_us": round(times_us[-1], 1),
        "mean_us": round(sum(times_us) / number, 1),
    }
    if as_json:
        print_json(figures)
    else:
        print_table(list(figures), [[f"{figure:,}" for figure in figures.values()]])


def watch(sql_url: str, interval_s: float, once: bool, as_json: bool) -> None:
    """Show status values until Ctrl-C, or for one interval. Raises ValueError, MySQLError."""
    sql = sql_connection(sql_url)
    before, before_s = _status(sql), time.monotonic()
    if not before:
        raise ValueError("this server has no status values of RowSocket: is the plugin loaded?")
    with Live(console=Console(), auto_refresh=False, transient=not once) as live:
        while True:
            time.sleep(interval_s)
            now, now_s = _status(sql), time.monotonic()
            figures = _figures(before, now, now_s - before_s)
            if as_json:
                live.stop()
                print_json(figures)
                return
            live.update(_table(figures), refresh=True)
            if once:
                return
            before, before_s = now, now_s


def _status(sql: pymysql.connections.Connection[Any]) -> dict[str, float]:
    with sql.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Rowsocket%'")
        return {
            name.removeprefix("Rowsocket_").lower(): float(value)
            for name, value in cursor.fetchall()
            if value.replace(".", "", 1).isdigit()
        }


def _figures(before: dict[str, float], now: dict[str, float], seconds: float) -> dict[str, float]:
    figures = {name: now.get(name, 0.0) for name in GAUGES}
    for names in RATES.values():
        for name in names:
            figures[f"{name}_per_s"] = round((now.get(name, 0.0) - before.get(name, 0.0)) / seconds, 1)
    return figures


def _table(figures: dict[str, float]) -> Table:
    table = Table(title="RowSocket, per second")
    for heading in ("", "what", "now"):
        table.add_column(heading, justify="right" if heading == "now" else "left")
    for name in GAUGES:
        table.add_row("clients", name, f"{figures[name]:,.0f}")
    for heading, names in RATES.items():
        table.add_section()
        for name in names:
            table.add_row(heading, name.removeprefix("requests_"), f"{figures[f'{name}_per_s']:,.1f}")
    return table
