# SPDX-License-Identifier: GPL-2.0-only
"""flush_all: a DELETE in bounded steps, where it is allowed."""

from __future__ import annotations

from support.memcached import CREATE_ITEMS, MemcachedConnection, MemcachedServer
from support.plugin import changed


def test_flush_all_is_not_allowed(cache: MemcachedConnection) -> None:
    cache.store("set a 0 0", b"1")
    assert cache.word("flush_all") == "CLIENT_ERROR flush_all not allowed"
    assert cache.value("a") == b"1"


FLUSH_ROWS_PER_STEP = 1000


def test_flush_all_deletes_the_rows_of_one_container_in_steps(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql(CREATE_ITEMS.format(table="app.many"))
    cache_server.contain("many", "app.many")
    cache_server.sql("INSERT INTO app.many (k, v) SELECT seq, 'x' FROM app.seq_1_to_5000")
    cache.store("set a 0 0", b"1")
    commits = cache_server.counter("commits")
    with changed(cache_server, allows_flush="ON"):
        cache.ask("get @@many")
        cache.send(b"flush_all\r\nget 7\r\nset 7 0 0 1\r\ny\r\nflush_all noreply\r\nget 7 @@default.a\r\n")
        expected = [b"OK", b"END", b"STORED", b"VALUE @@default.a 0 1", b"1", b"END"]
        assert [line.removesuffix(b"\r") for line in cache.lines(len(expected))] == expected
    assert cache_server.counter("commits") - commits >= 5000 // FLUSH_ROWS_PER_STEP
    assert cache_server.value("SELECT COUNT(*) FROM app.many") == 0


def test_flush_all_is_refused_where_a_step_can_not_begin_behind_the_one_before(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    """The last key of the first step, 1234567, is told with six digits, which are those of 1234570."""
    cache_server.sql("CREATE OR REPLACE TABLE app.floats (k FLOAT PRIMARY KEY, v INT)")
    cache_server.contain("floats", "app.floats", flags="0", cas=None, expires=None)
    cache_server.sql("INSERT INTO app.floats SELECT 1233567 + seq, 1 FROM app.seq_1_to_2000")
    with changed(cache_server, allows_flush="ON"):
        cache.ask("get @@floats")
        assert cache.word("flush_all").startswith("SERVER_ERROR container 'floats': no_such_index")
    assert cache_server.value("SELECT COUNT(*) FROM app.floats") == 2000


def test_flush_all_of_an_empty_table_is_ok(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    with changed(cache_server, allows_flush="ON"):
        flushes = int(cache.stats()["cmd_flush"])
        assert cache.word("flush_all") == "OK"
        assert cache.word("flush_all 0") == "OK"
        assert int(cache.stats()["cmd_flush"]) == flushes + 2


def test_other_clients_are_served_during_a_flush(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    """A row that SQL has locked keeps the flush waiting, in the middle of the table."""
    cache_server.sql("INSERT INTO app.item (k, v) SELECT 10000 + seq, 'x' FROM app.seq_1_to_3000")
    with changed(cache_server, allows_flush="ON"), cache_server.connect() as holder:
        holder.begin()
        holder.cursor().execute("UPDATE app.item SET v = 'y' WHERE k = '11500'")
        parked = cache_server.counter("parked")
        cache.send(b"flush_all\r\n")
        cache_server.wait_until("the flush waits", lambda: cache_server.counter("parked") > parked)
        with cache_server.memcached() as other:
            assert other.value("10001") is None, "the first step is committed"
            assert other.value("12999") == b"x"
            assert other.store("set late 0 0", b"1") == "STORED"
        holder.commit()
        assert cache.line() == b"OK\r"
    assert cache_server.value("SELECT COUNT(*) FROM app.item WHERE k <> 'late'") == 0
