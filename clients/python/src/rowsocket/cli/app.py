# SPDX-License-Identifier: MIT
"""The verbs of the command. Each is one function, which the shell runs as well."""

# No `from __future__ import annotations`: on Python 3.9, typer does not see what text says.
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Optional

import typer

import rowsocket
from rowsocket.cli import row_verbs
from rowsocket.cli.catalog import Catalog, is_local, sql_connection
from rowsocket.cli.output import ExitCode, whole_output
from rowsocket.cli.plain_help import Verb, Verbs
from rowsocket.cli.row_verbs import AsJson, Columns, Table
from rowsocket.cli.state import READ_PORT, State, said_plainly, state_of
from rowsocket.cli.words import VerbWithValues

PINGS_MAX = 10_000_000
"""The time of each is remembered."""

app = typer.Typer(
    cls=Verbs,
    help="Rows of MariaDB's tables, by key, through RowSocket. Without a verb: a shell.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


for verb, name in (
    *((verb, verb.__name__) for verb in (row_verbs.get, row_verbs.find, row_verbs.count, row_verbs.put)),
    (row_verbs.set_, "set"),
    (row_verbs.delete, "delete"),
):
    app.command(name, cls=VerbWithValues)(verb)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"rowsocket {rowsocket.__version__}")
        raise typer.Exit


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
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version, and end."),
    ] = False,
) -> None:
    """Rows of MariaDB's tables, by key, through RowSocket. Without a verb: a shell."""
    state = context.ensure_object(State)
    if url is not None:
        state.url = url
    if sql is not None and sql != state.sql_url:
        state.catalog.close()
        state.sql_url, state.catalog = sql, Catalog(sql)
    if context.invoked_subcommand is None:
        from rowsocket.cli.shell import run_shell

        with said_plainly():
            code = run_shell(app, state)
        raise typer.Exit(code)


@app.command(cls=Verb)
def latency(
    context: typer.Context,
    number: Annotated[
        int, typer.Option("--count", "-n", min=1, max=PINGS_MAX, help="How many round trips.")
    ] = 1000,
    as_json: AsJson = False,
) -> None:
    """Measure round trips of requests that ask for nothing: network, kernel and worker, without a table."""
    from rowsocket.cli.watching import measure_latency

    with said_plainly():
        measure_latency(state_of(context).connection(READ_PORT), number, as_json)


@app.command(cls=Verb)
def top(
    context: typer.Context,
    interval: Annotated[float, typer.Option(min=0.1, max=86_400, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="One interval, and end.")] = False,
    rows: Annotated[
        Optional[int],
        typer.Option(
            min=0, help="The most tables, and clients; 0 = all. Without: for what there is room, or 20."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch what the server does: requests, times, tables, clients. Needs --sql. q or Ctrl-C ends it."""
    from rowsocket.cli.watching import TopOptions, watch

    with said_plainly(), suppress(KeyboardInterrupt):
        sql_url = state_of(context).require_sql("top looks")
        watch(sql_url, TopOptions(interval, once, as_json, rows))


@app.command(cls=Verb)
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

    Exit code 3 if the server refuses, 4 if it does not tell; the file says `rowsocket_up 0` then.
    """
    with said_plainly():
        from rowsocket.cli import metrics as exporting

        sql_url = state_of(context).require_sql("metrics reads tables of information_schema")
        code = exporting.export(exporting.RowSocketCollector(sql_url, indexes_max), listen, textfile)
    if code is not ExitCode.OK:
        raise typer.Exit(code)


@app.command(cls=Verb)
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
        with closing(sql_connection(state.require_sql("warm looks up indexes"))) as sql:
            names = [state.names_of(table) for table in tables]
            chosen = [target for name in names for target in warming.targets(sql, *name, index or [])]
            warming.warm(state.connection(READ_PORT), sql, chosen, rate, look, as_json)


@app.command(cls=Verb)
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
        sql_url = state_of(context).require_sql("the doctor asks the server")
        with closing(sql_connection(sql_url)) as sql:
            measured = None if storage is None else measure(storage)
            facts = doctoring.look(sql, is_local(sql), measured)
    if not doctoring.show(doctoring.judge(facts), as_json):
        raise typer.Exit(ExitCode.NOTHING)


@app.command(cls=Verb)
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
        sql_url = state.require_sql("bench looks up the primary key, and compares with SQL")
        with closing(sql_connection(sql_url)) as sql:
            rows = state.index(table, columns, "PRIMARY").description
            lines = benching.measure(state.connection(READ_PORT), (state.url, READ_PORT), sql, rows, seconds)
    benching.show(lines, as_json)


def run() -> None:
    """The command's beginning and end."""
    state = State()
    try:
        with whole_output():
            app(obj=state)
    finally:
        state.close()
