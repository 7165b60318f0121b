# SPDX-License-Identifier: MIT
"""The names of databases, tables, columns and indexes. The line protocol tells none, so they come from a SQL
connection, where there is one, and from what was used before.
"""

from __future__ import annotations

import contextlib
import re
import urllib.parse
from typing import Any

import pymysql

from rowsocket._options import PERCENT_ENCODE, is_cut_short

SQL_PORT = 3306
CLIENT_ERRORS = range(2000, 3000)
"""Numbers of SQL's errors that the client makes: there was no answer. The server has all others."""
NOT_CONNECTED = 2003
"""Nobody listens there, by pymysql."""

GREETING_TIMEOUT_S = 10.0
"""For the server's greeting and the login. What listens there may be no SQL at all: RowSocket's own port
waits for the client to speak."""
NAMES_TIMEOUT_S = 10.0
"""For names. The shell asks for them while somebody types, and can not be interrupted then."""
ANSWER_TIMEOUT_S = 600.0
"""For each answer. A look into a large buffer pool, or at the sizes of very many tables, takes minutes."""

UNKNOWN_TABLE = 1109
"""Of information_schema: the plugin that has it is not loaded."""

SEES_TABLES = {
    *("ALL PRIVILEGES", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX"),
    *("ALTER", "CREATE VIEW", "SHOW VIEW", "TRIGGER", "DELETE HISTORY"),
}
"""With one of these on all tables, information_schema tells an account of all tables."""


class NotThere(Exception):
    """SQL tells of no such table or index."""


def sql_connection(
    url: str, answer_timeout_s: float = ANSWER_TIMEOUT_S
) -> pymysql.connections.Connection[Any]:
    """A SQL connection by URL: mysql://[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?unix_socket=PATH],
    where a HOST beside PATH can only be localhost.

    Each answer is waited for so long, and the greeting for GREETING_TIMEOUT_S.

    Raises ValueError, pymysql.err.OperationalError.
    """
    parts, port = _parts_of(url)
    if parts.scheme not in ("mysql", "mariadb"):
        raise ValueError(f"a SQL URL begins with mysql:// or mariadb://, not {parts.scheme}://")
    options = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    query = dict(options)
    if parts.query and (len(options) != 1 or not query.get("unix_socket")):
        # Who writes tls=1 must not be served in clear text. The name may be a piece of a password.
        raise ValueError("a SQL URL takes ?unix_socket=PATH and nothing else: there is no TLS to SQL")
    if query and parts.hostname not in (None, "localhost"):
        raise ValueError("a SQL URL takes a HOST or ?unix_socket=PATH, not both")
    try:
        user = urllib.parse.unquote_to_bytes(parts.username or "")
        password = urllib.parse.unquote_to_bytes(parts.password or "")  # of a str, only letters of latin1
    except UnicodeEncodeError:  # its text would be the password
        raise ValueError(f"SQL URL: no UTF-8 ({PERCENT_ENCODE})") from None
    try:
        connected = pymysql.connect(
            host=parts.hostname or "127.0.0.1",
            port=port,
            user=user or None,
            password=password,
            database=parts.path.strip("/") or None,
            unix_socket=query.get("unix_socket"),
            autocommit=True,
            connect_timeout=5,
            read_timeout=GREETING_TIMEOUT_S,
        )
    except pymysql.err.OperationalError as error:
        if error.args[0] != NOT_CONNECTED or not query:
            raise
        why = getattr(error, "original_exception", error)  # pymysql's own words name a host
        raise pymysql.err.OperationalError(
            error.args[0], f"Can't connect to the server through the socket {query['unix_socket']!r} ({why})"
        ) from error
    except RuntimeError as error:  # a library is missing that this account's kind of password takes
        raise ValueError(f"SQL: {error}") from None
    # Pymysql has one time for both, and no public way to change it later.
    connected._read_timeout = answer_timeout_s  # type: ignore[attr-defined]
    return connected


def _parts_of(url: str) -> tuple[urllib.parse.SplitResult, int]:
    """The parts of a URL, and its port. Raises ValueError, which never shows a password."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = SQL_PORT if parts.port is None else parts.port
    except ValueError:  # its text may be a piece of the password
        port = 0
    if port == 0:
        raise ValueError(
            f"neither HOST nor HOST:PORT in the SQL URL, where a PORT is 1 to 65535 ({PERCENT_ENCODE})"
        )
    if is_cut_short(parts):
        raise ValueError(f"SQL URL: {PERCENT_ENCODE}")
    return parts, port


def rows_of(
    sql: pymysql.connections.Connection[Any], query: str, parameters: tuple[str, ...] = ()
) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    with sql.cursor() as cursor:
        cursor.execute(query, parameters or None)
        return list(cursor.fetchall())


def rights_on_all(sql: pymysql.connections.Connection[Any]) -> set[str]:
    """What the account may do everywhere, as SHOW GRANTS words it. Raises MySQLError."""
    granted = [re.match(r"GRANT (.+?) ON \*\.\* TO ", str(row[0])) for row in rows_of(sql, "SHOW GRANTS")]
    return {word.strip() for found in granted if found for word in found[1].split(",")}


def is_refusal(error: pymysql.err.MySQLError) -> bool:
    """Whether the server said no; else there was no answer."""
    number = error.args[0] if error.args else 0
    return isinstance(number, int) and number > 0 and number not in CLIENT_ERRORS


def is_local(sql: pymysql.connections.Connection[Any]) -> bool:
    """Whether the server is on this machine, as far as its address tells."""
    return sql.unix_socket is not None or sql.host in ("localhost", "127.0.0.1", "::1")


class Catalog:
    """What names there are."""

    def __init__(self, sql_url: str | None) -> None:
        self._sql_url = sql_url
        self._sql: pymysql.connections.Connection[Any] | None = None
        self._used: dict[tuple[str, str], list[str]] = {}

    @property
    def has_sql(self) -> bool:
        """True if the server can be asked."""
        return self._sql_url is not None

    def use(self, database: str, table: str, columns: list[str]) -> None:
        """Remember names that were used."""
        known = self._used.setdefault((database, table), [])
        known += [column for column in columns if column not in known]

    def databases(self) -> list[str]:
        """Those of the server, without the system's own."""
        query = (
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN"
            " ('mysql', 'sys', 'information_schema', 'performance_schema')"
        )
        return self._ask(query) or sorted({database for database, _ in self._used})

    def tables(self, database: str) -> list[str]:
        """Those of a database."""
        query = (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type LIKE"
            " 'BASE%%'"
        )
        return self._ask(query, database) or sorted(table for known, table in self._used if known == database)

    def columns(self, database: str, table: str) -> list[str]:
        """Those of a table, in its order."""
        query = (
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
            " ORDER BY ordinal_position"
        )
        return self._ask(query, database, table) or self._used.get((database, table), [])

    def indexes(self, database: str, table: str) -> list[str]:
        """Those of a table."""
        query = (
            "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = %s AND"
            " table_name = %s"
        )
        return self._ask(query, database, table) or ["PRIMARY"]

    def close(self) -> None:
        """Close the connection, if there is one. The next question makes a new one."""
        if self._sql is not None:
            with contextlib.suppress(pymysql.err.Error):
                self._sql.close()
            self._sql = None

    def _ask(self, query: str, *parameters: str) -> list[str]:
        """The first column; nothing without SQL. A connection that was lost meanwhile is made again, once."""
        if self._sql_url is None:
            return []
        is_new = self._sql is None
        if self._sql is None:
            self._sql = sql_connection(self._sql_url, NAMES_TIMEOUT_S)
        try:
            return [str(row[0]) for row in rows_of(self._sql, query, parameters)]
        except pymysql.err.MySQLError as error:
            if is_refusal(error):
                raise
            self.close()
            if is_new or isinstance(error.__context__, TimeoutError):  # it will not answer a new one
                raise
        return self._ask(query, *parameters)
