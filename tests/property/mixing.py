# SPDX-License-Identifier: GPL-2.0-only
"""One mix on one server: tables, clients and disturbances for a while, then everything compared.

The comparison with what clients know is in ends.py; that of the binlog with the tables (support/binlog.py) is
for the caller, who knows which servers there are.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import pymysql

from property import bank, ingredients, volatile
from property.bank import BANK, Bank, wrong_balance
from property.books import TABLES
from property.clients import DATABASE, Client, make_books, make_totals
from property.counters import Totals
from property.disturbances import (
    DISTURBANCES,
    GONE_FOR_A_MOMENT,
    LOST_A_RACE,
    Beside,
    disturb,
)
from property.ends import wrong_ends
from property.ingredients import VOLATILE, chosen
from property.requests import Owner
from property.shapes import BY_NAME
from property.steps import Refusals, Unknown
from support.mariadb import Options, RowSocketServer
from support.raw import ConnectionClosed
from support.tree import ServerFailure, ServerTree

MIX_S = float(os.environ.get("ROWSOCKET_MIX_SECONDS") or 8)
"""How long a mix runs, in seconds."""
_OF_ALL_SERVERS: Options = {"system-versioning-alter-history": "KEEP", "loose-rowsocket-error-detail": "ON"}
_OF_NEWER_SERVERS: Options = {"old-mode": "UTF8_IS_UTF8MB3,LOCK_ALTER_TABLE_COPY"}
"""ALTER TABLE lets nobody write while it copies, as in MariaDB 10.11. Since 11.2 it lets others write, and
fails by itself on tables with partitions then (seen in 11.8.6)."""
CLIENTS = 6
VOLATILE_CLIENTS = 2
END_TIMEOUT_S = 90.0
EXCHANGES_SHOWN_MAX = 60
DEATH_S = 3.0
AWAY_S = 0.05
BLOCKED = LOST_A_RACE | GONE_FOR_A_MOMENT
BLOCKED_S = 90.0
"""How long a table may be locked, or be renamed and wait for the locks that bring it back."""
BROKEN = (
    ConnectionClosed,
    ConnectionRefusedError,
    ConnectionResetError,
    BrokenPipeError,
    pymysql.err.OperationalError,
    pymysql.err.InterfaceError,
)
"""What a client or session meets whose server is not there."""
LINES_OF_THE_END = 250
LAST_WORDS_MAX = 16
ALWAYS_REFUSED = {"149", "1213"}
"""A deadlock that was met again and again."""
REFUSED_BESIDE: dict[str, set[str]] = {
    ingredients.KILLS: {"188", "1317"},
    ingredients.KILLED_CONNECTIONS: {"188", "1317", "1927"},
    ingredients.RENAMES: {"open_table"},
    ingredients.READ_ONLY: {"1290"},
}


class MixFailure(AssertionError):
    """Something is wrong; the text says what, after how long, with which mix and seed."""


@dataclass
class Mix:
    """What to run."""

    ingredients: frozenset[str]
    seed: int
    also_refused: frozenset[str] = frozenset()
    """Errors that the server's options allow."""
    client_count: int = CLIENTS
    unknown: frozenset[str] = frozenset()
    """Errors that do not tell whether the request was done."""
    rows_max: int = 0
    """How many rows the servers let a transaction change; 0 = any number."""
    sees_all: bool = True
    """Whether a read sees what was acknowledged before it was sent, wherever that was."""

    def __str__(self) -> str:
        return f"seed {self.seed}, mix {','.join(sorted(self.ingredients))}"

    def refusals(self) -> frozenset[str]:
        """All errors that may come because of others."""
        found = ALWAYS_REFUSED | self.also_refused
        for name in self.ingredients:
            found |= REFUSED_BESIDE.get(name, set())
        return frozenset(found)

    def statements(self) -> list[str]:
        """What makes the tables."""
        made = [
            statement
            for name, shape in BY_NAME.items()
            if name in self.ingredients
            for statement in shape.statements()
        ]
        made += bank.TABLES if BANK in self.ingredients else ()
        made += [
            statement for name, texts in TABLES.items() if name in self.ingredients for statement in texts
        ]
        return made + (list(volatile.TABLES) if VOLATILE in self.ingredients else [])


def new_mix(
    choose: random.Random, may_be: Collection[str], also_refused: frozenset[str] = frozenset()
) -> Mix:
    """A new mix of what may be in it; it is printed, so that it can be made again."""
    mix = Mix(chosen(choose, may_be), choose.randrange(1 << 32), also_refused)
    print(mix, flush=True)
    return mix


Trouble = Callable[["Run"], None]
"""Something that is done to the servers, again and again, until the run stops."""


def one_of(choose: random.Random, names: Collection[str]) -> str:
    """One of the sets of options at random, or the one that the environment names."""
    name = os.environ.get("ROWSOCKET_MIX_SET") or choose.choice(sorted(names))
    assert name in names, f"ROWSOCKET_MIX_SET: there is no {name}; there are {sorted(names)}"
    print(name, flush=True)
    return name


def of_all_servers(tree: ServerTree) -> Options:
    """What a mix needs of its servers, and of their replicas."""
    major = int(tree.version().partition(".")[0])
    return {**_OF_ALL_SERVERS, **(_OF_NEWER_SERVERS if major > 10 else {})}


@dataclass
class Run:
    """A mix while it runs."""

    servers: Sequence[RowSocketServer]
    mix: Mix
    totals: dict[str, Totals]
    bank: Bank
    clients: list[Client] = field(default_factory=list)
    sessions: list[Beside] = field(default_factory=list)
    began_s: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    away: set[RowSocketServer] = field(default_factory=set)
    """Servers that may refuse and break connections now, or have done so lately."""
    failures: list[str] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    def fail(self, what: str) -> None:
        """Note what is wrong, and end."""
        self.failures.append(f"after {time.monotonic() - self.began_s:.2f} s: {what}")
        self.stop.set()

    def spawn(self, name: str, server: RowSocketServer, work: Callable[[], None]) -> None:
        """Work with a server in a thread until the end."""

        def run() -> None:
            while not self.stop.is_set():
                try:
                    work()
                except BROKEN as error:
                    if server not in self.away:
                        self.fail(f"{name}: {type(error).__name__}: {error}")
                    self.stop.wait(AWAY_S)
                except BaseException as error:  # whatever it is, the test is to see it
                    self.fail(f"{name}: {type(error).__name__}: {error}")

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def read(self, query: str) -> list[tuple[Any, ...]]:
        """The rows that SQL sees on the first server."""
        return self.read_on(self.servers[0], query)

    def read_on(self, server: RowSocketServer, query: str) -> list[tuple[Any, ...]]:
        """The rows that SQL sees; of a table that is away or locked for a moment, when that is over."""
        end_s = time.monotonic() + BLOCKED_S
        while True:
            try:
                return server.sql(query, database=DATABASE)
            except pymysql.err.MySQLError as error:
                if error.args[0] not in BLOCKED or time.monotonic() > end_s:
                    raise
                time.sleep(AWAY_S)

    def join(self) -> None:
        """Wait until all threads have ended."""
        end_s = time.monotonic() + END_TIMEOUT_S
        for thread in self._threads:
            thread.join(max(0.1, end_s - time.monotonic()))
            if thread.is_alive():
                self.fail(f"{thread.name} does not come to an end; the servers do {self._processes()}")

    def _processes(self) -> object:
        try:
            query = "SELECT id, user, time, state, info FROM information_schema.processlist"
            return [server.sql(query) for server in self.servers]
        except pymysql.err.MySQLError as error:
            return error


def run_mix(
    servers: Sequence[RowSocketServer],
    mix: Mix,
    duration_s: float,
    troubles: Mapping[str, Trouble] | None = None,
    catch_up: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Run a mix on servers that are all written to; how much was done. Raises `MixFailure`.

    `troubles` are ingredients of the caller's; `catch_up` makes all servers see what any of them has done.
    """
    servers[0].sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    for statement in mix.statements():
        servers[0].sql(statement, database=DATABASE)
    catch_up()
    run = Run(servers, mix, make_totals(mix.ingredients, sees_all=mix.sees_all), Bank(sees_all=mix.sees_all))
    with ExitStack() as stack:
        _start_clients(run, stack)
        _start_sessions(run)
        for name, trouble in (troubles or {}).items():
            if name in mix.ingredients:
                run.spawn(name, servers[0], lambda trouble=trouble: trouble(run))  # type: ignore[misc]
        run.stop.wait(duration_s)
        _end(run, catch_up)
    if run.failures:
        raise MixFailure(_failure_text(run))
    answers = sum(client.answers for client in run.clients)
    replays = sum(int(server.status("Rowsocket_replays")["Rowsocket_replays"]) for server in servers)
    refused = sum((client.refusals.seen for client in run.clients), Counter[str]())
    return {
        "answers": answers,
        "replays": replays,
        **{f"refused {name}": refused[name] for name in sorted(refused)},
    }


def _start_clients(run: Run, stack: ExitStack) -> None:
    mix = run.mix
    for number in range(mix.client_count):
        server = run.servers[number % len(run.servers)]
        books = make_books(Owner(number), mix.ingredients, run.totals, run.bank)
        refusals = Refusals(mix.refusals(), mix.unknown, rows_max=mix.rows_max)
        client = Client(server, number, mix.ingredients, mix.seed, refusals, books)
        stack.callback(client.close)
        run.clients.append(client)
    others = range(VOLATILE_CLIENTS if VOLATILE in mix.ingredients else 0)
    volatile_clients = [
        volatile.VolatileClient(run.servers[0], number, mix.seed, mix.refusals()) for number in others
    ]
    for other in volatile_clients:
        stack.callback(other.close)
    run.began_s = time.monotonic()
    for client in run.clients:
        run.spawn(f"client {client.owner.number}", client.server, _coming_back(run, client))
    for other in volatile_clients:
        run.spawn("a client of the volatile table", other.server, _volatile(run, other))


def _coming_back(run: Run, client: Client) -> Callable[[], None]:
    """The client's work; it comes back where connections may break, or outcomes be unknown."""

    def work() -> None:
        try:
            client.work()
        except (*BROKEN, Unknown) as error:
            if not isinstance(error, Unknown) and not run.mix.ingredients & ingredients.BREAKING:
                raise
            _wait_until_back(run, client.server)
            if not run.stop.is_set():
                client.come_back(lambda query: run.read_on(client.server, query))

    return work


def _volatile(run: Run, client: volatile.VolatileClient) -> Callable[[], None]:
    def work() -> None:
        try:
            client.work()
        except BROKEN:
            if not run.mix.ingredients & ingredients.BREAKING:
                raise
            _wait_until_back(run, client.server)
            client.renew()

    return work


def _wait_until_back(run: Run, server: RowSocketServer) -> None:
    """A server that was away serves again, and has what the others have done."""
    while server in run.away and not run.stop.is_set():
        run.stop.wait(AWAY_S)


def _start_sessions(run: Run) -> None:
    kinds = {**DISTURBANCES, VOLATILE: (volatile.change, 1)}
    for name, (work, count) in kinds.items():
        sessions = range(count * len(run.servers) if name in run.mix.ingredients else 0)
        for nth in sessions:
            server = run.servers[nth % len(run.servers)]
            choose = random.Random(f"{run.mix.seed}/{name}/{nth}")
            beside = Beside(server, run.mix.ingredients, choose, run.stop, run.totals)
            run.sessions.append(beside)
            run.spawn(name, server, lambda beside=beside, work=work: disturb(beside, work))  # type: ignore[misc]


def _end(run: Run, catch_up: Callable[[], None]) -> None:
    """Stop all, and compare; after a crash, if there is to be one."""
    crashes = ingredients.CRASH in run.mix.ingredients and not run.failures
    if crashes:
        run.away.update(run.servers)
        with ExitStack() as stack:
            for session in run.sessions:
                stack.enter_context(session.no_crash)
            for server in run.servers:
                server.crash()
    run.stop.set()
    run.join()
    if crashes:
        for server in run.servers:
            server.start()
            _repair_myisam(server)
    for number, server in enumerate(run.servers):
        if run.failures and _has_died(server):
            run.failures.insert(0, f"server {number} died: {server.exit_text()}\n{_last_words(server)}")
    if not run.failures:
        try:
            catch_up()
            for text in _wrong_ends(run):
                run.fail(text)
        except (AssertionError, ServerFailure) as error:
            run.fail(str(error).partition("--- error log")[0])


def _repair_myisam(server: RowSocketServer) -> None:
    """After a crash, an index may name a row that the data file does not have: the first SELECT fails."""
    tables = server.sql(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND engine = 'MyISAM'",
        [DATABASE],
    )
    for (table,) in tables:
        server.sql(f"REPAIR NO_WRITE_TO_BINLOG TABLE {table}", database=DATABASE)


def _wrong_ends(run: Run) -> Iterator[str]:
    for client in run.clients:
        client.settle_unknown(run.read)
    yield from wrong_ends(run.clients, run.sessions, run.totals, run.read)
    if BANK in run.mix.ingredients:
        yield from wrong_balance(run.bank, run.read("SELECT id, balance, version FROM account"))


def _has_died(server: RowSocketServer) -> bool:
    """Whether the server has ended. It takes a moment from the first broken connection on."""
    if server.process is not None:
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(DEATH_S)
    return not server.alive()


_TELLING = re.compile(r"[Aa]ssertion|\[FATAL\]|got signal|free\(\)|malloc|corrupted|rowsocket::|mariadbd\(_Z")


def _last_words(server: RowSocketServer) -> str:
    """What the server's error log and output say of its end."""
    lines = server.log_tail(LINES_OF_THE_END).splitlines()
    telling = [line for line in lines if _TELLING.search(line)][:LAST_WORDS_MAX] or lines[-2:]
    return "\n".join(line[:160] for line in telling)


def _failure_text(run: Run) -> str:
    """What is wrong, and what the client that met it did last."""
    failed = [
        client
        for client in run.clients
        if any(f": client {client.owner.number}:" in text for text in run.failures)
    ]
    parts = []
    for client in failed[:1]:
        lines = client.last_second()
        parts += [f"the last second of client {client.owner.number}:", *lines[-EXCHANGES_SHOWN_MAX:]]
    counted = run.servers[0].status("Rowsocket_%") if run.servers[0].alive() else {}
    seen = {
        name: counted[f"Rowsocket_{name}"]
        for name in ("replays", "parked", "commits", "commit_failures")
        if counted
    }
    return "\n".join([*run.failures[:5], f"{run.mix}, {seen}", *parts])
