# SPDX-License-Identifier: GPL-2.0-only
"""The original's C++ client library and its command-line client, unchanged."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.commands import run
from support.mariadb import Database, RowSocketServer

PROGRAM = Path(__file__).with_name("hsclient_tour.cpp")


@pytest.fixture
def user_table(database: Database) -> str:
    database.sql(
        "CREATE TABLE user (k INT PRIMARY KEY, v VARCHAR(30), n INT NOT NULL DEFAULT 0, KEY by_v (v))"
    )
    database.sql(
        "INSERT INTO user VALUES (1, 'one', 10), (2, 'two', 20), (3, NULL, 30), (4, '', 40), (5, 'a\\tb', 50)"
    )
    return database.name


def compiled(program: Path, handler_socket: Path, to: Path) -> Path:
    includes = [f"-I{handler_socket / name}" for name in ("libhsclient", "stubs")]
    library = handler_socket / "libhsclient/libhsclient.a"
    run(
        ["g++", "-std=c++17", "-O1", "-w", *includes, program, library, "-lpthread", "-o", to], handler_socket
    )
    return to


def test_hsclient_prints_the_rows(
    server: RowSocketServer, user_table: str, handler_socket: Path, tmp_path: Path
) -> None:
    program = compiled(handler_socket / "client/hsclient.cpp", handler_socket, tmp_path / "hsclient")
    options = [
        f"port={server.read_port}",
        f"dbname={user_table}",
        "table=user",
        "fields=k,v",
        "op=>=",
        "k0=2",
        "limit=2",
    ]
    printed = subprocess.run(
        [program, "host=127.0.0.1", *options], capture_output=True, text=True, timeout=60, check=True
    )
    assert printed.stdout == "REC: 2 two\nREC: 3 \n"
    assert printed.stderr == ""


def test_every_call_of_the_library(
    server: RowSocketServer, user_table: str, handler_socket: Path, tmp_path: Path
) -> None:
    program = compiled(PROGRAM, handler_socket, tmp_path / "tour")
    options = ["127.0.0.1", str(server.write_port), user_table]
    printed = subprocess.run([program, *options], capture_output=True, text=True, timeout=60, check=False)
    assert printed.returncode == 0, printed.stdout + printed.stderr
    assert printed.stdout.endswith("done\n")
    assert server.sql("SELECT k, v, n FROM user ORDER BY k", database=user_table) == [
        (1, "one", 15),
        (2, "zwei", 20),
        (4, "", 40),
        (5, "a\tb", 50),
        (9, "nine\n", 90),
    ]
