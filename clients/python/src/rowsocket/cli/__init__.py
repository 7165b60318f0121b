# SPDX-License-Identifier: MIT
"""The command `rowsocket`: rows of tables at a terminal, and in scripts. It needs `rowsocket[cli]`."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit code behind Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command; ends the process with its exit code."""
    try:
        from rowsocket.cli.app import run

        run()
    except ModuleNotFoundError as error:  # also of what only the shell needs
        print(f"rowsocket: {error}; the command needs: pip install 'rowsocket[cli]'", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
