# SPDX-License-Identifier: MIT
"""`rowsocket latency` and `rowsocket top`: what a server's round trips take, and what it does."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from typing import Any

import pymysql
import typer

import rowsocket
from rowsocket.cli import activity, terminal
from rowsocket.cli.activity import Activity, Look, NotLoadedError, between
from rowsocket.cli.catalog import rows_of, sql_connection
from rowsocket.cli.output import ExitCode, is_terminal, plain, print_error, print_json, print_table
from rowsocket.cli.picture import message, picture

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
ROWS_PRINTED = 20
ANSWER_TIMEOUT_S = 10.0
"""A server that does not answer for so long is away."""


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


# ── top ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Watcher:
    """Looks at a server again and again. While it is away, a new connection is tried at each look."""

    def __init__(self, sql_url: str) -> None:
        self._sql_url = sql_url
        self._sql: pymysql.connections.Connection[Any] | None = None
        self._before: Look | None = None
        self.server = ""
        """Its name and version."""

    def begin(self) -> None:
        """Look for the first time. Raises NotLoadedError, MySQLError, ValueError."""
        self._before = self._look()

    def next(self) -> Activity | None:
        """What happened since the last look; None if there was none. Raises NotLoadedError, MySQLError."""
        before, self._before = self._before, None
        self._before = self._look()
        return None if before is None else between(before, self._before)

    def close(self) -> None:
        """Close the connection."""
        if self._sql is not None:
            with contextlib.suppress(pymysql.err.Error):
                self._sql.close()
            self._sql = None

    def _look(self) -> Look:
        try:
            if self._sql is None:
                self._sql = sql_connection(self._sql_url, ANSWER_TIMEOUT_S)
                [[host, version]] = rows_of(self._sql, "SELECT @@hostname, VERSION()")
                self.server = f"{host} ({version})"
            return activity.look(self._sql)
        except pymysql.err.MySQLError:
            self.close()
            raise


@dataclasses.dataclass(frozen=True)
class TopOptions:
    """What `rowsocket top` was told."""

    interval_s: float
    once: bool
    as_json: bool
    rows_max: int | None
    """Tables, and clients: those that do most. 0: all; None: those for which a terminal has room, else 20."""


def watch(sql_url: str, options: TopOptions) -> None:
    """Show what a server does until q or Ctrl-C, or for one interval. Raises ValueError, MySQLError."""
    watcher = Watcher(sql_url)
    with contextlib.closing(watcher):
        try:
            watcher.begin()
            if options.once or options.as_json:
                time.sleep(options.interval_s)
                _print(watcher, options)
                return
        except NotLoadedError as error:
            print_error(str(error))
            raise typer.Exit(ExitCode.NO_ANSWER) from None
        if terminal.can_show():
            _show(watcher, options)
        else:
            _go_on_printing(watcher, options)


def _title(watcher: Watcher, seconds: float) -> str:
    return f"RowSocket on {plain(watcher.server)}, {_moment()}, the last {seconds:.1f} s"


def _moment() -> str:
    return time.strftime("%H:%M:%S")


def _away(error: Exception) -> str:
    what = error.args[-1] if error.args else error
    return f"{_moment()}: no figures, trying again. {plain(str(what))}"


def _print(watcher: Watcher, options: TopOptions) -> None:
    """One picture, unless the server was away before. Raises NotLoadedError, MySQLError."""
    did = watcher.next()
    rows_max = ROWS_PRINTED if options.rows_max is None else options.rows_max
    if did is None:
        print(f"{_moment()}: it answers again")
    elif options.as_json:
        print_json(did.as_json(rows_max))
    else:
        width = terminal.size()[0] if is_terminal(sys.stdout) else None
        print("\n".join(picture(_title(watcher, did.seconds), did, width, rows_max=rows_max)))


def _go_on_printing(watcher: Watcher, options: TopOptions) -> None:
    """One picture below the other, for who collects them."""
    while True:
        time.sleep(options.interval_s)
        try:
            _print(watcher, options)
        except (pymysql.err.MySQLError, NotLoadedError) as error:
            print(_away(error))
        print(flush=True)


def _show(watcher: Watcher, options: TopOptions) -> None:
    """One picture in the place of the other."""
    did: Activity | None = None
    title = f"RowSocket on {plain(watcher.server)}: the first figures come in {options.interval_s:g} s"
    with terminal.pictures() as screen:
        due_s = time.monotonic() + options.interval_s
        while True:
            width, height = terminal.size()
            screen.show(
                message(title, width, height)
                if did is None
                else picture(title, did, width, height, options.rows_max or 0)
            )
            event = screen.wait(due_s - time.monotonic())
            if event == "quit":
                return
            if event == "due":
                did, title = _next(watcher)
                due_s = time.monotonic() + options.interval_s


def _next(watcher: Watcher) -> tuple[Activity | None, str]:
    """What happened, if the server tells, and the title of the picture."""
    try:
        did = watcher.next()
    except (pymysql.err.MySQLError, NotLoadedError) as error:
        return None, _away(error)
    return did, f"{_moment()}: it answers again" if did is None else _title(watcher, did.seconds)
