# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the tests of histories.

checker   the built checker
server    one server for all histories without a crash, with several workers on each port
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from linearizability.checking import Checker, build
from linearizability.scene import WORKERS
from support.mariadb import RowSocketServer
from support.tree import ServerTree


@pytest.fixture(scope="session")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    """See above."""
    return Checker(build(tmp_path_factory.mktemp("checker")))


@pytest.fixture(scope="module")
def server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """See above."""
    with RowSocketServer(tree, template, WORKERS) as server:
        yield server
