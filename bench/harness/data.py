# SPDX-License-Identifier: GPL-2.0-only
"""The data directory that every database server begins with: filled once for all cases, then copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from bench.harness.scenario import Case

from support.mariadb import MariaDB
from support.tree import ServerTree, initialise

FILL_OPTIONS: dict[str, str | int | None] = {
    "skip-log-bin": None,
    "innodb-buffer-pool-size": "2G",
    "innodb-log-file-size": "512M",
    "innodb-flush-log-at-trx-commit": 0,
    "innodb-doublewrite": "OFF",
}


class Template:
    """The directory; made when it is first asked for."""

    def __init__(self, folder: Callable[[], Path], cases: Iterable[Case], say: Callable[[str], None]) -> None:
        self._folder = folder
        self._cases = list(cases)
        self._say = say
        self._made: Path | None = None

    def __call__(self, tree: ServerTree) -> Path:
        """The directory, to be copied. Raises ServerFailure."""
        if self._made is None:
            folder = self._folder()
            empty, filled = folder / "empty", folder / "filled"
            initialise(tree, empty)
            server = MariaDB(tree, empty, FILL_OPTIONS)
            try:
                server.start()
                self._fill(server)
                server.sql("SET GLOBAL innodb_fast_shutdown = 0")
                server.stop()
                server.data.rename(filled)
            finally:
                server.remove()
            self._made = filled
        return self._made

    def _fill(self, server: MariaDB) -> None:
        for (database, _), case in tables(self._cases).items():
            table = case.asked().table
            self._say(f"filling {table.name} with {case.rows:,} rows")
            server.sql(f"CREATE DATABASE IF NOT EXISTS {database}")
            for statement in table.statements(case.rows):
                server.sql(statement, database=database)
            if not table.copies:
                server.sql(f"ANALYZE TABLE {database}.{table.name}")


def tables(cases: Iterable[Case]) -> dict[tuple[str, str], Case]:
    """Each table that the cases need, as (database, table), with a case that says how to fill it."""
    needed: dict[tuple[str, str], Case] = {}
    for case in cases:
        needed.setdefault((case.database, case.asked().table.name), case)
    return needed
