# SPDX-License-Identifier: GPL-2.0-only
"""SETNX, MSET and memcached's add begin with the new row: triggers and ids see what they see in SQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.memcached import MemcachedConnection
from support.resp import RespConnection, RespServer

IGNORE = "INSERT IGNORE INTO app.twin (k, v, expires) VALUES ('a', 'new', 0)"
UPSERT = (
    "INSERT INTO app.twin (k, v, expires) VALUES ('a', 'new', 0)"
    " ON DUPLICATE KEY UPDATE v = VALUES(v), expires = VALUES(expires)"
)


@pytest.fixture(params=["expires", None], ids=["expiry", "no_expiry"])
def watched(resp_server: RespServer, request: pytest.FixtureRequest) -> RespServer:
    """The container `watched`, its twin for SQL, and a log of the triggers of both. Each has the row `a`."""
    resp_server.sql("CREATE OR REPLACE TABLE app.log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40))")
    for table in ("watched", "twin"):
        resp_server.sql(
            f"CREATE OR REPLACE TABLE app.{table} (k VARCHAR(20) PRIMARY KEY, v VARCHAR(20),"
            " expires INT DEFAULT 0, n INT AUTO_INCREMENT, other INT DEFAULT 0, KEY (n))"
        )
        for moment in ("BEFORE", "AFTER"):
            for event in ("INSERT", "UPDATE", "DELETE"):
                resp_server.sql(
                    f"CREATE TRIGGER app.{table}_{moment}_{event} {moment} {event} ON app.{table}"
                    f" FOR EACH ROW INSERT INTO app.log (what) VALUES ('{moment} {event}')"
                )
        resp_server.sql(f"INSERT INTO app.{table} (k, v, other) VALUES ('a', 'old', 7)")
    resp_server.contain("watched", "app.watched", flags="0", cas=None, expires=request.param)
    logged(resp_server)
    return resp_server


@pytest.fixture
def cache(watched: RespServer) -> Iterator[MemcachedConnection]:
    with watched.memcached() as connection:
        yield connection


def logged(server: RespServer) -> list[str]:
    """Which triggers ran since the last call."""
    ran = [row[0] for row in server.sql("SELECT what FROM app.log ORDER BY id")]
    server.sql("DELETE FROM app.log")
    return ran


def assert_twins(server: RespServer, ran: list[str], statement: str) -> None:
    """SQL's statement runs the same triggers, leaves the same rows, and the same next id."""
    server.sql(statement)
    assert logged(server) == ran
    for table in ("watched", "twin"):
        server.sql(f"INSERT INTO app.{table} (k) VALUES ('next')")
    rows = server.sql("SELECT * FROM app.watched ORDER BY k")
    assert rows == server.sql("SELECT * FROM app.twin ORDER BY k")


@pytest.mark.parametrize("command", [("SETNX", "@@watched.a", "new"), ("SET", "@@watched.a", "new", "NX")])
def test_a_row_that_is_there_is_kept_as_insert_ignore_keeps_it(
    watched: RespServer, resp: RespConnection, command: tuple[str, ...]
) -> None:
    assert resp.command(*command) in (b":0\r\n", b"$-1\r\n")
    assert_twins(watched, logged(watched), IGNORE)


def test_an_add_keeps_it_in_the_same_way(watched: RespServer, cache: MemcachedConnection) -> None:
    assert cache.store("add @@watched.a 0 0", b"new") == "NOT_STORED"
    assert_twins(watched, logged(watched), IGNORE)


def test_an_mset_is_an_upsert(watched: RespServer, resp: RespConnection) -> None:
    assert resp.command("MSET", "@@watched.a", "new") == b"+OK\r\n"
    assert_twins(watched, logged(watched), UPSERT)


def test_a_set_is_an_upsert(watched: RespServer, cache: MemcachedConnection) -> None:
    assert cache.store("set @@watched.a 0 0", b"new") == "STORED"
    assert_twins(watched, logged(watched), UPSERT)


def test_a_set_that_asks_for_the_row_first_runs_no_trigger(watched: RespServer, resp: RespConnection) -> None:
    assert resp.command("SET", "@@watched.a", "new", "NX", "GET") == b"$3\r\nold\r\n"
    assert logged(watched) == []
    assert_twins(watched, [], "DO 0")


@pytest.mark.parametrize("watched", ["expires"], indirect=True)
@pytest.mark.parametrize("protocol", ["resp", "memcached"])
def test_an_expired_row_is_changed_and_keeps_its_other_columns(
    watched: RespServer, resp: RespConnection, cache: MemcachedConnection, protocol: str
) -> None:
    for table in ("watched", "twin"):
        watched.sql(f"UPDATE app.{table} SET expires = 1")
    logged(watched)
    if protocol == "resp":
        assert resp.command("SETNX", "@@watched.a", "new") == b":1\r\n"
    else:
        assert cache.store("add @@watched.a 0 0", b"new") == "STORED"
    assert_twins(watched, logged(watched), UPSERT)
    assert watched.sql("SELECT v, other FROM app.watched WHERE k = 'a'") == [("new", 7)]
