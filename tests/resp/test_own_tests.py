# SPDX-License-Identifier: GPL-2.0-only
"""Redis's own tests, unchanged, against RowSocket.

A check that fails must say that a command is not there, or be one of EXPECTED. README.md tells which files
can not apply.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.resp import RespServer
from support.tree import environment_path

RUNNER = Path(__file__).parent / "own_tests.tcl"

PASSED_MIN = {"type/string": 38, "type/incr": 10, "expire": 38, "protocol": 13, "quit": 3, "multi": 3}
"""So many checks of each file pass at least."""

NOT_THERE = re.compile(
    r"unknown command|invalid command name|only GET is there|DB index is out of range"
    r"|EXECABORT Transaction discarded because of previous errors"
)
"""What a check says that needs a command which is not there, a replica, or a second database."""

EXPECTED = {
    r"sub-second|Wait for the key to expire|After 2\.1 seconds|PEXPIRETIME returns": "seconds are whole",
    r"PEXPIREAT with big integer works": "beyond what the column can hold",
    r"test large number of args": "more keys than rowsocket_max_in_values",
    r"Extended SET PX option": "seconds are whole",
    r"not there between MULTI and EXEC": "a group is of commands on tables",
    r"stdout": "it reads the log of a server that it started",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSED_MIN)
def test_of_file_only_what_is_not_there_fails(name: str, emptied: RespServer) -> None:
    done = subprocess.run(
        ["tclsh", str(RUNNER), "127.0.0.1", str(emptied.resp_port), f"tests/unit/{name}.tcl"],
        cwd=environment_path("ROWSOCKET_REDIS_SOURCE"),
        capture_output=True,
        timeout=800,
        check=False,
    )
    lines = done.stdout.decode(errors="replace").splitlines()
    failed = [line.removeprefix("not ok ") for line in lines if line.startswith("not ok ")]
    unexplained = [
        line
        for line in failed
        if not NOT_THERE.search(line) and not any(re.search(pattern, line) for pattern in EXPECTED)
    ]
    assert unexplained == [], done.stderr.decode(errors="replace")[-2000:]
    assert sum(line.startswith("ok ") for line in lines) >= PASSED_MIN[name]
