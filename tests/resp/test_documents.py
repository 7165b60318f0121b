# SPDX-License-Identifier: GPL-2.0-only
"""What the document for users of Redis tells people to type is typed: SQL, and a session of redis-cli."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import redis

from support.mariadb import Start
from support.resp import RespServer
from support.tree import peer_program

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "migrating-from-redis.md"
CODE_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^> ", re.MULTILINE)


def execute(server: RespServer, text: str) -> None:
    """Statements, each up to a semicolon at the end of its line."""
    for statement in re.split(r";$", text, flags=re.MULTILINE):
        if statement.strip():
            server.sql(statement)


def converse(server: RespServer, session: str) -> None:
    """Lines behind `> ` are typed into redis-cli, the others are what it says."""
    steps = [step.partition("\n") for step in COMMAND.split(session)[1:]]
    said = subprocess.run(
        [*peer_program("redis-cli"), "-p", str(server.resp_port), "--no-raw"],
        input="".join(f"{command}\n" for command, _, _ in steps),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert said == "".join(reply for _, _, reply in steps)


def ask(server: RespServer, session: str) -> None:
    """The same of statements, with the rows that they find."""
    for step in COMMAND.split(session)[1:]:
        statement, *rows = step.splitlines()
        found = [
            [one.decode() if isinstance(one, bytes) else str(one) for one in row]
            for row in server.sql(statement)
        ]
        assert ["\t".join(row) for row in found] == rows


def test_the_session_is_as_it_says(start: Start) -> None:
    blocks = CODE_BLOCK.findall(DOCUMENT.read_text())
    [account] = re.findall(r"^loose-rowsocket_anonymous_account = (\S+)$", DOCUMENT.read_text(), re.MULTILINE)
    server = start(RespServer)
    seen = []
    for language, text in blocks:
        if language == "sql":
            execute(server, text)
            server.await_containers()
            server.sql("SET GLOBAL rowsocket_anonymous_account = %s", [account])
        elif language == "python":
            places: dict[str, object] = {}
            exec(text.replace("port=6380", f"port={server.resp_port}"), places)
            client = places["client"]
            assert isinstance(client, redis.Redis) and client.get("session:9f2c") == "hello"
        elif language == "ini":
            continue  # tests/readme looks at all options
        elif text.startswith("$ redis-cli"):
            converse(server, text)
        else:
            ask(server, text)
        seen.append(language)
    assert seen == ["sql", "", "", "python"]
