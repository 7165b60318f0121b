# SPDX-License-Identifier: GPL-2.0-only
"""Clients are killed by rowsocket_kill at any moment, while they log in, wait for rows, and walk, in plain
text and inside TLS. The clients that are not killed have all their answers."""

from __future__ import annotations

import contextlib
import random
import ssl
import threading
from collections.abc import Callable, Iterator

import pymysql
import pytest

from support.accounts import OK, account, log_in
from support.certificates import Authority
from support.mariadb import Database, DrilledServer, RowSocketServer, Start
from support.raw import ConnectionClosed
from support.schema_tables import of_client, seen

KILLS = 40
BYSTANDERS = 4
OPEN = b"P\t0\td\tt\t\tn"
GONE = (ConnectionClosed, ConnectionError, ssl.SSLError, TimeoutError, AssertionError)


@contextlib.contextmanager
def at_work(*works: Callable[[threading.Event], None]) -> Iterator[list[BaseException]]:
    """These run until the block ends; what they raise is in the list, and raised behind the block."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def run(work: Callable[[threading.Event], None]) -> None:
        try:
            work(stop)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield failures
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("kind", [RowSocketServer, DrilledServer])
@pytest.mark.parametrize("threads_max", [0, 16])
def test_nobody_else_is_met(
    start: Start, authority: Authority, kind: type[RowSocketServer], threads_max: int
) -> None:
    options: dict[str, str | int | None] = {
        **authority.server_options(),
        "rowsocket-threads-write": 1,
        "rowsocket-threads-max": threads_max,
        "max-connect-errors": 1_000_000,
    }
    server = start(kind, options)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    database.sql("INSERT INTO t SELECT seq, 0 FROM seq_1_to_1000")
    spared: set[int] = set()
    counts = [0] * BYSTANDERS

    def bystander(number: int) -> Callable[[threading.Event], None]:
        connection = server.raw("write")
        spared.add(int(of_client(server, connection)["ID"]))

        def work(stop: threading.Event) -> None:
            with connection:
                assert connection.ask(OPEN) == OK
                request = b"0\t=\t1\t%d\t1\t0\t+\t1" % (number + 1)
                while not stop.is_set():
                    assert connection.ask_all(*[request] * 4) == [b"0\t1\t1"] * 4
                    counts[number] += 4

        return work

    def victim(stop: threading.Event) -> None:
        chance = random.Random(threading.get_ident())
        while not stop.is_set():
            with contextlib.suppress(*GONE):
                tls = authority.context() if chance.random() < 0.3 else None
                with server.raw("write", tls) as connection:
                    if chance.random() < 0.5:
                        log_in(connection, "app")
                    connection.ask(OPEN)
                    row = chance.choice([b"1", b"900", b"%d" % chance.randrange(1, 1000)])
                    walk = b"0\t>=\t1\t1\t100\t0\tF\t=\t0\t-1"
                    while not stop.is_set():
                        connection.ask_all(
                            b"0\t=\t1\t" + row + b"\t1\t0\t+\t1", b"0\t>=\t1\t1\t1000\t0", walk
                        )

    def holder(stop: threading.Event) -> None:
        with database.session() as cursor:
            while not stop.is_set():
                cursor.execute("BEGIN")
                cursor.execute("SELECT * FROM t WHERE id = 900 FOR UPDATE")
                stop.wait(0.05)
                cursor.execute("COMMIT")

    works = [bystander(number) for number in range(BYSTANDERS)]
    chance = random.Random(5)
    with account(server, "app@localhost", grants=["ALL ON d.*"]):
        with at_work(*works, *[victim] * 8, holder) as failures:

            def kill_one() -> bool:
                ids = [row["ID"] for row in seen(server, "CONNECTIONS") if row["ID"] not in spared]
                if ids:
                    with contextlib.suppress(pymysql.err.OperationalError):  # it has gone by itself
                        server.sql(f"SET GLOBAL rowsocket_kill = {chance.choice(ids)}")
                return bool(failures) or server.counter("connections_killed") >= KILLS

            server.wait_until("has killed enough", kill_one, 120.0)
        assert not failures
        rows: dict[int, int] = dict(database.sql("SELECT id, n FROM t"))
        for number, count in enumerate(counts):
            assert count > 0
            assert rows[number + 1] >= count, "the victims count, too"
    server.wait_until("all are gone", lambda: not seen(server, "CONNECTIONS"))
    assert server.counter("broken_invariants") == 0
