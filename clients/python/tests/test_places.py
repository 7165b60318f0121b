# SPDX-License-Identifier: MIT
"""Who gets a place of a pool of blocking connections, and when."""

from __future__ import annotations

import copy
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import pytest

import rowsocket
from rowsocket import _places
from rowsocket._link import Place, Places
from rowsocket._options import Deadline

T = TypeVar("T")

PATIENT = Deadline(None)


class Told(Deadline):
    """Says when somebody is about to wait for a place."""

    def __init__(self) -> None:
        super().__init__(10.0)
        self.waits = threading.Event()

    def remaining_s(self) -> float | None:
        self.waits.set()
        return super().remaining_s()


class Brief(Deadline):
    """Leaves one moment to wait. Something happens when it is over."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        super().__init__(None)
        self._meanwhile = meanwhile
        self._left = [1e-9]

    def remaining_s(self) -> float | None:
        if self._left:
            return self._left.pop()
        self._meanwhile()
        raise TimeoutError


def free_of(places: Places, at_most: int) -> int:
    """How many places can be taken at once."""
    taken: list[Place] = []
    try:
        while len(taken) < at_most:
            taken.append(places.take(Brief()))
    except TimeoutError:
        pass
    for place in taken:
        places.release(place)
    return len(taken)


def waits(threads: ThreadPoolExecutor, work: Callable[[Deadline], T]) -> Future[T]:
    """Have a thread do it, and return when it waits for a place."""
    deadline = Told()
    future = threads.submit(work, deadline)
    assert deadline.waits.wait(10)
    return future


def test_who_has_just_released_a_place_waits_behind_those_who_wait() -> None:
    places = Places(1)
    taken = places.take(PATIENT)
    with ThreadPoolExecutor(1) as threads:
        waiting = waits(threads, places.take)
        places.release(taken)
        with pytest.raises(TimeoutError):
            places.take(Brief())
        waiting.result(10)


def test_places_go_to_those_who_wait_in_their_order() -> None:
    places = Places(1)
    taken = places.take(PATIENT)
    served: list[int] = []

    def be_served(number: int, deadline: Deadline) -> None:
        place = places.take(deadline)
        served.append(number)
        places.release(place)

    with ThreadPoolExecutor(4) as threads:
        waiting = [
            waits(threads, lambda deadline, number=number: be_served(number, deadline))  # type: ignore[misc]
            for number in range(4)
        ]
        places.release(taken)
        for one in waiting:
            one.result(10)
    assert served == [0, 1, 2, 3]


def test_a_place_that_comes_back_as_the_time_ends_is_not_lost() -> None:
    places = Places(1)
    taken = places.take(PATIENT)
    with pytest.raises(TimeoutError):
        places.take(Brief(meanwhile=lambda: places.release(taken)))
    assert free_of(places, 2) == 1


def test_a_place_that_comes_back_as_the_time_ends_goes_to_the_next_who_waits() -> None:
    places = Places(1)
    taken = places.take(PATIENT)
    with ThreadPoolExecutor(1) as threads:
        behind: list[Future[Place]] = []

        def meanwhile() -> None:
            behind.append(waits(threads, places.take))
            places.release(taken)

        with pytest.raises(TimeoutError):
            places.take(Brief(meanwhile))
        behind[0].result(10)


def test_who_gave_up_is_given_no_place() -> None:
    places = Places(1)
    taken = places.take(PATIENT)
    with pytest.raises(TimeoutError):
        places.take(Brief())
    places.release(taken)
    assert free_of(places, 2) == 1


def test_a_ctrl_c_of_who_waits_loses_no_place() -> None:
    def interrupt() -> None:
        places.release(taken)
        raise KeyboardInterrupt

    places = Places(1)
    taken = places.take(PATIENT)
    with pytest.raises(KeyboardInterrupt):
        places.take(Brief(meanwhile=interrupt))
    assert free_of(places, 2) == 1


def test_who_waits_needs_nobody_who_says_that_a_place_came_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal's handler may interrupt who was about to."""
    monkeypatch.setattr(_places, "LOOK_AGAIN_S", 0.01)
    places = Places(1)
    taken = places.take(PATIENT)
    with ThreadPoolExecutor(1) as threads:
        waiting = waits(threads, places.take)
        places._free.append(taken)
        waiting.result(10)


def test_a_place_that_nobody_has_any_more_goes_to_the_next_who_waits() -> None:
    places = Places(1)
    taken = places.take(PATIENT)
    with ThreadPoolExecutor(1) as threads:
        waiting = waits(threads, places.take)
        del taken
        waiting.result(10)


def test_the_places_of_pools_that_nobody_has_any_more_come_to_an_end() -> None:
    places = Places(2)
    taken, ends = places.take(PATIENT), weakref.ref(places)
    del places
    assert ends() is None
    del taken


def test_as_many_take_places_at_a_time_as_there_are() -> None:
    places = Places(3)
    inside: list[None] = []

    def work(_: int) -> int:
        for _ in range(200):
            place = places.take(PATIENT)
            inside.append(None)
            together = len(inside)
            inside.pop()
            places.release(place)
            assert together <= 3
        return 200

    with ThreadPoolExecutor(12) as threads:
        assert sum(threads.map(work, range(12))) == 2400
    assert free_of(places, 4) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_child_gives_no_place_to_the_threads_that_wait_in_its_parent() -> None:
    places = Places(1)
    taken = places.take(PATIENT)
    with ThreadPoolExecutor(1) as threads:
        waiting = waits(threads, places.take)
        child = os.fork()
        if child == 0:
            places.release(taken)
            try:
                os._exit(0 if free_of(places, 2) == 1 else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        places.release(taken)
        waiting.result(10)


def test_a_pool_that_can_not_be_copied_gains_no_place() -> None:
    pool = rowsocket.ConnectionPool(max_size=2)
    with pytest.raises(TypeError, match="a pool can not be copied"):
        copy.deepcopy(pool)
    assert free_of(pool._places, at_most=9) == 2
