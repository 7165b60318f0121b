# SPDX-License-Identifier: GPL-2.0-only
"""Servers and tables that must not be written to: the error says why, reads go on, and so do writes when it
is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import rowsocket
from rowsocket import Connection
from support.mariadb import Database, RowSocketServer, Start


@pytest.fixture
def patient(start: Start) -> RowSocketServer:
    """A server that waits one second for locks, with the row 1 in `d.t`, and `d.empty`, both of InnoDB, and
    in `d.a` of Aria."""
    server = start(RowSocketServer, {"lock-wait-timeout": 1})
    make_tables(server)
    return server


def make_tables(server: RowSocketServer) -> None:
    database = Database(server, "d")
    for name, engine in (("t", "InnoDB"), ("a", "Aria")):
        database.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY, n INT) ENGINE={engine}")
        database.sql(f"INSERT INTO {name} VALUES (1, 10)")


@contextmanager
def writer_of(server: RowSocketServer) -> Iterator[Connection]:
    with rowsocket.connect(*server.write_address(), text=True) as connection:
        yield connection


def refusal(connection: Connection, table: str = "t") -> str:
    """The error of an update; reads must work."""
    index = connection.open_index("d", table, "n")
    with pytest.raises(rowsocket.ServerError) as refused:
        index.update(1, [11])
    assert index.get(1) == ("10",)
    return refused.value.text


def written(connection: Connection, table: str = "t") -> bool:
    return connection.open_index("d", table, "n").update(1, [11]) == 1


@pytest.mark.parametrize(("variable", "error"), [("read_only", "1290"), ("tx_read_only", "1792")])
def test_a_server_that_is_set_read_only(patient: RowSocketServer, variable: str, error: str) -> None:
    with writer_of(patient) as connection:
        patient.sql(f"SET GLOBAL {variable} = 1")
        assert refusal(connection) == refusal(connection, "a") == error
        patient.sql(f"SET GLOBAL {variable} = 0")
        assert written(connection) and written(connection, "a")


def test_rows_for_themselves_in_a_server_that_is_set_read_only(patient: RowSocketServer) -> None:
    """Not one of them has begun, so that the next one is not told to come behind what is to be committed
    first."""
    with patient.raw("write") as wire:
        assert wire.tokens("P", 1, "d", "a", "", "id,n") == [b"0", b"1"]
        patient.sql("SET GLOBAL read_only = 1")
        assert wire.ask(b"1\t++\t2\t2\t5\t5\t6\t6\tE") == b"0\t2\t!1290\t\0\t!1290\t\0"
        patient.sql("SET GLOBAL read_only = 0")
        assert wire.ask(b"1\t++\t2\t2\t5\t5\t6\t6\tE") == b"0\t2\t1\t\0\t1\t\0"


@pytest.mark.parametrize("setting", [{"innodb-read-only": 1}, {"innodb-force-recovery": 5}], ids=str)
def test_a_server_whose_innodb_is_read_only(start: Start, setting: dict[str, int]) -> None:
    server = start(RowSocketServer)
    make_tables(server)
    server.restart(setting)
    with writer_of(server) as connection:
        assert refusal(connection) == "1836"
        with pytest.raises(rowsocket.EngineError, match="1836"):
            connection.open_index("d", "t", "id").insert([2])
    server.restart(dict.fromkeys(setting, 0))
    with writer_of(server) as connection:
        assert written(connection)


@pytest.mark.parametrize("table", ["t", "a"])
@pytest.mark.parametrize(
    "lock", ["LOCK TABLES {} READ", "FLUSH TABLES WITH READ LOCK", "FLUSH TABLES {} WITH READ LOCK"]
)
def test_tables_that_somebody_has_locked_for_reading(patient: RowSocketServer, lock: str, table: str) -> None:
    with patient.connect("d") as locking, locking.cursor() as sql, writer_of(patient) as connection:
        sql.execute(lock.format(table))
        assert refusal(connection, table) == "lock_tables"
        sql.execute("UNLOCK TABLES")
        assert written(connection, table)


def test_a_backup_that_blocks_commits(patient: RowSocketServer) -> None:
    with patient.connect("d") as locking, locking.cursor() as sql, writer_of(patient) as connection:
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            sql.execute(f"BACKUP STAGE {stage}")
        replays = patient.counter("replays")
        assert refusal(connection) == "commit"
        assert patient.counter("replays") == replays, "it has waited as long as it may"
        # What a table without transactions has can not be taken back, so it is not changed before.
        assert refusal(connection, "a") == "lock_tables"
        sql.execute("BACKUP STAGE END")
        assert written(connection)
        assert written(connection, "a")
