# SPDX-License-Identifier: MIT
"""What the command prints: rows as a table for people or as JSON for programs, and errors; exit codes."""

from __future__ import annotations

import base64
import codecs
import contextlib
import datetime
import enum
import errno
import io
import json
import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from rich.box import ASCII, HEAVY_HEAD, Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowsocket._protocol import encode_value

READABLE_WIDTH = 8
"""In a narrower column, words are no longer seen as words."""


class ExitCode(enum.IntEnum):
    """What scripts can tell by."""

    OK = 0
    NOTHING = 1  # no such row, or nothing changed
    USAGE = 2
    REFUSED = 3  # the server answered with an error
    NO_ANSWER = 4
    OUTPUT = 5  # standard output takes nothing


# ── standard output ─────────────────────────────────────────────────────────────────────────────────────────


class OutputLost(Exception):
    """Standard output is closed, full, or nobody reads it. `error` says which."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.error = error


class _Output(io.TextIOWrapper):
    """Standard output whose errors are told apart from those of a server."""

    def write(self, text: str) -> int:
        with _told_apart():
            return super().write(text)

    def flush(self) -> None:
        with _told_apart():
            super().flush()


@contextlib.contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputLost(error) from None


@contextlib.contextmanager
def whole_output() -> Iterator[None]:
    """What is printed within has arrived at the end, or the process ends: as others do where nobody reads it
    (SIGPIPE), else with a message and an exit code.
    """
    try:
        if sys.stdout is None:  # it was closed before the command began
            raise OutputLost(OSError(errno.EBADF, "it is closed"))
        was: Any = sys.stdout
        own = open(was.fileno(), "wb", closefd=False)  # noqa: SIM115 (it ends with the process)
        sys.stdout = _Output(
            own, encoding=was.encoding, errors="backslashreplace", line_buffering=was.line_buffering
        )
        try:
            yield
        finally:
            sys.stdout.flush()
    except OutputLost as lost:
        _end_for(lost.error)


def _end_for(error: OSError) -> None:
    if sys.stdout is not None:  # what is still in the buffer is not tried again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE and hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    print_error(f"standard output: {error.strerror or error}")
    sys.exit(ExitCode.OUTPUT)


def print_bytes(data: bytes) -> None:
    """As they are."""
    sys.stdout.flush()
    with _told_apart():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


# ── control characters ──────────────────────────────────────────────────────────────────────────────────────

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""What a terminal may obey, by which it shows a text in another order, or what it does not show at all."""
_KEPT = {chr(code): chr(0xDC00 + code) for code in range(0xA0) if _CONTROL.match(chr(code)) and code != 10}
"""Stand-ins that no text has, for what rich would take out of a text, or change."""
_TO_STAND_INS = str.maketrans(_KEPT)
_FROM_STAND_INS = str.maketrans({stand_in: character for character, stand_in in _KEPT.items()})


def plain(text: str) -> str:
    """The text with its control characters spelt out, as Python does."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _is_utf8(stream: TextIO) -> bool:
    """Whether every character can be written there."""
    return codecs.lookup(stream.encoding or "ascii").name == "utf-8"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody looks at it."""
    return stream is not None and stream.isatty()


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────


def json_value(value: Any) -> Any:
    """The JSON value of a column: bytes in base64, numbers with a point as text, dates as SQL writes them."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return encode_value(value).decode("utf-8")


def print_json(value: Any) -> None:
    """One line of JSON."""
    text = json.dumps(value, ensure_ascii=not _is_utf8(sys.stdout))
    if is_terminal(sys.stdout):
        text = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    print(text)


def print_rows(rows: Iterable[Mapping[str, Any]], names: Iterable[str], as_json: bool) -> None:
    """Rows: a table, or one JSON object a line."""
    if as_json:
        for row in rows:
            print_json({name: json_value(value) for name, value in row.items()})
        return
    print_table(list(names), [[_cell(value) for value in row.values()] for row in rows])


def print_table(names: list[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """A table for people; columns that do not fit fold. On a terminal, control characters are spelt out, and
    where there is no room for all columns side by side, each row has its values one below the other.
    """
    is_seen = is_terminal(sys.stdout)
    if is_seen and not _fit(names, rows, Console().width):
        _print_upright(names, rows)
        return
    table = Table(box=_frame())
    for name in names:
        table.add_column(_shown(name, is_seen), overflow="fold")
    for row in rows:
        table.add_row(*(_shown(cell, is_seen) for cell in row))
    if is_seen:
        Console().print(table)
        return
    drawn = io.StringIO()
    Console(file=drawn, width=10_000).print(table)  # as wide as it needs
    sys.stdout.write(drawn.getvalue().translate(_FROM_STAND_INS))


def _frame() -> Box:
    """What a table is drawn with: lines, or what stands for them in ASCII."""
    return HEAVY_HEAD if _is_utf8(sys.stdout) else ASCII


def _fit(names: list[str], rows: Sequence[Sequence[str | Text]], width: int) -> bool:
    """Whether each column can have as much as it needs, or READABLE_WIDTH."""
    needed = 1
    for number, name in enumerate(names):
        longest = max(_shown(cell, True).cell_len for cell in (name, *(row[number] for row in rows)))
        needed += min(longest, READABLE_WIDTH) + 3  # a frame, and a blank at each side
    return needed <= width


def _print_upright(names: list[str], rows: Sequence[Sequence[str | Text]]) -> None:
    console = Console()
    for row in rows:
        table = Table(show_header=False, box=_frame())
        table.add_column(overflow="fold")
        table.add_column(overflow="fold")
        for name, cell in zip(names, row):
            table.add_row(_shown(name, True), _shown(cell, True))
        console.print(table)


def _shown(cell: str | Text, is_seen: bool) -> Text:
    if isinstance(cell, Text):
        return cell
    return Text(plain(cell) if is_seen else cell.translate(_TO_STAND_INS))


def print_line(text: str) -> None:
    """One line for people."""
    print(plain(text) if is_terminal(sys.stdout) else text)


def print_error(text: str) -> None:
    """One line on standard error, if there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"rowsocket: {plain(text) if is_terminal(sys.stderr) else text}", file=sys.stderr)


def _cell(value: Any) -> str | Text:
    if value is None:
        return Text("NULL", style="dim")
    if isinstance(value, bytes):
        return Text(value.hex(" "), style="dim")
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return encode_value(value).decode("ascii")
    return str(value)
