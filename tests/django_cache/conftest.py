# SPDX-License-Identifier: GPL-2.0-only
"""A Django with its caches on a real server.

tables      the URL of RowSocket's write port, with a database of its own that the tables of caches are in
make_cache  make_cache(KEY_PREFIX="x", OPTIONS={...}): a cache on an empty table
cache       one of them
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import django
import pytest
from django.conf import settings

from rowsocket._names import quoted
from rowsocket.django import schema
from rowsocket.django.cache import RowSocketCache
from support.caches import DATABASE, TABLE
from support.mariadb import RowSocketServer


def pytest_configure() -> None:
    if not settings.configured:
        settings.configure(
            SECRET_KEY="of the tests",
            USE_TZ=True,
            INSTALLED_APPS=["rowsocket.django"],
            DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        )
        django.setup()


@pytest.fixture
def tables(server: RowSocketServer) -> Iterator[str]:
    server.sql(f"CREATE DATABASE {quoted(DATABASE)}")
    server.sql(schema.create_table(DATABASE, TABLE))
    yield f"rowsocket://127.0.0.1:{server.write_port}/django%20caches"
    server.sql(f"DROP DATABASE {quoted(DATABASE)}")


@pytest.fixture
def make_cache(tables: str) -> Callable[..., RowSocketCache]:
    def make(**params: Any) -> RowSocketCache:
        options = {"table": TABLE, **params.pop("OPTIONS", {})}
        return RowSocketCache(params.pop("LOCATION", tables), {**params, "OPTIONS": options})

    return make


@pytest.fixture
def cache(make_cache: Callable[..., RowSocketCache]) -> RowSocketCache:
    return make_cache()
