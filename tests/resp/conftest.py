# SPDX-License-Identifier: GPL-2.0-only
"""A server with a door for RESP, one for the session's tests, and the programs that come from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.resp import RespConnection, RespServer
from support.tree import ServerTree


@pytest.fixture(scope="session")
def resp_server(tree: ServerTree, template: Path) -> Iterator[RespServer]:
    """The session's server: a container `default` on app.item, and tables in shop."""
    with RespServer(tree, template) as server:
        server.prepare()
        yield server


@pytest.fixture
def emptied(resp_server: RespServer) -> RespServer:
    """The same, with no rows."""
    for table in ("app.item", "shop.user", "shop.orders"):
        resp_server.sql(f"DELETE FROM {table}")
    return resp_server


@pytest.fixture
def resp(emptied: RespServer) -> Iterator[RespConnection]:
    """A connection; the tables are empty."""
    with emptied.resp() as connection:
        yield connection
