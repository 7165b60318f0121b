# SPDX-License-Identifier: GPL-2.0-only
"""memcached's own tests, unchanged, against RowSocket (T_MEMD_USE_DAEMON).

PASSED are the files that pass whole, as they do against memcached itself. PARTLY are files of which some
checks are about what no table has; the checks that fail are named, and no other may. README.md says why the
others can not apply.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.memcached import MemcachedServer
from support.plugin import changed
from support.tree import environment_path

PASSED = [
    "bogus-commands",
    "cas",
    "chunked-items",
    "flags",
    "getandtouch",
    "incrdecr",
    "issue_108",
    "issue_152",
    "issue_192",
    "issue_3",
    "issue_41",
    "issue_68",
    "issue_70",
    "malicious-commands",
    "multiversioning",
    "noreply",
    "quit",
    "touch",
]

PARTLY = {
    "getset": (r"foo_\d+ == <undef>", "a value that is too large takes no old value away"),
    "issue_104": ("Should have", "it expects counters that begin at 0: this server has served other tests"),
    "expirations": (
        r"foo == <undef>|now expired|stored add again|add == 'addval3'",
        "it moves the clock of a debug build of memcached; these fail against memcached itself, too",
    ),
    "strtol-testing": ("", "`slabs automove` is no command: a table has no slabs"),
    "flush-all": (
        r"did flush_all (in|for far) future|foo == <undef>|was not allowed|foo == 'fooval2'|at least once",
        "a delay is refused, and it starts a memcached with options of its own",
    ),
}

SETTINGS: dict[str, dict[str, int | str]] = {
    "getset": {"max_line_bytes": 1_048_700, "max_in_values": 20_000},
    "flush-all": {"allows_flush": "ON"},
}
"""Files that need another setting: one expects values of more than 1 MiB to be refused, and asks for 18,725
keys at once."""


@pytest.fixture(scope="session")
def memcached_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of memcached's tests, with a program where they look for memcached; nobody starts it."""
    folder = tmp_path_factory.mktemp("memcached")
    (folder / "t").symlink_to(environment_path("ROWSOCKET_MEMCACHED_SOURCE") / "t")
    program = folder / "memcached-debug"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return folder


@pytest.fixture
def emptied(cache_server: MemcachedServer, request: pytest.FixtureRequest) -> Iterator[MemcachedServer]:
    """The server with an empty table, and with the settings that the test's file needs."""
    cache_server.sql("DELETE FROM app.item")
    with changed(cache_server, **SETTINGS.get(request.node.callspec.params["name"], {})):
        yield cache_server


def run(name: str, server: MemcachedServer, folder: Path) -> tuple[int, list[str]]:
    """Run one file; how many checks it made, and the texts of those that failed."""
    source = Path(os.path.realpath(folder / "t")) / f"{name}.t"
    # The tests look for memcached two folders above their library, which they find beside themselves.
    done = subprocess.run(
        ["perl", f"-I{folder / 't/lib'}", str(source)],
        cwd=folder,
        env={**os.environ, "T_MEMD_USE_DAEMON": f"127.0.0.1:{server.memcached_port}"},
        capture_output=True,
        timeout=600,
        check=False,
    )
    output = done.stdout.decode(errors="replace")
    plan = re.search(r"^1\.\.(\d+)", output, re.MULTILINE)
    checks = re.findall(r"^(not ok|ok) \d+(?: - (.*))?$", output, re.MULTILINE)
    assert plan is not None and len(checks) == int(plan[1]), done.stderr.decode(errors="replace")[-2000:]
    return len(checks), [text for verdict, text in checks if verdict == "not ok"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PASSED)
def test_file_passes(name: str, emptied: MemcachedServer, memcached_tests: Path) -> None:
    checks, failed = run(name, emptied, memcached_tests)
    assert checks > 0 and failed == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PARTLY)
def test_of_file_only_what_can_not_apply_fails(
    name: str, emptied: MemcachedServer, memcached_tests: Path
) -> None:
    may_fail, why = PARTLY[name]
    checks, failed = run(name, emptied, memcached_tests)
    assert len(failed) < checks
    assert [text for text in failed if not re.search(may_fail, text)] == [], why
