# SPDX-License-Identifier: MIT
"""The verbs of the command. Each is one function, which the shell runs as well."""

# No `from __future__ import annotations`: on Python 3.9, typer does not see what text says.
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Optional, cast

import pymysql
import typer

import rowsocket
from rowsocket._options import options_of
from rowsocket.cli.catalog import Catalog, is_local, sql_connection
from rowsocket.cli.output import ExitCode, print_error, print_json, print_rows
from rowsocket.errors import AuthenticationError, RowSocketError, TransportError

READ_PORT, WRITE_PORT = 9998, 9999
DEFAULT_URL = "rowsocket://127.0.0.1"

app = typer.Typer(
    help="Rows of MariaDB's tables, by key, through RowSocket. Without a verb: a shell.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class State:
    """What holds for one run of the command, or for all lines of a shell."""

    def __init__(self) -> None:
        self.url = DEFAULT_URL
        self.catalog = Catalog(None)
        self.sql_url: Optional[str] = None
        self.database: Optional[str] = None
        self._connections: dict[int, rowsocket.Connection] = {}

    def connection(self, port: int) -> rowsocket.Connection:
        """The connection to the URL, or to this port if the URL names none."""
        if port not in self._connections:
            self._connections[port] = rowsocket.connect(self.url, port)
        return self._connections[port]

    def names_of(self, table: str) -> tuple[str, str]:
        """Database and table. Raises ValueError."""
        database, dot, name = table.rpartition(".")
        if dot:
            return database, name
        known = self.database or options_of(self.url).database
        if known is None:
            raise ValueError(f"of which database is {table!r}? Say DATABASE.{table}, or --url .../DATABASE")
        return known, table

    def index(
        self, table: str, columns: Optional[str], index: str, *, port: int = READ_PORT
    ) -> rowsocket.Index[dict[str, Any]]:
        """The index of a table, with rows as dicts. Raises ValueError, RowSocketError."""
        database, name = self.names_of(table)
        listed = columns.split(",") if columns else self.catalog.columns(database, name)
        if not listed:
            raise ValueError(
                f"which columns of {table}? --columns NAME,NAME (or --sql mysql://..., to look them up)"
            )
        opened = self.connection(port).open_index(database, name, listed, index)
        self.catalog.use(database, name, listed)
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


@contextlib.contextmanager
def said_plainly() -> Iterator[None]:
    """Errors become one line and an exit code."""
    try:
        yield
    except TransportError as error:
        print_error(str(error))
        raise typer.Exit(ExitCode.NO_ANSWER) from None
    except RowSocketError as error:
        hint = " (rowsocket://USER:PASSWORD@HOST)" if isinstance(error, AuthenticationError) else ""
        print_error(f"{error.detail or error}{hint}")
        raise typer.Exit(ExitCode.REFUSED) from None
    except pymysql.err.MySQLError as error:
        print_error(f"SQL: {error.args[-1]}")
        raise typer.Exit(ExitCode.NO_ANSWER) from None
    except (ValueError, TypeError) as error:
        print_error(str(error))
        raise typer.Exit(ExitCode.USAGE) from None


Table = Annotated[str, typer.Argument(help="TABLE of the URL's database, or DATABASE.TABLE.")]
Key = Annotated[list[str], typer.Argument(help="One value for each of the first parts of the index.")]
Columns = Annotated[Optional[str], typer.Option("--columns", "-c", help="Names with commas between them.")]
IndexName = Annotated[str, typer.Option("--index", "-i", help="By name, or by number from 0.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON: one object a line.")]
Op = Annotated[str, typer.Option(help="How rows stand to the key: = > >= < <=, or ^= (starts with).")]
To = Annotated[
    Optional[str], typer.Option(help="The other end of a range: '<' or '<=' (or '>', '>=') and a value.")
]


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    url: Annotated[
        Optional[str],
        typer.Option(
            envvar="ROWSOCKET_URL",
            help="rowsocket://[USER:PASSWORD@]HOST[:PORT][/DATABASE]; the port is 9998 to read, 9999 to "
            "write.",
        ),
    ] = None,
    sql: Annotated[
        Optional[str],
        typer.Option(
            envvar="ROWSOCKET_SQL",
            help="mysql://USER:PASSWORD@HOST[:PORT], or ?unix_socket=PATH: names of columns, and top.",
        ),
    ] = None,
) -> None:
    """Rows of MariaDB's tables, by key, through RowSocket. Without a verb: a shell."""
    state = context.ensure_object(State)
    if url is not None:
        state.url = url
    if sql is not None and sql != state.sql_url:
        state.sql_url, state.catalog = sql, Catalog(sql)
    if context.invoked_subcommand is None:
        from rowsocket.cli.shell import run_shell

        with said_plainly():
            run_shell(app, state)


def state_of(context: typer.Context) -> State:
    """What `begin` has made."""
    return cast(State, context.obj)


@app.command()
def get(
    context: typer.Context,
    table: Table,
    key: Key,
    columns: Columns = None,
    index: IndexName = "PRIMARY",
    as_json: AsJson = False,
) -> None:
    """Print the row with this key. Exit code 1 if there is none."""
    with said_plainly():
        rows = state_of(context).index(table, columns, index)
        row = rows.get(*key)
    if row is None:
        if not as_json:
            print_error("no such row")
        raise typer.Exit(ExitCode.NOTHING)
    print_rows([row], rows.description.columns, as_json)


def _selection(
    op: str, to: Optional[str], limit: int, offset: int = 0, reverse: bool = False
) -> rowsocket.Selection:
    which: rowsocket.Selection = {"limit": limit or None, "offset": offset}
    if to is not None:
        operator = to[:2] if to[1:2] == "=" else to[:1]
        which["to"] = (cast("rowsocket.RangeOperator", operator), to[len(operator) :].strip())
    if reverse:
        which["reverse"] = True
    return which


@app.command()
def find(
    context: typer.Context,
    table: Table,
    key: Key,
    op: Op = "=",
    to: To = None,
    limit: Annotated[int, typer.Option(help="The most rows; 0 = all.")] = 20,
    offset: int = 0,
    reverse: Annotated[bool, typer.Option("--reverse", help="From the other end.")] = False,
    columns: Columns = None,
    index: IndexName = "PRIMARY",
    as_json: AsJson = False,
) -> None:
    """Print the rows that stand so to the key, in the order of the index. Exit code 1 if there is none."""
    with said_plainly():
        opened = state_of(context).index(table, columns, index)
        which = _selection(op, to, limit, offset, reverse)
        rows = opened.find(tuple(key), cast("rowsocket.Operator", op), **which)
    if rows or not as_json:
        print_rows(rows, opened.description.columns, as_json)
    if not rows:
        raise typer.Exit(ExitCode.NOTHING)


@app.command()
def count(
    context: typer.Context,
    table: Table,
    key: Key,
    op: Op = "=",
    to: To = None,
    index: IndexName = "PRIMARY",
    as_json: AsJson = False,
) -> None:
    """Print how many rows stand so to the key."""
    with said_plainly():
        state = state_of(context)
        opened = state.connection(READ_PORT).open_index(*state.names_of(table), [], index)
        which = _selection(op, to, 0)
        number = opened.count(tuple(key), cast("rowsocket.Operator", op), **which)
    print_json({"count": number}) if as_json else print(number)


Assignments = Annotated[list[str], typer.Argument(help="NAME=VALUE; NAME:null for NULL.")]


def assignments(words: list[str]) -> dict[str, Optional[str]]:
    """NAME=VALUE and NAME:null by name. Raises ValueError."""
    values: dict[str, Optional[str]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name:
            values[name] = value
        elif word.endswith(":null"):
            values[word.removesuffix(":null")] = None
        else:
            raise ValueError(f"{word!r} is neither NAME=VALUE nor NAME:null")
    return values


def _print_changed(number: int, as_json: bool) -> None:
    print_json({"changed": number}) if as_json else print(f"{number} row{'' if number == 1 else 's'}")
    if number == 0:
        raise typer.Exit(ExitCode.NOTHING)


@app.command()
def put(
    context: typer.Context,
    table: Table,
    values: Assignments,
    if_absent: Annotated[bool, typer.Option("--if-absent", help="Leave a row that is there alone.")] = False,
    as_json: AsJson = False,
) -> None:
    """Insert a row, or change the one that has its unique key already. Exit code 1 if nothing changed."""
    with said_plainly():
        row = assignments(values)
        opened = state_of(context).index(table, ",".join(row), "PRIMARY", port=WRITE_PORT)
        inserted = opened.insert_ignore(row) if if_absent else opened.upsert(row)
    if as_json:
        print_json({"outcome": inserted.outcome, "id": inserted.id})
    else:
        print(inserted.outcome + (f", id {inserted.id}" if inserted.id is not None else ""))
    if inserted.outcome == "unchanged":
        raise typer.Exit(ExitCode.NOTHING)


@app.command("set")
def set_(
    context: typer.Context,
    table: Table,
    words: Annotated[list[str], typer.Argument(help="The key's values, then NAME=VALUE or NAME:null.")],
    index: IndexName = "PRIMARY",
    limit: Annotated[int, typer.Option(help="The most rows; 0 = all.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Change the row with this key. Exit code 1 if there is none."""
    with said_plainly():
        is_value = [("=" in word and not word.startswith("=")) or word.endswith(":null") for word in words]
        key_size = is_value.index(True) if True in is_value else len(words)
        row = assignments(words[key_size:])
        if not key_size or not row:
            raise ValueError("set TABLE KEY... NAME=VALUE...")
        opened = state_of(context).index(table, ",".join(row), index, port=WRITE_PORT)
        number = opened.update(tuple(words[:key_size]), row, limit=limit or None)
    _print_changed(number, as_json)


@app.command()
def delete(
    context: typer.Context,
    table: Table,
    key: Key,
    op: Op = "=",
    to: To = None,
    index: IndexName = "PRIMARY",
    limit: Annotated[int, typer.Option(help="The most rows; 0 = all.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Delete the row with this key, or rows of a range. Exit code 1 if there is none."""
    with said_plainly():
        state = state_of(context)
        opened = state.connection(WRITE_PORT).open_index(*state.names_of(table), [], index)
        which = _selection(op, to, limit)
        number = opened.delete(tuple(key), cast("rowsocket.Operator", op), **which)
    _print_changed(number, as_json)


@app.command()
def latency(
    context: typer.Context,
    number: Annotated[int, typer.Option("--count", "-n", min=1, help="How many round trips.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """Measure round trips of requests that ask for nothing: network, kernel and worker, without a table."""
    from rowsocket.cli.watching import measure_latency

    with said_plainly():
        measure_latency(state_of(context).connection(READ_PORT), number, as_json)


@app.command()
def top(
    context: typer.Context,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="One interval, and end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch what the server does: its status values, per second. Needs --sql. Ctrl-C ends it."""
    from rowsocket.cli.watching import watch

    with said_plainly(), contextlib.suppress(KeyboardInterrupt):
        sql_url = state_of(context).require_sql("top reads status values")
        watch(sql_url, interval, once or as_json, as_json)


@app.command()
def metrics(
    context: typer.Context,
    listen: Annotated[
        Optional[str], typer.Option(help="HOST:PORT: answer Prometheus there, until Ctrl-C.")
    ] = None,
    textfile: Annotated[
        Optional[Path],
        typer.Option(help="Write them into this file, NAME.prom, for node_exporter.", dir_okay=False),
    ] = None,
    indexes_max: Annotated[
        int, typer.Option("--indexes", min=1, help="The most indexes: those that were used most.")
    ] = 200,
) -> None:
    """Print what was asked of each table, and how long it took, for Prometheus. Needs --sql.

    Exit code 4 if the server does not tell; the file says `rowsocket_up 0` then.
    """
    with said_plainly():
        from rowsocket.cli import metrics as exporting

        sql_url = state_of(context).require_sql("metrics reads tables of information_schema")
        told = exporting.export(exporting.RowSocketCollector(sql_url, indexes_max), listen, textfile)
    if not told:
        raise typer.Exit(ExitCode.NO_ANSWER)


@app.command()
def warm(
    context: typer.Context,
    tables: Annotated[list[str], typer.Argument(help="TABLE of the URL's database, or DATABASE.TABLE.")],
    index: Annotated[
        Optional[list[str]], typer.Option("--index", "-i", help="By name; all of them without.")
    ] = None,
    rate: Annotated[int, typer.Option(min=0, help="The most rows in a second; 0 = any number.")] = 100_000,
    look: Annotated[
        bool, typer.Option("--look", help="Look into a buffer pool of over a million pages, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring tables with their indexes into the buffer pool, and print how much is in. Needs --sql."""
    from rowsocket.cli import warming

    with said_plainly():
        state = state_of(context)
        sql = sql_connection(state.require_sql("warm looks up indexes"))
        chosen = [
            target for table in tables for target in warming.targets(sql, *state.names_of(table), index or [])
        ]
        warming.warm(state.connection(READ_PORT), sql, chosen, rate, look, as_json)


@app.command()
def doctor(
    context: typer.Context,
    storage: Annotated[
        Optional[Path],
        typer.Option(
            help="A folder on the disk of the data: fio measures there, with a file of 1 GiB.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether the server is set up for this: memory, disk, settings. Exit code 1 if something is bad.

    Needs --sql.
    """
    from rowsocket.cli import doctor as doctoring
    from rowsocket.cli.storage import measure

    with said_plainly():
        sql = sql_connection(state_of(context).require_sql("the doctor asks the server"))
        measured = None if storage is None else measure(storage)
        facts = doctoring.look(sql, is_local(sql), measured)
    if not doctoring.show(doctoring.judge(facts), as_json):
        raise typer.Exit(ExitCode.NOTHING)


@app.command()
def bench(
    context: typer.Context,
    table: Table,
    columns: Columns = None,
    seconds: Annotated[float, typer.Option(min=0.1, max=60, help="For each kind of client.")] = 3.0,
    as_json: AsJson = False,
) -> None:
    """Read rows by primary key for some seconds: alone, with 100 tasks, and through SQL. Needs --sql.

    It writes nothing. Python takes much of the time.
    """
    from rowsocket.cli import benching

    with said_plainly():
        state = state_of(context)
        sql = sql_connection(state.require_sql("bench looks up the primary key, and compares with SQL"))
        rows = state.index(table, columns, "PRIMARY").description
        lines = benching.measure(state.connection(READ_PORT), (state.url, READ_PORT), sql, rows, seconds)
    benching.show(lines, as_json)


def run() -> None:
    """The command's beginning and end."""
    state = State()
    try:
        app(obj=state)
    finally:
        state.close()
