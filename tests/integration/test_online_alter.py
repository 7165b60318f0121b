# SPDX-License-Identifier: GPL-2.0-only
"""Writes beside an ALTER TABLE that copies the table. 11.8 lets them go on, and adds them to the copy at its
end; 10.11 lets them wait."""

from __future__ import annotations

import threading
from collections.abc import Callable

from support.mariadb import Database
from support.raw import RawConnection

ROWS = 20_000
ALTERS = 3


def test_no_change_beside_a_copying_alter_is_lost(
    database: Database, raw: Callable[[str], RawConnection]
) -> None:
    """The connection's tables stay open from one transaction to the next, and the ALTER sees all of them."""
    database.sql("CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL, filler CHAR(200) NOT NULL)")
    database.sql(f"INSERT INTO counter SELECT seq, 0, 'x' FROM seq_1_to_{ROWS}")
    altered = threading.Event()

    def alter() -> None:
        try:
            for number in range(ALTERS):
                kind = ("BIGINT", "INT")[number % 2]
                database.sql(f"ALTER TABLE counter MODIFY n {kind} NOT NULL, ALGORITHM=COPY")
        finally:
            altered.set()

    connection = raw("write")
    assert connection.tokens("P", 1, database.name, "counter", "PRIMARY", "n") == [b"0", b"1"]
    thread = threading.Thread(target=alter)
    thread.start()
    changes = 0
    while not altered.is_set():
        row = 1 + changes % ROWS
        assert connection.tokens(1, "=", 1, row, 1, 0, "+", 1) == [b"0", b"1", b"1"]
        changes += 1
    thread.join()
    assert changes > 0
    assert database.value("SELECT SUM(n) FROM counter") == changes
