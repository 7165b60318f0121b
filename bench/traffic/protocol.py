# SPDX-License-Identifier: GPL-2.0-only
"""What a wire protocol is to the benchmark: how to open a connection, to ask, and to know the answer.

A protocol is one file of this folder and its name in `__init__.py`. An object is made for one workload.
"""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from typing import ClassVar

from bench.traffic.workloads import Request, Workload

Address = tuple[str, int] | str
"""An address and a TCP port, or the path of a unix socket."""

TIMEOUT_S = 10.0


class WrongAnswer(Exception):
    """A server failed a run; the text says how."""


class Protocol(ABC):
    """One protocol with one workload."""

    name: ClassVar[str]

    def __init__(self, workload: Workload, database: str = "bench") -> None:
        self.workload = workload
        self.database = database

    @staticmethod
    @abstractmethod
    def knows(request: Request) -> bool:
        """Whether the request can be asked."""

    def connect(self, address: Address) -> tuple[socket.socket, int]:
        """A connection that is ready for requests, and its own number. Raises OSError, WrongAnswer."""
        return dial(address), 0

    def opening(self) -> tuple[bytes, bytes]:
        """What a connection asks before the load, and the only right answer, for a player that makes the
        connections' TLS itself. Raises WrongAnswer where what is asked depends on an answer.
        """
        raise WrongAnswer(f"{self.name} cannot be played inside TLS")

    @abstractmethod
    def request(self, request: Request) -> str:
        """The bytes of a request, as `forms` has them."""

    @abstractmethod
    def reply(self, request: Request) -> str:
        """The bytes of the only right answer. Called after a connection was opened."""

    def values(self, request: Request) -> list[list[str]]:
        """What stands in the columns of each row of the answer."""
        return [self.workload.table.values(request.columns, row) for row in self.workload.rows_of(request)]


def dial(address: Address) -> socket.socket:
    """A connected socket that gives up after ten seconds."""
    if isinstance(address, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(TIMEOUT_S)
        connection.connect(address)
        return connection
    connection = socket.create_connection(address, TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def exchange(connection: socket.socket, request: bytes, right_reply: bytes) -> None:
    """A request before the load, and the only right reply. Raises WrongAnswer at another one."""
    connection.sendall(request)
    received = b""
    while len(received) < len(right_reply):
        piece = connection.recv(len(right_reply) - len(received))
        received += piece
        if not piece or not right_reply.startswith(received):
            raise WrongAnswer(f"{request!r} was answered {received + connection.recv(200)!r}")
