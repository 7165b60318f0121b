# SPDX-License-Identifier: GPL-2.0-only
"""A commit that waits for space on the binlog's disk, as SQL's does, and is killed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from support.mariadb import Database, RowSocketServer, Start
from support.raw import ConnectionClosed
from support.small_disk import small_disk

DISK_BYTES = 2 << 20
LEFT_BYTES = 8 << 10
ROW_BYTES = 2 << 10
LOG_BYTES_MAX = 100 << 10
"""That asks again without a pause, it says 25,000 times in a second."""


@pytest.mark.parametrize("kill", ["KILL", "KILL QUERY"])
def test_a_worker_that_waits_for_space_gives_up_where_it_is_killed(
    start: Start, tmp_path: Path, kill: str
) -> None:
    with contextlib.ExitStack() as at_end:
        disk = at_end.enter_context(small_disk(tmp_path / "disk", DISK_BYTES))
        server = start(RowSocketServer, {"log-bin": str(disk / "binlog"), "loose-rowsocket-threads-max": 0})
        at_end.callback(server.stop)
        database = Database(server, "app")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY, text VARCHAR(3000))")
        full = disk / "full"
        at_end.callback(full.unlink)  # else the server's end waits for space, too
        free_bytes = DISK_BYTES - sum(file.stat().st_size for file in disk.iterdir())
        with full.open("wb") as content, contextlib.suppress(OSError):
            content.write(bytes(free_bytes))
        with full.open("r+b") as content:
            content.truncate(full.stat().st_size - LEFT_BYTES)
        with server.raw("write") as wire:
            wire.socket.settimeout(100)
            assert wire.ask(b"P\t1\tapp\tt\t\tid,text") == b"0\t1"
            rows = range(2 * LEFT_BYTES // ROW_BYTES)
            wire.send(b"".join(b"1\t+\t2\t%d\t%b\n" % (id, b"x" * ROW_BYTES) for id in rows))
            server.wait_until("waits for space", lambda: "Retry in 60 secs" in server.log_text())
            for (id,) in server.sql("SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'"):
                server.sql(f"{kill} {id}")
            with contextlib.suppress(ConnectionClosed):
                assert wire.lines(len(rows))[-1] == b"1\t1\tcommit"
        assert len(server.log_text()) < LOG_BYTES_MAX
