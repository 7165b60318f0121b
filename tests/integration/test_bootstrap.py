# SPDX-License-Identifier: GPL-2.0-only
"""A server that makes its own tables (`--bootstrap`, as mariadb-install-db starts it) reads the same
configuration as the one that serves, often beside it. RowSocket loads there and takes no port.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mariadb import STOP_TIMEOUT_S, WAIT_TIMEOUT_S, RowSocketServer
from support.ports import free_ports
from support.tree import ServerTree

LOADED = "SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = 'rowsocket'"
CLIENTS = "SELECT COUNT(*) FROM information_schema.rowsocket_connections"


class Bootstrapped:
    """A server that executes what is written to it."""

    def __init__(self, server: RowSocketServer) -> None:
        self.server = server
        self.log = server.folder / "output.log"
        options = [
            f"--{name}" if value is None else f"--{name}={value}" for name, value in server.options.items()
        ]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [str(server.tree.mariadbd), *server.tree.arguments(), *options, "--bootstrap"],
                env=server.environment(),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
            )

    def execute(self, statement: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(statement.encode() + b";\n")
        self.process.stdin.flush()

    def answer(self, query: str) -> str:
        """What a query tells. It is told in a file, since nothing else comes out of such a server."""
        file = self.server.folder / f"answer-{time.monotonic_ns()}"
        self.execute(f"{query} INTO OUTFILE '{file}'")
        self.execute(f"SELECT 1 INTO OUTFILE '{file}.whole'")
        self.wait_for(Path(f"{file}.whole"))
        return file.read_text().strip()

    def wait_for(self, file: Path) -> None:
        deadline = time.monotonic() + WAIT_TIMEOUT_S
        while not file.exists():
            assert self.process.poll() is None and time.monotonic() < deadline, self.text()
            time.sleep(0.01)

    def end(self) -> int:
        """Its exit code, behind the last statement."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(STOP_TIMEOUT_S)

    def text(self) -> str:
        """What it said, in its log and elsewhere."""
        logs = [self.log, self.server.error_log]
        return "".join(log.read_text(errors="replace") for log in logs if log.exists())


@pytest.fixture
def ports() -> list[int]:
    return free_ports(2)


@pytest.fixture
def bootstrapped(tree: ServerTree, template: Path, ports: list[int]) -> Iterator[Bootstrapped]:
    options = {"loose-rowsocket-port-read": ports[0], "loose-rowsocket-port-write": ports[1]}
    server = RowSocketServer(tree, template, options)
    running = Bootstrapped(server)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.process.kill()
        running.process.wait()
        server.remove()


def is_taken(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_no_port_is_opened(bootstrapped: Bootstrapped, ports: list[int]) -> None:
    assert bootstrapped.answer(LOADED) == "ACTIVE"
    assert [is_taken(port) for port in ports] == [False, False]
    assert bootstrapped.end() == 0, bootstrapped.text()


def test_what_statements_ask_of_the_plugin_is_empty(bootstrapped: Bootstrapped) -> None:
    bootstrapped.execute("SHOW GLOBAL STATUS LIKE 'Rowsocket%'")
    bootstrapped.execute("SET GLOBAL rowsocket_idle_timeout = 10")
    assert bootstrapped.answer(CLIENTS) == "0"
    assert bootstrapped.end() == 0, bootstrapped.text()


def test_a_port_in_use_is_no_error(bootstrapped: Bootstrapped, ports: list[int]) -> None:
    with socket.create_server(("127.0.0.1", ports[0])):
        bootstrapped.answer(LOADED)
        assert bootstrapped.end() == 0
    assert "ERROR" not in bootstrapped.text()
