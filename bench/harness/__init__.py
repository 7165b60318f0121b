# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench`: RowSocket beside what a user would pick instead, in one run, on this machine.

Read in this order:

    ../traffic               what is asked, and what must be answered
    scenario.py              what a text file of bench/scenarios means: cases, peers, goals
    peers/                   what is measured: a file for each peer
    servers.py, data.py      their servers, one for each set of options, on data that is filled once
    player.py, measuring.py  one run of bench/player; one measurement, with the fsyncs that the server counts
    budget.py, runner.py     rounds of peers in turn, within the minutes that are given
    figures.py, goals.py     medians, spreads, ratios round by round; whether a goal is met
    progress.py              what the terminal shows meanwhile
    results.py, facts.py     results.jsonl: machine and build first, then one line for each measurement
    summary.py               the table for the terminal
    markdown.py              figures.md for the repository
    report.py, charts.py     report.html, with plots
    peers_chart.py           the picture of the README, from figures.md
    changes.py               `--compare A B`
    paired.py                `--against PLUGIN.so`: two builds in one server
    stacks.py, flame.py      `./x profile`
    clients.py, askers.py    `./x bench clients`: what a get costs the process that asks

Servers run on core 0, the player on core 1. A wrong answer of any peer ends the run.
"""

import sys
from pathlib import Path

# The servers are started by what starts them for the tests, and the Python client is asked as it lies here.
for _folder in ("clients/python/src", "tests"):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / _folder))
