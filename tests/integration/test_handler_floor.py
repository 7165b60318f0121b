# SPDX-License-Identifier: GPL-2.0-only
"""The handler floor of the benchmarks, a plugin that only `cmake -DROWSOCKET_HANDLER_FLOOR=ON` builds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from support.mariadb import Database, RowSocketServer
from support.tree import environment_path

LIBRARY = "rowsocket_handler_floor.so"
QUERY = "SELECT lookups, found, cpu_ns > 0 FROM information_schema.rowsocket_handler_floor"


@pytest.fixture
def floor(server: RowSocketServer, database: Database) -> Iterator[Database]:
    """A database with 100 rows in `user`, in a server that has the handler floor."""
    built = environment_path("ROWSOCKET_PLUGIN_DIR") / "handler_floor" / LIBRARY
    if not built.is_file():
        pytest.skip("not built: ROWSOCKET_HANDLER_FLOOR is off")
    shutil.copy(built, Path(str(server.value("SELECT @@plugin_dir"))) / LIBRARY)
    database.sql("CREATE TABLE user (user_id INT UNSIGNED PRIMARY KEY, name VARCHAR(50)) ENGINE=InnoDB")
    database.sql("INSERT INTO user SELECT seq, CONCAT('user', seq) FROM seq_1_to_100")
    server.sql("INSTALL SONAME 'rowsocket_handler_floor'")
    server.sql(
        f"SET GLOBAL rowsocket_handler_floor_table = '{database.name}.user', GLOBAL"
        f" rowsocket_handler_floor_columns = 'name'"
    )
    server.sql("SET GLOBAL rowsocket_handler_floor_rows = 100, GLOBAL rowsocket_handler_floor_lookups = 5000")
    yield database
    server.sql("UNINSTALL SONAME 'rowsocket_handler_floor'")


def test_every_lookup_finds_its_row(floor: Database) -> None:
    """So the figure is of lookups that found something."""
    assert floor.sql(QUERY) == [(5000, 5000, 1)]


def test_keys_that_are_not_there_are_seen(floor: Database) -> None:
    """A table with fewer rows than said shows in `found`."""
    floor.sql("DELETE FROM user WHERE user_id > 50")
    lookups, found, _ = floor.sql(QUERY)[0]
    assert 0 < found < lookups


def test_a_table_without_a_number_as_key_is_refused(floor: Database) -> None:
    """The loop writes keys of four bytes, and must not read beyond another kind of key."""
    floor.sql("ALTER TABLE user MODIFY user_id BIGINT")
    with pytest.raises(pymysql.MySQLError, match="the primary key must be one INT"):
        floor.sql(QUERY)


def test_the_table_is_free_afterwards(floor: Database) -> None:
    """No lock outlives the query."""
    floor.sql(QUERY)
    floor.sql("ALTER TABLE user WAIT 1 ADD COLUMN other INT")
    assert floor.sql(QUERY) == [(5000, 5000, 1)]
