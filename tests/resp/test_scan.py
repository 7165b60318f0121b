# SPDX-License-Identifier: GPL-2.0-only
"""SCAN on rows: a row that is there all the time is told, and told as other commands take its key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from support.resp import RespConnection, RespServer
from support.time_zones import SUMMER, add_summer


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def client(emptied: RespServer, request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    with redis.Redis(port=emptied.resp_port, protocol=request.param, decode_responses=True) as client:
        yield client


def test_all_keys_of_a_container_are_told_once(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("INSERT INTO app.item (k, v) SELECT CONCAT('k', seq), seq FROM app.seq_1_to_99")
    assert sorted(client.scan_iter()) == sorted(f"k{number}" for number in range(1, 100))
    assert sorted(client.scan_iter(count=7, match="k1*")) == sorted(
        f"k{number}" for number in range(1, 100) if str(number).startswith("1")
    )


def test_an_expired_row_is_not_told(client: redis.Redis) -> None:
    client.set("a", "1")
    client.set("b", "2", ex=1000)
    client.set("c", "3", exat=1)
    assert list(client.scan_iter()) == ["a", "b"]


def test_rows_that_stay_are_told_whatever_happens_to_others(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("INSERT INTO app.item (k, v) SELECT CONCAT('k', 1000 + seq), 1 FROM app.seq_1_to_99")
    cursor, told = client.scan(0, count=10)
    while cursor:
        emptied.sql("DELETE FROM app.item WHERE k IN (%s, %s)", [told[0], told[-1]])
        emptied.sql("INSERT INTO app.item (k, v) VALUES (CONCAT('a', UUID()), 1)")
        cursor, more = client.scan(cursor, count=10)
        told = more or told
    remaining = {row[0].decode() for row in emptied.sql("SELECT k FROM app.item WHERE k LIKE 'k%%'")}
    assert remaining and remaining <= set(client.scan_iter(count=3))


@pytest.mark.parametrize(
    "alteration",
    [
        "ADD z INT NOT NULL DEFAULT 3 FIRST, DROP PRIMARY KEY, ADD PRIMARY KEY (z, id)",
        "DROP PRIMARY KEY, ADD PRIMARY KEY (other)",
        "DROP PRIMARY KEY, ADD PRIMARY KEY (id DESC)",
        "MODIFY id INT",
        "MODIFY id VARCHAR(20) COLLATE latin1_swedish_ci",
    ],
)
def test_a_scan_whose_key_was_altered_has_to_begin_again(
    resp: RespConnection, emptied: RespServer, alteration: str
) -> None:
    """The place of the step before is a key as it was: behind it there may be other rows now, or none."""
    emptied.sql(
        "CREATE OR REPLACE TABLE shop.altered (id VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin"
        " PRIMARY KEY, other INT NOT NULL)"
    )
    emptied.sql("INSERT INTO shop.altered SELECT seq, 1000 - seq FROM app.seq_1_to_99")
    step = resp.command("SCAN", 0, "MATCH", "shop.altered:*")
    cursor = step.split(b"\r\n")[2].decode()
    emptied.sql("ALTER TABLE shop.altered ADD note INT")
    assert resp.command("SCAN", cursor, "MATCH", "shop.altered:*").startswith(b"*2")
    emptied.sql(f"ALTER TABLE shop.altered {alteration}")
    assert resp.command("SCAN", cursor, "MATCH", "shop.altered:*") == (
        b"-ERR the cursor is not, or no longer, one of this scan: begin again with 0\r\n"
    )


def test_a_row_that_no_key_of_its_container_names_is_not_told(
    client: redis.Redis, emptied: RespServer
) -> None:
    """What stands behind the first separator is the next column's."""
    emptied.sql(
        "CREATE OR REPLACE TABLE app.pair (a VARCHAR(20), b VARCHAR(20), v VARCHAR(20), PRIMARY KEY (a, b))"
    )
    emptied.sql("INSERT INTO app.pair VALUES ('a', 'b|c', 'told'), ('a|b', 'c', 'of no key')")
    emptied.contain("pair", "app.pair", key="a|b", flags="0", cas=None, expires=None)
    keys = list(client.scan_iter(match="@@pair.*"))
    assert keys == ["@@pair.a|b|c"]
    assert client.get(keys[0]) == "told"


def test_keys_of_a_table_are_told_as_hgetall_takes_them(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("INSERT INTO shop.user (id, name) SELECT seq, 'Ann' FROM app.seq_1_to_25")
    keys = list(client.scan_iter(match="shop.user:*"))
    assert keys == [f"shop.user:{number}" for number in range(1, 26)]
    assert client.hget(keys[-1], "name") == "Ann"
    assert list(client.scan_iter(match="shop.user:*", _type="string")) == []


def test_the_first_values_of_a_key_are_a_range(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("INSERT INTO shop.orders SELECT MOD(seq, 3), seq, 1, 1 FROM app.seq_1_to_99")
    read_before = emptied.counter("rows_read")
    keys = list(client.scan_iter(match="shop.orders:2:*", count=5))
    assert keys == [f"shop.orders:2:{number}" for number in range(2, 99, 3)]
    assert emptied.counter("rows_read") - read_before == len(keys)


def test_a_key_with_a_separator_is_escaped(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("CREATE OR REPLACE TABLE shop.named (name VARCHAR(40) PRIMARY KEY, v INT)")
    emptied.sql("INSERT INTO shop.named VALUES ('a:b', 1), ('c', 2)")
    keys = list(client.scan_iter(match="shop.named:*"))
    assert keys == ["shop.named:a\\:b", "shop.named:c"]
    assert client.hget(keys[0], "v") == "1"


def test_rows_behind_a_key_with_null_are_told(client: redis.Redis, emptied: RespServer) -> None:
    """NULL comes first in an index, before negative numbers and empty text."""
    emptied.sql(
        "CREATE OR REPLACE TABLE app.nullable (a INT, b VARCHAR(10), v INT, UNIQUE KEY by_both (a, b))"
    )
    emptied.contain("nullable", "app.nullable", key="a|b", index="by_both", flags="0", cas=None, expires=None)
    emptied.sql("INSERT INTO app.nullable SELECT NULL, seq, 1 FROM app.seq_1_to_9")
    emptied.sql("INSERT INTO app.nullable SELECT NULL, NULL, 1 FROM app.seq_1_to_9")
    emptied.sql("INSERT INTO app.nullable SELECT -1, NULL, 1 FROM app.seq_1_to_9")
    emptied.sql("INSERT INTO app.nullable VALUES (-1, '', 1), (-1, 'x', 1), (7, 'y', 1)")
    for count in (1, 4, 100):
        assert list(client.scan_iter(match="@@nullable.*", count=count)) == [
            "@@nullable.-1|",
            "@@nullable.-1|x",
            "@@nullable.7|y",
        ]


def test_a_table_without_a_primary_key_is_not_scanned(resp: RespConnection, emptied: RespServer) -> None:
    emptied.sql("CREATE OR REPLACE TABLE shop.heap (v INT)")
    assert b"-ERR no_such_index" in resp.command("SCAN", 0, "MATCH", "shop.heap:*")


@pytest.mark.parametrize("key", ["v(1)", "n, v(2)"])
def test_a_key_of_beginnings_is_refused_as_other_commands_refuse_it(
    resp: RespConnection, emptied: RespServer, key: str
) -> None:
    """Its order is not that of the whole values, so a step would not know where the one before has ended."""
    emptied.sql(
        "CREATE OR REPLACE TABLE shop.beginnings (n INT, v VARCHAR(20) COLLATE utf8mb4_uca1400_as_cs, x INT,"
        f" PRIMARY KEY ({key}))"
    )
    emptied.sql("INSERT INTO shop.beginnings VALUES (1, 'aB', 1), (1, 'äA', 1), (1, 'bZ', 1)")
    columns = "1 column" if key == "v(1)" else "2 columns"
    refused = f"-ERR no_such_index: index '' in shop.beginnings is not unique over {columns}\r\n".encode()
    assert resp.command("SCAN", 0, "MATCH", "shop.beginnings:*", "COUNT", 1) == refused
    assert resp.command("HGET", "shop.beginnings:" + ("aB" if key == "v(1)" else "1:aB"), "x") == refused


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("FLOAT", "0.3333333"),
        ("CHAR(3) COLLATE utf8mb4_nopad_bin", "'b\\t'"),
        ("TIMESTAMP", "'2020-10-25 02:00:00'"),
    ],
)
def test_a_key_whose_rows_do_not_stand_where_their_texts_do_is_refused(
    resp: RespConnection, emptied: RespServer, type: str, value: str
) -> None:
    """A step begins behind the text of the last row. It would tell that row again, or pass over others."""
    add_summer(emptied)
    emptied.sql(f"SET GLOBAL time_zone = '{SUMMER}'")
    try:
        emptied.sql(f"CREATE OR REPLACE TABLE shop.apart (n INT, k {type}, PRIMARY KEY (n, k))")
        emptied.sql(f"INSERT INTO shop.apart VALUES (1, {value})")
        reply = resp.command("SCAN", 0, "MATCH", "shop.apart:*")
        assert reply.startswith(
            b"-ERR no_such_index: index '' in shop.apart is not in the order of the texts"
        )
    finally:
        emptied.sql("SET GLOBAL time_zone = DEFAULT")


def test_a_container_of_such_keys_is_refused_too(resp: RespConnection, emptied: RespServer) -> None:
    emptied.sql("CREATE OR REPLACE TABLE app.apart (k FLOAT PRIMARY KEY, v INT)")
    emptied.contain("apart", "app.apart", flags="0", cas=None, expires=None)
    emptied.sql("INSERT INTO app.apart SELECT 1234560 + seq, 1 FROM app.seq_1_to_9")
    reply = resp.command("SCAN", 0, "MATCH", "@@apart.*", "COUNT", 1)
    assert reply.startswith(b"-ERR container 'apart': no_such_index")


def test_keys_are_told_as_get_takes_them(client: redis.Redis, emptied: RespServer) -> None:
    """Alone, some of them would name a row of a table, or another container."""
    keys = ["a.b:c", "@@x", "shop.user:1", "x:y", "plain", "b\\c"]
    for key in keys:
        client.set(f"@@default.{key}", key)
    told = list(client.scan_iter())
    assert client.mget(told) == sorted(keys)
    assert client.execute_command("SELECT", "shop") is True  # type: ignore[no-untyped-call]
    told = list(client.scan_iter())
    assert client.mget(told) == sorted(keys)
    assert client.delete(*told) == len(keys)


@pytest.mark.parametrize("zone", ["+00:00", "+02:00", "-05:00"])
def test_a_key_of_moments_is_scanned_where_the_clock_never_goes_back(
    client: redis.Redis, emptied: RespServer, zone: str
) -> None:
    emptied.sql("SET GLOBAL time_zone = %s", [zone])
    try:
        emptied.sql("CREATE OR REPLACE TABLE shop.moments (k TIMESTAMP PRIMARY KEY)")
        emptied.sql("INSERT INTO shop.moments SELECT '2020-10-25' + INTERVAL seq HOUR FROM app.seq_1_to_9")
        assert len(set(client.scan_iter("shop.moments:*", count=1))) == 9
    finally:
        emptied.sql("SET GLOBAL time_zone = DEFAULT")


def test_a_zone_that_puts_the_clock_back_is_noticed_on_an_old_connection(
    client: redis.Redis, emptied: RespServer
) -> None:
    """Which indexes can be scanned is found out once for each of them, and again in another time zone."""
    emptied.sql("CREATE OR REPLACE TABLE shop.moments (k TIMESTAMP PRIMARY KEY)")
    add_summer(emptied)
    emptied.sql("SET GLOBAL time_zone = '+00:00'")
    try:
        assert client.scan(0, match="shop.moments:*") == (0, [])
        emptied.sql("SET GLOBAL time_zone = %s", [SUMMER])
        with pytest.raises(redis.ResponseError, match="no_such_index"):
            client.scan(0, match="shop.moments:*")
        emptied.sql("SET GLOBAL time_zone = '+01:00'")
        assert client.scan(0, match="shop.moments:*") == (0, [])
    finally:
        emptied.sql("SET GLOBAL time_zone = DEFAULT")


def test_the_error_value_of_an_enum_ends_no_scan(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("CREATE OR REPLACE TABLE shop.error (k ENUM('a', 'b') PRIMARY KEY, n INT)")
    emptied.sql("INSERT IGNORE INTO shop.error VALUES ('none', 0), ('a', 1), ('b', 2)")
    assert list(client.scan_iter("shop.error:*", count=1)) == ["shop.error:", "shop.error:a", "shop.error:b"]
    assert client.hget("shop.error:", "n") == "0"


def test_a_descending_key_is_scanned_from_its_first_row(client: redis.Redis, emptied: RespServer) -> None:
    emptied.sql("CREATE OR REPLACE TABLE shop.down (id INT, PRIMARY KEY (id DESC))")
    emptied.sql("INSERT INTO shop.down SELECT seq FROM app.seq_1_to_25")
    assert sorted(client.scan_iter(match="shop.down:*", count=4)) == sorted(
        f"shop.down:{number}" for number in range(1, 26)
    )


def test_a_scan_can_be_one_of_a_group(client: redis.Redis) -> None:
    client.set("a", "1")
    with client.pipeline(transaction=True) as pipeline:
        pipeline.scan(0)
        pipeline.set("b", "1")
        assert pipeline.execute()[0] == (0, ["a"])
