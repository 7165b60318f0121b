# SPDX-License-Identifier: GPL-2.0-only
"""The server's logs, and what stands in them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.mariadb import MariaDB
from support.raw import RawConnection


class LogFile:
    """A log of a server, from where it ended when this was made.

    The server may be in the middle of a line at either end: such a line belongs to what comes later.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.begin = _end_of_lines(path.read_bytes()) if path.exists() else 0

    def text(self) -> str:
        """What was written since."""
        with self.path.open("rb") as file:
            file.seek(self.begin)
            written = file.read()
            return written[: _end_of_lines(written)].decode()

    def lines(self) -> list[str]:
        """The same, line by line."""
        return self.text().splitlines()


def _end_of_lines(written: bytes) -> int:
    return written.rfind(b"\n") + 1


@dataclass(frozen=True)
class General:
    """A line of the general log."""

    connection: int
    command: str
    text: str


def general_entries(log: LogFile) -> list[General]:
    """The lines of a general log, without their times."""
    found = [re.fullmatch(r"(?:[^\t]*)\t+ *(\d+) (\w[\w ]*)\t(.*)", line) for line in log.lines()]
    return [General(int(entry[1]), entry[2], entry[3]) for entry in found if entry is not None]


def requests(log: LogFile) -> list[str]:
    """What was asked of RowSocket, without the first word, in a general log."""
    return [
        entry.text.removeprefix("ROWSOCKET ")
        for entry in general_entries(log)
        if entry.command == "Query" and entry.text.startswith("ROWSOCKET ")
    ]


@dataclass(frozen=True)
class Slow:
    """An entry of the slow log."""

    user_host: str
    connection: int
    schema: str
    query_s: float
    lock_s: float
    rows_sent: int
    rows_examined: int
    rows_affected: int
    bytes_sent: int
    text: str


_SLOW = re.compile(
    r"# User@Host: (?P<user_host>.*)\n"
    r"# Thread_id: (?P<connection>\d+)  Schema: (?P<schema>.*?)  QC_hit: .*\n"
    r"# Query_time: (?P<query_s>\S+)  Lock_time: (?P<lock_s>\S+)  Rows_sent: (?P<rows_sent>\d+)"
    r"  Rows_examined: (?P<rows_examined>\d+)\n"
    r"# Rows_affected: (?P<rows_affected>\d+)  Bytes_sent: (?P<bytes_sent>\d+)\n"
    r"(?:use .*;\n)?SET timestamp=\d+;\n(?P<text>.*);\n"
)


def slow_entries(log: LogFile) -> list[Slow]:
    """The entries of a slow log, in a session of whatever protocol."""
    return [
        Slow(
            found["user_host"],
            int(found["connection"]),
            found["schema"],
            float(found["query_s"]),
            float(found["lock_s"]),
            int(found["rows_sent"]),
            int(found["rows_examined"]),
            int(found["rows_affected"]),
            int(found["bytes_sent"]),
            found["text"],
        )
        for found in _SLOW.finditer(log.text())
    ]


def slow_requests(log: LogFile) -> list[Slow]:
    """Those of RowSocket."""
    return [entry for entry in slow_entries(log) if entry.text.startswith("ROWSOCKET ")]


@dataclass(frozen=True)
class Audited:
    """A line of the log of server_audit."""

    user: str
    host: str
    connection: int
    query: int
    operation: str
    database: str
    object: str
    number: str


def audited(log: LogFile) -> list[Audited]:
    """The lines of a log of server_audit."""
    entries = []
    for line in log.lines():
        _, _, user, host, connection, query, operation, database, rest = line.split(",", 8)
        what, _, number = rest.rpartition(",")
        entries.append(Audited(user, host, int(connection), int(query), operation, database, what, number))
    return entries


@contextlib.contextmanager
def switched(server: MariaDB, **variables: str | float) -> Iterator[None]:
    """These global variables have these values meanwhile."""
    before = {name: server.value(f"SELECT @@GLOBAL.{name}") for name in variables}
    try:
        for name, value in variables.items():
            server.sql(f"SET GLOBAL {name} = %s", (value,))
        yield
    finally:
        for name, value in before.items():
            server.sql(f"SET GLOBAL {name} = %s", (value,))


OPEN = b"P\t1\td\tt\tPRIMARY\tid,a,n\tn"


def general_log(server: MariaDB) -> LogFile:
    """From here on."""
    return LogFile(server.data / "general.log")


def slow_log(server: MariaDB) -> LogFile:
    """From here on."""
    return LogFile(server.data / "slow.log")


def do_one_of_each(wire: RawConnection) -> None:
    """A find, an insert, an update, a delete, a group, and what fails."""
    wire.ask_all(
        OPEN,
        b"1\t+\t3\t1\tone\t5",
        b"1\t=\t1\t1",
        b"1\t=\t1\t1\t1\t0\tU\t1\ttwo\t6",
        b"1\t+\t3\t1\tone\t5",
        b"1\t>=\t1\t0\t10\t0\tF\t>\t0\t3",
        b"1\t=\t1\t1\t1\t0\tD",
        b"7\t=\t1\t1",
        b"nonsense",
    )
    wire.send(b"G\n1\t=\t1\t1\n1\t+\t3\t2\ttwo\t2\nE\n")
    wire.lines(4)


ONE_OF_EACH = [
    "OPEN 1 d.t PRIMARY COLUMNS id, a, n FILTER COLUMNS n",
    "INSERT d.t (id, a, n) VALUES (1, 'one', 5)",
    "FIND d.t PRIMARY = 1 LIMIT 1 COLUMNS id, a, n",
    "UPDATE d.t PRIMARY = 1 SET id = 1, a = 'two', n = 6 LIMIT 1",
    "INSERT d.t (id, a, n) VALUES (1, 'one', 5)",
    "FIND d.t PRIMARY >= 0 WHERE n > 3 LIMIT 10 COLUMNS id, a, n",
    "DELETE d.t PRIMARY = 1 LIMIT 1",
    "FIND [id 7] = 1 LIMIT 1",
    "REFUSED [unknown_command]",
    "GROUP 2: FIND d.t PRIMARY = 1 LIMIT 1 COLUMNS id, a, n; INSERT d.t (id, a, n) VALUES (2, 'two', 2)",
]
