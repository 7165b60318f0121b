# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the integration tests that use the Python client.

writer     a client on the write port of `server`, closed before `database` is dropped
reader     a client on the read port
authority  who signs certificates: of servers with TLS, and of their clients
secured    a server with a certificate and a unix socket; `d.t` has the row (1, 10)
shop       a server with the table of docs/command.md
run        run("get", "user", "1"): the command `rowsocket` on it, with its output
logged     a server with all doors, and files for both logs, which are off; `d.t` is empty
make_twins make_twins("id INT PRIMARY KEY", "ENGINE=Aria"): the two tables of support/twins.py
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rowsocket
from rowsocket import Connection
from support.certificates import Authority, prepare_row
from support.command_page import DATABASE, Run, blocks, runner
from support.mariadb import Database, RowSocketServer
from support.resp import RespServer
from support.tree import ServerTree
from support.twins import Twins


@pytest.fixture
def writer(server: RowSocketServer, database: Database) -> Iterator[Connection]:
    """A client on the write port."""
    with rowsocket.connect(*server.write_address(), text=True) as connection:
        yield connection


@pytest.fixture
def reader(server: RowSocketServer, database: Database) -> Iterator[Connection]:
    """A client on the read port."""
    with rowsocket.connect(*server.read_address(), text=True) as connection:
        yield connection


@pytest.fixture
def make_twins(database: Database, writer: Connection) -> Iterator[Callable[..., Twins]]:
    """Make the two tables of support/twins.py; once per test."""
    with contextlib.ExitStack() as stack:

        def make(definition: str, options: str = "") -> Twins:
            twins = Twins(database, writer, definition, options)
            stack.callback(twins.close)
            return twins

        yield make


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Who signs certificates."""
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def secured(tree: ServerTree, template: Path, authority: Authority) -> Iterator[RowSocketServer]:
    """A server with TLS; clients that name no account may do everything."""
    server = RowSocketServer(tree, template, authority.server_options())
    server.options["loose-rowsocket-socket-write"] = str(server.folder / "write")
    with server:
        prepare_row(server)
        yield server


@pytest.fixture
def shop(server: RowSocketServer) -> Iterator[RowSocketServer]:
    """A server with the table of the page."""
    server.sql(f"CREATE DATABASE {DATABASE}")
    (definition,) = blocks("sql")
    server.sql(definition.replace("TABLE user", f"TABLE {DATABASE}.user"))
    yield server
    server.sql(f"DROP DATABASE {DATABASE}")


@pytest.fixture
def run(shop: RowSocketServer) -> Run:
    """The command."""
    return runner(shop)


@pytest.fixture(scope="module")
def logging_server(tree: ServerTree, template: Path) -> Iterator[RespServer]:
    """A server with both logs as files, switched off, and all doors open; `d.t` is empty."""
    options: dict[str, str | int | None] = {
        "general-log-file": "general.log",
        "slow-query-log-file": "slow.log",
        "long-query-time": 0,
    }
    with RespServer(tree, template, options) as server:
        server.prepare()
        database = Database(server, "d")
        database.sql("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(100), n INT)")
        yield server


@pytest.fixture
def logged(logging_server: RespServer) -> Iterator[RespServer]:
    """The same, with empty tables."""
    for table in ("d.t", "app.item", "shop.user"):
        logging_server.sql(f"DELETE FROM {table}")
    yield logging_server
