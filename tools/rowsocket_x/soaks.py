# SPDX-License-Identifier: GPL-2.0-only
"""`./x soak`: tests of tests/ that repeat what they test for as long as they are told, and say what they saw.

A soak is a selection of tests that take the fixture `soak` (tests/support/soak.py). It runs against the built
plugin, and ends with an entry for docs/reliability.md: when it ran, on which commit, how to repeat it, and
what was seen.
"""

import random
import subprocess
import textwrap
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from rowsocket_x import parts, python_layers
from rowsocket_x.console import Problem
from rowsocket_x.paths import ROOT, VENV

LAST_TRIAL_SECONDS = 900.0
"""What a trial that has begun may take beyond the soak's own time before all is stopped."""

_ENTRY_COLUMNS = 110
_NO_BREAK = "\0"


@dataclass(frozen=True)
class Soak:
    """One soak."""

    name: str
    tests: tuple[str, ...]
    """What pytest is to select."""
    what: str
    """What runs."""


_REPLICA = "tests/replication/test_replica.py::"
_SEMI_SYNC = "tests/replication/test_semisync.py::"
_CRASH = "tests/faults/test_crash.py::"
_MIX = "tests/property/test_mixes.py"
_FUZZ = "tests/fuzz_server/test_real_server.py::"

SOAKS = (
    Soak(
        "crash",
        (_CRASH + "test_no_acknowledged_write_is_lost_in_a_crash",),
        "kill -9 of the server under load of 8 writers, flush at commit 1, sync_binlog 1; a ledger of "
        "acknowledged writes",
    ),
    Soak(
        "flush",
        (
            _CRASH + "test_a_server_that_flushes_once_per_second_loses_nothing_when_only_its_process_dies",
            _CRASH + "test_a_server_that_keeps_its_log_in_memory_loses_nothing_that_it_has_flushed",
        ),
        "the same with flush at commit 2 (loses nothing) and 0 (keeps what was flushed, may lose the rest)",
    ),
    Soak(
        "storage",
        ("tests/faults/test_storage_faults.py",),
        "full disk, full binlog disk, fsync errors of the binlog and of InnoDB's log, under load of 8 "
        "writers; then kill -9",
    ),
    Soak(
        "counters",
        ("tests/faults/test_counters.py",),
        "16 RowSocket clients and 4 SQL clients increment 4 counters; the sum after every 10,000",
    ),
    Soak(
        "hot-row",
        ("tests/faults/test_hot_row.py",),
        "64 clients increment one row, 8 others read it and its neighbours on the read port or on the write "
        "port",
    ),
    Soak(
        "kill",
        ("tests/faults/test_interruptions.py",),
        "KILL (HARD) and KILL (HARD) QUERY of all workers under load, of one that waits for a row; "
        "deadlocks with SQL",
    ),
    Soak(
        "unload",
        ("tests/faults/test_unload.py",),
        "UNINSTALL and INSTALL SONAME, and server shutdown, each under load of 1,000 connections",
    ),
    Soak(
        "ddl",
        ("tests/faults/test_ddl_storm.py",),
        "ALTER, TRUNCATE, DROP and CREATE, RENAME, OPTIMIZE one after the other beside 50 busy connections",
    ),
    Soak(
        "backup",
        ("tests/faults/test_backup.py",),
        "mariadb-backup with restore, FLUSH TABLES WITH READ LOCK, LOCK TABLES and BACKUP STAGE under load "
        "of 8 writers",
    ),
    Soak(
        "linearizability",
        ("tests/linearizability/test_histories.py",),
        "histories of 21 connections to 2 read and 3 write workers: alone, beside SQL that locks rows, DDL, "
        "KILL and kill -9 (flush at commit 1, sync_binlog 1), each checked with Porcupine",
    ),
    Soak(
        "linearizability-stand-ins",
        ("tests/linearizability/test_stand_ins.py",),
        "the same histories on one server where stand-ins take over from requests that need not wait; its "
        "threads and its memory at the end",
    ),
    Soak(
        "sql",
        ("tests/differential/test_changes_against_sql.py",),
        "random sequences of reads and changes against the same operations in SQL: replies, then tables",
    ),
    Soak(
        "original",
        ("tests/differential/test_against_original.py",),
        "random requests against the original handlersocket.so: replies, then tables",
    ),
    Soak(
        "memcached",
        ("tests/memcached/test_against_memcached.py",),
        "random commands against memcached itself: replies",
    ),
    Soak(
        "redis",
        ("tests/resp/test_against_redis.py",),
        "random commands, and streams that end in something wrong, against Redis itself: replies",
    ),
    Soak(
        "replica",
        (_REPLICA + "test_a_replica_that_comes_and_goes_ends_with_the_same_tables",),
        "a replica (GTID, 4 threads, optimistic and conservative, each `binlog_row_image`), stopped and "
        "started beside 20,000 "
        "mixed writes over RowSocket and SQL to eight kinds of tables; then rows, checksums and history "
        "compared",
    ),
    Soak(
        "semisync",
        (_SEMI_SYNC + "test_every_acknowledged_write_is_on_the_promoted_replica",),
        "kill -9 of a semi-synchronous primary (AFTER_SYNC) under load of 8 writers, the replica promoted; "
        "a ledger of "
        "acknowledged writes",
    ),
    Soak(
        "galera",
        ("tests/replication/test_galera_cluster.py::test_an_ok_is_kept_and_a_conflict_leaves_nothing",),
        "three Galera nodes, 9 RowSocket clients and 3 of SQL that increment the same 3 rows and insert "
        "equal keys on all; "
        "then sums, keys and checksums of all nodes compared",
    ),
    Soak(
        "mix",
        (_MIX,),
        "random mixes of tables of 20 kinds, requests of all kinds, DDL, locks, KILL, backups and crashes; "
        "replies, tables and the replayed binlog against each other",
    ),
    Soak(
        "mix-stand-ins",
        (_MIX + "::test_stand_ins_that_take_over_all_the_time_tell_the_same_story_and_end",),
        "the same where stand-ins take over from requests that need not wait; their threads end",
    ),
    Soak(
        "mix-replicas",
        ("tests/property/test_replicas.py",),
        "the same on a primary, its replica and the replica of that, with each `binlog_row_image`",
    ),
    Soak(
        "mix-galera",
        ("tests/property/test_galera.py",),
        "the same on three Galera nodes, one without a binlog, with nodes cut off, killed and joined again",
    ),
    Soak(
        "fuzz-server",
        (_FUZZ + "test_fuzzed_requests_break_nothing",),
        "requests by the grammar and mutated bytes of 5 clients on 40 kinds of tables in 5 engines, beside "
        "DDL, locks, changed settings and KILL; a new server every minute",
    ),
    Soak(
        "fuzz-valgrind",
        (_FUZZ + "test_valgrind_finds_nothing_while_requests_are_fuzzed",),
        "the same of 2 clients on a server under valgrind, without RocksDB",
    ),
)


def find(name: str) -> Soak:
    """The soak of this name. Raises `Problem` when there is none."""
    for soak in SOAKS:
        if soak.name == name:
            return soak
    raise Problem(f"there is no soak {name}", "soaks: " + " ".join(soak.name for soak in SOAKS))


def run(name: str, *, minutes: float, seed: int | None) -> bool:
    """Run a soak and print its line, below what failed; whether nothing did."""
    soak = find(name)
    seed = random.randrange(1 << 32) if seed is None else seed
    python_layers.require(python_layers.Layer.TEST)
    seconds = minutes * 60
    environment = {
        **_environment(soak),
        "ROWSOCKET_SOAK_SECONDS": str(seconds),
        "ROWSOCKET_SOAK_SEED": str(seed),
    }
    limit = seconds + LAST_TRIAL_SECONDS
    options = [f"--timeout={limit:.0f}", f"--hypothesis-seed={seed}", "--exitfirst", "-p", "no:cacheprovider"]
    command = [str(VENV / "bin/python"), "-m", "pytest", *soak.tests, *options, "--junitxml"]
    part = f"soak-{name}"
    began_s = time.monotonic()
    outcome = parts.counted(part, f"soak {name}", command, parts.Settings(), environment, limit)
    passed_minutes = (time.monotonic() - began_s) / 60
    for line in outcome.details:
        print(f"    {line}", flush=True)
    report = parts.report_of(part)
    seen = properties(report) if report.is_file() else {}
    when = f"{time.strftime('%Y-%m-%d', time.gmtime())} on {_commit()}, {passed_minutes:.1f} minutes"
    options_given = f"--minutes {minutes:g} --seed {seed}"
    print(entry(when, options_given, verdict(seen, outcome.failed)), flush=True)
    return outcome.failed == 0


def _environment(soak: Soak) -> Mapping[str, str]:
    """What the part that the tests are of needs to know, such as where memcached is."""
    folder = soak.tests[0]
    return parts.environment_of(
        next(name for name, place in parts.SERVER_PARTS.items() if folder.startswith(f"{place}/"))
    )


def entry(when: str, options: str, seen: str) -> str:
    """What a run adds to the list of its soak in docs/reliability.md; code is not broken over lines."""
    glued = "`" + options.replace(" ", _NO_BREAK) + "`"
    text = textwrap.fill(
        f"{when} ({glued}): {seen}.",
        width=_ENTRY_COLUMNS,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return text.replace(_NO_BREAK, " ")


def properties(report: Path) -> dict[str, str]:
    """What the tests of a report said that they saw; numbers of the same name are added up."""
    seen: dict[str, str] = {}
    for entry in ElementTree.parse(report).getroot().iter("property"):
        name, value = entry.get("name") or "", entry.get("value") or ""
        if name.startswith("hypothesis-"):
            continue  # its own statistics
        before = seen.get(name)
        if before is not None and _is_count(before) and _is_count(value):
            value = f"{int(before.replace(',', '')) + int(value.replace(',', '')):,}"
        seen[name] = value
    return seen


def verdict(seen: Mapping[str, str], failed: int) -> str:
    """What was seen in words; with a bound on the failure rate where trials were counted and none failed."""
    words = ", ".join(
        f"{value} {name}" if _is_count(value) else f"{name} {value}" for name, value in seen.items()
    )
    if failed:
        return f"{failed} FAILED after {words or 'nothing was counted'}"
    trials = int(seen.get("trials", "0").replace(",", ""))
    bound = f" (fewer than {300 / trials:.2g} % of trials fail, by 3/N)" if trials > 3 else ""
    return f"{words or 'passed'}; nothing found{bound}"


def _is_count(value: str) -> bool:
    return value.replace(",", "").isdigit()


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "an export"
