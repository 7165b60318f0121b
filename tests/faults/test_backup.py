# SPDX-License-Identifier: GPL-2.0-only
"""Backups of a busy server: mariadb-backup's is one moment of it, and who locks everything sees nothing
change.

"One moment" is exact: while the backup runs, we note again and again what every writer had been told by then,
and what it had sent. If the backup has a change that was sent after such a note, it must have everything that
was acknowledged by then.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from faults.writers import Writers, make_tables
from support.binlog import assert_binlog_equals_tables
from support.commands import run
from support.mariadb import MariaDB, Options, RowSocketServer, Start
from support.soak import Soak
from support.tree import ServerTree

DURABLE: Options = {"innodb-flush-log-at-trx-commit": 1, "sync-binlog": 1, "binlog-format": "ROW"}
# InnoDB's log is a ring: what the writers write while a backup looks away for a second must fit, or they
# overwrite what it needs.
BACKED_UP: Options = {**DURABLE, "innodb-log-file-size": "512M"}
WRITES_BEFORE_A_BACKUP = (300, 3000)


@dataclass(frozen=True)
class Moment:
    """How many changes of each writer were acknowledged, and how many were sent, at one moment."""

    acknowledged: Sequence[int]
    sent: Sequence[int]

    @classmethod
    def of(cls, writers: Writers) -> Moment:
        acknowledged = (
            writers.acknowledged_counts()
        )  # before what was sent: a moment may be blurred in this direction only
        return cls(acknowledged, writers.sent_counts())

    def is_torn(self, kept: Sequence[int]) -> bool:
        """Whether `kept` holds something from after the moment, and lacks something from before it."""
        has_later = any(count > sent for count, sent in zip(kept, self.sent, strict=True))
        return has_later and any(count < told for count, told in zip(kept, self.acknowledged, strict=True))


def test_a_moment_sees_that_a_backup_is_torn() -> None:
    moment = Moment(acknowledged=[10, 20], sent=[11, 25])
    assert not moment.is_torn([9, 19]) and not moment.is_torn([10, 26]) and not moment.is_torn([9, 25])
    assert moment.is_torn([9, 26]) and moment.is_torn([12, 19])


def back_up(server: RowSocketServer, folder: Path, writers: Writers) -> list[Moment]:
    """Make a backup in `folder` while the writers write; moments while it was made."""
    program = server.tree.program("mariadb-backup")
    options = [
        "--no-defaults",
        "--backup",
        "--user=root",
        f"--socket={server.socket}",
        f"--target-dir={folder}",
    ]
    moments = []
    with ThreadPoolExecutor(1) as thread:
        backup = thread.submit(run, [program, *options], environment=server.tree.environment())

        def note() -> bool:
            moments.append(Moment.of(writers))
            return backup.done()

        writers.wait_until("the backup is made", note)
        backup.result()
    return moments


def prepare(tree: ServerTree, folder: Path) -> None:
    """Turn a backup into a data directory."""
    command: list[str | Path] = [
        tree.program("mariadb-backup"),
        "--no-defaults",
        "--prepare",
        f"--target-dir={folder}",
    ]
    run(command, environment=tree.environment())


def test_a_backup_of_a_busy_server_is_one_moment_of_it(
    start: Start, tree: ServerTree, tmp_path: Path, soak: Soak
) -> None:
    folder = tmp_path / "backup"
    for _ in soak.trials(1):
        server = start(RowSocketServer, BACKED_UP)
        make_tables(server)
        with Writers(server) as writers:
            writers.wait_for_more(soak.random.randint(*WRITES_BEFORE_A_BACKUP))
            before = writers.acknowledged_counts()
            moments = back_up(server, folder, writers)
            writers.wait_for_more(500)
        prepare(tree, folder)
        with RowSocketServer(tree, folder, BACKED_UP) as restored:
            kept = writers.kept_counts(restored)
        assert all(count >= told for count, told in zip(kept, before, strict=True)), (
            "what was acknowledged before is missing"
        )
        assert [moment for moment in moments if moment.is_torn(kept)] == []
        assert writers.losses(server) == 0
        assert_binlog_equals_tables(server)
        server.remove()
        shutil.rmtree(folder)
        soak.saw("acknowledged writes", writers.acknowledged_count())
        soak.saw("of them after the backup's moment", writers.acknowledged_count() - sum(kept))


LOCKS = {
    "FLUSH TABLES WITH READ LOCK": (["FLUSH TABLES WITH READ LOCK"], "UNLOCK TABLES"),
    "LOCK TABLES": (["LOCK TABLES d.t READ, d.counter READ"], "UNLOCK TABLES"),
    "BACKUP STAGE": (
        [f"BACKUP STAGE {stage}" for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT")],
        "BACKUP STAGE END",
    ),
}


@pytest.mark.parametrize("lock", LOCKS)
def test_nothing_changes_under_a_lock_of_everything_and_all_writers_go_on_after_it(
    start: Start, lock: str, soak: Soak
) -> None:
    statements, unlock = LOCKS[lock]
    server = start(RowSocketServer, DURABLE)
    make_tables(server)
    with (
        Writers(server) as writers,
        contextlib.closing(server.connect()) as connection,
        connection.cursor() as sql,
    ):
        writers.wait_for_first_rounds()
        for _ in soak.trials(5):
            writers.wait_for_more(500)
            for statement in statements:
                sql.execute(statement)
            locked = checksums(server)
            with server.raw("read") as reader:
                assert reader.ask(b"P\t1\td\tcounter\t\tid") == b"0\t1"
                assert reader.ask(b"1\t=\t1\t0") == b"0\t1\t0"
            assert checksums(server) == locked
            sql.execute(unlock)
    assert writers.refusals() == {"no such row": 8}
    assert writers.losses(server) == 0
    assert_binlog_equals_tables(server)
    soak.saw("acknowledged writes", writers.acknowledged_count())


def checksums(server: MariaDB) -> list[tuple[object, ...]]:
    return server.sql("CHECKSUM TABLE d.t, d.counter")
