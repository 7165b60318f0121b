# SPDX-License-Identifier: GPL-2.0-only
"""The history of tables with system versioning: nobody forges it, and row events carry all of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rowsocket
from rowsocket import EngineError, Value
from support.binlog import assert_binlog_equals_tables
from support.mariadb import Database, RowSocketServer, Start
from support.plugin import changed
from support.twins import Twins, error_number

MakeTwins = Callable[..., Twins]

GENERATED = 1906
NAMED = (
    "id INT PRIMARY KEY, v INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START{0},"
    " e TIMESTAMP(6) GENERATED ALWAYS AS ROW END{0}, PERIOD FOR SYSTEM_TIME (s, e)"
)
COLUMNS = {
    "named": (NAMED.format(""), "s", "e"),
    "invisible": (NAMED.format(" INVISIBLE"), "s", "e"),
    "implicit": ("id INT PRIMARY KEY, v INT", "row_start", "row_end"),
}
FORGED = "2001-01-01 00:00:00"


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("which", [1, 2], ids=["start", "end"])
def test_the_time_of_a_row_can_not_be_written(make_twins: MakeTwins, kind: str, which: int) -> None:
    definition, column = COLUMNS[kind][0], COLUMNS[kind][which]
    twins = make_twins(definition, "WITH SYSTEM VERSIONING")
    twins.sql("INSERT INTO t (id, v) VALUES (1, 10)")
    everything = f"SELECT id, v, {COLUMNS[kind][1]}, {COLUMNS[kind][2]} FROM t FOR SYSTEM_TIME ALL"
    before = twins.sql(everything)
    rows, time = twins.index(f"id,{column}"), twins.index(column)
    requests: list[Callable[[], object]] = [
        lambda: rows.insert([2, FORGED]),
        lambda: rows.insert_many([[2, FORGED]]),
        lambda: rows.replace([1, FORGED]),
        lambda: rows.upsert([1, FORGED], update=[column]),
        lambda: time.update(1, [FORGED]),
        lambda: time.increment(1, [1]),
        lambda: time.decrement(1, [1]),
    ]
    for number, request in enumerate(requests):
        with pytest.raises(EngineError) as raised:
            request()
        assert error_number(raised.value) == GENERATED, number
    assert twins.sql(everything) == before


def test_what_changes_no_versioned_column_makes_no_history(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, w INT WITHOUT SYSTEM VERSIONING", "WITH SYSTEM VERSIONING")
    versions = "SELECT id, v, w FROM {} FOR SYSTEM_TIME ALL ORDER BY id, row_end"
    for name in ("t", "twin"):
        twins.sql(f"INSERT INTO {name} VALUES (1, 10, 5)")
    twins.index("w").update(1, [6])
    twins.index("w").increment(1, [1])
    for change in ("w = 6", "w = w + 1"):
        twins.sql(f"UPDATE twin SET {change}")
    assert twins.sql(versions.format("t")) == twins.sql(versions.format("twin")) == [(b"1", b"10", b"7")]


def test_an_upsert_that_changes_no_versioned_column_makes_no_history(make_twins: MakeTwins) -> None:
    """Whatever the row that it gives has in the others."""
    twins = make_twins("id INT PRIMARY KEY, v INT, w INT WITHOUT SYSTEM VERSIONING", "WITH SYSTEM VERSIONING")
    for name in ("t", "twin"):
        twins.sql(f"INSERT INTO {name} VALUES (1, 10, 5)")
    twins.index("id,v,w").upsert([1, 11, 6], update=["w"])
    twins.sql("INSERT INTO twin VALUES (1, 11, 6) ON DUPLICATE KEY UPDATE w = VALUES(w)")
    versions = "SELECT id, v, w FROM {} FOR SYSTEM_TIME ALL"
    assert twins.sql(versions.format("t")) == twins.sql(versions.format("twin")) == [(b"1", b"10", b"6")]


def test_history_is_of_the_columns_that_a_change_names_not_of_those_its_trigger_sets(
    make_twins: MakeTwins,
) -> None:
    """As in SQL."""
    twins = make_twins("id INT PRIMARY KEY, v INT, w INT WITHOUT SYSTEM VERSIONING", "WITH SYSTEM VERSIONING")
    for name in ("t", "twin"):
        twins.sql(f"INSERT INTO {name} VALUES (1, 10, 5)")
        twins.sql(f"CREATE TRIGGER {name}_sets BEFORE UPDATE ON {name} FOR EACH ROW SET NEW.v = 11")
    twins.index("w").update(1, [6])
    twins.sql("UPDATE twin SET w = 6")
    versions = "SELECT id, v, w FROM {} FOR SYSTEM_TIME ALL"
    assert twins.sql(versions.format("t")) == twins.sql(versions.format("twin"))


def test_a_column_that_is_generated_of_when_the_row_began_follows_each_change(make_twins: MakeTwins) -> None:
    twins = make_twins(
        f"{NAMED.format('')}, began TIMESTAMP(6) AS (s) STORED, INDEX k (began)", "WITH SYSTEM VERSIONING"
    )
    twins.sql("INSERT INTO t (id, v) VALUES (1, 10)")
    twins.index("v").update(1, [11])
    twins.index("v").increment(1, [1])
    assert twins.sql("SELECT v, began = s FROM t FOR SYSTEM_TIME ALL ORDER BY s") == [
        (v, b"1") for v in (b"10", b"11", b"12")
    ]
    assert twins.sql("CHECK TABLE t EXTENDED")[0][3] == b"OK"


def test_a_trigger_before_a_change_sees_when_the_new_row_begins(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT, seen TIMESTAMP(6) NULL", "WITH SYSTEM VERSIONING")
    twins.sql("INSERT INTO t (id, v) VALUES (1, 10), (2, 10), (3, 10)")
    twins.sql("CREATE TRIGGER notes BEFORE UPDATE ON t FOR EACH ROW SET NEW.seen = NEW.row_start")
    twins.index("v").update(1, [11])
    twins.index("id,v").upsert([2, 11], update=["v"])
    twins.sql("UPDATE t SET v = 11 WHERE id = 3")
    assert twins.sql("SELECT id, seen = row_start FROM t ORDER BY id") == [
        (b"%d" % id, b"1") for id in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "partitions", ["", "PARTITION BY SYSTEM_TIME (PARTITION p HISTORY, PARTITION n CURRENT)"]
)
def test_every_way_to_change_a_row_keeps_its_past(make_twins: MakeTwins, partitions: str) -> None:
    definition = "id INT PRIMARY KEY, v INT, w VARCHAR(9)"
    twins = make_twins(definition, f"WITH SYSTEM VERSIONING {partitions}")
    for name in ("t", "twin"):
        twins.sql(f"INSERT INTO {name} SELECT seq, seq, 'a' FROM seq_1_to_5")
    index = twins.index("id,v,w")
    index.replace([1, 11, "b"])
    index.upsert([2, 12, "b"], update=["v"])
    index.upsert([3, 100, "b"], update=[], add=["v"])
    twins.index("w").update(4, ["b"])
    index.delete(5)
    for statement in (
        "REPLACE INTO twin VALUES (1, 11, 'b')",
        "INSERT INTO twin VALUES (2, 12, 'b') ON DUPLICATE KEY UPDATE v = 12",
        "INSERT INTO twin VALUES (3, 100, 'b') ON DUPLICATE KEY UPDATE v = v + 100",
        "UPDATE twin SET w = 'b' WHERE id = 4",
        "DELETE FROM twin WHERE id = 5",
    ):
        twins.sql(statement)
    follows = "row_start = LAG(row_end) OVER (PARTITION BY id ORDER BY row_end)"
    query = f"SELECT id, v, w, {follows} FROM {{}} FOR SYSTEM_TIME ALL ORDER BY id, row_end"
    history = twins.sql(query.format("t"))
    assert history == twins.sql(query.format("twin"))
    assert len(history) == 9


def test_who_asks_what_a_change_made_sees_the_present_row(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT", "WITH SYSTEM VERSIONING")
    twins.sql("INSERT INTO t VALUES (1, 10)")
    index = twins.index("v")
    assert index.increment_and_fetch(1, [5]) == [(b"15",)]
    twins.sql("CREATE TABLE log (v INT)")
    twins.sql("CREATE TRIGGER after_it AFTER UPDATE ON t FOR EACH ROW INSERT INTO log VALUES (NEW.v)")
    assert index.update_and_fetch(1, [20]) == [(b"20",)]
    assert twins.sql("SELECT v FROM log") == [(b"20",)]


def test_a_text_that_was_unique_is_free_again_and_its_past_is_kept(make_twins: MakeTwins) -> None:
    twins = make_twins("id INT PRIMARY KEY, w TEXT, UNIQUE (w)", "WITH SYSTEM VERSIONING")
    index = twins.index("id,w")
    for id in (1, 2, 3):
        index.insert([id, "the only one"])
        with pytest.raises(rowsocket.DuplicateKey):
            index.insert([9, "the only one"])
        assert index.delete(id) == 1
    assert twins.sql("SELECT id, w FROM t FOR SYSTEM_TIME ALL ORDER BY id") == [
        (b"%d" % id, b"the only one") for id in (1, 2, 3)
    ]


def test_rows_with_unique_texts_are_deleted_in_one_request(make_twins: MakeTwins) -> None:
    """The end of a row's life is part of its unique keys."""
    twins = make_twins("id INT PRIMARY KEY, w TEXT, UNIQUE (w)", "WITH SYSTEM VERSIONING")
    for table in ("t", "twin"):
        twins.sql(f"INSERT INTO {table} SELECT seq, CONCAT('text ', seq) FROM seq_1_to_9")
    assert twins.index("id").delete(3, ">=", limit=5) == 5
    twins.sql("DELETE FROM twin WHERE id >= 3 LIMIT 5")
    twins.assert_equal()
    past = "SELECT id, w, row_end > NOW(6) FROM {} FOR SYSTEM_TIME ALL ORDER BY id"
    assert twins.sql(past.format("t")) == twins.sql(past.format("twin"))


@pytest.mark.parametrize("image", ["MINIMAL", "NOBLOB", "FULL"])
def test_row_events_carry_the_whole_of_a_past_row(start: Start, image: str) -> None:
    """Its BLOBs, too, under NOBLOB: SQL's own events leave BLOBs out, and a replica has NULL for them."""
    server = start(RowSocketServer, {"binlog-row-image": image})
    database = Database(server, "d")
    columns = "id INT PRIMARY KEY, v INT, w VARCHAR(20), body TEXT, u INT WITHOUT SYSTEM VERSIONING"
    database.sql(f"CREATE TABLE h ({columns}) WITH SYSTEM VERSIONING")
    database.sql(
        f"CREATE TABLE k (n INT UNIQUE, {columns.replace('PRIMARY KEY', '')}) WITH SYSTEM VERSIONING"
    )
    with rowsocket.connect(*server.write_address(), text=True) as writer:
        for name in ("h", "k"):
            width = 6 if name == "k" else 5
            rows = writer.open_index("d", name, ["id", "v", "w", "body", "u", "n"][:width], "0")
            for number in range(1, 8):
                inserted: list[Value] = [number, number, f"w{number}", f"body {number}", 1, number]
                rows.insert(inserted[:width])
            one = writer.open_index("d", name, "v", "0")
            assert one.update(1, [100]) == one.increment(2, [1]) == one.delete(3) == 1
            assert writer.open_index("d", name, "u", "0").update(4, [9]) == 1
            assert writer.open_index("d", name, "body", "0").update(5, ["new"]) == 1
            upserted: list[Value] = [6, 60, "x", "y", 2, 6]
            replacing: list[Value] = [7, 70, "x", "y", 2, 7]
            rows.upsert(upserted[:width], update=["v"])
            rows.replace(replacing[:width])
    assert database.value("SELECT COUNT(*) FROM h FOR SYSTEM_TIME ALL") == 12
    assert_binlog_equals_tables(server)


@pytest.mark.parametrize("action", ["CASCADE", "SET NULL", "RESTRICT"])
@pytest.mark.parametrize("upserts", [False, True], ids=["update", "upsert"])
def test_a_change_of_a_parent_with_history_is_no_delete_to_its_children(
    start: Start, action: str, upserts: bool
) -> None:
    """InnoDB deletes a versioned row by a change, and is told which it is by what the statement may do."""
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql(
        "CREATE TABLE parent (id INT PRIMARY KEY, u INT UNIQUE, n INT NOT NULL) WITH SYSTEM VERSIONING"
    )
    database.sql(
        "CREATE TABLE child (id INT PRIMARY KEY, of INT,"
        f" FOREIGN KEY (of) REFERENCES parent (u) ON DELETE {action})"
    )
    database.sql("INSERT INTO parent VALUES (1, 10, 0)")
    database.sql("INSERT INTO child VALUES (1, 10)")
    with rowsocket.connect(*server.write_address(), text=True) as writer:
        parent = writer.open_index("d", "parent", ["id", "u", "n"])
        if upserts:
            parent.upsert([1, 10, 1], update=["n"])
        else:
            writer.open_index("d", "parent", ["n"]).increment(1)
    assert database.sql("SELECT n FROM parent") == [(1,)]
    assert database.sql("SELECT * FROM child") == [(1, 10)]
    assert_binlog_equals_tables(server)


def test_a_row_with_history_that_was_waited_for_stays_in_all_its_indexes(start: Start) -> None:
    """An update leaves the entries of a key that it does not change, so it meets no lock of a neighbour's."""
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, n INT NOT NULL) WITH SYSTEM VERSIONING")
    database.sql("INSERT INTO t SELECT seq, seq, 0 FROM seq_1_to_10")
    with database.session() as sql, rowsocket.connect(*server.write_address(), text=True) as writer:
        sql.execute("BEGIN")
        sql.execute("UPDATE t SET n = n + 1 WHERE u = 3")
        assert writer.open_index("d", "t", ["n"], index="u").increment(2) == 1
        sql.execute("ROLLBACK")
    assert server.counter("parked") == 0
    by_key = database.sql("SELECT id, n FROM t FORCE INDEX (u) WHERE u > 0 ORDER BY id")
    assert by_key == [(number, int(number == 2)) for number in range(1, 11)]


VERSIONED = "id INT PRIMARY KEY, v INT, u INT, KEY k (v), UNIQUE KEY by_u (u)"


@pytest.fixture
def past(start: Start) -> Database:
    """A server that reads as of a moment; since then all rows of each table `t_...` have changed."""
    database = Database(start(RowSocketServer), "d")
    tables = {
        f"t_{engine}_{len(partitions)}": f"({VERSIONED}) ENGINE={engine} WITH SYSTEM VERSIONING {partitions}"
        for engine in ("InnoDB", "MyISAM")
        for partitions in ("", "PARTITION BY SYSTEM_TIME LIMIT 2 PARTITIONS 3")
    }
    for name, definition in tables.items():
        database.sql(f"CREATE TABLE {name} {definition}")
        database.sql(f"INSERT INTO {name} VALUES (1, 10, 100), (2, 20, 200), (3, 30, 300)")
    moment = database.value("SELECT NOW(6)")
    for name in tables:
        for change in (1, 2):
            database.sql(f"UPDATE {name} SET v = 40 + {change}, u = u + 1 WHERE id <= 2")
        database.sql(f"DELETE FROM {name} WHERE id = 3")
        database.sql(f"INSERT INTO {name} VALUES (4, 40, 400)")
    database.server.sql("SET GLOBAL system_versioning_asof = %s", [moment])
    return database


def tables_of(past: Database) -> list[str]:
    return [name for (name,) in past.sql("SHOW TABLES LIKE 't\\_%'")]


def test_a_find_reads_as_of_the_moment_that_new_sessions_of_sql_read_as_of(past: Database) -> None:
    assert isinstance(past.server, RowSocketServer)
    with past.server.raw("write") as wire, past.server.raw("read") as reader, past.session() as sql:
        for name in tables_of(past):
            sql.execute(f"SELECT id, v, u FROM {name} ORDER BY id")
            rows = sql.fetchall()
            assert rows == ((1, 10, 100), (2, 20, 200), (3, 30, 300))
            values = [str(value).encode() for row in rows for value in row]
            for client in (wire, reader):
                for number, index in enumerate(("", "k", "by_u")):
                    assert client.tokens("P", number, "d", name, index, "id,v,u", "u") == [b"0", b"1"]
                for number in range(3):
                    assert client.tokens(number, ">=", 1, 0, 9, 0) == [b"0", b"3", *values], name
                assert client.tokens(1, "=", 1, 20) == [b"0", b"3", b"2", b"20", b"200"]
                assert client.tokens(2, "=", 1, 300) == [b"0", b"3", b"3", b"30", b"300"]
                for number, new in ((1, 42), (2, 400)):
                    assert client.tokens(number, "=", 1, new) == [b"0", b"3"]
                assert client.tokens(0, ">=", 1, 0, 9, 0, "F", ">", 0, 200, "#") == [b"0", b"1", b"1"]


def test_a_version_is_read_from_its_first_moment_to_before_its_last(
    server: RowSocketServer, database: Database
) -> None:
    """Of what had ended before, nothing is read."""
    moment = 1_000_000_001.5
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY v (v)) WITH SYSTEM VERSIONING")
    with database.session() as sql:
        sql.execute("SET timestamp = %s", [moment - 1])
        sql.execute("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
        for time, new in ((moment - 0.5, 11), (moment, 12), (moment + 0.25, 13)):
            sql.execute("SET timestamp = %s", [time])
            sql.execute(f"UPDATE t SET v = {new} WHERE id = 1")
        sql.execute("SET timestamp = %s", [moment - 0.25])
        sql.execute("DELETE FROM t WHERE id = 2")
        sql.execute("SET timestamp = %s", [moment])
        sql.execute("DELETE FROM t WHERE id = 3")
        sql.execute("INSERT INTO t VALUES (4, 40)")
    server.sql("SET GLOBAL system_versioning_asof = FROM_UNIXTIME(%s)", [moment])
    try:
        with server.raw("read") as client, database.session() as sql:
            sql.execute("SELECT id, v FROM t ORDER BY v")
            assert sql.fetchall() == ((1, 12), (4, 40))
            for number, index in enumerate(("", "v")):
                client.tokens("P", number, database.name, "t", index, "id,v")
                assert client.tokens(number, ">=", 1, 0, 9, 0) == [b"0", b"2", b"1", b"12", b"4", b"40"]
    finally:
        server.sql("SET GLOBAL system_versioning_asof = DEFAULT")


def test_a_change_meets_the_current_rows_whatever_is_read(past: Database) -> None:
    assert isinstance(past.server, RowSocketServer)
    with past.server.raw("write") as wire:
        for name in tables_of(past):
            assert wire.tokens("P", 0, "d", name, "", "v") == [b"0", b"1"]
            assert wire.tokens(0, ">=", 1, 0, 9, 0, "U?", 50) == [b"0", b"1", b"42", b"42", b"40"]
            assert wire.tokens(0, "=", 1, 3, 1, 0, "D") == [b"0", b"1", b"0"]
            assert wire.tokens(0, "=", 1, 4, 1, 0, "D") == [b"0", b"1", b"1"]
            assert wire.tokens(0, ">=", 1, 0, 9, 0) == [b"0", b"1", b"10", b"20", b"30"]
            assert past.sql(f"SELECT id, v FROM {name} ORDER BY id") == [(1, 50), (2, 50)]


def test_a_selection_that_is_open_follows_the_moment_there_and_back(past: Database) -> None:
    assert isinstance(past.server, RowSocketServer)
    name = tables_of(past)[0]
    with past.server.raw("read") as client:
        assert client.tokens("P", 0, "d", name, "", "v") == [b"0", b"1"]
        moment = past.server.value("SELECT @@GLOBAL.system_versioning_asof")
        for _ in range(2):
            assert client.tokens(0, "=", 1, 1) == [b"0", b"1", b"10"]
            past.server.sql("SET GLOBAL system_versioning_asof = DEFAULT")
            assert client.tokens(0, "=", 1, 1) == [b"0", b"1", b"42"]
            past.server.sql("SET GLOBAL system_versioning_asof = %s", [moment])


def test_history_by_transaction_is_not_read_as_of_a_moment(past: Database) -> None:
    assert isinstance(past.server, RowSocketServer)
    past.server.sql("SET GLOBAL system_versioning_asof = DEFAULT")
    past.sql(
        "CREATE TABLE x (id INT PRIMARY KEY, s BIGINT UNSIGNED GENERATED ALWAYS AS ROW START,"
        " e BIGINT UNSIGNED GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e))"
        " WITH SYSTEM VERSIONING"
    )
    past.sql("INSERT INTO x (id) VALUES (1)")
    with past.server.raw("read") as client:
        assert client.tokens("P", 0, "d", "x", "", "id") == [b"0", b"1"]
        assert client.tokens(0, "=", 1, 1) == [b"0", b"1", b"1"]
        past.server.sql("SET GLOBAL system_versioning_asof = NOW()")
        assert client.tokens(0, "=", 1, 1) == [b"1", b"1", b"4111"]
        past.server.sql("SET GLOBAL system_versioning_asof = DEFAULT")
        assert client.tokens(0, "=", 1, 1) == [b"0", b"1", b"1"]


def make_history_of_one_key(database: Database, ended: int) -> None:
    """`t`: 500 rows whose `same` is 1, of which the first `ended` have ended."""
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, same INT, v INT, KEY (same)) WITH SYSTEM VERSIONING")
    database.sql("INSERT INTO t SELECT seq, 1, 0 FROM mysql.seq_1_to_500")
    database.sql("DELETE FROM t WHERE id <= %s", [ended])


def test_versions_that_a_find_passes_over_are_rows_that_it_looks_at(
    server: RowSocketServer, database: Database
) -> None:
    """Else no bound would hold where a key has nothing but a past."""
    make_history_of_one_key(database, ended=500)
    with server.raw("read") as client:
        client.tokens("P", 0, database.name, "t", "same", "id")
        assert client.tokens(0, "=", 1, 1, 9, 0) == [b"0", b"1"]
        with changed(server, max_rows_examined=300):
            assert client.tokens(0, "=", 1, 1, 9, 0) == [b"2", b"1", b"rowsexamined"]


def test_a_row_behind_many_versions_that_are_passed_over_is_changed(
    server: RowSocketServer, database: Database
) -> None:
    make_history_of_one_key(database, ended=499)
    with server.raw("write") as client:
        client.tokens("P", 0, database.name, "t", "same", "v")
        assert client.tokens(0, "=", 1, 1, 9, 0, "U", 7) == [b"0", b"1", b"1"]
    assert database.sql("SELECT id, v FROM t") == [(500, 7)]
