# SPDX-License-Identifier: MIT
"""Python values of columns, by their SQL types."""

from __future__ import annotations

import datetime
import decimal
import zoneinfo
from typing import Any

import pytest

from rowsocket._protocol import NULL, encode_value
from rowsocket._types import PLAIN_DECODERS, decoder_of, in_zone

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("sql_type", "token", "value"),
    [
        ("int(11)", b"-7", -7),
        ("bigint(20) unsigned", b"18446744073709551615", 2**64 - 1),
        ("int(5) unsigned zerofill", b"00042", 42),
        ("year(4)", b"2024", 2024),
        ("year(4)", b"0000", "0000"),
        ("year(2)", b"00", 0),
        ("decimal(20,10)", b"-1.5000000000", decimal.Decimal("-1.5000000000")),
        ("double", b"1e300", 1e300),
        ("float unsigned", b"0.5", 0.5),
        ("date", b"2024-02-29", datetime.date(2024, 2, 29)),
        ("datetime", b"2024-02-29 01:02:03", datetime.datetime(2024, 2, 29, 1, 2, 3)),
        ("datetime(1)", b"2024-02-29 01:02:03.5", datetime.datetime(2024, 2, 29, 1, 2, 3, 500000)),
        ("timestamp(6)", b"2024-02-29 01:02:03.000004", datetime.datetime(2024, 2, 29, 1, 2, 3, 4)),
        ("time", b"-838:59:59", -datetime.timedelta(hours=838, minutes=59, seconds=59)),
        ("time(3)", b"00:00:00.025", datetime.timedelta(milliseconds=25)),
        ("varchar(20)", b"a\x01Ib", "a\tb"),
        ("enum('a','b')", b"a", "a"),
        ("uuid", b"00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000001"),
        ("longtext /*M!100301 COMPRESSED*/", b"text", "text"),
        ("varbinary(8)", b"\xff\x01@", b"\xff\0"),
        ("bit(1)", b"\x01A", b"\x01"),
        ("point", b"\xff", b"\xff"),
        ("something new", b"text", "text"),
        ("something new", b"\xff", b"\xff"),
    ],
)
def test_a_token_of_a_type_is_a_value_of_its_language(sql_type: str, token: bytes, value: Any) -> None:
    decoded = decoder_of(sql_type)(token)
    assert (decoded, type(decoded)) == (value, type(value))


@pytest.mark.parametrize(
    "sql_type", ["int(11)", "decimal(5,2)", "double", "date", "datetime", "time", "text"]
)
def test_null_is_none_whatever_the_type(sql_type: str) -> None:
    assert decoder_of(sql_type)(NULL) is None


@pytest.mark.parametrize(
    ("sql_type", "token"),
    [("date", b"0000-00-00"), ("date", b"2024-02-00"), ("datetime", b"0000-00-00 00:00:00")],
)
def test_a_date_that_no_calendar_has_stays_text(sql_type: str, token: bytes) -> None:
    assert decoder_of(sql_type)(token) == token.decode()


@pytest.mark.parametrize(
    ("sql_type", "token"),
    [
        ("int(11)", b"1.5"),
        ("int(11)", b"1_000"),
        ("int(11)", b" 7 "),
        ("int(11)", b"+7"),
        ("int(11)", b"-"),
        ("int(11)", b""),
        ("decimal(5,2)", b"1_0"),
        ("decimal(5,2)", b"NaN"),
        ("decimal(5,2)", b"1e2"),
        ("double", b"1_0"),
        ("double", b"nan"),
        ("double", b"infinity"),
        ("double", b"7\n"),
        ("time", b"1:00:00"),
        ("time", b"01:99:00"),
        ("decimal(5,2)", b"\xff"),
        ("double", "ü".encode()),
        ("date", b"2024-02-29 01:02:03"),
        ("date", b"20240229"),
        ("date", b"\xff"),
        ("datetime", b"2024-02-29"),
        ("datetime", b"\xff"),
        ("timestamp", b"2024-02-29 01:02:03.1234567"),
        ("time", b"2024-02-29 01:02:03"),
        ("time", b"\xff"),
        ("text", b"\xff"),
    ],
)
def test_a_token_of_another_type_is_an_error(sql_type: str, token: bytes) -> None:
    decoder = decoder_of(sql_type)
    with pytest.raises((ValueError, ArithmeticError)):
        decoder(token)
    with pytest.raises((ValueError, ArithmeticError)):
        PLAIN_DECODERS.get(decoder, decoder)(token)


@pytest.mark.parametrize(
    "value",
    [
        7,
        decimal.Decimal("1.50"),
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 400),
        -datetime.timedelta(hours=30, microseconds=5),
    ],
)
def test_what_is_sent_is_what_is_read(value: Any) -> None:
    sql_type = {
        int: "int(11)",
        decimal.Decimal: "decimal(5,2)",
        datetime.date: "date",
        datetime.datetime: "datetime(6)",
        datetime.timedelta: "time(6)",
    }[type(value)]
    assert decoder_of(sql_type)(encode_value(value)) == value


def test_a_timestamp_is_an_instant_where_the_servers_zone_is_known() -> None:
    value = decoder_of("timestamp", BERLIN)(b"2024-07-01 12:00:00")
    assert value == datetime.datetime(2024, 7, 1, 10, 0, tzinfo=datetime.timezone.utc)
    assert decoder_of("timestamp", BERLIN)(b"0000-00-00 00:00:00") == "0000-00-00 00:00:00"


def test_a_datetime_has_no_zone_even_where_the_servers_is_known() -> None:
    assert decoder_of("datetime", BERLIN)(b"2024-07-01 12:00:00").tzinfo is None


def test_an_instant_is_sent_as_the_servers_zone_has_it() -> None:
    noon = datetime.datetime(2024, 7, 1, 12, 0, tzinfo=datetime.timezone.utc)
    assert in_zone(noon, BERLIN) == datetime.datetime(2024, 7, 1, 14, 0)
    assert in_zone(datetime.datetime(2024, 7, 1, 12, 0), BERLIN) == datetime.datetime(2024, 7, 1, 12, 0)
