# SPDX-License-Identifier: GPL-2.0-only
"""The conformance suite of src/engine/engine.h in a server, where src/mariadb/conformance is a plugin."""

from __future__ import annotations

import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pymysql

from support.mariadb import MariaDB
from support.tree import environment_path

LIBRARY = "rowsocket_conformance.so"
SUITE_TIMEOUT_S = 800.0


@dataclass(frozen=True)
class Outcome:
    """What came of one test on one kind of table."""

    kind: str
    passed: bool
    seen: str


Outcomes = dict[str, list[Outcome]]


def run_suite(server: MariaDB, tests: str = "*") -> tuple[Outcomes, str]:
    """Run the tests that the filter names (as --gtest_filter). Returns their outcomes, by test, and how the
    run was cut short (or nothing). The server has not loaded RowSocket."""
    built = environment_path("ROWSOCKET_PLUGIN_DIR") / "conformance" / LIBRARY
    shutil.copy(built, Path(str(server.value("SELECT @@plugin_dir"))) / LIBRARY)
    file = server.folder / "outcomes"
    server.sql("INSTALL SONAME 'rowsocket_conformance'")
    server.sql("SET GLOBAL rowsocket_conformance_output = %s", [str(file)])
    server.sql("SET GLOBAL rowsocket_conformance_filter = %s", [tests])
    ending = ""
    try:
        with server.connect(read_timeout_s=SUITE_TIMEOUT_S).cursor() as cursor:
            cursor.execute("SELECT tests, failures FROM information_schema.rowsocket_conformance")
    except pymysql.MySQLError as error:
        ending = str(error)
    outcomes, unfinished = _read(file)
    return outcomes, f"{ending} in {unfinished}\n{server.log_tail()}" if ending or unfinished else ""


def _read(file: Path) -> tuple[Outcomes, str]:
    """The outcomes so far, and the test that had begun and not ended."""
    outcomes: Outcomes = defaultdict(list)
    unfinished = ""
    for line in file.read_text().splitlines():
        what, name, *seen = line.split("\t")
        unfinished = name if what == "began" else ""
        if what != "began":
            test, _, kind = name.partition("/")
            outcomes[test].append(Outcome(kind, what == "passed", "".join(seen).replace("\\n", "\n")))
    return outcomes, unfinished
