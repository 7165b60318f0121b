# SPDX-License-Identifier: GPL-2.0-only
"""The server's query cache never answers with what a write over RowSocket has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rowsocket
from rowsocket import Connection, EngineError, Index
from support.mariadb import Database, RowSocketServer, Start


class CachedQuery:
    """A query whose answer is in the query cache whenever `cached` says so."""

    def __init__(self, server: RowSocketServer, query: str) -> None:
        self.server = server
        self.query = query

    def _hits(self) -> int:
        return int(self.server.status("Qcache_hits")["Qcache_hits"])

    def cached(self) -> int:
        """Ask until the answer comes from the cache; the answer."""
        before = self._hits()
        self.server.wait_until(
            "the answer comes from the cache", lambda: self.answer() is not None and self._hits() > before
        )
        return self.answer()

    def answer(self) -> int:
        return int(self.server.value(self.query))


@pytest.fixture
def caching(start: Start) -> RowSocketServer:
    """A server with a query cache, and in `d` a table of parents 1 to 5 and one of a child each."""
    server = start(RowSocketServer, {"query-cache-type": 1, "query-cache-size": "4M"})
    database = Database(server, "d")
    database.sql("CREATE TABLE p (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0)")
    database.sql("CREATE TABLE c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES p (id) ON DELETE CASCADE)")
    for table in ("p", "c"):
        database.sql(f"INSERT INTO {table} (id) SELECT seq FROM seq_1_to_5")
    return server


@pytest.fixture
def writing(caching: RowSocketServer) -> Iterator[Connection]:
    """A client on the write port of `caching`."""
    with rowsocket.connect(*caching.write_address(), text=True) as connection:
        yield connection


HALF_DONE = {
    "an insert": (b"1\t++\t2\t2\t4\t4\t5\t1", 4),
    "a replacement": (b"1\t++\t2\t1\t1\t2\tR", 2),
    "a delete": (b"2\t>=\t1\t1\t9\t0\tD", 2),
}


@pytest.mark.parametrize("kind", HALF_DONE)
def test_what_stays_of_a_request_that_failed_is_seen(caching: RowSocketServer, kind: str) -> None:
    """Of a table without transactions."""
    caching.sql("CREATE TABLE d.m (id INT PRIMARY KEY, v INT UNIQUE, KEY o (id) USING BTREE) ENGINE=MEMORY")
    caching.sql("INSERT INTO d.m VALUES (1, 1), (2, 2), (3, 3)")
    caching.sql(
        "CREATE TRIGGER d.refuses BEFORE DELETE ON d.m FOR EACH ROW"
        " IF OLD.id = 2 THEN SIGNAL SQLSTATE '45000'; END IF"
    )
    query = CachedQuery(caching, "SELECT COUNT(*) FROM d.m")
    assert query.cached() == 3
    request, left = HALF_DONE[kind]
    with caching.raw("write") as client:
        opened = [b"P\t1\td\tm\t\tid,v", b"P\t2\td\tm\to\tid"]
        assert client.ask_all(*opened) == [b"0\t1"] * 2
        assert client.ask(request).startswith(b"1\t1\t")
    assert query.answer() == left


def test_an_update_is_seen(caching: RowSocketServer, writing: Connection) -> None:
    index = writing.open_index("d", "p", "n")
    query = CachedQuery(caching, "SELECT n FROM d.p WHERE id = 1")
    for number in range(5):
        assert query.cached() == number
        index.increment(1, [1])
        assert query.answer() == number + 1


def test_an_insert_and_a_delete_are_seen(caching: RowSocketServer, writing: Connection) -> None:
    index = writing.open_index("d", "p", "id")
    query = CachedQuery(caching, "SELECT COUNT(*) FROM d.p")
    assert query.cached() == 5
    index.insert([6])
    assert query.answer() == query.cached() == 6
    index.delete(6)
    assert query.answer() == 5


def test_what_a_delete_takes_from_children_is_seen(caching: RowSocketServer, writing: Connection) -> None:
    index = writing.open_index("d", "p", "id")
    query = CachedQuery(caching, "SELECT COUNT(*) FROM d.c")
    for left in range(5, 0, -1):
        assert query.cached() == left
        assert index.delete(left) == 1
        assert query.answer() == left - 1


def test_what_stays_of_an_insert_that_failed_is_seen(caching: RowSocketServer, writing: Connection) -> None:
    """In an engine without transactions."""
    caching.sql("CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE=MEMORY")
    caching.sql("INSERT INTO d.m VALUES (1), (2), (3)")
    index = writing.open_index("d", "m", "id")
    query = CachedQuery(caching, "SELECT COUNT(*) FROM d.m")
    assert query.cached() == 3
    with pytest.raises(rowsocket.DuplicateKey):
        index.insert_many([[4], [5], [1]])
    assert query.answer() == 5


CHANGES: dict[str, Callable[[Index[Any]], object]] = {
    "update": lambda index: index.increment(1, [1], op=">=", limit=None),
    "delete": lambda index: index.delete(1, op=">=", limit=None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_stays_of_a_change_that_failed_is_seen(
    caching: RowSocketServer, writing: Connection, change: str
) -> None:
    caching.sql("CREATE TABLE d.k (id INT PRIMARY KEY, n INT) ENGINE=Aria")
    caching.sql("INSERT INTO d.k VALUES (1, 1), (2, 2), (3, 3)")
    caching.sql(
        f"CREATE TRIGGER d.keeps BEFORE {change} ON d.k FOR EACH ROW"
        " IF OLD.id = 3 THEN SIGNAL SQLSTATE '45000'; END IF"
    )
    query = CachedQuery(caching, "SELECT SUM(n) FROM d.k")
    assert query.cached() == 6
    with pytest.raises(EngineError):
        CHANGES[change](writing.open_index("d", "k", "n"))
    assert query.answer() == {"update": 8, "delete": 3}[change]
