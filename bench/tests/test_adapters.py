# SPDX-License-Identifier: GPL-2.0-only
"""The harness's peers, against the real servers: right answers pass, and a wrong one fails the run.

Nothing of the speeds is asserted. A peer whose program is not on this machine is skipped with the reason.
"""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from bench.harness import measuring, peers, runner, scenario
from bench.harness.peers.base import Peer, PlayedPeer
from bench.harness.player import play
from bench.harness.scenario import Case, Scenario
from bench.harness.servers import GENERATOR_CPU, SERVER_CPU, Servers
from bench.tests.small import SHORT, answered, one_row, small
from bench.traffic.protocol import WrongAnswer

ASKED = [(one, peer) for one in scenario.load() for peer in one.peers]
MUST_TELL = (
    "requests_per_s",
    "keys_per_s",
    "p50_us",
    "p99_us",
    "p999_us",
    "max_us",
    "bytes_sent_per_request",
)
MUST_TELL_OF_SERVER = (
    "server_cpu_us_per_request",
    "server_cpu_user_us_per_request",
    "server_cpu_system_us_per_request",
    "server_peak_bytes",
)

WRONG_SQL = "UPDATE {database}.user SET user_name = 'somebody' WHERE user_id = 1"
WRONG_WORDS = {"memcached": b"set user:00000001 0 0 5\r\nwrong\r\n", "redis": b"SET user:00000001 wrong\r\n"}
MISSING_WORDS = {"memcached": b"delete user:00000001\r\n", "redis": b"DEL user:00000001\r\n"}


def peer_for(servers: Servers, name: str, case: Case) -> Peer:
    """The peer; skips if it cannot take part."""
    peer = peers.make(servers)[name]
    reason = peer.cannot(case)
    if reason:
        pytest.skip(f"{name}: {reason}")
    return peer


def say(servers: Servers, name: str, case: Case, words: bytes) -> None:
    """Send a command to a key-value store that holds the case's rows, and wait for its answer."""
    server = peer_for(servers, name, case).server(case)
    assert server is not None
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(words)
        assert connection.recv(100)


def spoil(servers: Servers, name: str, case: Case) -> None:
    """Change one row of a database behind the generator's back."""
    server = peer_for(servers, name, case).server(case)
    assert server is not None and server.sql is not None
    server.sql.sql(WRONG_SQL.format(database=case.database))


@pytest.mark.parametrize(("one", "name"), ASKED, ids=[f"{one.name}-{peer}" for one, peer in ASKED])
def test_every_peer_answers_every_scenario_rightly(servers: Servers, one: Scenario, name: str) -> None:
    """The generator compares each reply; whatever a scenario names must be asked and answered."""
    case = runner.as_asked(one, small(one.cases[-1]), name)
    report = answered(peer_for(servers, name, case), case)
    assert report["server_cpu_us_per_request"] > 0
    assert report.get("errors", 0) == 0


@pytest.mark.parametrize(
    "name", ["rowsocket", "original", "sql-prepared", "sql-text", "memcached", "redis", "echo"]
)
def test_a_run_tells_all_its_figures(servers: Servers, name: str) -> None:
    """Those that a reader of the report is promised, of each peer that the generator asks."""
    case = small(Case("point"))
    report = answered(peer_for(servers, name, case), case)
    assert [figure for figure in (*MUST_TELL, *MUST_TELL_OF_SERVER) if report.get(figure) is None] == []


@pytest.mark.parametrize("name", ["rowsocket", "original", "sql-prepared", "sql-text"])
def test_writes_tell_their_fsyncs(servers: Servers, name: str) -> None:
    """By row and by commit, of which one may hold many rows."""
    case = small(Case("insert", workload="insert"))
    report = answered(peer_for(servers, name, case), case)
    assert report["fsyncs_per_commit"] == pytest.approx(report["fsyncs_per_row"] * report["rows_per_commit"])


@pytest.mark.parametrize("name", ["memcached", "redis"])
@pytest.mark.parametrize("words", [WRONG_WORDS, MISSING_WORDS], ids=["wrong", "missing"])
def test_a_wrong_or_missing_value_fails_the_run(servers: Servers, name: str, words: dict[str, bytes]) -> None:
    """The run, and not only the request."""
    case = one_row()
    say(servers, name, case, words[name])
    with pytest.raises(WrongAnswer, match="wrong answer"):
        peer_for(servers, name, case).measure(case, SHORT)
    forget_fill(servers, name, case)
    assert answered(peer_for(servers, name, case), case)["errors"] == 0


def forget_fill(servers: Servers, name: str, case: Case) -> None:
    """Let the peer fill its store anew."""
    server = peer_for(servers, name, case).server(case)
    assert server is not None
    server.warmed.clear()


@pytest.mark.parametrize("name", ["original", "sql-text", "sql-prepared", "rowsocket"])
def test_a_wrong_row_fails_the_run(servers: Servers, name: str) -> None:
    """Over the line protocol as over SQL."""
    case = one_row()
    spoil(servers, name, case)
    with pytest.raises(WrongAnswer, match="wrong answer"):
        peer_for(servers, name, case).measure(case, SHORT)


def test_the_floor_sends_as_many_bytes_as_a_server(servers: Servers) -> None:
    """Less, and it would be no floor but another load."""
    case = small(Case("point"))
    sent = {name: answered(peer_for(servers, name, case), case) for name in ("echo", "rowsocket")}
    figure = "bytes_received_per_request"
    assert sent["echo"][figure] == pytest.approx(sent["rowsocket"][figure], rel=0.05)


@pytest.mark.parametrize("name", ["rowsocket", "original", "memcached", "redis", "echo"])
def test_a_server_stays_on_its_core(servers: Servers, name: str) -> None:
    """All of its threads, those included that its connections started."""
    case = small(Case("point"))
    server = peer_for(servers, name, case).server(case)
    assert server is not None
    cores = [os.sched_getaffinity(int(task.name)) for task in Path(f"/proc/{server.pid}/task").iterdir()]
    assert set().union(*cores) == {SERVER_CPU}


def test_the_player_stays_on_another_core(servers: Servers) -> None:
    """The harness names the core, and the player refuses to run where it cannot have it."""
    case = small(Case("point"))
    peer = peer_for(servers, "echo", case)
    assert isinstance(peer, PlayedPeer)
    target = peer.target(case)
    load = measuring.load_of(target, case)
    assert load.cpu == GENERATOR_CPU != SERVER_CPU
    with pytest.raises(WrongAnswer, match="cannot run on core 1000"):
        play(target.player, target.protocol, target.address, replace(load, cpu=1000))
