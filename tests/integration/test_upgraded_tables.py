# SPDX-License-Identifier: GPL-2.0-only
"""Tables with history that an older MariaDB has made: since 11.5, current rows end in 2106 instead of 2038.

Until mariadb-upgrade has made such a table anew, the server takes its current rows for old ones.
"""

from __future__ import annotations

from support.mariadb import Database, RowSocketServer, Start

VERSION_AT = 0x33
"""Where a table's definition (frm) says by which server it was made."""
OLDER = 101118
ENDS_CHANGED_IN = 110500


def test_a_table_whose_history_an_older_server_has_made_is_refused_until_it_is_made_anew(
    start: Start,
) -> None:
    server = start(RowSocketServer, {})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING")
    server.sql("FLUSH TABLES")
    definition = server.data / "app" / "t.frm"
    content = bytearray(definition.read_bytes())
    made_by = int.from_bytes(content[VERSION_AT : VERSION_AT + 4], "little")
    content[VERSION_AT : VERSION_AT + 4] = OLDER.to_bytes(4, "little")
    definition.write_bytes(content)
    opening = b"P\t1\tapp\tt\t\tid,n"
    insert = b"1\t+\t2\t1\t1"
    with server.raw("write") as client:
        is_refused = client.ask(opening).startswith(b"1\t1\topen_table") or client.ask(insert) != b"0\t1"
    assert is_refused == (made_by >= ENDS_CHANGED_IN)
    database.sql("ALTER TABLE t FORCE")
    with server.raw("write") as client:
        assert client.ask_all(opening, b"1\t+\t2\t2\t2") == [b"0\t1"] * 2
