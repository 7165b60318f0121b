# SPDX-License-Identifier: GPL-2.0-only
"""A client library that knows nothing of RowSocket: redis-py, in both versions of RESP."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

import pytest
import redis

from support.mariadb import Start
from support.resp import RespServer


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def client(emptied: RespServer, request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    with redis.Redis(port=emptied.resp_port, protocol=request.param, decode_responses=True) as client:
        yield client


def execute(client: redis.Redis, *words: str | int) -> object:
    """A command that the library has no function for."""
    return client.execute_command(*words)  # type: ignore[no-untyped-call]


def test_strings(client: redis.Redis, emptied: RespServer) -> None:
    assert client.get("a") is None
    assert client.set("a", "1") is True
    assert client.set("a", "2", nx=True) is None
    assert client.set("a", "2", xx=True, get=True) == "1"
    assert client.setnx("b", "x") is True
    assert client.mset({"c": "3", "d": "4"}) is True
    assert client.mget("a", "none", "d") == ["2", None, "4"]
    assert client.getdel("d") == "4"
    assert client.append("c", "0") == 2 and client.strlen("c") == 2
    assert client.delete("a", "b", "none") == 2
    assert client.exists("c", "a") == 1
    assert client.type("c") == "string"
    assert emptied.sql("SELECT k, v FROM app.item") == [(b"c", b"30")]


def test_numbers(client: redis.Redis) -> None:
    assert client.incr("n") == 1
    assert client.incrby("n", 41) == 42
    assert client.decrby("n", 50) == -8
    client.set("n", "ten")
    with pytest.raises(redis.ResponseError, match="not an integer"):
        client.incr("n")


def test_expiry(client: redis.Redis) -> None:
    client.set("a", "1", ex=100)
    assert client.ttl("a") == 100
    assert client.expire("a", 50, lt=True) is True or 1
    assert client.ttl("a") == 50
    assert client.persist("a")
    assert client.ttl("a") == -1
    client.setex("a", 100, "2")
    assert client.getex("a", persist=True) == "2"
    assert client.ttl("a") == -1 and client.ttl("none") == -2


def test_any_bytes_are_a_value(emptied: RespServer) -> None:
    with redis.Redis(port=emptied.resp_port) as client:
        value = bytes(range(256)) * 400
        client.set(b"\x00\xff\r\n", value)
        assert client.get(b"\x00\xff\r\n") == value


def test_rows_are_hashes(client: redis.Redis, emptied: RespServer) -> None:
    assert client.hset("shop.user:42", mapping={"name": "Ann", "email": "ann@example.org"}) == 2
    assert client.hget("shop.user:42", "name") == "Ann"
    assert client.hgetall("shop.user:42") == {"id": "42", "name": "Ann", "email": "ann@example.org"}
    assert client.hmget("shop.user:42", ["name", "visits"]) == ["Ann", None]
    assert client.hincrby("shop.user:42", "visits", 5) == 5
    assert client.hincrbyfloat("shop.user:42", "balance", 0.5) == 0.5
    assert client.hexists("shop.user:42", "visits")
    assert client.hdel("shop.user:42", "visits") == 1
    assert not client.hexists("shop.user:42", "visits")
    assert client.hkeys("shop.user:42") == ["id", "name", "email", "balance"]
    assert client.hlen("shop.user:42") == 4
    assert client.hsetnx("shop.user:42", "visits", "1") in (True, 1)
    assert emptied.sql("SELECT id, name, visits FROM shop.user") == [(42, "Ann", 1)]
    emptied.sql("UPDATE shop.user SET name = 'Bob'")
    assert client.hget("shop.user:42", "name") == "Bob"
    assert client.delete("shop.user:42") == 1 and client.hgetall("shop.user:42") == {}


def test_a_pipeline_is_a_transaction_or_is_none(client: redis.Redis, emptied: RespServer) -> None:
    client.hset("shop.user:1", mapping={"name": "Ann", "visits": 1})
    with client.pipeline(transaction=True) as pipeline:
        pipeline.hincrby("shop.user:1", "visits", 1)
        pipeline.set("a", "1")
        pipeline.hget("shop.user:1", "visits")
        assert pipeline.execute() == [2, True, "2"]
    with client.pipeline(transaction=True) as pipeline:
        pipeline.hincrby("shop.user:1", "visits", 1)
        pipeline.hset("shop.user:2", "visits", "1")  # the name has no default
        with pytest.raises(redis.ResponseError, match="name"):
            pipeline.execute()
    assert client.hget("shop.user:1", "visits") == "2"
    with client.pipeline(transaction=False) as pipeline:
        for number in range(3000):
            pipeline.set(f"k{number}", number)
        assert pipeline.execute() == [True] * 3000
    assert emptied.value("SELECT COUNT(*) FROM app.item") == 3001


def test_a_table_without_transactions_refuses_groups(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("CREATE OR REPLACE TABLE shop.log (id INT PRIMARY KEY, v INT) ENGINE=Aria")
    assert client.hset("shop.log:1", "v", "1") == 1
    with client.pipeline(transaction=True) as pipeline:
        pipeline.hset("shop.log:2", "v", "2")
        with pytest.raises(redis.ResponseError, match="no_transactions"):
            pipeline.execute()


def test_ranges(client: redis.Redis, emptied: RespServer) -> None:
    for number in range(1, 6):
        client.hset(f"shop.orders:1:{number}", mapping={"customer": number % 2, "total": number * 10})
    latest: list[str | int] = ["IN", 0, 2, 0, 1, "EACH", 2, "REVERSE"]
    found = execute(client, "ROWS.FIND", "shop.orders@by_customer", "number", "=", 1, 0, *latest)
    assert found == [["4"], ["2"], ["5"], ["3"]]
    named = execute(client, "ROWS.FIND", "shop.orders", "number,total", "=", 2, 1, 3, "NAMES")
    as_map = {"number": "3", "total": "30"}
    assert named == [as_map] or named == [["number", "3", "total", "30"]]
    assert execute(client, "ROWS.COUNT", "shop.orders", ">=", 1, 1, "WHERE", "total", ">", 20) == 3


def test_counts_of_many_clients_add_up(emptied: RespServer) -> None:
    emptied.sql("INSERT INTO shop.user (id, name) VALUES (1, 'Ann')")

    def count() -> None:
        with redis.Redis(port=emptied.resp_port) as client:
            for _ in range(100):
                client.incr("n")
                client.hincrby("shop.user:1", "visits", 1)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert emptied.value("SELECT v FROM app.item WHERE k = 'n'") == b"800"
    assert emptied.value("SELECT visits FROM shop.user") == 800


@pytest.mark.parametrize("is_group", [False, True], ids=["mset", "multi"])
def test_sets_of_the_same_keys_by_many_clients_meet_no_deadlock(start: Start, is_group: bool) -> None:
    """Sixteen workers change the same twenty rows in any order, ten of them at a time."""
    server = start(RespServer, {"loose-rowsocket-threads-write": 16})
    server.prepare()
    errors: list[str] = []

    def change(number: int) -> None:
        chance = random.Random(number)
        with redis.Redis(port=server.resp_port) as client:
            for value in range(30):
                pairs = {f"k{chance.randrange(20)}": str(value) for _ in range(10)}
                try:
                    if is_group:
                        with client.pipeline(transaction=True) as pipeline:
                            for key, text in pairs.items():
                                pipeline.set(key, text)
                            pipeline.execute()
                    else:
                        client.mset(pairs)
                except redis.ResponseError as error:
                    errors.append(str(error))

    threads = [threading.Thread(target=change, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
