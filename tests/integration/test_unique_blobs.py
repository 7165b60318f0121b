# SPDX-License-Identifier: GPL-2.0-only
"""Unique keys over BLOBs, which the server keeps by a hash: enforced as in SQL, over any number of turns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rowsocket
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, RowSocketServer, Start
from support.twins import Twins

MakeTwins = Callable[..., Twins]
LONG = "x" * 5000


@pytest.fixture(params=["InnoDB", "MyISAM"])
def pages(make_twins: MakeTwins, request: pytest.FixtureRequest) -> Twins:
    """Twins with a unique text of any length."""
    return make_twins(
        "id INT AUTO_INCREMENT PRIMARY KEY, body TEXT, n INT, UNIQUE (body) USING HASH",
        f"ENGINE={request.param}",
    )


def test_inserts_in_turn_after_turn_are_checked(pages: Twins) -> None:
    index = pages.index("body,n")
    for n, body in enumerate(["a", LONG, LONG + "y", "", None, None]):
        index.insert([body, n])
        pages.sql("INSERT INTO twin (body, n) VALUES (%s, %s)", body, n)
    for body in ("a", LONG, LONG + "y", ""):
        with pages.unchanged(), pytest.raises(rowsocket.DuplicateKey):
            index.insert([body, 9])
    pages.assert_equal("body, n", "n")


def test_updates_are_checked(pages: Twins) -> None:
    index = pages.index("body")
    for body in ("a", "b", LONG):
        index.insert([body])
    for taken in ("b", LONG):
        with pages.unchanged(), pytest.raises(rowsocket.DuplicateKey):
            index.update(1, [taken])
    assert index.update(1, ["a"]) == index.update(1, [LONG + "z"]) == index.update(2, ["a"]) == 1
    assert pages.rows("body", "id") == [(f"{LONG}z".encode(),), (b"a",), (LONG.encode(),)]


def test_requests_of_one_turn_see_each_other(pages: Twins) -> None:
    index = pages.index("body")
    with pages.writer.pipeline() as pipe:
        promised = [pipe.insert(index, [body]) for body in ("a", "b", "a", LONG, LONG)]
    assert [isinstance(one.error, rowsocket.DuplicateKey) for one in promised] == [
        False,
        False,
        True,
        False,
        True,
    ]


def test_a_deleted_value_is_free_again(pages: Twins) -> None:
    index = pages.index("body")
    for _ in range(3):
        assert index.insert([LONG]) is not None
        assert index.delete(0, ">", limit=None) == 1
    assert pages.rows() == []


def test_a_duplicate_that_was_kept_is_not_taken_for_the_next_one(pages: Twins) -> None:
    """The server remembers which row was in the way of a unique text, and forgets it only when it looks
    again."""
    index = pages.index("id,body,n")
    rows = ((1, "a", 1), (2, "b", 2))
    for row in rows:
        index.insert(row)
        pages.sql("INSERT INTO twin VALUES (%s, %s, %s)", *row)
    assert index.insert_ignore([3, "a", 3]).outcome == "unchanged"
    assert index.upsert([2, "c", 5], update=["body"], add=["n"]).outcome == "changed"
    pages.sql(
        "INSERT INTO twin VALUES (2, 'c', 5) ON DUPLICATE KEY UPDATE body = VALUES(body), n = n + VALUES(n)"
    )
    pages.assert_equal()
    assert index.insert_ignore([3, "a", 3]).outcome == "unchanged"
    assert index.replace([2, "d", 9]).outcome == "changed"
    pages.sql("REPLACE INTO twin VALUES (2, 'd', 9)")
    pages.assert_equal()


ONE_HASH = ("acgc", "acnt")
"""Two values that the server's hash of a BLOB does not tell apart."""


@pytest.fixture
def of_one_hash(make_twins: MakeTwins) -> Twins:
    """Twins with two rows: the server looks for a long key by its hash, and finds both."""
    twins = make_twins("id INT PRIMARY KEY, body BLOB, n INT, UNIQUE (body) USING HASH")
    for number, body in enumerate(ONE_HASH, start=1):
        twins.index("id,body,n").insert([number, body, number])
        twins.sql("INSERT INTO twin VALUES (%s, %s, %s)", number, body, number)
    return twins


def test_an_upsert_changes_the_row_of_its_value_and_none_of_the_same_hash(of_one_hash: Twins) -> None:
    of_one_hash.index("id,body,n").upsert([3, ONE_HASH[1], 5], update=["n"])
    of_one_hash.sql("INSERT INTO twin VALUES (3, %s, 5) ON DUPLICATE KEY UPDATE n = 5", ONE_HASH[1])
    of_one_hash.assert_equal()


def test_a_replace_takes_the_row_of_its_value_and_none_of_the_same_hash(of_one_hash: Twins) -> None:
    of_one_hash.index("id,body,n").replace([3, ONE_HASH[1], 5])
    of_one_hash.sql("REPLACE INTO twin VALUES (3, %s, 5)", ONE_HASH[1])
    of_one_hash.assert_equal()


def test_an_update_whose_key_is_taken_names_that_key(start: Start) -> None:
    """Not the one of a row that was kept before."""
    server = start(
        RowSocketServer, {"loose-rowsocket-threads-write": 1, "loose-rowsocket-error-detail": "ON"}
    )
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, body TEXT, UNIQUE by_body (body) USING HASH)")
    database.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    with server.raw("write") as client:
        replies = client.ask_all(
            b"P\t1\tapp\tt\t\tid,body", b"1\t++\t2\t1\t3\ta\tI", b"1\t=\t1\t2\t1\t0\tU\t1\tb"
        )
    assert replies == [b"0\t1", b"0\t2\t0\t\0", b"1\t1\t121\tDuplicate entry '1' for key 'PRIMARY'"]


def test_the_hash_that_the_server_keeps_of_a_long_key_is_no_column(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-error-detail": "ON"})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, body TEXT, UNIQUE by_body (body) USING HASH)")
    refused = b"2\t1\tfld\tno column 'DB_ROW_HASH_1' in app.t"
    with server.raw("read") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid,DB_ROW_HASH_1") == refused
        assert client.ask(b"P\t1\tapp\tt\t\tid\tDB_ROW_HASH_1") == refused


def test_a_deadlock_in_the_check_of_a_long_key_is_none_of_the_clients(start: Start) -> None:
    """The check reads the row of SQL, which has changed more rows and waits for the new one."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, body TEXT, n INT, UNIQUE (body) USING HASH)")
    with server.raw("write") as client, database.session() as session:
        assert client.ask(b"P\t1\tapp\tt\t\tid,body,n") == b"0\t1"
        session.execute("BEGIN")
        session.execute("INSERT INTO t SELECT seq, CONCAT('body', seq), 0 FROM seq_1_to_500")
        client.send(b"1\t++\t3\t1\t1000\tbody1\t5\tU\t2\n")
        wait_for_a_row_lock_wait(server)
        session.execute("SELECT * FROM t WHERE id = 1000 FOR UPDATE")
        session.execute("COMMIT")
        assert client.line() == b"0\t2\t2\t\0"
    assert database.sql("SELECT id, n FROM t WHERE id IN (1, 1000)") == [(1, 5)]
