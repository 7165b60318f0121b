# SPDX-License-Identifier: GPL-2.0-only
"""What the documents of memcached tell people to type is typed: a session, and SQL."""

from __future__ import annotations

import re
from pathlib import Path

from support.mariadb import Start
from support.memcached import CONTAINERS, MemcachedConnection, MemcachedServer

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"
CODE_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STORAGE = ("set", "add", "replace", "append", "prepend", "cas")
COMMANDS = (*STORAGE, "get", "gets", "incr", "decr", "delete", "touch", "quit")


def blocks(document: str) -> list[tuple[str, str]]:
    """The code blocks of a document: language and text."""
    return CODE_BLOCK.findall((DOCUMENTS / document).read_text())


def execute(server: MemcachedServer, text: str) -> None:
    """Statements, each up to a semicolon at the end of its line."""
    for statement in re.split(r";$", text, flags=re.MULTILINE):
        if statement.strip():
            server.sql(statement)


def converse(client: MemcachedConnection, lines: list[str]) -> None:
    """Lines of a session by hand: commands with their values are typed, the others are what comes back."""
    position = 0
    while position < len(lines):
        line = lines[position]
        word = line.split(" ")[0]
        assert word in COMMANDS, f"neither a command nor expected here: {line}"
        typed = lines[position : position + (2 if word in STORAGE else 1)]
        client.send("".join(f"{one}\r\n" for one in typed).encode())
        position += len(typed)
        while position < len(lines) and lines[position].split(" ")[0] not in COMMANDS:
            assert client.line() == lines[position].encode() + b"\r"
            position += 1


def test_the_session_of_the_migration_is_as_it_says(start: Start) -> None:
    server = start(MemcachedServer)
    conversations = 0
    for language, text in blocks("migrating-from-innodb-memcached.md"):
        if language == "sql":
            execute(server, text)
            server.await_containers()
        elif text.startswith("$ nc"):
            with server.memcached() as client:
                converse(client, text.splitlines()[1:])
            conversations += 1
        elif text.startswith("> "):
            for step in re.split(r"^> ", text, flags=re.MULTILINE)[1:]:
                statement, *rows = step.splitlines()
                found = server.sql(statement)
                assert ["\t".join(map(str, row)) for row in found] == rows
    assert conversations == 2


def test_the_sql_of_the_protocol_is_as_it_says(start: Start) -> None:
    server = start(MemcachedServer)
    create_containers, event, kept = [
        text for language, text in blocks("protocol/memcached.md") if language == "sql"
    ]
    execute(server, create_containers)
    server.sql("CREATE DATABASE app")
    execute(server, kept)
    server.await_containers()
    with server.memcached() as client:
        assert client.store("set a 0 0", b"1") == "STORED"
        seen = client.cas("a")
        server.sql("UPDATE app.item SET v = '2'")
        assert client.store(f"cas a 0 0 {seen}", b"3") == "EXISTS"
    server.sql("DROP TABLE app.item")
    server.sql("CREATE TABLE app.item (k INT PRIMARY KEY, v TEXT, expires INT, KEY (expires))")
    server.sql(f"UPDATE {CONTAINERS} SET cas_column = NULL, expire_time_column = 'expires'")
    server.await_containers()
    with server.memcached() as client:
        client.store("set 1 0 -1", b"over")
        client.store("set 2 0 1000", b"later")
        client.store("set 3 0 0", b"never")
    server.sql(event.rstrip().removesuffix(";"))
    body = event[event.index("BEGIN") :].rstrip().removesuffix(";")
    server.sql(body.replace("BEGIN", "BEGIN NOT ATOMIC", 1).replace("app.sweep_item", ""))
    assert server.sql("SELECT k FROM app.item ORDER BY k") == [(2,), (3,)]


def play(client: MemcachedConnection, session: str) -> None:
    """Lines behind `>` are sent, those behind `<` come back."""
    for line in session.splitlines():
        mark, text = line[4], line[6:]
        if mark == ">":
            client.send(f"{text}\r\n".encode())
        else:
            assert client.line() == text.encode() + b"\r"


def test_the_sessions_of_the_protocol_are_as_it_says(start: Start) -> None:
    page = (DOCUMENTS / "protocol/memcached.md").read_text()
    login, lookup, misfit = re.findall(r"(?:^    [><] .*\n)+", page, re.MULTILINE)
    server = start(MemcachedServer)
    server.prepare()
    server.sql("CREATE TABLE app.city (id INT PRIMARY KEY, name VARCHAR(30), state CHAR(2))")
    server.sql("INSERT INTO app.city VALUES (1, 'Bonn', 'NW')")
    server.contain("city", "app.city", key="id", value="name|state", flags="0", cas=None, expires=None)
    with server.memcached() as client:
        play(client, lookup)
        server.sql("ALTER TABLE app.city DROP COLUMN name")
        play(client, misfit)
    server.sql("CREATE USER ann@localhost IDENTIFIED BY 'sesame'")
    server.sql("SET GLOBAL rowsocket_anonymous_account = ''")
    with server.memcached() as client:
        play(client, login)
