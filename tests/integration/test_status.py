# SPDX-License-Identifier: GPL-2.0-only
"""What RowSocket shows of itself: status values, process list, log; and KILL."""

from __future__ import annotations

import os

from support.kills import close_all
from support.mariadb import Database, RowSocketServer, Start
from support.plugin import changed, make_table, opened
from support.ports import free_ports

CORES = os.cpu_count() or 1

STATUS_VALUES = {
    *("connections_accepted", "connections_closed", "connections_refused", "connections_timed_out"),
    *("connections_read", "connections_write", "bytes_received", "bytes_sent"),
    *(
        "requests_open_index",
        "requests_find",
        "requests_in_list",
        "requests_insert",
        "requests_update",
        "requests_delete",
    ),
    *("requests_increment", "requests_group", "requests_authenticate", "requests_unknown"),
    "requests_lenient",
    *("rows_read", "rows_inserted", "rows_updated", "rows_deleted"),
    *("errors_request", "errors_authentication", "errors_table", "errors_engine", "errors_internal"),
    *("logins", "logins_refused", "logins_untried"),
    "connections_killed",
    *("account_connections_refused", "account_connections_closed", "requests_held_back"),
    *("connections_tls", "tls_handshakes", "tls_handshakes_failed"),
    *("turns", "turn_requests", "requests_per_turn", "commits", "commit_failures", "replays", "parked"),
    *(
        "connections_moved",
        "hand_overs",
        "stand_ins_missed",
        "threads",
        "stand_ins_idle",
        "waited_alone",
        "requests_stopped",
    ),
    *("requests_put_off", "commits_before_long"),
    "broken_invariants",
    *("table_opens", "metadata_lock_releases"),
}


DOORS = "SHOW GLOBAL VARIABLES LIKE 'rowsocket_port_%'"


def test_every_status_value_is_shown(server: RowSocketServer) -> None:
    shown = {name.removeprefix("Rowsocket_") for name in server.status("Rowsocket%")}
    # Each door has a port: a protocol that is registered is no change of this list.
    ports = {str(name).removeprefix("rowsocket_") for name, _ in server.sql(DOORS)}
    assert {"port_read", "port_write", "port_memcached", "port_resp"} <= ports
    assert shown == STATUS_VALUES | ports


def test_status_counts_what_clients_do(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 0)")
    before = {name: server.counter(name) for name in STATUS_VALUES if name != "requests_per_turn"}
    requests = [
        f"P\t1\t{database.name}\tt\t\tk,v,n".encode(),
        f"P\t2\t{database.name}\tt\t\tn".encode(),
        *(b"1\t+\t2\t%d\tx" % k for k in range(5)),
        b"1\t+\t2\t0\tagain",
        b"1\t>=\t1\t0\t3\t0",
        b"1\t=\t1\t\t9\t0\t@\t0\t2\t1\t2",
        b"1\t=\t1\t1\t1\t0\tU\t1\ty\t5",
        b"2\t=\t1\t2\t1\t0\t+\t5",
        b"1\t=\t1\t4\t1\t0\tD",
        b"nonsense",
        b"A\t1\twrong",
        b"P\t3\tnowhere\tt\t\tk",
    ]
    with server.raw("write") as connection:
        replies = connection.ask_all(*requests)
    server.wait_until(
        "closed the connection", lambda: server.counter("connections_closed") > before["connections_closed"]
    )
    after = {name: server.counter(name) - before[name] for name in before}
    expected = {
        "connections_accepted": 1,
        "requests_open_index": 3,
        "requests_find": 2,
        "requests_in_list": 1,
        "requests_insert": 6,
        "requests_update": 1,
        "requests_increment": 1,
        "requests_delete": 1,
        "requests_unknown": 1,
        "requests_authenticate": 1,
        "rows_inserted": 5,
        "rows_updated": 2,
        "rows_deleted": 1,
        "errors_request": 1,
        "errors_engine": 1,
        "errors_table": 1,
        "errors_authentication": 1,
        "errors_internal": 0,
        "commit_failures": 0,
        "bytes_received": sum(len(request) + 1 for request in requests),
        "bytes_sent": sum(len(reply) + 1 for reply in replies),
        "turn_requests": len(requests),
    }
    assert {name: after[name] for name in expected} == expected
    assert after["rows_read"] >= 8 and after["table_opens"] >= 1
    assert 1 <= after["commits"] <= after["turns"] <= len(requests)
    assert float(server.status("Rowsocket_requests_per_turn")["Rowsocket_requests_per_turn"]) > 0


def test_tables_that_were_opened_are_given_back(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20))")
    before = server.counter("metadata_lock_releases")
    with server.raw("read") as connection:
        opened(connection, database.name)
        server.wait_until("gave the table back", lambda: server.counter("metadata_lock_releases") > before)


def test_workers_show_in_the_process_list(server: RowSocketServer) -> None:
    def said() -> str:
        return " ".join(
            str(state)
            for (state,) in server.sql(
                "SELECT state FROM information_schema.processlist WHERE host = 'rowsocket'"
            )
        )

    server.wait_until(
        "a worker of each kind said so", lambda: "read worker" in said() and "write worker" in said()
    )
    assert "connections" in said()


def test_a_worker_that_has_opened_a_table_still_says_what_it_is(start: Start) -> None:
    """The server's open_tables empties the state of who called it."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-read": 1, "loose-rowsocket-threads-write": 1})
    server.sql("CREATE DATABASE d")
    server.sql("CREATE TABLE d.t (id INT PRIMARY KEY)")
    with server.raw("read") as wire:
        assert wire.ask(b"P\t1\td\tt\t\tid") == b"0\t1"
        assert worker_counts(server) == (1, 1)


def worker_counts(server: RowSocketServer) -> tuple[int, int]:
    """How many read and write workers there are."""
    workers = server.sql("SELECT state FROM information_schema.processlist WHERE host = 'rowsocket'")
    return sum("read worker" in state for (state,) in workers), sum(
        "write worker" in state for (state,) in workers
    )


def test_by_default_reads_have_all_cores_and_writes_share_few_commits(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 0})
    assert worker_counts(server) == (CORES, max(CORES // 4, 1))


def test_one_port_for_all_has_all_cores(start: Start) -> None:
    port = free_ports(1)[0]
    ports = {"loose-rowsocket-port-read": port, "loose-rowsocket-port-write": port}
    server = start(RowSocketServer, {"loose-rowsocket-threads-write": 0, **ports})
    assert worker_counts(server) == (0, CORES)


def test_killed_worker_closes_its_connections_and_serves_new_ones(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-threads-read": 1})
    make_table(server)
    with server.raw("read") as connection:
        opened(connection)
        close_all(server)
        assert connection.closed()
    with server.raw("read") as reader, server.raw("write") as writer:
        assert opened(reader).ask(b"1\t=\t1\t1") == b"0\t2\t1\tone"
        assert opened(writer).ask(b"1\t+\t2\t3\tthree") == b"0\t1"


def test_log_says_where_it_serves_and_names_a_connection_that_it_closes(server: RowSocketServer) -> None:
    lines = server.log_text().splitlines()
    assert any("[Note] rowsocket" in line and f"127.0.0.1:{server.read_port}" in line for line in lines)
    with changed(server, max_line_bytes=4096), server.raw("read") as connection:
        port = connection.socket.getsockname()[1]
        connection.send(b"x" * 10_000)
        assert connection.line() == b"2\t1\ttoolong"
        assert connection.closed()
    said = f"127.0.0.1:{port}"
    server.wait_until("names the connection in its log", lambda: said in server.log_text())
    assert any("[Warning]" in line and said in line for line in server.log_text().splitlines())
