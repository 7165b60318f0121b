# SPDX-License-Identifier: GPL-2.0-only
"""`rowsocket warm`, `doctor` and `bench` on real servers, and what the doctor makes of facts."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rowsocket.cli import doctor, storage
from rowsocket.cli.doctor import Facts, Verdict
from rowsocket.cli.storage import Storage
from rowsocket.cli.warming import Pace
from support.accounts import PASSWORD, account
from support.command_page import Run, blocks, runner, sql_url
from support.mariadb import RowSocketServer, Start

ROWS = 20_500
GIB = 2**30


def test_every_command_of_the_page_runs(shop: RowSocketServer, run: Run) -> None:
    run("put", "user", "id=1", "name=Ada")
    commands = [line.removeprefix("$ rowsocket ") for line in "".join(blocks("text")).splitlines()]
    verbs = {"latency", "top", "metrics", "warm", "doctor", "bench"}
    assert {command.split()[0] for command in commands} == verbs
    for command in commands:
        done = run(*shlex.split(command), ROWSOCKET_SQL=sql_url(shop))
        assert (done.returncode, done.stderr) == (0, ""), command


@pytest.mark.parametrize("verb", [["warm", "user"], ["doctor"], ["bench", "user"], ["top"], ["metrics"]])
def test_what_needs_sql_says_so(run: Run, verb: list[str]) -> None:
    done = run(*verb)
    assert (done.returncode, "--sql" in done.stderr) == (2, True)


# ── warm ────────────────────────────────────────────────────────────────────────────────────────────────────


def fill(
    server: RowSocketServer, table: str = "t", *, keys: str = "", behind: str = "", rows: int = ROWS
) -> None:
    """A table of `w` with indexes of all kinds, of which nothing is in memory: the server has just begun."""
    server.sql("CREATE DATABASE IF NOT EXISTS w")
    server.sql(
        f"CREATE TABLE w.{table} (a INT NOT NULL, b VARCHAR(20), c INT, d INT UNSIGNED, e CHAR(200) NOT NULL,"
        f" PRIMARY KEY (a), KEY few (b), KEY two (c, b) {keys}) {behind}"
    )
    server.sql(
        f"INSERT INTO w.{table} SELECT CAST(seq AS SIGNED) - {rows // 2},"
        " IF(seq MOD 7 = 0, NULL, CONCAT('x', seq MOD 3)), IF(seq MOD 3 = 0, NULL, seq MOD 4),"
        f" IF(seq MOD 2, seq, NULL), 'e' FROM w.seq_1_to_{rows}"
    )
    server.sql(f"ANALYZE TABLE w.{table}")
    server.stop()
    server.start()


@pytest.fixture
def cold(start: Start) -> RowSocketServer:
    """A server that has what it is asked for in memory, and nothing else."""
    return start(
        RowSocketServer,
        {"innodb-buffer-pool-load-at-startup": "OFF", "innodb-buffer-pool-dump-at-shutdown": "OFF"},
    )


def warmed(server: RowSocketServer, *words: str) -> list[dict[str, Any]]:
    """What `rowsocket warm` says of each index."""
    done = runner(server, "w", ROWSOCKET_SQL=sql_url(server))("warm", *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def pages_read(server: RowSocketServer) -> int:
    """From the disk, since the server began."""
    return sum(
        int(value)
        for name, value in server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read%'")
        if name in ("Innodb_buffer_pool_reads", "Innodb_buffer_pool_read_ahead")
    )


@pytest.mark.parametrize("index", ["PRIMARY", "few", "two", "apart"])
def test_what_was_warmed_needs_no_disk(cold: RowSocketServer, index: str) -> None:
    fill(cold, keys=", UNIQUE apart (d)")
    [one] = warmed(cold, "t", "--index", index, "--rate", "0")
    assert (one["table"], one["index"]) == ("w.t", index)
    assert one["rows_read"] >= ROWS
    assert one["pages_in"] > 0.5 * one["pages"]
    before = pages_read(cold)
    condition = "e = 'e'" if index == "PRIMARY" else "TRUE"  # e is in the primary key's pages only
    [[count]] = cold.sql(f"SELECT COUNT(*) FROM w.t FORCE INDEX ({index}) WHERE {condition}")
    assert count == ROWS
    assert pages_read(cold) == before


def test_the_name_of_an_index_may_be_written_small(cold: RowSocketServer) -> None:
    fill(cold)
    assert [one["index"] for one in warmed(cold, "t", "--index", "primary", "--index", "Few")] == [
        "PRIMARY",
        "few",
    ]


def test_without_names_all_indexes_of_all_tables_are_warmed(cold: RowSocketServer) -> None:
    fill(cold)
    fill(cold, "parted", behind="PARTITION BY HASH (a) PARTITIONS 3")
    said = warmed(cold, "t", "w.parted", "--rate", "1000000")
    assert [(one["table"], one["index"]) for one in said] == [
        (table, index) for table in ("w.t", "w.parted") for index in ("PRIMARY", "few", "two")
    ]
    assert all(one["pages_in"] > 0.5 * one["pages"] for one in said)


@pytest.fixture
def small(start: Start) -> RowSocketServer:
    """A server with more data than memory."""
    small = start(RowSocketServer, {"innodb-buffer-pool-size": "6M"})
    fill(small, rows=4 * ROWS)
    return small


def test_a_pool_that_is_too_small_is_told(small: RowSocketServer) -> None:
    done = runner(small, "w", ROWSOCKET_SQL=sql_url(small))("warm", "t", "--index", "PRIMARY", "--rate", "0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The buffer pool is too small" in done.stdout


def test_an_account_that_may_not_look_warms_all_the_same(shop: RowSocketServer, run: Run) -> None:
    run("put", "user", "id=1", "name=Ada")
    with account(shop, "app@localhost", grants=["SELECT ON shop.*"]):
        url = f"mysql://app:{PASSWORD}@/?unix_socket={shop.socket}".replace(" ", "%20")
        done = run("warm", "user", ROWSOCKET_SQL=url)
    assert (done.returncode, done.stderr) == (0, "")
    assert "not known" in done.stdout


def test_a_name_that_is_wrong_is_told(shop: RowSocketServer, run: Run) -> None:
    for words, says in ((["usr"], "no table shop.usr"), (["user", "-i", "by_nme"], "has no index 'by_nme'")):
        done = run("warm", *words, ROWSOCKET_SQL=sql_url(shop))
        assert (done.returncode, says in done.stderr) == (3, True), done.stderr


@pytest.mark.parametrize(
    "definition",
    [
        "TABLE shop.odd (a INT)",
        "TABLE shop.odd (a INT PRIMARY KEY) ENGINE=MEMORY",
        "VIEW shop.odd AS SELECT 1",
    ],
)
def test_what_has_no_index_to_be_walked_is_told(shop: RowSocketServer, run: Run, definition: str) -> None:
    shop.sql(f"CREATE {definition}")
    done = run("warm", "odd", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode, "shop.odd has no index" in done.stderr) == (3, True), done.stderr


def test_the_pages_of_names_with_backticks_are_found(shop: RowSocketServer, run: Run) -> None:
    shop.sql("CREATE TABLE shop.`o``dd` (a INT PRIMARY KEY)")
    shop.sql("INSERT INTO shop.`o``dd` VALUES (1)")
    done = run("warm", "`o``dd`", "--json", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["pages_in"] > 0


class Clock:
    """Time passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def test_the_rate_is_kept_and_lost_time_is_not_caught_up_with() -> None:
    clock = Clock()
    pace = Pace(5000, clock, clock.sleep)
    assert pace.step_rows == 500
    for _ in range(20):
        pace.after(500)
    assert clock.now_s == pytest.approx(102.0, abs=0.11)
    clock.now_s += 60  # a slow disk
    for _ in range(20):
        pace.after(500)
    assert clock.now_s == pytest.approx(164.0, abs=0.21)


def test_a_rate_of_nothing_is_any_rate() -> None:
    clock = Clock()
    Pace(0, clock, clock.sleep).after(10**9)
    assert clock.now_s == 100.0


# ── doctor ──────────────────────────────────────────────────────────────────────────────────────────────────

WELL = {
    "rowsocket_port_read": "9998",
    "innodb_buffer_pool_size": str(8 * GIB),
    "innodb_adaptive_hash_index": "ON",
    "innodb_flush_log_at_trx_commit": "1",
    "log_bin": "ON",
    "sync_binlog": "1",
    "open_files_limit": "65536",
    "rowsocket_max_connections": "20000",
    "max_connections": "151",
    "table_open_cache": "2000",
}
BUSY = {"Innodb_buffer_pool_read_requests": 1e8, "Innodb_buffer_pool_reads": 1e4}
FLASH = Storage({1: 9000.0, 2: 17000.0, 4: 30000.0, 8: 33000.0, 16: 34000.0}, 4000.0)
DISK = Storage({1: 120.0, 2: 160.0, 4: 170.0}, 90.0)


def verdicts(facts: Facts) -> dict[str, Verdict]:
    """By subject."""
    return {one.subject: one.verdict for one in doctor.judge(facts)}


def facts(
    data_bytes: int | None = GIB,
    status: dict[str, float] | None = None,
    disk: Storage | None = FLASH,
    **more: Any,
) -> Facts:
    """Of a server that is well, but for what is said."""
    machine = {name: more.pop(name) for name in ("memory_bytes", "numa_nodes") if name in more}
    return Facts({**WELL, **more}, BUSY if status is None else status, data_bytes, storage=disk, **machine)


def test_a_server_that_is_well_is_told_so() -> None:
    assert set(verdicts(facts(memory_bytes=16 * GIB, numa_nodes=1)).values()) == {Verdict.GOOD}


@pytest.mark.parametrize(
    ("changed", "subject", "verdict"),
    [
        ({"data_bytes": 20 * GIB}, "memory", Verdict.LOOK),
        ({"data_bytes": None}, "memory", Verdict.LOOK),
        ({"data_bytes": None, "disk": DISK}, "random reads", Verdict.LOOK),
        ({"data_bytes": None, "memory_bytes": 64 * GIB}, "machine", Verdict.GOOD),
        ({"status": {**BUSY, "Innodb_buffer_pool_reads": 5e5}}, "hit rate", Verdict.LOOK),
        ({"status": {**BUSY, "Innodb_buffer_pool_reads": 5e6}}, "hit rate", Verdict.BAD),
        ({"status": {}}, "hit rate", Verdict.LOOK),
        ({"disk": None}, "storage", Verdict.LOOK),
        ({"disk": DISK}, "random reads", Verdict.LOOK),
        ({"disk": DISK, "data_bytes": 20 * GIB}, "random reads", Verdict.BAD),
        ({"disk": DISK}, "fsync", Verdict.LOOK),
        ({"memory_bytes": 8 * GIB}, "machine", Verdict.BAD),
        ({"memory_bytes": 64 * GIB, "data_bytes": 20 * GIB}, "machine", Verdict.LOOK),
        ({"memory_bytes": 64 * GIB}, "machine", Verdict.GOOD),
        ({"innodb_adaptive_hash_index": "OFF"}, "hash index", Verdict.LOOK),
        ({"innodb_flush_log_at_trx_commit": "2"}, "durability", Verdict.LOOK),
        ({"sync_binlog": "0"}, "durability", Verdict.LOOK),
        ({"sync_binlog": "0", "log_bin": "OFF"}, "durability", Verdict.GOOD),
        ({"open_files_limit": "1024"}, "files", Verdict.LOOK),
        ({"numa_nodes": 2}, "NUMA", Verdict.LOOK),
    ],
)
def test_what_is_not_well_is_told(changed: dict[str, Any], subject: str, verdict: Verdict) -> None:
    assert verdicts(facts(**changed))[subject] is verdict


def test_data_that_an_account_does_not_see_is_not_taken_for_none(shop: RowSocketServer, run: Run) -> None:
    with account(shop, "app@localhost", grants=["SELECT ON shop.*"]):
        url = f"mysql://app:{PASSWORD}@/?unix_socket={shop.socket}".replace(" ", "%20")
        done = run("doctor", "--json", ROWSOCKET_SQL=url)
    assert (done.returncode, done.stderr) == (0, "")
    found = {one["subject"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert (found["memory"]["verdict"], "not known" in found["memory"]["figures"]) == ("look", True)


def test_without_the_plugin_the_first_finding_says_so() -> None:
    first, *_ = doctor.judge(Facts({}, {}, 0))
    assert (first.subject, first.verdict) == ("plugin", Verdict.BAD)


def test_the_knee_is_where_more_in_flight_give_little_more() -> None:
    assert (FLASH.knee, DISK.knee) == (4, 2)
    assert Storage({1: 10.0, 2: 20.0, 4: 40.0}, 1.0).knee == 4


FAKE_FIO = """#!/usr/bin/env python3
import json, pathlib, sys
options = dict(word[2:].split("=", 1) for word in sys.argv[1:])
assert options["filename"].startswith({folder!r}), options
pathlib.Path({folder!r}, "asked").open("a").write(f"{{options['rw']}} {{options.get('numjobs', '')}}\\n")
rate = {rate} * int(options.get("numjobs", 1))
print("a warning of fio")
print(json.dumps({{"jobs": [{{"read": {{"iops": rate}}, "write": {{"iops": rate}}}}]}}))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder to be measured."""
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder


def fake_fio(folder: Path, rate: float) -> str:
    """A PATH on which fio says this rate of one job, and twice as much of two."""
    programs = folder.parent / "bin"
    programs.mkdir()
    program = programs / "fio"
    program.write_text(FAKE_FIO.format(folder=str(folder), rate=rate))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"{programs}:/usr/bin:/bin"


def test_storage_is_measured_with_fio_and_its_file_is_removed(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake_fio(disk, 100.0))
    found = storage.measure(disk, file_bytes=4096)
    assert found.pages_per_s == {depth: 100.0 * depth for depth in storage.DEPTHS}
    assert (found.fsyncs_per_s, found.knee) == (100.0, 64)
    asked = (disk / "asked").read_text().split("\n")
    assert asked == ["write ", *(f"randread {depth}" for depth in storage.DEPTHS), "write ", ""]
    assert [file.name for file in disk.iterdir()] == ["asked"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_measurement_that_is_ended_leaves_no_file(
    shop: RowSocketServer, run: Run, disk: Path, number: signal.Signals
) -> None:
    """fio itself sends the signal here, when it has made the file."""
    programs = disk.parent / "bin"
    programs.mkdir()
    program = programs / "fio"
    program.write_text(ENDING_FIO.format(number=int(number)))
    program.chmod(0o755)
    path = f"{programs}:/usr/bin:/bin"
    done = run("doctor", "--storage", str(disk), ROWSOCKET_SQL=sql_url(shop), PATH=path)
    assert (done.returncode, list(disk.iterdir())) == (128 + number, []), done.stderr


ENDING_FIO = """#!/usr/bin/env python3
import os, pathlib, signal, sys
options = dict(word[2:].split("=", 1) for word in sys.argv[1:])
pathlib.Path(options["filename"]).write_text("pages")
os.kill(os.getppid(), {number})
signal.pause()
"""


def test_a_colon_in_the_name_of_a_folder_is_no_end_of_a_name_to_fio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mysql:data"
    folder.mkdir()
    monkeypatch.setenv("PATH", fake_fio(folder, 100.0))
    asked = []

    def fio(_program: str, options: dict[str, str]) -> dict[str, Any]:
        asked.append(options["filename"])
        return {"jobs": [{"read": {"iops": 1.0}, "write": {"iops": 1.0}}]}

    monkeypatch.setattr(storage, "_fio", fio)
    storage.measure(folder, file_bytes=4096)
    assert all(name.startswith(str(folder).replace(":", r"\:")) for name in asked), asked


def test_a_folder_that_can_not_be_written_is_said(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", fake_fio(disk, 100.0))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**40))
    with pytest.raises(ValueError, match="/proc: "):
        storage.measure(Path("/proc"), file_bytes=4096)


def test_without_fio_the_doctor_says_how_to_have_it(shop: RowSocketServer, run: Run, disk: Path) -> None:
    done = run("doctor", "--storage", str(disk), ROWSOCKET_SQL=sql_url(shop), PATH=str(disk))
    assert (done.returncode, "apt-get install fio" in done.stderr) == (2, True)


def test_slow_storage_and_little_memory_are_bad(small: RowSocketServer, disk: Path) -> None:
    run = runner(small, "w", ROWSOCKET_SQL=sql_url(small), PATH=fake_fio(disk, 100.0))
    done = run("doctor", "--storage", str(disk), "--json")
    found = {one["subject"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 1
    assert (found["memory"]["verdict"], found["random reads"]["verdict"]) == ("look", "bad")
    assert set(found["memory"]) == {"subject", "verdict", "figures", "says"}
    assert {"machine", "durability", "files", "hash index", "fsync"} <= set(found)


# ── bench ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_bench_reads_and_writes_nothing(shop: RowSocketServer, run: Run) -> None:
    for name in ("Ada", "Grace", "Lin"):
        run("put", "user", f"name={name}")
    before = shop.sql("SHOW GLOBAL STATUS LIKE 'Rowsocket_rows_%ed'")
    done = run("bench", "user", "--seconds", "0.2", "--json", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["what"] for line in lines] == [
        "one after the other",
        "100 tasks",
        "SQL, one after the other",
    ]
    for line in lines:
        assert line["requests"] > 0 and line["requests_per_s"] > 0
        assert 0 < line["p50_us"] <= line["p99_us"]
    assert shop.sql("SHOW GLOBAL STATUS LIKE 'Rowsocket_rows_%ed'") == before
    [[reads]] = shop.sql("SELECT variable_value FROM information_schema.global_status"
                         " WHERE variable_name = 'Rowsocket_rows_read'")  # fmt: skip
    assert int(reads) >= lines[0]["requests"] + lines[1]["requests"]


def test_names_may_have_what_a_query_takes_for_a_value(shop: RowSocketServer, run: Run) -> None:
    shop.sql("CREATE TABLE shop.`50%` (`a%d` INT PRIMARY KEY, `%s` INT)")
    shop.sql("INSERT INTO shop.`50%` VALUES (1, 1)")
    done = run("bench", "50%", "--seconds", "0.1", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_key_of_several_parts_is_read_whole(shop: RowSocketServer, run: Run) -> None:
    shop.sql("CREATE TABLE shop.pair (a INT, b VARCHAR(9), c INT, PRIMARY KEY (a, b))")
    shop.sql("INSERT INTO shop.pair VALUES (1, 'x', 1), (1, 'y', 2)")
    done = run("bench", "pair", "--seconds", "0.1", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_descending_key_is_read(shop: RowSocketServer, run: Run) -> None:
    shop.sql("CREATE TABLE shop.newest (a INT, PRIMARY KEY (a DESC)) AS SELECT 1 AS a")
    done = run("bench", "newest", "--seconds", "0.1", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        ("(a INT PRIMARY KEY)", "no rows"),
        ("(a INT, KEY (a))", "no index 'PRIMARY'"),
        ("(a INT PRIMARY KEY) ENGINE=MEMORY", "no index that can be read in order"),
        ("(a INT, b INT, PRIMARY KEY (a), KEY (b) USING BTREE) ENGINE=MEMORY", "no order"),
    ],
)
def test_what_can_not_be_read_is_told(shop: RowSocketServer, run: Run, definition: str, says: str) -> None:
    shop.sql(f"CREATE TABLE shop.odd {definition}")
    done = run("bench", "odd", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode != 0, says in done.stderr) == (True, True), done.stderr
