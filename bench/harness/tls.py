# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench tls`: what TLS costs the server, for RowSocket's finds and for prepared statements of SQL.

One client asks for the row of a random key, with `depth` requests on their way at a time. A round measures
it plain and then inside TLS, so that a slow minute of the machine hits both. The figure is the processor time
of the one thread of the server that serves the client, per request. So the client may be slow: it is Python.
"""

from __future__ import annotations

import contextlib
import json
import random
import ssl
import statistics
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql
from bench.harness.data import Template
from bench.harness.environment import Environment
from bench.harness.facts import gather
from bench.harness.figures import quartiles
from bench.harness.progress import Progress
from bench.harness.scenario import Case
from bench.harness.servers import RowSocketOverTcp, Servers

from support.certificates import Authority
from support.raw import RawConnection
from support.tree import ServerFailure

ROWS = 100_000
CASE = Case("tls", workload="point", rows=ROWS, connections=1)
COLUMNS = "user_name,user_email,created"
PREPARE, EXECUTE, BIGINT = 0x16, 0x17, 8

Ask = Callable[[list[int]], None]
"""Asks for the rows of these keys, all at once, and takes the replies."""
Connect = Callable[[RowSocketOverTcp, ssl.SSLContext | None], contextlib.AbstractContextManager[Ask]]


@dataclass
class Measured:
    """A case's rounds: microseconds of processor time per request."""

    name: str
    depth: int
    connect: Connect
    plain_us: list[float] = field(default_factory=list)
    tls_us: list[float] = field(default_factory=list)

    @property
    def more_us(self) -> list[float]:
        """What TLS costs, round by round."""
        return [tls - plain for tls, plain in zip(self.tls_us, self.plain_us, strict=True)]


@contextlib.contextmanager
def rowsocket(server: RowSocketOverTcp, tls: ssl.SSLContext | None) -> Iterator[Ask]:
    """Finds by primary key."""
    with RawConnection(server.read_address(), tls=tls) as wire:
        assert wire.ask(f"P\t1\t{CASE.database}\tuser\t\t{COLUMNS}".encode()) == b"0\t1"

        def ask(keys: list[int]) -> None:
            wire.send(b"".join(b"1\t=\t1\t%d\n" % key for key in keys))
            for line in wire.lines(len(keys)):
                if not line.startswith(b"0\t3\tuser"):
                    raise ServerFailure(f"a wrong answer: {line!r}")

        yield ask


@contextlib.contextmanager
def sql(server: RowSocketOverTcp, tls: ssl.SSLContext | None) -> Iterator[Ask]:
    """A prepared SELECT, in the binary protocol."""
    options: dict[str, Any] = {"ssl_disabled": True} if tls is None else {"ssl": tls}
    session = pymysql.connect(
        host="localhost",
        port=int(str(server.options["port"])),
        user="bench",
        password="bench",
        database=CASE.database,
        **options,
    )
    with contextlib.closing(session):
        with session.cursor() as cursor:
            cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
            assert (cursor.fetchall()[0][1] != "") == (tls is not None)
        hidden: Any = session
        statement = f"SELECT {COLUMNS} FROM user WHERE user_id = ?".encode()
        hidden._execute_command(PREPARE, statement)
        (number_of,) = struct.unpack("<I", hidden._read_packet().get_all_data()[1:5])
        for _ in range(2 + 1 + COLUMNS.count(",") + 1):
            hidden._read_packet()  # the parameter, the columns, and the end of both

        def ask(keys: list[int]) -> None:
            for key in keys:
                hidden._execute_command(
                    EXECUTE, struct.pack("<IBIBBBBq", number_of, 0, 1, 0, 1, BIGINT, 0, key)
                )
                columns = hidden._read_packet().get_all_data()[0]
                for _ in range(columns + 1):
                    hidden._read_packet()
                if b"user" not in hidden._read_packet().get_all_data():
                    raise ServerFailure("a wrong answer of SQL")
                hidden._read_packet()

        yield ask


def run(
    environment: Environment, folder: Path, progress: Progress, *, rounds: int, seconds: float
) -> list[Measured]:
    """All rounds. Raises ServerFailure."""
    found = [
        Measured("RowSocket, depth 1", 1, rowsocket),
        Measured("RowSocket, depth 16", 16, rowsocket),
        Measured("SQL, prepared", 1, sql),
    ]
    template = Template(lambda: servers.folder, [CASE], progress.say)
    with (
        tempfile.TemporaryDirectory(prefix="rs-bench-tls-") as made,
        Servers(environment, progress.say, template) as servers,
        (folder / "tls.jsonl").open("w", encoding="utf-8") as lines,
    ):
        facts = {"kind": "facts", **gather(environment), "rounds": rounds, "seconds": seconds}
        print(json.dumps(facts), file=lines)
        authority = Authority(Path(made))
        server = servers.database(RowSocketOverTcp, {"skip-log-bin": None, **authority.server_options()})
        maria = server.sql
        assert isinstance(maria, RowSocketOverTcp)
        maria.sql("CREATE USER bench@localhost IDENTIFIED BY 'bench'")
        maria.sql("GRANT SELECT ON *.* TO bench@localhost")
        for round_number in range(1, rounds + 1):
            for one in found:
                for tls, times in ((None, one.plain_us), (authority.context(), one.tls_us)):
                    with one.connect(maria, tls) as ask:
                        times.append(_us_per_request(server.pid, ask, one.depth, seconds))
                line = {"case": one.name, "round": round_number}
                print(
                    json.dumps({**line, "plain_us": one.plain_us[-1], "tls_us": one.tls_us[-1]}), file=lines
                )
                progress.measured(f"{one.name}: {one.plain_us[-1]:.2f} and {one.tls_us[-1]:.2f} µs")
    return found


def _us_per_request(pid: int, ask: Ask, depth: int, seconds: float) -> float:
    chance = random.Random(1)
    asked = 0
    ask([1])
    before = _cpu_ns(pid)
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        ask([chance.randint(1, ROWS) for _ in range(depth)])
        asked += depth
    spent_ns = [ns - before.get(thread, 0) for thread, ns in _cpu_ns(pid).items()]
    return max(spent_ns) / 1000 / asked


def _cpu_ns(pid: int) -> dict[str, int]:
    """What each thread of the server has used."""
    used = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            used[task.name] = int((task / "schedstat").read_text().split()[0])
    return used


def table(found: list[Measured]) -> str:
    """The medians of the rounds, and the quartiles of what TLS costs more."""
    lines = ["| client | plain, µs | TLS, µs | more, µs | half of the rounds |", "|---|---|---|---|---|"]
    for one in found:
        plain, tls = statistics.median(one.plain_us), statistics.median(one.tls_us)
        more = quartiles(one.more_us)
        half = f"{more.least:.2f} to {more.most:.2f}"
        lines.append(f"| {one.name} | {plain:.2f} | {tls:.2f} | {more.median:.2f} | {half} |")
    return "\n".join(lines)
