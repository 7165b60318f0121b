# SPDX-License-Identifier: GPL-2.0-only
"""docs/installing.md: what stands around the installation itself, which `./x package --prove` tries: the pin,
a table and an account, a row in Python, in the command and in its shell, what is left behind a removal.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_page import environment
from support.mariadb import Database, RowSocketServer, Start
from support.plugin import EmptyServer, is_loaded
from support.scripts import feed

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/installing.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def shop(start: Start) -> Iterator[RowSocketServer]:
    """A server with the table and the account of the page."""
    server = start(RowSocketServer, {"loose-rowsocket-anonymous-account": ""})
    [script] = blocks("sql", "CREATE DATABASE")
    feed(server, script)
    yield server


def blocks(language: str, beginning: str = "") -> list[str]:
    """The code blocks of the page."""
    return [
        str(text) for name, text in BLOCK.findall(PAGE) if name == language and text.startswith(beginning)
    ]


def printed(server: RowSocketServer, words: list[str], typed: str = "") -> str:
    """What Python prints, told of this server instead of the one of the page."""
    port = server.read_address()[1]
    places = {
        "@127.0.0.1:9998/": f"@127.0.0.1:{port}/",
        "@127.0.0.1/": f"@127.0.0.1:{port}/",
        "mysql://app:secret@127.0.0.1": f"mysql://app:secret@/?unix_socket={server.socket}",
    }
    for written, here in places.items():
        words = [word.replace(written, here) for word in words]
    done = subprocess.run(
        [sys.executable, *words], env=environment(), input=typed, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def command(block: str) -> list[str]:
    """How Python runs what the block types."""
    name, *words = shlex.split(block)
    assert name == "rowsocket"
    return ["-m", "rowsocket", *words]


def test_the_example_in_python_prints_what_it_says(shop: RowSocketServer) -> None:
    [example] = blocks("python")
    [says] = re.findall(r"  # (\(.*\))$", example, re.MULTILINE)
    assert printed(shop, ["-c", example]) == f"{says}\n"


def test_the_command_and_its_shell_find_the_row(shop: RowSocketServer) -> None:
    [get] = blocks("sh", "rowsocket")
    [shell] = blocks("text", "rowsocket")
    found = printed(shop, command(get))
    assert "Ann" in found
    assert printed(shop, command(shell), "get person 42\n") == found


def test_the_tables_of_security_do_not_meet_those_of_this_page(shop: RowSocketServer) -> None:
    """Who has done this page is sent there."""
    security = (ROOT / "docs/security.md").read_text()
    table, account = [text for name, text in BLOCK.findall(security) if name == "sql"][:2]
    feed(shop, table)
    feed(shop, account)


def test_the_pin_has_the_whole_version_of_the_server_beside_the_packages(tmp_path: Path) -> None:
    version = "1:11.8.6-0+deb13u1"
    server = tmp_path / "server"
    control = server / "made/DEBIAN/control"
    control.parent.mkdir(parents=True)
    control.write_text(
        f"Package: mariadb-server\nVersion: {version}\nArchitecture: all\nMaintainer: Ann <ann@example.org>\n"
        "Description: none\n"
    )
    package = server / f"mariadb-server_{version.partition(':')[2]}_all.deb"
    subprocess.run(["dpkg-deb", "--build", server / "made", package], check=True, stdout=subprocess.DEVNULL)
    [block] = blocks("sh", "version=")
    script = block.replace("/etc/apt/preferences.d", str(tmp_path))
    subprocess.run(["sh", "-euc", script], cwd=tmp_path, check=True)
    pin = (tmp_path / "mariadb-for-rowsocket").read_text()
    assert pin.startswith(f"Package: src:mariadb\nPin: version {version}\nPin-Priority: 1001\n")
    assert f"`{version}`" in PAGE


def test_compressed_tables_are_found(server: RowSocketServer, database: Database) -> None:
    [query] = blocks("sql", "SELECT table_schema")
    assert server.sql(query) == []
    database.sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB PAGE_COMPRESSED=1")
    database.sql("CREATE TABLE u (id INT PRIMARY KEY) ENGINE=InnoDB page_compressed=yes")
    database.sql("SET SESSION innodb_compression_default = ON")
    database.sql("CREATE TABLE v (id INT PRIMARY KEY) ENGINE=InnoDB")
    assert sorted(server.sql(query)) == [(database.name, table) for table in "tuv"]
    for table in "tuv":
        database.sql(f"ALTER TABLE {table} PAGE_COMPRESSED=0")
    assert server.sql(query) == []


def test_nothing_is_logged_of_a_plugin_that_is_gone_behind_the_statement(start: Start) -> None:
    server = start(EmptyServer)
    server.sql("INSTALL SONAME 'rowsocket'")
    (Path(str(server.options["plugin-dir"])) / "rowsocket.so").unlink()
    complaint = "Can't open shared library"
    server.restart()
    assert not is_loaded(server)
    assert complaint in server.log_text()
    assert complaint in " ".join(PAGE.split())
    [statement] = blocks("sql", "DELETE")
    server.sql(statement)
    told = server.log_text().count(complaint)
    server.restart()
    assert server.log_text().count(complaint) == told
