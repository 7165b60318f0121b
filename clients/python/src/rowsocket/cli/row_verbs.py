# SPDX-License-Identifier: MIT
"""The verbs about rows: get, find, count, put, set, delete. `app.py` makes commands of them."""

# No `from __future__ import annotations`: on Python 3.9, typer does not see what text says.
from collections.abc import Sequence
from typing import Annotated, Optional, cast

import typer

import rowsocket
from rowsocket._selection import LARGEST
from rowsocket.cli.output import ExitCode, print_error, print_json, print_rows
from rowsocket.cli.state import READ_PORT, WRITE_PORT, said_plainly, state_of
from rowsocket.cli.words import assignments, is_assignment, key_of, value_of

FIRST_INDEX = "0"
"""The primary key, where there is one."""

Table = Annotated[str, typer.Argument(help="TABLE of the URL's database, or DATABASE.TABLE.")]
Key = Annotated[
    list[str],
    typer.Argument(
        help="One value for each of the first parts of the index; :null, :hex=FF00, :base64=/wA=."
    ),
]
Columns = Annotated[Optional[str], typer.Option("--columns", "-c", help="Names with commas between them.")]
IndexName = Annotated[str, typer.Option("--index", "-i", help="By name, or by number from 0.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON: one object a line.")]
Op = Annotated[str, typer.Option(help="How rows stand to the key: = > >= < <=, or ^= (starts with).")]
To = Annotated[
    Optional[str],
    typer.Option(
        help="The other end of a range: '<' or '<=' (or '>', '>=') and a value, of the key's last part."
    ),
]
Limit = Annotated[int, typer.Option(min=0, max=LARGEST, help="The most rows; 0 = all.")]
Assignments = Annotated[list[str], typer.Argument(help="NAME=VALUE, NAME:null, NAME:hex=FF00.")]


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
        row = rows.get(*key_of(key))
    if row is None:
        if not as_json:
            print_error("no such row")
        raise typer.Exit(ExitCode.NOTHING)
    print_rows([row], rows.description.columns, as_json)


def _selection(
    key: Sequence[rowsocket.Value], to: Optional[str], limit: int, offset: int = 0, reverse: bool = False
) -> rowsocket.Selection:
    which: rowsocket.Selection = {"limit": limit or None, "offset": offset}
    if to is not None:
        operator = to[:2] if to[1:2] == "=" else to[:1]
        # Both ends have the parts before the last one: one value alone would be compared with the first part.
        end = (*key[:-1], value_of(to[len(operator) :]))
        which["to"] = (cast("rowsocket.RangeOperator", operator), end)
    if reverse:
        which["reverse"] = True
    return which


def find(
    context: typer.Context,
    table: Table,
    key: Key,
    op: Op = "=",
    to: To = None,
    limit: Limit = 20,
    offset: Annotated[int, typer.Option(min=0, max=LARGEST, help="Rows to leave out first.")] = 0,
    reverse: Annotated[bool, typer.Option("--reverse", help="From the other end.")] = False,
    columns: Columns = None,
    index: IndexName = "PRIMARY",
    as_json: AsJson = False,
) -> None:
    """Print the rows that stand so to the key, in the order of the index. Exit code 1 if there is none."""
    with said_plainly():
        opened = state_of(context).index(table, columns, index)
        values = key_of(key)
        which = _selection(values, to, limit, offset, reverse)
        rows = opened.find(values, cast("rowsocket.Operator", op), **which)
    if rows or not as_json:
        print_rows(rows, opened.description.columns, as_json)
    if not rows:
        raise typer.Exit(ExitCode.NOTHING)


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
        values = key_of(key)
        which = _selection(values, to, 0)
        number = opened.count(values, cast("rowsocket.Operator", op), **which)
    print_json({"count": number}) if as_json else print(number)


def _print_changed(number: int, as_json: bool) -> None:
    print_json({"changed": number}) if as_json else print(f"{number} row{'' if number == 1 else 's'}")
    if number == 0:
        raise typer.Exit(ExitCode.NOTHING)


def put(
    context: typer.Context,
    table: Table,
    values: Assignments,
    if_absent: Annotated[bool, typer.Option("--if-absent", help="Leave a row that is there alone.")] = False,
    index: Annotated[
        str, typer.Option("--index", "-i", help="Any that has an order; which one makes no difference.")
    ] = FIRST_INDEX,
    as_json: AsJson = False,
) -> None:
    """Insert a row, or change the one that has its unique key already. Exit code 1 if nothing changed."""
    with said_plainly():
        row = assignments(values)
        opened = state_of(context).index_to_write(table, tuple(row), index)
        inserted = opened.insert_ignore(row) if if_absent else opened.upsert(row)
    if as_json:
        print_json({"outcome": inserted.outcome, "id": inserted.id})
    else:
        print(inserted.outcome + (f", id {inserted.id}" if inserted.id is not None else ""))
    if inserted.outcome == "unchanged":
        raise typer.Exit(ExitCode.NOTHING)


def key_size_of(words: list[str], said: Optional[int]) -> int:
    """How many of the words of `set` are the key: so many as were said, or all before the assignments. The
    first one is, however it is spelt. Raises ValueError.
    """
    if said is None:
        said = next((at for at, word in enumerate(words) if at and is_assignment(word)), len(words))
    if said >= len(words):
        raise ValueError("set TABLE KEY... NAME=VALUE...: there is no NAME=VALUE behind the key")
    return said


def set_(
    context: typer.Context,
    table: Table,
    words: Annotated[list[str], typer.Argument(help="The key's values, then NAME=VALUE or NAME:null.")],
    index: IndexName = "PRIMARY",
    key_parts: Annotated[
        Optional[int],
        typer.Option(min=1, help="So many words are the key. Without: the first, and all before NAME=VALUE."),
    ] = None,
    limit: Limit = 1,
    as_json: AsJson = False,
) -> None:
    """Change the row with this key. Exit code 1 if there is none."""
    with said_plainly():
        key_size = key_size_of(words, key_parts)
        key, row = key_of(words[:key_size]), assignments(words[key_size:])
        opened = state_of(context).index_to_write(table, tuple(row), index)
        number = opened.update(key, row, limit=limit or None)
    _print_changed(number, as_json)


def delete(
    context: typer.Context,
    table: Table,
    key: Key,
    op: Op = "=",
    to: To = None,
    index: IndexName = "PRIMARY",
    limit: Limit = 1,
    as_json: AsJson = False,
) -> None:
    """Delete the row with this key, or rows of a range. Exit code 1 if there is none."""
    with said_plainly():
        state = state_of(context)
        opened = state.connection(WRITE_PORT).open_index(*state.names_of(table), [], index)
        values = key_of(key)
        which = _selection(values, to, limit)
        number = opened.delete(values, cast("rowsocket.Operator", op), **which)
    _print_changed(number, as_json)
