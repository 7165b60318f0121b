# SPDX-License-Identifier: MIT
"""The command's options, as typer sees them."""

from __future__ import annotations

import inspect

from rowsocket.cli.app import app


def test_options_are_no_text_which_typer_does_not_see_on_python_3_9() -> None:
    functions = [command.callback for command in app.registered_commands]
    assert len(functions) > 8
    for function in functions:
        assert function is not None
        written = inspect.signature(function).parameters.values()
        assert not [one.name for one in written if isinstance(one.annotation, str)], function.__name__
