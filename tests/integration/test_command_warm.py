# SPDX-License-Identifier: GPL-2.0-only
"""What `rowsocket warm` reads of indexes whose keys say less than where a row is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.accounts import PASSWORD, account
from support.command_page import DATABASE, PAGE, Run, runner, sql_url
from support.mariadb import RowSocketServer
from support.tree import ServerTree

ROWS = 6000


def rows_read(server: RowSocketServer, run: Run, index: str) -> int:
    """By `rowsocket warm`, of an index of shop.t."""
    done = run("warm", "t", "--index", index, "--rate", "0", "--json", ROWSOCKET_SQL=sql_url(server))
    assert (done.returncode, done.stderr) == (0, "")
    return int(json.loads(done.stdout)["rows_read"])


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        ("v FLOAT, KEY k (v)", "16777000 + seq MOD 216"),
        ("v FLOAT, KEY k (v)", "16777016"),
        ("v FLOAT, KEY k (v)", "seq / 7"),
        ("v FLOAT, KEY k (v DESC)", "seq / 7"),
        ("v DOUBLE, KEY k (v)", "seq / 7"),
        ("v INT, KEY k (v DESC)", "NULLIF(seq, 7)"),
        ("v INT, w INT DEFAULT 1, KEY k (v DESC, w, id DESC)", "IF(seq MOD 3, NULL, seq)"),
        ("v INT, KEY k (v, id DESC)", "seq MOD 3"),
        ("v VARCHAR(9), KEY k (v(3))", "CONCAT('x', seq)"),
        ("v VARCHAR(9), KEY k (v(3))", "CONCAT('same', seq)"),
        ("v VARCHAR(9) COLLATE utf8mb4_bin, KEY k (v(2) DESC)", "NULLIF(CONCAT('ä', seq), 'ä7')"),
        ("v BLOB, KEY k (v(2), id)", "CONCAT(X'FF', seq)"),
        ("v CHAR(4), KEY k (v)", "SUBSTRING('aAbB\t ', 1 + seq MOD 6, 1)"),
        ("v CHAR(4) CHARACTER SET sjis, KEY k (v)", "IF(seq MOD 2, X'8AC3', X'8ABF')"),
        ("v BIT(20), KEY k (v)", "seq"),
        ("v TIME(6), KEY k (v)", "SEC_TO_TIME(seq / 7 - 100)"),
        ("v ENUM('b', 'a'), KEY k (v)", "1 + seq MOD 2"),
    ],
)
def test_each_row_of_an_index_is_read_once(shop: RowSocketServer, run: Run, columns: str, value: str) -> None:
    shop.sql(f"CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY, {columns}) CHARSET utf8mb4")
    shop.sql(f"INSERT INTO shop.t (v) SELECT {value} FROM shop.seq_1_to_{ROWS}")
    assert rows_read(shop, run, "k") == ROWS


def test_the_hour_that_comes_twice_is_read_once(
    tree: ServerTree, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    before_s = (
        1729983600 - 3600
    )  # of Unix time; the clocks of 2024 were put back an hour after the first hour
    with RowSocketServer(tree, template) as server:
        server.sql(f"CREATE DATABASE {DATABASE}")
        for order in ("ASC", "DESC"):
            columns = f"id INT AUTO_INCREMENT PRIMARY KEY, v TIMESTAMP, KEY k (v {order})"
            moments = f"SELECT FROM_UNIXTIME({before_s} + seq) FROM shop.seq_1_to_{3 * ROWS}"
            server.sql(f"CREATE OR REPLACE TABLE shop.t ({columns})")
            server.sql(f"INSERT INTO shop.t (v) {moments}")
            [[twice]] = server.sql("SELECT COUNT(*) - COUNT(DISTINCT CAST(v AS CHAR)) FROM shop.t")
            assert twice == 3600
            assert rows_read(server, runner(server), "k") == 3 * ROWS


def test_an_account_with_the_privileges_of_the_page_is_told_the_pages(
    shop: RowSocketServer, run: Run
) -> None:
    run("put", "user", "id=1", "name=Ada")
    grants = re.findall("`GRANT (.*?)`", PAGE)
    with account(shop, "app@localhost", grants=["SELECT ON shop.*", *grants]):
        url = f"mysql://app:{PASSWORD}@/?unix_socket={shop.socket}".replace(" ", "%20")
        done = run("warm", "user", "--json", ROWSOCKET_SQL=url)
    assert (done.returncode, done.stderr) == (0, "")
    for one in map(json.loads, done.stdout.splitlines()):
        assert (one["pages"] > 0, one["pages_in"] > 0) == (True, True)
