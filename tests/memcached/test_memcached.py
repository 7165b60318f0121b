# SPDX-License-Identifier: GPL-2.0-only
"""memcached's commands on rows that SQL sees, and changes, too."""

from __future__ import annotations

import time

import pymysql
import pytest

from support.mariadb import RowSocketServer, Start
from support.memcached import CONTAINERS, CREATE_ITEMS, MemcachedConnection, MemcachedServer
from support.plugin import threads
from support.raw import RawConnection


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
    def ask() -> dict[str, str]:
        return dict(line.decode().split(" ", 2)[1:] for line in cache.ask("stats")[:-1])

    before = ask()
    cache.store("set a 0 0", b"1")
    cache.ask("get a b")
    stats = ask()
    for name, count in {"cmd_set": 1, "cmd_get": 2, "get_hits": 1, "get_misses": 1}.items():
        assert int(stats[name]) - int(before[name]) == count, name
    assert cache_server.process is not None
    assert int(stats["pid"]) == cache_server.process.pid
    assert abs(int(stats["time"]) - time.time()) < 60
    assert int(stats["curr_connections"]) >= 1
    assert int(stats["total_connections"]) <= cache_server.counter("connections_accepted")
    assert stats["rowsocket_rows_inserted"] == str(cache_server.counter("rows_inserted"))


def test_flush_all_is_not_allowed(cache: MemcachedConnection) -> None:
    cache.store("set a 0 0", b"1")
    assert cache.word("flush_all") == "CLIENT_ERROR flush_all not allowed"
    assert cache.value("a") == b"1"


# ---- containers


def test_a_container_is_served_changed_and_taken_away_while_the_server_runs(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql("CREATE OR REPLACE TABLE app.city (id INT PRIMARY KEY, name VARCHAR(30), state CHAR(2))")
    cache_server.sql("INSERT INTO app.city VALUES (1, 'Köln', 'NW')")
    cache_server.contain("city", "app.city", key="id", value="name", flags="0", cas=None, expires=None)
    assert cache.value("@@city.1") == "Köln".encode()
    cache_server.contain("city", "app.city", key="id", value="name|state", flags="0", cas="0", expires="0")
    assert cache.value("@@city.1") == "Köln|NW".encode()
    assert cache.store("set @@city.2 0 0", b"Bonn|NW") == "STORED"
    assert cache_server.sql("SELECT name, state FROM app.city WHERE id = 2") == [("Bonn", "NW")]
    cache_server.sql(f"DELETE FROM {CONTAINERS} WHERE name = 'city'")
    cache_server.await_containers()
    assert cache.word("get @@city.1") == "SERVER_ERROR container 'city': there is no such container"


def test_keys_of_several_columns_and_containers(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql(
        "CREATE OR REPLACE TABLE app.part (a INT, b VARCHAR(20), v TEXT, UNIQUE KEY by_ab (a, b))"
    )
    cache_server.contain("part", "app.part", key="a|b", flags="0", cas=None, expires=None, index="by_ab")
    assert cache.store("set @@part.1|x 0 0", b"one") == "STORED"
    cache.store("set a 0 0", b"A")
    assert cache.ask("get a @@part.1|x @@part.1|y a") == [
        b"VALUE a 0 1", b"A", b"VALUE @@part.1|x 0 3", b"one", b"VALUE a 0 1", b"A", b"END",
    ]  # fmt: skip
    assert cache.word("get @@part.1").startswith("CLIENT_ERROR the key has fewer parts")


def test_a_connection_can_choose_its_container(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql(CREATE_ITEMS.format(table="app.other"))
    cache_server.contain("other", "app.other")
    assert cache.ask("get @@other") == [b"VALUE @@other 0 9", b"app/other", b"END"]
    cache.store("set a 0 0", b"1")
    assert cache_server.sql("SELECT k, v FROM app.other") == [(b"a", b"1")]
    with cache_server.memcached() as another:
        assert another.value("a") is None


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"value": "colour"}, "no_such_column: no column 'colour'"),
        ({"key": "v", "value": "k"}, "no_such_index: index 'PRIMARY' is not unique over v"),
        ({"index": "by_v"}, "no_such_index: index 'by_v' is not unique over k"),
        ({"index": "none"}, "no_such_index: no index 'none'"),
        ({"table": "app.none"}, "cannot_open_table"),
        ({"value": "k"}, "it names column 'k' twice"),
    ],
)
def test_a_container_that_does_not_fit_its_table_says_why_and_the_others_work(
    cache: MemcachedConnection, cache_server: MemcachedServer, wrong: dict[str, str], why: str
) -> None:
    cache_server.sql("CREATE OR REPLACE TABLE app.plain (k INT PRIMARY KEY, v INT, KEY by_v (v))")
    options = {"table": "app.plain", "flags": "0", "cas": "0", "expires": "0", **wrong}
    cache_server.contain("wrong", **options)
    assert why in cache.word("get @@wrong.1")
    assert cache.store("set a 0 0", b"1") == "STORED"


def test_the_table_of_containers_can_be_locked_dropped_and_made_again(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.store("set a 0 0", b"1")
    sql = cache_server.connect()
    with sql.cursor() as cursor:
        cursor.execute(f"LOCK TABLES {CONTAINERS} WRITE")
        assert cache.value("a") == b"1"
        cursor.execute("UNLOCK TABLES")
        cursor.execute(f"RENAME TABLE {CONTAINERS} TO innodb_memcache.away")
        cache_server.wait_until(
            "serves none", lambda: b"SERVER_ERROR rowsocket_containers" in cache.ask("get a")[0]
        )
        cursor.execute(f"CREATE TABLE {CONTAINERS} (name INT PRIMARY KEY)")
        cache_server.wait_until("sees it", lambda: b"no column 'db_schema'" in cache.ask("get a")[0])
        cursor.execute(f"DROP TABLE {CONTAINERS}")
        cursor.execute(f"RENAME TABLE innodb_memcache.away TO {CONTAINERS}")
        cache_server.wait_until("serves again", lambda: cache.ask("get a")[0] == b"VALUE a 0 1")
    sql.close()


# ---- tables that change


def test_a_table_can_be_altered_and_dropped_under_a_client(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql(CREATE_ITEMS.format(table="app.moving"))
    cache_server.contain("moving", "app.moving")
    cache.store("set @@moving.a 0 0", b"1")
    cache_server.sql("ALTER TABLE app.moving ADD COLUMN more INT DEFAULT 5 FIRST")
    assert cache.value("@@moving.a") == b"1"
    cache_server.sql("ALTER TABLE app.moving DROP COLUMN v")
    assert (
        cache.word("get @@moving.a")
        == "SERVER_ERROR container 'moving': no_such_column: no column 'v' in app.moving"
    )
    cache_server.sql("ALTER TABLE app.moving ADD COLUMN v TEXT, DROP PRIMARY KEY")
    assert "no index 'PRIMARY'" in cache.word("get @@moving.a")
    cache_server.sql("DROP TABLE app.moving")
    assert cache.word("get @@moving.a").startswith("SERVER_ERROR container 'moving': cannot_open_table")
    cache_server.sql(CREATE_ITEMS.format(table="app.moving"))
    assert cache.value("@@moving.a") is None


def test_a_locked_table_is_waited_for_and_the_others_go_on(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql(CREATE_ITEMS.format(table="app.held"))
    cache_server.contain("held", "app.held")
    sql = cache_server.connect()
    with sql.cursor() as cursor, cache_server.memcached() as waiting:
        cursor.execute("LOCK TABLES app.held WRITE")
        waiting.send(b"set @@held.a 0 0 1\r\n1\r\n")
        assert cache.store("set a 0 0", b"1") == "STORED"
        cursor.execute("UNLOCK TABLES")
        assert waiting.line() == b"STORED\r"
    sql.close()


def test_a_change_waits_for_a_row_that_sql_has_locked(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.store("set a 0 0", b"1")
    seen = cache.cas("a")
    sql = cache_server.connect()
    with sql.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("UPDATE app.item SET v = '2', cas = cas + 1 WHERE k = 'a'")
        cache.send(f"cas a 0 0 1 {seen}\r\n3\r\n".encode())
        assert cache_server.memcached().value("a") == b"1", "a read does not wait"
        cursor.execute("COMMIT")
        assert cache.line() == b"EXISTS\r"
    sql.close()


def test_a_value_that_its_column_can_not_hold_is_an_error(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql("CREATE OR REPLACE TABLE app.narrow (k VARCHAR(5) PRIMARY KEY, v VARCHAR(3))")
    cache_server.contain("narrow", "app.narrow", flags="0", cas=None, expires=None)
    assert cache.store("set @@narrow.a 0 0", b"long").startswith("SERVER_ERROR container 'narrow': sql 1406")
    assert cache.store("set @@narrow.a 0 0", b"\xff").startswith("SERVER_ERROR container 'narrow': sql 1366")
    assert cache.value("@@narrow.a") is None


# ---- secrets and doors


def test_the_secret_of_the_port_is_said_with_a_set(cache_server: MemcachedServer) -> None:
    cache_server.sql("SET GLOBAL rowsocket_secret_read = 'sesame'")
    try:
        with cache_server.memcached() as client:
            assert client.word("get a") == "CLIENT_ERROR unauthenticated"
            assert client.store("add a 0 0", b"1") == "CLIENT_ERROR unauthenticated"
            assert client.store("set any 0 0", b"ann wrong") == "CLIENT_ERROR authentication failure"
            assert client.store("set any 0 0", b"ann sesame") == "STORED"
            assert client.store("set a 0 0", b"ann sesame") == "STORED"
            assert client.value("a") == b"ann sesame"
    finally:
        cache_server.sql("SET GLOBAL rowsocket_secret_read = ''")


def test_the_door_is_shut_unless_it_is_opened(server: RowSocketServer) -> None:
    assert server.memcached_port == 0
    assert server.value("SELECT @@rowsocket_port_memcached") == 65536


def test_the_door_can_be_a_unix_socket(start: Start) -> None:
    server = start(MemcachedServer, {"loose-rowsocket-port-memcached": 65536})
    server.prepare_tables()
    path = str(server.folder / "memcached")
    server.restart({"loose-rowsocket-socket-memcached": path})
    assert server.memcached_port == 0
    with MemcachedConnection(path) as client:
        server.wait_until("serves the containers", lambda: client.ask("get a") == [b"END"])
        assert client.store("set a 0 0", b"1") == "STORED"


def test_the_plugin_can_be_unloaded(start: Start) -> None:
    server = start(MemcachedServer)
    server.prepare()
    with server.memcached() as client:
        client.store("set a 0 0", b"1")
        server.sql("UNINSTALL SONAME 'rowsocket'")
        assert client.closed()
    assert threads(server) == []


def test_a_killed_watcher_of_containers_goes_on(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    (watcher,) = cache_server.sql(
        "SELECT id FROM information_schema.processlist"
        " WHERE user = 'rowsocket' AND state LIKE '%watches the table of containers%'"
    )
    cache_server.sql(f"KILL {watcher[0]}")
    cache_server.sql("CREATE OR REPLACE TABLE app.late (k INT PRIMARY KEY, v INT)")
    cache_server.contain("late", "app.late", flags="0", cas=None, expires=None)
    assert cache.value("@@late.1") is None


def test_the_other_doors_see_the_same_rows(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    cache.store("set a 0 0", b"hello")
    with RawConnection(("127.0.0.1", cache_server.read_port)) as reader:
        reader.send(b"P\t0\tapp\titem\t\tv\n0\t=\t1\ta\n")
        assert reader.lines(2) == [b"0\t1", b"0\t1\thello"]


def test_writes_are_in_the_binlog(cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    before = cache_server.value("SELECT @@gtid_binlog_pos")
    cache.store("set a 0 0", b"hello")
    assert cache_server.value("SELECT @@gtid_binlog_pos") != before


def test_a_container_is_an_ordinary_table_to_sql(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache.store("set a 0 0", b"1")
    with pytest.raises(pymysql.err.IntegrityError):
        cache_server.sql("INSERT INTO app.item (k, v) VALUES ('a', '2')")
