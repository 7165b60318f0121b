# SPDX-License-Identifier: GPL-2.0-only
"""Bytes with numbers that are known only when a request is sent."""

from __future__ import annotations

import pytest
from bench.traffic.forms import (
    ANY_DIGITS,
    Number,
    fill,
    filled,
    form,
    little_endian,
    sql_expression,
    values_in,
    without_values,
)

K = Number()


def test_a_number_takes_eight_bytes_where_nothing_else_is_asked_for() -> None:
    assert len(f"user{K}") == 12
    assert filled(f"user{K}", [42]) == b"user00000042"
    assert filled(f"{K:03}", [42]) == b"042"


def test_a_number_is_calculated_with_like_any_other() -> None:
    assert filled(f"{(K * 20 + 19 - 2) // 3 % 10:01}", [7]) == b"2"
    assert filled(f"{K % 60:02}:{K * 7 % 60:02}", [59]) == b"59:53"


def test_what_is_the_same_for_every_key_becomes_a_plain_number() -> None:
    assert (K * 20 + 19) % 20 == 19
    assert (K * 20 + 19) // 20 == K


def test_what_cannot_be_calculated_is_refused() -> None:
    with pytest.raises(TypeError):
        (K // 3) + 1


def test_the_player_is_told_where_the_numbers_stand() -> None:
    told = form(f"get {Number(key=1):02}{Number(key=1):02}\r\n")
    assert told["bytes"] == "get 0000\r\n"
    assert [(field["at"], field["width"], field["key"]) for field in told["fields"]] == [(4, 2, 1), (6, 2, 1)]
    assert form(f":{ANY_DIGITS}\r\n") == {"bytes": ":\r\n", "fields": [{"at": 1, "width": 0, "of": "digits"}]}


def test_a_negative_addend_is_told_as_the_player_adds_it() -> None:
    [field] = form(f"{K - 5}")["fields"]
    assert (field["add"] + 6) % 2**64 == 1


def test_other_sources_are_told_by_name() -> None:
    [tick, connection] = form(f"{Number('tick'):09} {Number('connection', add=1):04}")["fields"]
    assert tick == {"at": 0, "width": 9, "of": "tick"}
    assert connection == {"at": 10, "width": 4, "of": "connection", "add": 1}


def test_a_number_can_be_binary() -> None:
    assert filled(little_endian(f"{K}", 4), [0x0102]) == b"\x02\x01\0\0"
    assert little_endian("258", 2) == "\x02\x01"


def test_a_filled_text_is_as_long_as_it_says() -> None:
    assert filled(fill(f"value {K} ", 20), [1]) == b"value 00000001 xxxxx"
    with pytest.raises(ValueError, match="longer than 10"):
        fill(f"value {K} ", 10)


def test_a_text_is_an_sql_expression_of_the_row() -> None:
    assert sql_expression(f"{K}", "seq") == "((seq * 1 + 0) DIV 1)"
    assert (
        sql_expression(f"at {K % 60:02}", "seq")
        == "CONCAT('at ', LPAD((((seq * 1 + 0) DIV 1) % 60), 2, '0'))"
    )


def test_what_differs_in_a_statement_becomes_its_parameters() -> None:
    statement = f"SELECT a FROM t WHERE k = {K} AND n = 5 AND email = 'u{K}@example.com' AND c = 'same'"
    assert without_values(statement) == "SELECT a FROM t WHERE k = ? AND n = 5 AND email = ? AND c = 'same'"
    assert values_in(statement) == [(f"{K}", False), (f"u{K}@example.com", True)]
