# SPDX-License-Identifier: GPL-2.0-only
"""The bytes of requests and of the only right answers, where no server is needed to know them."""

from __future__ import annotations

from collections import Counter

import pytest
from bench.harness import scenario
from bench.harness.player import zipf_list
from bench.harness.scenario import Scenario
from bench.traffic import PROTOCOLS, protocols_of, workloads
from bench.traffic.forms import ANY_DIGITS, filled
from bench.traffic.sql import Frame, Sql
from bench.traffic.workloads import Keys, Workload

ROW = b"user00000007\tuser00000007@example.com\t2026-01-01 12:49:07"
VALUE = b"VALUE user:%08d 0 57\r\nuser%08d\tuser%08d@example.com\t2026-01-01 12:%02d:%02d\r\n"


def asked(protocol: str, workload: Workload, *keys: int) -> tuple[bytes, bytes]:
    """The first of the workload's requests and its answer."""
    made = PROTOCOLS[protocol](workload)
    [request, *_] = workload.requests
    return filled(made.request(request), keys), filled(made.reply(request), keys)


def test_handlersocket_finds_a_row() -> None:
    request, reply = asked("handlersocket", workloads.point(100), 7)
    assert request == b"1\t=\t1\t00000007\n"
    assert reply == b"0\t3\t" + ROW + b"\n"


def test_handlersocket_finds_many_rows() -> None:
    request, reply = asked("handlersocket", workloads.in_(100, keys=2), 7, 9)
    assert request == b"1\t=\t1\t\t2\t0\t@\t0\t2\t00000007\t00000009\n"
    assert reply.startswith(b"0\t3\t" + ROW + b"\tuser00000009\t")


def test_handlersocket_knows_the_answers_to_writes() -> None:
    assert asked("handlersocket", workloads.insert(100), 101)[1] == b"0\t1\n"
    assert asked("handlersocket", workloads.update(100), 7)[1] == b"0\t1\t1\n"


def test_rowsocket_is_asked_with_its_extensions() -> None:
    request, reply = asked("rowsocket", workloads.latest(1000, keys=1, take=2), 500_001)
    assert request == b"1\t=\t1\t\t1000000\t0\t@\t0\t1\t500001\tL\t2\tR\n"
    assert (
        reply == b"0\t3\t500001\t19\tmessage 19 of friend 500001\t500001\t18\tmessage 18 of friend 500001\n"
    )
    assert "handlersocket" not in protocols_of(workloads.latest(1000, keys=1))


def test_the_door_of_memcached_has_keys_and_values_of_a_container() -> None:
    request, reply = asked("rowsocket-memcached", workloads.point(100), 7)
    value = ROW.replace(b"\t", b"|")
    assert request == b"get 00000007\r\n"
    assert reply == b"VALUE 00000007 0 57\r\n" + value + b"\r\nEND\r\n"
    request, reply = asked("rowsocket-memcached", workloads.upsert(100), 7)
    assert (request, reply) == (b"set 00000007 0 0 57\r\n" + value + b"\r\n", b"STORED\r\n")


def test_the_door_of_resp_has_strings_and_hashes() -> None:
    request, reply = asked("rowsocket-resp", workloads.point(100), 7)
    assert request == b"*2\r\n$3\r\nGET\r\n$8\r\n00000007\r\n"
    assert reply == b"$57\r\n" + ROW.replace(b"\t", b"|") + b"\r\n"
    field = b"$10\r\nuser_email\r\n"
    value = b"$24\r\nuser00000007@example.com\r\n"
    request, reply = asked("rowsocket-hash", workloads.field_(100), 7)
    assert request == b"*3\r\n$4\r\nHGET\r\n$19\r\nbench.user:00000007\r\n" + field
    assert reply == value
    request, reply = asked("redis-hash", workloads.field_(100), 7)
    assert request == b"*3\r\n$4\r\nHGET\r\n$18\r\nhash:user:00000007\r\n" + field
    assert reply == value


def test_memcached_gets_and_sets() -> None:
    request, reply = asked("memcached", workloads.in_(100, keys=2), 7, 9)
    assert request == b"get user:00000007 user:00000009\r\n"
    assert reply == VALUE % (7, 7, 7, 49, 7) + VALUE % (9, 9, 9, 3, 9) + b"END\r\n"
    [store] = workloads.point(100).stores()
    assert asked("memcached", store, 7) == (b"set user:00000007 0 0 57\r\n" + ROW + b"\r\n", b"STORED\r\n")


def test_redis_gets_and_sets() -> None:
    assert asked("redis", workloads.point(100), 7) == (
        b"*2\r\n$3\r\nGET\r\n$13\r\nuser:00000007\r\n",
        b"$57\r\n" + ROW + b"\r\n",
    )
    request, reply = asked("redis", workloads.in_(100, keys=2), 7, 9)
    assert request.startswith(b"*3\r\n$4\r\nMGET\r\n$13\r\nuser:00000007\r\n$13\r\n")
    assert reply.startswith(b"*2\r\n$57\r\n" + ROW)
    [store] = workloads.point(100).stores()
    assert asked("redis", store, 7)[1] == b"+OK\r\n"


def test_caches_count_with_a_number_that_nobody_can_foretell() -> None:
    assert asked("memcached", workloads.increment(1000), 1)[0] == b"incr counter:00000001 1\r\n"
    assert (
        asked("redis", workloads.increment(1000), 1)[0] == b"*2\r\n$4\r\nINCR\r\n$16\r\ncounter:00000001\r\n"
    )


def test_a_store_holds_what_each_kind_of_read_wants() -> None:
    """And counters begin at 0."""
    assert [store.requests[0].columns for store in workloads.diary_primary(100).stores()] == [
        "written,title,mood",
        "written,title,mood,body",
    ]
    assert len(workloads.mixed(100).stores()) == 1
    [counters] = workloads.increment(1000).stores()
    assert asked("memcached", counters, 5)[0] == b"set counter:00000005 0 0 1\r\n0\r\n"


def framed(protocol: str, workload: Workload) -> Sql:
    """With what a server would have said around the rows."""
    made = PROTOCOLS[protocol](workload)
    assert isinstance(made, Sql)
    made.frames = {workload.requests[0]: Frame(b"HEAD", 3, b"\xfe\0\0\2\0")}
    return made


def test_sql_text_is_one_statement_and_one_result() -> None:
    workload = workloads.point(100)
    made, [request] = framed("sql-text", workload), workload.requests
    statement = b"\x03SELECT user_name,user_email,created FROM user WHERE user_id = 00000007"
    assert filled(made.request(request), [7]) == bytes([len(statement), 0, 0, 0]) + statement
    row = b"\x0cuser00000007\x18user00000007@example.com\x132026-01-01 12:49:07"
    assert (
        filled(made.reply(request), [7])
        == b"HEAD" + bytes([len(row), 0, 0, 3]) + row + b"\5\0\0\4\xfe\0\0\2\0"
    )


def test_a_prepared_statement_is_sent_with_its_number_and_binary_values() -> None:
    workload = workloads.point(100)
    made, [request] = framed("sql-prepared", workload), workload.requests
    sent = filled(made.request(request), [7], connection=5)
    assert sent == b"\x12\0\0\0\x17\5\0\0\0\0\1\0\0\0\0\1\x03\x80\7\0\0\0"
    row = b"\0\0\x0cuser00000007\x18user00000007@example.com\7\xea\7\1\1\x0c\x31\7"
    assert (
        filled(made.reply(request), [7])
        == b"HEAD" + bytes([len(row), 0, 0, 3]) + row + b"\5\0\0\4\xfe\0\0\2\0"
    )


def test_packets_of_many_rows_count_on_beyond_255() -> None:
    workload = workloads.range_(1000, take=300)
    made, [request] = framed("sql-text", workload), workload.requests
    reply = filled(made.reply(request), [1])
    assert reply.endswith(b"\5\0\0" + bytes([(3 + 300) % 256]) + b"\xfe\0\0\2\0")


@pytest.mark.parametrize("name", workloads.WORKLOADS)
def test_every_workload_says_what_it_is(name: str) -> None:
    made = workloads.make(name, 5000)
    assert made.about.endswith(".") and made.name == name
    assert any(name.startswith("rowsocket") for name in protocols_of(made))


@pytest.mark.parametrize("one", scenario.load(), ids=lambda one: one.name)
def test_every_case_of_every_scenario_can_be_written_in_every_protocol(one: Scenario) -> None:
    """With its own rows and settings, and filled in as long as it is."""
    for case in one.cases:
        workload = case.asked()
        for protocol in set(protocols_of(workload)) - {"sql-text", "sql-prepared"}:
            made = PROTOCOLS[protocol](workload)
            for request in workload.requests:
                for text in (made.request(request), made.reply(request).replace(ANY_DIGITS, "")):
                    assert len(filled(text, workload.typical_keys)) == len(text)


@pytest.mark.parametrize("mistake", [("nonsense", {}), ("point", {"keys": 2})])
def test_a_workload_that_does_not_exist_is_told(mistake: tuple[str, dict[str, int]]) -> None:
    with pytest.raises(workloads.WorkloadMistake, match=mistake[0]):
        workloads.make(mistake[0], 5000, **mistake[1])


def test_zipf_draws_the_first_rank_as_often_as_the_law_has_it() -> None:
    """1,000 keys, exponent 1: the sum of 1 / rank is 7.4855."""
    counts = Counter(memoryview(zipf_list(Keys(1, 1000), 1.0)).cast("I").tolist())
    first, second = (count / counts.total() for _, count in counts.most_common(2))
    assert first == pytest.approx(1 / 7.4855, rel=0.001)
    assert second == pytest.approx(1 / 7.4855 / 2, rel=0.001)
    assert set(counts) == set(range(1, 1001))
