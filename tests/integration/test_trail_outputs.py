# SPDX-License-Identifier: GPL-2.0-only
"""What of requests stands in the server's logs, and where: values, files, tables, and what goes wrong."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

from support.accounts import OK, PASSWORD, UNAUTHENTICATED, account, client, log_in
from support.logs import (
    ONE_OF_EACH,
    OPEN,
    LogFile,
    do_one_of_each,
    general_log,
    requests,
    slow_log,
    slow_requests,
    switched,
)
from support.mariadb import Database, RowSocketServer, Start
from support.resp import RespServer

# ---- values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("it's a \\", r"'it\'s a \\'"),
        ("line\nbreak\t\0", r"'line\nbreak\t\x00'"),
        ("grüße 😀", "'grüße 😀'"),
        (b"\xff\xfe\x80", r"'\xFF\xFE\x80'"),
        ("x" * 70, "'" + "x" * 64 + "'...(70 bytes)"),
        (None, "NULL"),
        ("", "''"),
    ],
)
def test_values_are_text_of_one_line(logged: RespServer, value: str | bytes | None, shown: str) -> None:
    log = general_log(logged)
    with switched(logged, general_log=1), logged.raw("write") as wire:
        wire.ask(OPEN)
        wire.tokens(1, "=", 2, 1, value)
    assert requests(log)[1:] == [f"FIND d.t PRIMARY = (1, {shown}) LIMIT 1 COLUMNS id, a, n"]


def test_values_can_be_left_out_or_shown_in_part_at_run_time(logged: RespServer) -> None:
    log = general_log(logged)
    with switched(logged, general_log=1), logged.raw("write") as wire:
        wire.ask(OPEN)
        for shown_bytes in (0, 4, 4096):
            with switched(logged, rowsocket_log_value_bytes=shown_bytes):
                wire.ask(b"1\t=\t1\t1\t1\t0\tU\t1\t" + b"secret" * 20)
    assert [text.split(" LIMIT")[0] for text in requests(log)[1:]] == [
        "UPDATE d.t PRIMARY = ? SET id = ?, a = ?",
        "UPDATE d.t PRIMARY = 1 SET id = 1, a = 'secr'...(120 bytes)",
        f"UPDATE d.t PRIMARY = 1 SET id = 1, a = '{'secret' * 20}'",
    ]


def test_a_very_long_value_makes_a_short_line(logged: RespServer) -> None:
    log = general_log(logged)
    with switched(logged, general_log=1, slow_query_log=1), logged.memcached() as cache:
        slow = slow_log(logged)
        size = 15 * 1024 * 1024
        assert cache.store("set k 0 0", b"\xff" * size) == "STORED"
        (entry,) = slow_requests(slow)
    (text,) = requests(log)
    assert f"...({size} bytes)" in text
    assert len(text) < 1000
    assert entry.text == f"ROWSOCKET {text}"


@pytest.mark.parametrize("size", [192, 193, 256, 257, 100_000])
def test_names_that_can_not_be_do_no_harm(logged: RespServer, size: int) -> None:
    """The server copies the name of the database to places that are made for names which it knows."""
    with (
        switched(logged, general_log=1, slow_query_log=1, log_output="FILE,TABLE"),
        logged.raw("read") as wire,
    ):
        for name in (b"d" * size, b"\xff" * size):
            reply = wire.tokens("P", 2, name, name, name, name, name)
            assert reply[:2] == [b"1", b"1"]
        assert wire.ask(OPEN) == OK
    logged.sql("TRUNCATE mysql.general_log")
    logged.sql("TRUNCATE mysql.slow_log")


@pytest.mark.parametrize(
    "forged", ["\n# User@Host: root[root] @ localhost []\n", "`;\nDROP TABLE t;", "\r\n\t"]
)
def test_no_name_makes_a_line_of_its_own(logged: RespServer, forged: str) -> None:
    general, slow = general_log(logged), slow_log(logged)
    with switched(logged, general_log=1, slow_query_log=1), logged.raw("read") as wire:
        wire.tokens("P", 2, forged, forged, forged, forged, forged)
        wire.ask(OPEN)
    assert len(requests(general)) == 2
    assert len(slow_requests(slow)) == 2
    for line in [*general.lines(), *slow.lines()]:
        assert not line.startswith(("# User@Host: root[root] @ localhost []\x00", "DROP"))
    users = [line for line in slow.lines() if line.startswith("# User@Host: ")]
    assert sum("127.0.0.1" in line for line in users) == 2


@pytest.mark.parametrize(
    "user", ["x'\n2026-01-01  0:00:00 0 [Note] forged", "a\rb", "\x1b[2J", "a\x7f", "a\u2028b"]
)
def test_no_name_of_an_account_makes_a_line_of_its_own(logged: RespServer, user: str) -> None:
    general, errors = general_log(logged), LogFile(logged.error_log)
    with switched(logged, general_log=1), logged.raw("read") as wire, logged.resp() as redis:
        untried = logged.counter("logins_untried")
        assert log_in(wire, user) == UNAUTHENTICATED
        assert redis.command("AUTH", user, PASSWORD).startswith(b"-WRONGPASS")
        assert logged.counter("logins_untried") == untried + 2
    assert user not in general.text() + errors.text()


def test_passwords_and_secrets_are_in_no_log(logged: RespServer) -> None:
    general, slow = general_log(logged), slow_log(logged)
    wrong = "unheard of"
    logged.sql("SET GLOBAL rowsocket_secret_read = 'open sesame'")
    try:
        with (
            account(
                logged, "app@localhost", f"IDENTIFIED VIA mysql_native_password USING PASSWORD('{PASSWORD}')"
            ),
            switched(logged, general_log=1, slow_query_log=1),
        ):
            with logged.raw("read") as wire:
                log_in(wire, "app", wrong)
                log_in(wire, "app")
                wire.ask(b"A\t1\topen sesam")
                wire.ask(b"A\t1\topen sesame")
                assert wire.ask(OPEN) == OK
            with logged.memcached() as cache:
                cache.store("set k 0 0", b"app " + PASSWORD.encode())
                cache.store("set k 0 0", b"app " + wrong.encode())
            with logged.resp() as redis:
                redis.command("AUTH", "app", PASSWORD)
                redis.command("AUTH", "open sesame")
                redis.command("HELLO", 3, "AUTH", "app", wrong)
                redis.command("PING")
            texts = general.text() + slow.text()
    finally:
        logged.sql("SET GLOBAL rowsocket_secret_read = ''")
    assert "ROWSOCKET" in texts
    assert "app@localhost" in texts
    for secret in (PASSWORD, wrong, "sesam"):
        assert secret not in texts


# ---- where logs are written


def test_logs_as_tables(logged: RespServer) -> None:
    logged.sql("TRUNCATE mysql.general_log")
    logged.sql("TRUNCATE mysql.slow_log")
    with (
        account(logged, "app@localhost", grants=["ALL ON d.*"]),
        switched(logged, log_output="TABLE", general_log=1, slow_query_log=1),
        client(logged, "app") as wire,
    ):
        do_one_of_each(wire)
        wire.tokens(1, "=", 2, 1, b"\xff\0")
    user = "app[app] @ localhost [127.0.0.1]"
    shown = [
        text
        for (text,) in logged.sql(
            "SELECT argument FROM mysql.general_log WHERE user_host = %s AND command_type = 'Query'", (user,)
        )
    ]
    assert shown[:-1] == ["ROWSOCKET " + text for text in ONE_OF_EACH]
    assert shown[-1] == r"ROWSOCKET FIND d.t PRIMARY = (1, '\xFF\x00') LIMIT 1 COLUMNS id, a, n"
    slow = logged.sql(
        "SELECT sql_text, rows_sent, rows_examined, rows_affected, db FROM mysql.slow_log"
        " WHERE user_host = %s",
        (user,),
    )
    assert [row[0] for row in slow] == shown
    assert slow[1][1:] == (0, 0, 1, "d")
    assert slow[2][1:] == (1, 1, 0, "d")
    logged.sql("TRUNCATE mysql.general_log")
    logged.sql("TRUNCATE mysql.slow_log")


@pytest.mark.parametrize("engine", ["MyISAM", "CSV"])
def test_the_tables_may_have_another_engine(logged: RespServer, engine: str) -> None:
    for table in ("general_log", "slow_log"):
        logged.sql(f"ALTER TABLE mysql.{table} ENGINE={engine}")
        logged.sql(f"TRUNCATE mysql.{table}")
    with (
        switched(logged, log_output="TABLE", general_log=1, slow_query_log=1),
        logged.raw("write") as wire,
    ):
        do_one_of_each(wire)
    for table, column in (("general_log", "argument"), ("slow_log", "sql_text")):
        logged_texts = logged.sql(f"SELECT {column} FROM mysql.{table} WHERE {column} LIKE 'ROWSOCKET%%'")
        assert [text for (text,) in logged_texts] == ["ROWSOCKET " + text for text in ONE_OF_EACH]
        logged.sql(f"TRUNCATE mysql.{table}")


def test_requests_go_on_where_the_log_tables_are_worked_on(logged: RespServer) -> None:
    """They are emptied, checked and replaced while requests are logged in them, in their transactions."""
    stops = threading.Event()
    replies: list[list[bytes]] = []

    def write() -> None:
        with logged.raw("write") as wire:
            wire.ask(OPEN)
            number = 0
            while not stops.is_set():
                number += 1
                row = str(number).encode()
                replies.append(
                    wire.ask_all(
                        b"1\t+\t3\t" + row + b"\tx\t1", b"1\t=\t1\t" + row, b"1\t=\t1\t" + row + b"\t1\t0\tD"
                    )
                )

    with switched(logged, log_output="TABLE", general_log=1, slow_query_log=1):
        thread = threading.Thread(target=write)
        thread.start()
        try:
            for _ in range(20):
                for table in ("general_log", "slow_log"):
                    logged.sql(f"CREATE TABLE mysql.new_log LIKE mysql.{table}")
                    logged.sql(f"RENAME TABLE mysql.{table} TO mysql.old_log, mysql.new_log TO mysql.{table}")
                    logged.sql("DROP TABLE mysql.old_log")
                    logged.sql(f"CHECK TABLE mysql.{table}")
                    logged.sql(f"TRUNCATE mysql.{table}")
                    logged.sql(f"FLUSH TABLES mysql.{table}")
            enough = max(20, len(replies) + 1)  # with one that began behind the last change
            logged.wait_until("requests go on", lambda: len(replies) > enough)
        finally:
            stops.set()
            thread.join()
    for inserted, found, deleted in replies:
        assert inserted == b"0\t1"
        assert found.startswith(b"0\t3\t")
        assert deleted == b"0\t1\t1"
    assert logged.value("SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE 'ROWSOCKET%%'") > 0


def test_a_read_lock_on_everything_does_not_hold_up_a_logged_find(logged: RespServer) -> None:
    with (
        switched(logged, log_output="TABLE", general_log=1),
        logged.raw("read") as wire,
        contextlib.closing(logged.connect()) as other,
        other.cursor() as cursor,
    ):
        wire.ask(OPEN)
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        assert wire.ask(b"1\t=\t1\t1") == b"0\t3"
        cursor.execute("UNLOCK TABLES")


def largest_size(path: Path) -> int:
    """How large a file of this file system can be; this one is of that size afterwards, and a hole."""
    path.touch()
    works, fails = 0, 1 << 63
    while works + 1 < fails:
        size = (works + fails) // 2
        try:
            os.truncate(path, size)
            works = size
        except OSError:
            fails = size
    os.truncate(path, works)
    return works


def test_a_log_that_can_not_be_written_fails_no_request(start: Start) -> None:
    """The log files have reached the largest size that a file can have: it is as if the disk were full."""
    server = start(
        RowSocketServer,
        {"general-log-file": "general.log", "slow-query-log-file": "slow.log", "long-query-time": 0},
    )
    Database(server, "d").sql("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(100), n INT)")
    logs = [server.data / name for name in ("general.log", "slow.log")]
    largest = [largest_size(log) for log in logs]
    for log, size in zip(logs, largest, strict=True):
        os.truncate(log, size - 4000)
    server.sql("SET GLOBAL general_log = 1")
    server.sql("SET GLOBAL slow_query_log = 1")
    with server.raw("write") as wire:
        assert wire.ask(OPEN) == OK
        for number in range(50):
            row = str(number).encode()
            assert wire.ask_all(b"1\t+\t3\t" + row + b"\tone\t5", b"1\t=\t1\t" + row) == [
                OK,
                b"0\t3\t" + row + b"\tone\t5",
            ]
    assert [log.stat().st_size for log in logs] == largest
    assert "Error writing file" in server.log_text()


def test_a_table_that_is_missing_fails_no_request(start: Start) -> None:
    server = start(RowSocketServer, {"log-output": "TABLE"})
    Database(server, "d").sql("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(100), n INT)")
    server.sql("DROP TABLE mysql.general_log")
    server.sql("ALTER TABLE mysql.slow_log DROP COLUMN sql_text")
    server.sql("SET GLOBAL long_query_time = 0")
    server.sql("SET GLOBAL slow_query_log = 1")
    with contextlib.suppress(Exception):
        server.sql("SET GLOBAL general_log = 1")
    with server.raw("write") as wire:
        assert wire.ask_all(OPEN, b"1\t+\t3\t1\tone\t5", b"1\t=\t1\t1") == [
            b"0\t1",
            b"0\t1",
            b"0\t3\t1\tone\t5",
        ]


def test_a_verbose_slow_log_has_requests_too(logged: RespServer) -> None:
    log = slow_log(logged)
    with (
        switched(logged, log_slow_verbosity="full", slow_query_log=1),
        logged.raw("read") as wire,
    ):
        wire.ask_all(OPEN, b"1\t=\t1\t1")
        text = log.text()
    assert "ROWSOCKET FIND d.t PRIMARY = 1 LIMIT 1 COLUMNS id, a, n;\n" in text
