# SPDX-License-Identifier: MIT
"""What the verbs share: where the servers are, what is open, and how an error is said."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pymysql
import typer

import rowsocket
from rowsocket._options import options_of
from rowsocket.cli import INTERRUPTED
from rowsocket.cli.catalog import Catalog, NotThere, is_refusal
from rowsocket.cli.output import ExitCode, print_error
from rowsocket.cli.words import column_list, table_name
from rowsocket.errors import AuthenticationError, RowSocketError, TransportError

READ_PORT, WRITE_PORT = 9998, 9999
DEFAULT_URL = "rowsocket://127.0.0.1"


class State:
    """What holds for one run of the command, or for all lines of a shell."""

    def __init__(self) -> None:
        self.url = DEFAULT_URL
        self.catalog = Catalog(None)
        self.sql_url: str | None = None
        self.database: str | None = None
        self._connections: dict[int, rowsocket.Connection] = {}

    def connection(self, port: int) -> rowsocket.Connection:
        """The connection to the URL, or to this port if the URL names none."""
        if port not in self._connections:
            self._connections[port] = rowsocket.connect(self.url, port)
        return self._connections[port]

    def names_of(self, table: str) -> tuple[str, str]:
        """Database and table. Raises ValueError."""
        database, name = table_name(table)
        if database is not None:
            return database, name
        known = self.database or options_of(self.url).database
        if known is None:
            raise ValueError(f"of which database is {table!r}? Say DATABASE.{table}, or --url .../DATABASE")
        return known, name

    def index(self, table: str, columns: str | None, index: str) -> rowsocket.Index[dict[str, Any]]:
        """The index of a table to read from, with rows as dicts; `columns` as `--columns` says them.

        Raises ValueError, RowSocketError, NotThere.
        """
        database, name = self.names_of(table)
        listed = column_list(columns) if columns else self.catalog.columns(database, name)
        if not listed and self.catalog.has_sql:
            raise NotThere(
                f"no table {database}.{name}, or none that the account of --sql may see:"
                " --columns NAME,NAME asks without it"
            )
        if not listed:
            raise ValueError(
                f"which columns of {table}? --columns NAME,NAME (or --sql mysql://..., to look them up)"
            )
        return self._open(READ_PORT, (database, name), listed, index)

    def index_to_write(
        self, table: str, columns: Sequence[str], index: str
    ) -> rowsocket.Index[dict[str, Any]]:
        """The index of a table to write to. Raises ValueError, RowSocketError."""
        return self._open(WRITE_PORT, self.names_of(table), list(columns), index)

    def _open(
        self, port: int, names: tuple[str, str], columns: list[str], index: str
    ) -> rowsocket.Index[dict[str, Any]]:
        opened = self.connection(port).open_index(*names, columns, index)
        self.catalog.use(*names, columns)
        return opened.as_dicts()

    def require_sql(self, why: str) -> str:
        """The URL of SQL. Raises ValueError."""
        if self.sql_url is None:
            raise ValueError(f"{why} through SQL: --sql mysql://USER:PASSWORD@HOST")
        return self.sql_url

    def close(self) -> None:
        """Close every connection."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self.catalog.close()


def state_of(context: typer.Context) -> State:
    """What belongs to this run."""
    return cast(State, context.obj)


@contextlib.contextmanager
def said_plainly() -> Iterator[None]:
    """Errors become one line and an exit code."""
    try:
        yield
    except TransportError as error:
        unknown = " (what was asked for may have been done)" if error.outcome_unknown else ""
        raise _end(ExitCode.NO_ANSWER, f"{error}{unknown}") from None
    except RowSocketError as error:
        raise _end(ExitCode.REFUSED, f"{error.detail or error}{_hint(error)}") from None
    except NotThere as error:
        raise _end(ExitCode.REFUSED, str(error)) from None
    except pymysql.err.MySQLError as error:
        code = ExitCode.REFUSED if is_refusal(error) else ExitCode.NO_ANSWER
        raise _end(code, f"SQL: {error.args[-1] if error.args else error}") from None
    except UnicodeEncodeError as error:
        raise _end(
            ExitCode.USAGE, f"{error.object!a} is not UTF-8. Bytes are said as :hex=FF00 or :base64=/wA="
        ) from None
    except (ValueError, TypeError) as error:
        raise _end(ExitCode.USAGE, str(error)) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def _hint(error: RowSocketError) -> str:
    """What the URL lacks."""
    if not isinstance(error, AuthenticationError) or error.text == "connections":
        return ""
    return " (?tls=1 or ?tls_ca=FILE)" if error.text == "tls" else " (rowsocket://USER:PASSWORD@HOST)"


def _end(code: ExitCode, text: str) -> typer.Exit:
    print_error(text)
    return typer.Exit(code)
