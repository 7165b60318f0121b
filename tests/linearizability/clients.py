# SPDX-License-Identifier: GPL-2.0-only
"""Many connections, driven by one thread, whose requests and replies become a history.

Some connections ask all the time. The others follow: they are idle until somebody else's change is
acknowledged, and at once read what was changed. That is when a server that answers from an old view shows it.
"""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from linearizability.history import History
from linearizability.requests import OK, OPEN_LINES, Request
from linearizability.workload import Workload

LOOK_S = 0.002
ANSWER_TIMEOUT_S = 60.0
OPENED = [OK, OK]

Addresses = dict[str, tuple[str, int]]
"""Of the "read" and the "write" port."""


class Kind(NamedTuple):
    """Which port a connection uses, how many requests it has under way at most, whether it only follows."""

    port: str
    depth: int
    follows: bool


ASKING = [Kind("write", 1, False)] * 6 + [Kind("write", 4, False)] * 3
FOLLOWING_READERS = [Kind("read", 1, True)] * 4 + [Kind("read", 4, True)]
FOLLOWING_WRITERS = [Kind("write", 1, True)] * 6 + [Kind("write", 4, True)]


class Client:
    """One connection. In the history, each of its `depth` requests under way has a name of its own."""

    def __init__(self, kind: Kind, first_name: int) -> None:
        self.kind = kind
        self.names = range(first_name, first_name + kind.depth)
        self.socket: socket.socket | None = None
        self.opened: list[bytes] = []
        self.under_way: deque[Request] = deque()
        self._received = b""

    def connect(self, addresses: Addresses) -> bool:
        """Connect and ask for the indexes; False if nobody listens."""
        try:
            self.socket = socket.create_connection(addresses[self.kind.port])
        except OSError:
            return False
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.opened, self._received = [], b""
        self.send(OPEN_LINES)
        return True

    def send(self, data: bytes) -> None:
        """Send; that the connection is closed shows when it is read."""
        assert self.socket is not None
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    def receive(self) -> list[bytes] | None:
        """The whole lines that have arrived; None: the connection is closed."""
        assert self.socket is not None
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            return None
        *lines, self._received = (self._received + data).split(b"\n")
        return lines if data else None

    def is_open(self) -> bool:
        return self.socket is not None and self.opened == OPENED

    def is_idle(self) -> bool:
        return self.is_open() and not self.under_way


class Clients:
    """All connections of one history, driven by one thread for as long as the `with` block lasts.

    `addresses` may be changed meanwhile, and is None while there is no server. At the end of the block all
    replies that are due are waited for. What goes wrong, such as a reply that the protocol does not have, is
    raised there or by a `wait`. From `first_free_name` on, names are free for others in the same history.
    """

    def __init__(self, addresses: Addresses, workload: Workload, kinds: Sequence[Kind]) -> None:
        self.addresses: Addresses | None = addresses
        self.workload = workload
        self.history = History()
        self.answered = 0
        firsts = list(itertools.accumulate((kind.depth for kind in kinds), initial=0))
        self.first_free_name = firsts.pop()
        self._clients = [Client(kind, first) for kind, first in zip(kinds, firsts, strict=True)]
        self._by_descriptor: dict[int, Client] = {}
        self._epoll = select.epoll()
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if error is None and self._error is not None:
            raise self._error

    def wait_for_more(self, count: int) -> None:
        """Wait until so many more requests were answered; see `wait_until`."""
        aim = self.answered + count
        self.wait_until(f"{count} more replies", lambda: self.answered >= aim)

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        """Wait while they ask. Raises what went wrong with them, and AssertionError if no reply comes for too
        long: how many come in a time is the machine's business."""
        answered, deadline_s = self.answered, time.monotonic() + ANSWER_TIMEOUT_S
        while not condition():
            if self._error is not None:
                raise self._error
            if self.answered > answered:
                answered, deadline_s = self.answered, time.monotonic() + ANSWER_TIMEOUT_S
            assert time.monotonic() < deadline_s, f"not in {ANSWER_TIMEOUT_S} s: {what}; {self._waiting()}"
            time.sleep(LOOK_S)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._connect()
                self._serve()
            deadline_s = time.monotonic() + ANSWER_TIMEOUT_S
            while any(client.under_way for client in self._clients):
                assert time.monotonic() < deadline_s, f"no reply in {ANSWER_TIMEOUT_S} s: {self._waiting()}"
                self._serve()
        except BaseException as error:  # whatever it is, the test is to see it
            self._error = error
        finally:
            for client in self._clients:
                self._lose(client)
            self._epoll.close()

    def _waiting(self) -> str:
        requests = [client.under_way[0].text for client in self._clients if client.under_way]
        return f"{len(requests)} connections wait for replies to {requests[:5]} ..."

    def _serve(self) -> None:
        for descriptor, _ in self._epoll.poll(LOOK_S):
            client = self._by_descriptor[descriptor]
            lines = client.receive()
            if lines is None:
                self._lose(client)
                continue
            self._take(client, lines, time.monotonic_ns())
            if not self._stop.is_set():
                self._have_changes_read()
                if client.is_open() and not client.kind.follows:
                    self._ask(client)

    # ── connections ────────────────────────────────────────────────────────────────────────────────────────

    def _connect(self) -> None:
        addresses = self.addresses
        if addresses is None or len(self._by_descriptor) == len(self._clients):
            return
        for client in self._clients:
            if client.socket is None and client.connect(addresses) and client.socket is not None:
                self._by_descriptor[client.socket.fileno()] = client
                self._epoll.register(client.socket, select.EPOLLIN)

    def _lose(self, client: Client) -> None:
        if client.socket is None:
            return
        del self._by_descriptor[client.socket.fileno()]
        self._epoll.unregister(client.socket)
        client.socket.close()
        client.socket = None
        for request in client.under_way:
            self._leave_open(request)
        client.under_way.clear()

    # ── requests ───────────────────────────────────────────────────────────────────────────────────────────

    def _ask(self, client: Client) -> None:
        taken = {request.name() for request in client.under_way}
        free = [name for name in client.names if name not in taken]
        self._send(client, [self.workload.random_request(name) for name in free])

    def _have_changes_read(self) -> None:
        """An idle follower on each port reads each register that was changed, and some more if it may."""
        for register in self.workload.take_changed():
            for port in ("read", "write"):
                idle = [c for c in self._clients if c.kind.follows and c.kind.port == port and c.is_idle()]
                if idle and not register.is_crowded():
                    client = self.workload.random.choice(idle)
                    first, *others = client.names
                    more = [self.workload.random_read(name) for name in others]
                    self._send(client, [self.workload.read_of(register, first), *more])

    def _send(self, client: Client, requests: list[Request]) -> None:
        text = b"".join(request.text for request in requests)
        called_ns = time.monotonic_ns()
        for request in requests:
            for operation in request.operations:
                operation.called_ns = called_ns
        client.under_way += requests
        client.send(text)

    # ── replies ────────────────────────────────────────────────────────────────────────────────────────────

    def _take(self, client: Client, lines: list[bytes], now_ns: int) -> None:
        for line in lines:
            if len(client.opened) < len(OPENED):
                client.opened.append(line)
                continue
            request = client.under_way[0]
            request.lines.append(line)
            if len(request.lines) == request.line_count():
                client.under_way.popleft()
                self._finish(request, now_ns)
        if any(line != OK for line in client.opened):
            self._lose(client)  # a KILL QUERY that met an open_index: once more

    def _finish(self, request: Request, now_ns: int) -> None:
        self.answered += 1
        operations, error = request.answer()
        if error is not None:
            self.history.refused[error.decode(errors="replace")] += 1
        if operations is None:
            self._leave_open(request)
            return
        for operation in operations:
            operation.returned_ns = now_ns
        self.history.add(operations)
        self.workload.heard(request, operations)

    def _leave_open(self, request: Request) -> None:
        """The outcome is unknown. Of what only reads, that says nothing."""
        self.history.add(operation for operation in request.operations if operation.changes())
        self.workload.left_open(request)
