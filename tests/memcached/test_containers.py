# SPDX-License-Identifier: GPL-2.0-only
"""Containers that come, change and go, and tables that SQL alters, drops or locks."""

from __future__ import annotations

import pytest

from support.memcached import CONTAINERS, CREATE_ITEMS, MemcachedConnection, MemcachedServer


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


@pytest.mark.parametrize("keys", ["PRIMARY KEY (k, t), UNIQUE by_k (k)", "PRIMARY KEY (k), UNIQUE by_k (k)"])
def test_a_row_that_has_the_key_is_changed_whichever_key_the_engine_meets_first(
    cache: MemcachedConnection, cache_server: MemcachedServer, keys: str
) -> None:
    cache_server.sql(f"CREATE OR REPLACE TABLE app.twice (k VARCHAR(9), v INT, t INT DEFAULT 0, {keys})")
    cache_server.sql("INSERT INTO app.twice (k, v) VALUES ('a', 1)")
    cache_server.contain("twice", "app.twice", flags="0", cas=None, expires=None, index="by_k")
    assert cache.store("add @@twice.a 0 0", b"2") == "NOT_STORED"
    assert cache.store("set @@twice.a 0 0", b"3") == "STORED"
    assert cache_server.sql("SELECT k, v, t FROM app.twice") == [("a", 3, 0)]


def test_a_row_that_has_only_another_key_of_the_new_one_is_left(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql(
        "CREATE OR REPLACE TABLE app.other_key (k VARCHAR(9), v INT, PRIMARY KEY (v), UNIQUE by_k (k))"
    )
    cache_server.sql("INSERT INTO app.other_key VALUES ('a', 1)")
    cache_server.contain("other_key", "app.other_key", flags="0", cas=None, expires=None, index="by_k")
    assert cache.store("set @@other_key.b 0 0", b"1").startswith("SERVER_ERROR")
    assert cache_server.sql("SELECT k, v FROM app.other_key") == [("a", 1)]


def test_a_row_without_a_key_is_not_the_one_of_the_key_0(
    cache: MemcachedConnection, cache_server: MemcachedServer
) -> None:
    cache_server.sql("CREATE OR REPLACE TABLE app.no_key (k INT, v INT, PRIMARY KEY (v), UNIQUE by_k (k))")
    cache_server.sql("INSERT INTO app.no_key VALUES (NULL, 1)")
    cache_server.contain("no_key", "app.no_key", flags="0", cas=None, expires=None, index="by_k")
    assert cache.store("set @@no_key.0 0 0", b"1").startswith("SERVER_ERROR")
    assert cache_server.sql("SELECT k, v FROM app.no_key") == [(None, 1)]


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
        ({"expires": "at"}, "no_such_column: column 'at' in app.plain is no integer column"),
        ({"cas": "=at"}, "no_such_column: column 'at' in app.plain is no integer column"),
        ({"flags": "at"}, "no_such_column: column 'at' in app.plain is no integer column"),
        ({"flags": "bits"}, "no_such_column: column 'bits' in app.plain is no integer column"),
        ({"expires": "bits"}, "no_such_column: column 'bits' in app.plain is no integer column"),
    ],
)
def test_a_container_that_does_not_fit_its_table_says_why_and_the_others_work(
    cache: MemcachedConnection, cache_server: MemcachedServer, wrong: dict[str, str], why: str
) -> None:
    cache_server.sql(
        "CREATE OR REPLACE TABLE app.plain"
        " (k INT PRIMARY KEY, v INT, at TIMESTAMP NULL, bits BIT(8), KEY by_v (v))"
    )
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


@pytest.mark.parametrize("charset", ["utf8mb4", "latin1", "utf16"])
def test_a_tab_beyond_the_length_of_a_char_is_not_dropped(
    cache: MemcachedConnection, cache_server: MemcachedServer, charset: str
) -> None:
    """SQL drops white space there without a word. Blanks at the end of a CHAR mean nothing, a TAB does."""
    cache_server.sql(
        f"CREATE OR REPLACE TABLE app.fixed (k VARCHAR(5) PRIMARY KEY, v CHAR(3) CHARACTER SET {charset})"
    )
    cache_server.contain("fixed", "app.fixed", flags="0", cas=None, expires=None)
    too_long = "SERVER_ERROR container 'fixed': sql 1406"
    assert cache.store("set @@fixed.a 0 0", b"abc\t").startswith(too_long)
    assert cache.store("set @@fixed.a 0 0", b"abc") == "STORED"
    assert cache.store("append @@fixed.a 0 0", b"\t").startswith(too_long)
    assert cache.store("append @@fixed.a 0 0", b" \t ").startswith(too_long)
    assert cache.store("append @@fixed.a 0 0", b"  ") == "STORED"
    assert cache.value("@@fixed.a") == b"abc"
    assert cache.store("set @@fixed.a 0 0", b"\t") == "STORED"
    assert cache.store("prepend @@fixed.a 0 0", b"abc").startswith(too_long)
    assert cache.store("prepend @@fixed.a 0 0", b"ab") == "STORED"
    assert cache.value("@@fixed.a") == b"ab\t"
