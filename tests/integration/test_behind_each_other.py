# SPDX-License-Identifier: GPL-2.0-only
"""A request does behind any others what it does alone: nothing of a request is left for the next one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.catalogue import ROWS_OF_A_PLACE, TABLES, Tables
from support.catalogue_requests import Request, as_of_any_place, open_all, requests
from support.mariadb import Options, RowSocketServer
from support.raw import RawConnection
from support.soak import Soak
from support.tree import ServerTree

DATABASE = "behind"
ONE_THREAD: Options = {
    "plugin-load-add": "rowsocket;ha_rocksdb",
    "loose-rowsocket-threads-write": 1,
    "loose-rowsocket-threads-read": 1,
    "max-heap-table-size": 256 << 20,
}
REQUESTS_OF_A_ROUND = 600
ROUNDS = 12

LIMITED = (
    "CREATE USER limited@localhost IDENTIFIED BY 'p'",
    f"GRANT SELECT ON {DATABASE}.* TO limited@localhost",
    *(
        f"GRANT INSERT (id, n), UPDATE (n) ON {DATABASE}.{table.name} TO limited@localhost"
        for table in TABLES
    ),
    *(f"GRANT INSERT, UPDATE ON {DATABASE}.{table.name} TO limited@localhost" for table in TABLES[::2]),
    *(f"GRANT DELETE ON {DATABASE}.{table.name} TO limited@localhost" for table in TABLES[::3]),
)
"""An account that may do a part of everything."""

DISTURBANCES = (
    "FLUSH TABLES",
    "FLUSH TABLE {t}",
    "ANALYZE TABLE {t}",
    "ALTER TABLE {t} COMMENT = 'altered'",
    "ALTER TABLE {t} ADD COLUMN IF NOT EXISTS more INT, ADD KEY IF NOT EXISTS more (more)",
    "ALTER TABLE {t} DROP COLUMN IF EXISTS more",
    "CREATE OR REPLACE TRIGGER more BEFORE DELETE ON words FOR EACH ROW SET @more = OLD.id",
    "DROP TRIGGER IF EXISTS more",
    "FLUSH PRIVILEGES",
    f"GRANT SELECT ON {DATABASE}.* TO limited@localhost",
    "SET GLOBAL lock_wait_timeout = 86399",
    "SET GLOBAL lock_wait_timeout = 86400",
)
"""What changes nothing of what requests do. `{t}` is a table."""


@dataclass(frozen=True)
class Outcome:
    """What a request does: its replies, and the rows of its place afterwards."""

    replies: Sequence[str]
    rows: Sequence[str]

    def differences(self, expected: Outcome) -> list[str]:
        """Each reply or row that is not in both."""
        there, wanted = [*self.replies, *self.rows], [*expected.replies, *expected.rows]
        return [f"+ {one}" for one in there if one not in wanted] + [
            f"- {one}" for one in wanted if one not in there
        ]


@dataclass(frozen=True)
class Door:
    """How a client comes: to which port, as whom."""

    port: str
    account: str = ""

    @contextlib.contextmanager
    def client(self, server: RowSocketServer) -> Iterator[RawConnection]:
        """A new connection, with everything opened."""
        with server.raw(self.port) as client:
            if self.account:
                assert client.ask(f"A\t2\t{self.account}\tp".encode()) == b"0\t1"
            open_all(client, DATABASE)
            yield client


DOORS = (Door("write"), Door("write", "limited"), Door("read"))
Alone = dict[tuple[Door, str], Outcome]


@pytest.fixture(scope="module")
def one_thread(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """A server with one thread for writes and one for reads."""
    with RowSocketServer(tree, template, ONE_THREAD) as server:
        yield server


@pytest.fixture(scope="module")
def tables(one_thread: RowSocketServer) -> Iterator[Tables]:
    """The tables of the catalogue."""
    tables = Tables(one_thread, DATABASE)
    for statement in LIMITED:
        tables.sql(statement)
    yield tables
    tables.close()


@pytest.fixture(scope="module")
def alone(one_thread: RowSocketServer, tables: Tables) -> Alone:
    """What each request does over a connection of its own."""
    every = requests(DATABASE)
    found = {}
    for door in DOORS:
        places = tables.prepare(len(every))
        replies = []
        for request, place in zip(every, places, strict=True):
            with door.client(one_thread) as client:
                replies.append(as_of_any_place(place, client.ask_all(*request.lines(place))))
        for request, *outcome in zip(every, replies, tables.rows(places), strict=True):
            found[door, request.name] = Outcome(*outcome)
    return found


def test_a_trigger_sees_a_session_that_has_just_begun(
    one_thread: RowSocketServer, tables: Tables, alone: Alone
) -> None:
    places = tables.prepare(1)
    with contextlib.closing(one_thread.connect(DATABASE)) as session, session.cursor() as cursor:
        cursor.execute("SET SESSION tx_isolation = 'READ-COMMITTED', autocommit = 0")  # as the page says
        cursor.execute("SELECT 1")  # no rows of a statement before
        cursor.execute(f"INSERT INTO seeing (id, n, s) VALUES ({places[0] * ROWS_OF_A_PLACE + 15}, 3, 'q')")
        session.commit()
    (rows,) = tables.rows(places)
    assert alone[DOORS[0], "seeing insert"].rows == rows


def test_requests_in_any_order_do_what_each_does_alone(
    one_thread: RowSocketServer, tables: Tables, alone: Alone, soak: Soak
) -> None:
    every = requests(DATABASE)
    with contextlib.ExitStack() as stack:
        clients = [(door, stack.enter_context(door.client(one_thread))) for door in (*DOORS, DOORS[0])]
        for _ in soak.trials(ROUNDS):
            sent = _send(soak, tables, clients, soak.random.choices(every, k=REQUESTS_OF_A_ROUND))
            for number, (door, name, outcome) in enumerate(sent):
                expected = alone[door, name]
                before = [one[:2] for one in sent[max(0, number - 8) : number]]
                assert outcome == expected, f"{door} {name} behind {before}: {outcome.differences(expected)}"
            soak.saw("requests", len(sent))


def _send(
    soak: Soak, tables: Tables, clients: Sequence[tuple[Door, RawConnection]], chosen: Sequence[Request]
) -> list[tuple[Door, str, Outcome]]:
    """Some at a time, over any of the connections, with SQL between, and some while another session holds
    their rows. What is sent at once is done in one turn of its thread, most of the time."""
    places = tables.prepare(len(chosen))
    waiting = list(zip(chosen, places, strict=True))
    doors, replies = [], []
    while waiting:
        count = soak.random.choice((1, 1, 2, 2, 3, 5, 20))
        piece, waiting = waiting[:count], waiting[count:]
        senders = [soak.random.choice(clients) for _ in piece]
        some_wait = soak.random.random() < 0.05
        with tables.locked([place for _, place in piece]) if some_wait else contextlib.nullcontext():
            for pair in clients:
                lines = [
                    line
                    for sender, (request, place) in zip(senders, piece, strict=True)
                    if sender is pair
                    for line in request.lines(place)
                ]
                pair[1].send(b"".join(line + b"\n" for line in lines))
            if some_wait:
                tables.sql("SELECT SLEEP(0.005)")  # whoever meets a lock by then is made to wait
        for (door, client), (request, place) in zip(senders, piece, strict=True):
            doors.append(door)
            replies.append(as_of_any_place(place, client.lines(len(request.lines(place)))))
        if soak.random.random() < 0.1:
            table = soak.random.choice(TABLES).name
            tables.sql(soak.random.choice(DISTURBANCES).format(t=table))
    outcomes = map(Outcome, replies, tables.rows(places))
    return list(zip(doors, (request.name for request in chosen), outcomes, strict=True))
