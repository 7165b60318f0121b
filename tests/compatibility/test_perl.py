# SPDX-License-Identifier: GPL-2.0-only
"""The original's own test scripts, with its own Perl client, unchanged: RowSocket must make them print what
the original does.

What the scripts are to print stands beside them (testNN.expected). Three of them print something else today
even with the original; there the original's output of the same run is the measure.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from pathlib import Path

import pytest

from support.mariadb import HandlerSocketServer, OriginalServer, RowSocketServer

SCRIPTS = [f"{number:02}" for number in range(1, 25)]

STALE_EXPECTATIONS = {
    "03": "expects the rows in the order of another default collation",
    "04": "expects the rows in the order of another default collation",
    "15": "expects another rounding of Perl's big integers",
    "19": "dies of a change in Perl (it assigns to the undef that a NULL comes as)",
}

# Lines that may differ from the original's, and why.
DIFFERENCES = {
    "15": (r"32768", "32768 is out of the range of SMALLINT: refused, where the original stores 32767"),
    "16": (r"\[s?0\b|\bs0\b", "0 is no DATETIME: refused, where the original stores 0000-00-00 00:00:00"),
    "18": (
        r"v1hs_\d ",
        "a nullable column that is left out of an insert is NULL, where the original stores ''",
    ),
}


def output_of(script: str, server: HandlerSocketServer, sources: Path, perl_module: Path) -> list[str]:
    """Run one script against a server; the lines that it prints."""
    environment = {
        **os.environ,
        "SQL_SOCKET": str(server.socket),
        "HS_READ": as_text(server.read_address()),
        "HS_WRITE": as_text(server.write_address()),
    }
    folders = [Path(__file__).parent, perl_module / "lib", perl_module / "arch"]
    command = ["perl", *(f"-I{folder}" for folder in folders), "-MRedirect", f"test{script}.pl"]
    done = subprocess.run(
        command,
        cwd=sources / "regtest/test_01_lib",
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 or script in STALE_EXPECTATIONS, done.stderr.decode(errors="replace")
    return done.stdout.decode(errors="replace").splitlines()


def as_text(address: tuple[str, int] | str) -> str:
    return f"/:{address}" if isinstance(address, str) else f"{address[0]}:{address[1]}"


def differing_lines(ours: list[str], theirs: list[str]) -> list[str]:
    return [
        line
        for line in difflib.unified_diff(theirs, ours, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_prints_the_same_as_with_the_original(
    script: str, server: RowSocketServer, original: OriginalServer, handler_socket: Path, perl_module: Path
) -> None:
    ours = output_of(script, server, handler_socket, perl_module)
    theirs = output_of(script, original, handler_socket, perl_module)
    allowed, reason = DIFFERENCES.get(script, ("(?!)", ""))
    unexpected = [line for line in differing_lines(ours, theirs) if not re.search(allowed, line)]
    assert unexpected == [], reason


@pytest.mark.parametrize(
    "script", [script for script in SCRIPTS if script not in {*STALE_EXPECTATIONS, *DIFFERENCES}]
)
def test_script_prints_what_its_author_expected(
    script: str, server: RowSocketServer, handler_socket: Path, perl_module: Path
) -> None:
    expected = (handler_socket / f"regtest/test_01_lib/test{script}.expected").read_text().splitlines()
    assert output_of(script, server, handler_socket, perl_module) == expected
