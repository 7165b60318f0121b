# SPDX-License-Identifier: GPL-2.0-only
"""SET GLOBAL rowsocket_kill closes one client, whatever it does. The others of its worker notice nothing."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest

from support.accounts import OK, PASSWORD, UNAUTHENTICATED, account, client
from support.certificates import Authority
from support.gate import gate, wait_at_gate, with_gated_table
from support.locks import row_lock_waits, wait_for_a_row_lock_wait
from support.logs import LogFile, audited, switched
from support.mariadb import Database, RowSocketServer, Start
from support.raw import ConnectionClosed, RawConnection
from support.resp import RespServer
from support.schema_tables import of_client, seen, session_of
from support.tree import ServerTree

ALONE = {"rowsocket-threads-write": 1, "rowsocket-threads-read": 1}
WITHOUT_STAND_INS = ALONE | {"rowsocket-threads-max": 0}
OPENS = [b"P\t0\td\tt\t\tid,n", b"P\t1\td\tgated\t\tid", b"P\t2\td\tt\t\tn"]
FIND = b"0\t=\t1\t1"
ROW = b"0\t2\t1\t10"
WRITE = b"0\t+\t2\t7\t70\n"
INCREMENT = b"2\t=\t1\t1\t1\t0\t+\t1\n"


def prepared(server: RowSocketServer) -> Database:
    """`d.t` has the row (1, 10), and `d.gated` a trigger that waits at the gate."""
    database = Database(server, "d")
    with_gated_table(database)
    database.sql("INSERT INTO t VALUES (1, 10)")
    return database


@contextlib.contextmanager
def opened(server: RowSocketServer, port: str = "write") -> Iterator[RawConnection]:
    with server.raw(port) as connection:
        assert connection.ask_all(*OPENS) == [OK] * len(OPENS)
        yield connection


def id_of(server: RowSocketServer, connection: RawConnection) -> int:
    return int(of_client(server, connection)["ID"])


def kill(server: RowSocketServer, number: int) -> None:
    server.sql(f"SET GLOBAL rowsocket_kill = {number}")


def state_of(server: RowSocketServer, number: int) -> str:
    [row] = seen(server, "CONNECTIONS", f"ID = {number}")
    return str(row["STATE"])


def assert_closed(server: RowSocketServer, connection: RawConnection, number: int) -> None:
    """Its client sees the end, whatever came before, and the server knows it no more."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            connection.line()
    server.wait_until("is gone", lambda: not seen(server, "CONNECTIONS", f"ID = {number}"))


@pytest.fixture(params=[WITHOUT_STAND_INS, ALONE], ids=["without stand-ins", "with stand-ins"])
def server(start: Start, request: pytest.FixtureRequest) -> RowSocketServer:
    return start(RowSocketServer, dict(request.param))


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    return prepared(server)


def is_without_stand_ins(server: RowSocketServer) -> bool:
    return int(server.value("SELECT @@rowsocket_threads_max")) == 0


# ---- whatever it does


def idle(connection: RawConnection) -> None:
    assert connection.ask(FIND) == ROW


def reading(connection: RawConnection) -> None:
    connection.send(FIND)


def sending(connection: RawConnection) -> None:
    connection.send(b"P\t5\td\tlong\t\tv\n5\t=\t1\t1\n")


@pytest.mark.parametrize(("does", "state"), [(idle, "idle"), (reading, "reading"), (sending, "sending")])
def test_between_its_requests(
    server: RowSocketServer, database: Database, does: Callable[[RawConnection], None], state: str
) -> None:
    database.sql("CREATE TABLE d.long (k INT PRIMARY KEY, v LONGBLOB)")
    database.sql("INSERT INTO d.long VALUES (1, REPEAT('x', 16000000))")
    with opened(server) as killed, opened(server) as other:
        number = id_of(server, killed)
        does(killed)
        server.wait_until(f"is {state}", lambda: state_of(server, number) == state)
        kill(server, number)
        server.wait_until("is gone", lambda: not seen(server, "CONNECTIONS", f"ID = {number}"))
        with contextlib.suppress(ConnectionResetError):
            while killed.socket.recv(1 << 20):
                pass
        assert other.ask(FIND) == ROW
    assert server.counter("connections_killed") == 1
    assert server.value("SELECT @@GLOBAL.rowsocket_kill") == 0
    assert f"connection {number} (127.0.0.1:" in server.log_text()
    assert "is closed: killed (rowsocket_kill)" in server.log_text()


def test_in_the_middle_of_a_request(server: RowSocketServer, database: Database) -> None:
    """The trigger's wait ends, though the gate stays closed. What was asked behind is not done."""
    with opened(server) as other, opened(server) as killed:
        number = id_of(server, killed)
        with gate(database):
            killed.send(b"1\t+\t1\t5\n" + WRITE)
            wait_at_gate(server)
            kill(server, number)
            assert_closed(server, killed, number)
            assert other.ask(FIND) == ROW
    assert server.sql("SELECT * FROM d.gated") == []
    assert server.sql("SELECT * FROM d.t WHERE id = 7") == []


def test_behind_the_request_of_another_client(server: RowSocketServer, database: Database) -> None:
    with opened(server) as stuck, opened(server) as killed:
        number = id_of(server, killed)
        with gate(database):
            stuck.send(b"1\t+\t1\t5\n")
            wait_at_gate(server)
            killed.send(WRITE)
            if not is_without_stand_ins(server):
                assert killed.line() == OK
            kill(server, number)
        assert_closed(server, killed, number)
        assert stuck.line() == OK
    assert (server.sql("SELECT * FROM d.t WHERE id = 7") == []) == is_without_stand_ins(server)


def test_while_it_walks(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE d.many (k INT PRIMARY KEY, v INT)")
    database.sql("INSERT INTO d.many SELECT seq, seq FROM seq_1_to_200000")
    with opened(server, "read") as other, opened(server, "read") as killed:
        number = id_of(server, killed)
        assert killed.ask(b"P\t5\td\tmany\t\tk\tv") == OK
        walk = b"5\t>=\t1\t0\t1\t0\tF\t=\t0\t-1\n"
        killed.send(walk * 10_000)
        server.wait_until("executes", lambda: state_of(server, number) in ("executing", "queued"))
        kill(server, number)
        assert_closed(server, killed, number)
        assert other.ask(FIND) == ROW


@pytest.mark.parametrize("lock", ["row", "table"])
def test_while_it_waits_for_a_lock(server: RowSocketServer, database: Database, lock: str) -> None:
    with opened(server) as other, opened(server) as killed, database.session() as holder:
        number = id_of(server, killed)
        if lock == "row":
            holder.execute("BEGIN")
            holder.execute("SELECT * FROM t WHERE id = 1 FOR UPDATE")
        else:
            holder.execute("LOCK TABLES t WRITE")
        parked = server.counter("parked")
        killed.send(INCREMENT)
        if lock == "row" and not is_without_stand_ins(server):
            wait_for_a_row_lock_wait(server)
        else:
            server.wait_until("is parked", lambda: server.counter("parked") > parked)
        kill(server, number)
        assert_closed(server, killed, number)
        server.wait_until("nobody waits", lambda: row_lock_waits(server) == 0)
        holder.execute("COMMIT" if lock == "row" else "UNLOCK TABLES")
        assert other.ask(FIND) == ROW


def test_while_it_is_held_back(start: Start) -> None:
    server = start(RowSocketServer, ALONE | {"rowsocket-max-account-requests": 1})
    database = prepared(server)
    with opened(server) as stuck, opened(server) as killed:
        number = id_of(server, killed)
        with gate(database):
            stuck.send(b"1\t+\t1\t5\n")
            wait_at_gate(server)
            killed.send(WRITE)
            server.wait_until("is held back", lambda: server.counter("requests_held_back") > 0)
            kill(server, number)
            assert_closed(server, killed, number)
        assert stuck.line() == OK
    assert server.sql("SELECT * FROM d.t WHERE id = 7") == []


def test_while_it_logs_in(server: RowSocketServer, database: Database) -> None:
    """Logins of an address that has guessed wait. Those behind the killed one are tried all the same."""
    with account(server, "app@localhost"), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(opened(server)) for _ in range(10)]
        ids = {one: id_of(server, one) for one in clients}
        for one in clients:
            one.send(b"A\t2\tapp\twrong\n")

        def waiting() -> list[RawConnection]:
            return [one for one in clients if state_of(server, ids[one]) == "waiting"]

        server.wait_until("five were tried", lambda: server.counter("logins_refused") >= 5)
        killed = waiting()[-1]
        kill(server, ids[killed])
        assert_closed(server, killed, ids[killed])
        for one in clients:
            if one is not killed:
                assert one.line() == UNAUTHENTICATED


def test_in_its_tls_handshake(secured: RowSocketServer, authority: Authority) -> None:
    with secured.raw("write") as killed, secured.raw("write", authority.context()) as other:
        number = id_of(secured, killed)
        failed = secured.counter("tls_handshakes_failed")
        killed.send(b"\x16\x03\x01")
        secured.wait_until("has left", lambda: not seen(secured, "CONNECTIONS", f"ID = {number}"))
        kill(secured, number)
        assert killed.closed()
        assert secured.counter("tls_handshakes_failed") == failed + 1
        assert other.ask(b"P\t0\td\tt\t\tid,a") == OK


def test_inside_tls(secured: RowSocketServer, authority: Authority) -> None:
    with secured.raw("write", authority.context()) as killed:
        kill(secured, id_of(secured, killed))
        with contextlib.suppress(ssl.SSLError):
            assert killed.closed()


def test_a_commit_under_way_is_the_others(server: RowSocketServer, database: Database) -> None:
    """A backup holds up the commit of two clients' writes. The one that is not killed has its answer."""
    with opened(server) as killed, opened(server) as other, database.session() as backup:
        number = id_of(server, killed)
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            backup.execute(f"BACKUP STAGE {stage}")
        killed.send(WRITE)
        other.send(b"0\t+\t2\t8\t80\n")
        waits = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE '%backup lock%'"
        server.wait_until("waits for the backup", lambda: server.value(waits) > 0)
        kill(server, number)
        backup.execute("BACKUP STAGE END")
        assert other.line() == OK
        assert_closed(server, killed, number)
    assert server.value("SELECT n FROM d.t WHERE id = 8") == 80


# ---- who may, and what is said


def test_an_id_of_nobody_is_an_error(server: RowSocketServer, database: Database) -> None:
    with opened(server) as gone:
        number = id_of(server, gone)
    server.wait_until("is gone", lambda: not seen(server, "CONNECTIONS", f"ID = {number}"))
    for nobody in (number, 0, -1, 1 << 40):
        with pytest.raises(pymysql.err.MySQLError) as raised:
            kill(server, nobody)
        assert raised.value.args[0] == 1094
    for wrong in ("'one'", "1.5"):
        with pytest.raises(pymysql.err.MySQLError):
            server.sql(f"SET GLOBAL rowsocket_kill = {wrong}")
    server.sql("SET GLOBAL rowsocket_kill = DEFAULT")
    assert server.counter("connections_killed") == 0


def test_it_takes_what_a_kill_of_others_takes(server: RowSocketServer, database: Database) -> None:
    with (
        account(server, "app@localhost", grants=["SELECT ON d.t"]),
        account(server, "dba@localhost", grants=["SUPER, CONNECTION ADMIN, PROCESS ON *.*"]),
        opened(server) as connection,
    ):
        number = id_of(server, connection)
        with session_of(server, "app") as session, session.cursor() as cursor:
            with pytest.raises(pymysql.err.MySQLError) as raised:
                cursor.execute(f"SET GLOBAL rowsocket_kill = {number}")
            assert raised.value.args[0] == 1227
        assert connection.ask(FIND) == ROW
        with session_of(server, "dba") as session, session.cursor() as cursor:
            cursor.execute(f"SET GLOBAL rowsocket_kill = {number}")
        assert_closed(server, connection, number)


def test_it_takes_the_privilege_that_kill_takes(server: RowSocketServer, database: Database) -> None:
    """SUPER, which may set variables, may kill in MariaDB 10.11 as well, and not in later ones."""

    def may(session: pymysql.connections.Connection[Any], statement: str) -> bool:
        with session.cursor() as cursor:
            try:
                cursor.execute(statement)
            except pymysql.err.MySQLError:
                return False
        return True

    with (
        account(server, "setter@localhost", grants=["SUPER, PROCESS ON *.*"]),
        opened(server) as connection,
        database.session() as other,
        session_of(server, "setter") as session,
    ):
        other.execute("SELECT CONNECTION_ID()")
        ((number,),) = other.fetchall()
        may_kill = may(session, f"KILL QUERY {number}")
        assert may(session, f"SET GLOBAL rowsocket_kill = {id_of(server, connection)}") == may_kill


def test_a_statement_that_fails_kills_nobody(server: RowSocketServer, database: Database) -> None:
    with opened(server) as connection:
        number = id_of(server, connection)
        with pytest.raises(pymysql.err.MySQLError):
            server.sql(f"SET GLOBAL rowsocket_kill = {number}, GLOBAL rowsocket_max_connections = 0")
        assert connection.ask(FIND) == ROW


def test_audit_plugins_are_told_that_it_left(tree: ServerTree, template: Path) -> None:
    options: dict[str, str | int | None] = {
        "plugin-load-add": "rowsocket;server_audit",
        "loose-server-audit-logging": "ON",
        "loose-server-audit-events": "CONNECT",
    }
    with RespServer(tree, template, options) as server:
        log = LogFile(server.data / "server_audit.log")
        with account(server, "app@localhost"), client(server, "app") as connection:
            row = of_client(server, connection)
            kill(server, row["ID"])
            assert_closed(server, connection, row["ID"])
            server.wait_until(
                "is audited", lambda: any(one.connection == row["LOG_ID"] for one in audited(log)[1:])
            )
            [*_, last] = [one for one in audited(log) if one.connection == row["LOG_ID"]]
            assert (last.user, last.operation, last.number) == ("app", "DISCONNECT", "0")


def test_the_general_log_has_its_end(logged: RespServer) -> None:
    log = LogFile(logged.data / "general.log")
    with switched(logged, general_log=1), account(logged, "app@localhost"), client(logged, "app") as one:
        row = of_client(logged, one)
        kill(logged, row["ID"])
        logged.wait_until("is logged", lambda: f"{row['LOG_ID']} Quit" in log.text())


def test_the_password_of_nobody_is_needed_for_the_next_client(
    server: RowSocketServer, database: Database
) -> None:
    """Who was killed comes back as anybody does."""
    with account(server, "app@localhost", grants=["SELECT ON d.t"]):
        with client(server, "app", PASSWORD) as connection:
            number = id_of(server, connection)
            kill(server, number)
            assert_closed(server, connection, number)
        with client(server, "app", PASSWORD) as connection:
            assert connection.ask(b"P\t0\td\tt\t\tid,n") == OK
            assert id_of(server, connection) > number
