# SPDX-License-Identifier: MIT
"""The shell: the verbs of the command line by line, with completion of names, and a history."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql
import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory

from rowsocket.cli.output import print_error

if TYPE_CHECKING:
    from rowsocket.cli.app import State

VERBS = {
    "get": "get TABLE KEY...",
    "find": "find TABLE KEY... [--op '>='] [--to '<VALUE'] [--limit N] [--reverse] [--index NAME]",
    "count": "count TABLE KEY... [--op '>=']",
    "put": "put TABLE NAME=VALUE... [--if-absent]",
    "set": "set TABLE KEY... NAME=VALUE...",
    "delete": "delete TABLE KEY... [--op '>=']",
    "latency": "latency [--count N]",
    "top": "top [--interval SECONDS]",
    "metrics": "metrics [--listen HOST:PORT | --textfile FILE]",
    "warm": "warm TABLE... [--index NAME] [--rate ROWS]",
    "doctor": "doctor [--storage FOLDER]",
    "bench": "bench TABLE [--seconds SECONDS]",
}
OWN = {
    "use": "use DATABASE: the one of tables without a database in their name",
    "help": "help: this; VERB --help: all that a verb takes",
    "exit": "exit, or Ctrl-D",
}


class NameCompleter(Completer):
    """Verbs first, then tables, then columns; indexes and columns behind their options."""

    def __init__(self, state: State) -> None:
        self._state = state

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What the word before the cursor may become."""
        words = document.text_before_cursor.split(" ")
        begun = words[-1]
        try:
            names = self.names(words[:-1], begun)
        except (ValueError, pymysql.err.MySQLError):  # nobody asked to be told while typing
            return
        head, comma, last = begun.rpartition(",") if self._lists(words) else ("", "", begun)
        for name in names:
            if name.startswith(last):
                yield Completion(head + comma + name, -len(begun), display=name)

    @staticmethod
    def _lists(words: list[str]) -> bool:
        return len(words) > 1 and words[-2] in ("--columns", "-c")

    def names(self, before: list[str], begun: str) -> list[str]:
        """The names that fit behind these words."""
        catalog = self._state.catalog
        if not before:
            return [*VERBS, *OWN]
        if before == ["use"]:
            return catalog.databases()
        if len(before) == 1:
            return self._tables(begun)
        database, table = self._state.names_of(before[1])
        if before[-1] in ("--columns", "-c"):
            return catalog.columns(database, table)
        if before[-1] in ("--index", "-i"):
            return catalog.indexes(database, table)
        if before[0] in ("put", "set"):
            return [f"{name}=" for name in catalog.columns(database, table)]
        return ["--columns", "--index", "--json", "--limit", "--op", "--to"] if begun.startswith("-") else []

    def _tables(self, begun: str) -> list[str]:
        database, dot, _ = begun.rpartition(".")
        if dot:
            return [f"{database}.{table}" for table in self._state.catalog.tables(database)]
        try:
            own = self._state.catalog.tables(self._state.names_of("any")[0])
        except ValueError:
            own = []
        return own + [f"{database}." for database in self._state.catalog.databases()]


def history_path() -> Path:
    """Where the history of all shells of this user is kept."""
    folder = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(folder) / "rowsocket" / "history"


def run_line(app: typer.Typer, state: State, line: str) -> bool:
    """Do what one line says; False if it ends the shell."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        print_error(str(error))
        return True
    if not words:
        return True
    if words[0] in ("exit", "quit"):
        return False
    if words[0] == "help":
        print("\n".join([*VERBS.values(), *OWN.values()]))
    elif words[0] == "use" and len(words) == 2:
        state.database = words[1]
    elif words[0] not in VERBS:
        print_error(f"no verb {words[0]!r}; `help` lists them")
    else:
        with contextlib.suppress(SystemExit):  # the verb has said what was wrong
            app(words, obj=state, prog_name="rowsocket")
    return True


def run_shell(app: typer.Typer, state: State) -> None:
    """Read and do lines until the end. Raises RowSocketError if the server can not be reached."""
    from rowsocket.cli.app import READ_PORT

    state.connection(READ_PORT).ping()
    path = history_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(path)), completer=NameCompleter(state), complete_while_typing=False
    )
    print("`help` lists the verbs; TAB completes.")
    goes_on = True
    while goes_on:
        try:
            goes_on = run_line(app, state, session.prompt(f"{state.database or ''}> "))
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
