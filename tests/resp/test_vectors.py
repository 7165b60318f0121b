# SPDX-License-Identifier: GPL-2.0-only
"""Bytes in, bytes out: the files of vectors/, whose README says how to read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.byte_vectors import play
from support.resp import RespConnection, RespServer

FOLDER = Path(__file__).parent / "vectors"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_vectors(path: Path, resp: RespConnection, resp_server: RespServer) -> None:
    if play(path, resp, resp_server):
        assert resp.command("ECHO", "end") == b"$3\r\nend\r\n", "bytes that nobody expected"
