# SPDX-License-Identifier: GPL-2.0-only
"""What the engine's cursor does to rows of real tables, before any protocol can ask for all of it.

The requests come as SQL, through src/mariadb/cursor_probe; the server of these tests has no RowSocket.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mariadb import Database, MariaDB
from support.tree import ServerTree, environment_path

LIBRARY = "rowsocket_cursor_probe.so"
LARGEST = str(2**64 - 1)
Word = str | bytes


class Probe:
    """Table `t` of a database, and requests to it; each answers in the words of cursor_probe.cc."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.sql = database.sql

    def make(self, columns: str, values: str, options: str = "") -> None:
        """The table, with one row of id 1."""
        self.sql("DROP TABLE IF EXISTS t")
        self.sql(f"CREATE TABLE t (id INT PRIMARY KEY, {columns}) {options}")
        self.sql(f"INSERT INTO t VALUES (1, {values})")

    def ask(self, *words: Word) -> str:
        """One request."""
        marks = ", ".join(["%s"] * (len(words) + 1))
        query = f"SELECT rowsocket_cursor({marks})"
        text: bytes = self.database.value(query, [f"table={self.database.name}.t", *words])
        return text.decode("utf-8", "backslashreplace")

    def change(self, *words: Word, columns: str = "v") -> str:
        """Change the row of id 1."""
        return self.ask(f"columns={columns}", "key=1", *words)

    def insert(self, *words: Word, columns: str = "id,v", filter_columns: str = "v") -> str:
        """Insert a row, and tell which one is there afterwards."""
        return self.ask(f"columns={columns}", f"filter_columns={filter_columns}", "tells_row", *words)

    def value(self, column: str = "v") -> object:
        """A column of the row of id 1, as SQL has it."""
        return self.database.value(f"SELECT {column} FROM t WHERE id = 1")


@pytest.fixture(scope="module")
def probed_server(tree: ServerTree, template: Path) -> Iterator[MariaDB]:
    """A server with the probe."""
    folder = environment_path("ROWSOCKET_PLUGIN_DIR") / "cursor_probe"
    if not (folder / LIBRARY).is_file():
        pytest.skip("not built: ROWSOCKET_CONFORMANCE is off")
    with MariaDB(tree, template, {"plugin-dir": str(folder), "plugin-maturity": "experimental"}) as server:
        server.sql(f"INSTALL SONAME '{LIBRARY}'")
        server.sql(f"CREATE FUNCTION rowsocket_cursor RETURNS STRING SONAME '{LIBRARY}'")
        yield server


@pytest.fixture
def probe(probed_server: MariaDB) -> Iterator[Probe]:
    """A fresh database."""
    database = Database(probed_server, "probe")
    yield Probe(database)
    database.drop()


@pytest.mark.parametrize(
    "type",
    [
        "CHAR(6)",
        "VARCHAR(6)",
        "VARCHAR(6) COLLATE utf8mb4_bin",
        "VARCHAR(6) CHARACTER SET utf8mb3",
        "VARCHAR(6) CHARACTER SET latin1",
        "VARCHAR(6) CHARACTER SET ucs2",
        "TEXT CHARACTER SET utf16",
        "LONGTEXT",
        "VARCHAR(60) COMPRESSED",
        "TEXT COMPRESSED",
    ],
)
def test_texts_are_joined_by_characters(probe: Probe, type: str) -> None:
    probe.make(f"v {type}", "'äb'")
    assert probe.change("append 0=cö") == "changed|äbcö"
    assert probe.change("prepend 0=ß") == "changed|ßäbcö"
    assert probe.change("append 0=NULL") == "changed|ßäbcö"
    assert probe.value() == "ßäbcö"


@pytest.mark.parametrize("type", ["VARBINARY(6)", "TINYBLOB", "BLOB"])
def test_bytes_are_joined_as_they_are(probe: Probe, type: str) -> None:
    probe.make(f"v {type}", "x'FF00'")
    probe.change(b"append 0=\x80\x01")
    probe.change(b"prepend 0=\xc3")
    assert probe.value() == b"\xc3\xff\x00\x80\x01"


def test_what_is_joined_to_null_is_all_there_is(probe: Probe) -> None:
    probe.make("v VARCHAR(6)", "NULL")
    assert probe.change("append 0=ab") == "changed|ab"


@pytest.mark.parametrize(
    ("type", "room"),
    [("VARCHAR(6)", 6), ("VARBINARY(6)", 6), ("TINYTEXT", 255), ("TINYBLOB", 255), ("BLOB", 65535)],
)
@pytest.mark.parametrize("added", ["xyz", "   "])
def test_a_join_that_is_too_long_is_an_error_even_of_spaces(
    probe: Probe, type: str, room: int, added: str
) -> None:
    probe.make(f"v {type}", f"REPEAT('a', {room - 2})")
    assert probe.change(f"append 0={added}") == "error sql 1406"
    assert probe.change(f"prepend 0={added}") == "error sql 1406"
    assert probe.value("LENGTH(v)") == room - 2
    assert probe.change(f"append 0={added[:2]}") == "changed|" + "a" * (room - 2) + added[:2]


def test_a_join_is_as_long_as_a_packet_at_most(probe: Probe) -> None:
    probe.make("v LONGTEXT", "REPEAT('a', @@max_allowed_packet - 5)")
    assert probe.change("append 0=123456") == "error sql 1301"
    assert probe.change("append 0=12345").endswith("aa12345")


def test_a_join_refuses_what_is_no_text_of_the_column(probe: Probe) -> None:
    probe.make("v VARCHAR(20) CHARACTER SET latin1", "'a'")
    assert probe.change("append 0=→") == "error sql 1366"
    probe.make("v VARCHAR(20)", "'a'")
    assert probe.change(b"append 0=\xc3") == "error sql 1366"
    assert probe.value() == "a"


def test_a_join_drops_nothing_but_the_spaces_behind_a_char(probe: Probe) -> None:
    probe.make("v CHAR(3)", "'ab'")
    assert probe.change("append 0=\t\t") == "error sql 1406"
    assert probe.change("append 0=c") == "changed|abc"
    assert probe.change("append 0=\t") == "error sql 1406"
    assert probe.change("append 0= ") == "changed|abc"


@pytest.mark.parametrize("type", ["INT", "DECIMAL(5,2)", "DATE", "ENUM('a')", "BIT(4)", "UUID"])
def test_only_texts_are_joined(probe: Probe, type: str) -> None:
    probe.make(f"v {type}", "NULL")
    assert probe.change("append 0=1") == "error bad_modification 0"


COUNTED = [
    "BIGINT UNSIGNED",
    "VARCHAR(20)",
    "CHAR(20)",
    "TEXT",
    "VARBINARY(20)",
    "VARCHAR(20) CHARACTER SET ucs2",
]


@pytest.mark.parametrize("type", COUNTED)
def test_counting_wraps_above_64_bits_and_stops_at_0(probe: Probe, type: str) -> None:
    probe.make(f"v {type}", "'5'")
    assert probe.change("add_wrapping 0=7") == "changed|12"
    assert probe.change(f"add_wrapping 0={LARGEST}") == "changed|11"
    assert probe.change("subtract_to_zero 0=2") == "changed|9"
    assert probe.change("subtract_to_zero 0=10") == "changed|0"
    assert probe.change("add_wrapping 0=NULL") == "changed|0"


@pytest.mark.parametrize("operation", ["add_wrapping", "subtract_to_zero"])
@pytest.mark.parametrize("amount", ["", "x", "-1", "+1", " 1", "1.0", "18446744073709551616"])
def test_an_amount_to_count_by_is_a_number_without_a_sign(probe: Probe, operation: str, amount: str) -> None:
    probe.make("v BIGINT UNSIGNED", "5")
    assert probe.change(f"{operation} 0={amount}") == "error not_a_number 0"


@pytest.mark.parametrize(
    ("type", "there"),
    [
        ("BIGINT", "-1"),
        ("BIGINT", "NULL"),
        ("VARCHAR(20)", "NULL"),
        *(("VARCHAR(20)", f"'{text}'") for text in ["", "x", "-1", "1.0", "1 2", "18446744073709551616"]),
    ],
)
def test_what_is_no_number_without_a_sign_is_not_counted(probe: Probe, type: str, there: str) -> None:
    probe.make(f"v {type}", there)
    assert probe.change("add_wrapping 0=1") == "error not_a_number 0"
    assert probe.change("subtract_to_zero 0=1") == "error not_a_number 0"


def test_a_count_that_its_column_can_not_hold_is_an_error(probe: Probe) -> None:
    probe.make("v TINYINT, w VARCHAR(2), x DOUBLE", "127, '99', 1")
    assert probe.change("add_wrapping 0=1") == "error sql 1264"
    assert probe.change("add_wrapping 0=1", columns="w") == "error sql 1406"
    assert probe.change("add_wrapping 0=1", columns="x") == "error bad_modification 0"


def test_sums_and_sets_are_done_to_the_columns_that_they_name(probe: Probe) -> None:
    probe.make("v INT, w VARCHAR(9), x DECIMAL(5,2)", "5, '6', 7.50")
    answer = probe.change("subtract 1=8", "add 2=0.25", "set 0=NULL", columns="v,w,x")
    assert answer == "changed|NULL|-2|7.75"


def test_a_sum_that_keeps_signs_refuses_the_whole_row(probe: Probe) -> None:
    probe.make("v INT, w VARCHAR(9)", "5, 'a'")
    assert probe.change("set 1=b", "subtract 0=6", "keeps_signs", columns="v,w") == "refused|5|a"
    assert probe.sql("SELECT v, w FROM t") == [(5, "a")]
    assert probe.change("subtract 0=5", "keeps_signs") == "changed|0"
    assert probe.change("subtract 0=5", "keeps_signs") == "changed|-5"
    assert probe.change("add 0=6", "keeps_signs").startswith("refused")


@pytest.mark.parametrize("operation", ["append 0=!", "set 0=a!"])
def test_the_rules_of_the_table_hold_for_every_operation(probe: Probe, operation: str) -> None:
    probe.make(
        "v VARCHAR(9) NOT NULL CHECK (v <> 'A!?'), g VARCHAR(9) AS (CONCAT(v, 'g')) STORED,"
        " h VARCHAR(9) AS (CONCAT(v, 'h')) VIRTUAL, changed DATETIME DEFAULT '2000-01-01' ON UPDATE NOW(),"
        " KEY (h)",
        "'a', DEFAULT, DEFAULT, DEFAULT",
    )
    probe.sql("CREATE TRIGGER upper_v BEFORE UPDATE ON t FOR EACH ROW SET NEW.v = UPPER(NEW.v)")
    assert probe.change(operation, columns="v,g,h") == "changed|A!|A!g|A!h"
    assert probe.value("changed > '2001-01-01'") == 1
    assert probe.change("append 0=?") == "error sql 4025"
    assert probe.change("append 1=?", columns="v,g,h") == "error sql 1906"


ENGINES = ["InnoDB", "Aria", "MyISAM", "MEMORY"]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_insert_tells_the_row_that_is_there_afterwards(probe: Probe, engine: str) -> None:
    probe.make("v VARCHAR(9), n INT DEFAULT 7", "'a', 1", f"ENGINE={engine}")
    columns = "id,v,n"
    assert probe.insert("insert fail=2", "insert=b", columns=columns) == "inserted 1|2|b|7"
    assert probe.insert("insert keep=1", "insert=c", columns=columns) == "inserted 0|1|a|1"
    change = ["insert change=1", "insert=c", "on_duplicate append 1"]
    assert probe.insert(*change, columns=columns) == "inserted 2|1|ac|1"
    assert probe.insert("insert replace=1", "insert=d", columns=columns) == "inserted 2|1|d|7"
    assert probe.insert("insert fail=1", "insert=d", columns=columns) == "error engine 121"


def test_an_insert_tells_columns_that_the_server_fills_in(probe: Probe) -> None:
    probe.make("v VARCHAR(9), g VARCHAR(9) AS (CONCAT(v, 'g')) VIRTUAL, b TEXT", "'a', DEFAULT, 'text'")
    probe.sql("ALTER TABLE t MODIFY id INT AUTO_INCREMENT")
    columns = "v,id,g,b"
    assert probe.insert("insert fail=b", columns=columns) == "inserted 1|b|2|bg|NULL"
    assert probe.insert("insert keep=c", "insert=1", columns=columns) == "inserted 0|a|1|ag|text"
    change = ["insert change=c", "insert=1", "on_duplicate prepend 0"]
    assert probe.insert(*change, columns=columns) == "inserted 2|ca|1|cag|text"


@pytest.mark.parametrize("charset", ["latin1", "ucs2", "utf8mb4"])
def test_a_row_that_is_there_is_joined_with_what_a_trigger_made_of_the_new_one(
    probe: Probe, charset: str
) -> None:
    probe.make(f"v VARCHAR(9) CHARACTER SET {charset}", "'ä'")
    probe.sql("CREATE TRIGGER adds BEFORE INSERT ON t FOR EACH ROW SET NEW.v = CONCAT(NEW.v, 'ö')")
    change = ["insert change=1", "insert=ß", "on_duplicate append 1"]
    assert probe.insert(*change) == "inserted 2|1|äßö"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mismatch", ["skip", "stop", "refuse"])
def test_a_row_that_is_there_is_changed_where_the_filters_match_it(
    probe: Probe, engine: str, mismatch: str
) -> None:
    probe.make("v VARCHAR(9)", "'a'", f"ENGINE={engine}")
    change = ["insert change=1", "insert=b", "on_duplicate append 1", f"filter 0 {mismatch} equal=a"]
    assert probe.insert(*change) == "inserted 2|1|ab"
    assert probe.insert(*change) == "inserted 0|1|ab"
    assert probe.value() == "ab"


def test_a_filter_of_duplicates_sees_generated_columns(probe: Probe) -> None:
    probe.make("v VARCHAR(9), g VARCHAR(9) AS (CONCAT(v, 'g')) VIRTUAL", "'a', DEFAULT")
    change = ["insert change=1", "insert=b", "on_duplicate set 1", "filter 0 skip equal=ag"]
    assert probe.insert(*change, filter_columns="g") == "inserted 2|1|b"
    assert probe.insert(*change, filter_columns="g") == "inserted 0|1|b"


def test_a_kept_row_leaves_no_history(probe: Probe) -> None:
    probe.make("v VARCHAR(9)", "'a'", "WITH SYSTEM VERSIONING")
    probe.change("append 0=b")
    change = ["insert change=1", "insert=c", "on_duplicate append 1", "filter 0 skip equal=ab"]
    assert probe.insert(*change) == "inserted 2|1|abc"
    assert probe.insert(*change) == "inserted 0|1|abc"
    assert probe.sql("SELECT v FROM t FOR SYSTEM_TIME ALL ORDER BY row_end") == [("a",), ("ab",), ("abc",)]


def test_a_filter_says_what_becomes_of_a_row_that_does_not_match(probe: Probe) -> None:
    probe.make("v INT", "5")
    for mismatch in ("skip", "stop", "refuse"):
        assert probe.change("filter_columns=v", f"filter 0 {mismatch} equal=6", "add 0=1") == mismatch
    assert probe.change("filter_columns=v", "filter 0 refuse equal=5", "add 0=1") == "changed|6"


@pytest.mark.parametrize(
    ("type", "unset", "early", "late"),
    [
        ("INT", "0", "100", "200"),
        ("BIGINT UNSIGNED", "0", "100", "200"),
        ("DECIMAL(9,2)", "0", "0.4", "0.5"),
        ("DOUBLE", "0", "0.4", "0.5"),
        ("DATE", "0000-00-00", "2020-01-01", "2021-01-01"),
        ("DATETIME(6)", "0000-00-00", "2020-01-01", "2021-01-01"),
        ("TIMESTAMP NULL", "0000-00-00", "2020-01-01", "2021-01-01"),
        ("VARCHAR(9)", "0", "2", "3"),
        ("VARCHAR(9) CHARACTER SET ucs2", "0", "2", "3"),
    ],
)
def test_greater_or_unset_takes_0_and_null_for_unset(
    probe: Probe, type: str, unset: str, early: str, late: str
) -> None:
    probe.sql("SET SESSION sql_mode = ''")

    def matches(there: str, than: str) -> bool:
        probe.make(f"e {type}, v INT", f"{there}, 1")
        return (
            probe.change("filter_columns=e", f"filter 0 skip greater_or_unset={than}", "add 0=1")
            == "changed|2"
        )

    assert matches("NULL", late)
    assert matches(f"'{unset}'", late)
    assert matches(f"'{late}'", early)
    assert not matches(f"'{early}'", late)
    assert not matches(f"'{late}'", late)


def test_changes_are_row_events_in_the_binlog(probe: Probe) -> None:
    probe.make("v VARCHAR(9)", "'a'")
    probe.sql("FLUSH BINARY LOGS")
    probe.change("append 0=b")
    name = probe.sql("SHOW MASTER STATUS")[0][0]
    kinds = [row[2] for row in probe.sql(f"SHOW BINLOG EVENTS IN '{name}'")]
    assert "Update_rows_v1" in kinds


def test_an_argument_that_is_none_is_refused(probe: Probe) -> None:
    probe.make("v INT", "1")
    assert probe.change("multiply 0=2") == "error: an argument is not understood"
