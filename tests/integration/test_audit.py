# SPDX-License-Identifier: GPL-2.0-only
"""Audit plugins learn of RowSocket's clients what they learn of SQL's: MariaDB's own, server_audit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymysql
import pytest

from support.accounts import OK, ONE_TOO_MANY, PASSWORD, UNAUTHENTICATED, account, client, log_in
from support.logs import Audited, LogFile, audited, switched
from support.mariadb import Database, RowSocketServer
from support.resp import RespServer
from support.schema_tables import of_client
from support.tree import ServerTree

OPEN = b"P\t1\td\tt\tPRIMARY\tid,a"
OPEN_TRIGGERED = b"P\t2\td\ttriggered\tPRIMARY\tid"


@pytest.fixture(scope="module")
def audited_server(tree: ServerTree, template: Path) -> Iterator[RespServer]:
    """A server with server_audit on, all doors open; `d.t` is empty, `d.triggered` writes to `d.log`,
    `d.asking` reads from `d.t`, and `d.counting` from itself."""
    options: dict[str, str | int | None] = {
        "plugin-load-add": "rowsocket;server_audit",
        "loose-server-audit-logging": "ON",
        "loose-server-audit-events": "CONNECT,QUERY,TABLE",
        "query-cache-type": 0,
    }
    with RespServer(tree, template, options) as server:
        server.prepare()
        database = Database(server, "d")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(100))")
        database.sql("CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY)")
        database.sql("CREATE TABLE triggered (id INT PRIMARY KEY)")
        database.sql("CREATE TRIGGER logs BEFORE INSERT ON triggered FOR EACH ROW INSERT INTO log VALUES ()")
        database.sql("CREATE TABLE asking (id INT PRIMARY KEY, n INT)")
        database.sql(
            "CREATE TRIGGER asks BEFORE INSERT ON asking FOR EACH ROW SET NEW.n = (SELECT COUNT(*) FROM t)"
        )
        database.sql("CREATE TABLE counting (id INT PRIMARY KEY, n INT)")
        database.sql(
            "CREATE TRIGGER counts BEFORE INSERT ON counting FOR EACH ROW"
            " SET NEW.n = (SELECT COUNT(*) FROM counting)"
        )
        database.sql("CREATE TABLE parent (id INT PRIMARY KEY)")
        database.sql(
            "CREATE TABLE child (id INT PRIMARY KEY,"
            " FOREIGN KEY (id) REFERENCES parent (id) ON DELETE CASCADE)"
        )
        yield server


def audit_log(server: RowSocketServer) -> LogFile:
    """From here on."""
    return LogFile(server.data / "server_audit.log")


def of_user(log: LogFile, user: str) -> list[Audited]:
    """Its lines."""
    return [entry for entry in audited(log) if entry.user == user]


def of_address(log: LogFile, address: str) -> list[Audited]:
    """Its lines: a client that names no account is root's from there."""
    return [entry for entry in audited(log) if entry.host == address]


def gone(entries: Sequence[Audited]) -> bool:
    """Whether one of them tells that the client went: another client's may come at any time."""
    return any(entry.operation == "DISCONNECT" for entry in entries)


def tables(entries: Sequence[Audited]) -> list[tuple[str, str]]:
    """Which tables were used, and how."""
    return [
        (entry.operation, f"{entry.database}.{entry.object}")
        for entry in entries
        if entry.operation in ("READ", "WRITE")
    ]


def queries(entries: Sequence[Audited]) -> list[tuple[str, str]]:
    """What was asked, and the number of the error."""
    return [(entry.object.strip("'"), entry.number) for entry in entries if entry.operation == "QUERY"]


def test_a_client_comes_asks_and_goes_as_one_of_sql_does(audited_server: RespServer) -> None:
    log = audit_log(audited_server)
    with account(audited_server, "app@localhost", grants=["ALL ON d.*"]):
        with client(audited_server, "app") as wire:
            wire.ask_all(OPEN, b"1\t=\t1\t1")
            number = of_client(audited_server, wire)["LOG_ID"]
        audited_server.wait_until("has seen the client go", lambda: gone(of_user(log, "app")))
    entries = of_user(log, "app")
    assert [entry.operation for entry in entries] == ["CONNECT", "QUERY", "READ", "QUERY", "DISCONNECT"]
    assert {(entry.host, entry.connection) for entry in entries} == {("localhost", number)}
    assert entries[2].query == entries[3].query != entries[1].query
    assert {entry.database for entry in entries[1:4]} == {"d"}


def test_failed_logins_are_told(audited_server: RespServer) -> None:
    log = audit_log(audited_server)
    with account(audited_server, "app@localhost"), audited_server.raw("write") as wire:
        assert log_in(wire, "app", "wrong") == UNAUTHENTICATED
        assert log_in(wire, "nobody", "wrong") == UNAUTHENTICATED
        audited_server.sql("ALTER USER app@localhost PASSWORD EXPIRE")
        assert log_in(wire, "app") == UNAUTHENTICATED
    assert [entry.operation for entry in of_user(log, "app")] == ["FAILED_CONNECT", "CONNECT", "DISCONNECT"]
    assert [(entry.operation, entry.number) for entry in of_user(log, "nobody")] == [
        ("FAILED_CONNECT", "1045")
    ]


def test_a_login_beyond_the_connections_of_its_account_is_told_as_gone(audited_server: RespServer) -> None:
    audited_server.sql("SET GLOBAL rowsocket_max_account_connections = 1")
    try:
        with account(audited_server, "app@localhost"), client(audited_server, "app"):
            log = audit_log(audited_server)
            with audited_server.raw("write") as wire:
                assert log_in(wire, "app") == ONE_TOO_MANY
            assert [entry.operation for entry in of_user(log, "app")] == ["CONNECT", "DISCONNECT"]
    finally:
        audited_server.sql("SET GLOBAL rowsocket_max_account_connections = DEFAULT")


@pytest.fixture
def secret_server(audited_server: RespServer) -> Iterator[RespServer]:
    """The same; its ports have the secret `key`."""
    audited_server.sql("SET GLOBAL rowsocket_secret_read = 'key'")
    yield audited_server
    audited_server.sql("SET GLOBAL rowsocket_secret_read = ''")


def refused(log: LogFile) -> list[tuple[str, str, str]]:
    """Of clients that the server did not let in: user, host and the number of the error."""
    return [
        (entry.user, entry.host, entry.number)
        for entry in audited(log)
        if entry.operation == "FAILED_CONNECT"
    ]


def test_wrong_secrets_of_a_port_are_told_as_wrong_passwords(secret_server: RespServer) -> None:
    log = audit_log(secret_server)
    errors = LogFile(secret_server.error_log)
    with secret_server.raw("write") as wire:
        assert wire.ask(b"A\t1\twrong") == UNAUTHENTICATED
        assert wire.ask(b"A\t1\tkey") == OK
        assert wire.ask(OPEN) == OK
    assert refused(log) == [("root", "127.0.0.1", "1045")]
    (line,) = [line for line in errors.lines() if "a wrong secret" in line]
    assert "Access denied for user 'root'@'127.0.0.1'" in line
    assert "key" not in line and "'wrong'" not in line


def test_wrong_secrets_are_told_at_a_bounded_rate(secret_server: RespServer) -> None:
    log = audit_log(secret_server)
    with secret_server.raw("write") as wire:
        assert set(wire.ask_all(*[b"A\t1\twrong"] * 5000)) == {UNAUTHENTICATED}
    assert 100 <= len(refused(log)) < 2000


def test_a_client_that_names_no_account_is_told_with_its_address(audited_server: RespServer) -> None:
    log = audit_log(audited_server)
    with audited_server.raw("read") as wire:
        wire.ask(OPEN)
    audited_server.wait_until("has seen the client go", lambda: gone(of_address(log, "127.0.0.1")))
    entries = of_address(log, "127.0.0.1")
    assert [entry.operation for entry in entries] == ["CONNECT", "QUERY", "DISCONNECT"]
    assert {entry.user for entry in entries} == {"root"}
    assert len({entry.connection for entry in entries}) == 1


@pytest.mark.parametrize(
    ("request_lines", "statement"),
    [
        ((OPEN, b"1\t=\t1\t1"), "SELECT * FROM d.t WHERE id = 1"),
        ((OPEN, b"1\t+\t2\t1\tx"), "INSERT INTO d.t VALUES (1, 'x')"),
        ((OPEN, b"1\t=\t1\t9\t1\t0\tU\t9\tx"), "UPDATE d.t SET a = 'x' WHERE id = 9"),
        ((OPEN, b"1\t=\t1\t9\t1\t0\tD"), "DELETE FROM d.t WHERE id = 9"),
        ((OPEN_TRIGGERED, b"2\t+\t1\t1"), "INSERT INTO d.triggered VALUES (1)"),
        ((b"P\t4\td\tasking\t\tid", b"4\t+\t1\t1"), "INSERT INTO d.asking (id) VALUES (1)"),
        ((b"P\t5\td\tcounting\t\tid", b"5\t+\t1\t1"), "INSERT INTO d.counting (id) VALUES (1)"),
        ((b"P\t3\td\tparent\t\tid", b"3\t=\t1\t9\t1\t0\tD"), "DELETE FROM d.parent WHERE id = 9"),
    ],
)
def test_tables_are_told_as_of_the_like_statement(
    audited_server: RespServer, request_lines: tuple[bytes, ...], statement: str
) -> None:
    for table in ("t", "triggered", "parent"):
        audited_server.sql(f"DELETE FROM d.{table}")
    with account(audited_server, "app@localhost", grants=["ALL ON d.*"]):
        log = audit_log(audited_server)
        with client(audited_server, "app") as wire:
            assert all(reply.startswith(b"0\t") for reply in wire.ask_all(*request_lines))
        of_request = of_user(log, "app")
        for table in ("t", "triggered", "asking", "counting"):
            audited_server.sql(f"DELETE FROM d.{table}")
        log = audit_log(audited_server)
        with (
            contextlib.closing(
                pymysql.connect(unix_socket=str(audited_server.socket), user="app", password=PASSWORD)
            ) as session,
            session.cursor() as cursor,
        ):
            cursor.execute(statement)
        of_sql = [entry for entry in of_user(log, "app") if "autocommit" not in entry.object.lower()]
    assert sorted(tables(of_request)) == sorted(tables(of_sql)) != []
    assert {entry.host for entry in of_request} == {entry.host for entry in of_sql} == {"localhost"}


def test_nothing_is_told_of_what_a_worker_does_in_its_own_name(audited_server: RespServer) -> None:
    with (
        account(audited_server, "app@localhost", grants=["ALL ON d.*"]),
        client(audited_server, "app") as wire,
    ):
        log = audit_log(audited_server)
        assert wire.ask_all(OPEN, OPEN_TRIGGERED, b"1\t=\t1\t1", b"2\t+\t1\t77")[-1] == OK
        told = {entry.user for entry in audited(log)} - {"root"}  # what SQL has done for the test
        assert told == {"app"}


def test_a_table_is_told_once_however_often_the_request_runs(audited_server: RespServer) -> None:
    """A row of it is locked."""
    audited_server.sql("DELETE FROM d.t")
    audited_server.sql("INSERT INTO d.t VALUES (1, 'x')")
    with (
        account(audited_server, "app@localhost", grants=["ALL ON d.*"]),
        client(audited_server, "app") as wire,
        contextlib.closing(audited_server.connect("d")) as session,
        session.cursor() as cursor,
    ):
        wire.ask(OPEN)
        log = audit_log(audited_server)
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM t FOR UPDATE")
        parked = audited_server.counter("parked")
        wire.send(b"1\t=\t1\t1\t1\t0\tU\t1\ty\n")
        audited_server.wait_until("is tried again", lambda: audited_server.counter("parked") > parked)
        cursor.execute("ROLLBACK")
        assert wire.line() == b"0\t1\t1"
    assert tables(of_user(log, "app")) == [("WRITE", "d.t")]


def test_each_clients_requests_are_its_own(audited_server: RespServer) -> None:
    """They share a worker, its tables and its turns."""
    names = ("ann", "bob", "eve")
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(account(audited_server, f"{name}@localhost", grants=["SELECT ON d.*"]))
        log = audit_log(audited_server)
        wires = {name: stack.enter_context(client(audited_server, name, port="read")) for name in names}
        for wire in wires.values():
            assert wire.ask(OPEN) == OK
        for number in range(20):
            for name, wire in wires.items():
                wire.send(b"1\t=\t2\t%d\t%s\n" % (number, name.encode()))
        for wire in wires.values():
            wire.lines(20)
    for name in names:
        entries = of_user(log, name)
        assert queries(entries)[1:] == [
            (rf"ROWSOCKET FIND d.t PRIMARY = ({number}, \'{name}\') LIMIT 1 COLUMNS id, a", "1105")
            for number in range(20)
        ]
        connections = {entry.connection for entry in entries}
        assert len(connections) == 1


def test_requests_of_one_client_have_each_their_own_database(audited_server: RespServer) -> None:
    with (
        account(audited_server, "app@localhost", grants=["SELECT ON d.*", "SELECT ON shop.*"]),
        client(audited_server, "app") as wire,
    ):
        assert wire.ask_all(OPEN, b"P\t2\tshop\tuser\t\tid") == [OK, OK]
        log = audit_log(audited_server)
        wire.ask_all(b"1\t=\t1\t1", b"2\t=\t1\t1", b"1\t=\t1\t1", b"2\t=\t1\t1")
        entries = of_user(log, "app")
    for operation in ("READ", "QUERY"):
        databases = [entry.database for entry in entries if entry.operation == operation]
        assert databases == ["d", "shop", "d", "shop"]


def test_errors_have_the_numbers_of_sql(audited_server: RespServer) -> None:
    audited_server.sql("REPLACE INTO d.t VALUES (1, 'x')")
    with account(audited_server, "app@localhost", grants=["SELECT, INSERT ON d.t"]):
        log = audit_log(audited_server)
        with client(audited_server, "app") as wire:
            wire.ask_all(OPEN, b"1\t+\t2\t1\tx", b"1\t=\t1\t1\t1\t0\tD", b"P\t5\td\tmissing\t\tid")
        log_text = queries(of_user(log, "app"))
    assert [number for _, number in log_text] == ["0", "1062", "1142", "1142"]


def test_a_row_that_stays_locked_has_the_number_of_sql(audited_server: RespServer) -> None:
    """1205: lock wait timeout exceeded."""
    audited_server.sql("REPLACE INTO d.t VALUES (1, 'x')")
    with (
        switched(audited_server, innodb_lock_wait_timeout=1),
        account(audited_server, "app@localhost", grants=["ALL ON d.t"]),
        audited_server.connect("d") as connection,
        connection.cursor() as holder,
        client(audited_server, "app") as wire,
    ):
        log = audit_log(audited_server)
        holder.execute("BEGIN")
        holder.execute("UPDATE t SET a = 'y' WHERE id = 1")
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"1\t=\t1\t1\t1\t0\tD") != b"0\t1\t1"
        holder.execute("ROLLBACK")
        assert [number for _, number in queries(of_user(log, "app"))] == ["0", "1205"]


def test_an_error_that_is_the_engines_own_has_the_number_of_those(audited_server: RespServer) -> None:
    """1030: got an error from the storage engine. What the engine calls it is no number of SQL."""
    audited_server.sql("CREATE TABLE d.guardian (id INT PRIMARY KEY)")
    audited_server.sql("CREATE TABLE d.ward (id INT PRIMARY KEY REFERENCES d.guardian (id))")
    with account(audited_server, "app@localhost", grants=["INSERT ON d.*", "SELECT ON d.*"]):
        log = audit_log(audited_server)
        with client(audited_server, "app") as wire:
            wire.ask_all(b"P\t1\td\tward\t\tid", b"1\t+\t1\t1")
        assert [number for _, number in queries(of_user(log, "app"))] == ["0", "1030"]
    audited_server.sql("DROP TABLE d.ward, d.guardian")


def test_an_error_that_a_trigger_makes_up_is_told_with_its_number(audited_server: RespServer) -> None:
    audited_server.sql("CREATE TABLE d.refusing (id INT PRIMARY KEY)")
    signal = "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'not now'"
    audited_server.sql(f"CREATE TRIGGER d.refuses BEFORE INSERT ON d.refusing FOR EACH ROW {signal}")
    with account(audited_server, "app@localhost", grants=["INSERT ON d.*", "SELECT ON d.*"]):
        log = audit_log(audited_server)
        with client(audited_server, "app") as wire:
            wire.ask_all(b"P\t1\td\trefusing\t\tid", b"1\t+\t1\t1")
        assert [number for _, number in queries(of_user(log, "app"))] == ["0", "1205"]


def test_all_protocols_are_told(audited_server: RespServer) -> None:
    log = audit_log(audited_server)
    with audited_server.memcached() as cache, audited_server.resp() as redis:
        cache.store("set k 0 0", b"hello")
        redis.command("GET", "k")
    entries = [entry for entry in audited(log) if entry.host == "127.0.0.1"]
    assert tables(entries) == [("WRITE", "app.item"), ("READ", "app.item")]
    assert [text.split(" ")[1] for text, _ in queries(entries)] == ["UPSERT", "FIND"]


def test_values_and_secrets_are_told_as_to_the_logs(audited_server: RespServer) -> None:
    log = audit_log(audited_server)
    with (
        account(audited_server, "app@localhost", grants=["ALL ON d.*"]),
        switched(audited_server, rowsocket_log_value_bytes=0),
    ):
        audited_server.sql("SET GLOBAL server_audit_logging = OFF")
        audited_server.sql("SET GLOBAL server_audit_logging = ON")
        begin = audit_log(audited_server)
        with client(audited_server, "app") as wire:
            wire.ask_all(OPEN, b"1\t+\t2\t7\tprivate", b"1\t+\t2\t7\tprivate")
    text = begin.text()
    assert "ROWSOCKET INSERT d.t (id, a) VALUES (?, ?)" in text
    assert "private" not in text
    assert PASSWORD not in text
    assert log.text()


def test_filters_by_user_and_by_kind_hold(audited_server: RespServer) -> None:
    with (
        account(audited_server, "app@localhost", grants=["ALL ON d.*"]),
        account(audited_server, "other@localhost", grants=["ALL ON d.*"]),
        switched(audited_server, server_audit_incl_users="app", server_audit_events="QUERY_DML_NO_SELECT"),
    ):
        log = audit_log(audited_server)
        for name in ("app", "other"):
            with client(audited_server, name) as wire:
                wire.ask_all(OPEN, b"1\t=\t1\t1", b"1\t+\t1\t9")
                wire.ask_all(b"1\t=\t1\t9\t1\t0\tU\t9", b"1\t=\t1\t9\t1\t0\tD")
        entries = audited(log)
    assert [(entry.user, entry.object) for entry in entries if "ROWSOCKET" in entry.object] == [
        ("app", "'ROWSOCKET INSERT d.t (id) VALUES (9)'"),
        ("app", "'ROWSOCKET UPDATE d.t PRIMARY = 9 SET id = 9 LIMIT 1'"),
        ("app", "'ROWSOCKET DELETE d.t PRIMARY = 9 LIMIT 1'"),
    ]


@pytest.fixture
def told_errors(audited_server: RespServer) -> Iterator[LogFile]:
    """The log of the plugin sql_errlog, from here on."""
    audited_server.sql("INSTALL SONAME 'sql_errlog'")
    yield LogFile(audited_server.data / "sql_errors.log")
    audited_server.sql("UNINSTALL SONAME 'sql_errlog'")


def test_the_error_log_plugin_learns_of_failures(audited_server: RespServer, told_errors: LogFile) -> None:
    audited_server.sql("REPLACE INTO d.t VALUES (1, 'x')")
    with (
        account(audited_server, "app@localhost", grants=["ALL ON d.*"]),
        client(audited_server, "app") as wire,
    ):
        wire.ask_all(OPEN, b"1\t+\t2\t1\tx")
    (line,) = [line for line in told_errors.lines() if "ROWSOCKET" in line]
    assert "app[app] @ localhost [127.0.0.1] ERROR 1062: " in line
    assert line.endswith("ROWSOCKET INSERT d.t (id, a) VALUES (1, 'x')")


def test_the_error_log_plugin_is_told_no_value_where_values_are_hidden(
    audited_server: RespServer, told_errors: LogFile
) -> None:
    """The server's own text of a duplicate names the value."""
    audited_server.sql("REPLACE INTO d.t VALUES (1701, 'x')")
    with switched(audited_server, rowsocket_log_value_bytes=0), audited_server.raw("write") as wire:
        wire.ask_all(OPEN, b"1\t+\t2\t1701\tx")
    (line,) = [line for line in told_errors.lines() if "ROWSOCKET" in line]
    assert " ERROR 1062: " in line
    assert "1701" not in line


def test_plugins_come_and_go_while_requests_run(audited_server: RespServer) -> None:
    with audited_server.raw("write") as wire, audited_server.raw("read") as reader:
        for connection in (wire, reader):
            connection.ask(OPEN)
        for _ in range(10):
            for plugin in ("sql_errlog", "query_response_time"):
                audited_server.sql(f"INSTALL SONAME '{plugin}'")
                wire.ask_all(*[b"1\t=\t1\t9\t1\t0\tU\t9", b"1\t=\t2\t1\tx"] * 10)
                reader.ask_all(*[b"1\t=\t1\t9"] * 10)
                audited_server.sql(f"UNINSTALL SONAME '{plugin}'")
                assert not audited_server.sql(
                    "SELECT 1 FROM information_schema.plugins WHERE plugin_library LIKE %s", (f"{plugin}%",)
                )
