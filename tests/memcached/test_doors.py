# SPDX-License-Identifier: GPL-2.0-only
"""Who is let in by which door, and what the other doors and the binlog see."""

from __future__ import annotations

import pymysql
import pytest

from support.accounts import account
from support.mariadb import RowSocketServer, Start
from support.memcached import MemcachedConnection, MemcachedServer
from support.plugin import wait_for_end_of_threads
from support.raw import RawConnection


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


def test_a_client_whose_account_was_dropped_can_log_in_anew(start: Start) -> None:
    server = start(MemcachedServer, {"loose-rowsocket-anonymous-account": "root@localhost"})
    server.prepare()
    server.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    grants = ["ALL ON app.*"]
    with server.memcached() as client:
        with account(server, "ann@localhost", "IDENTIFIED BY 'sesame'", grants):
            assert client.store("set any 0 0", b"ann sesame") == "STORED"
            assert client.store("set a 0 0", b"1") == "STORED"
        assert client.word("get a") == "CLIENT_ERROR unauthenticated"
        with account(server, "bob@localhost", "IDENTIFIED BY 'simsim'", grants):
            assert client.store("set any 0 0", b"bob simsim") == "STORED"
            assert client.value("a") == b"1"


@pytest.mark.parametrize("first", ["stats", "get a", "stats settings", "get @@none.a", "incr a x"])
def test_who_comes_without_the_tls_that_is_required_is_told_nothing(start: Start, first: str) -> None:
    server = start(MemcachedServer, {"loose-rowsocket-anonymous-account": "root@localhost"})
    server.prepare()
    with account(server, "guest@localhost", "REQUIRE SSL", ["ALL ON app.*"]):
        server.sql("SET GLOBAL rowsocket_anonymous_account = 'guest@localhost'")
        with server.memcached() as client:
            for command in (first, "stats", "get a", "flush_all"):
                assert client.word(command) == "CLIENT_ERROR unauthenticated"
            assert client.word("version").startswith("VERSION ")
            assert client.word("mn") == "MN"


def test_who_has_no_seat_is_told_no_statistics(start: Start) -> None:
    server = start(MemcachedServer, {"loose-rowsocket-anonymous-account": "root@localhost"})
    server.prepare()
    server.sql("SET GLOBAL rowsocket_max_account_connections = 1")
    with server.memcached() as client, server.memcached() as second:
        assert "pid" in client.stats()
        assert second.word("stats") == "CLIENT_ERROR unauthenticated"
        assert second.word("get a").startswith("SERVER_ERROR too_many_connections")


def test_a_dropped_account_is_told_no_statistics(start: Start) -> None:
    server = start(MemcachedServer, {"loose-rowsocket-anonymous-account": ""})
    grants = ["ALL ON *.*"]
    with server.memcached() as client:
        with account(server, "ann@localhost", "IDENTIFIED BY 'sesame'", grants):
            assert client.store("set any 0 0", b"ann sesame") == "STORED"
            assert "pid" in client.stats()
        assert client.word("stats") == "CLIENT_ERROR unauthenticated"
        with account(server, "bob@localhost", "IDENTIFIED BY 'simsim'", grants):
            assert client.store("set any 0 0", b"bob simsim") == "STORED"
            assert "pid" in client.stats()


def test_a_client_without_rights_learns_no_table(start: Start) -> None:
    """A container whose table it may not see, and one whose table is not there, answer the same."""
    server = start(MemcachedServer, {"loose-rowsocket-anonymous-account": "root@localhost"})
    server.prepare()
    server.contain("here", "app.item")
    server.contain("gone", "app.nothing")
    server.sql("CREATE TABLE app.open LIKE app.item")
    server.contain("open", "app.open")
    server.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    with (
        account(server, "ann@localhost", "IDENTIFIED BY 'sesame'", ["SELECT ON app.open"]),
        server.memcached() as client,
    ):
        assert client.store("set any 0 0", b"ann sesame") == "STORED"
        for command in (
            "get @@{}.a",
            "get @@open.a @@{}.a",
            "get @@{}",
            "mg @@{}.a v",
            "delete @@{}.a",
            "incr @@{}.a 1",
        ):
            here, gone = (client.word(command.format(name)) for name in ("here", "gone"))
            assert here == gone.replace("gone", "here"), command
            assert here.startswith("SERVER_ERROR container 'here': sql 1142: "), here
            assert "app" not in here and "item" not in here
        stored = client.store("set @@here.a 0 0", b"1")
        assert stored.endswith(" denied to 'ann'@'localhost'")


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
    wait_for_end_of_threads(server)


def test_a_killed_watcher_of_containers_goes_on(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    (watcher,) = cache_server.sql(
        "SELECT id FROM information_schema.processlist"
        " WHERE host = 'rowsocket' AND state LIKE '%watches the table of containers%'"
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
