# SPDX-License-Identifier: GPL-2.0-only
"""rowsocket_anonymous_account: as whom clients act that name no account. It holds from the next turn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pymysql
import pytest

from support.accounts import OK, UNAUTHENTICATED, account
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection

OPEN = b"P\t0\td\tt\t\tid"
FIND = b"0\t=\t1\t1"
ROW = b"0\t1\t1"
DENIED = b"1\t1\t1142"


@pytest.fixture
def own(start: Start) -> RowSocketServer:
    """A server with the table `d.t`, whose clients act as `app@localhost`, who may read it."""
    server = start(RowSocketServer, {"loose-rowsocket-anonymous-account": "app@localhost"})
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    database.sql("INSERT INTO t VALUES (1)")
    server.sql("CREATE USER app@localhost ACCOUNT LOCK")
    server.sql("GRANT SELECT ON d.t TO app@localhost")
    return server


@pytest.fixture
def reader(own: RowSocketServer) -> Iterator[RawConnection]:
    """A connection that has opened the table."""
    with own.raw("write") as connection:
        assert connection.ask_all(b"P\t0\td\tt\t\tid", FIND) == [OK, ROW]
        yield connection


def test_it_may_do_what_the_account_may(reader: RawConnection) -> None:
    assert reader.ask(b"0\t+\t1\t2") == DENIED
    assert reader.ask(b"0\t=\t1\t1\t1\t0\tD") == DENIED


def test_grants_hold_from_the_next_turn(own: RowSocketServer, reader: RawConnection) -> None:
    own.sql("GRANT INSERT ON d.t TO app@localhost")
    assert reader.ask(b"0\t+\t1\t2") == OK
    own.sql("REVOKE ALL PRIVILEGES, GRANT OPTION FROM app@localhost")
    assert reader.ask_all(FIND, b"0\t+\t1\t3") == [DENIED, DENIED]


def test_a_changed_variable_holds_for_connections_that_are_open(
    own: RowSocketServer, reader: RawConnection
) -> None:
    own.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    own.wait_until("refuses", lambda: reader.ask(FIND) == UNAUTHENTICATED)
    own.sql("SET GLOBAL rowsocket_anonymous_account = 'root@localhost'")
    own.wait_until("serves", lambda: reader.ask(FIND) == ROW)
    assert reader.ask(b"0\t+\t1\t2") == OK
    assert own.value("SELECT @@GLOBAL.rowsocket_anonymous_account") == "root@localhost"


def test_without_the_account_nobody_is_served(own: RowSocketServer, reader: RawConnection) -> None:
    own.sql("DROP USER app@localhost")
    assert reader.ask(FIND) == UNAUTHENTICATED
    with account(own, "app@'%'", grants=["SELECT ON d.t"]):
        assert reader.ask(FIND) == UNAUTHENTICATED, "another host is another account"


def test_a_renamed_account_is_another(own: RowSocketServer, reader: RawConnection) -> None:
    own.sql("RENAME USER app@localhost TO other@localhost")
    assert reader.ask(FIND) == UNAUTHENTICATED


def test_grants_on_mysql_tables_hold_after_flush_privileges(
    own: RowSocketServer, reader: RawConnection
) -> None:
    own.sql("DELETE FROM mysql.tables_priv WHERE user = 'app'")
    assert reader.ask(FIND) == ROW
    own.sql("FLUSH PRIVILEGES")
    assert reader.ask(FIND) == DENIED


@pytest.mark.parametrize(
    "rule",
    [
        "PASSWORD EXPIRE",
        "WITH MAX_USER_CONNECTIONS 1",
        "WITH MAX_CONNECTIONS_PER_HOUR 1",
    ],
)
def test_rules_for_logins_are_for_logins(own: RowSocketServer, reader: RawConnection, rule: str) -> None:
    """As docs/security.md says: nobody logs in here. (REQUIRE is no rule for logins: test_tls_accounts.)"""
    own.sql(f"ALTER USER app@localhost {rule}")
    with own.raw("write") as second, own.raw("write") as third:
        for client in (second, third):
            assert client.ask_all(b"P\t0\td\tt\t\tid", FIND) == [OK, ROW]
    assert reader.ask(FIND) == ROW


@pytest.mark.parametrize("name", ["app", "@localhost", "app@", "a" * 400 + "@localhost"])
def test_what_is_no_account_is_refused(server: RowSocketServer, name: str) -> None:
    with pytest.raises(pymysql.err.MySQLError):
        server.sql("SET GLOBAL rowsocket_anonymous_account = %s", [name])
    assert server.value("SELECT @@GLOBAL.rowsocket_anonymous_account") == "root@localhost"


def warnings_of_setting(server: RowSocketServer, name: str) -> str:
    """What SQL says to who names this account; the variable is as before then."""
    with contextlib.closing(server.connect()) as session, session.cursor() as cursor:
        try:
            cursor.execute("SET GLOBAL rowsocket_anonymous_account = %s", [name])
            cursor.execute("SHOW WARNINGS")
            return str(cursor.fetchall())
        finally:
            server.sql("SET GLOBAL rowsocket_anonymous_account = 'root@localhost'")


@pytest.mark.parametrize("name", ["nobody@localhost", "root@localhost ", "root@10.0.0.1"])
def test_an_account_that_is_not_there_is_warned_of(server: RowSocketServer, name: str) -> None:
    assert f"there is no account {name}:" in warnings_of_setting(server, name)


def test_an_account_of_all_hosts_is_not_that_of_one_host(server: RowSocketServer) -> None:
    with account(server, "anywhere@'%'"):
        assert "there is no account anywhere@localhost:" in warnings_of_setting(server, "anywhere@localhost")


def test_an_account_that_is_there_is_not_warned_of(server: RowSocketServer) -> None:
    assert warnings_of_setting(server, "root@localhost") == "()"


def test_a_user_may_have_an_at_in_its_name(own: RowSocketServer, reader: RawConnection) -> None:
    with account(own, "'app@home'@localhost", "ACCOUNT LOCK", ["INSERT ON d.t"]):
        own.sql("SET GLOBAL rowsocket_anonymous_account = 'app@home@localhost'")
        own.wait_until("is the other one", lambda: reader.ask(FIND) == DENIED)
        assert reader.ask(b"0\t+\t1\t2") == OK


@pytest.mark.parametrize("name", ["app@LOCALHOST", "'app'@'LocalHost'"])
def test_the_case_of_the_host_is_as_in_sql(own: RowSocketServer, reader: RawConnection, name: str) -> None:
    own.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    own.wait_until("refuses", lambda: reader.ask(FIND) == UNAUTHENTICATED)
    own.sql("SET GLOBAL rowsocket_anonymous_account = %s", [name])
    own.wait_until("serves", lambda: reader.ask(FIND) == ROW)


def test_an_account_that_is_not_there_when_a_client_comes_is_logged_once(start: Start) -> None:
    """At the server's start nobody can know: it reads the accounts later than it loads the plugin."""
    server = start(RowSocketServer, {"loose-rowsocket-anonymous-account": "nobody@LOCALHOST"})
    line = "rowsocket_anonymous_account: there is no account nobody@localhost:"
    assert line not in server.error_log.read_text()
    for _ in range(2):
        with server.raw("read") as client:
            assert client.ask_all(OPEN, OPEN) == [UNAUTHENTICATED, UNAUTHENTICATED]
    server.sql("SET GLOBAL rowsocket_error_detail = ON")  # the settings are taken anew
    with server.raw("read") as client:
        client.ask(OPEN)
    assert server.error_log.read_text().count(line) == 1


def test_another_account_that_is_not_there_is_logged_too(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-anonymous-account": "nobody@localhost"})
    for name in ("nobody", "nemo"):
        server.sql("SET GLOBAL rowsocket_anonymous_account = %s", [f"{name}@localhost"])
        with server.raw("read") as client:
            assert client.ask(OPEN) == UNAUTHENTICATED
        line = f"rowsocket_anonymous_account: there is no account {name}@localhost:"
        assert server.error_log.read_text().count(line) == 1
