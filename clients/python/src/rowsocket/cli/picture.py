# SPDX-License-Identifier: MIT
"""The picture of `rowsocket top`, as lines of text that fit a terminal."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from rowsocket.cli.activity import OPERATIONS, Activity, ClientRates, OperationTimes, TableRates
from rowsocket.cli.output import plain

NAME_CELLS_MIN = 20
"""The first column of a part is never narrower, if the terminal is not."""
GAP = "  "
ERRORS = ("request", "authentication", "table", "engine", "internal")


@dataclasses.dataclass(frozen=True)
class Column:
    """Of a part. Where there is no room, the columns of the highest rank are left out first."""

    heading: str
    rank: int
    is_text: bool = False
    cells_min: int = 0
    """So that what is beside it does not move from picture to picture."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A heading with a table. The first column is the name, whose heading is the part's title."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    nothing: str
    """What is said where there are no rows."""


def message(text: str, width: int, height: int) -> list[str]:
    """The lines of a picture that has no figures."""
    lines = textwrap.wrap(text, max(width, 1)) or [""]
    return lines[:height]


def picture(
    title: str, activity: Activity, width: int | None, height: int | None = None, rows_max: int = 0
) -> list[str]:
    """The lines. None: as wide, or as high, as it needs. `rows_max`: of tables and clients; 0: all."""
    notes = [_cut(plain(note), width) for note in activity.notes]
    status = _status(activity, width)
    if height is not None:
        status = status[: max(height // 6, 1)]
    lines = [_cut(title, width), *status, *notes]
    parts = (_times(activity.times), _tables(activity.tables), _clients(activity.clients))
    wanted = [_lines_of(part, rows_max) for part in parts]
    sizes = wanted if height is None else _shares(wanted, height - len(lines))
    for part, size in zip(parts, sizes):
        lines += ["", *_drawn(part, size, width)]
    return lines if height is None else lines[:height]


def _lines_of(part: Part, rows_max: int) -> int:
    """Below its heading."""
    return len(part.rows) if not rows_max or len(part.rows) <= rows_max else rows_max + 1


def _shares(wanted: Sequence[int], height: int) -> list[int]:
    """How many lines each part gets below its heading, which has an empty line before it."""
    left = max(height - 2 * len(wanted), 0)
    sizes = []
    for position, lines in enumerate(wanted):
        behind = wanted[position + 1 :]
        fair = left // (len(behind) + 1)
        sizes.append(min(lines, max(fair, left - sum(behind))))
        left -= sizes[-1]
    return sizes


# ── the parts ───────────────────────────────────────────────────────────────────────────────────────────────


def _status(activity: Activity, width: int | None) -> list[str]:
    figures = activity.status
    rate = {name.removesuffix("_per_s"): value for name, value in figures.items()}
    requests = sum(rate[f"requests_{operation}"] for operation in OPERATIONS)
    errors = {kind: rate[f"errors_{kind}"] for kind in ERRORS}
    changed = sum(rate[f"rows_{how}"] for how in ("inserted", "updated", "deleted"))
    words = [
        f"requests {count(requests)}",
        f"errors {count(sum(errors.values()))}"
        + "".join(f", {kind} {count(value)}" for kind, value in errors.items() if value),
        f"rows read {count(rate['rows_read'])}, changed {count(changed)}",
        f"commits {count(rate['commits'])}",
        *(f"{one} {count(rate[f'requests_{one}'])}" for one in OPERATIONS if rate[f"requests_{one}"]),
        *(
            f"{name.replace('_', ' ')} {count(rate[name])}"
            for name in ("requests_open_index", "requests_group", "commit_failures", "replays", "parked")
            if rate[name]
        ),
        f"bytes in {count(rate['bytes_received'])}, out {count(rate['bytes_sent'])}",
    ]
    clients = f"clients: {count(rate['connections_read'])} read, {count(rate['connections_write'])} write"
    return [_cut(clients, width), *_wrapped(["per second:", *words], width)]


def _wrapped(words: Sequence[str], width: int | None) -> list[str]:
    lines = [words[0]]
    for position, word in enumerate(words[1:]):
        joined = lines[-1] + (GAP if position else " ") + word
        if width is None or cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append("  " + word)
    return [_cut(line, width) for line in lines]


def _times(times: Sequence[OperationTimes]) -> Part:
    columns = (
        Column("TIMES", 0, is_text=True),
        Column("requests/s", 2),
        Column("p50", 1, cells_min=7),
        Column("p95", 4, cells_min=7),
        Column("p99", 1, cells_min=7),
        Column("longest", 3, cells_min=7),
    )
    rows = [
        [one.operation, count(one.requests_per_s)]
        + [duration(time_us) for time_us in (one.p50_us, one.p95_us, one.p99_us, one.max_us)]
        for one in times
    ]
    return Part(columns, rows, "no times")


def _tables(tables: Sequence[TableRates]) -> Part:
    columns = (
        Column("TABLES", 0, is_text=True),
        Column("index", 2, is_text=True),
        Column("requests/s", 1),
        Column("looked at/s", 3),
        Column("sent/s", 5),
        Column("changed/s", 4),
        Column("errors/s", 2),
        Column("time", 1, cells_min=7),
    )
    rows = [
        [
            "(without names)" if one.table is None else f"{one.schema}.{one.table}",
            one.index or "-",
            *map(count, (one.requests_per_s, one.rows_examined_per_s, one.rows_sent_per_s)),
            *map(count, (one.rows_changed_per_s, one.errors_per_s)),
            "-" if one.time_us is None else duration(one.time_us),
        ]
        for one in tables
    ]
    return Part(columns, rows, "nothing was asked")


def _clients(clients: Sequence[ClientRates]) -> Part:
    columns = (
        Column("CLIENTS", 0, is_text=True),
        Column("address", 2, is_text=True),
        Column("protocol", 3, is_text=True),
        Column("port", 6, is_text=True),
        Column("TLS", 4, is_text=True),
        Column("does", 1, is_text=True, cells_min=10),
        Column("idle", 5, cells_min=5),
        Column("requests/s", 1),
    )
    rows = [
        [
            *(one.account or "(no account)", one.address, one.protocol, one.port, one.tls or "-"),
            *(one.state, f"{one.idle_s:,} s", count(one.requests_per_s)),
        ]
        for one in clients
    ]
    return Part(columns, rows, "nobody is connected")


# ── drawing ─────────────────────────────────────────────────────────────────────────────────────────────────


def _drawn(part: Part, size: int, width: int | None) -> list[str]:
    if not part.rows:
        return [_cut(f"{part.columns[0].heading}: {part.nothing}", width)]
    shown = part.rows[:size] if size >= len(part.rows) or size < 2 else part.rows[: size - 1]
    left_out = len(part.rows) - len(shown)
    cells = [[column.heading for column in part.columns], *([plain(cell) for cell in row] for row in shown)]
    widths = [
        max(column.cells_min, *map(cell_len, texts)) for column, texts in zip(part.columns, zip(*cells))
    ]
    kept = _fitting(part.columns, widths, width)
    if width is not None:
        others = sum(widths[at] + len(GAP) for at in kept[1:])
        widths[0] = min(widths[0], max(width - others, 1))
    lines = [
        GAP.join(_aligned(row[at], widths[at], part.columns[at].is_text) for at in kept).rstrip()
        for row in cells
    ]
    if left_out and size > 1:
        lines.append(_cut(f"... and {left_out:,} more", width))
    return lines


def _fitting(columns: Sequence[Column], widths: Sequence[int], width: int | None) -> list[int]:
    """The positions of the columns for which there is room."""
    kept = list(range(len(columns)))
    name_cells = min(widths[0], NAME_CELLS_MIN)
    while width is not None and len(kept) > 1:
        if name_cells + sum(widths[at] + len(GAP) for at in kept[1:]) <= width:
            break
        kept.remove(max(kept[1:], key=lambda at: (columns[at].rank, at)))
    return kept


def _aligned(cell: str, width: int, is_text: bool) -> str:
    cell = _cut(cell, width)
    return set_cell_size(cell, width) if is_text else " " * (width - cell_len(cell)) + cell


def _cut(text: str, width: int | None) -> str:
    if width is None or cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)) + "…"


def count(number: float) -> str:
    """A number for people."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:,.1f}"


def duration(time_us: float | None) -> str:
    """A time for people, with three digits."""
    if time_us is None:
        return "> 69 s"
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if time_us >= 0.9995 * size:
            return f"{_three_digits(time_us / size)} {unit}"
    return f"{_three_digits(time_us)} us"


def _three_digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 99.95 else f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"
