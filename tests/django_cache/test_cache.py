# SPDX-License-Identifier: GPL-2.0-only
"""What Django's own tests do not ask of a cache (test_own.py runs those): the table, expiry, atomic changes,
threads, forks, accounts.
"""

from __future__ import annotations

import asyncio
import io
import os
import pickle
import threading
import time
import urllib.parse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import override_settings

import rowsocket
from rowsocket._names import quoted
from rowsocket.django import cache as backend
from rowsocket.django import pools, schema
from rowsocket.django.cache import RowSocketCache
from support.accounts import PASSWORD, account
from support.caches import DATABASE, TABLE
from support.mariadb import RowSocketServer
from support.scripts import feed

Make = Callable[..., RowSocketCache]
FULL = f"{quoted(DATABASE)}.{quoted(TABLE)}"


def rows(server: RowSocketServer) -> int:
    """Of the table, expired ones too."""
    [[count]] = server.sql(f"SELECT COUNT(*) FROM {FULL}")
    return int(count)


def let_expire(server: RowSocketServer, key: str) -> None:
    """As if the time of a key had come."""
    server.sql(f"UPDATE {FULL} SET expires = UNIX_TIMESTAMP() * 1000000 - 1 WHERE cache_key = '{key}'")


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2**63,
        10**30,
        True,
        False,
        None,
        1.5,
        "",
        "ü\x00\t\n",
        b"\x00\xff",
        [1, {2}],
    ],
)
def test_a_value_comes_back_as_it_was(cache: RowSocketCache, value: object) -> None:
    cache.set("key", value)
    assert cache.get("key", "missing") == value
    assert type(cache.get("key")) is type(value)
    assert cache.get_many(["key"]) == {"key": value}


def test_keys_that_sql_would_take_for_equal_are_two(cache: RowSocketCache) -> None:
    cache.set_many({"a": 1, "A": 2, "ä": 3, "a ": 4, "a\x00": 5})
    assert cache.get_many(["a", "A", "ä", "a ", "a\x00", "b"]) == {
        "a": 1,
        "A": 2,
        "ä": 3,
        "a ": 4,
        "a\x00": 5,
    }


@pytest.mark.filterwarnings("ignore::django.core.cache.CacheKeyWarning")
def test_a_key_of_any_length_is_one_of_its_own(cache: RowSocketCache) -> None:
    long = "ü" * 2000
    cache.set_many({long + "a": 1, long + "b": 2})
    assert cache.get_many([long + "a", long + "b", long]) == {long + "a": 1, long + "b": 2}


def test_many_keys_and_large_values_take_several_requests(
    cache: RowSocketCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "KEYS_PER_REQUEST", 7)
    monkeypatch.setattr(backend, "BYTES_PER_REQUEST", 2000)
    data = {f"key{number}": b"x" * (number * 40) for number in range(100)}
    cache.set_many(data)
    assert cache.get_many(data) == data
    cache.delete_many([key for key in data if key != "key50"])
    assert cache.get_many(data) == {"key50": data["key50"]}


def test_values_that_do_not_fit_one_reply_take_several(
    cache: RowSocketCache, server: RowSocketServer
) -> None:
    data = {f"key{number}": b"x" * 300_000 for number in range(9)}
    cache.set_many(data)
    [[before]] = server.sql("SELECT @@rowsocket_max_reply_bytes")
    server.sql("SET GLOBAL rowsocket_max_reply_bytes = 1000000")
    try:
        assert cache.get_many(data) == data
        cache.set("large", b"x" * 1_100_000)
        with pytest.raises(rowsocket.RequestError, match="replylen"):
            cache.get_many(["key1", "large"])
    finally:
        server.sql(f"SET GLOBAL rowsocket_max_reply_bytes = {before}")


def test_a_value_that_is_too_large_does_not_harm_the_next_call(cache: RowSocketCache) -> None:
    for number in range(5):
        with pytest.raises(rowsocket.RequestError, match="toolong"):
            cache.set("large", b"x" * 17_000_000)
        cache.set("small", number)
        assert cache.get("small") == number


def test_the_protocol_of_pickle_can_be_chosen(make_cache: Make, server: RowSocketServer) -> None:
    make_cache(OPTIONS={"pickle_protocol": 2}).set("key", "text")
    [[value]] = server.sql(f"SELECT value FROM {FULL}")
    assert value == pickle.dumps("text", 2)


# ── expiry ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_has_expired_is_a_miss_to_every_call(cache: RowSocketCache, server: RowSocketServer) -> None:
    misses: list[Callable[[], bool]] = [
        lambda: cache.get("key") is None,
        lambda: cache.get_many(["key"]) == {},
        lambda: not cache.has_key("key"),
        lambda: not cache.touch("key", 100),
        lambda: not cache.delete("key"),
    ]
    for is_missed in misses:
        cache.set("key", 1)
        let_expire(server, ":1:key")
        assert is_missed()
    cache.set("key", 1)
    let_expire(server, ":1:key")
    with pytest.raises(ValueError, match="not found"):
        cache.incr("key")
    assert cache.add("key", 2)
    assert not cache.add("key", 3)
    assert cache.get("key") == 2


def test_a_time_without_end_is_never(cache: RowSocketCache, server: RowSocketServer) -> None:
    for timeout in (None, float("inf"), 1e300):
        cache.set("key", 1, timeout)
        assert server.sql(f"SELECT expires FROM {FULL}") == [(schema.NEVER,)]
        assert cache.touch("key", timeout)
    cache.set("key", 1, float("-inf"))
    assert rows(server) == 0
    with pytest.raises(ValueError, match="NaN"):
        cache.set("key", 1, float("nan"))


def test_a_time_that_is_over_stores_nothing_and_deletes(
    cache: RowSocketCache, server: RowSocketServer
) -> None:
    for timeout in (0, -1, -0.5):
        cache.set_many({"a": 1, "b": 2, "c": 3})
        cache.set("a", 9, timeout)
        cache.set_many({"b": 9}, timeout)
        cache.touch("c", timeout)
        assert cache.add("d", 9, timeout)
        assert rows(server) == 0


def test_incr_leaves_the_expiry_as_it_was(cache: RowSocketCache, server: RowSocketServer) -> None:
    cache.set("number", 1, 1000)
    cache.set("float", 1.5, None)
    before = server.sql(f"SELECT cache_key, expires FROM {FULL}")
    assert (cache.incr("number", 4), cache.incr("float", 2), cache.decr("number", 7)) == (5, 3.5, -2)
    assert server.sql(f"SELECT cache_key, expires FROM {FULL}") == before


def test_the_event_deletes_what_has_expired_and_nothing_else(
    cache: RowSocketCache, server: RowSocketServer
) -> None:
    cache.set_many({f"old{number}": number for number in range(schema.ROWS_PER_STEP + 5)})
    server.sql(f"UPDATE {FULL} SET expires = UNIX_TIMESTAMP() * 1000000 - 1")
    cache.set("new", 1, 1000)
    cache.set("ever", 1, None)
    event = schema.create_event(DATABASE, TABLE).replace("EVERY 1 MINUTE", "EVERY 1 SECOND")
    server.sql(event)
    server.sql("SET GLOBAL event_scheduler = ON")
    try:
        server.wait_until("swept the table", lambda: rows(server) == 2)
    finally:
        server.sql("SET GLOBAL event_scheduler = OFF")
    assert cache.get_many(["new", "ever"]) == {"new": 1, "ever": 1}


# ── several clients ─────────────────────────────────────────────────────────────────────────────────────────


def test_no_increment_is_lost_between_threads(cache: RowSocketCache) -> None:
    cache.set_many({"number": 0, "float": 0.0})
    with ThreadPoolExecutor(8) as threads:
        for key in ("number", "float"):
            list(threads.map(lambda _, key=key: cache.incr(key), range(80)))
    assert cache.get_many(["number", "float"]) == {"number": 80, "float": 80.0}


def test_one_of_many_adds_succeeds(cache: RowSocketCache, server: RowSocketServer) -> None:
    cache.set("over", 1)
    let_expire(server, ":1:over")
    with ThreadPoolExecutor(8) as threads:
        for key in ("fresh", "over"):
            added = list(threads.map(lambda number, key=key: cache.add(key, number), range(32)))
            assert added.count(True) == 1
            assert cache.get(key) == added.index(True)


def test_a_number_beyond_64_bits_is_still_exact(cache: RowSocketCache) -> None:
    cache.set("number", 2**63 - 1)
    assert cache.incr("number") == 2**63
    assert cache.decr("number", 2**64) == -(2**63)
    assert cache.incr("number", 1) == -(2**63) + 1


def test_threads_share_the_connections_of_a_process(make_cache: Make, server: RowSocketServer) -> None:
    before = connections(server)
    caches = [make_cache(OPTIONS={"max_size": 2, "idle_timeout": 100.0}) for _ in range(8)]
    barrier = threading.Barrier(8)

    def use(cache: RowSocketCache) -> None:
        barrier.wait()
        for _ in range(20):
            cache.set("key", 1)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, caches))
    assert 1 <= connections(server) - before <= 2


def connections(server: RowSocketServer) -> int:
    """To the write port, as the server counts them."""
    [[_, count]] = server.sql("SHOW GLOBAL STATUS LIKE 'Rowsocket_connections_write'")
    return int(count)


def test_a_child_has_connections_of_its_own(cache: RowSocketCache) -> None:
    """As the workers of gunicorn, whose parent has used the cache."""
    cache.set("shared", 0)
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            ok = False
            try:
                for _ in range(50):
                    cache.set(f"own{number}", number)
                    cache.incr("shared")
                    assert cache.get(f"own{number}") == number
                ok = True
            finally:
                os._exit(0 if ok else 1)
        children.append(child)
    for _ in range(50):
        cache.incr("shared")
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert cache.get("shared") == 250


def test_asyncio_has_the_same_calls(cache: RowSocketCache) -> None:
    async def use() -> object:
        await cache.aset("number", 1, None)
        await cache.aset_many({"a": 1, "b": 2})
        assert await cache.aincr("number", 2) == 3 and await cache.adecr("number") == 2
        assert await cache.ahas_key("a") and await cache.aadd("c", 3) and await cache.atouch("c", 10)
        await cache.adelete_many(["a"])
        return await cache.aget_many(["a", "b", "c"])

    assert asyncio.run(use()) == {"b": 2, "c": 3}


# ── settings ────────────────────────────────────────────────────────────────────────────────────────────────


def test_reads_can_go_to_another_port(make_cache: Make, tables: str, server: RowSocketServer) -> None:
    reads = tables.replace(str(server.write_port), str(server.read_port))
    cache = make_cache(LOCATION=[tables, reads])
    cache.set("key", 1)
    cache.incr("key")
    assert (cache.get("key"), cache.has_key("key"), cache.get_many(["key"])) == (2, True, {"key": 2})


def test_an_account_stands_in_the_url(server: RowSocketServer, make_cache: Make, tables: str) -> None:
    grants = [f"SELECT, INSERT, UPDATE, DELETE ON {FULL}"]
    with account(server, "cached@localhost", grants=grants):
        right = tables.replace("127.0.0.1", f"cached:{urllib.parse.quote(PASSWORD)}@127.0.0.1")
        cache = make_cache(LOCATION=right)
        cache.set("key", 1)
        assert (cache.incr("key"), cache.add("key", 1), cache.delete("key")) == (2, False, True)
        cache.clear()
        with pytest.raises(rowsocket.AuthenticationError):
            make_cache(LOCATION=right.replace(urllib.parse.quote(PASSWORD), "hush")).get("key")


@pytest.mark.parametrize(
    ("location", "options", "says"),
    [
        ("rowsocket://127.0.0.1:9999", {}, "database"),
        ("redis://127.0.0.1/app", {}, "rowsocket://"),
        ("rowsocket://127.0.0.1/app", {"colour": 1}, "colour"),
        ("rowsocket://127.0.0.1/app", {"time_zone": ["UTC"]}, "unhashable"),
        (["rowsocket://127.0.0.1/app"] * 3, {}, "LOCATION"),
        ("rowsocket://app:hush/hush@127.0.0.1/app", {}, "percent-encode"),
    ],
)
def test_a_mistake_in_the_settings_is_told_without_the_password(
    location: str, options: dict[str, object], says: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=says) as told:
        RowSocketCache(location, {"OPTIONS": options})
    assert "hush" not in str(told.value)


def test_without_its_table_the_cache_says_so(make_cache: Make) -> None:
    with pytest.raises(rowsocket.OpenTableError, match="no_such"):
        make_cache(OPTIONS={"table": "no_such"}).get("key")


def test_a_server_that_went_away_is_found_again(make_cache: Make, server: RowSocketServer) -> None:
    """A read whose connection is lost is sent again; the pool goes on."""
    cache = make_cache(OPTIONS={"max_size": 1})
    cache.set("key", 1)
    with pools.index(cache._writes, DATABASE, TABLE, schema.KEYED)._executor.connection() as connection:  # type: ignore[attr-defined]
        connection._link._socket.shutdown(2)
    assert cache.get("key") == 1


# ── the command ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_prints_statements_that_make_the_table(tables: str, server: RowSocketServer) -> None:
    mine = {
        "BACKEND": "rowsocket.django.cache.RowSocketCache",
        "LOCATION": tables,
        "OPTIONS": {"table": "printed"},
    }
    other = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    with override_settings(CACHES={"default": mine, "other": other}):
        out = io.StringIO()
        call_command("createrowsocketcache", dry_run=True, stdout=out)
        feed(server, out.getvalue())
        RowSocketCache(tables, mine).set("key", 1)
        with pytest.raises(CommandError, match="does not use RowSocket"):
            call_command("createrowsocketcache", "other", dry_run=True)
        with pytest.raises(CommandError, match="no MariaDB"):
            call_command("createrowsocketcache")
    [[events]] = server.sql(
        f"SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '{DATABASE}'"
    )
    assert events == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nope"], "CACHES has no 'nope'"),
        (["broken"], "CACHES\\['broken'\\]: .*rowsocket.nothing"),
        ([], "CACHES\\['broken'\\]: .*rowsocket.nothing"),
        (["elsewhere"], "CACHES\\['elsewhere'\\]: a cache of RowSocket: .*http://"),
        (["default", "--database", "nope"], "DATABASES has no 'nope'"),
    ],
)
def test_what_the_command_is_told_wrongly_is_an_error_of_the_command(words: list[str], says: str) -> None:
    mine = {"BACKEND": "rowsocket.django.cache.RowSocketCache", "LOCATION": "rowsocket://127.0.0.1/app"}
    caches = {
        "default": mine,
        "broken": {"BACKEND": "rowsocket.nothing.Cache"},
        "elsewhere": {**mine, "LOCATION": "http://127.0.0.1/app"},
    }
    with override_settings(CACHES=caches), pytest.raises(CommandError, match=says):
        call_command("createrowsocketcache", *words)


def test_clear_deletes_rows_of_every_prefix(make_cache: Make, server: RowSocketServer) -> None:
    make_cache(KEY_PREFIX="one").set("key", 1)
    make_cache(KEY_PREFIX="two", VERSION=3).set_many({f"key{n}": n for n in range(schema.ROWS_PER_STEP * 2)})
    make_cache().clear()
    assert rows(server) == 0


def test_a_timeout_in_fractions_of_a_second_is_kept(cache: RowSocketCache, server: RowSocketServer) -> None:
    before = time.time()
    cache.set("key", 1, 100.25)
    [[expires]] = server.sql(f"SELECT expires FROM {FULL}")
    assert before + 100.25 <= int(expires) / 1e6 + 1e-6 <= time.time() + 100.25
