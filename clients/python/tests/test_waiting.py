# SPDX-License-Identifier: MIT
"""How the blocking client waits for an answer."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import rowsocket
from fake_server import TIMEOUT_S, FakeServer, Peer
from rowsocket import _link
from rowsocket._watch import Watch
from test_pool import echo_keys

linux_only = pytest.mark.skipif(not hasattr(socket, "MSG_DONTWAIT"), reason="polls")


@linux_only
def test_an_answer_that_comes_soon_is_waited_for_without_a_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """A poll would be a third of the system calls of a request."""

    def refuse(*_: Any) -> bool:
        raise AssertionError("polled")

    monkeypatch.setattr(_link, "WAIT_IN_RECEIVE_S", 5.0)  # so long, on a machine that is busy
    with (
        FakeServer(echo_keys) as server,
        rowsocket.connect(port=server.port, text=True, timeout=None) as one,
    ):
        users = one.open_index("app", "user", ["id"])
        monkeypatch.setattr(Watch, "has_input", refuse)
        assert users.get(1) == ("1",)


def test_an_answer_that_comes_late_is_polled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    is_polled = threading.Event()
    has_input = Watch.has_input

    def tell(self: Watch, wait_s: float | None = 0.0) -> bool:
        is_polled.set()
        return has_input(self, wait_s)

    def answer_when_polled(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()
        assert is_polled.wait(TIMEOUT_S)
        peer.send(b"0\t1\t1\n")

    with FakeServer(answer_when_polled) as server, rowsocket.connect(port=server.port, text=True) as one:
        users = one.open_index("app", "user", ["id"])
        monkeypatch.setattr(Watch, "has_input", tell)
        assert users.get(1) == ("1",)


@pytest.fixture
def alarms() -> Iterator[list[int]]:
    """A signal that comes again and again; the list grows with each."""
    came: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: came.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    yield came
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def stay_silent(peer: Peer) -> None:
    while peer.read():
        pass


def test_signals_do_not_make_a_call_longer(alarms: list[int]) -> None:
    """Each interrupts the system call, which begins anew."""
    with (
        FakeServer(stay_silent) as server,
        rowsocket.connect(port=server.port, timeout=2.0) as one,
        pytest.raises(rowsocket.Timeout),
    ):
        one.open_index("app", "user", ["id"])
    assert len(alarms) > 2


def test_an_interrupt_ends_the_wait_for_an_answer() -> None:
    """The call behind it gets no answer of that one."""
    client = threading.get_ident()

    def interrupt(peer: Peer) -> None:
        peer.open(columns=b"id")
        peer.read()
        signal.pthread_kill(client, signal.SIGUSR1)
        peer.until_closed()

    def raise_interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, raise_interrupt)
    try:
        with (
            FakeServer(interrupt, echo_keys) as server,
            rowsocket.connect(port=server.port, text=True) as one,
        ):
            users = one.open_index("app", "user", ["id"])
            with pytest.raises(KeyboardInterrupt):
                users.get(1)
            assert users.get(2) == ("2",)
    finally:
        signal.signal(signal.SIGUSR1, before)


class StandIn:
    """A socket of a library that lets others run meanwhile, as gevent's. Its `recv` has no end of its own."""

    def __init__(self, own: socket.socket) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Only of what does not wait."""
        assert self._own.gettimeout() == 0.0
        return self._own.recv(size, flags)


def test_a_stand_in_for_a_socket_is_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    connect_to = _link._connect_to
    monkeypatch.setattr(_link, "_connect_to", lambda *words: StandIn(connect_to(*words)))
    with FakeServer(echo_keys) as server, rowsocket.connect(port=server.port, text=True) as one:
        assert one.open_index("app", "user", ["id"]).get(1) == ("1",)


class Dialled:
    """What the client is told of the host's addresses: each but the last keeps it waiting in vain."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, port: int, count: int) -> None:
        self.timeouts_s: list[float] = []
        self._left = count
        self._connect_to = _link._connect_to
        address = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [address] * count)
        monkeypatch.setattr(_link, "_connect_to", self._connect)

    def _connect(self, family: int, address: Any, timeout_s: float) -> socket.socket:
        self.timeouts_s.append(timeout_s)
        self._left -= 1
        if self._left > 0:
            raise socket.timeout
        return self._connect_to(family, address, timeout_s)


def test_the_addresses_of_a_host_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three would have had all of it."""
    with FakeServer(echo_keys) as server:
        dialled = Dialled(monkeypatch, server.port, count=3)
        with rowsocket.connect("many.example", server.port, timeout=60.0, text=True) as one:
            assert one.open_index("app", "user", ["id"]).get(1) == ("1",)
    assert len(dialled.timeouts_s) == 3
    assert all(timeout_s <= most for timeout_s, most in zip(dialled.timeouts_s, (20.0, 30.0, 60.0)))


def test_a_host_without_an_address_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    Dialled(monkeypatch, port=1, count=0)
    with pytest.raises(rowsocket.ConnectionLost, match="no address"):
        rowsocket.connect("none.example")


def test_the_last_address_tells_why_there_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        Dialled(monkeypatch, unused.getsockname()[1], count=2)
        with pytest.raises(rowsocket.ConnectionLost, match="refused"):
            rowsocket.connect("many.example", timeout=60.0)
