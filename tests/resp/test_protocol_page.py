# SPDX-License-Identifier: GPL-2.0-only
"""The sessions of the page about RESP are typed into redis-cli, one after the other."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.mariadb import Start
from support.resp import RespServer
from support.tree import peer_program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocol" / "resp.md"
STEP = re.compile(r"^    > (.*)\n((?:    < .*\n)+)", re.MULTILINE)

ROWS = """
    INSERT INTO shop.user (id, name) VALUES (43, 'Bob');
    CREATE TABLE shop.account (id INT PRIMARY KEY, balance INT NOT NULL);
    INSERT INTO shop.account VALUES (1, 100), (2, 100), (7, 5), (8, 0);
    INSERT INTO shop.orders VALUES (1, 1, 7, 10), (1, 2, 8, NULL), (1, 3, 7, 30)
"""
"""What stands in the tables before the first session."""


def test_the_sessions_are_as_the_page_says(start: Start) -> None:
    server = start(RespServer)
    server.prepare()
    for statement in ROWS.split(";"):
        server.sql(statement)
    steps = STEP.findall(PAGE.read_text())
    assert len(steps) > 15
    said = subprocess.run(
        [*peer_program("redis-cli"), "-p", str(server.resp_port), "--no-raw"],
        input="".join(f"{command}\n" for command, _ in steps),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.splitlines()
    expected = [line[len("    < ") :] for _, reply in steps for line in reply.splitlines()]
    assert len(said) == len(expected)
    for line, wanted in zip(said, expected, strict=True):
        assert line == wanted or (wanted.endswith("…") and line.startswith(wanted[:-1]))
    assert server.value("SELECT balance FROM shop.account WHERE id = 8") == 0
