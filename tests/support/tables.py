# SPDX-License-Identifier: GPL-2.0-only
"""Two servers with the same tables: every row of one against every row of the other.

A checksum says that two tables differ; a test wants to know in which rows. So the rows themselves are
compared, with the columns that `SELECT *` does not show and, of a table with history, all of its history.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass

from pymysql.converters import encoders
from pymysql.cursors import SSCursor

from support.mariadb import MariaDB

SYSTEM_SCHEMAS = ("mysql", "information_schema", "performance_schema", "sys")
ROWS_SHOWN_MAX = 5
_HARMLESS = re.compile(r"Unpurged|Clustered index record not found for index .*info_bits=32")
"""What was deleted a moment ago is no damage. Nor are entries of indexes that are marked as deleted (32) and
stay for
good: transactions of SQL alone that change one row many times leave them behind, too."""

RawRow = tuple[bytes | str | None, ...]


@dataclass(frozen=True)
class TableName:
    """A base table, with or without history, or a sequence."""

    database: str
    name: str
    kind: str
    engine: str

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def quoted(self) -> str:
        """As SQL names it."""
        return f"`{self.database}`.`{self.name}`"


def tables_of(server: MariaDB, databases: Collection[str] | None = None) -> list[TableName]:
    """All tables of these databases; None: of all databases but the system's."""
    rows = server.sql(
        "SELECT table_schema, table_name, table_type, IFNULL(engine, '') FROM information_schema.tables"
        " WHERE table_type <> 'VIEW' ORDER BY table_schema, table_name"
    )
    found = (TableName(str(schema), str(name), str(kind), str(engine)) for schema, name, kind, engine in rows)
    if databases is None:
        return [table for table in found if table.database not in SYSTEM_SCHEMAS]
    return [table for table in found if table.database in databases]


def rows_of(server: MariaDB, table: TableName) -> list[RawRow]:
    """All rows, all columns and all history of a table, as the server's own text."""
    names = [
        (str(name), str(generation))
        for name, generation in server.sql(
            "SELECT column_name, IFNULL(generation_expression, '') FROM information_schema.columns"
            " WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
            [table.database, table.name],
        )
    ]
    has_history = table.kind == "SYSTEM VERSIONED"
    columns = [f"`{name}`" for name, _ in names]
    if has_history and not any(generation == "ROW START" for _, generation in names):
        columns += ["row_start", "row_end"]
    query = f"SELECT {', '.join(columns)} FROM {table.quoted}{' FOR SYSTEM_TIME ALL' if has_history else ''}"
    return list(_stream(server, query))


def _stream(server: MariaDB, query: str) -> Iterator[RawRow]:
    with closing(server.connect()) as connection:
        connection.decoders = {}
        connection.encoders = dict(encoders)
        with connection.cursor(SSCursor) as cursor:
            cursor.execute(query)
            yield from cursor.fetchall_unbuffered()


def differences(
    one: MariaDB,
    other: MariaDB,
    names: tuple[str, str],
    databases: Collection[str] | None = None,
    left_out: Collection[str] = (),
) -> list[str]:
    """In what the tables of two servers differ, one text for each table; `names` are what to call the
    servers. Of tables that are left out (`database.table`) the rows are not compared."""
    of_one, of_other = tables_of(one, databases), tables_of(other, databases)
    found = [f"{table} is only on {names[0]}" for table in of_one if table not in of_other]
    found += [f"{table} is only on {names[1]}" for table in of_other if table not in of_one]
    for table in of_one:
        if table in of_other and str(table) not in left_out:
            text = _difference(rows_of(one, table), rows_of(other, table), names)
            found += [f"{table}: {text}"] if text else []
    return found


def _difference(one: list[RawRow], other: list[RawRow], names: tuple[str, str]) -> str:
    if one == other:
        return ""
    counts, other_counts = Counter(one), Counter(other)
    sides = (counts - other_counts, other_counts - counts)
    lines = []
    for name, rows in zip(names, sides, strict=True):
        if rows:
            shown = [
                f"    {row}{f' ({count} times)' if count > 1 else ''}"
                for row, count in sorted(rows.items(), key=str)
            ]
            more = [f"    and {len(shown) - ROWS_SHOWN_MAX} more"] if len(shown) > ROWS_SHOWN_MAX else []
            lines += [f"  {rows.total()} rows only on {name}:", *shown[:ROWS_SHOWN_MAX], *more]
    return f"{len(one)} rows on {names[0]}, {len(other)} on {names[1]}\n" + "\n".join(lines) if lines else ""


def damage(
    server: MariaDB, databases: Collection[str] | None = None, left_out: Collection[str] = ()
) -> list[str]:
    """What CHECK TABLE ... EXTENDED finds in the tables, one text for each table that is not sound; nothing
    of those that are left out (`database.table`)."""
    found = []
    for table in tables_of(server, databases):
        if table.kind != "SEQUENCE" and str(table) not in left_out:
            said = [
                (str(kind), str(text))
                for _, _, kind, text in server.sql(f"CHECK TABLE {table.quoted} EXTENDED")
            ]
            bad = [(kind, text) for kind, text in said if text != "OK" and not _HARMLESS.search(text)]
            found += [f"CHECK TABLE {table}: {bad}"] if bad else []
    return found


def assert_equal(
    one: MariaDB, other: MariaDB, names: tuple[str, str], databases: Collection[str] | None = None
) -> None:
    """Two servers have the same tables with the same rows; raises AssertionError with the rows that
    differ."""
    found = differences(one, other, names, databases)
    assert not found, "the tables differ\n" + "\n".join(found)
