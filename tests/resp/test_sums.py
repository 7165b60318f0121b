# SPDX-License-Identifier: GPL-2.0-only
"""INCR and HINCRBY on columns of all types: the reply is a number of RESP, or nothing was written."""

from __future__ import annotations

import pytest

from support.resp import RespConnection, RespServer

OVERFLOW = b"-ERR increment or decrement would overflow\r\n"
LONGEST = 2**63 - 1


@pytest.fixture
def column(resp_server: RespServer) -> RespServer:
    """The container `typed` on a table whose value gets its type from the test."""
    resp_server.sql("CREATE OR REPLACE TABLE app.typed (k VARCHAR(10) PRIMARY KEY, v INT)")
    resp_server.contain("typed", "app.typed", flags="0", cas=None, expires=None)
    return resp_server


def make(server: RespServer, kind: str, value: str | None = None) -> None:
    server.sql("TRUNCATE TABLE app.typed")
    server.sql(f"ALTER TABLE app.typed MODIFY v {kind}")
    if value is not None:
        server.sql("INSERT INTO app.typed VALUES ('a', %s)", [value])


def stored(server: RespServer) -> list[str]:
    return [str(row[0]) for row in server.sql("SELECT CAST(v AS CHAR) FROM app.typed")]


@pytest.mark.parametrize(
    ("kind", "value", "after"),
    [
        ("DECIMAL(10,2)", "100.00", "101.00"),
        ("DECIMAL(65,0)", "41", "42"),
        ("INT ZEROFILL", "41", "0000000042"),
        ("BIGINT UNSIGNED", "41", "42"),
        ("VARCHAR(20)", "0041", "42"),
        ("VARCHAR(20) CHARACTER SET utf16", "41", "42"),
        ("TEXT CHARACTER SET ucs2", "41", "42"),
    ],
)
def test_a_whole_number_is_told_without_what_its_column_adds(
    column: RespServer, resp: RespConnection, kind: str, value: str, after: str
) -> None:
    make(column, kind, value)
    told = b":%d\r\n" % float(after)
    assert resp.command("INCR", "@@typed.a") == told
    assert stored(column) == [after]
    assert resp.command("HINCRBY", "app.typed:a", "v", 0) == told


@pytest.mark.parametrize("kind", ["VARCHAR(30)", "DECIMAL(30,0)"])
def test_what_is_below_all_of_64_bits_is_not_counted_from(
    column: RespServer, resp: RespConnection, kind: str
) -> None:
    make(column, kind, str(-LONGEST - 2))
    assert resp.command("INCR", "@@typed.a") == OVERFLOW
    assert stored(column) == [str(-LONGEST - 2)]


@pytest.mark.parametrize("kind", ["VARCHAR(30)", "BLOB", "DECIMAL(30,0)", "BIGINT UNSIGNED"])
def test_what_is_beyond_64_bits_is_not_counted_from(
    column: RespServer, resp: RespConnection, kind: str
) -> None:
    make(column, kind, str(LONGEST + 1))
    assert resp.command("DECR", "@@typed.a") == OVERFLOW
    assert resp.command("HINCRBY", "app.typed:a", "v", -1) == OVERFLOW
    assert stored(column) == [str(LONGEST + 1)]
    make(column, kind, str(LONGEST))
    assert resp.command("DECR", "@@typed.a") == b":%d\r\n" % (LONGEST - 1)


def test_a_year_is_not_made_of_a_number_that_is_none(column: RespServer, resp: RespConnection) -> None:
    """The server takes 5 for 2005: what is told would not be what is stored."""
    make(column, "YEAR", "2005")
    assert resp.command("HINCRBY", "app.typed:a", "v", 1) == b":2006\r\n"
    assert resp.command("HINCRBY", "app.typed:a", "v", -1990) == OVERFLOW
    assert stored(column) == ["2006"]
    assert resp.command("INCR", "@@typed.b") == b":2001\r\n", "a new row has what INSERT makes of 1"
    assert stored(column) == ["2006", "2001"]


@pytest.mark.parametrize(
    "kind",
    ["DECIMAL(10,2)", "INT ZEROFILL", "VARCHAR(20) CHARACTER SET utf16", "TEXT CHARACTER SET utf32"],
)
def test_a_row_that_is_made_can_be_counted_on(column: RespServer, resp: RespConnection, kind: str) -> None:
    make(column, kind)
    assert [resp.command("INCR", "@@typed.a") for _ in range(2)] == [b":1\r\n", b":2\r\n"]
    assert [resp.command("HINCRBY", "app.typed:b", "v", 7) for _ in range(2)] == [b":7\r\n", b":14\r\n"]


NOT_WHOLE = [
    ("FLOAT", "1"),
    ("DOUBLE", "9e18"),
    ("TIME", "00:00:01"),
    ("DATE", "2026-01-02"),
    ("BIT(8)", "1"),
    ("ENUM('1','2')", "1"),
]


@pytest.mark.parametrize(
    ("kind", "value"), [("DECIMAL(10,2)", "100.50"), *NOT_WHOLE, *((kind, None) for kind, _ in NOT_WHOLE)]
)
def test_what_is_no_whole_number_is_refused_before_it_is_written(
    column: RespServer, resp: RespConnection, kind: str, value: str | None
) -> None:
    make(column, kind, value)
    before = stored(column)
    for command in (("INCR", "@@typed.a"), ("HINCRBY", "app.typed:a", "v", "1")):
        assert resp.command(*command).startswith((b"-ERR ", b"-WRONGTYPE ")), command
    assert stored(column) == before


@pytest.mark.parametrize("kind", ["BIGINT UNSIGNED", "DECIMAL(30,0)", "VARCHAR(40)"])
def test_a_number_beyond_64_bits_with_a_sign_is_refused(
    column: RespServer, resp: RespConnection, kind: str
) -> None:
    make(column, kind, str(LONGEST - 1))
    assert resp.command("INCR", "@@typed.a") == b":%d\r\n" % LONGEST
    assert resp.command("INCR", "@@typed.a") == OVERFLOW
    assert resp.command("HINCRBY", "app.typed:a", "v", 1) == OVERFLOW
    assert stored(column) == [str(LONGEST)]


def test_a_float_is_added_to_a_decimal(column: RespServer, resp: RespConnection) -> None:
    make(column, "DECIMAL(10,2)", "100.50")
    assert resp.command("HINCRBYFLOAT", "app.typed:a", "v", "-10.25") == b"$5\r\n90.25\r\n"
    assert resp.command("HINCRBYFLOAT", "app.typed:b", "v", "1.5") == b"$4\r\n1.50\r\n"


@pytest.mark.parametrize("kind", ["DATE", "DATETIME", "TIME", "ENUM('1','5')", "SET('1','5')"])
def test_null_counts_as_zero_only_in_a_column_that_holds_numbers(
    column: RespServer, resp: RespConnection, kind: str
) -> None:
    make(column, kind)
    column.sql("INSERT INTO app.typed VALUES ('a', NULL)")
    for command in ("HINCRBYFLOAT", "HINCRBY"):
        assert resp.command(command, "app.typed:a", "v", "5").startswith((b"-ERR ", b"-WRONGTYPE ")), command
    assert stored(column) == ["None"]


@pytest.mark.parametrize(
    ("kind", "amount", "told"),
    [
        ("DECIMAL(10,2)", "1.5", b"$4\r\n1.50\r\n"),
        ("VARCHAR(20)", "5", b"$1\r\n5\r\n"),
        ("YEAR", "5", OVERFLOW),
    ],
)
def test_a_sum_with_null_is_one_with_zero(
    column: RespServer, resp: RespConnection, kind: str, amount: str, told: bytes
) -> None:
    make(column, kind)
    column.sql("INSERT INTO app.typed VALUES ('a', NULL)")
    assert resp.command("HINCRBYFLOAT", "app.typed:a", "v", amount) == told


@pytest.mark.parametrize("kind", ["DECIMAL(10,2)", "DOUBLE(10,2)", "FLOAT(7,2)"])
def test_an_amount_with_more_digits_than_its_column_keeps_is_refused(
    column: RespServer, resp: RespConnection, kind: str
) -> None:
    make(column, kind, "1.50")
    for amount in ("0.005", "-1.001", "1e-3", "0.999"):
        for key in ("app.typed:a", "app.typed:new"):
            assert resp.command("HINCRBYFLOAT", key, "v", amount).startswith(b"-ERR sql 1265: "), amount
    assert stored(column) == ["1.50"]
    assert resp.command("HINCRBYFLOAT", "app.typed:a", "v", "25e-2") == b"$4\r\n1.75\r\n"
    assert resp.command("HINCRBYFLOAT", "app.typed:a", "v", "0.2500") == b"$4\r\n2.00\r\n"


@pytest.mark.parametrize("kind", ["VARCHAR(2)", "CHAR(2)", "TINYINT"])
def test_a_sum_that_its_column_has_no_room_for_is_an_overflow(
    column: RespServer, resp: RespConnection, kind: str
) -> None:
    make(column, kind, "99")
    assert resp.command("HINCRBY", "app.typed:a", "v", 30) == OVERFLOW
    assert stored(column) == ["99"]


def test_an_unsigned_column_counts_down(column: RespServer, resp: RespConnection) -> None:
    make(column, "INT UNSIGNED", "10")
    assert resp.command("DECR", "@@typed.a") == b":9\r\n"
    assert resp.command("INCRBY", "@@typed.a", -9) == b":0\r\n"
    assert resp.command("DECR", "@@typed.a") == OVERFLOW
    assert stored(column) == ["0"]


@pytest.mark.parametrize("kind", ["INT DEFAULT 7", "DECIMAL(10,2) DEFAULT 7", "VARCHAR(20) DEFAULT '7'"])
def test_null_counts_as_0_whatever_the_default_is(
    column: RespServer, resp: RespConnection, kind: str
) -> None:
    make(column, kind)
    column.sql("INSERT INTO app.typed VALUES ('a', NULL)")
    assert resp.command("INCR", "@@typed.a") == b":1\r\n"
    column.sql("UPDATE app.typed SET v = NULL")
    assert resp.command("HINCRBY", "app.typed:a", "v", 2) == b":2\r\n"


def test_sums_are_counted_as_increments(emptied: RespServer, resp: RespConnection) -> None:
    """The container's cas is set with them."""

    def counted() -> list[int]:
        of_table = "SELECT SUM(increments), SUM(updates) FROM information_schema.rowsocket_tables"
        ((increments, updates),) = emptied.sql(f"{of_table} WHERE table_name = 'item'")
        status = [emptied.counter(f"requests_{kind}") for kind in ("increment", "update")]
        return [int(increments), int(updates), *status]

    resp.command("SET", "a", "1")
    with emptied.memcached() as cache:
        before = counted()
        assert resp.command("INCR", "a") == b":2\r\n"
        assert resp.command("DECRBY", "a", 1) == b":1\r\n"
        assert cache.word("incr a 1") == "2"
        assert cache.word("ma a D1 MD T100") == "HD"
        resp.command("APPEND", "a", "0")
        assert [now - then for now, then in zip(counted(), before, strict=True)] == [4, 1, 4, 1]
