# SPDX-License-Identifier: GPL-2.0-only
"""Programs that Debian ships with Redis: redis-cli, typed into and with --pipe, and redis-benchmark."""

from __future__ import annotations

import subprocess

from support.resp import RespServer, encoded
from support.tree import peer_program


def run(name: str, *arguments: str, typed: bytes = b"") -> str:
    done = subprocess.run(
        [*peer_program(name), *arguments], input=typed, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_redis_cli_is_typed_into(emptied: RespServer) -> None:
    typed = b"SET a 1\nINCR a\nHSET shop.user:1 name 'Ann B'\nHGETALL shop.user:1\nLPUSH a b\n"
    said = run("redis-cli", "-p", str(emptied.resp_port), typed=typed)
    assert said.splitlines() == ["OK", "2", "1", "id", "1", "name", "Ann B",
                                 "ERR unknown command 'LPUSH': there are no lists here", ""]  # fmt: skip


def test_redis_cli_speaks_resp3(emptied: RespServer) -> None:
    emptied.sql("INSERT INTO shop.user (id, name) VALUES (1, 'Ann')")
    said = run("redis-cli", "-p", str(emptied.resp_port), "-3", "--no-raw", "HGETALL", "shop.user:1")
    assert said.splitlines() == ['1# "id" => "1"', '2# "name" => "Ann"']


def test_redis_cli_pipes(emptied: RespServer) -> None:
    typed = b"".join(encoded("SET", f"k{number}", number) for number in range(20_000))
    said = run("redis-cli", "-p", str(emptied.resp_port), "--pipe", typed=typed)
    assert "errors: 0, replies: 20000" in said
    assert emptied.value("SELECT COUNT(*) FROM app.item") == 20_000


def benchmark(server: RespServer, *arguments: str) -> int:
    """Run redis-benchmark, which ends with the first error; how many figures it tells."""
    said = run("redis-benchmark", "-p", str(server.resp_port), "-q", "-n", "2000", *arguments)
    return said.count("requests per second")


def test_redis_benchmark_finds_what_it_needs(emptied: RespServer) -> None:
    """Only that it runs to its end: `bench` measures."""
    many = ["-c", "10", "-P", "16", "-r", "100"]
    assert benchmark(emptied, *many, "-t", "ping,set,get,incr,mset") == 6
    emptied.sql("INSERT INTO shop.user (id, name) SELECT seq, 'Ann' FROM app.seq_0_to_99")
    assert benchmark(emptied, *many, "HGET", "shop.user:__rand_int__", "name") == 1
    assert benchmark(emptied, *many, "HSET", "shop.user:__rand_int__", "visits", "1") == 1
