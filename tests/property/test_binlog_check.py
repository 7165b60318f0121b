# SPDX-License-Identifier: GPL-2.0-only
"""The check that the binlog equals the tables finds what it is there for (support/binlog.py)."""

from __future__ import annotations

from contextlib import closing

import pytest

from replication.servers import Primary, Replica
from support.binlog import (
    TWO_PHASES,
    BinlogReader,
    assert_binlog_equals_tables,
    binlog_files,
    last_transaction,
    without_cut_end,
)
from support.mariadb import MariaDB, Options, Start

OPTIONS: Options = {**TWO_PHASES, "binlog-format": "ROW"}


@pytest.fixture
def written(start: Start) -> MariaDB:
    """A server that was written to in SQL, in every way that the check has to understand."""
    server = start(MariaDB, OPTIONS)
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (id INT PRIMARY KEY, n INT, body BLOB)")
    server.sql("CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE=MyISAM")
    server.sql("CREATE TABLE d.h (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING")
    server.sql("CREATE SEQUENCE d.s")
    server.sql("CREATE TABLE d.q (id INT PRIMARY KEY DEFAULT NEXTVAL(d.s), n INT)")
    server.sql("INSERT INTO d.t VALUES (1, 1, 'a\\nCOMMIT\\n/*!*/;'), (2, 2, X'00FF')")
    server.sql("INSERT INTO d.m VALUES (1)")
    server.sql("INSERT INTO d.q (n) VALUES (1), (2)")
    server.sql("INSERT INTO d.h VALUES (1, 1)")
    server.sql("UPDATE d.h SET n = 2")
    in_one_session(
        server,
        "SET binlog_format = 'STATEMENT'",
        "UPDATE d.t SET body = 'COMMIT\n/*!*/;\nSAVEPOINT x' WHERE id = 1",
    )
    server.sql("CREATE TABLE d.copy SELECT * FROM d.t")
    in_one_session(
        server,
        "BEGIN",
        "INSERT INTO d.t VALUES (3, 3, NULL)",
        "SAVEPOINT a",
        "UPDATE d.t SET n = 4",
        "ROLLBACK TO a",
        "SAVEPOINT b",
        "INSERT INTO d.t VALUES (4, 4, NULL)",
        "COMMIT",
    )
    server.sql("FLUSH BINARY LOGS")
    server.sql("DELETE FROM d.t WHERE id = 2")
    # In the background the server notes that its recovery needs no older file. Before that, a crash that
    # cuts an event may leave it at an older GTID (seen once).
    last = binlog_files(server)[-1].name
    server.wait_until(
        f"a checkpoint at {last}",
        lambda: any(
            event == "Binlog_checkpoint" and info == last
            for *_, event, _, _, info in server.sql(f"SHOW BINLOG EVENTS IN '{last}'")
        ),
    )
    return server


def in_one_session(server: MariaDB, *statements: str) -> None:
    """Statements that belong together."""
    with closing(server.connect()) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_a_server_that_was_written_to_in_sql_is_right(written: MariaDB) -> None:
    facts = assert_binlog_equals_tables(written)
    assert facts.transactions == facts.two_phase + 1  # the MyISAM table's


def test_a_row_that_is_not_in_the_binlog_is_shown(written: MariaDB) -> None:
    in_one_session(written, "SET sql_log_bin = 0", "UPDATE d.t SET n = 77 WHERE id = 1")
    with pytest.raises(
        AssertionError, match=r"(?s)on the server:\s+\('1', '77'.*on the replayed binlog:\s+\('1', '1'"
    ):
        assert_binlog_equals_tables(written)


def test_history_that_is_not_in_the_binlog_is_shown(written: MariaDB) -> None:
    in_one_session(written, "SET sql_log_bin = 0", "DELETE HISTORY FROM d.h")
    with pytest.raises(AssertionError, match=r"(?s)d\.h: 1 rows on the server, 2 on the replayed binlog"):
        assert_binlog_equals_tables(written)


def test_a_table_that_is_not_in_the_binlog_is_named(written: MariaDB) -> None:
    in_one_session(written, "SET sql_log_bin = 0", "CREATE TABLE d.other (id INT)")
    with pytest.raises(AssertionError, match="other is only on the server"):
        assert_binlog_equals_tables(written)


def test_a_binlog_that_was_cut_is_a_fault(written: MariaDB) -> None:
    first = binlog_files(written)[0]
    first.write_bytes(first.read_bytes()[:-70])
    with pytest.raises(AssertionError, match=r"mariadb-binlog ends with code \d and a complaint"):
        assert_binlog_equals_tables(written)


@pytest.mark.parametrize("left_bytes", [10, 19, 45, -3], ids=["header", "GTID", "GTID's end", "Xid"])
def test_a_transaction_that_a_kill_has_cut_was_not_done(written: MariaDB, left_bytes: int) -> None:
    last = binlog_files(written)[-1]
    written.crash()
    content = last.read_bytes()
    last.write_bytes(content + last_transaction(content)[:left_bytes])
    written.start()
    assert_binlog_equals_tables(written)


def test_what_is_cut_behind_a_transaction_leaves_it(written: MariaDB) -> None:
    """The server may have noted a checkpoint between the two."""
    content = binlog_files(written)[-1].read_bytes()
    event = bytes(4) + bytes([161]) + bytes(4) + (19).to_bytes(4, "little") + bytes(6)
    assert without_cut_end(content + event[:10]) == content
    assert without_cut_end(content + event + event[:10]) == content + event
    assert without_cut_end(content + last_transaction(content)[:30]) == content


def test_what_is_cut_where_nobody_was_killed_is_a_fault(written: MariaDB) -> None:
    written.crash()
    written.start()
    first = binlog_files(written)[0]
    first.write_bytes(first.read_bytes()[:-70])
    with pytest.raises(AssertionError, match=r"mariadb-binlog ends with code \d and a complaint"):
        assert_binlog_equals_tables(written)


def test_a_gap_between_gtids_is_a_fault(written: MariaDB) -> None:
    in_one_session(written, "SET gtid_seq_no = 1000", "DELETE FROM d.t WHERE id = 3")
    with pytest.raises(AssertionError, match="a gap between GTIDs, 1 times: 0-1-1000 follows"):
        assert_binlog_equals_tables(written)


def test_a_replica_may_leave_out_what_only_takes_a_sequence_back(start: Start) -> None:
    primary, replica = start(Primary, OPTIONS), start(Replica, OPTIONS)
    replica.follow(primary)
    primary.sql("CREATE DATABASE d")
    primary.sql("CREATE SEQUENCE d.s")
    primary.sql("CREATE TABLE d.t (id INT PRIMARY KEY)")
    replica.catch_up(primary)
    in_one_session(replica, "SET sql_log_bin = 0", "SELECT SETVAL(d.s, 5000)")
    primary.sql("SELECT NEXTVAL(d.s)")
    primary.sql("INSERT INTO d.t VALUES (1)")
    replica.catch_up(primary)
    # The replica's sequence is ahead of its binlog, as behind a crash.
    with pytest.raises(AssertionError, match="a gap between GTIDs"):
        assert_binlog_equals_tables(replica, has_crashed=True)
    assert_binlog_equals_tables(replica, has_crashed=True, primary=primary)


def test_a_savepoint_that_guards_nothing_is_a_fault(written: MariaDB) -> None:
    in_one_session(written, "BEGIN", "DELETE FROM d.t WHERE id = 3", "SAVEPOINT rowsocket", "COMMIT")
    with pytest.raises(AssertionError, match="a SAVEPOINT that guards nothing, 1 times"):
        assert_binlog_equals_tables(written)


def test_what_a_statement_cannot_do_again_is_a_fault(written: MariaDB) -> None:
    in_one_session(
        written,
        "SET sql_log_bin = 0",
        "INSERT INTO d.t VALUES (9, 9, NULL)",
        "SET sql_log_bin = 1",
        "DELETE FROM d.t WHERE id = 9",
    )
    with pytest.raises(AssertionError, match="the replay stops, 1 times: in 0-1-"):
        assert_binlog_equals_tables(written)


def test_a_table_that_is_damaged_is_named(written: MariaDB) -> None:
    written.sql("FLUSH TABLE d.m")
    with (written.data / "d/m.MYD").open("ab") as rows:
        rows.write(b"more")
    with pytest.raises(AssertionError, match=r"CHECK TABLE d.m: "):
        assert_binlog_equals_tables(written)


# ---- events that SQL does not make

GROUP = """#261122  0:56:42 server id 1  end_log_pos 1634 CRC32 0xdd529f12 \tGTID 0-1-9{flags}
START TRANSACTION
/*!*/;
#261122  0:56:42 server id 1  end_log_pos 1676 CRC32 0xb6219be2 \tTable_map: `d`.`{table}` mapped to number 22
#261122  0:56:42 server id 1  end_log_pos 1718 CRC32 0x0b66640c \tWrite_rows: table id 22 flags: STMT_END_F
#261122  0:56:42 server id 1  end_log_pos 1787 CRC32 0xfd6fc8b4 \tQuery\tthread_id=8
SET TIMESTAMP=1795309002/*!*/;
COMMIT
/*!*/;"""


@pytest.mark.parametrize(
    ("table", "flags", "is_right"),
    [("t", " trans", False), ("t", "", False), ("m", "", True), ("m", " trans", False)],
)
def test_a_commit_of_one_phase_is_a_fault_where_only_transactional_tables_were_touched(
    table: str, flags: str, is_right: bool
) -> None:
    reader = BinlogReader({"d.m"})
    for line in GROUP.format(table=table, flags=flags).splitlines():
        reader.read(line.encode())
    assert (reader.end().faults == {}) == is_right
