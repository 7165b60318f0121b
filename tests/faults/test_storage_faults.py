# SPDX-License-Identifier: GPL-2.0-only
"""Disks that are full or fail: no ok for what was not committed, an error that says so, and work goes on when
the disk does.

The ledgers are exact here: a refused change must not be there, not even for others to see, and not after a
restart.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import rowsocket
from faults.ledger import NO_SUCH_ROW, row_of
from faults.writers import CHANGES_OF_A_GROUP, WRITER_COUNT, Writers, make_tables
from rowsocket import Index
from support.binlog import assert_binlog_equals_tables
from support.gate import gate, is_at_gate, open_ids, wait_at_gate
from support.kills import kill
from support.mariadb import Database, Options, RowSocketServer, Start
from support.small_disk import small_disk
from support.soak import Soak

DURABLE: Options = {"innodb-flush-log-at-trx-commit": 1, "sync-binlog": 1, "binlog-format": "ROW"}
FULL = {"135", "1114"}
"""HA_ERR_RECORD_FILE_FULL; ER_RECORD_FILE_FULL."""
NOT_LOGGED = {"161", "commit"}
"""HA_ERR_RBR_LOGGING_FAILED, where the cache of the binlog takes no more; the same found at the commit."""
DISK_BYTES = 256 << 20
LEFT_BYTES = 3 << 20
OUT_OF_SPACE_IN_ROLLBACK = "[FATAL] InnoDB: Error (Out of disk space) in rollback"
WRITES_BEFORE_A_FAULT = (300, 3000)
TRIALS = 3


class SmallDiskServer(RowSocketServer):
    """A server of which one folder is on a disk of its own: that of its data, of its binlog, or tmpdir."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._disks = ExitStack()
        small = self.small_folder()
        self.disk = self._disks.enter_context(small_disk(self.folder / "disk", DISK_BYTES))
        shutil.move(small, self.disk / "content")
        small.symlink_to(self.disk / "content")

    def small_folder(self) -> Path:
        raise NotImplementedError

    def put_binlogs_apart(self) -> Path:
        """Their folder is not that of the data."""
        binlogs = self.folder / "binlogs"
        binlogs.mkdir()
        self.options["log-bin"] = str(binlogs / "binlog")
        return binlogs

    def remove(self) -> None:
        try:
            self.stop()
        finally:
            self._disks.close()
            super().remove()


class SmallDataServer(SmallDiskServer):
    """Its binlog is elsewhere."""

    def small_folder(self) -> Path:
        self.put_binlogs_apart()
        return self.data


class SmallBinlogServer(SmallDiskServer):
    def small_folder(self) -> Path:
        return self.put_binlogs_apart()


class SmallCacheServer(SmallDiskServer):
    """Small is where the binlog's cache of a transaction goes when it outgrows `binlog_cache_size`: `tmpdir`,
    and in 11.8 the binlog's own folder."""

    def small_folder(self) -> Path:
        return self.put_binlogs_apart() if caches_lie_beside_binlogs(self) else self.folder / "tmp"


def caches_lie_beside_binlogs(server: RowSocketServer) -> bool:
    return server.tree.series != "10.11"


def fill(disk: Path, left_bytes: int) -> Path:
    """Take all of a disk but `left_bytes`, while others write to it; the file to delete to give it back."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        size_bytes = 0
        while (free_bytes := shutil.disk_usage(disk).free) > left_bytes:
            with contextlib.suppress(OSError):  # others were quicker: what is free now?
                os.posix_fallocate(file.fileno(), size_bytes, free_bytes - left_bytes)
                size_bytes += free_bytes - left_bytes
    return ballast


def waiting_for_space(server: RowSocketServer) -> list[int]:
    """Ids of the workers whose commit waits for space. (To ask needs none in tmpdir.)"""
    rows = server.sql("SHOW PROCESSLIST")
    return [int(row[0]) for row in rows if row[2] == "rowsocket" and "free space" in str(row[6])]


def wait_for_lack_of_space(server: RowSocketServer, writers: Writers) -> None:
    writers.wait_until("waits for space", lambda: waiting_for_space(server) != [])


def wake(server: RowSocketServer) -> None:
    for worker in waiting_for_space(server):
        kill(server, worker, "KILL QUERY")


def test_an_insert_that_finds_the_disk_full_is_refused_and_inserts_go_on_when_there_is_space(
    start: Start,
) -> None:
    server = start(SmallDataServer, DURABLE)
    make_tables(server)
    with rowsocket.connect(*server.write_address(), text=True) as client:
        rows = client.open_index("d", "t", "id,v,text,checksum")
        ballast = fill(server.disk, LEFT_BYTES)
        inserted = insert_until_refused(rows)
        ballast.unlink()
        rows.insert(row_of(inserted, 1))
    kept = server.sql("SELECT id, v, text, checksum FROM d.t ORDER BY id")
    assert kept == [row_of(id, 1) for id in range(inserted + 1)]


def insert_until_refused(rows: Index[Any]) -> int:
    """Insert rows 0, 1, ... until one is refused for lack of space; how many there are."""
    for id in itertools.count():
        try:
            rows.insert(row_of(id, 1))
        except rowsocket.EngineError as error:
            assert error.text in FULL
            return id
    raise AssertionError("unreachable")


def test_what_was_refused_for_a_full_disk_is_not_there_and_all_that_was_acknowledged_is(
    start: Start, soak: Soak
) -> None:
    """Changes of all kinds. InnoDB itself ends the server when taking back a change needs space that is not
    there."""
    for _ in soak.trials(TRIALS):
        server = start(SmallDataServer, DURABLE)
        make_tables(server)
        with Writers(server) as writers:
            writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_A_FAULT))
            writers.server_may_go()
            ballast = fill(server.disk, LEFT_BYTES)
            writers.wait_until_refused(FULL)
            ballast.unlink()
            writers.wait_for_more(2000)
        assert set(writers.refusals()) <= {*FULL, NO_SUCH_ROW}
        soak.saw(
            "servers ended by InnoDB, out of space in a rollback",
            OUT_OF_SPACE_IN_ROLLBACK in server.log_text(),
        )
        crash_and_compare(server, writers, soak)


def test_a_full_binlog_disk_holds_commits_up_until_there_is_space(start: Start, soak: Soak) -> None:
    """The server looks for space once a minute, or when somebody wakes it with a KILL QUERY, which then
    interrupts nothing. Where the caches of large transactions lie on that disk, too, these are refused."""
    for _ in soak.trials(1):
        server = start(SmallBinlogServer, DURABLE)
        make_tables(server)
        with Writers(server) as writers:
            writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_A_FAULT))
            ballast = fill(server.disk, left_bytes=0)
            wait_for_lack_of_space(server, writers)
            before = writers.acknowledged_count()
            with server.raw("read") as reader:
                assert reader.ask(b"P\t1\td\tcounter\t\tid") == b"0\t1"
                assert reader.ask(b"1\t=\t1\t0") == b"0\t1\t0"
            assert writers.acknowledged_count() == before
            ballast.unlink()
            wake(server)
            writers.wait_for_more(2000)
        refusals = writers.refusals()
        groups, rest = divmod(sum(refusals.pop(error, 0) for error in NOT_LOGGED), CHANGES_OF_A_GROUP)
        assert rest == 0
        assert groups == 0 or caches_lie_beside_binlogs(server)
        # The first that succeeds behind refused groups deletes a row of the last of these.
        assert set(refusals) == {NO_SUCH_ROW}
        assert min(groups, 1) <= refusals[NO_SUCH_ROW] - WRITER_COUNT <= groups
        crash_and_compare(server, writers, soak)


@pytest.mark.parametrize("cache_bytes", [4096, 32768])
@pytest.mark.parametrize("ids_before", [[], [0]], ids=["first", "behind another"])
def test_what_has_no_room_for_its_binlog_cache_leaves_the_log_of_its_neighbours_whole(
    start: Start, cache_bytes: int, ids_before: list[int]
) -> None:
    """From this size on the binlog's cache of a transaction goes to a disk. A request of a turn finds no room
    there, and there is room again when the next one comes."""
    server = start(SmallCacheServer, {"binlog-format": "ROW", "binlog-cache-size": cache_bytes})
    database = Database(server, "d")
    database.script(
        """CREATE TABLE t (id INT PRIMARY KEY, text MEDIUMTEXT);
        CREATE TABLE gated (id INT PRIMARY KEY, text MEDIUMTEXT);
        CREATE TRIGGER at_gate BEFORE INSERT ON gated FOR EACH ROW
            SET NEW.id = NEW.id + 0 * (GET_LOCK('gate', 100) + RELEASE_LOCK('gate'))"""
    )
    refused, free = 0, itertools.count(step=10_000)
    with server.raw("write") as client:
        open_ids(client, database, (0, "t", "id,text"), (1, "gated", "id,text"))
        for left_bytes, (rows, row_bytes) in itertools.product(LEFT_FOR_CACHES_BYTES, TOO_LARGE_FOR_IT):
            first_id = next(free)
            many = [insert_of(0, [first_id + id for id in range(100, 100 + rows)], row_bytes)]
            small = [insert_of(0, [first_id + id], 3) for id in ids_before]
            ballast = fill(server.disk, left_bytes)
            with gate(database):
                client.send(b"".join([*small, *many, insert_of(1, [first_id], 20_000)]))
                server.wait_until("waits", lambda: is_at_gate(server) or waiting_for_space(server) != [])
                ballast.unlink()
                wake(server)  # where the commit before the trigger is what found no space
                wait_at_gate(server)
            *before, of_many, behind = client.lines(len(small) + 2)
            assert [*before, behind] == [b"0\t1"] * (len(small) + 1)
            refused += not of_many.startswith(b"0\t")
    assert refused > 0
    assert_binlog_equals_tables(server)


LEFT_FOR_CACHES_BYTES = (0, 4096, 8192, 20_480, 36_864)
TOO_LARGE_FOR_IT = ((20, 9000), (1, 9000), (2, 100_000), (1000, 300))
"""So many rows of so many bytes; with a larger cache some of them do fit."""


def insert_of(selection: int, ids: list[int], bytes_each: int) -> bytes:
    values = b"\t".join(b"%d\t%s" % (id, b"a" * bytes_each) for id in ids)
    if len(ids) == 1:
        return b"%d\t+\t2\t%s\n" % (selection, values)
    return b"%d\t++\t2\t%d\t%s\n" % (selection, len(ids), values)


def test_a_binlog_that_cannot_be_synced_fails_the_commit_and_no_row_of_it_is_there(
    start: Start, fault: Path, soak: Soak
) -> None:
    for _ in soak.trials(TRIALS):
        server = start(RowSocketServer, DURABLE)
        make_tables(server)
        with Writers(server) as writers:
            writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_A_FAULT))
            fault.write_text("/binlog.0")
            writers.wait_until_refused({"commit"}, 20)
            fault.unlink()
            writers.wait_for_more(1000)
        assert set(writers.refusals()) == {"commit", NO_SUCH_ROW}
        # The server takes no event back that it could not sync: known faults in docs/operating.md.
        crash_and_compare(server, writers, soak, has_refused_events=True)


def test_a_log_that_cannot_be_synced_ends_the_server_and_loses_nothing(
    start: Start, fault: Path, soak: Soak
) -> None:
    """InnoDB stops rather than go on with a log of which nothing is known."""
    for _ in soak.trials(TRIALS):
        server = start(RowSocketServer, DURABLE)
        make_tables(server)
        with Writers(server) as writers:
            writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_A_FAULT))
            writers.server_may_go()
            fault.write_text("/ib_logfile0")
            writers.wait_until("has ended", writers.all_have_lost_the_server)
        fault.unlink()
        crash_and_compare(server, writers, soak)


def has_ended_itself(server: RowSocketServer) -> bool:
    """Whether InnoDB has ended the server, or is about to."""
    return "[FATAL] InnoDB" in server.log_text()


def rebuild_secondary_indexes(server: RowSocketServer) -> None:
    """An InnoDB that ended in a rollback may leave entries of rows that are gone. The rows are all there.

    So it is with SQL alone: docs/operating.md, known faults.
    """
    for table in ("d.t", "d.counter"):
        server.sql(f"ALTER TABLE {table} FORCE")


def crash_and_compare(
    server: RowSocketServer, writers: Writers, soak: Soak, *, has_refused_events: bool = False
) -> None:
    """Exactly what was acknowledged is there, and is still when the server was killed and has come back, in
    the tables and, unless it `has_refused_events`, in the binlog; remove the server."""
    ended_in_rollback = OUT_OF_SPACE_IN_ROLLBACK in server.log_text()
    if not has_ended_itself(server):
        assert writers.losses(server) == 0
    server.crash()
    server.start()
    if ended_in_rollback:
        rebuild_secondary_indexes(server)
    assert writers.losses(server) == 0
    if not has_refused_events:
        assert_binlog_equals_tables(server, has_crashed=True)
    server.remove()
    soak.saw("acknowledged writes", writers.acknowledged_count())
    soak.saw("refused writes", sum(writers.refusals().values()))
