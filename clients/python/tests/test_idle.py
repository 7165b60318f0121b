# SPDX-License-Identifier: MIT
"""The unused connections of a pool, as threads that share them may come between each other's steps."""

from __future__ import annotations

import collections
from typing import Any, Callable

import pytest

from rowsocket._idle import Idle


class Meanwhile(collections.deque[Any]):
    """Another thread does something before the next call of one of its methods."""

    happens: Callable[[], object] | None = None

    def _let_happen(self) -> None:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()

    def popleft(self) -> Any:
        self._let_happen()
        return super().popleft()

    def append(self, one: Any) -> None:
        self._let_happen()
        super().append(one)

    def remove(self, one: Any) -> None:
        self._let_happen()
        super().remove(one)


@pytest.fixture
def idle() -> Idle[str]:
    made: Idle[str] = Idle(10.0)
    made._unused = Meanwhile()
    return made


def meanwhile(idle: Idle[str], happens: Callable[[], object]) -> None:
    unused = idle._unused
    assert isinstance(unused, Meanwhile)
    unused.happens = happens


def test_the_one_that_was_used_last_is_used_next(idle: Idle[str]) -> None:
    for name, now_s in (("one", 1.0), ("two", 2.0)):
        assert idle.give_back(name, now_s)
    assert [idle.take(3.0) for _ in range(3)] == [("two", ()), ("one", ()), (None, ())]


def test_those_that_were_unused_for_too_long_are_to_be_closed(idle: Idle[str]) -> None:
    for name, now_s in (("one", 1.0), ("two", 2.0), ("three", 9.0)):
        idle.give_back(name, now_s)
    assert idle.take(12.5) == ("three", ["one", "two"])
    idle.give_back("three", 13.0)
    assert idle.take(24.0) == (None, ["three"])


def test_one_that_another_thread_takes_as_expired_is_not_taken_again(idle: Idle[str]) -> None:
    idle.give_back("old", 1.0)
    idle.give_back("new", 19.0)
    meanwhile(idle, lambda: idle._unused.popleft())
    assert idle.take(20.0) == ("new", [])


def test_the_last_that_another_thread_takes_is_not_there(idle: Idle[str]) -> None:
    idle.give_back("old", 1.0)
    meanwhile(idle, lambda: idle._unused.popleft())
    assert idle.take(20.0) == (None, [])


def test_a_pool_that_is_closed_gives_all_that_it_has_and_takes_none(idle: Idle[str]) -> None:
    idle.give_back("one", 1.0)
    assert idle.close() == ["one"]
    assert idle.closed
    assert not idle.give_back("two", 2.0)
    assert idle.take(3.0) == (None, ())


def test_one_that_comes_back_while_the_pool_is_closed_is_closed_by_who_brings_it(idle: Idle[str]) -> None:
    meanwhile(idle, idle.close)
    assert not idle.give_back("one", 1.0)
    assert idle.close() == []


def test_one_that_who_closes_the_pool_finds_meanwhile_is_closed_by_who_closes_it(idle: Idle[str]) -> None:
    closed: list[str] = []

    def close_it_and_find_it() -> None:
        idle.close()
        meanwhile(idle, lambda: closed.extend(idle.close()))

    meanwhile(idle, close_it_and_find_it)
    assert idle.give_back("one", 1.0)
    assert closed == ["one"]
