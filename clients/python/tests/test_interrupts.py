# SPDX-License-Identifier: MIT
"""A signal's handler that raises, as those of time limits do, at whatever step of a call.

What it raises reaches the caller, who may go on: with the types of the columns, and all places of a pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import dis
import inspect
import itertools
import sys
import weakref
from collections.abc import Container, Iterator
from types import FrameType
from typing import Any, Callable

import pytest

import rowsocket
from fake_server import FakeServer, Peer
from rowsocket import ConnectionPool, _idle, _index, _places, _session, aio, pool
from rowsocket._index import Request, describe
from rowsocket._link import Place, Places
from rowsocket._options import Deadline
from rowsocket._session import Pending
from test_places import PATIENT, free_of
from test_typed import ONE_ROW, SEEN
from typed_table import COLUMNS, answering, opens

STEPS_OF = {module.__file__ for module in (_idle, _places, pool)}
INDEX = describe("app", "user", ["id"], "PRIMARY", ())
REQUEST = Request(INDEX, b"=\t1\t1\t1\t0", False, INDEX.first_row)


OF_EXCEPT = [dis.opmap.get(name) for name in ("PUSH_EXC_INFO", "POP_EXCEPT")]
"""The ends of an `except`. Before these, no signal is handled; and if one is left out, what was caught stays
alive.
"""


class Alarm(Exception):
    """What a handler raises: no KeyboardInterrupt, and no error of this package."""


class RaisesOnce:
    """In place of a function."""

    def __init__(self, instead_of: Callable[..., Any]) -> None:
        self._later = instead_of
        self._raised = False

    def __call__(self, *words: Any) -> Any:
        if self._raised:
            return self._later(*words)
        self._raised = True
        raise Alarm


# ── a reply ─────────────────────────────────────────────────────────────────────────────────────────────────


def opens_and_is_left(peer: Peer) -> None:
    opens(peer)
    while peer.read():
        pass


def opens_and_closes(peer: Peer) -> None:
    opens(peer)


def test_no_code_of_python_runs_as_a_link_dies() -> None:
    """What a handler raises in such code, the interpreter prints, and nobody gets."""
    with (
        FakeServer(lambda peer: peer.until_closed()) as server,
        rowsocket.connect(port=server.port) as connection,
    ):
        callbacks = [reference.__callback__ for reference in weakref.getweakrefs(connection._link)]
    assert callbacks
    assert all(inspect.isbuiltin(callback) for callback in callbacks)


def test_an_index_whose_opening_was_interrupted_has_its_types(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        FakeServer(opens_and_is_left, answering(ONE_ROW)) as server,
        rowsocket.connect(port=server.port, database="app") as connection,
    ):
        monkeypatch.setattr(_session, "_nothing", RaisesOnce(_session._nothing))
        with pytest.raises(Alarm):
            connection.table("user", COLUMNS)
        assert connection.table("user", COLUMNS).get(1) == (1, "Ada", SEEN)


def test_an_index_whose_opening_again_was_interrupted_has_its_types(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        FakeServer(opens_and_closes, opens_and_is_left, answering(ONE_ROW)) as server,
        rowsocket.connect(port=server.port, database="app") as connection,
    ):
        users = connection.table("user", COLUMNS)
        monkeypatch.setattr(_session, "_nothing", RaisesOnce(_session._nothing))
        with pytest.raises(Alarm):
            users.get(1)
        assert users.get(1) == (1, "Ada", SEEN)


def test_an_interrupt_is_no_error_of_a_pipelines_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        FakeServer(answering(ONE_ROW), answering(ONE_ROW)) as server,
        rowsocket.connect(port=server.port, database="app") as connection,
    ):
        users = connection.table("user", COLUMNS)
        monkeypatch.setattr(_index, "tuple", RaisesOnce(tuple), raising=False)  # which makes the row
        with pytest.raises(Alarm), connection.pipeline() as pipe:
            one = pipe.get(users, 1)
        assert isinstance(one.error, rowsocket.ConnectionLost)
        assert users.get(1) == (1, "Ada", SEEN)


def test_an_interrupt_of_asyncios_client_loses_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody called what it interrupts: the event loop is told, and the request goes over another one."""

    async def ask(port: int) -> None:
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        async with await aio.connect(port=port, database="app") as connection:
            monkeypatch.setattr(_session, "_nothing", RaisesOnce(_session._nothing))
            users = await connection.table("user", COLUMNS)
            assert await users.get(1) == (1, "Ada", SEEN)
        assert [type(context.get("exception")) for context in told] == [Alarm]

    with FakeServer(opens_and_is_left, answering(ONE_ROW)) as server:
        asyncio.run(ask(server.port))


# ── a place of a pool ───────────────────────────────────────────────────────────────────────────────────────


class Meanwhile(Deadline):
    """Something happens as somebody begins to wait."""

    def __init__(self, happens: Callable[[], None]) -> None:
        super().__init__(None)
        self._happens = [happens]

    def remaining_s(self) -> float | None:
        if self._happens:
            self._happens.pop()()
        return super().remaining_s()


class Standing:
    """A connection that costs nothing."""

    usable = True
    _place: Place | None = None

    def __init__(self, _: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def do_nothing(self, *_: Any) -> None:
        pass

    _connected = _execute = _open_within = _run = do_nothing


def sound_alarm() -> None:
    raise Alarm


def is_interrupted(
    call: Callable[[], object],
    step: int,
    by: Callable[[], object] = sound_alarm,
    steps_of: Container[str | None] = STEPS_OF,
) -> bool:
    """Call, and call `by` at this step of these files, from 1; False if there are not so many.

    A step is an instruction of Python's virtual machine. Nothing is interrupted more than once.
    """
    steps = itertools.count(1)
    is_met = False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal is_met
        if frame.f_code.co_filename not in steps_of:
            return None
        frame.f_trace_opcodes = True
        code = frame.f_code.co_code[frame.f_lasti]
        if event == "opcode" and code not in OF_EXCEPT and next(steps) == step:
            is_met = True
            by()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    with contextlib.suppress(Alarm):
        try:
            call()
        finally:
            sys.settrace(before)
    return is_met


def interrupted_at_each_step(
    call: Callable[[], object],
    by: Callable[[], object] = sound_alarm,
    steps_of: Container[str | None] = STEPS_OF,
) -> Iterator[int]:
    is_interrupted(call, 0, by, steps_of)  # no step is: Python 3.12 tells them from the second time on
    return itertools.takewhile(lambda step: is_interrupted(call, step, by, steps_of), itertools.count(1))


def borrow(of: ConnectionPool) -> None:
    with of.connection():
        pass


CALLS: dict[str, Callable[[ConnectionPool], object]] = {
    "request": lambda pool: pool._execute(REQUEST),
    "pipeline": lambda pool: pool._run([Pending(REQUEST)]),
    "open": lambda pool: pool._open(INDEX, None),
    "connection": borrow,
}


@pytest.mark.parametrize("uses_the_pool", [False, True])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_handler_within_a_call_takes_a_place_of_a_pool_for_good(
    monkeypatch: pytest.MonkeyPatch, call: Callable[[ConnectionPool], object], uses_the_pool: bool
) -> None:
    """It raises, or does the same call, for which no lock keeps it waiting."""
    monkeypatch.setattr(pool, "Connection", Standing)
    used = ConnectionPool(max_size=2)
    by = (lambda: call(used)) if uses_the_pool else sound_alarm
    step = 0
    for step in interrupted_at_each_step(lambda: call(used), by):
        assert free_of(used._places, 3) == 2, f"at step {step}"
    assert step > 50


def test_no_interrupt_of_who_waits_or_gives_back_takes_a_place_for_good() -> None:
    places = Places(1)

    def wait_and_give_back() -> None:
        taken = places.take(PATIENT)
        places.release(places.take(Meanwhile(lambda: places.release(taken))))

    step = 0
    for step in interrupted_at_each_step(wait_and_give_back):
        assert free_of(places, 2) == 1, f"at step {step}"
    assert step > 50
