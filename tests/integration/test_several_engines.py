# SPDX-License-Identifier: GPL-2.0-only
"""Without a binlog a transaction of several storage engines may be lost in a crash, also with SQL. So clients
of one engine share no transaction with clients of another."""

from __future__ import annotations

import pytest

from support.mariadb import Options, RowSocketServer, Start
from support.raw import RawConnection

WITHOUT_BINLOG: Options = {
    "plugin-load-add": "rowsocket;ha_rocksdb",
    "loose-rocksdb-block-cache-size": "16M",
    "innodb-flush-log-at-trx-commit": 1,
    "loose-rocksdb-flush-log-at-trx-commit": 1,
    "loose-rowsocket-threads-write": 1,
    "skip-log-bin": None,
}
INSERTS = 200
TABLES = ("i", "r", "t")
INSERT = b"%d\t+\t1\t%d\n"
INNODB, ROCKSDB, BOTH = range(3)


class WithoutBinlog(RowSocketServer):
    """Its tables: `i` of InnoDB, `r` of RocksDB, and `t` of InnoDB, whose triggers keep its ids in `seen` of
    RocksDB, too."""

    def defaults(self) -> dict[str, str | int | None]:
        return {name: value for name, value in super().defaults().items() if name != "log-bin"}

    def create_tables(self) -> None:
        for statement in (
            "CREATE DATABASE d",
            "CREATE TABLE d.i (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE d.r (id INT PRIMARY KEY) ENGINE=ROCKSDB",
            "CREATE TABLE d.seen (id INT PRIMARY KEY) ENGINE=ROCKSDB",
            "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TRIGGER d.t_seen AFTER INSERT ON d.t FOR EACH ROW INSERT INTO d.seen VALUES (NEW.id)",
            "CREATE TRIGGER d.t_gone AFTER DELETE ON d.t FOR EACH ROW DELETE FROM d.seen WHERE id = OLD.id",
        ):
            self.sql(statement)

    def opened(self) -> RawConnection:
        wire = self.raw("write")
        for number, table in enumerate(TABLES):
            assert wire.ask(b"P\t%d\td\t%s\t\tid" % (number, table.encode())) == b"0\t1"
        return wire


@pytest.fixture
def server(start: Start) -> WithoutBinlog:
    server = start(WithoutBinlog, WITHOUT_BINLOG)
    server.create_tables()
    return server


@pytest.mark.parametrize(
    ("requests", "commits"),
    [
        ((INNODB, INNODB), 1),
        ((ROCKSDB, ROCKSDB), 1),
        ((INNODB, ROCKSDB), 2),
        ((ROCKSDB, INNODB), 2),
        ((INNODB, BOTH), 2),
        ((BOTH, INNODB), 2),
        ((INNODB, ROCKSDB, ROCKSDB, INNODB), 3),
    ],
)
def test_requests_of_several_engines_share_no_commit(
    server: WithoutBinlog, requests: tuple[int, ...], commits: int
) -> None:
    with server.opened() as wire:
        before = server.counter("commits")
        wire.send(b"".join(INSERT % (table, number) for number, table in enumerate(requests)))
        assert wire.lines(len(requests)) == [b"0\t1"] * len(requests)
        assert server.counter("commits") - before == commits


def test_a_group_of_another_engine_comes_behind_a_commit(server: WithoutBinlog) -> None:
    with server.opened() as wire:
        before = server.counter("commits")
        wire.send(INSERT % (INNODB, 1) + b"G\n" + INSERT % (ROCKSDB, 1) + b"E\n")
        assert wire.lines(3) == [b"0\t1", b"0\t1", b"0\t1"]
        assert server.counter("commits") - before == 2


def test_a_request_for_several_rows_of_both_engines_is_one(server: WithoutBinlog) -> None:
    with server.opened() as wire:
        wire.send(b"".join(INSERT % (BOTH, number) for number in range(3)))
        assert wire.lines(3) == [b"0\t1"] * 3
        before = server.counter("commits")
        assert wire.ask(b"%d\t>=\t1\t0\t10\t0\tD" % BOTH) == b"0\t1\t3"
        assert server.counter("commits") - before == 1
    assert server.sql("SELECT * FROM d.seen") == []


@pytest.mark.parametrize("option", [b"", b"\tI", b"\tR", b"\tE"])
def test_an_insert_of_several_rows_of_both_engines_is_one(server: WithoutBinlog, option: bytes) -> None:
    with server.opened() as wire:
        before = server.counter("commits")
        reply = wire.ask(b"%d\t++\t1\t3\t1\t2\t3" % BOTH + option)
        assert reply.startswith(b"0\t"), reply
        assert server.counter("commits") - before == 1
    assert server.sql("SELECT * FROM d.seen ORDER BY id") == [(1,), (2,), (3,)]


def test_what_was_acknowledged_of_two_engines_is_there_after_a_crash(server: WithoutBinlog) -> None:
    with server.opened() as wire:
        wire.send(b"".join(INSERT % (number % 2, number) for number in range(INSERTS)))
        assert wire.lines(INSERTS) == [b"0\t1"] * INSERTS
        server.crash()
    server.start()
    rows = {row[0] for table in ("i", "r") for row in server.sql(f"SELECT id FROM d.{table}")}
    assert rows == set(range(INSERTS))


def test_with_a_binlog_they_share_one(start: Start) -> None:
    options = {name: value for name, value in WITHOUT_BINLOG.items() if name != "skip-log-bin"}
    server = start(WithoutBinlog, {**options, "log-bin": "binlog"})
    server.create_tables()
    with server.opened() as wire:
        before = server.counter("commits")
        wire.send(INSERT % (INNODB, 1) + INSERT % (ROCKSDB, 1))
        assert wire.lines(2) == [b"0\t1"] * 2
        assert server.counter("commits") - before == 1
