# SPDX-License-Identifier: MIT
"""A server of the protocol that does what a test tells it to.

The test gives one conversation per connection that it expects: a function of a `Peer`, run in the server's
thread. A line that is not the expected one, and a conversation that was not begun, fail the test when the
server is closed.
"""

from __future__ import annotations

import dataclasses
import socket
import struct
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from typing_extensions import Self

TIMEOUT_S = 60.0
"""Nobody waits so long when all is well, on any machine."""


class Peer:
    """The server's end of one connection."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._socket.settimeout(TIMEOUT_S)
        self._lines = connected.makefile("rb")

    def read(self) -> bytes:
        """The next line without its LF; b"" at the end."""
        return self._lines.readline().rstrip(b"\n")

    def expect(self, *lines: bytes) -> None:
        """Read these lines."""
        for line in lines:
            got = self.read()
            assert got == line, f"the client sent {got!r}, not {line!r}"

    def send(self, data: bytes, piece_bytes: int = 1 << 30) -> None:
        """Send in pieces of this size."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 0)
        for start in range(0, len(data), piece_bytes):
            self._socket.sendall(data[start : start + piece_bytes])

    def open(self, id: int = 0, columns: bytes = b"id,name", rest: bytes = b"") -> None:
        """Accept the open_index that the tests use."""
        self.expect(b"P\t%d\tapp\tuser\tPRIMARY\t%s\t%s" % (id, columns, rest))
        self.send(b"0\t1\n")

    def until_closed(self) -> None:
        """Wait for the client to close."""
        assert self.read() == b""

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def reset(self) -> None:
        """Close with a TCP reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


Conversation = Callable[[Peer], None]


class FakeServer:
    """Listens on a port of loopback and holds the conversations, one after the other unless `together`."""

    def __init__(self, *conversations: Conversation, together: bool = False) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(TIMEOUT_S)
        self.port: int = self._listener.getsockname()[1]
        self._errors: list[BaseException] = []
        self._conversations = conversations
        self._together = together
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        threads = []
        try:
            for conversation in self._conversations:
                peer = Peer(self._listener.accept()[0])
                thread = threading.Thread(target=self._hold, args=(conversation, peer), daemon=True)
                thread.start()
                threads.append(thread)
                if not self._together:
                    thread.join()
        except OSError as error:
            self._errors.append(error)
        for thread in threads:
            thread.join()

    def _hold(self, conversation: Conversation, peer: Peer) -> None:
        try:
            conversation(peer)
        except BaseException as error:
            self._errors.append(error)
        finally:
            peer.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._thread.join(2 * TIMEOUT_S)
            assert not self._thread.is_alive(), "a conversation has not ended"
        self._listener.close()
        if self._errors:
            raise AssertionError(f"the client did not do what was expected: {self._errors[0]!r}") from error


def has_time(of: Any, timeout_s: float = TIMEOUT_S) -> None:
    """What is asked of a connection or a pool from now on has so long.

    A test of a call that takes too long gives little time to that call alone: on a machine that is busy, a
    connection is not made, and an index not opened, in so short a time.
    """
    of._options = dataclasses.replace(of._options, timeout=timeout_s)


USER_OPENED = b"0\t1\n"
