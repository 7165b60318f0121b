# SPDX-License-Identifier: MIT
"""What the command prints: rows as a table for people or as JSON for programs, and errors; exit codes."""

from __future__ import annotations

import base64
import datetime
import enum
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowsocket._protocol import encode_value


class ExitCode(enum.IntEnum):
    """What scripts can tell by."""

    OK = 0
    NOTHING = 1  # no such row, or nothing changed
    USAGE = 2
    REFUSED = 3  # the server answered with an error
    NO_ANSWER = 4


def json_value(value: Any) -> Any:
    """The JSON value of a column: bytes in base64, numbers with a point as text, dates as SQL writes them."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return encode_value(value).decode("utf-8")


def print_json(value: Any) -> None:
    """One line of JSON."""
    print(json.dumps(value, ensure_ascii=False))


def print_rows(rows: Iterable[Mapping[str, Any]], names: Iterable[str], as_json: bool) -> None:
    """Rows: a table, or one JSON object a line."""
    if as_json:
        for row in rows:
            print_json({name: json_value(value) for name, value in row.items()})
        return
    print_table(list(names), [[_cell(value) for value in row.values()] for row in rows])


def print_table(names: list[str], rows: list[list[str | Text]]) -> None:
    """A table for people; columns that do not fit fold."""
    table = Table()
    for name in names:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*row)
    # Piped, a table is as wide as it needs.
    console = Console() if sys.stdout.isatty() else Console(width=10_000)
    console.print(table)


def print_error(text: str) -> None:
    """One line on standard error."""
    print(f"rowsocket: {text}", file=sys.stderr)


def _cell(value: Any) -> Text:
    if value is None:
        return Text("NULL", style="dim")
    if isinstance(value, bytes):
        return Text(value.hex(" "), style="dim")
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return Text(encode_value(value).decode("ascii"))
    return Text(str(value))
