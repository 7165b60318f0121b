# SPDX-License-Identifier: GPL-2.0-only
"""The Python client logs in with accounts of a real server, and may do what their grants allow."""

from __future__ import annotations

import asyncio
import getpass
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

import rowsocket
from rowsocket import aio
from support.accounts import PASSWORD, account
from support.mariadb import Database, RowSocketServer
from support.tree import ServerTree

ROW = (1, "Ann")


@pytest.fixture(scope="module")
def closed_server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """A server that serves accounts only. `app@localhost` may read `shop.t`, and may not read `shop.u`."""
    server = RowSocketServer(tree, template, {"loose-rowsocket-anonymous-account": ""})
    server.options["loose-rowsocket-socket-write"] = str(server.folder / "write")
    with server:
        database = Database(server, "shop")
        for table in ("t", "u"):
            database.sql(f"CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(20))")
            database.sql(f"INSERT INTO {table} VALUES (1, 'Ann')")
        with account(server, "app@localhost", grants=["SELECT ON shop.t"]):
            yield server


def url_of(server: RowSocketServer, password: str = PASSWORD) -> str:
    """The URL of the account."""
    return f"rowsocket://app:{urllib.parse.quote(password, safe='')}@127.0.0.1:{server.write_port}/shop"


def test_the_right_password_lets_in(closed_server: RowSocketServer) -> None:
    with rowsocket.connect(*closed_server.write_address(), user="app", password=PASSWORD) as connection:
        assert connection.open_index("shop", "t", ["id", "name"]).get(1) == ROW
    with rowsocket.connect(url_of(closed_server)) as connection:
        assert connection.table("t", ["id", "name"]).get(1) == ROW


def test_a_pool_and_asyncio_log_in(closed_server: RowSocketServer) -> None:
    with rowsocket.ConnectionPool(url_of(closed_server)) as pool:
        assert pool.table("t", ["id", "name"]).get(1) == ROW

    async def work() -> None:
        async with aio.ConnectionPool(url_of(closed_server)) as pool:
            assert await (await pool.table("t", ["id", "name"])).get(1) == ROW

    asyncio.run(work())


def test_a_wrong_password_is_an_authentication_error(closed_server: RowSocketServer) -> None:
    with pytest.raises(rowsocket.AuthenticationError) as raised:
        rowsocket.connect(url_of(closed_server, "hush"))
    assert "hush" not in f"{raised.value} {raised.value!r}"
    assert f"127.0.0.1:{closed_server.write_port} refused the user 'app'" in str(raised.value)


def test_who_names_no_account_is_told_when_it_asks(closed_server: RowSocketServer) -> None:
    with (
        rowsocket.connect(*closed_server.write_address(), database="shop") as connection,
        pytest.raises(rowsocket.AuthenticationError),
    ):
        connection.table("t", ["id"])


def test_what_the_grants_do_not_allow_is_an_engine_error_with_the_number_of_sql(
    closed_server: RowSocketServer,
) -> None:
    with rowsocket.connect(url_of(closed_server)) as connection:
        with pytest.raises(rowsocket.EngineError) as table_denied:
            connection.table("u", ["id"])
        with pytest.raises(rowsocket.EngineError) as write_denied:
            connection.table("t", ["id", "name"]).update(1, {"name": "Eve"})
        assert connection.table("t", ["id", "name"]).get(1) == ROW
    assert (table_denied.value.number, write_denied.value.number) == (1142, 1142)
    assert not table_denied.value.retryable


def test_an_account_of_a_unix_socket_needs_no_password(closed_server: RowSocketServer) -> None:
    user = getpass.getuser()
    unix_socket = str(closed_server.options["loose-rowsocket-socket-write"])
    closed_server.sql(f"ALTER USER {user}@localhost IDENTIFIED VIA unix_socket")
    try:
        with rowsocket.connect(unix_socket=unix_socket, user=user, database="shop") as connection:
            assert connection.table("t", ["id", "name"]).get(1) == ROW
        with pytest.raises(rowsocket.AuthenticationError):
            rowsocket.connect(f"rowsocket://{user}@127.0.0.1:{closed_server.write_port}")
    finally:
        closed_server.sql(f"ALTER USER {user}@localhost IDENTIFIED VIA mysql_native_password USING ''")
