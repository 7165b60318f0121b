# SPDX-License-Identifier: GPL-2.0-only
"""Inserts of many rows and what they do about duplicates: what SQL's own statements leave in a twin table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection
from support.twins import Twins

MakeTwins = Callable[..., Twins]
USERS = (
    "id INT PRIMARY KEY, email VARCHAR(20) UNIQUE, n INT NOT NULL DEFAULT 5, seen TIMESTAMP(6) NULL ON"
    " UPDATE NOW(6)"
)


@pytest.fixture
def wire(server: RowSocketServer, database: Database) -> Iterator[RawConnection]:
    """A raw connection to the write port."""
    with server.raw("write") as connection:
        yield connection


def opened(wire: RawConnection, twins: Twins, columns: str, filter_columns: str = "") -> RawConnection:
    """`t` opened as 1."""
    assert wire.tokens("P", 1, twins.database, "t", "", columns, filter_columns) == [b"0", b"1"]
    return wire


def in_both(twins: Twins, statement: str) -> None:
    """The same SQL on both tables; the table's name is {}."""
    for table in ("t", "twin"):
        twins.sql(statement.format(table))


def outcomes(reply: list[bytes]) -> list[bytes]:
    """The first value of each pair of a reply."""
    assert reply[:2] == [b"0", b"2"], reply
    return reply[2::2]


def ids(reply: list[bytes]) -> list[bytes]:
    return reply[3::2]


def test_many_rows_are_inserted_by_one_request(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(USERS)
    reply = opened(wire, twins, "id,email").tokens(1, "++", 2, 3, 1, "a", 2, "b", 3, None)
    assert reply == [b"0", b"2", b"1", b"\0", b"1", b"\0", b"1", b"\0"]
    twins.sql("INSERT INTO twin (id, email) VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    twins.assert_equal()


@pytest.mark.parametrize("bad", [[2, "a"], [1, "z"], ["x", "z"], [4, "longer than twenty characters"]])
def test_one_bad_row_leaves_none_of_them(make_twins: MakeTwins, wire: RawConnection, bad: list[Any]) -> None:
    twins = make_twins(USERS)
    in_both(twins, "INSERT INTO {} (id, email) VALUES (1, 'a')")
    with twins.unchanged():
        reply = opened(wire, twins, "id,email").tokens(1, "++", 2, 3, 8, "x", *bad, 9, "y")
    assert reply[0] == b"1"


def test_each_row_for_itself_keeps_the_good_ones(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(USERS)
    reply = opened(wire, twins, "id,email").tokens(1, "++", 2, 4, 1, "a", 1, "b", "x", "c", 2, "d", "E")
    assert outcomes(reply) == [b"1", b"!121", b"!1366", b"1"]
    assert twins.rows("id, email") == [(b"1", b"a"), (b"2", b"d")]


def test_rows_for_themselves_need_no_transactions(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT", "ENGINE=Aria")
    reply = opened(wire, twins, "id,v").tokens(1, "++", 2, 3, 1, 1, 1, 2, 2, 2, "E")
    assert outcomes(reply) == [b"1", b"!121", b"1"]
    assert twins.rows() == [(b"1", b"1"), (b"2", b"2")]


def test_generated_ids_are_returned_row_by_row(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE")
    reply = opened(wire, twins, "id,v").tokens(1, "++", 2, 4, None, 1, 10, 2, None, 3, None, 4)
    assert ids(reply) == [b"1", b"0", b"11", b"12"]
    assert twins.rows("id, v") == [(b"1", b"1"), (b"10", b"2"), (b"11", b"3"), (b"12", b"4")]


def test_ignore_leaves_the_row_that_is_there_and_says_its_id(
    make_twins: MakeTwins, wire: RawConnection
) -> None:
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE, w INT")
    in_both(twins, "INSERT INTO {} VALUES (7, 1, 100)")
    reply = opened(wire, twins, "v,w").tokens(1, "++", 2, 2, 1, 200, 2, 300, "I")
    assert outcomes(reply) == [b"0", b"1"]
    twins.sql("INSERT IGNORE INTO twin (v, w) VALUES (1, 200), (2, 300)")
    assert ids(reply) == [b"7", twins.sql("SELECT id FROM t WHERE v = 2")[0][0]]
    assert twins.rows("v, w") == twins.sql("SELECT v, w FROM twin ORDER BY 1")


@pytest.mark.parametrize("clause", [["I"], ["U", "1"]], ids=["ignore", "upsert"])
def test_the_id_made_for_a_row_that_is_there_goes_to_the_next_row_as_in_sql(
    make_twins: MakeTwins, wire: RawConnection, clause: list[str]
) -> None:
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, n INT UNIQUE, v INT")
    in_both(twins, "INSERT INTO {} VALUES (1, 100, 0)")
    rows = opened(wire, twins, "n,v").tokens(1, "++", 2, 3, 200, 2, 100, 1, 300, 3, *clause)
    assert ids(rows)[::2] == [b"2", b"3"]
    ignore, behind = ("", "ON DUPLICATE KEY UPDATE v = VALUES(v)") if clause[0] == "U" else ("IGNORE", "")
    twins.sql(f"INSERT {ignore} INTO twin (n, v) VALUES (200, 2), (100, 1), (300, 3) {behind}")
    twins.assert_equal()


def test_ignore_is_about_duplicates_only(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(USERS)
    with twins.unchanged():
        assert opened(wire, twins, "id,n").tokens(1, "++", 2, 1, 1, None, "I") == [b"1", b"1", b"1048"]


def test_ignore_takes_no_row_against_a_check(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT CHECK (n > 0)")
    with twins.unchanged():
        assert opened(wire, twins, "id,n").tokens(1, "++", 2, 2, 1, 1, 2, 0, "I") == [b"1", b"1", b"4025"]


def test_replace_deletes_every_row_in_the_way(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(USERS)
    in_both(twins, "INSERT INTO {} (id, email, n) VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)")
    reply = opened(wire, twins, "id,email").tokens(1, "++", 2, 2, 1, "b", 9, "z", "R")
    assert outcomes(reply) == [b"2", b"1"]
    twins.sql("REPLACE INTO twin (id, email) VALUES (1, 'b'), (9, 'z')")
    twins.assert_equal()


def test_a_replacement_of_two_rows_tells_the_id_that_was_made_for_it(
    make_twins: MakeTwins, wire: RawConnection
) -> None:
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, b INT UNIQUE")
    in_both(twins, "INSERT INTO {} VALUES (1, 1, 1), (2, 2, 2)")
    assert ids(opened(wire, twins, "a,b").tokens(1, "++", 2, 1, 1, 2, "R")) == [b"3"]
    twins.sql("REPLACE INTO twin (a, b) VALUES (1, 2)")
    twins.assert_equal()


def test_a_replacement_may_name_the_generated_id_of_its_row(
    make_twins: MakeTwins, wire: RawConnection
) -> None:
    twins = make_twins("id INT AUTO_INCREMENT PRIMARY KEY, v INT")
    in_both(twins, "INSERT INTO {} (v) VALUES (5)")
    reply = opened(wire, twins, "id,v").tokens(1, "++", 2, 1, 1, 6, "R")
    assert outcomes(reply) == [b"2"]
    twins.sql("REPLACE INTO twin (id, v) VALUES (1, 6)")
    twins.assert_equal()


def test_an_upsert_sets_and_adds_in_the_row_that_is_there(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(USERS)
    in_both(twins, "INSERT INTO {} (id, email, n) VALUES (1, 'a', 40)")
    reply = opened(wire, twins, "id,email,n").tokens(
        1, "++", 3, 2, 1, "new", 2, 2, "b", 7, "U", "1", "+", "2"
    )
    assert outcomes(reply) == [b"2", b"1"]
    twins.sql(
        "INSERT INTO twin (id, email, n) VALUES (1, 'new', 2), (2, 'b', 7)"
        " ON DUPLICATE KEY UPDATE email = VALUES(email), n = n + VALUES(n)"
    )
    twins.assert_equal("id, email, n, seen IS NULL")


def test_a_time_that_an_upsert_gives_and_does_not_set_is_that_of_the_change(
    make_twins: MakeTwins, wire: RawConnection
) -> None:
    twins = make_twins(USERS)
    in_both(twins, "INSERT INTO {} (id, n, seen) VALUES (1, 5, '2020-01-01')")
    given = (1, 9, "2020-01-01 00:00:00")
    assert outcomes(opened(wire, twins, "id,n,seen").tokens(1, "++", 3, 1, *given, "U", "1")) == [b"2"]
    twins.sql("INSERT INTO twin (id, n, seen) VALUES (%s, %s, %s) ON DUPLICATE KEY UPDATE n = 9", *given)
    twins.assert_equal("id, n, seen > '2021-01-01'")


def test_a_time_that_a_request_sets_is_set_by_no_later_one(
    make_twins: MakeTwins, wire: RawConnection
) -> None:
    twins = make_twins(USERS)
    in_both(twins, "INSERT INTO {} (id, n, seen) VALUES (1, 5, '2020-01-01'), (2, 5, '2020-01-01')")
    for number, columns in ((1, "seen"), (2, "n"), (3, "id,n,seen")):
        assert wire.tokens("P", number, twins.database, "t", "", columns) == [b"0", b"1"]
    sets, changes = b"1\t=\t1\t1\t1\t0\tU\t2020-02-02 00:00:00", b"2\t=\t1\t2\t1\t0\tU\t6"
    assert wire.ask_all(sets, changes) == [b"0\t1\t1"] * 2
    assert twins.rows("n, seen = '2020-02-02', seen > '2021-01-01'", "id") == [
        (b"5", b"1", b"0"),
        (b"6", b"0", b"1"),
    ]


def test_an_upsert_may_cross_zero_as_in_sql(make_twins: MakeTwins) -> None:
    """A decrement may not."""
    twins = make_twins("id INT PRIMARY KEY, n INT, d DECIMAL(5,2), f DOUBLE")
    in_both(twins, "INSERT INTO {} VALUES (1, 5, 5, 5)")
    twins.index("id,n,d,f").upsert([1, -10, "-5.5", -6], add=["n", "d", "f"])
    twins.sql("UPDATE twin SET n = n - 10, d = d - 5.5, f = f - 6")
    twins.assert_equal()


def test_an_upsert_that_changes_nothing_says_so(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(USERS)
    in_both(twins, "INSERT INTO {} (id, email) VALUES (1, 'a')")
    with twins.unchanged():
        assert outcomes(opened(wire, twins, "id,email").tokens(1, "++", 2, 1, 1, "a", "U", "1")) == [b"0"]


@pytest.mark.parametrize("default", ["NULL", "1"])
def test_an_upsert_of_null_over_null_changes_nothing(
    make_twins: MakeTwins, wire: RawConnection, default: str
) -> None:
    twins = make_twins(f"id INT PRIMARY KEY, n INT DEFAULT {default}")
    in_both(twins, "INSERT INTO {} VALUES (1, NULL)")
    with twins.unchanged():
        assert outcomes(opened(wire, twins, "id,n").tokens(1, "++", 2, 1, 1, None, "U", "1")) == [b"0"]


def test_an_upsert_that_meets_another_key_is_an_error(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(USERS)
    in_both(twins, "INSERT INTO {} (id, email) VALUES (1, 'a'), (2, 'b')")
    with twins.unchanged():
        assert opened(wire, twins, "id,email").tokens(1, "++", 2, 1, 1, "b", "U", "1") == [b"1", b"1", b"121"]


@pytest.mark.parametrize(
    ("clause", "sql"),
    [
        (["R"], "REPLACE INTO twin (id, a, b) VALUES (1, 10, 'x'), (5, 2, 'y')"),
        (["I"], "INSERT IGNORE INTO twin (id, a, b) VALUES (1, 10, 'x'), (5, 2, 'y')"),
        (
            ["U", "2"],
            (
                "INSERT INTO twin (id, a, b) VALUES (1, 10, 'x'), (5, 2, 'y') ON DUPLICATE KEY UPDATE b ="
                " VALUES(b)"
            ),
        ),
    ],
)
@pytest.mark.parametrize(
    ("definition", "options"),
    [
        ("id INT PRIMARY KEY, a INT, b VARCHAR(9), UNIQUE (a)", ""),
        ("id INT PRIMARY KEY, a INT, b TEXT, UNIQUE (b)", ""),
        (
            (
                "id INT PRIMARY KEY, a INT, b VARCHAR(9), v INT AS (a + 1) VIRTUAL, s INT AS (a * 2) STORED,"
                " UNIQUE (v), KEY (s)"
            ),
            "",
        ),
        ("id INT PRIMARY KEY, a INT, b VARCHAR(9)", "PARTITION BY HASH (id) PARTITIONS 3"),
        ("id INT PRIMARY KEY, a INT, b VARCHAR(9), UNIQUE (a)", "WITH SYSTEM VERSIONING"),
        ("id INT PRIMARY KEY, a INT, b VARCHAR(9), UNIQUE (a)", "ENGINE=Aria"),
        ("id INT PRIMARY KEY, a INT, b VARCHAR(9), UNIQUE (a)", "ENGINE=MyISAM"),
    ],
)
def test_duplicates_end_as_in_sql_in_every_kind_of_table(
    make_twins: MakeTwins, wire: RawConnection, definition: str, options: str, clause: list[str], sql: str
) -> None:
    twins = make_twins(definition, options)
    in_both(twins, "INSERT INTO {} (id, a, b) VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 10, 'x!')")
    reply = opened(wire, twins, "id,a,b").tokens(1, "++", 3, 2, 1, 10, "x", 5, 2, "y", *clause)
    assert reply[0] == b"0", reply
    twins.sql(sql)
    twins.assert_equal("id, a, b")
    if "VERSIONING" in options:
        history = "SELECT id, a, b FROM {} FOR SYSTEM_TIME ALL WHERE row_end < NOW(6) ORDER BY 1, 2, 3"
        assert twins.sql(history.format("t")) == twins.sql(history.format("twin"))


def test_rows_of_one_request_have_one_moment_of_a_history(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT", "WITH SYSTEM VERSIONING")
    opened(wire, twins, "id,v")
    equal = ["1", "++", "2", "2", "1", "10", "1", "10", "U", "1"]
    assert wire.tokens(*equal) == [b"0", b"2", b"1", b"\0", b"0", b"\0"]
    assert wire.tokens(*equal) == [b"0", b"2", b"2", b"\0", b"0", b"\0"]
    for _ in range(2):
        twins.sql("INSERT INTO twin VALUES (1, 10), (1, 10) ON DUPLICATE KEY UPDATE v = VALUES(v)")
    history = "SELECT id, v FROM {} FOR SYSTEM_TIME ALL"
    assert twins.sql(history.format("t")) == twins.sql(history.format("twin")) == [(b"1", b"10")] * 2


@pytest.mark.parametrize(
    ("clause", "sql"),
    [
        (["R"], "REPLACE INTO twin (id, v) VALUES (1, 'new'), (2, 'two')"),
        (["I"], "INSERT IGNORE INTO twin (id, v) VALUES (1, 'new'), (2, 'two')"),
        (
            ["U", "1"],
            "INSERT INTO twin (id, v) VALUES (1, 'new'), (2, 'two') ON DUPLICATE KEY UPDATE v = VALUES(v)",
        ),
    ],
)
def test_triggers_fire_as_in_sql(
    make_twins: MakeTwins, wire: RawConnection, clause: list[str], sql: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(9)")
    in_both(twins, "INSERT INTO {} VALUES (1, 'one')")
    twins.sql("CREATE TABLE log (step INT AUTO_INCREMENT PRIMARY KEY, tab VARCHAR(9), what VARCHAR(60))")
    for table in ("t", "twin"):
        for moment in ("BEFORE", "AFTER"):
            for event, rows in (("INSERT", "NEW.v"), ("UPDATE", "OLD.v, NEW.v"), ("DELETE", "OLD.v")):
                twins.sql(
                    f"CREATE TRIGGER {table}_{moment}_{event} {moment} {event} ON {table} FOR EACH ROW"
                    f" INSERT INTO log (tab, what) VALUES ('{table}', CONCAT_WS(' ', '{moment} {event}',"
                    f" {rows}))"
                )
    opened(wire, twins, "id,v").tokens(1, "++", 2, 2, 1, "new", 2, "two", *clause)
    twins.sql(sql)
    logged = "SELECT what FROM log WHERE tab = %s ORDER BY step"
    assert twins.sql(logged, "t") == twins.sql(logged, "twin") != []


@pytest.mark.parametrize(
    ("clause", "event", "sql"),
    [
        (["R"], "DELETE", "REPLACE INTO twin (id, v) VALUES (1, 'new')"),
        (
            ["U", "1"],
            "UPDATE",
            "INSERT INTO twin (id, v) VALUES (1, 'new') ON DUPLICATE KEY UPDATE v = VALUES(v)",
        ),
    ],
)
def test_a_trigger_sees_what_is_generated_of_the_row_in_the_way(
    make_twins: MakeTwins, wire: RawConnection, clause: list[str], event: str, sql: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY, v VARCHAR(9), w VARCHAR(12) AS (CONCAT('of ', v)) VIRTUAL")
    in_both(twins, "INSERT INTO {} (id, v) VALUES (1, 'one')")
    twins.sql("CREATE TABLE log (tab VARCHAR(9), what VARCHAR(12))")
    log = "INSERT INTO log VALUES ('{0}', OLD.w)"
    in_both(twins, f"CREATE TRIGGER {{0}}_logs BEFORE {event} ON {{0}} FOR EACH ROW {log}")
    reply = opened(wire, twins, "id,v").tokens(1, "++", 2, 1, 1, "new", *clause)
    assert outcomes(reply) == [b"2"]
    twins.sql(sql)
    logged = "SELECT what FROM log WHERE tab = %s"
    assert twins.sql(logged, "t") == twins.sql(logged, "twin") == [(b"of one",)]


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
@pytest.mark.parametrize("clause", [["R"], ["U", "1"]], ids=["replace", "upsert"])
def test_an_index_over_a_generated_text_follows_the_row_in_the_way(
    make_twins: MakeTwins, wire: RawConnection, engine: str, clause: list[str]
) -> None:
    twins = make_twins(
        "id INT PRIMARY KEY, v TEXT, w TEXT AS (CONCAT('of ', v)) VIRTUAL, KEY by_w (w(20))",
        f"ENGINE={engine}",
    )
    in_both(twins, "INSERT INTO {} (id, v) VALUES (1, 'one'), (2, 'two')")
    opened(wire, twins, "id,v")
    for new in ("new", "newer than one"):
        assert outcomes(wire.tokens(1, "++", 2, 1, 1, new, *clause)) == [b"2"]
        [checked] = twins.sql("CHECK TABLE t EXTENDED")
        assert checked[3] == b"OK"
        for word, found in (("one", []), (new, [(b"1",)]), ("two", [(b"2",)])):
            where = "FORCE INDEX (by_w) WHERE w = %s"
            assert twins.sql(f"SELECT id FROM t {where}", f"of {word}") == found


@pytest.mark.parametrize(
    "clause", [[], ["I"], ["R"], ["U", "1"]], ids=["insert", "ignore", "replace", "upsert"]
)
def test_generated_columns_are_of_what_a_trigger_has_set(
    make_twins: MakeTwins, wire: RawConnection, clause: list[str]
) -> None:
    twins = make_twins(
        "id INT PRIMARY KEY, n INT, s INT AS (n + 1) STORED, v INT AS (n + 2) VIRTUAL, KEY by_v (v)"
    )
    in_both(twins, "CREATE TRIGGER {0}_sets BEFORE INSERT ON {0} FOR EACH ROW SET NEW.n = 10 * NEW.n")
    assert outcomes(opened(wire, twins, "id,n").tokens(1, "++", 2, 2, 1, 5, 2, 6, *clause)) == [b"1", b"1"]
    twins.sql("INSERT INTO twin (id, n) VALUES (1, 5), (2, 6)")
    twins.assert_equal()
    assert twins.sql("SELECT id FROM t FORCE INDEX (by_v) WHERE v = 62") == [(b"2",)]


def test_columns_of_the_request_take_the_place_of_the_opened_ones(
    make_twins: MakeTwins, wire: RawConnection
) -> None:
    twins = make_twins(USERS)
    opened(wire, twins, "id")
    assert outcomes(wire.tokens(1, "++", 2, 1, 9, 1, "C", "n,id")) == [b"1"]
    assert wire.tokens(1, "=", 1, 1, 1, 0, "C", "n,email,id") == [b"0", b"3", b"9", b"\0", b"1"]
    assert wire.tokens(1, "=", 1, 1, 1, 0, "C", "n", "U!", 10) == [b"0", b"1", b"10"]
    assert wire.tokens(1, "=", 1, 1, 1, 0, "C", "nope") == [b"2", b"1", b"fld"]
    assert wire.tokens(1, "=", 1, 1) == [b"0", b"1", b"1"]


def test_now_is_the_time_of_the_request(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(
        "id INT PRIMARY KEY, a DATETIME(6), b DATETIME, c TIMESTAMP(3) NULL, d DATE, e TIME(6), f YEAR, g"
        " VARCHAR(30), h BIGINT,"
        " i TIMESTAMP(6) NOT NULL DEFAULT NOW(6)"
    )
    opened(wire, twins, "id,a,b,c,d,e,f,g,h", "a")
    [[before]] = twins.sql("SELECT NOW(6)")
    wire.send(b"\t".join([b"1", b"+", b"9", b"1", *[b"\x01t"] * 8]) + b"\n")
    assert wire.line() == b"0\t1"
    [row] = twins.sql("SELECT a, b, c, d, e, f, g, h, i, a >= %s AND a <= NOW(6) FROM t", before)
    shown = [(value or b"NULL").decode() for value in row]
    a = shown[0]
    date, time = a.split(" ")
    texts = [a, a[:19], a[:23], date, time, a[:4], a[:19], "".join(filter(str.isdigit, a[:19])), a, "1"]
    assert shown == texts
    wire.send(b"1\t>\t1\t0\t9\t0\tF\t<\t0\t\x01t\tC\tid\n")
    assert wire.line() == b"0\t1\t1"


def test_values_after_a_change_are_those_of_the_row(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins(
        "id INT PRIMARY KEY, n INT UNSIGNED NOT NULL, v INT AS (n * 2) VIRTUAL, s INT AS (n * 3) STORED, u"
        " INT DEFAULT 1"
    )
    in_both(twins, "INSERT INTO {} (id, n) VALUES (1, 10), (2, 20), (3, 1)")
    opened(wire, twins, "n,v,s,id")
    assert wire.tokens(1, "=", 1, 1, 1, 0, "+!", 5) == [b"0", b"4", b"15", b"30", b"45", b"1"]
    assert wire.tokens(1, ">=", 1, 1, 9, 0, "U!", 7)[2:] == [
        b"7",
        b"14",
        b"21",
        b"1",
        b"7",
        b"14",
        b"21",
        b"2",
        b"7",
        b"14",
        b"21",
        b"3",
    ]
    twins.sql("CREATE TRIGGER doubles BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = NEW.n * 2")
    assert wire.tokens(1, "=", 1, 1, 1, 0, "+!", 1)[2:4] == [b"16", b"32"]


def test_foreign_keys_hold_for_replace_and_upsert(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins("id INT PRIMARY KEY, v INT")
    in_both(twins, "INSERT INTO {} VALUES (1, 1), (2, 2)")
    twins.sql("CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (id))")
    twins.sql("INSERT INTO child VALUES (1, 1)")
    opened(wire, twins, "id,v")
    with twins.unchanged():
        assert wire.tokens(1, "++", 2, 1, 1, 5, "R") == [b"1", b"1", b"152"]
    assert outcomes(wire.tokens(1, "++", 2, 1, 1, 5, "U", "1")) == [b"2"]


# ── rows that wait, rows that count ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("end", "third"), [("ROLLBACK", b"1"), ("COMMIT", b"!121")])
def test_rows_for_themselves_wait_for_a_locked_row_and_are_each_done_once(
    make_twins: MakeTwins, wire: RawConnection, server: RowSocketServer, end: str, third: bytes
) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT")
    opened(wire, twins, "id,n")
    parked_before = server.counter("parked")
    with server.connect(twins.database) as session, session.cursor() as holder:
        holder.execute("BEGIN")
        holder.execute("INSERT INTO t VALUES (3, 33)")
        rows = b"".join(b"\t%d\t1" % id for id in range(1, 6))
        wire.send(b"1\t++\t2\t5" + rows + b"\tE\n")
        server.wait_until("waits for the row", lambda: server.counter("parked") > parked_before)
        holder.execute(end)
    assert outcomes(wire.line().split(b"\t")) == [b"1", b"1", third, b"1", b"1"]
    assert [row[0] for row in twins.rows()] == [b"1", b"2", b"3", b"4", b"5"]
    assert twins.sql("SELECT SUM(n) FROM t") == [(b"5" if end == "ROLLBACK" else b"37",)]


def test_rows_are_counted_by_what_became_of_them(
    make_twins: MakeTwins, wire: RawConnection, server: RowSocketServer
) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT")
    opened(wire, twins, "id,n")

    def counted(*clause: str) -> tuple[int, int, int]:
        names = ("rows_inserted", "rows_updated", "rows_deleted")
        before = [server.counter(name) for name in names]
        twins.sql("DELETE FROM t")
        twins.sql("INSERT INTO t VALUES (1, 1), (2, 5)")
        assert wire.tokens(1, "++", 2, 3, 1, 5, 2, 5, 3, 5, *clause)[0] == b"0"
        inserted, updated, deleted = (
            server.counter(name) - then for name, then in zip(names, before, strict=True)
        )
        return inserted, updated, deleted

    assert counted("I") == (1, 0, 0)
    assert counted("U", "1") == (1, 1, 0)
    assert counted("+", "1") == (1, 2, 0)
    assert counted("R") == (1, 2, 0)


@pytest.mark.parametrize("clause", ["U", "R"])
def test_a_plain_insert_behind_a_lenient_one_does_not_wait_for_who_reads_the_row_in_the_way(
    make_twins: MakeTwins, server: RowSocketServer, wire: RawConnection, database: Database, clause: str
) -> None:
    """It looks at the row, and does not mean to change it."""
    twins = make_twins("id INT PRIMARY KEY, n INT")
    in_both(twins, "INSERT INTO {} VALUES (1, 1)")
    opened(wire, twins, "id,n")
    parked = server.counter("parked")
    lenient = [clause, "1"] if clause == "U" else [clause]
    with database.session() as reading:
        reading.execute("BEGIN")
        reading.execute("SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE")
        upsert = "\t".join(("1", "++", "2", "1", "2", "2", *lenient)).encode()
        assert wire.ask_all(upsert, b"1\t+\t2\t1\t5") == [b"0\t2\t1\t\0", b"1\t1\t121"]
    assert server.counter("parked") == parked


# ── generated ids ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM", "MEMORY"])
def test_at_the_end_of_the_ids_replace_and_upsert_touch_no_row_that_is_there(
    make_twins: MakeTwins, wire: RawConnection, engine: str
) -> None:
    twins = make_twins("id TINYINT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(9)", f"ENGINE={engine}")
    in_both(twins, "INSERT INTO {} VALUES (126, 'a'), (127, 'last')")
    opened(wire, twins, "email")
    for sql, clause in (("REPLACE", ["R"]), ("INSERT", [])):
        with twins.unchanged():
            assert wire.tokens(1, "++", 1, 1, "x", *clause)[:2] == [b"1", b"1"]
        twins.sql_error(f"{sql} INTO twin (email) VALUES ('x')")
    twins.assert_equal()


@pytest.mark.parametrize("engine", ["Aria", "MyISAM"])
@pytest.mark.parametrize(
    ("clause", "sql"),
    [
        (["I"], "INSERT IGNORE INTO twin (email, n) VALUES {}"),
        (["U", "1"], "INSERT INTO twin (email, n) VALUES {} ON DUPLICATE KEY UPDATE n = VALUES(n)"),
        (["R"], "REPLACE INTO twin (email, n) VALUES {}"),
    ],
)
def test_ids_after_a_row_that_was_there_go_on_as_in_sql(
    make_twins: MakeTwins, wire: RawConnection, engine: str, clause: list[str], sql: str
) -> None:
    """What an id was made for and was not inserted leaves no gap, and the replies say the ids of the rows."""
    twins = make_twins(
        "id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(9) UNIQUE, n INT", f"ENGINE={engine}"
    )
    in_both(twins, "INSERT INTO {} VALUES (1, 'a', 1), (2, 'b', 1)")
    opened(wire, twins, "email,n")
    reply = wire.tokens(1, "++", 2, 4, "a", 5, "c", 5, "b", 5, "d", 5, *clause)
    twins.sql(sql.format("('a', 5), ('c', 5), ('b', 5), ('d', 5)"))
    twins.assert_equal()
    ids = {email: id for id, email in twins.sql("SELECT id, email FROM t")}
    assert [reply[3], reply[5], reply[7], reply[9]] == [ids[email] for email in (b"a", b"c", b"b", b"d")]


def test_null_adds_nothing_in_an_upsert(make_twins: MakeTwins, wire: RawConnection) -> None:
    twins = make_twins("id INT PRIMARY KEY, a INT, b INT")
    in_both(twins, "INSERT INTO {} VALUES (1, NULL, 5), (2, 5, NULL)")
    reply = opened(wire, twins, "id,a,b").tokens(1, "++", 3, 2, 1, 3, None, 2, None, 3, "+", "1,2")
    assert outcomes(reply) == [b"0", b"0"]
    assert twins.rows() == [(b"1", None, b"5"), (b"2", b"5", None)]


@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
def test_a_plain_insert_after_a_lenient_one_is_strict_again(
    make_twins: MakeTwins, wire: RawConnection, engine: str
) -> None:
    twins = make_twins("id INT PRIMARY KEY, n INT", f"ENGINE={engine}")
    in_both(twins, "INSERT INTO {} VALUES (1, 1)")
    opened(wire, twins, "id,n")
    for clause, after in ((["I"], b"1"), (["R"], b"5"), (["U", "1"], b"5")):
        assert wire.tokens(1, "++", 2, 1, 1, 5, *clause)[0] == b"0"
        assert wire.tokens(1, "+", 2, 1, 9) == [b"1", b"1", b"121"]
        assert twins.rows() == [(b"1", after)]
