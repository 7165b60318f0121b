# SPDX-License-Identifier: MIT
"""Verbs whose help is plain text in every version of typer.

Where rich is installed, typer 0.13 to 0.15 (Debian 13 has 0.15) escape the brackets of `[required]` and
`[default: 20]` for rich, also where rich does not print the help.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Verb(TyperCommand):
    """One verb."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """As its base, with brackets as they are."""
        super().format_options(ctx, formatter)
        _unescape(formatter)


class Verbs(TyperGroup):
    """The command itself."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """As its base, with brackets as they are."""
        super().format_options(ctx, formatter)
        _unescape(formatter)


def _unescape(formatter: Any) -> None:
    formatter.buffer = [text.replace("\\[", "[") for text in formatter.buffer]
