# SPDX-License-Identifier: GPL-2.0-only
"""Entry point: `python -m rowsocket_x`, started by the script `x`."""

from rowsocket_x.cli import main

main()
