# SPDX-License-Identifier: GPL-2.0-only
"""Requests in the server's general log and slow log, on the switches that SQL's statements have."""

from __future__ import annotations

import contextlib
import threading
import time

from support.accounts import OK, account, client
from support.logs import (
    ONE_OF_EACH,
    OPEN,
    do_one_of_each,
    general_entries,
    general_log,
    requests,
    slow_log,
    slow_requests,
    switched,
)
from support.resp import RespServer
from support.schema_tables import of_client

# ---- the general log


def test_the_general_log_has_a_line_for_each_request(logged: RespServer) -> None:
    log = general_log(logged)
    with switched(logged, general_log=1), logged.raw("write") as wire:
        do_one_of_each(wire)
    assert requests(log) == ONE_OF_EACH


def test_it_is_switched_at_run_time(logged: RespServer) -> None:
    log = general_log(logged)
    with logged.raw("write") as wire:
        wire.ask_all(OPEN, b"1\t=\t1\t1")
        with switched(logged, general_log=1):
            wire.ask(b"1\t=\t1\t2")
        wire.ask(b"1\t=\t1\t3")
        with switched(logged, general_log=1):
            wire.ask(b"1\t=\t1\t4")
    keys = [text.split(" LIMIT")[0] for text in requests(log)]
    assert keys == ["FIND d.t PRIMARY = 2", "FIND d.t PRIMARY = 4"]


def test_requests_have_the_number_of_the_login_that_was_logged(logged: RespServer) -> None:
    log = general_log(logged)
    with account(logged, "app@localhost", grants=["ALL ON d.*"]), switched(logged, general_log=1):
        with client(logged, "app") as wire:
            wire.ask_all(OPEN, b"1\t=\t1\t1")
        logged.wait_until("has seen the client go", lambda: "Quit" in log.text())
        entries = general_entries(log)
    (connected,) = [entry for entry in entries if entry.text == "app@localhost on  using TCP/IP"]
    assert [(entry.command, entry.text) for entry in entries if entry.connection == connected.connection] == [
        ("Connect", "app@localhost on  using TCP/IP"),
        ("Query", "ROWSOCKET " + ONE_OF_EACH[0]),
        ("Query", "ROWSOCKET " + ONE_OF_EACH[2]),
        ("Quit", ""),
    ]


def test_clients_that_name_no_account_have_numbers_too(logged: RespServer) -> None:
    log = general_log(logged)
    with switched(logged, general_log=1), logged.raw("write") as one, logged.raw("write") as other:
        one.ask(OPEN)
        other.ask(OPEN)
        one.ask(b"1\t=\t1\t1")
    connected = {
        entry.connection for entry in general_entries(log) if entry.text.startswith("root@127.0.0.1 on")
    }
    asked = [entry.connection for entry in general_entries(log) if entry.text.startswith("ROWSOCKET")]
    assert len(connected) == 2
    assert set(asked) == connected
    assert asked[0] == asked[2] != asked[1]


def test_the_number_in_the_logs_leads_to_the_client(logged: RespServer) -> None:
    general, slow = general_log(logged), slow_log(logged)
    with (
        account(logged, "app@localhost", grants=["ALL ON d.*"]),
        client(logged, "app") as known,
        logged.raw("write") as guest,
    ):
        guest.ask(OPEN)
        known.ask(OPEN)
        assert of_client(logged, guest)["LOG_ID"] is None
        with switched(logged, general_log=1, slow_query_log=1):
            guest.ask(b"1\t=\t1\t1")
            known.ask(b"1\t=\t1\t2")
        numbers = [of_client(logged, one)["LOG_ID"] for one in (guest, known)]
    asked = [entry.connection for entry in general_entries(general) if entry.text.startswith("ROWSOCKET")]
    assert asked == numbers
    assert [entry.connection for entry in slow_requests(slow)] == numbers


def test_all_protocols_are_logged_alike(logged: RespServer) -> None:
    log = general_log(logged)
    with switched(logged, general_log=1), logged.memcached() as cache, logged.resp() as redis:
        cache.store("set k 0 0", b"hello")
        cache.value("k")
        cache.ask("delete k")
        redis.command("HSET", "shop.user:1", "name", "joe")
        redis.command("HGETALL", "shop.user:1")
        redis.command("MULTI")
        redis.command("HINCRBY", "shop.user:1", "visits", 2)
        redis.command("DEL", "shop.user:1")
        redis.command("EXEC")
    texts = requests(log)
    assert [text.split(" ")[0:2] for text in texts] == [
        ["UPSERT", "app.item"],
        ["FIND", "app.item"],
        ["DELETE", "app.item"],
        ["UPDATE", "shop.user"],
        ["FIND", "shop.user"],
        ["GROUP", "2:"],
    ]
    assert "VALUES ('k', 'hello', 0, " in texts[0]
    assert "UPDATE shop.user PRIMARY = 1 SET visits += 2" in texts[5]
    assert "; DELETE shop.user PRIMARY = 1 " in texts[5]


def test_a_request_that_runs_again_has_one_line(logged: RespServer) -> None:
    """Two clients of two workers meet in deadlocks: requests run again."""
    logged.sql("INSERT INTO d.t VALUES (1, '', 0), (2, '', 0)")
    log = general_log(logged)
    rounds = 200

    def count(first: int, second: int) -> None:
        with logged.raw("write") as wire:
            wire.ask(OPEN)
            for _ in range(rounds):
                group = (
                    f"G\n1\t=\t1\t{first}\t1\t0\t+\t0\t\t1\n1\t=\t1\t{second}\t1\t0\t+\t0\t\t1\nE\n".encode()
                )
                wire.send(group)
                wire.lines(4)

    with switched(logged, general_log=1):
        threads = [threading.Thread(target=count, args=keys) for keys in ((1, 2), (2, 1)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    groups = [text for text in requests(log) if text.startswith("GROUP")]
    assert len(groups) == 4 * rounds


def test_a_request_that_waits_for_a_table_has_one_line(logged: RespServer) -> None:
    log = general_log(logged)
    with (
        switched(logged, general_log=1, slow_query_log=1),
        logged.raw("write") as wire,
        contextlib.closing(logged.connect()) as other,
        other.cursor() as cursor,
    ):
        slow = slow_log(logged)
        wire.ask(OPEN)
        cursor.execute("LOCK TABLES d.t WRITE")
        wire.send(b"1\t=\t1\t1\n1\t=\t1\t2\n")
        logged.wait_until("has a line for the request", lambda: "PRIMARY = 1" in log.text())
        time.sleep(0.3)  # it is tried again and again
        cursor.execute("UNLOCK TABLES")
        assert wire.lines(2) == [b"0\t3"] * 2
        entries = slow_requests(slow)
    assert [text.split(" LIMIT")[0] for text in requests(log)[1:]] == [
        "FIND d.t PRIMARY = 1",
        "FIND d.t PRIMARY = 2",
    ]
    assert [entry.text.split(" LIMIT")[0] for entry in entries] == [
        "ROWSOCKET OPEN 1 d.t PRIMARY COLUMNS id, a, n FILTER COLUMNS n",
        "ROWSOCKET FIND d.t PRIMARY = 1",
        "ROWSOCKET FIND d.t PRIMARY = 2",
    ]
    waited = entries[1]
    assert 0.3 <= waited.lock_s <= waited.query_s


def test_a_request_that_waits_has_one_line_however_the_log_is_switched(logged: RespServer) -> None:
    log = general_log(logged)
    with (
        switched(logged, general_log=1),
        logged.raw("write") as wire,
        logged.raw("write") as beside,
        contextlib.closing(logged.connect()) as other,
        other.cursor() as cursor,
    ):
        wire.ask(OPEN)
        cursor.execute("LOCK TABLES d.t WRITE")
        wire.send(b"1\t=\t1\t1\n")
        logged.wait_until("has a line for the request", lambda: "PRIMARY = 1" in log.text())
        for is_on in (0, 1, 0, 1):
            logged.sql("SET GLOBAL general_log = %s", (is_on,))
            beside.ask(b"P\t1\tapp\titem\tPRIMARY\tk")  # a turn
        cursor.execute("UNLOCK TABLES")
        assert wire.line() == b"0\t3"
        wire.ask(b"1\t=\t1\t2")
    assert [text.split(" LIMIT")[0] for text in requests(log) if text.startswith("FIND")] == [
        "FIND d.t PRIMARY = 1",
        "FIND d.t PRIMARY = 2",
    ]


# ---- the slow log


def test_the_slow_log_has_what_requests_cost(logged: RespServer) -> None:
    log = slow_log(logged)
    with (
        account(logged, "app@localhost", grants=["ALL ON d.*"]),
        switched(logged, slow_query_log=1),
        client(logged, "app") as wire,
    ):
        do_one_of_each(wire)
        entries = slow_requests(log)
    assert [entry.text for entry in entries] == ["ROWSOCKET " + text for text in ONE_OF_EACH]
    assert {entry.user_host for entry in entries} == {"app[app] @ localhost [127.0.0.1]"}
    assert len({entry.connection for entry in entries}) == 1
    costs = [(entry.rows_examined, entry.rows_sent, entry.rows_affected) for entry in entries]
    assert costs == [
        (0, 0, 0),  # open
        (0, 0, 1),  # insert
        (1, 1, 0),  # find
        (1, 0, 1),  # update
        (0, 0, 0),  # a duplicate
        (1, 1, 0),  # find with a filter
        (1, 0, 1),  # delete
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 1),  # a group with an insert
    ]
    assert {entry.schema for entry in entries[:7]} == {"d"}
    assert entries[2].bytes_sent == len(b"0\t3\t1\tone\t5\n")
    assert all(0 < entry.query_s < 10 and entry.lock_s <= entry.query_s for entry in entries)


def test_all_protocols_are_in_the_slow_log(logged: RespServer) -> None:
    log = slow_log(logged)
    with switched(logged, slow_query_log=1), logged.memcached() as cache, logged.resp() as redis:
        cache.store("set k 0 0", b"hello")
        cache.value("k")
        redis.command("GET", "k")
        redis.command("HGET", "shop.nothing:1", "a")
        entries = slow_requests(log)
    assert [(entry.text.split(" ")[1], entry.rows_sent, entry.rows_affected) for entry in entries] == [
        ("UPSERT", 0, 1),
        ("FIND", 1, 0),
        ("FIND", 1, 0),
        ("FIND", 0, 0),
    ]


def test_what_sql_says_of_slow_statements_holds_for_requests(logged: RespServer) -> None:
    logged.sql("INSERT INTO t SELECT seq, 'x', seq FROM seq_1_to_100", database="d")
    log = slow_log(logged)
    find = b"1\t>=\t1\t0\t%d\t0"
    with switched(logged, slow_query_log=1), logged.raw("read") as wire:
        wire.ask(OPEN)
        with switched(logged, long_query_time=3):
            wire.ask(find % 1)
        with switched(logged, min_examined_row_limit=50):
            wire.ask(find % 49)
            wire.ask(find % 50)
        with switched(logged, log_slow_filter="filesort"):
            wire.ask(find % 2)
        with switched(logged, log_slow_rate_limit=1_000_000):
            wire.ask(find % 3)
        slow_before = int(logged.status("Slow_queries")["Slow_queries"])
        wire.ask(find % 4)
        texts = [entry.text for entry in slow_requests(log)]
        assert int(logged.status("Slow_queries")["Slow_queries"]) >= slow_before + 2  # with the question
    assert [text.split("LIMIT ")[1].split(" ")[0] for text in texts[1:]] == ["50", "4"]


HELD_S = 3


def find_in_a_locked_table(logged: RespServer, id: int) -> None:
    """It waits for so long."""
    with logged.raw("read") as wire, contextlib.closing(logged.connect("d")) as session:
        assert wire.ask(OPEN) == OK
        with session.cursor() as holder:
            holder.execute("LOCK TABLES t WRITE")
            parked = logged.counter("parked")
            wire.send(b"1\t=\t1\t%d\n" % id)
            logged.wait_until("is parked", lambda: logged.counter("parked") > parked)
            holder.execute(f"SELECT SLEEP({HELD_S})")
            holder.execute("UNLOCK TABLES")
        assert wire.line() == b"0\t3"


def test_what_a_request_waits_for_its_table_is_told_and_makes_it_no_slow_one(logged: RespServer) -> None:
    """It asks for the table again and again. The time counts from the first time on."""
    log = slow_log(logged)
    with switched(logged, slow_query_log=1):
        with switched(logged, long_query_time=HELD_S - 1):
            find_in_a_locked_table(logged, 1)
        find_in_a_locked_table(logged, 2)
    [entry] = [entry for entry in slow_requests(log) if "FIND d.t" in entry.text]
    assert "= 2 " in entry.text
    assert HELD_S <= entry.lock_s <= entry.query_s


def test_a_killed_request_is_in_the_slow_log(logged: RespServer) -> None:
    logged.sql("CREATE OR REPLACE TABLE d.slow (id INT PRIMARY KEY)")
    logged.sql("CREATE TRIGGER d.sleeps BEFORE INSERT ON d.slow FOR EACH ROW DO SLEEP(30)")
    log = slow_log(logged)
    running = (
        "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket' AND info LIKE '%%SLEEP(30)%%'"
    )
    with switched(logged, slow_query_log=1), logged.raw("write") as wire:
        wire.ask(b"P\t2\td\tslow\t\tid")
        wire.send(b"2\t+\t1\t1\n")
        logged.wait_until("runs the trigger", lambda: bool(logged.sql(running)))
        ((worker,),) = logged.sql(running)
        logged.sql(f"KILL QUERY {worker}")
        assert wire.line().startswith(b"1\t")
        entries = [entry for entry in slow_requests(log) if "INSERT d.slow" in entry.text]
    assert len(entries) == 1
    assert entries[0].rows_affected == 0


def test_the_time_in_the_slow_log_is_that_of_the_request(logged: RespServer) -> None:
    logged.sql("CREATE OR REPLACE TABLE d.slow (id INT PRIMARY KEY)")
    logged.sql("CREATE TRIGGER d.sleeps BEFORE INSERT ON d.slow FOR EACH ROW DO SLEEP(0.4)")
    log = slow_log(logged)
    with switched(logged, slow_query_log=1, long_query_time=0.3), logged.raw("write") as wire:
        wire.ask(b"P\t2\td\tslow\t\tid")
        assert wire.ask(b"2\t+\t1\t1") == b"0\t1"
        (entry,) = slow_requests(log)
    assert entry.query_s >= 0.4
    assert entry.lock_s <= entry.query_s - 0.4  # none of the sleep


def test_a_request_that_only_waited_for_its_table_is_not_slow(logged: RespServer) -> None:
    """As with SQL: the wait for a table's lock is no part of how long a statement took."""
    log = slow_log(logged)
    with (
        switched(logged, slow_query_log=1, long_query_time=2),
        logged.raw("write") as wire,
        contextlib.closing(logged.connect()) as other,
        other.cursor() as cursor,
    ):
        wire.ask(OPEN)
        cursor.execute("LOCK TABLES d.t WRITE")
        parked = logged.counter("parked")
        wire.send(b"1\t=\t1\t1\n")
        logged.wait_until("waits", lambda: logged.counter("parked") > parked)
        cursor.execute("DO SLEEP(2.5)")  # longer than what is slow
        cursor.execute("UNLOCK TABLES")
        assert wire.line().startswith(b"0\t")
    assert slow_requests(log) == []
