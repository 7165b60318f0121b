# SPDX-License-Identifier: GPL-2.0-only
"""RAND() in defaults and triggers: no account sets, sees or reckons what another one gets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.accounts import OK, account, client
from support.mariadb import RowSocketServer, Start
from support.raw import RawConnection

MODULUS = 0x3FFFFFFF  # the server's my_rnd.c, as is the recurrence in `next_number`


@pytest.fixture
def own(start: Start) -> Iterator[RowSocketServer]:
    """A server with one writing thread, and two accounts with a table each."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    for name in ("one", "other"):
        server.sql(f"CREATE DATABASE {name}")
        server.sql(
            f"CREATE TABLE {name}.token (id INT PRIMARY KEY, t DOUBLE DEFAULT (RAND()),"
            " u DOUBLE DEFAULT (RAND()))"
        )
    with (
        account(server, "one@localhost", grants=["ALL ON one.*"]),
        account(server, "other@localhost", grants=["ALL ON other.*"]),
    ):
        yield server


def insert(connection: RawConnection, number: int) -> None:
    """A row of the client's table."""
    assert connection.ask(b"1\t+\t1\t%d" % number) == OK


def opened(connection: RawConnection, database: str) -> RawConnection:
    """With the database's table as number 1."""
    assert connection.ask(b"P\t1\t%s\ttoken\t\tid" % database.encode()) == OK
    return connection


def tokens(server: RowSocketServer, database: str) -> list[tuple[float, float]]:
    """What the defaults gave, row by row."""
    return server.sql(f"SELECT t, u FROM {database}.token ORDER BY id")


def next_number(first: float, second: float) -> float:
    """What RAND() gives when it gave these two."""
    state, following = round(first * MODULUS), round(second * MODULUS)
    added = (following - 3 * state + following + 33) % MODULUS
    return (3 * following + added) % MODULUS / MODULUS


def test_the_recurrence_is_the_servers(own: RowSocketServer) -> None:
    [(a, b, c)] = own.sql("SELECT RAND(), RAND(), RAND()")
    assert next_number(a, b) == pytest.approx(c, abs=1e-12)


def test_one_account_can_not_reckon_what_another_gets(own: RowSocketServer) -> None:
    with client(own, "one") as one, client(own, "other") as other:
        opened(one, "one")
        opened(other, "other")
        insert(one, 1)
        insert(other, 1)
    [(first, second)] = tokens(own, "one")
    [(got, _)] = tokens(own, "other")
    assert got != pytest.approx(next_number(first, second), abs=1e-12)


def test_a_trigger_does_not_set_what_another_account_gets(own: RowSocketServer) -> None:
    own.sql(
        "CREATE DEFINER = one@localhost TRIGGER one.sets BEFORE INSERT ON one.token FOR EACH ROW"
        " SET rand_seed1 = 1, rand_seed2 = 1"
    )
    with client(own, "one") as one, client(own, "other") as other:
        opened(one, "one")
        opened(other, "other")
        for number in range(3):
            insert(one, number)
            insert(other, number)
    assert len(set(tokens(own, "other"))) == 3


@pytest.mark.parametrize("before", [True, False], ids=["what was", "what will be"])
def test_a_trigger_does_not_see_the_state_of_another_account(own: RowSocketServer, before: bool) -> None:
    """Either what the next number will be, or where the last one came from."""
    own.sql("CREATE TABLE one.seen (at INT AUTO_INCREMENT PRIMARY KEY, s BIGINT, t BIGINT)")
    own.sql(
        "CREATE DEFINER = one@localhost TRIGGER one.looks BEFORE INSERT ON one.token FOR EACH ROW"
        " INSERT INTO one.seen (s, t) VALUES (@@rand_seed1, @@rand_seed2)"
    )
    own.sql("ALTER TABLE one.token ALTER t SET DEFAULT 0, ALTER u SET DEFAULT 0")
    with client(own, "one") as one, client(own, "other") as other:
        opened(one, "one")
        opened(other, "other")
        for number, connection in enumerate([other, one] if before else [one, other]):
            insert(connection, number)
    [(first, second)] = tokens(own, "other")
    [(state, added)] = own.sql("SELECT s, t FROM one.seen")
    if before:
        assert state != round(second * MODULUS)
    else:
        assert (3 * state + added) % MODULUS != round(first * MODULUS)


def test_clients_of_one_account_get_numbers_of_their_own(own: RowSocketServer) -> None:
    with client(own, "one") as first, client(own, "one") as second:
        opened(first, "one")
        opened(second, "one")
        insert(first, 1)
        insert(second, 2)
    [(a, b), (c, _)] = tokens(own, "one")
    assert c != pytest.approx(next_number(a, b), abs=1e-12)
