# SPDX-License-Identifier: GPL-2.0-only
"""Connections that send what they are told and judge what comes back."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from fuzz_server.journal import Journal
from fuzz_server.replies import ANY, DONE, Form, fault
from fuzz_server.scene import DATABASE, MARKS
from support.raw import ConnectionClosed, RawConnection, token

MARK_ID = 4000
GONE = (ConnectionClosed, ConnectionError)
HTTP = (
    *(b"GET ", b"POST ", b"PUT ", b"HEAD ", b"DELETE ", b"OPTIONS ", b"PATCH ", b"CONNECT ", b"TRACE "),
    b"Host:",
)


class Fault(Exception):
    """The server did what it must not."""


class Wire:
    """One connection. `secret` is what its port asks for."""

    def __init__(
        self,
        address: tuple[str, int],
        journal: Journal,
        name: str,
        port: str,
        secret: bytes,
        patience_s: float,
    ) -> None:
        self.raw = RawConnection(address, patience_s)
        self.name = name
        self.secret = secret
        self._journal = journal
        self.bytes_sent = 0
        self.sends_http = False
        self.last_reply = b""
        journal.note(name, f"open {port}")

    def send(self, data: bytes) -> None:
        """Send bytes. Raises one of GONE."""
        self._journal.note(self.name, "send", data)
        self.bytes_sent += len(data)
        self.raw.send(data)

    def will_send(self, data: bytes) -> None:
        """Note what comes, whole, before it is sent in pieces."""
        self.sends_http = self.sends_http or any(line.startswith(HTTP) for line in data.split(b"\n"))

    def expect(self, form: Form, asked: bytes) -> bytes:
        """The next reply, which must be well formed. Raises Fault, one of GONE."""
        try:
            reply = self.raw.line()
        except TimeoutError:
            raise Fault(f"{self.name}: no reply to {asked[:500]!r}") from None
        self.last_reply = reply
        found = fault(reply, form)
        if found:
            raise Fault(f"{self.name}: {found}: {reply[:500]!r} to {asked[:500]!r}")
        return reply

    def greet(self) -> None:
        """Authenticate."""
        line = b"A\t1\t" + token(self.secret)
        self.send(line + b"\n")
        if self.expect(DONE, line) != b"0\t1":
            raise Fault(f"{self.name}: the right secret was refused: {self.last_reply!r}")

    def prove(self, number: int, expected_before: int, *, may_be_interrupted: bool) -> None:
        """End whatever was begun, take the replies of so many lines, and find a row that nobody changes.

        Nothing may come before, between or after these replies. Raises Fault, one of GONE.
        """
        opened = f"P\t{MARK_ID}\t{DATABASE}\t{MARKS}\t\tk".encode()
        find = b"%d\t=\t1\t%d" % (MARK_ID, number)
        end = (b"", b"E", b"A\t1\t" + token(self.secret), opened, find)
        self.send(b"\n".join(end) + b"\n")
        for at in range(expected_before + 2):
            self.expect(ANY, b"line %d of a mutated batch" % at)
        replies = [self.expect(ANY, line) for line in end[2:]]
        if replies == [b"0\t1", b"0\t1", b"0\t1\t%d" % number]:
            return
        if not may_be_interrupted or replies[0] != b"0\t1":
            raise Fault(f"{self.name}: replies out of step, or a connection that no longer serves: {replies}")

    def may_be_closed(self) -> bool:
        """Whether the server had a reason of its own to close: what was sent was too long, or HTTP."""
        return self.sends_http or self.last_reply == b"2\t1\ttoolong"

    def close(self, *, with_reset: bool = False) -> None:
        """Close from this side."""
        self._journal.note(self.name, "reset" if with_reset else "close")
        if with_reset:
            self.raw.reset()
        else:
            self.raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.raw.close()
