# SPDX-License-Identifier: MIT
"""`rowsocket warm`: brings tables and indexes into the buffer pool, at a bounded rate.

An index is walked from its beginning in steps of so many rows. The server reads all of them, and sends the
last one of a step only. The step ends at the key of this row, and the next one begins behind it. How many
rows a step has, the server then counts: these are in memory by now.

The text of a key need not be the place of its row: a FLOAT is printed with six digits, an hour of a TIMESTAMP
comes twice where clocks are put back, and an index may have the beginning of a value only. Steps are between
keys and not between rows, so no row is left out or counted twice, whatever a key turns into. A step that has
no rows is tried again with twice as many. So each request passes rows, or reads further than the one before,
and a walk has an end.

How much is in is what information_schema.INNODB_BUFFER_PAGE says, which is a look at every page of the pool.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pymysql
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import rowsocket
from rowsocket.cli.catalog import NotThere, rows_of
from rowsocket.cli.output import is_terminal, plain, print_json, print_line, print_table

STEP_ROWS_MAX = 1000
STEPS_PER_SECOND = 10
"""Enough that the rate is even, if it is bounded."""

LOOK_PAGES_MAX = 1_000_000
"""Of a buffer pool: a larger one is only looked into when that is asked for."""

NEARLY_ALL = 0.9
RESERVED_PAGES = 256
"""An index has some pages on disk that it does not use yet."""


@dataclasses.dataclass(frozen=True)
class Target:
    """An index to bring in."""

    database: str
    table: str
    index: str
    columns: tuple[str, ...]
    """Those of its key parts."""
    lengths: tuple[int | None, ...]
    """How much of each column the index has, in characters or bytes; None if it has all."""
    is_descending: bool
    """Its first part is."""
    rows: int
    """The server's estimate."""
    pages: int | None
    """That the index has on disk, by the server's statistics; None if they are not to be had."""

    @property
    def operators(self) -> tuple[rowsocket.Operator, rowsocket.Operator, rowsocket.RangeOperator]:
        """From NULL on, from behind a key on, and up to a key. A descending index has NULL at its end, so it
        is read backwards.
        """
        return ("<=", "<", ">=") if self.is_descending else (">=", ">", "<=")

    def key_of(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """What the index has of a row."""
        return tuple(
            value if length is None or value is None else value[:length]
            for value, length in zip(row, self.lengths)
        )


@dataclasses.dataclass(frozen=True)
class Warmed:
    """What came of an index."""

    target: Target
    rows: int
    """That were read."""
    pages_in: int | None
    """In the buffer pool now; None if nobody looked."""

    def figures(self) -> dict[str, Any]:
        """By name, for JSON and the table."""
        own = self.target
        return {
            "table": f"{own.database}.{own.table}",
            "index": own.index,
            "rows_read": self.rows,
            "pages_in": self.pages_in,
            "pages": own.pages,
        }


class Pace:
    """At most `rows_per_s` in the mean, 0 for any number. The clock is a parameter, for the tests."""

    def __init__(
        self,
        rows_per_s: int,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.step_rows = STEP_ROWS_MAX
        if rows_per_s:
            self.step_rows = max(1, min(STEP_ROWS_MAX, rows_per_s // STEPS_PER_SECOND))
        self._rows_per_s = rows_per_s
        self._now_s, self._sleep = now_s, sleep
        self._due_s = now_s()

    def after(self, rows: int) -> None:
        """Wait until so many more rows are due."""
        if not self._rows_per_s:
            return
        now_s = self._now_s()
        # Time that was lost to a slow disk is not caught up with: that would be a burst.
        self._due_s = max(self._due_s, now_s - 1 / STEPS_PER_SECOND) + rows / self._rows_per_s
        if self._due_s > now_s:
            self._sleep(self._due_s - now_s)


def targets(
    sql: pymysql.connections.Connection[Any], database: str, table: str, indexes: Sequence[str]
) -> list[Target]:
    """The indexes to bring in, all of the table where none is named. Raises NotThere, MySQLError."""
    found: dict[str, Target] = {}
    rows = rows_of(
        sql,
        "SELECT table_rows FROM information_schema.tables WHERE table_schema = %s AND table_name = %s",
        (database, table),
    )
    if not rows:
        raise NotThere(f"there is no table {database}.{table}")
    pages = _pages_on_disk(sql, database, table)
    listed = rows_of(
        sql,
        "SELECT index_name, column_name, sub_part, collation"
        " FROM information_schema.statistics"
        " WHERE table_schema = %s AND table_name = %s AND index_type = 'BTREE'"
        " ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index",
        (database, table),
    )
    for name, column, length, direction in listed:
        before = found.get(
            name,
            Target(database, table, name, (), (), direction == "D", int(rows[0][0] or 0), pages.get(name)),
        )
        found[name] = dataclasses.replace(
            before, columns=(*before.columns, column), lengths=(*before.lengths, length)
        )
    by_lower = {name.lower(): name for name in found}  # SQL does not tell large letters from small ones
    unknown = [name for name in indexes if name.lower() not in by_lower]
    if unknown:
        raise NotThere(
            f"{database}.{table} has no index {unknown[0]!r} (it has {', '.join(found) or 'none'})"
        )
    if not found:
        raise NotThere(f"{database}.{table} has no index that can be read in order")
    return [found[by_lower[name.lower()]] for name in indexes or found]


def walk(index: rowsocket.Index[Any], target: Target, pace: Pace) -> Iterator[int]:
    """Read all of an index; yields how many more rows were read. Raises RowSocketError."""
    op, behind, up_to = target.operators
    key: tuple[Any, ...] = (None,)
    # Rows that are added behind it meanwhile are in memory. If they were added quicker than they are read, a
    # walk to their end would not come to it.
    end = index.find(key, op, limit=1, reverse=True)
    step_rows = pace.step_rows
    while end:
        last = index.find(key, op, limit=1, offset=step_rows - 1, to=(up_to, target.key_of(end[0])))
        if not last:
            break
        next_key = target.key_of(last[0])
        rows = index.count(key, op, to=(up_to, next_key))
        yield rows
        pace.after(max(rows, step_rows))
        if rows:
            key, op, step_rows = next_key, behind, pace.step_rows
        else:
            step_rows *= 2
    yield index.count(key, op)


def warm(
    connection: rowsocket.Connection,
    sql: pymysql.connections.Connection[Any],
    chosen: Iterable[Target],
    rows_per_s: int,
    look: bool,
    as_json: bool,
) -> None:
    """Bring them in, and print what came of each. Raises RowSocketError, MySQLError."""
    done = []
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with bar if is_terminal(sys.stderr) else contextlib.nullcontext():
        for target in chosen:
            opened = connection.open_index(target.database, target.table, target.columns, target.index)
            task = bar.add_task(plain(f"{target.table}.{target.index}"), total=target.rows)
            rows = 0
            for more in walk(opened, target, Pace(rows_per_s)):
                rows += more
                bar.update(task, completed=rows, total=max(rows, target.rows))
            bar.update(task, completed=rows, total=rows)
            done.append((target, rows))
    looks = look or _pool_pages(sql) <= LOOK_PAGES_MAX
    warmed = [
        Warmed(target, rows, _pages_in(sql, target) if looks and target.pages is not None else None)
        for target, rows in done
    ]
    _print(warmed, as_json)


def _print(warmed: list[Warmed], as_json: bool) -> None:
    lines = [one.figures() for one in warmed]
    if as_json:
        for line in lines:
            print_json(line)
        return
    shown = [
        [
            f"{cell:,}" if isinstance(cell, int) else "not known" if cell is None else cell
            for cell in line.values()
        ]
        for line in lines
    ]
    print_table(list(lines[0]), shown)
    for one in warmed:
        pages = one.target.pages or 0
        if one.pages_in is not None and one.pages_in < NEARLY_ALL * pages - RESERVED_PAGES:
            print_line(
                f"{one.target.table}.{one.target.index}: {one.pages_in:,} of {pages:,} pages are in. The"
                " buffer pool is too small for all of it, or others need their pages more."
            )


def _pages_on_disk(sql: pymysql.connections.Connection[Any], database: str, table: str) -> dict[str, int]:
    """Of each index, where InnoDB keeps statistics and the account may read them."""
    query = (
        "SELECT index_name, SUM(stat_value) FROM mysql.innodb_index_stats"
        " WHERE database_name = %s AND SUBSTRING_INDEX(table_name, '#P#', 1) = %s AND stat_name = 'size'"
        " GROUP BY index_name"
    )
    try:
        return {str(name): int(pages) for name, pages in rows_of(sql, query, (database, table))}
    except pymysql.err.OperationalError:
        return {}


def _pool_pages(sql: pymysql.connections.Connection[Any]) -> int:
    [[_, pages]] = rows_of(sql, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_total'")
    return int(pages)


def _pages_in(sql: pymysql.connections.Connection[Any], target: Target) -> int | None:
    """Pages of an index in the buffer pool; None if the account may not look (it takes PROCESS)."""
    query = (
        "SELECT COUNT(*) FROM information_schema.innodb_buffer_page"
        " WHERE SUBSTRING_INDEX(table_name, ' /* Partition', 1) = %s AND index_name = %s"
    )
    database, table = (name.replace("`", "``") for name in (target.database, target.table))
    name = f"`{database}`.`{table}`"
    try:
        [[pages]] = rows_of(sql, query, (name, target.index))
    except pymysql.err.OperationalError:
        return None
    return int(pages)
