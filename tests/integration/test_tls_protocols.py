# SPDX-License-Identifier: GPL-2.0-only
"""Client libraries of other protocols inside TLS, as their users set it up."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from pymemcache.client.base import Client  # type: ignore[import-untyped]

from support.accounts import account
from support.certificates import Authority
from support.raw import RawConnection
from support.resp import RespServer
from support.tree import ServerTree

PASSWORD = "sesame"


@pytest.fixture(scope="module")
def doors(tree: ServerTree, template: Path, authority: Authority) -> Iterator[RespServer]:
    """A server whose doors for memcached and RESP take clients inside TLS only."""
    with RespServer(tree, template, authority.server_options()) as server:
        server.prepare()
        server.sql("SET GLOBAL rowsocket_require_tls = ON")
        yield server


def test_redis_py(doors: RespServer, authority: Authority) -> None:
    require = f"IDENTIFIED BY '{PASSWORD}' REQUIRE SSL"
    with (
        account(doors, "app@localhost", require, ["SELECT, INSERT, UPDATE, DELETE ON app.*"]),
        redis.Redis(
            host="localhost",
            port=doors.resp_port,
            ssl=True,
            ssl_ca_certs=str(authority.file),
            username="app",
            password=PASSWORD,
            decode_responses=True,
        ) as client,
    ):
        assert client.set("a", "x" * 100_000) is True
        with client.pipeline(transaction=False) as pipe:
            for _ in range(100):
                pipe.get("a")
            assert pipe.execute() == ["x" * 100_000] * 100


def test_pymemcache(doors: RespServer, authority: Authority) -> None:
    address = ("localhost", doors.memcached_port)
    with contextlib.closing(
        Client(address, tls_context=authority.context(), timeout=20, default_noreply=False)
    ) as client:
        assert client.set("b", b"y" * 100_000) is True
        assert client.get_many(["b", "none"]) == {"b": b"y" * 100_000}


@pytest.mark.parametrize(
    ("door", "question", "answer"),
    [
        ("memcached", b"get a\r\n", b"SERVER_ERROR needs_tls"),
        ("resp", b"PING\r\n", b"-ERR needs_tls"),
    ],
)
def test_plain_clients_are_told_why(doors: RespServer, door: str, question: bytes, answer: bytes) -> None:
    port = doors.memcached_port if door == "memcached" else doors.resp_port
    with RawConnection(("127.0.0.1", port)) as plain:
        plain.send(question)
        assert plain.line().startswith(answer)
        assert plain.closed()
