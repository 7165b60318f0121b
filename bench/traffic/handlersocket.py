# SPDX-License-Identifier: GPL-2.0-only
"""The HandlerSocket protocol: `handlersocket` as the original speaks it, `rowsocket` with extensions.

rows                 0 ⇥ columns ⇥ value ⇥ value ...
inserted             0 ⇥ 1
changed              0 ⇥ 1 ⇥ 1
"""

from __future__ import annotations

import socket

from bench.traffic.forms import filled
from bench.traffic.protocol import Address, Protocol, dial, exchange
from bench.traffic.workloads import Does, Request


class HandlerSocket(Protocol):
    """Without extensions."""

    name = "handlersocket"

    @staticmethod
    def knows(request: Request) -> bool:
        """Whether the request can be asked."""
        return request.line is not None and not request.is_extension

    def connect(self, address: Address) -> tuple[socket.socket, int]:
        """Open an index for each request, numbered from 1."""
        connection = dial(address)
        exchange(connection, *self.opening())
        return connection, 0

    def opening(self) -> tuple[bytes, bytes]:
        """The same."""
        lines = []
        for number, request in enumerate(self.workload.requests, 1):
            table = request.table or self.workload.table.name
            lines.append("\t".join(["P", str(number), self.database, table, request.index, request.columns]))
        return "".join(f"{line}\n" for line in lines).encode(), b"0\t1\n" * len(lines)

    def request(self, request: Request) -> str:
        """The line."""
        assert request.line is not None
        number = self.workload.requests.index(request) + 1
        return f"{number}\t{request.line(*self.workload.numbers)}\n"

    def reply(self, request: Request) -> str:
        """The line."""
        if request.does is Does.FIND:
            columns = request.columns.count(",") + 1
            return (
                "\t".join(["0", str(columns), *(value for row in self.values(request) for value in row)])
                + "\n"
            )
        return "0\t1\n" if request.does is Does.INSERT else "0\t1\t1\n"


class RowSocket(HandlerSocket):
    """With extensions."""

    name = "rowsocket"

    @staticmethod
    def knows(request: Request) -> bool:
        """Whether the request can be asked."""
        return request.line is not None


class Floor(RowSocket):
    """The same requests of bench/echo_server, which answers each with the same line."""

    name = "floor"

    def connect(self, address: Address) -> tuple[socket.socket, int]:
        """Nothing is to be opened."""
        return dial(address), 0

    def opening(self) -> tuple[bytes, bytes]:
        """Nothing."""
        return b"", b""

    def reply(self, request: Request) -> str:
        """The answer to a request in the middle, whatever was asked."""
        return filled(super().reply(request), self.workload.typical_keys).decode("latin-1")
