# SPDX-License-Identifier: MIT
"""A `get` on its own takes a shorter way through the session, and has what the long way gives."""

from __future__ import annotations

import time
from typing import Any

import pytest

from rowsocket import _requests
from rowsocket._index import IndexDescription, ValueKind, as_dicts, describe
from rowsocket._session import IndexIds, Pending, Session

TYPES = b"0\t3\tint(11)\tvarchar(20)\tdatetime\n"
ROW = b"0\t3\t-7\tAd\xc3\xa9le\t2024-01-02 03:04:05\n"


def session_with(index: IndexDescription[Any], types: bytes) -> Session:
    """A session in which the index is open."""
    session = Session(IndexIds())
    session.open(index)
    session.feed(types)
    return session


def users(values: ValueKind = "typed") -> IndexDescription[tuple[Any, ...]]:
    return describe("app", "user", "id,name,seen", "PRIMARY", (), values=values)


def asked_alone(session: Session, index: IndexDescription[Any]) -> Pending[Any]:
    pending = Pending(_requests.get(index, 7))
    assert session.encode_alone(pending, time.monotonic()) == b"0\t=\t1\t7\t1\t0\n"
    return pending


def outcome_of(pending: Pending[Any]) -> tuple[Any, str]:
    return pending._result, repr(pending.error)


def long_way(index: IndexDescription[Any], types: bytes, data: bytes) -> tuple[Any, str]:
    session = session_with(index, types)
    pending = Pending(_requests.get(index, 7))
    session.encode([pending])
    session.feed(data)
    return outcome_of(pending)


def test_a_plain_row_is_taken_at_once() -> None:
    session = session_with(users(), TYPES)
    pending = asked_alone(session, users())
    assert session.take_alone(pending, ROW)
    assert outcome_of(pending) == long_way(users(), TYPES, ROW)
    assert not session.awaits_reply


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
        (b"0\t1\n", ROW),  # a server that tells no types
    ],
)
def test_whatever_else_comes_is_left_to_the_long_way(types: bytes, data: bytes) -> None:
    session = session_with(users(), types)
    pending = asked_alone(session, users())
    assert not session.take_alone(pending, data)
    assert not pending.done
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
    assert not session.take_alone(asked_alone(session, users()), data)


@pytest.mark.parametrize("index", [users("text"), users("bytes"), as_dicts(users())])
def test_rows_that_are_no_typed_tuples_are_left_to_the_long_way(index: IndexDescription[Any]) -> None:
    session = session_with(index, TYPES)
    assert not session.take_alone(asked_alone(session, index), ROW)


def test_other_requests_are_left_to_the_long_way() -> None:
    session = session_with(users(), TYPES)
    pending = Pending(_requests.find(users(), 7))
    assert session.encode_alone(pending, time.monotonic()) is not None
    assert not session.take_alone(pending, ROW)
