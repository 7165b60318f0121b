# SPDX-License-Identifier: GPL-2.0-only
"""Code that calls deeply, run by a trigger, ends at the stack's end, and not the server with it."""

from __future__ import annotations

from support.mariadb import Database, RowSocketServer, Start

PROCEDURES = 6  # that call each other: each may be there 255 times
DEPTH = 1500
STACK_OVERRUN = b"1\t1\t1436"


def test_a_thread_stack_of_more_than_the_system_gives_ends_no_server(start: Start) -> None:
    server = start(RowSocketServer, {"thread-stack": "20M"})
    database = Database(server, "app")
    database.sql("CREATE TABLE t (depth INT PRIMARY KEY)")
    for number in range(PROCEDURES):
        called = f"CALL p{(number + 1) % PROCEDURES}(depth - 1)"
        database.sql(f"CREATE PROCEDURE p{number}(depth INT) BEGIN IF depth > 0 THEN {called}; END IF; END")
    database.sql(
        "CREATE TRIGGER calls BEFORE INSERT ON t FOR EACH ROW"
        " BEGIN SET SESSION max_sp_recursion_depth = 255; CALL p0(NEW.depth); END"
    )
    database.sql("INSERT INTO t VALUES (%s)", [DEPTH])
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tdepth") == b"0\t1"
        assert client.ask(b"1\t+\t1\t%d" % (DEPTH - 1)) in (b"0\t1", STACK_OVERRUN)
