# SPDX-License-Identifier: GPL-2.0-only
"""Every vector against RowSocket and against the original, byte by byte. The format: README.md beside this
file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from support import vectors
from support.mariadb import HandlerSocketServer, OriginalServer, RowSocketServer
from support.raw import ConnectionClosed, RawConnection
from support.tree import ServerTree

CASES = vectors.read_all()

# The settings of `server:` lines that the original has too, under its own names.
ORIGINAL_SETTINGS = {
    "secret_read": "loose-handlersocket-plain-secret",
    "secret_write": "loose-handlersocket-plain-secret-wr",
}


class Runner:
    """Runs cases against one server, in the database `vectors`."""

    def __init__(self, server: HandlerSocketServer, *, is_original: bool) -> None:
        self.server = server
        self.is_original = is_original
        self.connection: RawConnection | None = None
        self.last_sent = b""

    def run(self, case: vectors.Case) -> None:
        """Run one case; raises AssertionError where an answer is not the expected one."""
        self.server.sql("DROP DATABASE IF EXISTS vectors")
        self.server.sql("CREATE DATABASE vectors")
        try:
            for step in case.steps:
                if not self.step(step):
                    return
            if self.connection is not None and self.last_sent.endswith(b"\n"):
                assert self.connection.ask(b"end") == b"2\t1\tcmd", "a reply that nobody expected"
        finally:
            self.disconnect()

    def step(self, step: vectors.Step) -> bool:
        """Do one step; False if the case is over."""
        match step:
            case vectors.Sql():
                self.server.sql(step.statement, database="vectors")
            case vectors.Connect():
                self.disconnect()
                self.connection = self.server.raw(step.port)
            case vectors.Send():
                self.last_sent = step.data
                self.connected().send(step.data)
            case vectors.Expect():
                return self.expect(step)
            case vectors.Closed():
                assert self.connected().closed(), "the connection is still open"
                self.disconnect()
            case vectors.Rows():
                rows = [
                    b"\t".join(map(text_of, row)) for row in self.server.sql(step.query, database="vectors")
                ]
                expected = step.original if self.is_original and step.original is not None else step.rows
                assert shown(rows) == shown(expected), step.query
        return True

    def expect(self, step: vectors.Expect) -> bool:
        if self.is_original and step.original_closes:
            with pytest.raises(ConnectionClosed):
                self.connected().line()
            return False
        expected = step.original if self.is_original and step.original is not None else step.line
        assert vectors.to_text(self.connected().line()) == vectors.to_text(expected), vectors.to_text(
            self.last_sent
        )[:500]
        return True

    def connected(self) -> RawConnection:
        assert self.connection is not None, "the case has no connect: line before this"
        return self.connection

    def disconnect(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def text_of(value: object) -> bytes:
    """An SQL value as the vectors write it."""
    return b"\0" if value is None else value if isinstance(value, bytes) else str(value).encode()


def shown(rows: list[bytes]) -> list[str]:
    return [vectors.to_text(row) for row in rows]


@contextlib.contextmanager
def rowsocket_settings(server: RowSocketServer, settings: dict[str, str]) -> Iterator[None]:
    """Change variables of the running server for one case."""
    before = {name: server.value(f"SELECT @@GLOBAL.rowsocket_{name}") for name in settings}
    try:
        for name, value in settings.items():
            server.sql(f"SET GLOBAL rowsocket_{name} = %s", [int(value) if value.isdigit() else value])
        yield
    finally:
        for name, value in before.items():
            server.sql(f"SET GLOBAL rowsocket_{name} = %s", [value])


@pytest.fixture(scope="session")
def original_with(
    tree: ServerTree, template: object, request: pytest.FixtureRequest
) -> Iterator[Callable[..., OriginalServer]]:
    """original_with(settings): an original server with these `server:` settings, started once per session."""
    servers: dict[str, OriginalServer] = {}
    with contextlib.ExitStack() as stack:

        def server_with(settings: dict[str, str]) -> OriginalServer:
            key = repr(settings)
            if key not in servers:
                options = {ORIGINAL_SETTINGS[name]: value for name, value in settings.items()}
                servers[key] = OriginalServer(tree, request.getfixturevalue("template"), options)
                stack.enter_context(servers[key])
            return servers[key]

        yield server_with


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rowsocket_answers(case: vectors.Case, server: RowSocketServer) -> None:
    with rowsocket_settings(server, case.server):
        Runner(server, is_original=False).run(case)


@pytest.mark.parametrize("case", [case for case in CASES if case.is_asked_of_original()], ids=str)
def test_original_answers_alike_or_as_documented(
    case: vectors.Case,
    tree: ServerTree,
    request: pytest.FixtureRequest,
    original_with: Callable[..., OriginalServer],
) -> None:
    if tree.series in case.original_skip_on:
        pytest.skip(f"the original of MariaDB {tree.series}: {case.original_skip_on[tree.series]}")
    original = original_with(case.server) if case.server else request.getfixturevalue("original")
    Runner(original, is_original=True).run(case)


def test_the_list_of_differences_is_fresh() -> None:
    assert vectors.DIFFERENCES.read_text(encoding="utf-8") == vectors.differences(), (
        "run: PYTHONPATH=tests python -m support.vectors"
    )
