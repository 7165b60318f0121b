# SPDX-License-Identifier: GPL-2.0-only
"""A vector index is a table of its own that only the SQL layer knows. RowSocket reads such a table by its
other indexes, and does not write to it.
"""

from __future__ import annotations

from collections.abc import Callable

import pymysql
import pytest

from support.mariadb import Database
from support.raw import RawConnection

Raw = Callable[[str], RawConnection]


@pytest.fixture(autouse=True)
def table(database: Database) -> None:
    columns = "id INT PRIMARY KEY, n INT, v VECTOR(2) NOT NULL, VECTOR INDEX near (v)"
    try:
        database.sql(f"CREATE TABLE t ({columns})")
    except (pymysql.err.ProgrammingError, pymysql.err.OperationalError):
        pytest.skip("this MariaDB has no vector indexes")
    database.sql("INSERT INTO t VALUES (1, 5, VEC_FromText('[1,2]'))")


def test_the_table_is_read_by_its_other_indexes(database: Database, raw: Raw) -> None:
    wire = raw("read")
    assert wire.tokens("P", 1, database.name, "t", "", "id,n") == [b"0", b"1"]
    assert wire.tokens(1, "=", 1, 1) == [b"0", b"2", b"1", b"5"]


def test_the_vector_index_is_none_to_walk(database: Database, raw: Raw) -> None:
    assert raw("read").tokens("P", 1, database.name, "t", "near", "id") == [b"2", b"1", b"idxnum"]


@pytest.mark.parametrize("change", [b"1\t+\t2\t2\t7", b"1\t=\t1\t1\t1\t0\tU\t1\t7", b"1\t=\t1\t1\t1\t0\tD"])
def test_the_table_is_not_written_to(database: Database, raw: Raw, change: bytes) -> None:
    wire = raw("write")
    wire.tokens("P", 1, database.name, "t", "", "id,n")
    assert wire.ask(change).startswith(b"1\t1\topen_table")
    assert database.sql("SELECT id, n FROM t") == [(1, 5)]
