# SPDX-License-Identifier: MIT
"""Values to tokens and back, and reply bytes to replies."""

from __future__ import annotations

import datetime
import decimal
import ipaddress
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowsocket._protocol import (
    Reply,
    ReplyParser,
    Value,
    decode_bytes,
    decode_text,
    encode_value,
    escape,
    parse_reply,
    unescape,
)
from rowsocket.errors import (
    AuthenticationError,
    Deadlock,
    DuplicateKey,
    EngineError,
    InvalidValue,
    OpenTableError,
    ProtocolError,
    ReadOnlyError,
    RequestError,
    ServerError,
    error_from_reply,
)


@given(st.binary())
def test_escaped_bytes_come_back_and_never_look_like_structure(data: bytes) -> None:
    token = escape(data)
    assert unescape(token) == data
    assert not set(token) & {0, 9, 10, 13}


@given(st.none() | st.text())
def test_text_and_null_come_back(value: str | None) -> None:
    assert decode_text(encode_value(value)) == value


@given(st.none() | st.binary())
def test_bytes_and_null_come_back(value: bytes | None) -> None:
    assert decode_bytes(encode_value(value)) == value


def test_null_the_empty_string_and_a_zero_byte_are_three_things() -> None:
    assert [encode_value(None), encode_value(""), encode_value(b"\0")] == [b"\x00", b"", b"\x01\x40"]
    assert [decode_bytes(b"\x00"), decode_bytes(b""), decode_bytes(b"\x01\x40")] == [None, b"", b"\0"]


@pytest.mark.parametrize(
    ("value", "token"),
    [
        (True, b"1"),
        (-7, b"-7"),
        (0.1, b"0.1"),
        (1e300, b"1e+300"),
        (decimal.Decimal("1E+3"), b"1000"),
        (decimal.Decimal("-0.00001"), b"-0.00001"),
        (datetime.date(2024, 2, 29), b"2024-02-29"),
        (datetime.datetime(2024, 2, 29, 1, 2, 3, 4), b"2024-02-29 01:02:03.000004"),
        (datetime.time(23, 59, 59), b"23:59:59"),
        (datetime.timedelta(hours=-838, minutes=-59, seconds=-59), b"-838:59:59"),
        (datetime.timedelta(microseconds=-1), b"-00:00:00.000001"),
        (uuid.UUID(int=1), b"00000000-0000-0000-0000-000000000001"),
        (ipaddress.ip_address("2001:db8::1"), b"2001:db8::1"),
        (bytearray(b"a\tb"), b"a\x01Ib"),
        ("zażółć 🦊", "zażółć 🦊".encode()),
    ],
)
def test_values_are_written_as_sql_writes_them(value: Value, token: bytes) -> None:
    assert encode_value(value) == token


@pytest.mark.parametrize("value", [float("nan"), float("inf"), decimal.Decimal("NaN"), "\ud800"])
def test_what_no_column_holds_is_refused(value: Value) -> None:
    with pytest.raises(ValueError):
        encode_value(value)


def test_a_time_with_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        encode_value(datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc))


def test_a_type_without_text_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        encode_value(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("token", [b"\x01", b"a\x01", b"\x01\x01", b"\x01\x3f", b"\x01\x50"])
def test_a_broken_escape_is_an_error(token: bytes) -> None:
    with pytest.raises(ProtocolError):
        unescape(token)


STREAM = b"0\t1\n0\t2\t1\tAda\t2\t\x00\n2\t1\tstmtnum\n0\t2\n0\t1\t\n"
REPLIES = [
    Reply(0, 1, []),
    Reply(0, 2, [b"1", b"Ada", b"2", b"\x00"]),
    Reply(2, 1, [b"stmtnum"]),
    Reply(0, 2, []),
    Reply(0, 1, [b""]),
]


@pytest.mark.parametrize("piece_bytes", range(1, len(STREAM) + 1))
def test_replies_are_the_same_however_they_are_cut(piece_bytes: int) -> None:
    parser = ReplyParser()
    replies = [
        reply
        for start in range(0, len(STREAM), piece_bytes)
        for reply in parser.feed(STREAM[start : start + piece_bytes])
    ]
    assert replies == REPLIES


@given(st.lists(st.lists(st.none() | st.binary(), min_size=1)), st.lists(st.integers(0, 200)))
def test_any_rows_come_back_however_they_are_cut(rows: list[list[bytes | None]], cuts: list[int]) -> None:
    stream = b"".join(b"0\t%d\t%s\n" % (len(row), b"\t".join(map(encode_value, row))) for row in rows)
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    parser = ReplyParser()
    replies = [reply for start, end in zip(edges, edges[1:]) for reply in parser.feed(stream[start:end])]
    assert [list(map(decode_bytes, reply.tokens)) for reply in replies] == rows


@pytest.mark.parametrize(
    "line", [b"", b"0", b"x\t1", b"0\tx", b"HTTP/1.1 400 Bad Request", b"-1\t1", b"0\t" + b"9" * 5000]
)
def test_what_is_no_reply_is_an_error(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_reply(line)


@given(st.binary())
def test_noise_gives_replies_or_an_error_and_nothing_else(noise: bytes) -> None:
    try:
        for reply in ReplyParser().feed(noise):
            reply.error()
    except ProtocolError:
        pass


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        (b"3\t1\tunauth", AuthenticationError, "3 unauth"),
        (b"2\t1\tstmtnum", RequestError, "2 stmtnum"),
        (b"2\t1\treadonly", ReadOnlyError, "2 readonly"),
        (b"1\t1\topen_table\tno such table", OpenTableError, "1 open_table: no such table"),
        (b"1\t1\t121", DuplicateKey, "1 121"),
        (b"1\t1\t149", Deadlock, "1 149"),
        (b"1\t1\t1406\tData too long", InvalidValue, "1 1406: Data too long"),
        (b"1\t1\t999", EngineError, "1 999"),
        (b"1\t1\tcommit", ServerError, "1 commit"),
        (b"7\t0", ServerError, "7 "),
    ],
)
def test_error_replies_become_typed_exceptions(line: bytes, kind: type[ServerError], said: str) -> None:
    error = parse_reply(line).error()
    assert type(error) is kind
    assert str(error) == said


def test_an_engine_error_carries_its_number() -> None:
    error = error_from_reply(1, "152")
    assert isinstance(error, EngineError)
    assert (error.code, error.text, error.number) == (1, "152", 152)
