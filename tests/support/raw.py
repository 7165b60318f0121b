# SPDX-License-Identifier: GPL-2.0-only
"""A raw connection: bytes out, lines in. For tests about the bytes themselves; others use the Python
client."""

from __future__ import annotations

import socket
import ssl
from types import TracebackType
from typing import Self

REPLY_TIMEOUT_S = 20.0


class ConnectionClosed(Exception):
    """The server closed the connection before the line was complete."""


class RawConnection:
    """A socket that sends what it is given and reads whole lines.

    `address` is (host, TCP port) or the path of a unix socket; `tls` has everything travel inside TLS. A
    reply that does not come in time raises TimeoutError.
    """

    def __init__(
        self,
        address: tuple[str, int] | str,
        timeout_s: float = REPLY_TIMEOUT_S,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        family = (
            socket.AF_UNIX
            if isinstance(address, str)
            else socket.AF_INET6
            if ":" in address[0]
            else socket.AF_INET
        )
        self.socket: socket.socket = socket.socket(family, socket.SOCK_STREAM)
        self._timeout_s = timeout_s
        self.socket.settimeout(timeout_s)
        self.socket.connect(address)
        if family != socket.AF_UNIX:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self._received = b""

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)

    def line(self) -> bytes:
        """The next line, without its LF; raises ConnectionClosed, TimeoutError."""
        while b"\n" not in self._received:
            try:
                piece = self.socket.recv(1 << 16)
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise ConnectionClosed(f"closed after {self._received[:200]!r}")
            self._received += piece
        line, self._received = self._received.split(b"\n", 1)
        return line

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        while len(self._received) < count:
            piece = self.socket.recv(1 << 16)
            assert piece, "closed"
            self._received += piece
        data, self._received = self._received[:count], self._received[count:]
        return data

    def lines(self, count: int) -> list[bytes]:
        """The next `count` lines."""
        return [self.line() for _ in range(count)]

    def ask(self, request: bytes) -> bytes:
        """Send one request line (the LF is added) and return its reply line."""
        self.send(request + b"\n")
        return self.line()

    def ask_all(self, *requests: bytes) -> list[bytes]:
        """Send request lines in one piece and return as many reply lines."""
        self.send(b"".join(request + b"\n" for request in requests))
        return self.lines(len(requests))

    def tokens(self, *tokens: bytes | str | int | None) -> list[bytes]:
        """Send the tokens, escaped, as one request; the reply's tokens, still escaped. None is NULL."""
        return self.ask(b"\t".join(map(token, tokens))).split(b"\t")

    def silent(self, for_s: float = 0.3) -> bool:
        """True if nothing arrives within `for_s` seconds."""
        before = self.socket.gettimeout()
        self.socket.settimeout(for_s)
        try:
            self._received += self.socket.recv(1 << 16)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(before)
        return False

    def unread(self) -> bytes:
        """What has arrived by now and was not taken yet, without waiting for more."""
        self.socket.setblocking(False)
        try:
            self._received += self.socket.recv(1 << 16)
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(self._timeout_s)
        return self._received

    def closed(self) -> bool:
        """True if the server has closed, or closes within the time-out, without another byte."""
        try:
            return not self._received and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def close(self) -> None:
        """Close at once."""
        self.socket.close()

    def reset(self) -> None:
        """Close with a TCP reset, as a client that died does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def token(value: bytes | str | int | None) -> bytes:
    """A value as a token of the protocol: None is the byte 0, bytes below 16 are escaped."""
    if value is None:
        return b"\0"
    data = value if isinstance(value, bytes) else str(value).encode()
    return b"".join(bytes([1, byte + 0x40]) if byte < 0x10 else bytes([byte]) for byte in data)


def untoken(data: bytes) -> bytes | None:
    """The reverse of `token`; None for NULL."""
    if data == b"\0":
        return None
    out = bytearray()
    position = 0
    while position < len(data):
        if data[position] == 1:
            position += 1
            out.append(data[position] - 0x40)
        else:
            out.append(data[position])
        position += 1
    return bytes(out)
