# SPDX-License-Identifier: GPL-2.0-only
"""The door of RESP: where it is, who may come in, and what SQL's changes of tables mean to its clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.accounts import PASSWORD, account
from support.mariadb import RowSocketServer, Start
from support.plugin import changed
from support.resp import RespConnection, RespServer, encoded


def test_the_door_is_shut_unless_it_is_opened(start: Start) -> None:
    assert start(RowSocketServer).resp_port == 0


def test_a_unix_socket_serves_the_same(start: Start, tmp_path: Path) -> None:
    path = str(tmp_path / "resp.sock")
    start(RowSocketServer, {"loose-rowsocket-socket-resp": path})
    with RespConnection(path) as client:
        assert client.command("PING") == b"+PONG\r\n"


def test_hashes_need_no_containers(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-port-resp": 0})
    server.sql("CREATE DATABASE shop")
    server.sql("CREATE TABLE shop.user (id INT PRIMARY KEY, name TEXT)")
    with RespConnection(("127.0.0.1", server.resp_port)) as client:
        assert client.command("HSET", "shop.user:1", "name", "Ann") == b":1\r\n"
        assert b"rowsocket_containers names no table" in client.command("GET", "a")


def test_the_secret_is_said_with_auth(resp_server: RespServer) -> None:
    resp_server.sql("SET GLOBAL rowsocket_secret_read = 'sesame'")
    try:
        with resp_server.resp() as client:
            assert client.command("GET", "a").startswith(b"-NOAUTH ")
            assert client.command("AUTH", "ann", "wrong").startswith(b"-WRONGPASS ")
            assert client.command("AUTH", "ann", "sesame") == b"+OK\r\n"
            assert client.command("SET", "a", "1") == b"+OK\r\n"
        with resp_server.resp() as client:
            assert client.command("HELLO", 3, "AUTH", "default", "sesame").startswith(b"%7\r\n")
            assert client.command("GET", "none") == b"_\r\n"
    finally:
        resp_server.sql("SET GLOBAL rowsocket_secret_read = ''")


@pytest.mark.parametrize("variable", ["read_only", "tx_read_only"])
def test_a_server_that_is_read_only_says_so_as_a_replica_of_redis(emptied: RespServer, variable: str) -> None:
    """Clients that meet this look for the primary."""
    emptied.sql("CREATE USER reader@localhost ACCOUNT LOCK")
    emptied.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO reader@localhost")
    emptied.sql(f"SET GLOBAL {variable} = ON")
    try:
        with changed(emptied, anonymous_account="reader@localhost"), emptied.resp() as client:
            assert client.command("SET", "a", "1").startswith(b"-READONLY container 'default': sql 1")
            assert client.command("HSET", "shop.user:1", "name", "Ann").startswith(b"-READONLY sql 1")
            client.send(encoded("MULTI") + encoded("SET", "a", "1") + encoded("EXEC"))
            assert [client.reply()[:9] for _ in range(3)] == [b"+OK\r\n", b"+QUEUED\r\n", b"-READONLY"]
            assert client.command("GET", "a") == b"$-1\r\n"
    finally:
        emptied.sql(f"SET GLOBAL {variable} = OFF")
        emptied.sql("DROP USER reader@localhost")


def test_a_server_whose_innodb_is_read_only_says_so_too(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-port-resp": 0})
    server.sql("CREATE DATABASE shop")
    server.sql("CREATE TABLE shop.user (id INT PRIMARY KEY, name TEXT)")
    server.restart({"innodb-read-only": 1})
    with RespConnection(("127.0.0.1", server.resp_port)) as client:
        assert client.command("HSET", "shop.user:1", "name", "Ann").startswith(b"-READONLY sql 1836")


def test_a_container_names_no_table_to_a_client_without_rights(start: Start) -> None:
    server = start(RespServer, {"loose-rowsocket-anonymous-account": "root@localhost"})
    server.prepare()
    server.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    with account(server, "app@localhost"), server.resp() as client:
        assert client.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        assert client.command("GET", "a") == (
            b"-NOPERM container 'default': sql 1142: SELECT denied to 'app'@'localhost'\r\n"
        )
        assert client.command("HGET", "shop.user:1", "name").endswith(b" for table shop.user\r\n")


def test_accounts_log_in_with_auth(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-port-resp": 0, "loose-rowsocket-anonymous-account": ""})
    server.sql("CREATE DATABASE shop")
    server.sql("CREATE TABLE shop.user (id INT PRIMARY KEY, name TEXT)")
    server.sql("INSERT INTO shop.user VALUES (1, 'Ann')")
    address = ("127.0.0.1", server.resp_port)
    with account(server, "app@localhost", grants=["SELECT ON shop.*"]):
        with RespConnection(address) as client:
            assert client.command("HGET", "shop.user:1", "name").startswith(b"-NOAUTH ")
            assert client.command("AUTH", "app", "wrong").startswith(b"-WRONGPASS ")
            assert client.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
            assert client.command("HGET", "shop.user:1", "name") == b"$3\r\nAnn\r\n"
            assert client.command("HSET", "shop.user:1", "name", "Bob").startswith(b"-NOPERM ")
        with RespConnection(address) as client:
            assert client.command("HELLO", 3, "AUTH", "app", PASSWORD).startswith(b"%7\r\n")
            assert client.command("HGET", "shop.user:1", "name") == b"$3\r\nAnn\r\n"


def test_a_secret_for_writing_leaves_reading_free(resp_server: RespServer) -> None:
    resp_server.sql("SET GLOBAL rowsocket_secret_write = 'sesame'")
    try:
        with resp_server.resp() as client:
            assert client.command("GET", "none") == b"$-1\r\n"
            assert client.command("SET", "a", "1").startswith(b"-READONLY ")
            assert client.command("AUTH", "sesame") == b"+OK\r\n"
            assert client.command("SET", "a", "1") == b"+OK\r\n"
    finally:
        resp_server.sql("SET GLOBAL rowsocket_secret_write = ''")


def test_hgetall_has_the_columns_that_the_table_has_now(
    resp: RespConnection, resp_server: RespServer
) -> None:
    resp_server.sql("CREATE OR REPLACE TABLE shop.changing (id INT PRIMARY KEY, a INT)")
    resp_server.sql("INSERT INTO shop.changing VALUES (1, 2)")
    assert b"$1\r\na\r\n" in resp.command("HGETALL", "shop.changing:1")
    resp_server.sql("ALTER TABLE shop.changing ADD b INT DEFAULT 3, ADD hidden INT INVISIBLE DEFAULT 4")
    assert b"$1\r\nb\r\n$1\r\n3\r\n" in resp.command("HGETALL", "shop.changing:1")
    assert b"hidden" not in resp.command("HGETALL", "shop.changing:1")
    resp_server.sql("ALTER TABLE shop.changing DROP a")
    assert b"$1\r\na\r\n" not in resp.command("HGETALL", "shop.changing:1")


def test_a_key_that_its_column_does_not_take_names_no_row(
    resp: RespConnection, resp_server: RespServer
) -> None:
    """SQL compares `abc` with a number as 0."""
    resp_server.sql("CREATE OR REPLACE TABLE app.numbered (id INT PRIMARY KEY, n INT)")
    resp_server.sql("INSERT INTO app.numbered VALUES (0, 5)")
    assert resp.command("HGET", "app.numbered:abc", "n") == b"$-1\r\n"
    assert resp.command("DEL", "app.numbered:abc") == b":0\r\n"
    assert resp.command("HSET", "app.numbered:abc", "n", "7").startswith(b"-")
    assert list(resp_server.sql("SELECT * FROM app.numbered")) == [(0, 5)]


def test_only_text_is_appended_to(resp: RespConnection, resp_server: RespServer) -> None:
    resp_server.sql("CREATE OR REPLACE TABLE app.numbered (id INT PRIMARY KEY, n INT)")
    resp_server.sql("INSERT INTO app.numbered VALUES (1, 5)")
    append = ("ROWS.CHANGE", "app.numbered", "=", 1, 1, "APPEND", "n", "7")
    assert resp.command(*append).startswith(b"-")
    assert list(resp_server.sql("SELECT * FROM app.numbered")) == [(1, 5)]


def test_no_text_grows_beyond_what_sql_can_read(start: Start) -> None:
    """As CONCAT, which is NULL then."""
    server = start(RespServer, {"max_allowed_packet": 16384})
    server.prepare()
    server.sql("CREATE TABLE app.page (id INT PRIMARY KEY, text MEDIUMTEXT)")
    server.sql("INSERT INTO app.page VALUES (1, REPEAT('x', 16380))")
    append = ("ROWS.CHANGE", "app.page", "=", 1, 1, "APPEND", "text")
    with server.resp() as wire:
        assert wire.command(*append, "1234") == b":1\r\n"
        assert wire.command(*append, "5").startswith(b"-")
    assert server.value("SELECT LENGTH(text) FROM app.page") == 16384


def test_an_expiry_that_is_null_is_none(resp: RespConnection, resp_server: RespServer) -> None:
    resp_server.sql("CREATE OR REPLACE TABLE app.kept (k VARCHAR(9) PRIMARY KEY, v TEXT, expires INT)")
    resp_server.contain("kept", "app.kept", flags="0", cas=None)
    resp_server.sql("INSERT INTO app.kept VALUES ('a', 'x', NULL), ('b', 'x', NULL)")
    assert resp.command("TTL", "@@kept.a") == b":-1\r\n"
    assert resp.command("PERSIST", "@@kept.a") == b":0\r\n"
    for condition in ("XX", "GT"):
        assert resp.command("EXPIRE", "@@kept.a", 10, condition) == b":0\r\n"
    assert resp_server.sql("SELECT expires FROM app.kept") == [(None,), (None,)]
    assert resp.command("EXPIRE", "@@kept.a", 10, "NX") == b":1\r\n"
    assert resp.command("EXPIRE", "@@kept.b", 10, "LT") == b":1\r\n"


def test_a_group_that_waits_for_a_lock_is_done_once(resp: RespConnection, resp_server: RespServer) -> None:
    resp.command("HSET", "shop.user:1", "name", "Ann", "visits", 1)
    with resp_server.connect() as holder:
        holder.begin()
        holder.cursor().execute("UPDATE shop.user SET visits = visits WHERE id = 1")
        parked = resp_server.counter("parked")
        resp.send(
            encoded("MULTI")
            + encoded("HINCRBY", "shop.user:1", "visits", 1)
            + encoded("EXEC")
            + encoded("PING")
        )
        resp_server.wait_until("the group waits", lambda: resp_server.counter("parked") > parked)
        holder.commit()
    assert [resp.reply() for _ in range(4)] == [b"+OK\r\n", b"+QUEUED\r\n", b"*1\r\n:2\r\n", b"+PONG\r\n"]


def test_a_command_means_what_the_one_before_it_says_though_both_came_together(
    resp: RespConnection, resp_server: RespServer
) -> None:
    resp_server.sql("CREATE OR REPLACE DATABASE elsewhere")
    resp_server.sql(
        "CREATE TABLE elsewhere.user (id INT PRIMARY KEY, name TEXT) SELECT 1 AS id, 'Eve' AS name"
    )
    resp_server.sql("INSERT INTO shop.user (id, name) VALUES (1, 'Ann')")
    names = [
        encoded("SELECT", where) + 2 * encoded("HGET", "user:1", "name") for where in ("shop", "elsewhere")
    ]
    resp.send(b"".join(names))
    ann, eve = b"$3\r\nAnn\r\n", b"$3\r\nEve\r\n"
    assert [resp.reply() for _ in range(6)] == [b"+OK\r\n", ann, ann, b"+OK\r\n", eve, eve]


def test_a_command_that_waits_for_a_lock_keeps_its_place_among_others(
    resp: RespConnection, resp_server: RespServer
) -> None:
    assert resp.command("MSET", "a", "1", "b", "1") == b"+OK\r\n"
    with resp_server.connect() as holder:
        holder.begin()
        holder.cursor().execute("SELECT * FROM app.item WHERE k = 'b' FOR UPDATE")
        parked = resp_server.counter("parked")
        resp.send(encoded("INCR", "a") + encoded("INCR", "b") + encoded("GET", "b") + encoded("GET", "a"))
        resp_server.wait_until("it waits", lambda: resp_server.counter("parked") > parked)
        holder.commit()
    two = b"$1\r\n2\r\n"
    assert [resp.reply() for _ in range(4)] == [b":2\r\n", b":2\r\n", two, two]


def test_commands_in_pieces_of_one_byte_are_the_same(resp: RespConnection) -> None:
    for byte in encoded("SET", "a", "1") + encoded("MULTI") + encoded("INCR", "a") + encoded("EXEC"):
        resp.send(bytes([byte]))
    expected = [b"+OK\r\n", b"+OK\r\n", b"+QUEUED\r\n", b"*1\r\n:2\r\n"]
    assert [resp.reply() for _ in expected] == expected
    assert resp.command("GET", "a") == b"$1\r\n2\r\n"


def test_a_reply_is_not_sent_before_its_commit(resp: RespConnection, resp_server: RespServer) -> None:
    commits = resp_server.counter("commits")
    resp.command("SET", "a", "1")
    assert resp_server.counter("commits") > commits
    assert resp_server.value("SELECT v FROM app.item WHERE k = 'a'") == b"1"
