# SPDX-License-Identifier: GPL-2.0-only
"""What the command can name and put: bytes, NULL, negative numbers, keys with '=', names with points."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from support.command_page import Run, environment_of, runner, sql_url
from support.mariadb import Database, RowSocketServer


@pytest.fixture
def run(server: RowSocketServer, database: Database) -> Run:
    """The command, on a fresh database."""
    return runner(server, database.name, ROWSOCKET_SQL=sql_url(server))


def done_well(run: Run, *words: str) -> str:
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, ""), words
    return done.stdout


def got(run: Run, *words: str) -> Any:
    return json.loads(done_well(run, *words, "--json"))


# ── bytes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_bytes_are_put_found_set_and_deleted(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE t (id VARBINARY(20) PRIMARY KEY, b VARBINARY(20), n INT)")
    done_well(run, "put", "t", "id:hex=00FF", "b:base64=/wAB", "n=1")
    done_well(run, "put", "t", "id:hex=00fe", "b=", "n=2")
    assert database.sql("SELECT id, b FROM t ORDER BY n") == [
        (b"\x00\xff", b"\xff\x00\x01"),
        (b"\x00\xfe", b""),
    ]

    for key in (":hex=00FF", ":base64=AP8="):
        row = got(run, "get", "t", key)
        assert base64.b64decode(row["b"]) == b"\xff\x00\x01"
    found = done_well(run, "find", "t", ":hex=00", "--op", ">=", "--to", "<:hex=00FF", "--json", "-c", "n")
    assert [json.loads(line) for line in found.splitlines()] == [{"n": 2}]
    assert done_well(run, "count", "t", ":hex=00", "--op", "^=") == "2\n"
    assert done_well(run, "set", "t", ":hex=00FF", "b:hex=") == "1 row\n"
    assert database.sql("SELECT b FROM t WHERE n = 1") == [(b"",)]
    assert done_well(run, "delete", "t", ":hex=00FF") == "1 row\n"


def test_null_is_a_key_and_a_text_may_look_like_one(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), KEY by_v (v))")
    done_well(run, "put", "t", "id=1", "v:null")
    done_well(run, "put", "t", "id=2", "v=:null")
    assert got(run, "get", "t", ":null", "-i", "by_v") == {"id": 1, "v": None}
    assert got(run, "get", "t", ":text=:null", "-i", "by_v") == {"id": 2, "v": ":null"}


@pytest.mark.parametrize(
    "words",
    [
        [b"get", b"t", b"\xff"],
        [b"get", b"\xff", b"1"],
        [b"get", b"t", b"1", b"-c", b"\xff"],
        [b"put", b"t", b"id=1", b"v=\xff"],
        [b"set", b"t", b"1", b"\xff=1"],
        [b"find", b"t", b"1", b"--op", b">=", b"--to", b"<\xff"],
        [b"--url", b"rowsocket://127.0.0.1/\xff", b"get", b"t", b"1"],
    ],
)
def test_what_is_no_utf_8_is_told_plainly(
    server: RowSocketServer, database: Database, words: list[bytes]
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))")
    command = [os.fsencode(sys.executable), b"-m", b"rowsocket", *words]
    environment = environment_of(server, database.name, ROWSOCKET_SQL=sql_url(server))
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert b"is not UTF-8. Bytes are said as :hex=FF00" in done.stderr
    assert b"codec" not in done.stderr


# ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_may_have_an_equals_sign(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE s (k VARCHAR(20) PRIMARY KEY, n INT)")
    done_well(run, "put", "s", "k=Zm9v=", "n=1")
    assert done_well(run, "set", "s", "Zm9v=", "n=5") == "1 row\n"
    assert done_well(run, "set", "s", "--", "Zm9v=", "n=6") == "1 row\n"
    assert database.sql("SELECT k, n FROM s") == [("Zm9v=", 6)]


def test_more_parts_of_a_key_with_an_equals_sign(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE s (a VARCHAR(20), b VARCHAR(20), n INT, PRIMARY KEY (a, b))")
    done_well(run, "put", "s", "a=a=b", "b=b=c", "n=1")
    assert done_well(run, "set", "s", "a=b", "b=c", "n=5", "--key-parts", "2") == "1 row\n"
    assert database.sql("SELECT a, b, n FROM s") == [("a=b", "b=c", 5)]


def test_the_other_end_of_a_range_is_one_of_the_last_part(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE two (a INT, b INT, PRIMARY KEY (a, b))")
    database.sql("INSERT INTO two VALUES (1, 1), (1, 5), (1, 9), (2, 1), (3, 1)")
    upwards, downwards = (["--op", ">=", "--to", "<=5"], ["--op", "<", "--to", ">1"])
    found = done_well(run, "find", "two", "1", "1", *upwards, "--json", "-c", "a,b")
    assert [json.loads(line) for line in found.splitlines()] == [{"a": 1, "b": 1}, {"a": 1, "b": 5}]
    assert done_well(run, "count", "two", "1", "9", *downwards) == "1\n"
    assert done_well(run, "delete", "two", "1", "1", *upwards, "--limit", "0") == "2 rows\n"
    assert done_well(run, "count", "two", "1", "--op", ">=", "--to", "<3") == "2\n"


def test_the_other_end_of_a_range_is_taken_as_it_stands(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE t (name VARCHAR(9) PRIMARY KEY)")
    database.sql("INSERT INTO t VALUES (' a'), (' x'), ('=x'), ('a'), ('x')")
    for to, count in (("< x", 1), ("<=x", 5), ("<:text==x", 2)):
        assert done_well(run, "count", "t", "", "--op", ">=", "--to", to) == f"{count}\n", to


def test_a_negative_number_is_a_value(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, d DECIMAL(5,2), h TIME, KEY by_d (d), KEY by_h (h))")
    done_well(run, "put", "t", "id=-1", "d=-.5", "h=-12:30:00")
    assert got(run, "get", "t", "-1", "-c", "id") == {"id": -1}
    assert got(run, "get", "t", "-c", "id", "-.5", "-i", "by_d") == {"id": -1}
    assert got(run, "get", "t", "-12:30:00", "-i", "by_h", "-c", "id") == {"id": -1}
    assert done_well(run, "find", "t", "-5", "--op", ">", "--json", "-c", "id") == '{"id": -1}\n'
    assert done_well(run, "count", "t", "-1") == "1\n"
    assert done_well(run, "set", "t", "-1", "d=2") == "1 row\n"
    assert done_well(run, "delete", "t", "-1") == "1 row\n"
    assert run("get", "t", "-x").returncode == 2
    assert run("get", "t", "1", "--limt", "5").returncode == 2


# ── put ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("keys", ["UNIQUE one (id)", "KEY one (id)", "KEY one (v(3))"])
def test_put_needs_no_primary_key(run: Run, database: Database, keys: str) -> None:
    database.sql(f"CREATE TABLE t (id INT NOT NULL, v VARCHAR(20), {keys})")
    assert done_well(run, "put", "t", "id=1", "v=x") == "inserted\n"
    assert database.sql("SELECT id, v FROM t") == [(1, "x")]
    if keys.startswith("UNIQUE"):
        assert done_well(run, "put", "t", "id=1", "v=z") == "changed\n"
        assert run("put", "t", "id=1", "v=z", "--if-absent").stdout == "unchanged\n"


@pytest.mark.parametrize("first", ["UNIQUE first (b)", "FULLTEXT first (v), UNIQUE (w)"])
def test_put_takes_another_index_where_the_first_has_no_order(
    run: Run, database: Database, first: str
) -> None:
    database.sql(f"CREATE TABLE t (v VARCHAR(20), w TEXT, b BLOB, {first}, KEY second (v))")
    done = run("put", "t", "v=x", "b=y")
    assert (done.returncode, "order to walk" in done.stderr) == (3, True)
    assert done_well(run, "put", "t", "v=x", "b=y", "--index", "second") == "inserted\n"


def test_a_table_without_an_index_is_told(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT)")
    done = run("put", "t", "id=1")
    assert done.returncode == 3
    assert "index" in done.stderr


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_names_in_backticks_are_those_of_sql(server: RowSocketServer, run: Run, database: Database) -> None:
    database.sql("CREATE TABLE `my.t` (`i.d` INT PRIMARY KEY, `a=b` INT, `c``d` INT)")
    done_well(run, "put", "`my.t`", "`i.d`=1", "`a=b`=2", "c`d=3")
    assert got(run, "get", "`my.t`", "1") == {"i.d": 1, "a=b": 2, "c`d": 3}
    assert got(run, "get", f"{database.name}.`my.t`", "1", "-c", "`i.d`,`c``d`") == {"i.d": 1, "c`d": 3}
    assert done_well(run, "set", f"`{database.name}`.`my.t`", "1", "`a=b`:null") == "1 row\n"
    assert database.sql("SELECT `a=b` FROM `my.t`") == [(None,)]


def test_a_column_that_is_named_twice_is_refused(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY)")
    done = run("get", "t", "1", "--columns", "id,id", "--json")
    assert (done.returncode, "'id' is named twice" in done.stderr) == (2, True)


def test_a_column_with_a_comma_is_told_to_have_no_name(run: Run, database: Database) -> None:
    database.sql("CREATE TABLE t (`a,b` INT PRIMARY KEY)")
    done = run("get", "t", "1", "--columns", "`a,b`")
    assert (done.returncode, "the protocol can not name the column 'a,b'" in done.stderr) == (2, True)
