# SPDX-License-Identifier: GPL-2.0-only
"""memcached's commands on rows that SQL sees, and changes, too."""

from __future__ import annotations

import time

import pytest

from support.mariadb import Start
from support.memcached import MemcachedConnection, MemcachedServer


def row(server: MemcachedServer, key: str) -> tuple[object, ...]:
    """Value, flags and expiry of a row, as SQL sees them."""
    return server.sql("SELECT v, flags, expires FROM app.item WHERE k = %s", [key])[0]


# ---- values


def test_a_value_is_a_row(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    assert cache.store("set a 7 0", b"hello") == "STORED"
    assert row(cache_server, "a") == (b"hello", 7, 0)
    cache_server.sql("UPDATE app.item SET v = 'changed', flags = 8 WHERE k = 'a'")
    assert cache.ask("get a") == [b"VALUE a 8 7", b"changed", b"END"]


def test_many_keys_are_answered_in_their_order_without_those_that_miss(cache: MemcachedConnection) -> None:
    for key in "abc":
        cache.store(f"set {key} 0 0", key.upper().encode())
    assert cache.ask("get c x a c") == [
        b"VALUE c 0 1", b"C", b"VALUE a 0 1", b"A", b"VALUE c 0 1", b"C", b"END",
    ]  # fmt: skip


def test_add_and_replace_look_whether_the_row_is_there(cache: MemcachedConnection) -> None:
    assert cache.store("replace a 0 0", b"1") == "NOT_STORED"
    assert cache.store("add a 0 0", b"2") == "STORED"
    assert cache.store("add a 0 0", b"3") == "NOT_STORED"
    assert cache.store("replace a 0 0", b"4") == "STORED"
    assert cache.value("a") == b"4"


def test_what_stores_nothing_counts_as_no_commit(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.store("add a 0 0", b"1")
    commits = cache_server.counter("commits")
    assert cache.store("add a 0 0", b"2") == "NOT_STORED"
    assert cache.word("delete b") == "NOT_FOUND"
    assert cache_server.counter("commits") == commits
    assert cache.store("set a 0 0", b"2") == "STORED"
    assert cache_server.counter("commits") == commits + 1


def test_append_and_prepend_leave_flags_and_expiry(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    assert cache.store("append a 0 0", b"x") == "NOT_STORED"
    cache.store("set a 5 1000", b"b")
    assert cache.store("append a 9 1", b"c") == "STORED"
    assert cache.store("prepend a 9 1", b"a") == "STORED"
    value, flags, expires = row(cache_server, "a")
    assert (value, flags) == (b"abc", 5)
    assert isinstance(expires, int) and expires > time.time()


def test_incr_wraps_and_decr_stops_at_0(cache: MemcachedConnection) -> None:
    assert cache.word("incr a 1") == "NOT_FOUND"
    cache.store("set a 0 0", b"18446744073709551615")
    assert cache.word("incr a 2") == "1"
    assert cache.word("decr a 5") == "0"
    cache.store("set a 0 0", b"ten")
    assert cache.word("incr a 1") == "CLIENT_ERROR cannot increment or decrement non-numeric value"
    assert cache.value("a") == b"ten"


def test_a_year_is_not_made_of_a_number_that_is_none(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    """The server takes 5 for 2005."""
    cache_server.sql("CREATE OR REPLACE TABLE app.years (k VARBINARY(9) PRIMARY KEY, v YEAR)")
    cache_server.sql("INSERT INTO app.years VALUES ('a', 2000)")
    cache_server.contain("years", "app.years", flags="0", cas=None, expires=None)
    assert cache.word("decr @@years.a 1995").startswith("SERVER_ERROR container 'years': sql 1264")
    assert cache.word("incr @@years.a 5") == "2005"
    assert cache.word("decr @@years.a 3000") == "0000"


def test_bits_are_no_number_that_is_counted(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    """The bytes of a BIT are told as they are, and one of them can be a line end."""
    cache_server.sql("CREATE OR REPLACE TABLE app.bits (k VARBINARY(9) PRIMARY KEY, v BIT(8))")
    cache_server.sql("INSERT INTO app.bits VALUES ('a', 9)")
    cache_server.contain("bits", "app.bits", flags="0", cas=None, expires=None)
    refusal = "CLIENT_ERROR cannot increment or decrement non-numeric value"
    assert cache.word("incr @@bits.a 1") == cache.word("decr @@bits.a 1") == refusal
    assert cache_server.value("SELECT v + 0 FROM app.bits") == 9


def test_delete_says_whether_there_was_a_row(cache: MemcachedConnection) -> None:
    cache.store("set a 0 0", b"1")
    assert cache.word("delete a") == "DELETED"
    assert cache.word("delete a") == "NOT_FOUND"


def test_noreply_is_answered_with_no_byte(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    cache.send(
        b"set a 0 0 1 noreply\r\n1\r\nincr a 1 noreply\r\nappend a 0 0 1 noreply\r\n0\r\n"
        b"set @@none.a 0 0 1 noreply\r\nx\r\ndelete b noreply\r\ntouch a 0 noreply\r\nverbosity 1 noreply\r\n"
    )
    assert cache.ask("get a") == [b"VALUE a 0 2", b"20", b"END"]


# ---- cas


def test_cas_stores_where_nobody_has_changed_the_row(cache: MemcachedConnection) -> None:
    assert cache.store("cas a 0 0 1", b"x") == "NOT_FOUND"
    cache.store("set a 0 0", b"1")
    seen = cache.cas("a")
    assert cache.store(f"cas a 0 0 {seen}", b"2") == "STORED"
    assert cache.store(f"cas a 0 0 {seen}", b"3") == "EXISTS"
    assert cache.value("a") == b"2"


def test_each_write_gives_a_row_another_cas(cache: MemcachedConnection) -> None:
    seen = []
    for write in ("set a 0 0", "set a 0 0", "append a 0 0", "replace a 0 0"):
        cache.store(write, b"1")
        seen.append(cache.cas("a"))
    cache.word("incr a 1")
    seen.append(cache.cas("a"))
    cache.word("delete a")
    cache.store("set a 0 0", b"1")
    seen.append(cache.cas("a"))
    assert len(set(seen)) == len(seen)
    cache.word("touch a 0")
    assert cache.cas("a") == seen[-1], "a touch is no change"


def test_cas_sees_what_sql_has_changed_where_sql_writes_the_cas(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.store("set a 0 0", b"1")
    seen = cache.cas("a")
    cache_server.sql("UPDATE app.item SET v = '2', cas = cas + 1 WHERE k = 'a'")
    assert cache.store(f"cas a 0 0 {seen}", b"3") == "EXISTS"


def test_a_table_can_keep_the_cas_itself(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    cache_server.sql(
        "CREATE OR REPLACE TABLE app.kept (k VARCHAR(50) PRIMARY KEY, v TEXT,"
        " at TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),"
        " cas BIGINT AS (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', at)) VIRTUAL)"
    )
    cache_server.contain("kept", "app.kept", flags="0", cas="=cas", expires=None)
    assert cache.store("set @@kept.a 0 0", b"1") == "STORED"
    seen = cache.cas("@@kept.a")
    assert int(seen) > 0
    cache_server.sql("UPDATE app.kept SET v = '2' WHERE k = 'a'")
    assert cache.store(f"cas @@kept.a 0 0 {seen}", b"3") == "EXISTS"
    assert cache.store(f"cas @@kept.a 0 0 {cache.cas('@@kept.a')}", b"3") == "STORED"
    assert cache.value("@@kept.a") == b"3"


# ---- keys


@pytest.mark.parametrize("key", ["abc", "0abc", "0.4", "99999999999"])
def test_a_key_that_its_column_does_not_take_names_no_row(
    cache: MemcachedConnection, cache_server: MemcachedServer, key: str
) -> None:
    """SQL compares `abc` with a number as 0."""
    cache_server.sql("CREATE OR REPLACE TABLE app.numbered (k INT PRIMARY KEY, v VARBINARY(50))")
    cache_server.sql("INSERT INTO app.numbered VALUES (0, '5'), (1, '5'), (2147483647, '5')")
    cache_server.contain("numbered", "app.numbered", flags="0", cas=None, expires=None)
    assert cache.word(f"delete @@numbered.{key}") == "NOT_FOUND"
    assert cache.word(f"incr @@numbered.{key} 1") == "NOT_FOUND"
    assert cache.store(f"append @@numbered.{key} 0 0", b"7") == "NOT_STORED"
    assert cache.ask(f"get @@numbered.{key} @@numbered.1") == [b"VALUE @@numbered.1 0 1", b"5", b"END"]
    assert list(cache_server.sql("SELECT v FROM app.numbered")) == [(b"5",)] * 3


def test_a_table_with_history_can_be_a_container(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    """The server puts the end of a row's life behind the columns of each unique index."""
    cache_server.sql(
        "CREATE OR REPLACE TABLE app.old (k VARBINARY(50) PRIMARY KEY, v VARBINARY(50))"
        " WITH SYSTEM VERSIONING"
    )
    cache_server.contain("old", "app.old", flags="0", cas=None, expires=None)
    assert cache.store("set @@old.a 0 0", b"1") == "STORED"
    assert cache.store("set @@old.a 0 0", b"2") == "STORED"
    assert cache.word("incr @@old.a 5") == "7"
    assert cache.value("@@old.a") == b"7"
    assert cache.word("delete @@old.a") == "DELETED"
    assert cache.value("@@old.a") is None
    assert cache.word("delete @@old.a") == "NOT_FOUND"
    assert cache.store("add @@old.a 0 0", b"3") == "STORED"
    history = cache_server.sql("SELECT v FROM app.old FOR SYSTEM_TIME ALL ORDER BY row_start")
    assert list(history) == [(b"1",), (b"2",), (b"7",), (b"3",)]


# ---- expiry


def test_an_expiry_is_relative_or_absolute(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    before = int(time.time())
    cache.store("set relative 0 100", b"1")
    cache.store(f"set absolute 0 {before + 1000}", b"1")
    expires = row(cache_server, "relative")[2]
    assert isinstance(expires, int) and before + 100 <= expires <= int(time.time()) + 100
    assert row(cache_server, "absolute")[2] == before + 1000
    assert cache.value("relative") == cache.value("absolute") == b"1"


@pytest.mark.parametrize("exptime", ["-1", "2592001"])
def test_what_has_expired_is_a_miss_to_every_command(
    cache: MemcachedConnection, cache_server: MemcachedServer, exptime: str
) -> None:
    cache.store(f"set a 0 {exptime}", b"1")
    assert cache_server.value("SELECT COUNT(*) FROM app.item") == 1
    assert cache.ask("get a") == cache.ask("gat 10 a") == [b"END"]
    assert cache.word("touch a 10") == cache.word("incr a 1") == cache.word("delete a") == "NOT_FOUND"
    assert cache.store("replace a 0 0", b"2") == cache.store("append a 0 0", b"2") == "NOT_STORED"
    assert cache.store("cas a 0 0 1", b"2") == "NOT_FOUND"
    assert cache.store("add a 0 0", b"3") == "STORED"
    assert cache.value("a") == b"3"


def test_a_row_expires_when_its_time_has_come(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.store("set a 0 1000", b"1")
    cache_server.sql("UPDATE app.item SET expires = UNIX_TIMESTAMP() WHERE k = 'a'")
    assert cache.value("a") is None
    cache_server.sql("UPDATE app.item SET expires = UNIX_TIMESTAMP() + 1000 WHERE k = 'a'")
    assert cache.value("a") == b"1"


def test_touch_and_gat_change_the_expiry(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    cache.store("set a 3 0", b"1")
    assert cache.word("touch a 1000") == "TOUCHED"
    assert row(cache_server, "a")[2] > time.time()  # type: ignore[operator]
    assert cache.ask("gat 0 a x") == [b"VALUE a 3 1", b"1", b"END"]
    assert row(cache_server, "a")[2] == 0
    (head, *_) = cache.ask("gats -1 a")
    assert head.split()[4].decode() != "0"
    assert cache.value("a") is None


# ---- the stream


def test_commands_can_be_sent_before_replies_are_read(cache: MemcachedConnection) -> None:
    count = 2000
    cache.send(b"".join(b"set k%d 0 0 4\r\n%04d\r\nget k%d\r\n" % (n, n, n) for n in range(count)))
    for n in range(count):
        assert cache.lines(4) == [b"STORED\r", b"VALUE k%d 0 4\r" % n, b"%04d\r" % n, b"END\r"]


@pytest.mark.parametrize("size", [0, 1, 2047, 65_536, 1 << 20, 5_000_000])
def test_values_of_any_size(cache: MemcachedConnection, size: int) -> None:
    value = bytes(n % 251 for n in range(min(size, 1000))) * (size // 1000 + 1)
    assert cache.store("set big 0 0", value[:size]) == "STORED"
    assert cache.value("big") == value[:size]


def test_a_value_beyond_the_limit_is_swallowed_exactly(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.store("set a 0 0", b"before")
    cache_server.sql("SET GLOBAL rowsocket_max_line_bytes = 65536")
    try:
        with cache_server.memcached() as client:
            client.send(b"incr x 1\r\nset a 0 0 100000\r\n" + b"get a\r\n" * 14_285 + b"\r\n" * 3 + b"\r")
            client.send(b"\nget a\r\n")
            assert client.lines(5) == [
                b"NOT_FOUND\r",
                b"SERVER_ERROR object too large for cache\r",
                b"ERROR\r",
                b"VALUE a 0 6\r",
                b"before\r",
            ]
    finally:
        cache_server.sql("SET GLOBAL rowsocket_max_line_bytes = DEFAULT")


def test_half_a_command_does_nothing(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    for half in (b"set a 0 0 5\r\nhel", b"set a 0 0 5\r\nhello", b"delete ", b"set a 0 0 5"):
        with cache_server.memcached() as client:
            client.store("set b 0 0", b"1")
            client.send(half)
    cache_server.wait_until(
        "closes the connections", lambda: int(cache_server.counter("connections_write")) == 1
    )
    assert cache.value("a") is None and cache.value("b") == b"1"


def test_quit_closes_after_the_replies(cache: MemcachedConnection) -> None:
    cache.send(b"version\r\nquit\r\nversion\r\n")
    assert cache.line() == b"VERSION 1.6.18-rowsocket\r"
    assert cache.closed()


def test_the_binary_protocol_is_sent_away_with_a_note(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.send(b"\x80\x00\x00\x01" + b"\0" * 20)
    assert cache.closed()
    cache_server.wait_until("notes it", lambda: "memcached's binary protocol" in cache_server.log_text())


def test_a_key_is_at_most_250_bytes(cache: MemcachedConnection) -> None:
    key = "k" * 250
    assert cache.store(f"set {key} 0 0", b"1") == "STORED"
    assert cache.value(key) == b"1"
    assert cache.store(f"set {key}k 0 0", b"1") == "CLIENT_ERROR bad command line format"
    assert cache.word("delete " + key) == "DELETED"


def test_stats_are_the_servers(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    before = cache.stats()
    cache.store("set a 0 0", b"1")
    cache.ask("get a b")
    stats = cache.stats()
    for name, count in {"cmd_set": 1, "cmd_get": 2, "get_hits": 1, "get_misses": 1}.items():
        assert int(stats[name]) - int(before[name]) == count, name
    assert cache_server.process is not None
    assert int(stats["pid"]) == cache_server.process.pid
    assert abs(int(stats["time"]) - time.time()) < 60
    assert int(stats["curr_connections"]) >= 1
    assert int(stats["rejected_connections"]) == cache_server.counter("connections_refused")
    assert int(stats["total_connections"]) <= cache_server.counter("connections_accepted")
    assert stats["rowsocket_rows_inserted"] == str(cache_server.counter("rows_inserted"))


def test_stats_tell_a_request_once_that_runs_again(start: Start) -> None:
    """The binlog's cache has no room for all that a turn asks, so it runs again, one by one."""
    small = {"max-binlog-cache-size": "16K", "binlog-cache-size": "4K", "binlog-row-event-max-size": "4K"}
    server = start(MemcachedServer, small)
    server.prepare()
    sizes = [9] + [6_000] * 6
    sets = [b"set k%d 0 0 %d\r\n%s\r\n" % (number, size, b"x" * size) for number, size in enumerate(sizes)]
    with server.memcached() as cache:
        before = cache.stats()
        cache.send(sets[0] + b"get k0 none\r\n" + b"".join(sets[1:]))
        assert [cache.line() for _ in range(4)] == [
            b"STORED\r",
            b"VALUE k0 0 9\r",
            b"x" * 9 + b"\r",
            b"END\r",
        ]
        assert [cache.line() for _ in sets[1:]] == [b"STORED\r"] * (len(sets) - 1)
        stats = cache.stats()
    assert server.counter("replays") > 0
    counts = {"cmd_set": len(sets), "cmd_get": 2, "get_hits": 1, "get_misses": 1}
    assert {name: int(stats[name]) - int(before[name]) for name in counts} == counts
