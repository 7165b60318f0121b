# SPDX-License-Identifier: MIT
"""The shell: the verbs of the command line by line, with completion of names, and a history."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pymysql
import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from rowsocket.cli.output import ExitCode, is_terminal, plain, print_error
from rowsocket.cli.state import READ_PORT, State
from rowsocket.cli.words import in_line, line_begun, name_in_word, names_begun, one_name, words_of

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
OF_TABLES = ("get", "find", "count", "put", "set", "delete", "warm", "bench")
OPERATORS = ("=", ">", ">=", "<", "<=", "^=")
OWN = {
    "use": "use DATABASE: the one of tables without a database in their name",
    "help": "help: this; VERB --help: all that a verb takes",
    "exit": "exit, or Ctrl-D",
}


def options_of(app: typer.Typer) -> dict[str, list[str]]:
    """The options of each verb."""
    group: Any = typer.main.get_command(app)
    return {
        name: [*(word for one in verb.params for word in one.opts if word.startswith("--")), "--help"]
        for name, verb in group.commands.items()
    }


class NameCompleter(Completer):
    """Verbs first, then tables, then columns; indexes and columns behind their options."""

    def __init__(self, state: State, options: Mapping[str, Sequence[str]]) -> None:
        self._state, self._options = state, options

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What the word before the cursor may become, with the backticks and quotes that it needs."""
        before, begun, size = line_begun(document.text_before_cursor)
        try:
            found = list(self._words(before, begun))
        except (ValueError, pymysql.err.MySQLError):  # nobody asked to be told while typing
            return
        for word, shown in found:
            yield Completion(in_line(word), -size, display=plain(shown))

    def _words(self, before: list[str], begun: str) -> Iterable[tuple[str, str]]:
        """The words that the begun one may become behind the others, each with what is shown of it.

        Raises ValueError, MySQLError.
        """
        if not before:
            return _beginning(begun, [*VERBS, *OWN])
        catalog = self._state.catalog
        verb, *words = before
        if verb == "use":
            return [] if words else _named(begun, "", catalog.databases())
        last = before[-1]
        if last == "--op":
            return _beginning(begun, OPERATORS)
        if words and last in ("--columns", "-c"):
            said, _ = names_begun(begun, ",")
            columns = catalog.columns(*self._state.names_of(words[0]))
            return _named(begun, ",", [name for name in columns if name not in said])
        if words and last in ("--index", "-i"):
            return _beginning(begun, catalog.indexes(*self._state.names_of(words[0])))
        if begun.startswith("-"):
            return _beginning(begun, self._options.get(verb, ()))
        if verb in OF_TABLES and (not words or (verb == "warm" and not last.startswith("-"))):
            return self._tables(begun)
        if words and verb in ("put", "set"):
            return _named(begun, "", catalog.columns(*self._state.names_of(words[0])), "=")
        return []

    def _tables(self, begun: str) -> Iterable[tuple[str, str]]:
        catalog = self._state.catalog
        said, _ = names_begun(begun, ".")
        if len(said) == 1:
            yield from _named(begun, ".", catalog.tables(said[0]))
        if "`" not in begun or not said:  # a point may also be part of the name
            try:
                own = catalog.tables(self._state.names_of("any")[0])
            except ValueError:
                own = []
            yield from _named(begun, "", own)
            yield from _named(begun, "", catalog.databases(), ".")


def _beginning(begun: str, words: Iterable[str]) -> Iterable[tuple[str, str]]:
    return [(word, word) for word in words if word.startswith(begun)]


def _named(begun: str, separator: str, names: Iterable[str], behind: str = "") -> Iterable[tuple[str, str]]:
    """The begun word with its last name made whole, and what is shown: that name."""
    said, last = names_begun(begun, separator)
    head = "".join(f"{name_in_word(name)}{separator}" for name in said)
    for name in names:
        if name.startswith(last):
            yield f"{head}{name_in_word(name)}{behind}", f"{name}{behind}"


def history_path() -> Path:
    """Where the history of all shells of this user is kept."""
    folder = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(folder) / "rowsocket" / "history"


def run_line(app: typer.Typer, state: State, line: str) -> int | None:
    """Do what one line says; its exit code, or None if it ends the shell."""
    try:
        words = words_of(line)
    except ValueError as error:
        print_error(str(error))
        return ExitCode.USAGE
    if not words:
        return ExitCode.OK
    if words[0] in ("exit", "quit"):
        return None
    if words[0] == "help":
        print("\n".join([*VERBS.values(), *OWN.values()]))
        return ExitCode.OK
    if words[0] == "use":
        return _use(state, words[1:])
    if words[0] not in VERBS:
        print_error(f"no verb {words[0]!r}; `help` lists them")
        return ExitCode.USAGE
    try:
        app(words, obj=state, prog_name="rowsocket")
    except SystemExit as end:  # the verb has said what was wrong
        return end.code if isinstance(end.code, int) else ExitCode.OK
    return ExitCode.OK


def _use(state: State, names: list[str]) -> int:
    if len(names) != 1:
        print_error("use DATABASE")
        return ExitCode.USAGE
    try:
        state.database = one_name(names[0])
    except ValueError as error:
        print_error(str(error))
        return ExitCode.USAGE
    return ExitCode.OK


def run_shell(app: typer.Typer, state: State) -> int:
    """Do lines until the end: those that somebody types, with a prompt; those of a pipe or a file, without.

    The exit code: of lines that were not typed, that of the first one that was not done. Raises
    RowSocketError if the server can not be reached.
    """
    state.connection(READ_PORT).ping()
    if is_terminal(sys.stdin) and is_terminal(sys.stdout):
        _run_typed(app, state)
        return ExitCode.OK
    return _run_piped(app, state)


def _run_piped(app: typer.Typer, state: State) -> int:
    if sys.stdin is None:  # it was closed before the command began
        return ExitCode.OK
    first: int = ExitCode.OK
    # What is no UTF-8 is told where it is used.
    with open(sys.stdin.fileno(), encoding="utf-8", errors="surrogateescape", closefd=False) as lines:
        for line in lines:
            code = run_line(app, state, line)
            if code is None:
                break
            sys.stdout.flush()  # who writes the lines may wait for the answer
            first = first or code
    return first


def _history() -> History:
    """That of all shells of this user; only that of this one where there can be none."""
    try:
        path = history_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        path.chmod(0o600)  # it has the values that were typed
    except (OSError, RuntimeError, KeyError) as error:  # the last two of a user who has no home
        print_error(f"keeps no history: {error}")
        return InMemoryHistory()
    return FileHistory(str(path))


def _run_typed(app: typer.Typer, state: State) -> None:
    session: PromptSession[str] = PromptSession(
        history=_history(),
        completer=NameCompleter(state, options_of(app)),
        complete_while_typing=False,
    )
    print("`help` lists the verbs; TAB completes.")
    while True:
        try:
            if run_line(app, state, session.prompt(f"{plain(state.database or '')}> ")) is None:
                return
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
