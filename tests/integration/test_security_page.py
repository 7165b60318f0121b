# SPDX-License-Identifier: GPL-2.0-only
"""docs/security.md: whoever types its commands, in their order, sees what the page says."""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.mariadb import RowSocketServer, Start

PAGE = Path(__file__).resolve().parents[2] / "docs/security.md"


def wire(line: str) -> bytes:
    """A line of a conversation as bytes."""
    assert line.endswith("␊"), line
    return line[2:].replace("⇥", "\t").replace("␊", "\n").encode()


def converse(server: RowSocketServer, text: str, ask: str) -> None:
    """Whoever pastes it behind `ask` is shown what stands behind `<`."""
    script = ask.replace("9999", str(server.write_port)) + f"ask <<'END'\n{text}END\n"
    received = b"".join(wire(line) for line in text.splitlines() if line.startswith("<"))
    assert in_shell(script, {}).encode() == received


def blocks_of(text: str) -> list[tuple[str, str]]:
    """The code blocks: language, or nothing for a conversation, and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def execute(server: RowSocketServer, text: str) -> None:
    """The statements of a block of SQL."""
    for statement in filter(str.strip, text.split(";\n")):
        server.sql(statement)


def test_the_page_does_what_it_says(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-anonymous-account": ""})
    blocks = blocks_of(PAGE.read_text().replace(tls_section(), ""))
    assert len(blocks) > 8
    ask = ""
    for language, text in blocks:
        if language == "sql":
            execute(server, text)
        elif language == "sh":
            ask = text
        else:
            converse(server, text, ask)


def tls_section() -> str:
    """What the page says of TLS."""
    page = PAGE.read_text()
    begin = page.index("\n## TLS")
    return page[begin : page.index("\n## ", begin + 1)]


def in_shell(script: str, environment: Mapping[str, str]) -> str:
    """What a script prints; it has to end well."""
    done = subprocess.run(
        ["bash", "-euc", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def options_of(text: str) -> dict[str, str | int | None]:
    """The lines of an option file."""
    return dict(re.findall(r"^(\S+) = (.*)$", text, re.MULTILINE))


def test_the_section_of_tls_does_what_it_says(start: Start, tmp_path: Path) -> None:
    """Its folder, its host and the server's user are others here; where it names no port, the test does."""
    section = tls_section().replace("/etc/mysql/tls", str(tmp_path)).replace("db.example.org", "localhost")
    section = section.replace("chown mysql ", f"chown {os.geteuid()} ")
    (_, certificate), (_, options), (_, sql), *rest = blocks_of(section)
    in_shell(certificate, {})
    server = start(RowSocketServer, {"loose-rowsocket-anonymous-account": "", **options_of(options)})
    server.sql("CREATE DATABASE shop")
    server.sql("CREATE TABLE shop.customer (id INT PRIMARY KEY, name VARCHAR(50), card VARCHAR(20))")
    server.sql("INSERT INTO shop.customer VALUES (1, 'Ann', '4000')")
    execute(server, sql)
    with server.raw("read") as plain:
        assert plain.ask(b"P") == b"3\t1\ttls"
    command = f'rowsocket() {{ {sys.executable} -m rowsocket "$@"; }}\n'
    environment = {"PYTHONPATH": str(PAGE.parents[1] / "clients/python/src")}
    url = ""
    answers = []
    for language, text in rest:
        if language == "sql":
            execute(server, text)
            continue
        script = text.replace("localhost:9998", f"localhost:{server.read_port}")
        script = script.replace("@localhost/", f"@localhost:{server.read_port}/")
        answers.append(in_shell(command + url + script, environment))
        url = url or "".join(line + "\n" for line in script.splitlines() if line.startswith("export"))
    handshake, by_password, _, by_certificate = answers
    assert "Verification: OK" in handshake
    strict = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    strict.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python 3.13 does by itself
    server.raw("read", strict).close()
    assert "Ann" in by_password
    assert "Ann" in by_certificate
    assert server.counter("logins") == 2
    with pytest.raises(AssertionError, match=r"unauth|denied|log in"):
        in_shell(command + url + "rowsocket get customer 1 --columns name", environment)
