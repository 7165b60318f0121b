# SPDX-License-Identifier: GPL-2.0-only
"""information_schema.ROWSOCKET_LATENCY and its kin: readers take little memory of what they may not see."""

from __future__ import annotations

import pytest

from support.accounts import OK, account
from support.mariadb import RowSocketServer, Start
from support.schema_tables import rows, seen, session_of

MEBIBYTE = 1 << 20
TABLE_COUNT, INDEX_COUNT = 40, 60
KINDS = 5
READERS_MIB_MAX = 5  # of their SQL sessions; what is counted takes 20 MiB


@pytest.fixture
def busy(start: Start) -> RowSocketServer:
    """A server that has timed requests of each kind for 2400 indexes."""
    server = start(
        RowSocketServer,
        {"skip-log-bin": None, "loose-rowsocket-request-times": 1, "loose-rowsocket-max-indexes": 10_000},
    )
    server.sql("CREATE DATABASE app")
    columns = ", ".join(f"c{number} INT, KEY k{number} (c{number})" for number in range(INDEX_COUNT))
    with server.raw("write") as client:
        for table in range(TABLE_COUNT):
            server.sql(f"CREATE TABLE app.t{table} (id INT PRIMARY KEY, {columns}) ENGINE = MyISAM")
            names = [b"P\t%d\tapp\tt%d\tk%d\tid,c0" % (index, table, index) for index in range(INDEX_COUNT)]
            assert client.ask_all(*names) == [OK] * INDEX_COUNT
            for index in range(INDEX_COUNT):
                changes = [
                    b"%d\t=\t1\t1\t1\t0%s" % (index, what) for what in (b"\tU\t1\t1", b"\tD", b"\t+\t0\t1")
                ]
                client.ask_all(b"%d\t=\t1\t1" % index, *changes, b"%d\t+\t2\t1\t%d" % (index, index))
    return server


def test_what_a_reader_may_not_see_is_not_copied_for_it(busy: RowSocketServer) -> None:
    with (
        account(busy, "nobody@localhost"),
        account(busy, "somebody@localhost", grants=["SELECT ON app.t7"]),
        session_of(busy, "nobody") as nobody,
        session_of(busy, "somebody") as somebody,
    ):
        before = busy.memory_bytes()
        for table in ("LATENCY", "PERCENTILES", "TABLES"):
            assert rows(nobody, table) == []
            assert {row["TABLE_NAME"] for row in rows(somebody, table)} == {"t7"}
        assert (busy.memory_peak_bytes() - before) / MEBIBYTE < READERS_MIB_MAX


def test_who_may_see_everything_sees_each_index_once(busy: RowSocketServer) -> None:
    found = [(row["TABLE_NAME"], row["INDEX_NAME"]) for row in seen(busy, "TABLES", "TABLE_SCHEMA = 'app'")]
    named = {(f"t{table}", f"k{index}") for table in range(TABLE_COUNT) for index in range(INDEX_COUNT)}
    assert len(found) == len(set(found)) and set(found) >= named
    percentiles = seen(busy, "PERCENTILES", "TABLE_SCHEMA = 'app'")
    asked = [row for row in percentiles if row["INDEX_NAME"] != "PRIMARY"]
    kinds = {(row["TABLE_NAME"], row["INDEX_NAME"], row["OPERATION"]) for row in asked}
    assert len(kinds) == len(asked) >= len(named) * (KINDS - 1)
