# SPDX-License-Identifier: GPL-2.0-only
"""Programs that know nothing of RowSocket: gomemcache, a client library of Go, and libmemcached's tests."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.go_programs import build
from support.memcached import MemcachedServer
from support.plugin import changed
from support.tree import peer_program

SOURCE = Path(__file__).parent / "go_memcache"

FAILS_ANYWHERE = {"ascii delete", "ascii delete noreply"}
"""They expect `delete KEY 0` to be an error, and fail against memcached itself, too."""


@pytest.fixture
def flushable(cache_server: MemcachedServer) -> Iterator[MemcachedServer]:
    """The server with an empty table, which clients may flush."""
    cache_server.sql("DELETE FROM app.item")
    with changed(cache_server, allows_flush="ON"):
        yield cache_server


def test_gomemcache(flushable: MemcachedServer, tmp_path: Path) -> None:
    program = build(SOURCE, tmp_path / "go_memcache")
    done = subprocess.run(
        [program, f"127.0.0.1:{flushable.memcached_port}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_memccapable_finds_the_protocol_as_it_is(flushable: MemcachedServer) -> None:
    """The ascii part of libmemcached's tests of servers."""
    done = subprocess.run(
        [*peer_program("memccapable"), "-h", "127.0.0.1", "-p", str(flushable.memcached_port), "-a"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    verdicts = dict(re.findall(r"^(ascii [\w ]+?)\s+\[(\w+)\]", done.stdout, re.MULTILINE))
    assert len(verdicts) == 27, done.stdout + done.stderr
    assert {name for name, verdict in verdicts.items() if verdict != "pass"} <= FAILS_ANYWHERE
