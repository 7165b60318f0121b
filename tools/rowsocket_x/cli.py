# SPDX-License-Identifier: GPL-2.0-only
"""The verbs of `./x` and their options. Each verb only reads its options and calls the module that does the work."""

from pathlib import Path
from typing import Annotated

import typer

from rowsocket_x import build as building
from rowsocket_x import setup as setting_up
from rowsocket_x.console import Problem, say

app = typer.Typer(
    name="./x",
    help="Everything one does with a checkout of RowSocket. Start with `./x run`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def setup(
    renew: Annotated[bool, typer.Option("--renew", help="Look for a newer MariaDB than the one that is there.")] = False,
) -> None:
    """Install what is missing: system packages (apt), the matched MariaDB server and its private headers (.rowsocket/).

    Root (or sudo) is only needed when a system package is missing. The server is unpacked into the project folder; a MariaDB
    that is installed on this machine is neither used nor touched. Other verbs do this by themselves.
    """
    server = setting_up.everything(renew=renew)
    say(f"MariaDB {server.version}: server in {server.tree}, headers in {server.headers}")


@app.command()
def build(
    preset: Annotated[building.Preset, typer.Option(help="What to build; see CMakePresets.json.")] = building.Preset.RELEASE,
    headers: Annotated[
        Path | None,
        typer.Option(
            help="Private headers of another server to build the plugin for: a folder like those in .rowsocket/source, or an "
            "installed one with server/private in it, such as /usr/include/mysql.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Build into build/PRESET.

    release is the plugin and everything else; no-server leaves the plugin out and needs no MariaDB; debug has AddressSanitizer and
    UBSan, tsan ThreadSanitizer, for everything outside src/mariadb; fuzz makes the libFuzzer programs.
    """
    folder = building.build(preset, headers=headers)
    if preset.needs_server:
        say(f"plugin: {building.plugin(folder)}")


def main() -> None:
    """Run the command line. Problems that the user can mend end it with exit code 1 and no traceback."""
    try:
        app()
    except Problem as problem:
        problem.show()
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
