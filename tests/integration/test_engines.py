# SPDX-License-Identifier: GPL-2.0-only
"""RocksDB and Aria, which are served as InnoDB is: finds, changes, groups, locks, the binlog and a crash.

RocksDB has transactions, row locks and savepoints. Aria has none of them: what was done stays done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.binlog import TWO_PHASES, assert_binlog_equals_tables
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, Options, RowSocketServer
from support.plugin import is_loaded
from support.raw import RawConnection
from support.tree import ServerTree

OPTIONS: dict[str, str | int | None] = {
    "plugin-load-add": "rowsocket;ha_rocksdb",
    "loose-rocksdb-block-cache-size": "16M",
    "loose-rowsocket-threads-write": 1,  # requests of several clients meet in one transaction
    **TWO_PHASES,
}
TABLE = (
    "id INT NOT NULL, g INT NOT NULL, n BIGINT NOT NULL DEFAULT 7, s VARCHAR(20) COLLATE utf8mb4_bin NULL,"
    " PRIMARY KEY (id), KEY by_g (g, n), KEY by_s (s, id)"
)
BACKWARDS = (
    "id INT NOT NULL, g INT NOT NULL, n BIGINT NOT NULL DEFAULT 7, s VARCHAR(20) COLLATE utf8mb4_bin NULL,"
    " PRIMARY KEY (id) COMMENT 'rev:back', KEY by_g (g, n) COMMENT 'rev:back', KEY by_s (s, id)"
)
ROWS: list[tuple[int, int, int, str | None]] = [
    *((number, number % 3, number * 10, f"s{number % 4}") for number in range(1, 12)),
    (12, 1, -5, None),
]
ENGINES = ("ROCKSDB", "Aria")
OPENS = (b"P\t1\t%s\tt\t\tid,g,n,s", b"P\t2\t%s\tt\tby_g\tid,g,n\tid,n", b"P\t3\t%s\tt\tby_s\tid,s")


@pytest.fixture(scope="module")
def server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """A server with all engines that are served."""
    with RowSocketServer(tree, template, OPTIONS) as server:
        yield server


@pytest.fixture
def database(server: RowSocketServer) -> Iterator[Database]:
    """A fresh database on it."""
    database = Database(server, "engines")
    yield database
    database.drop()


@dataclass
class Table:
    """The table `t` of an engine with rows, and connections that have opened it."""

    database: Database
    wire: RawConnection

    def ask(self, *requests: bytes) -> list[bytes]:
        """The replies to requests that are sent in one piece."""
        return self.wire.ask_all(*requests)

    def rows(self) -> list[tuple[object, ...]]:
        """All rows, as SQL sees them."""
        return self.database.sql("SELECT id, g, n, s FROM t ORDER BY id")


MakeTable = Callable[..., Table]


@pytest.fixture
def table(server: RowSocketServer, database: Database) -> Iterator[MakeTable]:
    """table(engine): the table `t` with ROWS, opened on the write port."""
    with closing(server.raw("write")) as wire:

        def make(engine: str, definition: str = TABLE, options: str = "") -> Table:
            database.sql(f"CREATE TABLE t ({definition}) ENGINE={engine} {options}")
            for row in ROWS:
                database.sql("INSERT INTO t (id, g, n, s) VALUES (%s, %s, %s, %s)", row)
            assert wire.ask_all(*(line % database.name.encode() for line in OPENS)) == [b"0\t1"] * len(OPENS)
            return Table(database, wire)

        yield make


def ids(reply: bytes, width: int) -> list[int]:
    """The first column of the rows of a reply."""
    code, count, *values = reply.split(b"\t")
    assert (code, count) == (b"0", b"%d" % width), reply
    return [int(value) for value in values[::width]]


@contextmanager
def changed_global(server: RowSocketServer, name: str, value: str) -> Iterator[None]:
    """A global variable with another value for a while."""
    before = server.value(f"SELECT @@GLOBAL.{name}")
    server.sql(f"SET GLOBAL {name} = {value}")
    try:
        yield
    finally:
        server.sql(f"SET GLOBAL {name} = {before}")


# ---- finds

BY_ID = sorted(row[0] for row in ROWS)
BY_G = [row[0] for row in sorted(ROWS, key=lambda row: (row[1], row[2], row[0]))]


@pytest.mark.parametrize(
    ("engine", "definition"), [("ROCKSDB", TABLE), ("ROCKSDB", BACKWARDS), ("Aria", TABLE)]
)
def test_finds_in_every_direction(table: MakeTable, engine: str, definition: str) -> None:
    t = table(engine, definition)
    compare: dict[bytes, Callable[[int], bool]] = {
        b"=": lambda value: value == 6,
        b">": lambda value: value > 6,
        b">=": lambda value: value >= 6,
        b"<": lambda value: value < 6,
        b"<=": lambda value: value <= 6,
    }
    for operator, holds in compare.items():
        found = [one for one in BY_ID if holds(one)]
        found = found[::-1] if operator in (b"<", b"<=") else found
        line = b"1\t%s\t1\t6\t100\t0" % operator
        assert ids(t.ask(line)[0], 4) == found
        assert ids(t.ask(line + b"\tR")[0], 4) == found[::-1]
        assert ids(t.ask(line.replace(b"100\t0", b"2\t1"))[0], 4) == found[1:3]


@pytest.mark.parametrize(
    ("engine", "definition"), [("ROCKSDB", TABLE), ("ROCKSDB", BACKWARDS), ("Aria", TABLE)]
)
def test_finds_over_an_index_of_two_parts(table: MakeTable, engine: str, definition: str) -> None:
    t = table(engine, definition)
    of_g1 = [one for one in BY_G if ROWS[one - 1][1] == 1]
    of_g2 = [one for one in BY_G if ROWS[one - 1][1] == 2]
    assert ids(t.ask(b"2\t=\t1\t1\t100\t0")[0], 3) == of_g1
    assert ids(t.ask(b"2\t=\t1\t1\t100\t0\tR")[0], 3) == of_g1[::-1]
    assert ids(t.ask(b"2\t>\t1\t1\t100\t0")[0], 3) == of_g2
    assert ids(t.ask(b"2\t<\t1\t2\t100\t0\tT\t>=\t1\t1")[0], 3) == of_g1[::-1]
    assert ids(t.ask(b"2\t>=\t2\t1\t0\t100\t0\tT\t<=\t2\t1\t70")[0], 3) == [1, 4, 7]
    assert ids(t.ask(b"2\t=\t2\t2\t50")[0], 3) == [5]
    assert ids(t.ask(b"2\t=\t1\t1\t100\t0\tF\t>\t1\t40")[0], 3) == [7, 10]


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_prefixes_and_counts(table: MakeTable, engine: str) -> None:
    t = table(engine)
    assert ids(t.ask(b"1\t=\t1\t\t100\t0\t@\t0\t4\t3\t99\t1\t12")[0], 4) == [3, 1, 12]
    assert ids(t.ask(b"2\t=\t1\t\t100\t0\t@\t0\t2\t2\t1\tL\t2\tR")[0], 3) == [11, 8, 10, 7]
    assert ids(t.ask(b"2\t=\t2\t\t\t100\t0\t@@\t2\t1\t10\t2\t20")[0], 3) == [1, 2]
    assert ids(t.ask(b"3\t^=\t1\ts1\t100\t0")[0], 2) == [1, 5, 9]
    assert ids(t.ask(b"3\t=\t1\t\0\t100\t0")[0], 2) == [12]
    assert t.ask(b"2\t>\t1\t0\t0\t0\t#") == [b"0\t1\t9"]


# ---- changes


@pytest.mark.parametrize("engine", ENGINES)
def test_changes(table: MakeTable, engine: str) -> None:
    t = table(engine)
    assert t.ask(
        b"1\t+\t2\t20\t5",
        b"1\t+\t4\t3\t0\t0\tx",
        b"1\t=\t1\t20\t1\t0\tU\t20\t6\t8\tnew",
        b"2\t=\t2\t6\t8\t1\t0\tC\tn\t+!\t2",
        b"1\t=\t1\t1\t1\t0\tC\tn\t-?\t11",
        b"2\t=\t1\t0\t100\t0\tD",
    ) == [b"0\t1", b"1\t1\t121", b"0\t1\t1", b"0\t1\t10", b"0\t1\t10", b"0\t1\t3"]
    left = [row for row in ROWS if row[1] != 0]
    assert t.rows() == [*left, (20, 6, 10, "new")]


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_whose_key_moves_are_met_once(table: MakeTable, engine: str) -> None:
    t = table(engine)
    assert t.ask(b"2\t>=\t1\t1\t100\t0\tC\tg,n\t+\t1\t1") == [b"0\t1\t9"]
    assert t.rows() == [(row[0], row[1] + (row[1] > 0), row[2] + (row[1] > 0), row[3]) for row in ROWS]
    assert t.ask(b"1\t>\t1\t0\t100\t0\tC\tid\t+\t100") == [b"0\t1\t12"]


@pytest.mark.parametrize("engine", ENGINES)
def test_many_rows_in_one_request(table: MakeTable, engine: str) -> None:
    t = table(engine)
    assert t.ask(
        b"1\t++\t3\t3\t1\t9\t9\t30\t1\t1\t2\t9\t9\tU\t1\t+\t2",
        b"1\t++\t2\t2\t4\t8\t31\t8\tI",
        b"1\t++\t2\t2\t4\t8\t32\t8\tR",
        b"1\t++\t2\t3\t5\t8\t33\t8\t33\t8\tE",
    ) == [
        b"0\t2\t2\t\0\t1\t\0\t2\t\0",
        b"0\t2\t0\t\0\t1\t\0",
        b"0\t2\t2\t\0\t1\t\0",
        b"0\t2\t!121\t\0\t1\t\0\t!121\t\0",
    ]
    changed = {1: (1, 9, 19, "s1"), 2: (2, 9, 29, "s2"), 4: (4, 8, 7, None)}
    added = [(30, 1, 1, None), (31, 8, 7, None), (32, 8, 7, None), (33, 8, 7, None)]
    assert t.rows() == [*(changed.get(row[0], row) for row in ROWS), *added]


@pytest.mark.parametrize(("engine", "stays"), [("ROCKSDB", []), ("Aria", [(40, 1, 7, None)])])
def test_what_a_failed_request_leaves(table: MakeTable, engine: str, stays: list[tuple[object, ...]]) -> None:
    """Without transactions the rows before the one that failed stay, as in SQL."""
    t = table(engine)
    assert t.ask(b"1\t++\t2\t3\t40\t1\t1\t1\t41\t1", b"1\t+\t2\t42\t1") == [b"1\t1\t121", b"0\t1"]
    assert t.rows() == [*ROWS, *stays, (42, 1, 7, None)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", ["", "PARTITION BY HASH (id) PARTITIONS 3"])
def test_triggers_and_partitions(table: MakeTable, engine: str, options: str) -> None:
    t = table(engine, options=options)
    t.database.sql(f"CREATE TABLE log (op CHAR(1), id INT, KEY (id)) ENGINE={engine}")
    for letter, event, row in (("i", "INSERT", "NEW"), ("u", "UPDATE", "NEW"), ("d", "DELETE", "OLD")):
        t.database.sql(
            f"CREATE TRIGGER a{letter} AFTER {event} ON t FOR EACH ROW INSERT INTO log VALUES"
            f" ('{letter}', {row}.id)"
        )
    t.database.sql("CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = NEW.n + 1")
    assert t.ask(
        b"1\t+\t2\t50\t2",
        b"2\t=\t1\t1\t2\t0\tC\ts\tU\tboth",
        b"1\t=\t1\t3\t1\t0\tD",
        b"1\t+\t2\t50\t2",
        b"1\t=\t1\t50",
    ) == [b"0\t1", b"0\t1\t2", b"0\t1\t1", b"1\t1\t121", b"0\t4\t50\t2\t7\t\0"]
    assert t.database.sql("SELECT op, id FROM log ORDER BY op, id") == [
        ("d", 3),
        ("i", 50),
        ("u", 1),
        ("u", 12),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_auto_increment_and_blobs(server: RowSocketServer, database: Database, engine: str) -> None:
    database.sql(
        f"CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, data LONGBLOB, KEY by_data (data(8)))"
        f" ENGINE={engine}"
    )
    with closing(server.raw("write")) as wire:
        assert wire.tokens("P", 1, database.name, "b", "", "data,id") == [b"0", b"1"]
        blobs = [bytes([number]) * (number * 3000) for number in range(1, 6)]
        assert [wire.tokens(1, "+", 1, blob) for blob in blobs] == [
            [b"0", b"1", b"%d" % id] for id in range(1, 6)
        ]
        assert wire.tokens(1, "=", 1, 2, 1, 0, "U", b"short") == [b"0", b"1", b"1"]
        assert wire.tokens(1, "+", 2, b"late", 100) == [b"0", b"1", b"0"]
        assert wire.tokens(1, "+", 1, b"later") == [b"0", b"1", b"101"]
    blobs[1] = b"short"
    assert [row[0] for row in database.sql("SELECT data FROM b ORDER BY id")] == [*blobs, b"late", b"later"]


# ---- groups, locks and transactions


def test_a_group_on_rocksdb_is_done_as_one_or_not_at_all(table: MakeTable) -> None:
    t = table("ROCKSDB")
    assert t.ask(
        b"1\t+\t2\t60\t1", b"G", b"1\t+\t2\t61\t1", b"1\t=\t1\t61\t1\t0\tC\tn\t+!\t1", b"E", b"1\t=\t1\t61"
    ) == [
        b"0\t1",
        b"0\t1",
        b"0\t1",
        b"0\t1\t8",
        b"0\t1",
        b"0\t4\t61\t1\t8\t\0",
    ]
    before = t.rows()
    failing = (b"1\t=\t1\t60\t1\t0\tD", b"2\t=\t1\t1\t100\t0\tC\tn\t+\t1", b"1\t+\t2\t61\t1")
    assert t.ask(b"G", *failing, b"E", b"1\t=\t1\t60\t1\t0\t#") == [
        b"0\t1",
        b"1\t1\tgroup",
        b"1\t1\tgroup",
        b"1\t1\t121",
        b"1\t1\tgroup",
        b"0\t1\t1",
    ]
    assert t.rows() == before


def test_a_group_on_rocksdb_changes_the_index_of_each_changed_column(table: MakeTable) -> None:
    """RocksDB asks only once per statement which columns are changed."""
    t = table("ROCKSDB")
    name = t.database.name.encode()
    assert t.ask(b"P\t4\t%s\tt\t\tn" % name, b"P\t5\t%s\tt\t\ts" % name) == [b"0\t1"] * 2
    changes = (b"4\t=\t1\t1\t1\t0\tU\t77", b"5\t=\t1\t1\t1\t0\tU\tnew")
    assert t.ask(b"G", *changes, b"E") == [b"0\t1", b"0\t1\t1", b"0\t1\t1", b"0\t1"]
    assert t.ask(b"3\t=\t1\tnew", b"2\t=\t2\t1\t77") == [b"0\t2\t1\tnew", b"0\t3\t1\t1\t77"]
    assert [row[2:] for row in t.database.sql("CHECK TABLE t")] == [("status", "OK")]


def test_a_group_over_two_engines_is_done_as_one(table: MakeTable, server: RowSocketServer) -> None:
    t = table("ROCKSDB")
    t.database.sql("CREATE TABLE i (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
    assert t.ask(b"P\t4\t%s\ti\t\tid,n" % t.database.name.encode()) == [b"0\t1"]
    both = (b"1\t+\t2\t70\t1", b"4\t+\t2\t70\t1")
    assert t.ask(b"G", *both, b"E") == [b"0\t1"] * 4
    assert t.ask(b"G", b"1\t+\t2\t71\t1", b"4\t+\t2\t70\t1", b"E")[2] == b"1\t1\t121"
    assert t.ask(b"G", b"4\t+\t2\t71\t1", b"1\t+\t2\t70\t1", b"E")[2] == b"1\t1\t121"
    assert (t.database.value("SELECT MAX(id) FROM t"), t.database.sql("SELECT id FROM i")) == (70, [(70,)])


def test_a_group_refuses_aria(table: MakeTable) -> None:
    t = table("Aria")
    assert t.ask(b"G", b"1\t+\t2\t60\t1", b"E") == [b"0\t1", b"1\t1\tnotrans", b"1\t1\tgroup"]
    assert t.ask(b"G", b"1\t=\t1\t1", b"E") == [b"0\t1", b"0\t4\t1\t1\t10\ts1", b"0\t1"]
    assert t.rows() == ROWS


def test_a_row_of_rocksdb_that_sql_has_locked_is_waited_for(
    table: MakeTable, server: RowSocketServer
) -> None:
    t = table("ROCKSDB")
    with t.database.session() as session:
        session.execute("BEGIN")
        session.execute("UPDATE t SET n = n + 1 WHERE id = 1")
        t.wire.send(b"1\t=\t1\t1\t1\t0\tC\tn\t+!\t1\n")
        server.wait_until("has parked it", lambda: server.counter("parked") > 0)
        session.execute("COMMIT")
    assert t.wire.line() == b"0\t1\t12"


def test_a_row_of_rocksdb_that_changed_since_the_snapshot_is_changed_nevertheless(
    table: MakeTable, server: RowSocketServer
) -> None:
    """RocksDB answers Busy to a transaction whose snapshot is older than the row: the request runs again."""
    t = table("ROCKSDB")
    t.database.script(
        "CREATE TABLE held (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB;\nINSERT INTO held"
        " VALUES (1, 1)"
    )
    assert t.ask(b"P\t4\t%s\theld\t\tid,n" % t.database.name.encode()) == [b"0\t1"]
    with t.database.session() as session:
        session.execute("BEGIN")
        session.execute("SELECT * FROM held FOR UPDATE")
        t.wire.send(b"1\t=\t1\t1\n4\t=\t1\t1\t1\t0\tU\t1\t2\n1\t=\t1\t1\t1\t0\tC\tn\t+!\t1\n")
        wait_for_a_row_lock_wait(server)
        t.database.sql("UPDATE t SET n = 100 WHERE id = 1")
        session.execute("COMMIT")
    assert t.wire.lines(3)[1:] == [b"0\t1\t1", b"0\t1\t101"]


# ---- the server around


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_for_themselves_that_a_read_only_server_refuses(
    table: MakeTable, server: RowSocketServer, engine: str
) -> None:
    """None of them has written: the second is not held up by the first one's transaction."""
    t = table(engine)
    with changed_global(server, "read_only", "ON"):
        assert t.ask(b"1\t++\t2\t2\t80\t1\t81\t1\tE") == [b"0\t2\t!1290\t\0\t!1290\t\0"]
    assert t.rows() == ROWS


def test_commits_of_rocksdb_are_two_phase_and_survive_a_crash(tree: ServerTree, template: Path) -> None:
    with RowSocketServer(tree, template, OPTIONS) as server:
        server.sql("CREATE DATABASE d")
        for name, engine in (("r", "ROCKSDB"), ("a", "Aria TRANSACTIONAL=1"), ("i", "InnoDB")):
            server.sql(f"CREATE TABLE d.{name} (id INT PRIMARY KEY, n INT NOT NULL) ENGINE={engine}")
        with server.raw("write") as wire:
            assert (
                wire.ask_all(*(b"P\t%d\td\t%s\t\tid,n" % pair for pair in enumerate((b"r", b"a", b"i"))))
                == [b"0\t1"] * 3
            )
            for number in range(40):
                lines = [b"%d\t+\t2\t%d\t1" % (table, number) for table in range(3)]
                group = (
                    b"G",
                    b"0\t=\t1\t%d\t1\t0\t+\t0\t1" % number,
                    b"2\t=\t1\t%d\t1\t0\t+\t0\t1" % number,
                    b"E",
                )
                failing = (b"G", b"0\t=\t1\t%d\t1\t0\tD" % number, b"2\t+\t2\t%d\t1" % number, b"E")
                assert wire.ask_all(*lines, *group, *failing)[:7] == [
                    *[b"0\t1"] * 4,
                    *[b"0\t1\t1"] * 2,
                    b"0\t1",
                ]
        server.crash()
        server.start()
        for name, n in (("r", 2), ("a", 1), ("i", 2)):
            assert server.sql(f"SELECT id, n FROM d.{name} ORDER BY id") == [
                (number, n) for number in range(40)
            ]
        plugin: Options = {"plugin-load-add": "ha_rocksdb"}
        assert assert_binlog_equals_tables(server, options=plugin).two_phase >= 40


def test_the_plugin_goes_while_rocksdb_and_aria_are_in_use(tree: ServerTree, template: Path) -> None:
    with RowSocketServer(tree, template, OPTIONS) as server:
        server.sql("CREATE DATABASE d")
        with server.raw("write") as wire, server.raw("read") as reader:
            for number, engine in enumerate(ENGINES):
                server.sql(f"CREATE TABLE d.t{number} (id INT PRIMARY KEY) ENGINE={engine}")
                for one in (wire, reader):
                    assert one.tokens("P", number, "d", f"t{number}", "", "id") == [b"0", b"1"]
                assert wire.tokens(number, "+", 1, 1) == [b"0", b"1"]
                assert reader.tokens(number, "=", 1, 1) == [b"0", b"1", b"1"]
            server.sql("UNINSTALL SONAME 'rowsocket'")
            assert wire.closed() and reader.closed()
        assert not is_loaded(server)
        assert server.sql("SELECT * FROM d.t0 UNION ALL SELECT * FROM d.t1") == [(1,), (1,)]
        server.sql("INSTALL SONAME 'rowsocket'")
        assert is_loaded(server)
        assert "[ERROR]" not in server.log_text()


@pytest.mark.parametrize(
    "find", [b"1\t=\t1\t3\t50\t0", b"1\t=\t1\t\t50\t0\t@\t0\t1\t3", b"1\t=\t1\t3\t50\t0\tR"]
)
@pytest.mark.parametrize("index", ["ka", "kab"])
def test_a_find_on_rocksdb_need_not_name_the_columns_of_its_key(
    database: Database, server: RowSocketServer, index: str, find: bytes
) -> None:
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT, KEY ka (a), KEY kab (a, b)) ENGINE=ROCKSDB"
    )
    database.sql("INSERT INTO t SELECT seq, seq % 5, seq % 3, seq FROM seq_1_to_30")
    with server.raw("read") as client:
        assert client.ask(b"P\t1\t%b\tt\t%b\tc" % (database.name.encode(), index.encode())) == b"0\t1"
        values = client.ask(find).split(b"\t")[2:]
        assert sorted(map(int, values)) == [3, 8, 13, 18, 23, 28]
        assert client.ask(find + b"\t#") == b"0\t1\t6"
