# SPDX-License-Identifier: GPL-2.0-only
"""Tables that the server has to open anew for each write: their defaults draw from sequences, their history
moves on.

As in SQL, on a twin table.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rowsocket import Connection
from support.mariadb import Database
from support.twins import Twins

MakeTwins = Callable[..., Twins]

LONG_AGO = "SET TIMESTAMP = UNIX_TIMESTAMP('2024-01-01')"
FULL_SINCE_2024 = (
    "PARTITION BY SYSTEM_TIME INTERVAL 1 MONTH (PARTITION a HISTORY, PARTITION b HISTORY, PARTITION c"
    " CURRENT)"
)
FULL_AFTER_ONE = (
    "PARTITION BY SYSTEM_TIME LIMIT 1 (PARTITION a HISTORY, PARTITION b HISTORY, PARTITION c CURRENT)"
)


def with_sequences(database: Database, *, trigger: bool) -> None:
    """The tables `t` and `twin`, each with a sequence in the defaults of two columns."""
    for table in ("t", "twin"):
        database.sql(f"CREATE SEQUENCE {table}_numbers START WITH 100")
        database.sql(
            f"CREATE TABLE {table} (v INT, id INT PRIMARY KEY DEFAULT (NEXTVAL({table}_numbers)), n INT)"
        )
        database.sql(f"ALTER TABLE {table} ADD COLUMN last INT DEFAULT (NEXTVAL({table}_numbers) + 1)")
        if trigger:
            database.sql(
                f"CREATE TRIGGER {table}_b BEFORE INSERT ON {table} FOR EACH ROW SET NEW.n = NEW.id + NEW.v"
            )


@pytest.mark.parametrize("trigger", [False, True])
def test_a_default_may_draw_from_a_sequence(database: Database, writer: Connection, trigger: bool) -> None:
    with_sequences(database, trigger=trigger)
    database.sql("FLUSH TABLES")
    index = writer.open_index(database.name, "t", "v,id,n")
    with writer.pipeline() as pipe:
        for v in range(5):
            pipe.insert(index, [v])
    index.insert([9, 1, 1])
    for v in range(5):
        database.sql("INSERT INTO twin (v) VALUES (%s)", [v])
    database.sql("INSERT INTO twin (v, id, n) VALUES (9, 1, 1)")
    rows = database.sql("SELECT * FROM t ORDER BY id")
    assert rows == database.sql("SELECT * FROM twin ORDER BY id")
    assert [row[1] for row in rows[1:]] == [100, 102, 104, 106, 108]


@pytest.mark.parametrize("partitions", [FULL_SINCE_2024, FULL_AFTER_ONE], ids=["interval", "limit"])
def test_history_goes_into_the_last_partition_when_all_are_full(
    make_twins: MakeTwins, partitions: str
) -> None:
    twins = history_since_2024(make_twins, partitions)
    change_rows(twins)
    assert history(twins, "t") == history(twins, "twin")
    assert {partition for _, partition in history(twins, "t")} == (
        {b"a", b"b"} if "LIMIT" in partitions else {b"b"}
    )


def test_a_partition_for_history_is_added_when_its_time_has_come(make_twins: MakeTwins) -> None:
    twins = history_since_2024(make_twins, "PARTITION BY SYSTEM_TIME INTERVAL 1 YEAR AUTO")
    change_rows(twins)
    assert history(twins, "t") == history(twins, "twin")
    assert b"p0" not in {partition for _, partition in history(twins, "t")}


def history_since_2024(make_twins: MakeTwins, partitions: str) -> Twins:
    """Twins whose partitions for history were made long ago, with the rows 1 to 3."""
    twins = make_twins("id INT PRIMARY KEY, v INT", "WITH SYSTEM VERSIONING")
    for table in ("t", "twin"):
        twins.sql(LONG_AGO)
        twins.sql(f"ALTER TABLE {table} {partitions}")
        twins.sql("SET TIMESTAMP = DEFAULT")
        twins.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2), (3, 3)")
    return twins


def change_rows(twins: Twins) -> None:
    """The same changes in both tables, in several turns and several in one."""
    index = twins.index("v")
    index.update(1, [10])
    with twins.writer.pipeline() as pipe:
        pipe.update(index, 1, [11])
        pipe.increment(index, 2, [1])
        pipe.delete(index, 3)
    for change in ("SET v = 10 WHERE id = 1", "SET v = 11 WHERE id = 1", "SET v = v + 1 WHERE id = 2"):
        twins.sql(f"UPDATE twin {change}")
    twins.sql("DELETE FROM twin WHERE id = 3")
    twins.assert_equal()


def history(twins: Twins, table: str) -> list[tuple[bytes | None, bytes | None]]:
    """The values that were, each with the partition that it is in."""
    partitions = (
        "SELECT partition_name FROM information_schema.partitions WHERE table_schema = DATABASE() AND"
        " table_name = %s"
    )
    found: list[tuple[bytes | None, bytes | None]] = []
    for (name,) in twins.sql(partitions, table):
        assert name is not None
        query = f"SELECT v FROM {table} PARTITION ({name.decode()}) WHERE row_end < NOW(6) ORDER BY row_end"
        found += [(v, name) for (v,) in twins.sql(query)]
    return found
