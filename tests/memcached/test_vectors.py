# SPDX-License-Identifier: GPL-2.0-only
"""Bytes in, bytes out: the files of vectors/, whose README says how to read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.byte_vectors import play
from support.memcached import MemcachedConnection, MemcachedServer

FOLDER = Path(__file__).parent / "vectors"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_vectors(path: Path, cache: MemcachedConnection, cache_server: MemcachedServer) -> None:
    if play(path, cache, cache_server):
        assert cache.word("mn") == "MN", "bytes that nobody expected"
