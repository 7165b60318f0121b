# SPDX-License-Identifier: GPL-2.0-only
"""Two equal tables: what a test does to `t` over RowSocket it does to `twin` in SQL, and both must show the
same.

"As SQL" in a test means that: SQL itself gives the expected rows and error numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pymysql
from pymysql.converters import encoders

import rowsocket
from rowsocket import BytesRow, Connection, Index
from support.mariadb import Database


class Twins:
    """The tables `t` and `twin` of a test's database, both made with `definition` and, behind it,
    `options`."""

    def __init__(self, database: Database, writer: Connection, definition: str, options: str = "") -> None:
        self.database = database.name
        self.writer = writer
        # No decoders: a value is what SQL shows, as text or bytes.
        self._sql = pymysql.connect(
            unix_socket=str(database.server.socket),
            user="root",
            database=database.name,
            autocommit=True,
            charset="utf8mb4",
            conv=dict(encoders),  # type: ignore[arg-type]
            read_timeout=60,
        )
        for name in ("t", "twin"):
            self.sql(f"CREATE TABLE {name} ({definition}) {options}")

    def close(self) -> None:
        """End the SQL session."""
        self._sql.close()

    def index(self, columns: str, index: str = "PRIMARY", filter_columns: str = "") -> Index[BytesRow]:
        """An index of `t`, opened on the write port; values are bytes."""
        return self.writer.open_index(self.database, "t", columns, index, filter_columns, decode=False)

    def sql(self, statement: str, *parameters: object) -> list[BytesRow]:
        """Execute one statement; the rows as SQL shows them, as bytes. `%s` are the parameters. Raises
        pymysql.err.MySQLError."""
        with self._sql.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return [tuple(map(_to_bytes, row)) for row in cursor.fetchall()]

    def sql_error(self, statement: str, *parameters: object) -> int:
        """The number of the error that the statement ends with."""
        try:
            self.sql(statement, *parameters)
        except pymysql.err.MySQLError as error:
            return int(error.args[0])
        raise AssertionError(f"SQL takes this: {statement} {parameters}")

    def rows(self, columns: str = "*", order: str = "1") -> list[BytesRow]:
        """The rows of `t` as SQL shows them."""
        return self.sql(f"SELECT {columns} FROM t ORDER BY {order}")

    def assert_equal(self, columns: str = "*", order: str = "1") -> None:
        """SQL shows the same rows in both tables."""
        assert self.rows(columns, order) == self.sql(f"SELECT {columns} FROM twin ORDER BY {order}")

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """What is done inside leaves `t` as it is."""
        before = self.rows()
        yield
        assert self.rows() == before


def _to_bytes(value: Any) -> bytes | None:
    return value.encode("utf-8") if isinstance(value, str) else value


def error_number(error: rowsocket.RowSocketError) -> int | str:
    """The number of an engine's or a conversion's error; any other error's text."""
    return error.number if isinstance(error, rowsocket.EngineError) else error.text
