# SPDX-License-Identifier: GPL-2.0-only
"""What is taken from an account is taken from its clients of memcached and of RESP, too, while they keep
their workers busy, and while FLUSH SSL and FLUSH PRIVILEGES run: nothing that began after the REVOKE is
served."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.accounts import account
from support.certificates import Authority
from support.raw import RawConnection
from support.resp import RespConnection, RespServer, encoded
from support.tree import ServerTree

PASSWORD = "horse"
DEPTH = 8
CLIENTS = 4


@pytest.fixture(scope="module")
def guarded(tree: ServerTree, template: Path, authority: Authority) -> Iterator[RespServer]:
    """A server with TLS and without an anonymous account; `app.item` has `k`."""
    with RespServer(tree, template, authority.server_options()) as server:
        server.prepare()
        server.sql("INSERT INTO app.item (k, v) VALUES ('k', 'value')")
        server.sql("SET GLOBAL rowsocket_anonymous_account = ''")
        yield server


@dataclass
class Asker:
    """Sends batches of reads, and notes when it sent those that were served, and those that were not."""

    connection: RawConnection
    ask: Callable[[RawConnection], list[bool]]
    served_at: list[float] = field(default_factory=list)
    denied_at: list[float] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            sent_at = time.perf_counter()
            for is_served in self.ask(self.connection):
                (self.served_at if is_served else self.denied_at).append(sent_at)


def of_resp(server: RespServer) -> Asker:
    connection = server.resp()
    assert connection.command("AUTH", "loaded", PASSWORD) == b"+OK\r\n"

    def ask(wire: RawConnection) -> list[bool]:
        assert isinstance(wire, RespConnection)
        wire.send(encoded("GET", "k") * DEPTH)
        return [wire.reply() == b"$5\r\nvalue\r\n" for _ in range(DEPTH)]

    return Asker(connection, ask)


def of_memcached(server: RespServer) -> Asker:
    connection = RawConnection(("127.0.0.1", server.memcached_port))
    value = f"loaded {PASSWORD}".encode()
    assert connection.ask(b"set auth 0 0 %d\r\n%s\r" % (len(value), value)) == b"STORED\r"

    def ask(wire: RawConnection) -> list[bool]:
        wire.send(b"get k\r\n" * DEPTH)
        served: list[bool] = []
        while len(served) < DEPTH:
            served.append(wire.line().startswith(b"VALUE"))
            if served[-1]:
                assert wire.lines(2) == [b"value\r", b"END\r"]
        return served

    return Asker(connection, ask)


@contextlib.contextmanager
def disturbed(server: RespServer, authority: Authority) -> Iterator[None]:
    """The certificate is read again and again, and new clients come inside TLS; so are the grants."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def flush() -> None:
        with server.connect() as session, session.cursor() as cursor:
            while not stop.is_set():
                cursor.execute("FLUSH SSL")
                cursor.execute("FLUSH PRIVILEGES")

    def come() -> None:
        while not stop.is_set():
            with server.raw("write", authority.context()) as inside:
                assert inside.ask(b"P\t0\tapp\titem\t\tk") == b"3\t1\tunauth"

    def watched(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=watched, args=(work,)) for work in (flush, come, come)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures, failures


@pytest.mark.parametrize("make", [of_resp, of_memcached])
@pytest.mark.parametrize(
    ("give", "take"),
    [
        ("GRANT SELECT ON app.item TO loaded@localhost", "REVOKE SELECT ON app.item FROM loaded@localhost"),
        ("GRANT SELECT ON *.* TO loaded@localhost", "REVOKE SELECT ON *.* FROM loaded@localhost"),
        ("GRANT SELECT ON app.* TO loaded@localhost", "DROP USER loaded@localhost"),
    ],
)
def test_nothing_that_began_after_a_revoke_is_served(
    guarded: RespServer, authority: Authority, make: Callable[[RespServer], Asker], give: str, take: str
) -> None:
    with (
        account(guarded, "loaded@localhost", f"IDENTIFIED BY '{PASSWORD}'"),
        contextlib.ExitStack() as stack,
    ):
        guarded.sql(give)
        askers = [make(guarded) for _ in range(CLIENTS)]
        for asker in askers:
            stack.enter_context(asker.connection)
        stop = threading.Event()
        threads = [threading.Thread(target=asker.run, args=(stop,)) for asker in askers]
        with disturbed(guarded, authority):
            for thread in threads:
                thread.start()
            try:
                guarded.wait_until(
                    "serves all", lambda: all(len(asker.served_at) > 20 * DEPTH for asker in askers)
                )
                began_at = time.perf_counter()
                guarded.sql(take)
                taken_at = time.perf_counter()
                guarded.wait_until(
                    "denies all", lambda: all(len(asker.denied_at) > 20 * DEPTH for asker in askers)
                )
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
        for asker in askers:
            assert max(asker.served_at) < taken_at
            under_way = [sent_at for sent_at in asker.denied_at if sent_at < began_at]
            assert len(under_way) <= DEPTH, "what was granted is not denied, whatever is flushed"


def test_a_client_of_memcached_whose_account_is_gone_is_told_nothing(guarded: RespServer) -> None:
    """Also where it asks for no table."""
    with (
        account(guarded, "loaded@localhost", f"IDENTIFIED BY '{PASSWORD}'"),
        of_memcached(guarded).connection as wire,
    ):
        assert wire.ask(b"stats items\r") == b"END\r"
        guarded.sql("DROP USER loaded@localhost")
        assert wire.ask(b"stats items\r") == b"CLIENT_ERROR unauthenticated\r"
