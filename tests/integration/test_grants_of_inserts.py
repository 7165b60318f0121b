# SPDX-License-Identifier: GPL-2.0-only
"""Rights to insert rows, where a request inserts only if it finds nothing, or where it finds something."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymysql
import pytest

from support.accounts import OK, PASSWORD, account, client
from support.mariadb import Database, RowSocketServer
from support.resp import RespConnection, RespServer
from support.tree import ServerTree

NO_PERMISSION = b"-NOPERM"


@pytest.fixture(scope="module")
def doors(tree: ServerTree, template: Path) -> Iterator[RespServer]:
    """A server with the container `box` on `shop.box`, and the table `shop.t (id, pub, n)`."""
    with RespServer(tree, template) as server:
        server.prepare()
        server.sql("CREATE TABLE shop.t (id INT PRIMARY KEY, pub VARCHAR(20), n INT)")
        server.sql("CREATE TABLE shop.box (k VARCHAR(20) PRIMARY KEY, v VARCHAR(20))")
        server.contain("box", "shop.box", flags="0", cas=None, expires=None)
        yield server


@contextlib.contextmanager
def logged_in(server: RespServer, *grants: str) -> Iterator[RespConnection]:
    """A connection of an account with these grants; both tables have one row."""
    server.sql("REPLACE INTO shop.t VALUES (1, 'old', 5)")
    server.sql("REPLACE INTO shop.box VALUES ('there', 'old')")
    with account(server, "app@localhost", grants=grants), server.resp() as connection:
        assert connection.command("AUTH", "app", PASSWORD) == b"+OK\r\n"
        yield connection


INSERTING = [
    ("HSET", "shop.t:9", "pub", "new"),
    ("HMSET", "shop.t:9", "pub", "new"),
    ("HSETNX", "shop.t:9", "pub", "new"),
    ("HINCRBY", "shop.t:9", "n", "3"),
    ("HINCRBYFLOAT", "shop.t:9", "n", "3"),
    ("SET", "@@box.new", "v"),
    ("SET", "@@box.new", "v", "GET"),
    ("SET", "@@box.new", "v", "NX", "GET"),
    ("SETNX", "@@box.new", "v"),
    ("GETSET", "@@box.new", "v"),
    ("INCR", "@@box.new"),
    ("APPEND", "@@box.new", "v"),
    ("MSET", "@@box.new", "v"),
]


@pytest.mark.parametrize("command", INSERTING, ids=" ".join)
def test_what_may_insert_a_row_needs_insert(doors: RespServer, command: Sequence[str]) -> None:
    with logged_in(doors, "SELECT, UPDATE ON shop.t", "SELECT, UPDATE ON shop.box") as connection:
        assert connection.command(*command).startswith(NO_PERMISSION)
    assert doors.sql("SELECT id FROM shop.t") == [(1,)]
    assert doors.sql("SELECT k FROM shop.box") == [("there",)]


@pytest.mark.parametrize(
    "command", ["ma @@box.new N0 J5 v", "ms @@box.new 1 MS\r\nx", "ms @@box.new 1 MA\r\nx"]
)
def test_meta_commands_of_memcached_insert_no_row_either(doors: RespServer, command: str) -> None:
    with account(doors, "app@localhost", grants=["SELECT, UPDATE ON shop.box"]):
        doors.sql("SET GLOBAL rowsocket_anonymous_account = 'app@localhost'")
        try:
            with doors.memcached() as cache:
                cache.ask(command)
        finally:
            doors.sql("SET GLOBAL rowsocket_anonymous_account = 'root@localhost'")
    assert doors.value("SELECT COUNT(*) FROM shop.box WHERE k = 'new'") == 0


def test_what_may_insert_a_row_needs_it_on_each_column_that_it_gives(doors: RespServer) -> None:
    grants = ["SELECT (id, pub, n), UPDATE (pub, n), INSERT (id, pub) ON shop.t"]
    with logged_in(doors, *grants) as connection:
        assert connection.command("HSET", "shop.t:7", "n", "1").startswith(NO_PERMISSION)
        assert connection.command("HSET", "shop.t:7", "pub", "new") == b":1\r\n"
        assert connection.command("HSET", "shop.t:7", "pub", "newer") == b":0\r\n"
    assert doors.sql("SELECT * FROM shop.t WHERE id = 7") == [(7, "newer", None)]
    doors.sql("DELETE FROM shop.t WHERE id = 7")


# ---- AUTO_INCREMENT


@pytest.fixture
def customers(database: Database) -> Database:
    """A table whose row 4711 has a unique mail."""
    database.sql("CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, mail VARCHAR(30) UNIQUE)")
    database.sql("INSERT INTO c VALUES (4711, 'ann@x')")
    return database


def ignored(server: RowSocketServer, database: Database, grants: str) -> bytes:
    """What an insert of a mail that is there says, where the other row stays, to an account with these."""
    rights = [f"{grants} ON {database.name}.c"]
    with account(server, "app@localhost", grants=rights), client(server, "app") as connection:
        assert connection.ask(b"P\t0\t%s\tc\t\tmail" % database.name.encode()) == OK
        return connection.ask(b"0\t++\t1\t1\tann@x\tI")


def test_the_id_of_a_row_that_stays_is_told_to_who_may_select_it(
    server: RowSocketServer, customers: Database
) -> None:
    assert ignored(server, customers, "INSERT (mail), SELECT (id)").endswith(b"\t4711")
    assert ignored(server, customers, "INSERT, SELECT").endswith(b"\t4711")


@pytest.mark.parametrize("grants", ["INSERT", "INSERT (mail)", "INSERT (mail), SELECT (mail)"])
def test_who_may_not_select_it_is_told_0_as_by_sql(
    server: RowSocketServer, customers: Database, grants: str
) -> None:
    assert b"4711" not in ignored(server, customers, grants)
    assert ignored(server, customers, grants).endswith(b"\t0")
    with account(server, "app@localhost", grants=[f"{grants} ON {customers.name}.c"]):
        session = pymysql.connect(unix_socket=str(server.socket), user="app", password=PASSWORD)
        with contextlib.closing(session), session.cursor() as cursor:
            cursor.execute(f"INSERT IGNORE INTO {customers.name}.c (mail) VALUES ('ann@x')")
            assert cursor.lastrowid in (0, None)


@pytest.mark.parametrize("grants", ["INSERT", "INSERT (mail)"])
def test_who_may_not_select_it_is_told_the_id_of_a_row_of_his_own(
    server: RowSocketServer, customers: Database, grants: str
) -> None:
    customers.sql("DELETE FROM c")
    assert ignored(server, customers, grants).endswith(b"\t4712")


# ---- wide tables


def test_columns_beyond_the_64th_are_asked_for_one_by_one(
    server: RowSocketServer, database: Database
) -> None:
    names = [f"c{number}" for number in range(70)]
    database.sql(f"CREATE TABLE wide (id INT PRIMARY KEY, {', '.join(f'{name} INT' for name in names)})")
    database.sql("INSERT INTO wide (id) VALUES (1)")
    given, others = names[:65], names[65:]
    grants = [
        f"SELECT, INSERT (id, {', '.join(given)}), UPDATE ({', '.join(given)}) ON {database.name}.wide",
    ]
    wide = b"%s\twide\t" % database.name.encode()
    columns = ",".join(["id", *given, *others]).encode()
    with account(server, "app@localhost", grants=grants), client(server, "app") as connection:
        assert connection.ask(b"P\t0\t" + wide + b"\t" + columns) == OK
        row = b"\t".join(b"%d" % (number + 100) for number in range(66))
        assert connection.ask(b"0\t+\t66\t" + row) == OK
        assert connection.ask(b"0\t+\t67\t7\t" + row) == b"1\t1\t1143"
        assert connection.ask(b"P\t1\t" + wide + b"\t" + ",".join(names).encode()) == OK
        values = b"\t".join([b"5"] * 65)
        assert connection.ask(b"1\t=\t1\t1\t1\t0\tU\t" + values) == b"0\t1\t1"
        assert connection.ask(b"1\t=\t1\t1\t1\t0\tU\t" + values + b"\t5") == b"1\t1\t1143"


def test_a_default_draws_from_a_sequence_as_its_account_may(doors: RespServer) -> None:
    """As INSERT of SQL: SELECT and INSERT on the sequence, whether the default is needed or not. Two accounts
    take turns, of which one may."""
    doors.sql("CREATE SEQUENCE shop.numbers")
    doors.sql("CREATE TABLE shop.drawn (id INT PRIMARY KEY DEFAULT (NEXTVAL(shop.numbers)), n INT)")
    on_table = ["SELECT, INSERT, UPDATE ON shop.drawn"]
    with (
        account(doors, "ann@localhost", grants=[*on_table, "SELECT, INSERT ON shop.numbers"]),
        account(doors, "bob@localhost", grants=on_table),
        client(doors, "ann") as ann,
        client(doors, "bob") as bob,
    ):
        for wire in (ann, bob):
            assert wire.ask(b"P\t1\tshop\tdrawn\t\tn") == OK
            assert wire.ask(b"P\t2\tshop\tdrawn\t\tid,n") == OK
        for number in (b"7", b"8"):
            assert ann.ask(b"1\t+\t1\t" + number) == OK
            assert bob.ask(b"1\t+\t1\t" + number) == b"1\t1\t1142"
        assert bob.ask(b"2\t+\t2\t100\t1") == b"1\t1\t1142"
        with as_sql(doors, "bob") as cursor, pytest.raises(pymysql.err.OperationalError, match="1142"):
            cursor.execute("INSERT INTO shop.drawn VALUES (100, 1)")
        assert bob.ask(b"2\t=\t1\t1\t1\t0\tU\t1\t9") == b"0\t1\t1", "an update draws nothing"
        for grant, reply in (("SELECT", b"1\t1\t1142"), ("INSERT", OK)):
            doors.sql(f"GRANT {grant} ON shop.numbers TO bob@localhost")
            assert bob.ask(b"1\t+\t1\t9") == reply
        doors.sql("REVOKE INSERT ON shop.numbers FROM bob@localhost")
        assert bob.ask(b"1\t+\t1\t9") == b"1\t1\t1142"
        assert ann.ask(b"1\t+\t1\t9") == OK
    doors.sql("DROP TABLE shop.drawn")
    doors.sql("DROP SEQUENCE shop.numbers")


@contextlib.contextmanager
def as_sql(server: RespServer, user: str) -> Iterator[pymysql.cursors.Cursor]:
    """A session of SQL of this account."""
    with (
        contextlib.closing(
            pymysql.connect(unix_socket=str(server.socket), user=user, password=PASSWORD, autocommit=True)
        ) as session,
        session.cursor() as cursor,
    ):
        yield cursor
