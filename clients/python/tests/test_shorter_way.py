# SPDX-License-Identifier: MIT
"""A `get` on its own takes a shorter way through the session, and has what the long way gives."""

from __future__ import annotations

import time
from typing import Any

import pytest

from rowsocket import _requests
from rowsocket._index import IndexDescription, ValueKind, as_dicts, describe
from rowsocket._session import IndexIds, Pending, Session, opening_of

TYPES = b"0\t3\tint(11)\tvarchar(20)\tdatetime\n"
ROW = b"0\t3\t-7\tAd\xc3\xa9le\t2024-01-02 03:04:05\n"


def session_with(index: IndexDescription[Any], types: bytes) -> Session:
    """A session in which the index is open."""
    session = Session(IndexIds())
    session.encode([opening_of(index)])
    session.feed(types)
    return session


def users(values: ValueKind = "typed") -> IndexDescription[tuple[Any, ...]]:
    return describe("app", "user", "id,name,seen", "PRIMARY", (), values=values)


def plain_row(session: Session, index: IndexDescription[Any], data: bytes) -> tuple[Any, ...] | None:
    """Of a session that is asked alone for the index."""
    opened = session.begin_alone(index, time.monotonic())
    assert opened is not None
    assert session.awaits_reply
    return opened.plain_row(data)


def gone_on(session: Session, index: IndexDescription[Any]) -> Pending[Any]:
    opened = session._opened[index.open_tokens]
    return session.go_on_alone(_requests.get(index, 7), opened)


def outcome_of(pending: Pending[Any]) -> tuple[Any, str]:
    return pending._result, repr(pending.error)


def long_way(index: IndexDescription[Any], types: bytes, data: bytes) -> tuple[Any, str]:
    session = session_with(index, types)
    pending = Pending(_requests.get(index, 7))
    session.encode([pending])
    session.feed(data)
    return outcome_of(pending)


@pytest.mark.parametrize(
    ("index", "types"),
    [
        (users(), TYPES),
        (users(), b"0\t3\tint(11)\tvarchar(20)\ttimestamp(2)\n"),
        (users(), b"0\t3\tdecimal(8,2)\ttext\tchar(19)\n"),
        (users(), b"0\t1\n"),  # a server that tells no types
        (users("text"), b"0\t1\n"),
    ],
)
def test_a_plain_row_is_what_the_long_way_gives(index: IndexDescription[Any], types: bytes) -> None:
    assert (plain_row(session_with(index, types), index, ROW), "None") == long_way(index, types, ROW)


@pytest.mark.parametrize(
    "data", [b"0\t1\t\n", b"0\t1\t \n", b"0\t1\tAda\n", b"0\t1\t0\t1\t\n", b"0\t1\n", b"\n"]
)
def test_a_row_of_one_column_is_what_the_long_way_gives(data: bytes) -> None:
    index = describe("app", "user", "name", "PRIMARY", (), values="text")
    row = plain_row(session_with(index, b"0\t1\n"), index, data)
    assert row is None or (row, "None") == long_way(index, b"0\t1\n", data)


def test_nothing_else_is_asked_meanwhile() -> None:
    session = session_with(users(), TYPES)
    assert session.begin_alone(users(), time.monotonic()) is not None
    assert session.begin_alone(users(), time.monotonic()) is None


@pytest.mark.parametrize(
    ("types", "data"),
    [
        (TYPES, b"0\t3\n"),  # no row
        (TYPES, b"0\t3\t1\t\x00\t2024-01-02 03:04:05\n"),  # NULL
        (TYPES, b"0\t3\t1\tA\x01Ja\t2024-01-02 03:04:05\n"),  # an escape
        (TYPES, b"0\t3\tone\tAda\t2024-01-02 03:04:05\n"),  # another type
        (TYPES, b"0\t3\t\xd9\xa3\tAda\t2024-01-02 03:04:05\n"),  # a digit of another script
        (TYPES, b"0\t3\t1\tA\xff\t2024-01-02 03:04:05\n"),  # no text
        (TYPES, ROW[:-1] + b"\t2" + ROW[3:]),  # two rows
        (TYPES, b"0\t2\t1\tAda\n"),  # other columns
        (TYPES, b"1\t1\tread_only\n"),  # an error
        (b"0\t3\tint(11)\tvarbinary(20)\tdatetime\n", ROW),  # bytes
    ],
)
def test_whatever_else_comes_is_left_to_the_long_way(types: bytes, data: bytes) -> None:
    session = session_with(users(), types)
    assert plain_row(session, users(), data) is None
    pending = gone_on(session, users())
    assert session.awaits_reply
    try:
        expected = long_way(users(), types, data)
    except Exception as refused:
        with pytest.raises(type(refused)):
            session.feed(data)
        return
    session.feed(data)
    assert outcome_of(pending) == expected


@pytest.mark.parametrize("data", [ROW[:-1], ROW + b"0\t3\n", b""])
def test_less_or_more_than_one_reply_is_left_to_the_long_way(data: bytes) -> None:
    session = session_with(users(), TYPES)
    assert plain_row(session, users(), data) is None


@pytest.mark.parametrize("index", [users("bytes"), as_dicts(users()), users().with_columns(())])
def test_what_is_no_tuple_of_values_is_left_to_the_long_way(index: IndexDescription[Any]) -> None:
    assert not index.has_plain_rows
