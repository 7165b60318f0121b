# SPDX-License-Identifier: GPL-2.0-only
"""SQL over MariaDB's own protocol, as text and as prepared statements.

    packet    length (3 bytes, little endian), sequence number (1), payload
    result    column count | column definitions ... | end | row ... | end
              '------------- head, the same every time -----'  '--- tail, too

A session has the capabilities that MariaDB's C client asks for. One of them is that the client remembers the
columns of its prepared statements, so that the server need not send them again. The packets of the load are
those of that client, but for one thing: the types of the parameters (2 bytes each) go along every time, as
with many connectors.

Before the load, every session asks each of its reading requests twice. The first time the server may still
send the columns. The second answer shows what stands around rows.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from bench.traffic.forms import Number, filled, little_endian, values_in, without_values
from bench.traffic.protocol import Address, Protocol, WrongAnswer, dial
from bench.traffic.workloads import Does, Request, Workload

CAPABILITIES = 0x008EA28C
"""Of MySQL's: the protocol of 4.1, a database to begin with, session tracking, several results."""
MARIADB_CAPABILITIES = 0x1D
"""Progress, bulk statements, extended definitions, and that the client remembers columns."""
UTF8MB4 = 45
END, ERROR = 0xFE, 0xFF
UNSIGNED_LONG, STRING = 0x8003, 0x00FE

_SIZES = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}
"""Of whole numbers, in bytes."""


@dataclass(frozen=True)
class Frame:
    """What stands around the rows of a result."""

    head: bytes
    first_row: int
    """Its sequence number."""
    tail: bytes
    """The payload of the last packet."""


class Sql(Protocol):
    """What both kinds have in common. The account is root, without a password."""

    def __init__(self, workload: Workload, database: str = "bench") -> None:
        super().__init__(workload, database)
        self.frames: dict[Request, Frame] = {}

    @staticmethod
    def knows(request: Request) -> bool:
        """Whether the request can be asked."""
        return request.sql is not None

    def connect(self, address: Address) -> tuple[socket.socket, int]:
        """A session with its statements prepared."""
        connection = dial(address)
        with closing(connection.makefile("rb")) as incoming:
            _read(incoming)  # the greeting: an account without a password needs nothing of it
            connection.sendall(_packet(1, _log_in(self.database)).encode("latin-1"))
            _read(incoming)
            number = self.prepare(connection, incoming)
            for request in self.workload.requests:
                if request.does is Does.FIND:
                    for _ in range(2):
                        connection.sendall(
                            filled(self.request(request), self.workload.typical_keys, connection=number)
                        )
                        frame = _frame(incoming)
                    if self.frames.setdefault(request, frame) != frame:
                        raise WrongAnswer("two sessions describe the result of one statement differently")
        return connection, number

    def prepare(self, connection: socket.socket, incoming: BinaryIO) -> int:
        """Prepare what is to be prepared; the number of the first statement."""
        del connection, incoming
        return 0

    def statement(self, request: Request) -> str:
        """With its values."""
        assert request.sql is not None
        return request.sql(*self.workload.numbers)

    def reply(self, request: Request) -> str:
        """The result, or that one row was changed."""
        if request.does is Does.INSERT:
            return _packet(1, "\0\1\0\2\0\0\0")
        if request.does is not Does.FIND:
            return _packet(1, "\0\1\0\2\0\0\0" + _counted("Rows matched: 1  Changed: 1  Warnings: 0"))
        frame = self.frames[request]
        rows = [self.row(request, row) for row in self.values(request)]
        packets = [
            _packet(frame.first_row + place, row)
            for place, row in enumerate([*rows, frame.tail.decode("latin-1")])
        ]
        return frame.head.decode("latin-1") + "".join(packets)

    def row(self, request: Request, values: list[str]) -> str:
        """The payload of a row."""
        raise NotImplementedError


class SqlText(Sql):
    """Statements as text."""

    name = "sql-text"

    def request(self, request: Request) -> str:
        """COM_QUERY."""
        return _packet(0, "\x03" + self.statement(request))

    def row(self, request: Request, values: list[str]) -> str:
        """Every value as a text."""
        return "".join(map(_counted, values))


class SqlPrepared(Sql):
    """Prepared statements."""

    name = "sql-prepared"

    def prepare(self, connection: socket.socket, incoming: BinaryIO) -> int:
        """Every request's statement; the server numbers them in order."""
        numbers = []
        for request in self.workload.requests:
            text = "\x16" + without_values(self.statement(request))
            connection.sendall(_packet(0, text).encode("latin-1"))
            _, prepared = _read(incoming)
            numbers.append(int.from_bytes(prepared[1:5], "little"))
            for count in (int.from_bytes(prepared[7:9], "little"), int.from_bytes(prepared[5:7], "little")):
                for _ in range(count + 1 if count else 0):
                    _read(incoming)
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise WrongAnswer(f"the statements of one session are numbered {numbers}")
        return numbers[0]

    def request(self, request: Request) -> str:
        """COM_STMT_EXECUTE: number, no cursor, once, no value is NULL, types, values."""
        number = Number("connection", add=self.workload.requests.index(request))
        values = values_in(self.statement(request))
        types = "".join(little_endian(str(STRING if is_text else UNSIGNED_LONG), 2) for _, is_text in values)
        parameters = "".join(
            _counted(text) if is_text else little_endian(text, 4) for text, is_text in values
        )
        nulls = "\0" * ((len(values) + 7) // 8)
        head = "\x17" + little_endian(f"{number}", 4) + "\0" + little_endian("1", 4)
        return _packet(0, head + nulls + "\1" + types + parameters)

    def row(self, request: Request, values: list[str]) -> str:
        """A mark, no value is NULL (with two bits to spare), and each value as its column's type has it."""
        types = [self.workload.table.columns[column][0] for column in request.columns.split(",")]
        binary = "".join(_binary(kind, value) for kind, value in zip(types, values, strict=True))
        return "\0" + "\0" * ((len(values) + 2 + 7) // 8) + binary


def _binary(kind: str, value: str) -> str:
    word = kind.split()[0]
    if word in _SIZES:
        return little_endian(value, _SIZES[word])
    if word != "DATETIME":
        return _counted(value)
    year, others = value[:4], [value[place : place + 2] for place in (5, 8, 11, 14, 17)]
    return "\x07" + little_endian(year, 2) + "".join(little_endian(part, 1) for part in others)


def _packet(sequence: int, payload: str) -> str:
    return little_endian(str(len(payload)), 3) + chr(sequence % 256) + payload


def _counted(text: str) -> str:
    """A text with its length before it, in the protocol's own variable length."""
    size = len(text)
    if size <= 250:
        return chr(size) + text
    return (
        "\xfc" + little_endian(str(size), 2) if size <= 0xFFFF else "\xfd" + little_endian(str(size), 3)
    ) + text


def _log_in(database: str) -> str:
    numbers = little_endian(str(CAPABILITIES), 4) + little_endian(str(1 << 24), 4) + chr(UTF8MB4)
    extended = "\0" * 19 + little_endian(str(MARIADB_CAPABILITIES), 4)
    return f"{numbers}{extended}root\0\0{database}\0mysql_native_password\0"


def _read(incoming: BinaryIO) -> tuple[int, bytes]:
    """A packet's sequence number and payload. Raises WrongAnswer if it is an error, or none comes."""
    head = incoming.read(4)
    payload = incoming.read(int.from_bytes(head[:3], "little"))
    if len(head) < 4 or payload[:1] == bytes([ERROR]):
        raise WrongAnswer(f"the server says {payload[3:].decode('utf-8', 'replace') or 'nothing'}")
    return head[3], payload


def _until_end(incoming: BinaryIO) -> Iterator[tuple[int, bytes]]:
    while True:
        sequence, payload = _read(incoming)
        yield sequence, payload
        if payload[:1] == bytes([END]) and len(payload) <= 8:
            return


def _frame(incoming: BinaryIO) -> Frame:
    """A whole result."""
    packets = [_read(incoming), *_until_end(incoming)]
    head = b"".join(
        _packet(sequence, payload.decode("latin-1")).encode("latin-1") for sequence, payload in packets
    )
    *_, (_, tail) = _until_end(incoming)
    return Frame(head, packets[-1][0] + 1, tail)
