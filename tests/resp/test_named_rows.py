# SPDX-License-Identifier: GPL-2.0-only
"""A command changes the row that its key names, and no other: not one that has another unique key of it."""

from __future__ import annotations

import pytest

from support.resp import RespConnection, RespServer

DUPLICATE = b"-ERR engine 121"


@pytest.fixture
def mails(resp_server: RespServer) -> RespServer:
    """Rows whose mail is unique, and one of them."""
    resp_server.sql(
        "CREATE OR REPLACE TABLE shop.mails (id INT PRIMARY KEY, mail VARCHAR(30) UNIQUE, code INT UNIQUE,"
        " name VARCHAR(20) DEFAULT '')"
    )
    resp_server.sql("INSERT INTO shop.mails VALUES (1, 'a@x', 5, 'Ann')")
    return resp_server


@pytest.mark.parametrize(
    "command",
    [
        ("HSET", "shop.mails:2", "mail", "a@x", "name", "Eve"),
        ("HMSET", "shop.mails:2", "mail", "a@x", "name", "Eve"),
        ("HSETNX", "shop.mails:2", "mail", "a@x"),
        ("HINCRBY", "shop.mails:2", "code", "5"),
    ],
)
def test_a_unique_value_of_another_row_is_an_error(
    mails: RespServer, resp: RespConnection, command: tuple[str, ...]
) -> None:
    assert resp.command(*command).startswith(DUPLICATE)
    resp.command("MULTI")
    resp.command(*command)
    assert resp.command("EXEC").startswith(b"-EXECABORT ")
    assert mails.sql("SELECT * FROM shop.mails") == [(1, "a@x", 5, "Ann")]


def test_a_unique_value_in_a_container_is_no_key(resp_server: RespServer, resp: RespConnection) -> None:
    resp_server.sql("CREATE OR REPLACE TABLE app.single (k VARCHAR(10) PRIMARY KEY, v INT UNIQUE)")
    resp_server.contain("single", "app.single", flags="0", cas=None, expires=None)
    resp_server.sql("INSERT INTO app.single VALUES ('a', 1)")
    for command in (
        ("INCR", "@@single.b"),
        ("SET", "@@single.b", "1"),
        ("SET", "@@single.b", "1", "GET"),
        ("SETNX", "@@single.b", "1"),
        ("MSET", "@@single.b", "1"),
    ):
        assert DUPLICATE[5:] in resp.command(*command), command
    with resp_server.memcached() as cache:
        assert "engine 121" in cache.store("set @@single.b 0 0", b"1")
        assert "engine 121" in cache.store("add @@single.b 0 0", b"1")
    assert resp_server.sql("SELECT * FROM app.single") == [("a", 1)]
    assert resp.command("SET", "@@single.a", "2") == b"+OK\r\n"
    assert resp.command("SET", "@@single.b", "1") == b"+OK\r\n"


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("VARCHAR(20)", "a", "a "),
        ("VARCHAR(20)", "e", "é"),
        ("VARCHAR(20)", "b", "B"),
        ("VARCHAR(20) COLLATE utf8mb4_unicode_ci", "strasse", "straße"),
        ("CHAR(20) COLLATE utf8mb4_nopad_bin", "a", "a "),
        ("INT", "1", "01"),
        ("DECIMAL(10,2)", "3", "3.0"),
        ("DOUBLE", "10", "1e1"),
        ("YEAR", "26", "2026"),
        ("DATE", "2026-01-02", "20260102"),
        ("INET6", "::1", "0::1"),
        ("UUID", "550e8400e29b41d4a716446655440000", "550e8400-e29b-41d4-a716-446655440000"),
    ],
)
def test_the_last_of_equal_keys_counts(
    resp_server: RespServer, resp: RespConnection, kind: str, one: str, other: str
) -> None:
    resp_server.sql(f"CREATE OR REPLACE TABLE app.equal (k {kind} PRIMARY KEY, v VARCHAR(10))")
    resp_server.contain("equal", "app.equal", flags="0", cas=None, expires=None)
    for keys in ((one, other), (other, one)):
        resp_server.sql("DELETE FROM app.equal")
        pairs = [
            text
            for number, key in enumerate((*keys, keys[0], keys[1]))
            for text in (f"@@equal.{key}", number)
        ]
        if resp.command("MSET", *pairs) == b"+OK\r\n":
            assert resp_server.sql("SELECT v FROM app.equal") == [("3",)], keys
        else:
            assert resp_server.sql("SELECT v FROM app.equal") == [], keys


def test_pairs_of_an_mset_are_of_any_key(resp_server: RespServer, resp: RespConnection) -> None:
    """Rows are written in the order of the index, whatever it is."""
    resp_server.sql(
        "CREATE OR REPLACE TABLE app.pairs (a INT, b VARCHAR(40), v INT, PRIMARY KEY (b DESC, a))"
    )
    resp_server.contain("pairs", "app.pairs", key="b|a", flags="0", cas=None, expires=None)
    keys = [f"{'x' * (seed % 7)}é{seed % 11}|{seed % 5 - 2}" for seed in range(700)]
    pairs = [text for number, key in enumerate(keys) for text in (f"@@pairs.{key}", number)]
    assert resp.command("MSET", *pairs) == b"+OK\r\n"
    last = {key: number for number, key in enumerate(keys)}
    rows = resp_server.sql("SELECT CONCAT(b, '|', a), v FROM app.pairs")
    assert dict(rows) == last
    assert resp.command("MSET", "@@pairs.a|1", 1, "@@pairs.b|x", 2).startswith(b"-ERR ")
    assert resp_server.value("SELECT COUNT(*) FROM app.pairs") == len(last)


@pytest.mark.parametrize(("direction", "order"), [("ASC", "abc"), ("DESC", "cba")])
def test_an_mset_writes_its_rows_in_the_order_of_their_index(
    resp_server: RespServer, resp: RespConnection, direction: str, order: str
) -> None:
    """So two of them lock their rows in one order, and neither waits for the other."""
    resp_server.sql(
        "CREATE OR REPLACE TABLE app.numbered (k VARCHAR(9), v INT, n INT AUTO_INCREMENT UNIQUE,"
        f" PRIMARY KEY (k {direction}))"
    )
    resp_server.contain("numbered", "app.numbered", flags="0", cas=None, expires=None)
    assert resp.command("MSET", "@@numbered.b", 1, "@@numbered.a", 2, "@@numbered.c", 3) == b"+OK\r\n"
    assert resp_server.value("SELECT GROUP_CONCAT(k ORDER BY n SEPARATOR '') FROM app.numbered") == order


@pytest.mark.parametrize(
    ("kind", "there", "near"),
    [
        ("INT", "1", "1.4"),
        ("INT", "2", "1.5"),
        ("DECIMAL(5,1)", "1.5", "1.54"),
        ("DATE", "2026-01-02", "2026-01-02 10\\:00\\:00"),
    ],
)
def test_a_key_that_its_column_would_round_names_no_row(
    resp_server: RespServer, resp: RespConnection, kind: str, there: str, near: str
) -> None:
    resp_server.sql(f"CREATE OR REPLACE TABLE shop.rounded (k {kind} PRIMARY KEY, v VARCHAR(10))")
    resp_server.sql("INSERT INTO shop.rounded VALUES (%s, 'one')", [there])
    assert resp.command("HGET", f"shop.rounded:{near}", "v") == b"$-1\r\n"
    assert resp.command("HSET", f"shop.rounded:{near}", "v", "over").startswith(b"-ERR ")
    assert resp_server.value("SELECT GROUP_CONCAT(v) FROM shop.rounded") == "one"
    resp_server.sql("DELETE FROM shop.rounded")
    assert resp.command("HSET", f"shop.rounded:{near}", "v", "new").startswith(b"-ERR ")
    assert resp_server.value("SELECT COUNT(*) FROM shop.rounded") == 0


def test_a_column_of_the_key_gets_no_other_value(resp: RespConnection, resp_server: RespServer) -> None:
    assert resp.command("HSET", "shop.user:77", "id", 78, "name", "z").startswith(b"-ERR ")
    assert resp_server.value("SELECT COUNT(*) FROM shop.user") == 0
    assert resp.command("HSET", "shop.user:77", "id", 77, "name", "z") == b":2\r\n"
    assert resp.command("HSET", "shop.user:77", "id", 78).startswith(b"-ERR ")
    assert resp.command("HSET", "shop.user:77", "id", 77, "name", "y") == b":0\r\n"
    assert resp.command("HINCRBY", "shop.user:77", "id", 1).startswith(b"-ERR ")
    assert resp_server.sql("SELECT id, name FROM shop.user") == [(77, "y")]


def test_a_row_is_not_written_where_a_trigger_gives_it_another_key(
    resp: RespConnection, resp_server: RespServer
) -> None:
    resp_server.sql("CREATE OR REPLACE TABLE shop.moved (id INT PRIMARY KEY, v INT)")
    resp_server.sql("CREATE TRIGGER shop.moves BEFORE INSERT ON shop.moved FOR EACH ROW SET NEW.id = 8")
    assert resp.command("HSET", "shop.moved:7", "v", 1).startswith(b"-ERR ")
    assert resp.command("HSET", "shop.moved:8", "v", 1) == b":1\r\n"
    assert resp_server.sql("SELECT id FROM shop.moved") == [(8,)]


def test_a_number_that_is_to_be_made_is_no_key(resp: RespConnection, resp_server: RespServer) -> None:
    resp_server.sql("CREATE OR REPLACE TABLE shop.made (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
    assert resp.command("HSET", "shop.made:0", "v", 1).startswith(b"-ERR ")
    assert resp.command("HSET", "shop.made:7", "v", 1) == b":1\r\n"
    assert resp_server.sql("SELECT id FROM shop.made") == [(7,)]


def test_the_row_that_is_there_needs_nothing_of_an_insert(
    resp: RespConnection, resp_server: RespServer
) -> None:
    """It is looked for first: what a new row would lack or violate does not matter."""
    resp_server.sql(
        "CREATE OR REPLACE TABLE app.strict (k VARCHAR(10) PRIMARY KEY, v INT UNSIGNED CHECK (v >= 10),"
        " other INT NOT NULL)"
    )
    resp_server.contain("strict", "app.strict", flags="0", cas=None, expires=None)
    resp_server.sql("INSERT INTO app.strict VALUES ('a', 20, 1)")
    assert resp.command("INCR", "@@strict.a") == b":21\r\n"
    assert resp.command("DECR", "@@strict.a") == b":20\r\n"
    assert resp.command("INCRBY", "@@strict.a", -5) == b":15\r\n"
    assert resp.command("SET", "@@strict.a", 30) == b"+OK\r\n"
    assert resp.command("DECRBY", "@@strict.a", 31) == b"-ERR increment or decrement would overflow\r\n"
    assert resp.command("SET", "@@strict.b", 30).startswith(b"-ERR container 'strict': sql 1364")
    resp_server.sql("ALTER TABLE app.strict MODIFY v VARCHAR(10)")
    assert resp.command("APPEND", "@@strict.a", 7) == b":3\r\n"
    assert resp_server.sql("SELECT * FROM app.strict") == [("a", "307", 1)]


def test_a_removed_field_counts_once(resp: RespConnection) -> None:
    resp.command("HSET", "shop.user:1", "name", "Ann", "email", "a@x")
    assert resp.command("HDEL", "shop.user:1", "email", "EMAIL", "email") == b":1\r\n"


def test_a_table_with_history_has_its_rows_named_too(resp: RespConnection, resp_server: RespServer) -> None:
    """The server adds the end of a row to its keys."""
    resp_server.sql("DROP TABLE IF EXISTS app.kept")
    resp_server.sql("CREATE TABLE app.kept (k VARCHAR(10) PRIMARY KEY, v INT) WITH SYSTEM VERSIONING")
    resp_server.contain("kept", "app.kept", flags="0", cas=None, expires=None)
    assert resp.command("SET", "@@kept.a", 1) == b"+OK\r\n"
    assert resp.command("SET", "@@kept.a", 2) == b"+OK\r\n"
    assert resp.command("INCR", "@@kept.a") == b":3\r\n"
    assert resp_server.value("SELECT COUNT(*) FROM app.kept FOR SYSTEM_TIME ALL") == 3
    assert resp.command("MSET", "@@kept.c", 5, "@@kept.b", 6, "@@kept.a", 7) == b"+OK\r\n"
    assert resp_server.sql("SELECT k, v FROM app.kept ORDER BY k") == [("a", 7), ("b", 6), ("c", 5)]


@pytest.mark.parametrize(
    "row_times",
    [
        "",
        (
            ", s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END,"
            " PERIOD FOR SYSTEM_TIME(s, e)"
        ),
    ],
    ids=["hidden", "named"],
)
def test_rows_of_a_table_with_history_are_hashes(
    resp: RespConnection, resp_server: RespServer, row_times: str
) -> None:
    resp_server.sql("DROP TABLE IF EXISTS shop.kept")
    resp_server.sql(
        "CREATE TABLE shop.kept (a INT, b VARCHAR(10), v INT, w INT, mail VARCHAR(10) UNIQUE,"
        f" PRIMARY KEY (a, b){row_times}) WITH SYSTEM VERSIONING"
    )
    assert resp.command("HSET", "shop.kept:1:x", "v", 1, "w", 2, "mail", "m") == b":3\r\n"
    assert resp.command("HSET", "shop.kept:1:x", "v", 5) == b":0\r\n"
    assert resp.command("HSETNX", "shop.kept:1:x", "v", 6) == b":0\r\n"
    assert resp.command("HSETNX", "shop.kept:2:y", "v", 7) == b":1\r\n"
    assert resp.command("HINCRBY", "shop.kept:1:x", "v", 10) == b":15\r\n"
    assert resp.command("HINCRBY", "shop.kept:3:z", "v", 3) == b":3\r\n"
    assert resp.command("HDEL", "shop.kept:1:x", "w") == b":1\r\n"
    assert resp.command("HMGET", "shop.kept:1:x", "v", "w") == b"*2\r\n$2\r\n15\r\n$-1\r\n"
    assert resp.command("HGET", "shop.kept@mail:m", "v") == b"$2\r\n15\r\n"
    assert resp.command("HSET", "shop.kept@mail:m", "v", 16) == b":0\r\n"
    assert resp.command("DEL", "shop.kept:2:y") == b":1\r\n"
    assert resp.command("EXISTS", "shop.kept:1:x", "shop.kept:2:y") == b":1\r\n"
    told = resp.command("SCAN", 0, "MATCH", "shop.kept:*")
    assert told.endswith(b"*2\r\n$13\r\nshop.kept:1:x\r\n$13\r\nshop.kept:3:z\r\n")
    rows = resp_server.sql("SELECT a, b, v, w FROM shop.kept ORDER BY a")
    assert rows == [(1, "x", 16, None), (3, "z", 3, None)]
    history = "SELECT v, w FROM shop.kept FOR SYSTEM_TIME ALL WHERE a = 1 ORDER BY v, w"
    assert resp_server.sql(history) == [(1, 2), (5, 2), (15, None), (15, 2), (16, None)]
    assert resp_server.value("SELECT COUNT(*) FROM shop.kept FOR SYSTEM_TIME ALL WHERE a = 2") == 1


def test_a_key_of_a_table_with_history_has_no_time(resp: RespConnection, resp_server: RespServer) -> None:
    resp_server.sql("DROP TABLE IF EXISTS shop.kept")
    resp_server.sql("CREATE TABLE shop.kept (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING")
    assert resp.command("HSET", "shop.kept:1", "v", 1) == b":1\r\n"
    answer = resp.command("HGET", "shop.kept:1:2038-01-19 03\\:14\\:07.999999", "v")
    assert b"is not unique over 2 columns" in answer
