# SPDX-License-Identifier: MIT
"""What the command makes of a SQL server that does not speak."""

from __future__ import annotations

import pytest
from pymysql.err import OperationalError
from typer.testing import CliRunner

from fake_server import FakeServer, Peer
from rowsocket.cli import catalog
from rowsocket.cli.app import app
from rowsocket.cli.output import ExitCode
from rowsocket.cli.state import State


@pytest.mark.parametrize("words", [["get", "user", "1"], ["warm", "user"], ["doctor"], ["top"], ["metrics"]])
def test_a_server_without_a_greeting_is_no_answer(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(catalog, "GREETING_TIMEOUT_S", 0.1)
    with FakeServer(Peer.until_closed) as server:
        sql = f"mysql://app:hush@127.0.0.1:{server.port}"
        done = CliRunner().invoke(
            app, ["--url", "rowsocket://127.0.0.1/shop", "--sql", sql, *words], obj=State()
        )
    assert (done.exit_code, "timed out" in done.output) == (ExitCode.NO_ANSWER, True), done.output


@pytest.mark.parametrize(
    "query", ["tls=1", "tls_ca=ca.pem", "socket=/run/sql", "unix_socket=", "unix_socket=/a&tls=", "hush"]
)
def test_what_a_url_of_sql_can_not_say_is_refused(query: str) -> None:
    with pytest.raises(ValueError, match="no TLS to SQL") as raised:
        catalog.sql_connection(f"mysql://app@127.0.0.1:1/?{query}")
    assert "hush" not in str(raised.value)


def test_a_host_beside_a_socket_is_refused_for_it_would_not_be_asked() -> None:
    with pytest.raises(ValueError, match="not both"):
        catalog.sql_connection("mysql://app@192.0.2.1/?unix_socket=/run/sql")


@pytest.mark.parametrize("host", ["", "localhost"])
def test_this_machine_may_stand_beside_a_socket(host: str) -> None:
    with pytest.raises(OperationalError, match=r"socket '/nowhere/sql' .*No such file"):
        catalog.sql_connection(f"mysql://app@{host}/?unix_socket=/nowhere/sql")
