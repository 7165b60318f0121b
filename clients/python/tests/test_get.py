# SPDX-License-Identifier: MIT
"""A `get` of the blocking client, at whatever moment something comes in between: it has its own row, and so
has the next.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

import rowsocket
from fake_server import TIMEOUT_S, FakeServer, Peer, has_time
from rowsocket import _link, _session, connection, executor
from rowsocket._watch import Watch
from test_interrupts import Alarm, interrupted_at_each_step, sound_alarm
from test_pool import echo_keys

Connected = Callable[..., rowsocket.Connection]

STEPS_OF = {module.__file__ for module in (_link, _session, connection, executor)}
HAS_UNIX = hasattr(socket, "AF_UNIX")


def echo_keys_and_null(peer: Peer) -> None:
    """Answer every find with its key and NULL."""
    while line := peer.read():
        peer.send(b"0\t1\n" if line.startswith(b"P") else b"0\t2\t%s\t\x00\n" % line.split(b"\t")[3])


@contextlib.contextmanager
def serving(listener: socket.socket, conversation: Callable[[Peer], None]) -> Iterator[None]:
    """Hold this conversation with as many as come."""

    def hold(peer: Peer) -> None:
        with contextlib.suppress(OSError):  # who is interrupted leaves without a word
            conversation(peer)
        peer.close()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                peer = Peer(listener.accept()[0])
                threading.Thread(target=hold, args=(peer,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield
        with contextlib.suppress(OSError):  # which ends its `accept`, as far as systems know how to
            listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(params=["tcp", pytest.param("unix", marks=pytest.mark.skipif(not HAS_UNIX, reason="none"))])
def connected(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connected]:
    """Connects to a server of this conversation, over one transport and the other."""
    with contextlib.ExitStack() as ends:

        def connect(conversation: Callable[[Peer], None]) -> rowsocket.Connection:
            place: dict[str, Any]
            if request.param == "unix":
                place = {"unix_socket": str(tmp_path / "server")}
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(place["unix_socket"])
                listener.listen()
            else:
                listener = socket.create_server(("127.0.0.1", 0))
                place = {"port": listener.getsockname()[1]}
            ends.enter_context(serving(listener, conversation))
            return ends.enter_context(rowsocket.connect(**place, text=True, database="app"))

        yield connect


@pytest.mark.parametrize(
    ("conversation", "columns"), [(echo_keys, ["id"]), (echo_keys_and_null, ["id", "gone"])]
)
def test_no_interrupt_of_a_get_takes_the_next_out_of_step(
    connected: Connected, conversation: Callable[[Peer], None], columns: list[str]
) -> None:
    users = connected(conversation).table("user", columns)
    nothing: tuple[None, ...] = (None,) * (len(columns) - 1)
    got: list[rowsocket.Row | None] = []
    step = 0
    for step in interrupted_at_each_step(lambda: got.append(users.get(1)), steps_of=STEPS_OF):
        assert users.get(2) == ("2", *nothing), f"at step {step}"
    assert step > 50
    assert set(got) == {("1", *nothing)}


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_handler_may_get_a_row_within_a_get(connected: Connected, is_lost: bool) -> None:
    """Of the same connection. Each has its own row, also where a link has to be made for it first."""
    one = connected(echo_keys)
    users = one.table("user", ["id"])
    got: list[rowsocket.Row | None] = []

    def get() -> None:
        if is_lost and one._link is not None:
            one._link.close()
        got.append(users.get(1))

    def get_another() -> None:
        assert users.get(2) == ("2",)

    step = 0
    for step in interrupted_at_each_step(get, get_another, {_session.__file__} if is_lost else STEPS_OF):
        assert users.get(3) == ("3",), f"at step {step}"
    assert step > 50
    assert got == [("1",)] * (step + 2)  # also the first one, and the last one


def test_a_handler_may_get_a_row_while_much_is_sent(connected: Connected) -> None:
    """More than the socket takes at once."""
    one = connected(echo_keys)
    users = one.table("user", ["id"])
    keys = [str(number).zfill(_link.UNANSWERED_BYTES // 2) for number in range(3)]

    def get_all() -> None:
        with one.pipeline() as pipeline:
            rows = [pipeline.get(users, key) for key in keys]
        assert [row.result() for row in rows] == [(key,) for key in keys]

    step = 0
    for step in interrupted_at_each_step(get_all, lambda: users.get(2), {_link.__file__}):
        assert users.get(3) == ("3",), f"at step {step}"
    assert step > 20


@pytest.mark.timeout(TIMEOUT_S)
def test_a_handler_may_get_a_row_while_a_get_waits(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes another link; the get that waits takes that one, too, and does not wait for its time limit."""
    asked, waits = threading.Event(), threading.Event()
    has_input = Watch.has_input

    def tell(self: Watch, wait_s: float | None = 0.0) -> bool:
        if asked.is_set() and wait_s != 0.0:
            waits.set()
        return has_input(self, wait_s)

    monkeypatch.setattr(Watch, "has_input", tell)

    def answer_nothing_to_the_first(peer: Peer) -> None:
        is_first = not asked.is_set()
        while line := peer.read():
            if line.startswith(b"P"):
                peer.send(b"0\t1\n")
            elif is_first and line.split(b"\t")[3] == b"1":
                asked.set()
                assert waits.wait(TIMEOUT_S)
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
            else:
                peer.send(b"0\t1\t%s\n" % line.split(b"\t")[3])

    one = connected(answer_nothing_to_the_first)
    users = one.table("user", ["id"])
    got: list[rowsocket.Row | None] = []
    before = signal.signal(signal.SIGALRM, lambda *_: got.append(users.get(2)))
    try:
        assert users.get(3) == ("3",)
        has_time(one, 2 * TIMEOUT_S)
        assert users.get(1) == ("1",)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert got == [("2",)]


def test_a_get_has_its_row_beside_a_pipeline_that_is_not_sent_yet(connected: Connected) -> None:
    one = connected(echo_keys)
    users = one.table("user", ["id"])
    with one.pipeline() as pipe:
        first = pipe.get(users, 1)
        assert users.get(2) == ("2",)
        last = pipe.get(users, 3)
    assert (first.result(), last.result()) == (("1",), ("3",))


def test_a_row_may_come_in_pieces(connected: Connected) -> None:
    def answer_in_pieces(peer: Peer) -> None:
        peer.open(columns=b"id")
        sent = threading.Event()
        while peer.read():
            for piece in (b"0", b"\t1\t", b"Ad", b"\xc3", b"\xa9le", b"\n"):
                peer.send(piece)
                sent.wait(0.01)  # so that it is on its own

    users = connected(answer_in_pieces).table("user", ["id"])
    assert [users.get(1), users.get(2)] == [("Ad\xe9le",), ("Ad\xe9le",)]


def test_a_refused_get_leaves_the_connection_good(connected: Connected) -> None:
    def refuse_once(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()
        peer.send(b"1\t1\tread_only\n")
        echo_keys(peer)

    users = connected(refuse_once).table("user", ["id"])
    with pytest.raises(rowsocket.ServerError):
        users.get(1)
    assert users.get(2) == ("2",)


@pytest.mark.parametrize("begun", [b"", b"0\t1\t", b"0\t1\t1"])
def test_a_get_whose_server_closes_is_asked_again(begun: bytes) -> None:
    """Also if it has sent a part of the row."""

    def close_early(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()
        peer.send(begun)

    with (
        FakeServer(close_early, echo_keys) as server,
        rowsocket.connect(port=server.port, text=True) as one,
    ):
        assert one.open_index("app", "user", ["id"]).get(1) == ("1",)


def test_a_get_with_a_part_of_its_row_comes_to_an_end_in_time(connected: Connected) -> None:
    came = threading.Event()

    def begin_only(peer: Peer) -> None:
        if came.is_set():
            echo_keys(peer)
            return
        came.set()
        peer.open(columns=b"id")
        peer.read()
        peer.send(b"0\t1\t")
        peer.until_closed()

    one = connected(begin_only)
    users = one.table("user", ["id"])
    has_time(one, 0.2)
    has_time(one._link, 0.2)
    with pytest.raises(rowsocket.Timeout):
        users.get(1)
    assert not one.usable


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals for a thread")
def test_a_get_that_is_interrupted_while_it_waits_breaks_the_connection(connected: Connected) -> None:
    client = threading.get_ident()
    came = threading.Event()

    def interrupt_once(peer: Peer) -> None:
        if came.is_set():
            echo_keys(peer)
            return
        came.set()
        peer.open(columns=b"id")
        peer.read()
        signal.pthread_kill(client, signal.SIGUSR1)
        peer.until_closed()

    before = signal.signal(signal.SIGUSR1, lambda *_: sound_alarm())
    try:
        users = connected(interrupt_once).table("user", ["id"])
        with pytest.raises(Alarm):
            users.get(1)
        assert users.get(2) == ("2",)
    finally:
        signal.signal(signal.SIGUSR1, before)
