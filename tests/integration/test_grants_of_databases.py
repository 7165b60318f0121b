# SPDX-License-Identifier: GPL-2.0-only
"""Rights on whole databases, in sessions that enter and leave databases for others all the time.

In `mine` and in `theirs` there is a table `entered`, whose default asks for DATABASE(): an insert into it
makes the worker's session enter its database. Beside it is a table `plain` with the rows (1, 10), (2, 20).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pymysql
import pytest

from support.accounts import OK, PASSWORD, account, client
from support.mariadb import RowSocketServer, Start
from support.raw import RawConnection

DENIED = b"1\t1\t1142"
ONE_WORKER = {"loose-rowsocket-threads-write": 1}


@pytest.fixture
def both(start: Start) -> RowSocketServer:
    """A server with both databases, and one worker for writes."""
    server = start(RowSocketServer, ONE_WORKER)
    for database in ("mine", "theirs"):
        for statement in (
            f"CREATE DATABASE {database}",
            (
                f"CREATE TABLE {database}.entered (id INT PRIMARY KEY AUTO_INCREMENT, n INT, "
                "place VARCHAR(60) DEFAULT (DATABASE()))"
            ),
            f"CREATE TABLE {database}.plain (id INT PRIMARY KEY, v INT)",
            f"INSERT INTO {database}.plain VALUES (1, 10), (2, 20)",
        ):
            server.sql(statement)
    return server


@contextlib.contextmanager
def opened(connection: RawConnection, *tables: str) -> Iterator[None]:
    """Index 0, 1, ... are these tables: `mine.entered(n)`."""
    for number, table in enumerate(tables):
        name, columns = table.rstrip(")").split("(")
        fields = b"\t".join(part.encode() for part in [*name.split("."), "", columns])
        assert connection.ask(b"P\t%d\t%s" % (number, fields)) == OK
    yield


def is_denied_by_sql(server: RowSocketServer, user: str, statement: str) -> bool:
    """What SQL says to the same account."""
    session = pymysql.connect(unix_socket=str(server.socket), user=user, password=PASSWORD, autocommit=True)
    with contextlib.closing(session), session.cursor() as cursor:
        try:
            cursor.execute(statement)
        except pymysql.err.MySQLError as error:
            assert error.args[0] in (1142, 1143), error
            return True
    return False


def test_a_roles_rights_on_one_database_are_not_those_on_another(both: RowSocketServer) -> None:
    both.sql("CREATE ROLE owner")
    both.sql("GRANT ALL ON mine.* TO owner")
    grants = ["INSERT ON theirs.entered", "SELECT (id) ON theirs.plain"]
    with account(both, "app@localhost", grants=grants):
        both.sql("GRANT owner TO app@localhost")
        both.sql("SET DEFAULT ROLE owner FOR app@localhost")
        assert is_denied_by_sql(both, "app", "DELETE FROM theirs.plain WHERE id = 1")
        tables = ("mine.entered(n)", "theirs.entered(n)", "theirs.plain(id)")
        with client(both, "app") as connection, opened(connection, *tables):
            for _ in range(3):
                assert connection.ask(b"0\t+\t1\t1").startswith(b"0\t1\t")
                replies = connection.ask_all(b"1\t+\t1\t1", b"2\t=\t1\t1\t1\t0\tD", b"2\t=\t1\t2\t1\t0\tC\tv")
                assert replies[1:] == [DENIED, b"1\t1\t1143"]
    assert both.sql("SELECT * FROM theirs.plain") == [(1, 10), (2, 20)]


def test_a_grant_on_a_database_counts_before_one_on_a_pattern(both: RowSocketServer) -> None:
    with account(both, "app@localhost", grants=["ALL ON `%`.*", "SELECT ON mine.*"]):
        assert is_denied_by_sql(both, "app", "DELETE FROM mine.plain WHERE id = 1")
        with (
            both.raw("write") as other,
            client(both, "app") as connection,
            opened(other, "mine.entered(n)"),
            opened(connection, "mine.plain(id,v)"),
        ):
            assert connection.ask(b"0\t=\t1\t1\t1\t0\tD") == DENIED
            other.ask(b"0\t+\t1\t1")
            assert connection.ask(b"0\t=\t1\t1\t1\t0\tD") == DENIED
            assert connection.ask(b"0\t=\t1\t1\t1\t0\tU\t1\t7") == DENIED
    assert both.sql("SELECT * FROM mine.plain") == [(1, 10), (2, 20)]


def test_a_grant_on_a_database_holds_whoever_was_in_it_before(both: RowSocketServer) -> None:
    with account(both, "app@localhost", grants=["ALL ON mine.*"]):
        assert not is_denied_by_sql(both, "app", "DELETE FROM mine.plain WHERE id = 1")
        with (
            both.raw("write") as other,
            client(both, "app") as connection,
            opened(other, "mine.entered(n)"),
            opened(connection, "mine.plain(id,v)"),
        ):
            other.ask(b"0\t+\t1\t1")
            assert connection.ask(b"0\t=\t1\t2") == b"0\t2\t2\t20"
            assert connection.ask(b"0\t=\t1\t2\t1\t0\tD") == b"0\t1\t1"


@pytest.mark.parametrize(
    ("event", "value", "in_sql", "requests", "seen"),
    [
        (
            "INSERT",
            "NEW.v",
            "INSERT INTO mine.plain VALUES (3, 30)",
            [b"0\t+\t2\t4\t40", b"0\t+\t2\t5\t50"],
            [(30,), (40,), (50,)],
        ),
        (
            "UPDATE",
            "NEW.v",
            "UPDATE mine.plain SET v = 11 WHERE id = 1",
            [b"0\t=\t1\t1\t1\t0\tU\t1\t12"],
            [(11,), (12,)],
        ),
        (
            "DELETE",
            "OLD.v",
            "DELETE FROM mine.plain WHERE id = 1",
            [b"0\t=\t1\t2\t1\t0\tD"],
            [(10,), (20,)],
        ),
    ],
    ids=["insert", "update", "delete"],
)
def test_the_triggers_of_an_account_have_its_rights_on_their_database(
    both: RowSocketServer,
    event: str,
    value: str,
    in_sql: str,
    requests: list[bytes],
    seen: list[tuple[int]],
) -> None:
    both.sql("CREATE TABLE mine.seen (n INT)")
    with account(both, "app@localhost", grants=["ALL ON mine.*", "INSERT ON theirs.plain"]):
        both.sql(
            f"CREATE DEFINER = app@localhost TRIGGER mine.note AFTER {event} ON mine.plain "
            f"FOR EACH ROW INSERT INTO seen VALUES ({value})"
        )
        assert not is_denied_by_sql(both, "app", in_sql)
        with client(both, "app") as connection, opened(connection, "mine.plain(id,v)"):
            assert all(reply.startswith(b"0\t1") for reply in connection.ask_all(*requests))
    assert both.sql("SELECT n FROM mine.seen") == seen


def test_a_grant_that_escapes_an_underscore_is_that_of_the_one_database(both: RowSocketServer) -> None:
    for statement in (
        "CREATE DATABASE my_own",
        "CREATE TABLE my_own.plain (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE my_own.seen (n INT)",
    ):
        both.sql(statement)
    with account(both, "app@localhost", grants=["ALL ON `my\\_own`.*"]):
        both.sql(
            "CREATE DEFINER = app@localhost TRIGGER my_own.note AFTER INSERT ON my_own.plain "
            "FOR EACH ROW INSERT INTO seen VALUES (NEW.v)"
        )
        assert not is_denied_by_sql(both, "app", "INSERT INTO my_own.plain VALUES (3, 30)")
        with client(both, "app") as connection, opened(connection, "my_own.plain(id,v)"):
            assert connection.ask(b"0\t+\t2\t4\t40") == OK
    assert both.sql("SELECT n FROM my_own.seen") == [(30,), (40,)]


def test_the_triggers_of_an_account_have_no_rights_of_a_pattern_on_their_database(
    both: RowSocketServer,
) -> None:
    both.sql("CREATE TABLE mine.seen (n INT)")
    grants = ["ALL ON `%`.*", "SELECT, INSERT, TRIGGER ON mine.*"]
    with account(both, "app@localhost", grants=grants):
        both.sql(
            "CREATE DEFINER = app@localhost TRIGGER mine.note AFTER INSERT ON mine.plain "
            "FOR EACH ROW DELETE FROM seen"
        )
        assert is_denied_by_sql(both, "app", "INSERT INTO mine.plain VALUES (3, 30)")
        with client(both, "app") as connection, opened(connection, "mine.plain(id,v)"):
            assert connection.ask(b"0\t+\t2\t4\t40") == DENIED
