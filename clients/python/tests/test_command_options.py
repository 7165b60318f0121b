# SPDX-License-Identifier: MIT
"""The command's options, as typer sees them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner

from fake_server import FakeServer, Peer
from rowsocket.cli.app import app
from rowsocket.cli.output import ExitCode
from rowsocket.cli.state import State


def test_options_are_no_text_which_typer_does_not_see_on_python_3_9() -> None:
    functions = [command.callback for command in app.registered_commands]
    assert len(functions) > 8
    for function in functions:
        assert function is not None
        written = inspect.signature(function).parameters.values()
        assert not [one.name for one in written if isinstance(one.annotation, str)], function.__name__


def test_pip_takes_no_typer_that_lets_in_a_click_which_does_not_fit_it() -> None:
    """With it, every verb would print the version and end with 0."""
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    [least] = re.findall(r'"typer>=([\d.]+)"', project)
    assert tuple(map(int, least.split("."))) >= (0, 15, 4)


@pytest.mark.parametrize("words", [[], ["get"], ["find"], ["top"]])
def test_help_is_plain_where_typer_escapes_brackets_for_rich(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    for base in (TyperCommand, TyperGroup):
        monkeypatch.setattr(base, "format_options", escaping(base.format_options))
    told = CliRunner().invoke(app, [*words, "--help"]).output
    assert "[" in told
    assert "\\" not in told


def escaping(format_options: Any) -> Any:
    """What writes help as typer 0.15 does."""

    def write(self: Any, ctx: Any, formatter: Any) -> None:
        format_options(self, ctx, formatter)
        formatter.buffer = [text.replace("[", "\\[") for text in formatter.buffer]

    return write


@pytest.mark.parametrize(
    ("words", "may_be_done"), [(["put", "user", "id=1"], True), (["count", "user", "1"], False)]
)
def test_a_write_without_an_answer_may_have_been_done(words: list[str], may_be_done: bool) -> None:
    def conversation(peer: Peer) -> None:
        peer.read()
        peer.send(b"0\t1\n")
        peer.read()

    with FakeServer(*[conversation] * (1 if may_be_done else 2)) as server:  # a read is sent once more
        url = f"rowsocket://127.0.0.1:{server.port}/shop"
        done = CliRunner().invoke(app, ["--url", url, *words], obj=State())
    assert (done.exit_code, "may have been done" in done.output) == (ExitCode.NO_ANSWER, may_be_done), (
        done.output
    )
