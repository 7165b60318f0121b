# SPDX-License-Identifier: GPL-2.0-only
"""Tables that were in use when the server died are mended when they are first opened, as SQL's opening does
it."""

from __future__ import annotations

import pytest

import rowsocket
from support.mariadb import Database, RowSocketServer, Start


@pytest.mark.parametrize("port", ["read", "write"])
def test_a_table_that_a_crash_left_open_is_mended_by_the_first_request(start: Start, port: str) -> None:
    server = start(
        RowSocketServer, {"myisam-recover-options": "FORCE,BACKUP", "aria-recover-options": "FORCE"}
    )
    database = Database(server, "d")
    for name, options in (("m", "ENGINE=MyISAM"), ("a", "ENGINE=Aria TRANSACTIONAL=0")):
        database.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY, n INT) {options}")
        database.sql(f"INSERT INTO {name} VALUES (1, 1), (2, 2)")
        index = next((server.data / "d").glob(f"{name}.M[YA]I"))
    with server.connect("d") as session, session.cursor() as cursor:
        cursor.execute("LOCK TABLES m WRITE, a WRITE")
        cursor.execute("INSERT INTO m VALUES (3, 3)")
        cursor.execute("INSERT INTO a VALUES (3, 3)")
        server.crash()
    assert index.exists()
    server.start()
    log_before = len(server.log_text())
    address = server.read_address() if port == "read" else server.write_address()
    with rowsocket.connect(*address, text=True) as client:
        for name in ("m", "a"):
            rows = client.open_index("d", name, "id,n")
            assert rows.get(2) == ("2", "2")
            if port == "write":
                rows.insert([9, 9])
                assert rows.update(9, [9, 10]) == 1
    assert "d/m" in server.log_text()[log_before:]
    for name in ("m", "a"):
        assert server.sql(f"CHECK TABLE d.{name} EXTENDED")[-1][3] == "OK"


def test_a_table_that_cannot_be_opened_makes_no_other_write_fail(start: Start) -> None:
    """A file that is missing looks like one of the binlog's cache. No rollback takes the other row back."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    database = Database(server, "app")
    database.sql("CREATE TABLE broken (id INT PRIMARY KEY) ENGINE=MyISAM")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=Aria")
    database.sql("CREATE TRIGGER counts BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 1")
    database.sql("FLUSH TABLES")
    (server.data / "app" / "broken.MYD").unlink()
    with server.raw("write") as one, server.raw("write") as other:
        assert other.ask(b"P\t2\tapp\tt\t\tid") == b"0\t1"
        assert one.ask(b"P\t1\tapp\tbroken\t\tid").startswith(b"1\t1\topen_table")
        assert other.ask(b"2\t+\t1\t1") == b"0\t1"
    assert database.sql("SELECT * FROM t") == [(1, 1)]
