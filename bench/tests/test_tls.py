# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench tls`: its arithmetic, the player inside TLS, and one small run of all of it."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from sys import stderr

import pytest
from bench.harness import tls
from bench.harness.environment import from_variables
from bench.harness.figures import Report
from bench.harness.peers.sysbench import Mark, steady_figures
from bench.harness.player import Tls
from bench.harness.progress import Progress
from bench.tests.lines import REQUESTS, SHORT, asked, right, serving
from bench.tests.small import environment_variables
from bench.traffic.protocol import WrongAnswer

from support.certificates import Authority

VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def context(authority: Authority) -> ssl.SSLContext:
    """A server's."""
    pair = authority.sign("server")
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(pair.certificate, pair.key)
    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_answered_inside_tls_is_counted(authority: Authority, version: str) -> None:
    with serving(right, context(authority)) as server:
        report = asked(server, replace(SHORT, tls=Tls(authority.file, version)))
    assert report["requests"] > 0
    assert report["requests_in_all"] == len(server.lines())
    assert report["encryption"].startswith(f"{version} ")
    assert report["bytes_sent_per_request"] == pytest.approx(len(b"1\t=\t1\t00000001\n"), rel=0.1)


def test_many_requests_and_large_replies_travel_inside_tls(authority: Authority) -> None:
    """More than a record holds, and more than a socket takes at once."""
    with serving(right, context(authority)) as server:
        report = asked(server, replace(REQUESTS, requests=5000, in_flight=2000, tls=Tls(authority.file)))
    assert report["requests_in_all"] == 5000


def test_a_wrong_answer_inside_tls_ends_the_run(authority: Authority) -> None:
    def wrong(line: bytes) -> bytes:
        return right(line).replace(b"example.com", b"example.org")

    with serving(wrong, context(authority)) as server, pytest.raises(WrongAnswer, match="wrong answer"):
        asked(server, replace(REQUESTS, tls=Tls(authority.file)))


def test_an_index_that_cannot_be_opened_inside_tls_is_told(authority: Authority) -> None:
    with (
        serving(lambda _: b"2\topen_table\n", context(authority)) as server,
        pytest.raises(WrongAnswer, match=r"opening was answered .*open_table"),
    ):
        asked(server, replace(SHORT, tls=Tls(authority.file)))


def test_a_server_that_closes_inside_tls_is_told(authority: Authority) -> None:
    def answer(line: bytes) -> bytes:
        return right(line) if line.startswith(b"P") else b""

    with (
        serving(answer, context(authority)) as server,
        pytest.raises(WrongAnswer, match=r"closed the connection|reset|unexpected eof"),
    ):
        asked(server, replace(SHORT, tls=Tls(authority.file)))


def test_a_server_without_tls_is_told(authority: Authority) -> None:
    with serving(lambda _: b"2\tbad request\n") as server, pytest.raises(WrongAnswer, match="handshake"):
        asked(server, replace(SHORT, tls=Tls(authority.file)))


def test_a_server_that_somebody_else_vouches_for_is_told(authority: Authority, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    with serving(right, context(stranger)) as server, pytest.raises(WrongAnswer, match="certificate"):
        asked(server, replace(SHORT, tls=Tls(authority.file)))


def test_sysbench_is_measured_between_its_first_report_and_its_last() -> None:
    marks = [Mark(1.0, 500_000.0, 1.0), Mark(2.0, 1_000_000.0, 50_000.0), Mark(3.5, 2_500_000.0, 100_000.0)]
    figures = steady_figures(marks)
    assert figures["requests"] == 50_000 + 150_000
    assert figures["seconds"] == 2.5
    assert figures["server_busy"] == pytest.approx(0.8)
    assert figures["server_cpu_us_per_request"] == pytest.approx(10.0)


def measured(name: str, plain_us: Sequence[float], tls_us: Sequence[float]) -> tls.Measured:
    def reports(values: Sequence[float]) -> list[Report]:
        return [{tls.FIGURE: value, "server_busy": 0.99} for value in values]

    made = tls.Measured(name, (tls.PLAIN, tls.TLS_1_3), lambda _: {})
    made.reports = {tls.PLAIN: reports(plain_us), tls.TLS_1_3: reports(tls_us)}
    return made


def test_what_tls_costs_more_is_taken_within_each_round() -> None:
    """A slow round is slow both ways."""
    text = tls.table([measured(tls.DEPTH_1, [6.0, 9.0, 6.0], [8.0, 11.0, 8.1])])
    assert "| 6.00 | TLSv1.3 | 8.10 | 2.00 | 2.00 to 2.10 |" in text
    assert f"- {tls.DEPTH_1}: 2.00 µs more with TLSv1.3 (goal: at most 2.5): met." in text


def test_a_goal_that_is_not_met_is_told() -> None:
    assert "NOT MET" in tls.table([measured(tls.DEPTH_16, [2.0], [2.4])])


def test_a_run_measures_every_client_plain_and_inside_tls(tmp_path: Path) -> None:
    """No speed is asserted. The player checks the answers, and sysbench's sessions are counted."""
    environment = from_variables(environment_variables())
    found = tls.run(
        environment, tmp_path, Progress(stderr, tls.MEASUREMENTS), rounds=1, seconds=0.2, rows_max=8000
    )
    assert [one.name for one in found] == [tls.DEPTH_1, tls.DEPTH_16, *tls.SESSIONS]
    for one in found:
        assert [len(one.reports[way]) for way in one.ways] == [1] * len(one.ways)
    assert found[0].reports[tls.TLS_1_2][0]["encryption"].startswith("TLSv1.2 ")
    assert (tmp_path / "tls.jsonl").read_text().count('"kind": "run"') == tls.MEASUREMENTS
    assert all(name in tls.table(found) for name in tls.SESSIONS)
