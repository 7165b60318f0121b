# SPDX-License-Identifier: GPL-2.0-only
"""Replies that say another thing than what was done."""

from __future__ import annotations

from support.mariadb import RowSocketServer, Start


def test_a_group_that_was_binlogged_has_its_gtid_also_in_another_domain(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (id INT PRIMARY KEY)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tid") == b"0\t1"
        client.send(b"G\tgtid\n1\t+\t1\t1\nE\n")
        assert client.lines(3)[-1] == b"0\t1\t0-1-3"
        server.sql("SET GLOBAL gtid_domain_id = 7")
        with server.connect("app").cursor() as session:
            session.execute("INSERT INTO t VALUES (2)")
            session.execute("INSERT INTO t VALUES (3)")
        client.send(b"G\tgtid\n1\t+\t1\t4\nE\n")
        assert client.lines(3)[-1] == b"0\t1\t7-1-3"


def test_the_id_of_a_row_that_was_there_can_be_negative(start: Start) -> None:
    server = start(RowSocketServer)
    server.sql("CREATE DATABASE app")
    server.sql("CREATE TABLE app.t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) UNIQUE, n INT)")
    server.sql("INSERT INTO app.t VALUES (-5, 'a', 0)")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tt\t\tname,n") == b"0\t1"
        assert client.ask(b"1\t++\t2\t1\ta\t1\tI") == b"0\t2\t0\t-5"
        assert client.ask(b"1\t++\t2\t1\ta\t1\tU\t1") == b"0\t2\t2\t-5"
