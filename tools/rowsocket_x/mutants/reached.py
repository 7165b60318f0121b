# SPDX-License-Identifier: GPL-2.0-only
"""A plugin of pytest that writes down which changes each test comes by: one line of JSON per test.

ROWSOCKET_MUTANTS_REACHED names the folder for the lines. Each process of pytest has a file and a state of its
own there, because they run beside each other.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowsocket_x.mutants.state import NAME, REACHED_FOLDER, State

_failed: set[str] = set()


def _own(suffix: str) -> Path:
    return Path(os.environ[REACHED_FOLDER]) / f"{os.environ.get('PYTEST_XDIST_WORKER', 'all')}.{suffix}"


def pytest_configure(config: pytest.Config) -> None:
    """Give the servers of this process a state of their own."""
    State(_own("state")).make()
    os.environ[NAME] = str(_own("state"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember who failed: such a test can notice nothing."""
    if report.failed:
        _failed.add(report.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run one test, and add its line. What servers do between two tests counts for the later one."""
    state = State(_own("state"))
    start_s = time.monotonic()
    yield
    reached = {
        "test": item.nodeid,
        "seconds": round(time.monotonic() - start_s, 3),
        "passed": item.nodeid not in _failed,
        "reached": state.reached(),
    }
    state.forget_reached()
    with _own("jsonl").open("a") as file:
        file.write(json.dumps(reached) + "\n")
