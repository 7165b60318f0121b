# SPDX-License-Identifier: MIT
"""The connections of a process, for all threads and all caches with the same settings.

Django makes a cache object for each thread. They share one pool. After a fork (gunicorn and uWSGI fork their
workers from a process that may have used the cache already) the child begins with none: two processes that
talk on one connection would get each other's answers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

from rowsocket.executor import Index
from rowsocket.pool import ConnectionPool

WRITE_PORT = 9999
"""Where a URL names no port; it serves reads, too."""

Settings = tuple[str, tuple[tuple[str, Any], ...]]
"""A URL, and the other arguments of `ConnectionPool`."""


def settings_of(url: str, options: Mapping[str, Any]) -> Settings:
    """What names a pool. Raises TypeError and ValueError for what no pool can be made of."""
    settings = (url, tuple(sorted(options.items())))
    hash(settings)
    _make(settings)  # which connects to nothing
    return settings


def database_of(settings: Settings) -> str | None:
    """The database that the URL names."""
    return _make(settings)._options.database


def index(settings: Settings, database: str, table: str, columns: tuple[str, ...]) -> Index[Any]:
    """The primary key of the table of a cache, opened with these columns on this process's pool.

    Raises RowSocketError.
    """
    return _process.index(settings, (database, table, columns))


def _make(settings: Settings) -> ConnectionPool:
    url, options = settings
    return ConnectionPool(url, **{"port": WRITE_PORT, "retries": 3, **dict(options)})


class _Process:
    """The pools of this process and the indexes that were opened on them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the two below
        self._pools: dict[Settings, ConnectionPool] = {}
        self._indexes: dict[tuple[Settings, tuple[str, str, tuple[str, ...]]], Index[Any]] = {}

    def index(self, settings: Settings, names: tuple[str, str, tuple[str, ...]]) -> Index[Any]:
        found = self._indexes.get((settings, names))
        if found is not None:
            return found
        with self._lock:
            if settings not in self._pools:
                self._pools[settings] = _make(settings)
            pool = self._pools[settings]
        database, table, columns = names
        opened = pool.open_index(database, table, columns, filter_columns=("expires", "number", "value"))
        with self._lock:
            return self._indexes.setdefault((settings, names), opened)


_process = _Process()


def _forget() -> None:
    """In a child, after a fork: close its copies of the parent's sockets; the parent does not notice."""
    global _process
    _process = _Process()


os.register_at_fork(after_in_child=_forget)
