# SPDX-License-Identifier: GPL-2.0-only
"""The SQL session that all tests of a server share: what cuts one test's statement is not another one's."""

from __future__ import annotations

import pymysql
import pytest

from support.mariadb import RowSocketServer


def test_the_statement_behind_one_that_was_cut_has_a_new_session(server: RowSocketServer) -> None:
    mine = server.value("SELECT CONNECTION_ID()")
    with server.connect() as other, other.cursor() as cursor:
        cursor.execute("KILL %s", [mine])
    with pytest.raises(pymysql.err.MySQLError):
        server.sql("SELECT 1")
    assert server.value("SELECT CONNECTION_ID()") != mine
