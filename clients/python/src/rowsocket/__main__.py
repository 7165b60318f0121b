# SPDX-License-Identifier: MIT
"""`python -m rowsocket` is the command `rowsocket`."""

from rowsocket.cli import main

main()
