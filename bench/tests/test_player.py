# SPDX-License-Identifier: GPL-2.0-only
"""Whole runs of bench/player against a server that answers every line as the test says."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from bench.harness.environment import from_variables
from bench.harness.player import Load, latency_figures, play, process_facts
from bench.tests.lines import REQUESTS, SHORT, Answer, asked, right, serving
from bench.tests.small import environment_variables
from bench.traffic import PROTOCOLS, workloads
from bench.traffic.protocol import WrongAnswer


def test_what_was_answered_rightly_is_counted() -> None:
    with serving(right) as server:
        report = asked(server, SHORT)
    assert report["requests"] > 0
    assert report["keys_per_s"] == report["rows_per_s"] == report["requests_per_s"]
    assert report["requests_in_all"] == len(server.lines())
    assert report["writes_in_all"] == 0
    assert report["bytes_sent_per_request"] == pytest.approx(len(b"1\t=\t1\t00000001\n"), rel=0.1)


def test_a_run_of_so_many_requests_ends_after_them() -> None:
    with serving(right) as server:
        assert asked(server, REQUESTS)["requests_in_all"] == 300
    assert len(server.lines()) == 300


def test_as_many_requests_are_under_way_as_asked_for() -> None:
    """The first ones come together, and later ones never more than that."""
    with serving(right) as server:
        asked(server, replace(REQUESTS, connections=1, in_flight=3))
    sizes = [len(batch) for batch in server.batches if not batch[0].startswith(b"P")]
    assert sizes[0] == max(sizes) == 3


def test_new_keys_are_each_used_once() -> None:
    with serving(right) as server:
        report = asked(server, replace(REQUESTS, first_key=5000), "insert")
    keys = sorted(int(line.split(b"\t")[3]) for line in server.lines())
    assert keys == list(range(5000, 5300))
    assert report["next_key"] == 5300
    assert report["writes_in_all"] == 300


def test_keys_follow_from_the_seed() -> None:
    def keys(seed: int) -> list[bytes]:
        with serving(right) as server:
            asked(server, replace(REQUESTS, connections=1, seed=seed))
            return server.lines()

    assert keys(1) == keys(1) != keys(2)


def wrong_answer(answer: Answer) -> str:
    """What the player says of a server that is wrong from the tenth request on."""
    count = 0

    def sometimes(line: bytes) -> bytes:
        nonlocal count
        count += 1
        return right(line) if count < 10 else answer(line)

    with serving(sometimes) as server, pytest.raises(WrongAnswer) as failure:
        asked(server, REQUESTS)
    return str(failure.value)


def test_a_wrong_answer_ends_the_run_and_is_shown() -> None:
    said = wrong_answer(lambda line: right(line).replace(b"example.com", b"example.org"))
    assert "a run: wrong answer" in said
    assert "example.org" in said and "example.com\\t2026" in said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _: b"0\t3\n", "wrong answer"),
        (lambda _: b"2\tstmtnum\n", "wrong answer"),
        (lambda line: right(line)[:-1] + b"\t\n", "wrong answer"),
        (lambda line: right(line) * 5, "wrong answer|without a request"),
        (lambda _: b"", "closed the connection|reset|Broken pipe"),
    ],
    ids=["nothing found", "an error", "too much", "twice", "closed"],
)
def test_whatever_else_comes_ends_the_run(answer: Answer, said: str) -> None:
    assert any(word in wrong_answer(answer) for word in said.split("|"))


def test_a_server_that_says_nothing_more_is_told() -> None:
    silent = threading.Event()

    def answer(line: bytes) -> bytes:
        if not line.startswith(b"P"):
            silent.wait(20.0)
        return right(line)

    with serving(answer) as server, pytest.raises(WrongAnswer, match="no answer for too long"):
        try:
            asked(server, replace(SHORT, connections=1, silence_s=0.2))
        finally:
            silent.set()


def test_a_server_that_is_not_there_is_told() -> None:
    with serving(right) as server:
        pass
    with pytest.raises(WrongAnswer, match="refused"):
        asked(server, SHORT)


def test_an_index_that_cannot_be_opened_is_told() -> None:
    with serving(lambda _: b"2\topen_table\n") as server, pytest.raises(WrongAnswer, match="open_table"):
        asked(server, SHORT)


def test_an_open_loop_asks_only_what_is_due() -> None:
    """500 requests per second for 0.02 and 0.4 s; a closed loop would ask thousands."""
    with serving(right) as server:
        report = asked(server, replace(SHORT, rate_per_s=500, seconds=0.4))
    assert report["loop"] == "open"
    assert 205 <= report["requests_in_all"] < 500


def test_an_open_loop_counts_the_wait_of_what_a_stall_held_up() -> None:
    """One answer comes 0.2 s late; what was due meanwhile waited as well, though it was sent later."""
    count = 0

    def answer(line: bytes) -> bytes:
        nonlocal count
        count += 1
        if count == 50:
            time.sleep(0.2)  # the stall itself, not a wait for anything
        return right(line)

    with serving(answer) as server:
        report = asked(server, Load(connections=1, in_flight=1, rate_per_s=200, warm_up_s=0.0, seconds=0.5))
    assert report["max_us"] > 190_000
    assert sum(count for up_to_us, count in report["latency_buckets"] if up_to_us > 90_000) > 10
    assert report["backlog_max"] > 10


def test_percentiles_are_read_off_the_buckets() -> None:
    said = {
        "latency_buckets_ns": [[1000, 50], [2000, 49], [9000, 1]],
        "latency_sum_ns": 300_000,
        "latency_max_ns": 8999,
    }
    figures = latency_figures(said)
    assert (figures["p50_us"], figures["p90_us"], figures["p99_us"], figures["p999_us"]) == (
        1.0,
        2.0,
        2.0,
        9.0,
    )
    assert (figures["mean_us"], figures["max_us"]) == (3.0, 8.999)


THREE_THREADS = """
import sys, threading
for _ in range(3):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_processs_threads_and_memory_are_told() -> None:
    """Of a process of its own: the threads of earlier tests may still be on their way out of this one."""
    with subprocess.Popen(
        [sys.executable, "-c", THREE_THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        facts = process_facts(process.pid)
        process.communicate()
    assert facts["threads"] == 1 + 3
    assert facts["peak_bytes"] > 1 << 20
    assert facts["switches_voluntary"] > 0


def test_the_cpu_time_of_the_servers_process_is_told() -> None:
    with serving(right) as server:
        report = asked(server, replace(SHORT, server_pid=os.getpid()))
    assert report["server_cpu_us_per_request"] > 0
    parts = report["server_cpu_user_us_per_request"] + report["server_cpu_system_us_per_request"]
    assert parts == pytest.approx(report["server_cpu_us_per_request"])


def test_the_echo_server_answers_every_line_alike() -> None:
    """And is asked with the requests of the workload."""
    protocol = PROTOCOLS["floor"](workloads.point(1000))
    environment = from_variables(environment_variables())
    process = subprocess.Popen([environment.echo_server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(protocol.reply(protocol.workload.requests[0]).encode("latin-1"))
        process.stdin.close()
        port = int(process.stdout.readline())
        report = play(environment.player, protocol, ("127.0.0.1", port), SHORT)
        assert report["bytes_received_per_request"] == pytest.approx(len(right(b"1\t=\t1\t1\n")), rel=0.1)
    finally:
        process.kill()
        process.wait()


def test_the_player_alone_says_what_is_wrong_with_its_job(tmp_path: Path) -> None:
    player = from_variables(environment_variables()).player
    done = subprocess.run([player], input=b"{}", capture_output=True, cwd=tmp_path)
    assert done.returncode == 1
    assert b'"failure"' in done.stdout and b"connections" in done.stdout
