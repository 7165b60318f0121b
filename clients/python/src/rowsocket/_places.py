# SPDX-License-Identifier: MIT
"""The places of a pool of the blocking client, which threads wait for."""

from __future__ import annotations

import collections
import contextlib
import os
import threading
import weakref

from rowsocket._options import Deadline

LOOK_AGAIN_S = 1.0
"""Who waits for a place looks so often by itself, in case a signal's handler interrupted who was to wake it.
"""

PLACES_MAX = 1 << 16
"""There are no more ports to connect from."""


class Place:
    """A place of a pool: whoever has this object has the place.

    A signal's handler can raise between any two steps of a call, also between one that takes a place and the
    `try` behind it. Then nobody has the object any more, and as it ends, the pool gets another one.
    """

    __slots__ = ("_places",)

    def __init__(self, places: Places) -> None:
        self._places = weakref.ref(places)

    def __reduce__(self) -> str:
        """No copy is made by `copy` or `pickle`: the pool would get a place for it. Raises TypeError."""
        raise TypeError("a pool can not be copied")

    def __del__(self) -> None:
        places = self._places()
        if places is not None:
            places.add()


class Turn:
    """Somebody who waits for a place."""

    __slots__ = ("__weakref__", "_asleep")

    def __init__(self) -> None:
        self._asleep = threading.Lock()
        self._asleep.acquire()

    def sleep(self, longest_s: float) -> None:
        """Wait for `wake`, if it was not called since the last sleep."""
        self._asleep.acquire(timeout=longest_s)

    def wake(self) -> None:
        """End the sleep, or the next one."""
        with contextlib.suppress(RuntimeError):  # it is awake
            self._asleep.release()


class Places:
    """The places of a pool; each connection that is in use takes one. First come, first served: a place that
    comes back is for the one that has waited longest, and who comes meanwhile waits behind.

    No lock is around it: it would cost as much as the rest, and a signal's handler that uses the pool, too,
    would wait for it for ever. Each step is one call of a list or a deque, which is whole by itself. Who has
    added a place wakes the first who waits; who is the first looks for a place before it sleeps. So no place
    stays free while somebody waits.

    What a signal's handler interrupts loses nothing either: a place that nobody has any more comes back (see
    `Place`), a turn that nobody has any more is none, and who waits looks around from time to time.
    """

    def __init__(self, count: int) -> None:
        self._free = [Place(self) for _ in range(min(count, PLACES_MAX))]
        self._waiting: collections.deque[weakref.ref[Turn]] = collections.deque()
        """The one that has waited longest comes first."""
        _places.add(self)

    def take(self, deadline: Deadline) -> Place:
        """Wait for a place; `release` gives it back. Raises TimeoutError."""
        if not self._waiting:
            try:
                return self._free.pop()
            except IndexError:
                pass
        return self._wait(deadline)

    def release(self, place: Place) -> None:
        """Give a place back."""
        self._free.append(place)
        if self._waiting:
            self._wake_first()

    def add(self) -> None:
        """Let there be one place more."""
        self.release(Place(self))

    def forget_waiting(self) -> None:
        """For a child after a fork: the threads that wait are not in it."""
        self._waiting.clear()

    def _wait(self, deadline: Deadline) -> Place:
        turn = Turn()
        listed = weakref.ref(turn)
        try:
            self._waiting.append(listed)
            while True:
                if self._first() is turn:
                    try:
                        return self._free.pop()
                    except IndexError:
                        pass
                remaining_s = deadline.remaining_s()
                turn.sleep(LOOK_AGAIN_S if remaining_s is None else min(remaining_s, LOOK_AGAIN_S))
        finally:
            self._forget(listed)
            if self._free:  # more than one came back
                self._wake_first()

    def _first(self) -> Turn | None:
        while self._waiting:
            try:
                listed = self._waiting[0]
            except IndexError:  # just now
                break
            turn = listed()
            if turn is not None:
                return turn
            self._forget(listed)
        return None

    def _forget(self, listed: weakref.ref[Turn]) -> None:
        try:  # noqa: SIM105 which would add steps that can be interrupted
            self._waiting.remove(listed)
        except ValueError:  # it is not there any more, or was interrupted before it was
            pass

    def _wake_first(self) -> None:
        turn = self._first()
        if turn is not None:
            turn.wake()


_places: weakref.WeakSet[Places] = weakref.WeakSet()


def _forget_waiting() -> None:
    """In a child, after a fork: it has only the thread that forked, so nobody waits for a place."""
    for places in list(_places):
        places.forget_waiting()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_waiting)
