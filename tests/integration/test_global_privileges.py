# SPDX-License-Identifier: GPL-2.0-only
"""Global privileges, and accounts that come and go: each change holds from the next turn, however soon.

Each scene asks before the change and behind it, in the same second and on the same connection.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from support.accounts import OK, PASSWORD, UNAUTHENTICATED, account, client, log_in
from support.mariadb import Database, RowSocketServer, Start
from support.raw import REPLY_TIMEOUT_S, RawConnection

FIND = b"0\t=\t1\t1"
ROW = b"0\t1\t1"
DENIED = b"1\t1\t1142"
OPEN = b"P\t0\td\tt\t\tid"
IDENTIFIED = f"IDENTIFIED BY '{PASSWORD}'"


@pytest.fixture
def own(start: Start) -> RowSocketServer:
    """A server of one thread with the table `d.t`."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("INSERT INTO t VALUES (1)")
    return server


@pytest.fixture
def reader(own: RowSocketServer) -> Iterator[RawConnection]:
    """A client of `app@localhost`, who may SELECT everywhere, and has read a row."""
    with account(own, "app@localhost", grants=["SELECT ON *.*"]), client(own, "app") as connection:
        assert connection.ask_all(OPEN, FIND, FIND) == [OK, ROW, ROW]
        yield connection


def test_grants_and_revokes_hold_each_time(own: RowSocketServer, reader: RawConnection) -> None:
    for _ in range(20):
        own.sql("REVOKE SELECT ON *.* FROM app@localhost")
        assert reader.ask(FIND) == DENIED
        own.sql("GRANT SELECT ON *.* TO app@localhost")
        assert reader.ask(FIND) == ROW


def test_a_right_more_holds(own: RowSocketServer, reader: RawConnection) -> None:
    assert reader.ask(b"0\t+\t1\t2") == DENIED
    own.sql("GRANT INSERT ON *.* TO app@localhost")
    assert reader.ask(b"0\t+\t1\t2") == OK


def change_the_table(server: RowSocketServer) -> None:
    server.sql("UPDATE mysql.global_priv SET priv = JSON_SET(priv, '$.access', 0) WHERE user = 'app'")
    server.sql("FLUSH PRIVILEGES")


def make_again(server: RowSocketServer) -> None:
    server.sql(f"CREATE OR REPLACE USER app@localhost {IDENTIFIED}")


@pytest.mark.parametrize("change", [change_the_table, make_again])
def test_rights_that_went_another_way(
    own: RowSocketServer, reader: RawConnection, change: Callable[[RowSocketServer], None]
) -> None:
    change(own)
    assert reader.ask(FIND) == DENIED


@pytest.mark.parametrize(
    "statement", ["DROP USER app@localhost", "RENAME USER app@localhost TO other@localhost"]
)
def test_an_account_that_is_gone_is_not_taken_for_a_wider_one(
    own: RowSocketServer, reader: RawConnection, statement: str
) -> None:
    with account(own, "app@'%'", grants=["SELECT ON *.*"]):
        assert reader.ask(FIND) == ROW
        own.sql(statement)
        assert reader.ask(FIND) == UNAUTHENTICATED
        own.sql("DROP USER IF EXISTS other@localhost")


def test_who_was_refused_while_the_account_was_gone_has_to_log_in_to_the_next_of_its_name(
    own: RowSocketServer, reader: RawConnection
) -> None:
    own.sql("DROP USER app@localhost")
    assert reader.ask(FIND) == UNAUTHENTICATED
    with account(own, "app@localhost", grants=["SELECT ON *.*"]):
        assert reader.ask(FIND) == UNAUTHENTICATED
        assert log_in(reader, "app") == OK
        assert reader.ask_all(OPEN, FIND) == [OK, ROW]


def test_rights_of_everybody_hold_and_go(own: RowSocketServer, reader: RawConnection) -> None:
    assert reader.ask(b"0\t+\t1\t2") == DENIED
    own.sql("GRANT INSERT ON *.* TO PUBLIC")
    assert reader.ask(b"0\t+\t1\t2") == OK
    own.sql("REVOKE INSERT ON *.* FROM PUBLIC")
    assert reader.ask(b"0\t+\t1\t3") == DENIED


def test_rights_of_a_role_hold_and_go(own: RowSocketServer) -> None:
    own.sql("CREATE ROLE reading")
    with account(own, "app@localhost", grants=["reading"]):
        own.sql("SET DEFAULT ROLE reading FOR app@localhost")
        with client(own, "app") as connection:
            for _ in range(3):
                assert connection.ask(OPEN) == DENIED
                own.sql("GRANT SELECT ON *.* TO reading")
                assert connection.ask_all(OPEN, FIND) == [OK, ROW]
                own.sql("REVOKE SELECT ON *.* FROM reading")
            own.sql("GRANT SELECT ON *.* TO reading")
            assert connection.ask(OPEN) == OK
            own.sql("REVOKE reading FROM app@localhost")
            assert connection.ask_all(OPEN, FIND) == [DENIED, DENIED]


def test_the_account_of_guests_is_another_at_once(own: RowSocketServer) -> None:
    with (
        account(own, "one@localhost", grants=["SELECT ON *.*"]),
        account(own, "other@localhost", grants=["SELECT ON *.*"]),
        own.raw("write") as guest,
    ):
        own.sql("SET GLOBAL rowsocket_anonymous_account = 'one@localhost'")
        assert guest.ask_all(OPEN, FIND) == [OK, ROW]
        own.sql("SET GLOBAL rowsocket_anonymous_account = 'other@localhost'")
        assert guest.ask_all(OPEN, FIND) == [OK, ROW]
        own.sql("DROP USER one@localhost")
        assert guest.ask(FIND) == ROW
        own.sql("DROP USER other@localhost")
        assert guest.ask(FIND) == UNAUTHENTICATED


def test_clients_of_many_accounts_by_turns(own: RowSocketServer) -> None:
    """More of them than a worker remembers: every account has its own rights."""
    count = 300
    for number in range(count):
        own.sql(f"CREATE USER u{number}@localhost {IDENTIFIED}")
        if number % 3 == 0:
            own.sql(f"GRANT SELECT ON *.* TO u{number}@localhost")
    connections = [own.raw("write") for _ in range(count)]
    try:
        for number, connection in enumerate(connections):
            assert log_in(connection, f"u{number}") == OK
        for _ in range(2):
            for number, connection in enumerate(connections):
                assert connection.ask(OPEN) == (OK if number % 3 == 0 else DENIED)
    finally:
        for connection in connections:
            connection.close()


def test_an_account_is_told_from_a_later_one_of_like_hosts(own: RowSocketServer) -> None:
    """'127.0.0._' stands for the text '127.0.0.%', too, and not for this client."""
    with account(own, "app@'127.0.0.%'", grants=["SELECT ON *.*"]), own.raw("write") as connection:
        connection.socket.close()
        connection.socket = socket.socket()
        connection.socket.settimeout(REPLY_TIMEOUT_S)
        connection.socket.bind(("127.0.0.55", 0))
        connection.socket.connect(own.write_address())
        assert log_in(connection, "app") == OK
        assert connection.ask_all(OPEN, FIND) == [OK, ROW]
        with account(own, "app@'127.0.0._'", grants=["SELECT ON *.*"]):
            own.sql("REVOKE SELECT ON *.* FROM app@'127.0.0.%%'", ())
            assert connection.ask(FIND) == DENIED
            own.sql("DROP USER app@'127.0.0.%%'", ())
            assert connection.ask(FIND) == UNAUTHENTICATED


def test_a_later_account_of_a_host_that_is_more_like_the_clients_changes_nothing(
    own: RowSocketServer,
) -> None:
    """As in a session of SQL, which stays what it was. The next login is the new account's."""
    with (
        account(own, "app@'%'", grants=["SELECT ON *.*"]),
        client(own, "app") as before,
    ):
        assert before.ask_all(OPEN, FIND) == [OK, ROW]
        with account(own, "app@localhost"), account(own, "app@127.0.0.1"):
            assert before.ask(FIND) == ROW
            with client(own, "app") as behind:
                assert behind.ask(OPEN) == DENIED
            own.sql("REVOKE SELECT ON *.* FROM app@'%%'", ())
            assert before.ask(FIND) == DENIED
            own.sql("GRANT SELECT ON *.* TO app@'%%'", ())
            assert before.ask(FIND) == ROW
        assert before.ask(FIND) == ROW
        with client(own, "app") as again:
            assert again.ask_all(OPEN, FIND) == [OK, ROW]
