# SPDX-License-Identifier: GPL-2.0-only
"""A server with a door for memcached, one for the module's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.memcached import MemcachedConnection, MemcachedServer
from support.tree import ServerTree


@pytest.fixture(scope="session")
def cache_server(tree: ServerTree, template: Path) -> Iterator[MemcachedServer]:
    """The session's server with a container `default` on app.item."""
    with MemcachedServer(tree, template) as server:
        server.prepare()
        yield server


@pytest.fixture
def cache(cache_server: MemcachedServer) -> Iterator[MemcachedConnection]:
    """A connection; app.item is empty."""
    cache_server.sql("DELETE FROM app.item")
    with cache_server.memcached() as connection:
        yield connection
