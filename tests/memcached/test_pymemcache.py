# SPDX-License-Identifier: GPL-2.0-only
"""A client library that knows nothing of RowSocket: pymemcache."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from pymemcache.client.base import Client  # type: ignore[import-untyped]
from pymemcache.exceptions import MemcacheServerError  # type: ignore[import-untyped]

from support.memcached import MemcachedConnection, MemcachedServer


@pytest.fixture
def client(cache: MemcachedConnection, cache_server: MemcachedServer) -> Iterator[Any]:
    address = ("127.0.0.1", cache_server.memcached_port)
    with contextlib.closing(Client(address, timeout=20, default_noreply=False)) as client:
        yield client


def test_it_stores_and_finds(client: Any, cache_server: MemcachedServer) -> None:
    assert client.set("a", b"1") is True
    assert client.get("a") == b"1"
    assert client.get("b", default="none") == "none"
    assert client.set_many({"b": b"2", "c": b"3"}) == []
    assert client.get_many(["a", "b", "c", "d"]) == {"a": b"1", "b": b"2", "c": b"3"}
    assert cache_server.sql("SELECT COUNT(*) FROM app.item") == [(3,)]


def test_it_adds_replaces_joins_and_deletes(client: Any) -> None:
    assert client.replace("a", b"1") is False
    assert client.add("a", b"b") is True
    assert client.add("a", b"x") is False
    assert client.append("a", b"c") is True and client.prepend("a", b"a") is True
    assert client.get("a") == b"abc"
    assert client.delete("a") is True and client.delete("a") is False
    assert client.delete_many(["a", "b"]) is True


def test_it_counts(client: Any) -> None:
    assert client.incr("n", 1) is None
    client.set("n", b"10")
    assert client.incr("n", 5) == 15
    assert client.decr("n", 100) == 0


def test_it_compares_and_sets(client: Any) -> None:
    assert client.cas("a", b"1", b"5") is None
    client.set("a", b"1")
    value, cas = client.gets("a")
    assert value == b"1"
    assert client.cas("a", b"2", cas) is True
    assert client.cas("a", b"3", cas) is False
    assert client.gets_many(["a"])["a"][0] == b"2"


def test_it_touches(client: Any) -> None:
    assert client.touch("a", 10) is False
    client.set("a", b"1", expire=100)
    assert client.touch("a", -1) is True
    assert client.get("a") is None


def test_it_can_be_silent(client: Any) -> None:
    client.set("a", b"1", noreply=True)
    client.incr("a", 1, noreply=True)
    client.delete("b", noreply=True)
    assert client.get("a") == b"2"


def test_it_asks_about_the_server(client: Any) -> None:
    assert client.version() == b"1.6.18-rowsocket"
    assert int(client.stats()[b"curr_connections"]) >= 1


def test_it_is_told_of_errors(client: Any) -> None:
    with pytest.raises(MemcacheServerError, match="there is no such container"):
        client.get("@@none.a")
