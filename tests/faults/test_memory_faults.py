# SPDX-License-Identifier: GPL-2.0-only
"""Memory that the server is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import rowsocket
from support.mariadb import RowSocketServer, Start

BYTES = 60_000


@pytest.mark.parametrize("type", ["LONGBLOB", "MEDIUMTEXT"])
def test_a_value_that_finds_no_memory_fails_alone(start: Start, fault: Path, type: str) -> None:
    """The server's column remembers the size of memory that it did not get, and trusts in it for the next
    value."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE d")
    server.sql(f"CREATE TABLE d.t (id INT PRIMARY KEY, v {type})")
    with rowsocket.connect(*server.write_address(), text=True) as client:
        rows = client.open_index("d", "t", "id,v")
        rows.insert((1, "a" * (BYTES // 3)))
        fault.write_text(f"allocation {BYTES}")
        with pytest.raises(rowsocket.EngineError):
            rows.insert((2, "b" * BYTES))
        fault.unlink()
        rows.insert((3, "c" * (BYTES // 3)))
    assert server.sql("SELECT id, LENGTH(v) FROM d.t ORDER BY id") == [(1, BYTES // 3), (3, BYTES // 3)]
