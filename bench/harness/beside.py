# SPDX-License-Identifier: GPL-2.0-only
"""Who keeps a server busy, or waiting, while others are measured: the cases of `./x bench fair`.

Each case is a function that begins something on a running server, and returns what ends it. Its clients are
threads of the harness; they check little, since what is measured is what others get.
"""

from __future__ import annotations

import contextlib
import itertools
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from bench.harness.beside_clients import Stop, clients, connect, light_clients, newcomers, nonblocking
from bench.harness.servers import RowSocketOverTcp

ROWS = 100_000
"""Of the tables that only these clients use."""
KEYS = 9_999
GROUP_LINES = 1_022
LARGE_BYTES = 16 << 20
LARGE_CONNECTIONS = 1_000
SLEEPER = "sleeps"
"""Who inserts a user of this name, into the table of those that are measured, sleeps for a second in a
trigger."""
SLEEPERS_FIRST_ID = 1_000_000_000
SLEEPERS_IDS = 10_000_000
"""Of each of them: far above the ids of those that are measured."""
TABLES = (
    "CREATE DATABASE IF NOT EXISTS beside",
    "CREATE OR REPLACE TABLE beside.many (id INT PRIMARY KEY, same INT, n INT, text CHAR(30), KEY (same))",
    f"INSERT INTO beside.many SELECT seq, 1, 0, 'some text of a row' FROM seq_1_to_{ROWS}",
    (
        "CREATE OR REPLACE TABLE beside.computed (id INT PRIMARY KEY, n INT,"
        " digest CHAR(128) AS (SHA2(REPEAT(CONCAT(n, 'x'), 30000), 512)) VIRTUAL)"
    ),
    "INSERT INTO beside.computed (id, n) VALUES (1, 1)",
    "CREATE OR REPLACE TABLE beside.hot (id INT PRIMARY KEY, n INT)",
    "INSERT INTO beside.hot VALUES (1, 0)",
    "CREATE OR REPLACE TABLE beside.slow (id INT PRIMARY KEY AUTO_INCREMENT, n INT)",
    "CREATE OR REPLACE TABLE beside.inserted (id INT PRIMARY KEY AUTO_INCREMENT, n INT)",
    (
        "CREATE OR REPLACE TRIGGER beside.slow_insert BEFORE INSERT ON beside.slow"
        " FOR EACH ROW SET NEW.n = SLEEP(2)"
    ),
)
"""What the cases need, as SQL."""
USERS = f"bench_{ROWS}"
"""The database of those that are measured."""
TRIGGER = (
    f"CREATE OR REPLACE TRIGGER {USERS}.sleeps BEFORE INSERT ON {USERS}.user"
    f" FOR EACH ROW IF NEW.user_name = '{SLEEPER}' THEN DO SLEEP(1); END IF"
)

_first_ids = itertools.count(SLEEPERS_FIRST_ID, SLEEPERS_IDS)

Begin = Callable[[RowSocketOverTcp, str, Stop], list[threading.Thread]]


@dataclass(frozen=True)
class Beside:
    """A case: what happens beside the clients that are measured, and on whose port."""

    name: str
    port: str
    """read or write: of both."""
    begin: Begin
    writers: bool = False
    """Those that are measured are 50 that insert rows; else 100 that read single ones."""
    seconds_min: float = 0.0
    """A round is to have several times what happens beside."""

    @contextlib.contextmanager
    def running(self, server: RowSocketOverTcp) -> Iterator[None]:
        """While it happens."""
        stop = threading.Event()
        threads = self.begin(server, self.port, stop)
        time.sleep(0.3)  # they have connected, and have sent their first request
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()


def endless_finds(
    server: RowSocketOverTcp, port: str, stop: Stop, *, count: int = 2
) -> list[threading.Thread]:
    """So many clients, each with a line of 20 KB that walks over 10^9 rows and finds none."""
    keys = b"\t".join([b"1"] * KEYS)
    line = b"0\t=\t1\t1\t1000000000\t0\t@\t0\t%d\t%s\tF\t=\t0\t-1\n" % (KEYS, keys)
    return clients(count, server, port, stop, b"P\t0\tbeside\tmany\tsame\tid\tid", line)


def walks(
    server: RowSocketOverTcp, port: str, stop: Stop, *, count: int, rows: int, pipelined: int = 1
) -> list[threading.Thread]:
    """So many clients, each of which walks over so many rows at a time, and finds none."""
    line = b"0\t>=\t1\t0\t1000000000\t0\tW\t<=\t0\t%d\tF\t=\t0\t-1\n" % rows
    return clients(count, server, port, stop, b"P\t0\tbeside\tmany\t\tid\tid", line * pipelined)


def keys_at_once(
    server: RowSocketOverTcp, port: str, stop: Stop, *, count: int, keys: int
) -> list[threading.Thread]:
    """So many clients that ask for so many keys at a time."""
    step = ROWS // keys
    listed = b"\t".join(b"%d" % (key * step + 1) for key in range(keys))
    line = b"0\t=\t1\t1\t%d\t0\t@\t0\t%d\t%s\n" % (keys, keys, listed)
    return light_clients(count, server, port, stop, b"P\t0\tbeside\tmany\t\tid", line)


def finds_of_the_vanished(
    server: RowSocketOverTcp, port: str, stop: Stop, *, count: int = 4
) -> list[threading.Thread]:
    """So many threads that connect, send an endless find, and reset the connection after 0 to 6 ms."""
    keys = b"\t".join([b"1"] * 1000)
    line = b"0\t=\t1\t1\t1000000000\t0\t@\t0\t1000\t%s\tF\t=\t0\t-1\n" % keys
    request = b"P\t0\tbeside\tmany\tsame\tid\tid\n" + line

    def one(number: int) -> None:
        stays_ms = itertools.cycle((number * 2 + 1, 0, 6, 3))
        while not stop.is_set():
            with contextlib.suppress(OSError), connect(server, port) as wire:
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                wire.socket.sendall(request)
                time.sleep(next(stays_ms) / 1000)

    threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads


def six_kinds(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """About 50 clients: walks on both ports, computed columns, inserts that take long, groups, key lists."""
    return [
        *walks(server, "read", stop, count=8, rows=ROWS),
        *walks(server, "write", stop, count=8, rows=ROWS),
        *computed_rows(server, port, stop, count=20),
        *slow_engine(server, port, stop),
        *large_groups(server, port, stop),
        *keys_at_once(server, port, stop, count=10, keys=100),
    ]


def computed_rows(
    server: RowSocketOverTcp,
    port: str,
    stop: Stop,
    *,
    count: int = 100,
    pipelined: int = 1,
    quick: int = 0,
    refused: int = 0,
) -> list[threading.Thread]:
    """So many clients that read a row, with a column that the server computes each time.

    `pipelined` such requests are sent together, behind `refused` inserts under an id that is not open, and
    before `quick` ones for a row that is not there.
    """
    lines = b"9\t+\t1\t1\n" * refused + b"0\t=\t1\t1\n" * pipelined + b"0\t=\t1\t2\n" * quick
    return clients(count, server, port, stop, b"P\t0\tbeside\tcomputed\t\tid,digest", lines)


def computed_rows_of_newcomers(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """100 clients that connect anew for each row with a column that the server computes."""
    return newcomers(100, server, port, stop, b"P\t0\tbeside\tcomputed\t\tid,digest", b"0\t=\t1\t1\n")


def computed_rows_between_writes(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """100 clients that change a row, read one with a computed column, and open an index: that commits."""
    opens = b"P\t0\tbeside\tcomputed\t\tid,digest"
    lines = b"P\t1\tbeside\thot\t\tn\n1\t=\t1\t1\t1\t0\t+\t1\n0\t=\t1\t1\n" + opens + b"\n"
    return clients(100, server, port, stop, opens, lines)


def long_reads(server: RowSocketOverTcp, port: str, stop: Stop, *, count: int = 4) -> list[threading.Thread]:
    """So many clients that read 100,000 rows at a time, on the read port."""
    line = b"0\t>=\t1\t0\t%d\t0\n" % ROWS
    return clients(count, server, "read", stop, b"P\t0\tbeside\tmany\t\tid,n,text", line)


def long_pipelines(
    server: RowSocketOverTcp, port: str, stop: Stop, *, count: int = 1, requests: int = ROWS
) -> list[threading.Thread]:
    """So many clients, each of which sends so many finds before it waits."""
    lines = b"".join(b"0\t=\t1\t%d\n" % key for key in range(1, requests + 1))
    return clients(count, server, port, stop, b"P\t0\tbeside\tmany\t\tid,n,text", lines)


def large_groups(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """One client with groups of 1,022 updates."""
    updates = b"".join(b"0\t=\t1\t%d\t1\t0\t+\t1\n" % key for key in range(1, GROUP_LINES + 1))
    return clients(1, server, port, stop, b"P\t0\tbeside\tmany\t\tn", b"G\n" + updates + b"E\n")


def long_updates(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """One client that updates 100,000 rows at a time."""
    line = b"0\t>=\t1\t0\t%d\t0\t+\t1\n" % ROWS
    return clients(1, server, port, stop, b"P\t0\tbeside\tmany\t\tn", line)


def locked_row(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """20 clients that count up one row, which a transaction of SQL holds."""
    held = threading.Event()

    def hold() -> None:
        with contextlib.closing(server.connect("beside")) as sql, sql.cursor() as session:
            session.execute("BEGIN")
            session.execute("UPDATE beside.hot SET n = n + 1")
            held.set()
            stop.wait()
            session.execute("ROLLBACK")

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    held.wait()
    line = b"0\t=\t1\t1\t1\t0\t+\t1\n"
    return [holder, *clients(20, server, port, stop, b"P\t0\tbeside\thot\t\tn", line)]


def locked_table(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """20 clients of a table under LOCK TABLES ... WRITE."""
    held, opened = threading.Event(), threading.Event()

    def hold() -> None:
        with contextlib.closing(server.connect("beside")) as sql, sql.cursor() as session:
            opened.wait()
            session.execute("LOCK TABLES beside.hot WRITE")
            held.set()
            stop.wait()
            session.execute("UNLOCK TABLES")

    def later() -> None:
        wires = [connect(server, port) for _ in range(20)]
        for wire in wires:
            wire.ask(b"P\t0\tbeside\thot\t\tn")
        opened.set()
        held.wait()
        for wire in wires:
            wire.send(b"0\t=\t1\t1\n")
        stop.wait()
        for wire in wires:
            with contextlib.suppress(TimeoutError):
                wire.line()
            wire.socket.close()

    threads = [threading.Thread(target=work, daemon=True) for work in (hold, later)]
    for thread in threads:
        thread.start()
    held.wait()
    return threads


def blocked_commits(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """10 clients that insert rows while a backup keeps commits waiting, as at its end."""
    blocked = threading.Event()

    def back_up() -> None:
        with contextlib.closing(server.connect("beside")) as sql, sql.cursor() as session:
            for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
                session.execute(f"BACKUP STAGE {stage}")
            blocked.set()
            stop.wait()
            session.execute("BACKUP STAGE END")

    backup = threading.Thread(target=back_up, daemon=True)
    backup.start()
    blocked.wait()
    line = b"0\t+\t1\t1\n"
    return [backup, *clients(10, server, port, stop, b"P\t0\tbeside\tinserted\t\tn", line)]


def altered_table(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """20 clients of a table whose ALTER TABLE is at its end, and waits for a transaction of SQL."""
    read, altered = threading.Event(), threading.Event()

    def hold() -> None:
        with contextlib.closing(server.connect("beside")) as sql, sql.cursor() as session:
            session.execute("BEGIN")
            session.execute("SELECT n FROM beside.hot")
            read.set()
            stop.wait()
            session.execute("ROLLBACK")
        altered.wait()

    def alter() -> None:
        read.wait()
        with contextlib.closing(server.connect("beside")) as sql, sql.cursor() as session:
            session.execute("ALTER TABLE beside.hot FORCE, ALGORITHM=COPY")
        altered.set()

    threads = [threading.Thread(target=work, daemon=True) for work in (hold, alter)]
    for thread in threads:
        thread.start()
    read.wait()
    line = b"0\t=\t1\t1\n"
    return [*threads, *clients(20, server, port, stop, b"P\t0\tbeside\thot\t\tn", line)]


def slow_engine(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """Four clients whose inserts take two seconds each: a trigger sleeps, in the place of an engine."""
    return clients(4, server, port, stop, b"P\t0\tbeside\tslow\t\tn", b"0\t+\t1\t0\n")


def sleeping_writers(
    server: RowSocketOverTcp, port: str, stop: Stop, *, count: int = 10, quick: int = 0
) -> list[threading.Thread]:
    """So many clients that insert rows where those that are measured do: so many quick ones, one by one, and
    then one that sleeps in a trigger, again and again.
    """

    def one(first_id: int) -> None:
        with connect(server, port, timeout_s=60.0) as wire:
            wire.ask(b"P\t0\t%s\tuser\t\tuser_id,user_name" % USERS.encode())
            next_id = first_id
            while not stop.is_set():
                for name in [b"quick"] * quick + [SLEEPER.encode()]:
                    wire.send(b"0\t+\t2\t%d\t%s\n" % (next_id, name))
                    next_id += 1
                    wire.line()

    first_ids = [next(_first_ids) for _ in range(count)]
    threads = [threading.Thread(target=one, args=(first_id,), daemon=True) for first_id in first_ids]
    for thread in threads:
        thread.start()
    return threads


def large_lines(server: RowSocketOverTcp, port: str, stop: Stop) -> list[threading.Thread]:
    """1,000 connections that send halves of lines of 16 MiB, and come again when they are closed.

    The client sends what a socket takes, and waits for the sockets otherwise: one that tried them again and
    again would keep a processor busy by itself, which is not the server's doing.
    """
    half = b"0\t+\t1\t" + b"x" * (LARGE_BYTES // 2)
    address = server.write_address() if port == "write" else server.read_address()

    def send() -> None:
        with selectors.DefaultSelector() as sockets:

            def come() -> None:
                sockets.register(nonblocking(address), selectors.EVENT_READ | selectors.EVENT_WRITE, 0)

            for _ in range(LARGE_CONNECTIONS):
                come()
            while not stop.is_set():
                for key, events in sockets.select(0.1):
                    wire, sent = cast(socket.socket, key.fileobj), cast(int, key.data)
                    try:
                        if events & selectors.EVENT_READ and not wire.recv(1 << 16):
                            raise ConnectionError
                        if events & selectors.EVENT_WRITE:
                            sent += wire.send(half[sent : sent + (1 << 18)])
                    except BlockingIOError:
                        continue
                    except OSError:
                        sockets.unregister(wire)
                        wire.close()
                        come()
                        continue
                    wants = selectors.EVENT_READ | (selectors.EVENT_WRITE if sent < len(half) else 0)
                    sockets.modify(wire, wants, sent)
            for key in list(sockets.get_map().values()):
                cast(socket.socket, key.fileobj).close()

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return [thread]


CASES = (
    Beside("two endless finds, read port", "read", endless_finds),
    Beside("two endless finds, write port", "write", endless_finds),
    Beside("four clients read 100,000 rows", "read", long_reads),
    Beside("a pipeline of 100,000", "read", long_pipelines),
    Beside("20 pipelines of 1,000", "write", partial(long_pipelines, count=20, requests=1000)),
    Beside("100 pipelines of 1,000", "write", partial(long_pipelines, count=100, requests=1000)),
    Beside("groups of 1,022", "write", large_groups),
    Beside("updates of 100,000 rows", "write", long_updates),
    Beside("20 writers of a locked row", "write", locked_row),
    Beside("a table under LOCK TABLES", "write", locked_table),
    Beside("10 writers, and a backup that blocks commits", "write", blocked_commits),
    Beside("inserts that take two seconds", "write", slow_engine),
    Beside("1,000 halves of 16 MiB", "write", large_lines),
    Beside("the end of an ALTER TABLE", "write", altered_table),
    Beside("8 endless finds, write port", "write", partial(endless_finds, count=8)),
    Beside("100 endless finds", "read", partial(endless_finds, count=100)),
    Beside("100 clients walk over 100,000 rows", "read", partial(walks, count=100, rows=ROWS)),
    Beside("100 clients walk over 1,500 rows", "read", partial(walks, count=100, rows=1500)),
    Beside("30 clients walk over 8,000 rows", "read", partial(walks, count=30, rows=8000)),
    Beside("a pipeline of walks over 1,500 rows", "write", partial(walks, count=1, rows=1500, pipelined=100)),
    Beside("100 clients read a computed column", "read", computed_rows),
    Beside("100 pipelines of 20 computed columns", "read", partial(computed_rows, pipelined=20)),
    Beside("100 pipelines of a computed column, 5 misses", "read", partial(computed_rows, quick=5)),
    Beside("100 pipelines of 24 refused, a computed column", "read", partial(computed_rows, refused=24)),
    Beside("100 that connect anew for a computed column", "read", computed_rows_of_newcomers),
    Beside("100 clients with a computed column before a commit", "write", computed_rows_between_writes),
    Beside("100 clients ask for 100 keys", "read", partial(keys_at_once, count=100, keys=100)),
    Beside("100 clients ask for 50 keys", "write", partial(keys_at_once, count=100, keys=50)),
    Beside("endless finds of clients that vanish", "write", finds_of_the_vanished),
    Beside("six kinds at once", "write", six_kinds),
    Beside("8 clients read 100,000 rows, other port", "write", partial(long_reads, count=8)),
    Beside("10 writers that sleep, for 50 writers of the table", "write", sleeping_writers, writers=True),
    Beside(
        "10 writers, 255 quick rows before each sleep, the same",
        "write",
        partial(sleeping_writers, quick=255),
        writers=True,
        seconds_min=8.0,
    ),
)
