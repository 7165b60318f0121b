# SPDX-License-Identifier: GPL-2.0-only
"""A trigger for some columns only (UPDATE OF, since MariaDB 11.8) runs where an update names one of them."""

from __future__ import annotations

from collections.abc import Callable

import pymysql
import pytest

from support.mariadb import Database
from support.raw import RawConnection


@pytest.mark.xfail(strict=True, reason="process_triggers is not told which columns the update names")
def test_an_update_of_other_columns_does_not_run_it(
    database: Database, raw: Callable[[str], RawConnection]
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, seen INT DEFAULT 0)")
    database.sql("INSERT INTO t (id, a, b) VALUES (1, 1, 1)")
    try:
        database.sql("CREATE TRIGGER x BEFORE UPDATE OF a ON t FOR EACH ROW SET NEW.seen = 1")
    except pymysql.err.ProgrammingError:
        pytest.skip("this MariaDB has no triggers for some columns")
    wire = raw("write")
    assert wire.tokens("P", 1, database.name, "t", "", "b") == [b"0", b"1"]
    assert wire.ask(b"1\t=\t1\t1\t1\t0\tU\t5") == b"0\t1\t1"
    assert database.value("SELECT seen FROM t") == 0
