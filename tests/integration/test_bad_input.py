# SPDX-License-Identifier: GPL-2.0-only
"""What no client should send: it gets a clear error on that request, nothing is lost, and no other client
notices.

Single requests and their errors stand in tests/vectors; here it is about connections that misbehave. In every
test a bystander reads and writes all the time and checks each of its replies.
"""

from __future__ import annotations

import http.client
import os
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from support.load import Load, Operation
from support.mariadb import Database, RowSocketServer
from support.raw import RawConnection

NOISE_LINES = int(os.environ.get("ROWSOCKET_NOISE_LINES", "50000"))
MEBIBYTE = 1 << 20


@pytest.fixture
def open_line(database: Database) -> bytes:
    """An open_index of the table `t`, with id 1."""
    database.sql(
        "CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(100), n INT NOT NULL DEFAULT 0, KEY by_v (v))"
        " CHARSET=utf8mb4"
    )
    database.sql("INSERT INTO t (k, v) VALUES (1, 'one'), (2, 'two'), (3, 'three')")
    return f"P\t1\t{database.name}\tt\t\tk,v\tv,n".encode()


@pytest.fixture
def bystander(server: RowSocketServer, database: Database, open_line: bytes) -> Iterator[Load]:
    """A reader and a writer that go on through the test; at its end both must have seen nothing but right
    replies."""
    database.sql("CREATE TABLE calm (k INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO calm VALUES (1, 0)")

    def make(number: int, stack: ExitStack) -> Operation:
        connection = stack.enter_context(server.raw("write" if number else "read"))
        assert connection.ask(f"P\t1\t{database.name}\tcalm\t\t{'n' if number else 'k'}".encode()) == b"0\t1"

        def go_on() -> None:
            assert connection.ask(b"1\t=\t1\t1\t1\t0\t+\t1" if number else b"1\t=\t1\t1") == b"0\t1\t1"

        return go_on

    with Load(2, make) as load:
        yield load
        load.wait_for_more()


Connect = Callable[[str], RawConnection]


def still_serves(connection: RawConnection, open_line: bytes) -> None:
    assert connection.ask(open_line) == b"0\t1"
    assert connection.ask(b"1\t=\t1\t2") == b"0\t2\t2\ttwo"


@pytest.mark.parametrize(
    ("request_line", "reply"),
    [
        (b"1\t=\t2147483647\t1", b"2\t1\tfldnum"),
        (b"1\t=\t4294967296\t1", b"2\t1\tfldnum"),
        (b"1\t+\t4294967295\t1", b"2\t1\tfldnum"),
        (b"1\t=\t1\t1\t1\t0\t@\t0\t4294967295\t1", b"2\t1\tinvalueslen"),
        (b"1\t=\t1\t1\t1\t0\t@\t0\t1000000000000\t1", b"2\t1\tinvalueslen"),
        (b"4294967295\t=\t1\t1", b"2\t1\tstmtnum"),
        (b"1\t=\t1\t1\t18446744073709551616\t0", b"2\t1\tsyntax"),
        (b"1\t=\t1\t1\t1\t0\tF\t=\t4294967296\t1", b"2\t1\tfilterfld"),
        (b"1\t=\t1\t1\t1\t0" + b"\tF\t=\t0\tx" * 100_000, b"2\t1\tfldnum"),
        (b"1\t=\t1\t1\t1\t0\tU" + b"\tx" * 100_000, b"2\t1\tfldnum"),
        (b"1\t=\t4096" + b"\t1" * 4096, b"2\t1\tkpnum"),
        (b"P\t2\t" + b"d" * 100_000 + b"\tt\t\tk", b"1\t1\topen_table"),
        (b"P\t2\tmysql\tuser\t\t" + b"c," * 100_000, b"2\t1\tfld"),
    ],
    ids=lambda value: value[:40].decode() if isinstance(value, bytes) else None,
)
def test_counts_and_sizes_that_can_not_be_are_errors(
    raw: Connect, bystander: Load, open_line: bytes, request_line: bytes, reply: bytes
) -> None:
    connection = raw("write")
    assert connection.ask(open_line) == b"0\t1"
    answered = connection.ask(request_line)
    assert answered == reply
    still_serves(connection, open_line)


def test_a_line_over_the_limit_is_answered_and_its_connection_closed(raw: Connect, bystander: Load) -> None:
    connection = raw("read")
    connection.send(b"x" * (16 * MEBIBYTE + 1))
    assert connection.line() == b"2\t1\ttoolong"
    assert connection.closed()


def test_a_line_that_never_ends_is_given_up(server: RowSocketServer, raw: Connect, bystander: Load) -> None:
    closed_before = server.counter("connections_closed")
    peak_before = server.memory_peak_bytes()
    connection = raw("read")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        while True:
            connection.send(b"x" * MEBIBYTE)
    server.wait_until("has closed it", lambda: server.counter("connections_closed") > closed_before)
    assert server.memory_peak_bytes() - peak_before < 100 * MEBIBYTE


def test_a_line_just_below_the_limit_is_a_request(raw: Connect, bystander: Load, open_line: bytes) -> None:
    connection = raw("read")
    assert connection.ask(b"x" * (16 * MEBIBYTE)) == b"2\t1\tcmd"
    still_serves(connection, open_line)


def test_binary_noise_never_harms(raw: Connect, bystander: Load, open_line: bytes) -> None:
    """Random bytes; as many replies as lines, then the connection serves as before."""
    source = random.Random(1)
    connection = raw("write")
    for size in (1, 10, 100, 1000, 10_000, 100_000):
        noise = source.randbytes(size).replace(b"\r", b"") + b"\n"
        connection.send(noise)
        replies = connection.lines(noise.count(b"\n"))
        assert {reply[:1] for reply in replies} <= {b"1", b"2", b"3"}
        still_serves(connection, open_line)


# What requests are made of, without regard to what follows what.
REQUEST_PARTS = [
    *(
        b"P A 1 2 0 77 = > >= < <= ^= + ++ - U D U? D? +? U! +! -! # @ @@ T R L C I E F W != t k v k,v n,v"
        b" by_v 0,1 -1".split()
    ),
    *(
        b"",
        b"\0",
        b"\x01",
        b"\x01\x49",
        b"\x01t",
        b"4294967296",
        b"99999999999999999999",
        b"x" * 99,
        "é🐬".encode(),
        b"\xff\xfe",
    ),
]
BEGINNINGS = [
    b"1\t=\t1\t",
    b"1\t>=\t1\t",
    b"1\t>=\t1\t1\t9\t0\t",
    b"1\t+\t2\t",
    b"1\t++\t2\t1\t",
    b"1\t^=\t1\t",
    b"",
]
GROUP_LINES = [b"G", b"G\tmust", b"G\tgtid\tmust", b"G\tx", b"E", b"E", b"E"]


def random_line(source: random.Random, database: str) -> bytes:
    """A request line made of what requests are made of, in any order; now and then one that begins or ends a
    group."""
    if source.randrange(10) == 0:
        return source.choice(GROUP_LINES)
    begin = source.choice([*BEGINNINGS, b"P\t1\t%s\tt\t" % database.encode()])
    return begin + b"\t".join(source.choices([*REQUEST_PARTS, database.encode()], k=source.randrange(1, 12)))


def test_half_valid_requests_each_get_one_reply(
    raw: Connect, bystander: Load, open_line: bytes, database: Database, server: RowSocketServer
) -> None:
    source = random.Random(2)
    for port in ("read", "write"):
        connection = raw(port)
        for _ in range(NOISE_LINES // 2 // 500):
            lines = [random_line(source, database.name) for _ in range(500)]
            replies = connection.ask_all(open_line, *lines, b"E", b"end of the batch")
            assert (replies[0], replies[-1]) == (b"0\t1", b"2\t1\tcmd")
            assert {reply[:2] for reply in replies} <= {b"0\t", b"1\t", b"2\t", b"3\t"}
        still_serves_any(connection, open_line)
    assert database.sql("CHECK TABLE t")[0][3] == "OK"


def still_serves_any(connection: RawConnection, open_line: bytes) -> None:
    assert connection.ask(open_line) == b"0\t1"
    assert connection.ask(b"1\t>=\t1\t-2147483648\t100\t0").startswith(b"0\t2")


@pytest.mark.parametrize(
    "half", [b"1", b"1\t=", b"1\t=\t1\t2", b"P\t1\tda", b"1\t=\t1\tx\x01", b"\x01", b"1\t+\t2\t9\tnine"]
)
def test_a_disconnect_within_a_request_does_nothing(
    raw: Connect, bystander: Load, open_line: bytes, database: Database, half: bytes
) -> None:
    for end in (RawConnection.close, RawConnection.reset):
        connection = raw("write")
        connection.send(open_line + b"\n" + half)
        end(connection)
    still_serves(raw("write"), open_line)
    assert database.value("SELECT COUNT(*) FROM t") == 3


def test_a_disconnect_without_reading_the_replies(raw: Connect, bystander: Load, open_line: bytes) -> None:
    for end in (RawConnection.close, RawConnection.reset):
        connection = raw("read")
        connection.send(open_line + b"\n" + b"1\t>=\t1\t0\t100\t0\n" * 5000)
        end(connection)
    still_serves(raw("read"), open_line)


def test_a_half_closed_connection_gets_its_replies(raw: Connect, bystander: Load, open_line: bytes) -> None:
    connection = raw("read")
    connection.send(open_line + b"\n1\t=\t1\t2\n1\t=\t1")
    connection.socket.shutdown(socket.SHUT_WR)
    assert connection.lines(2) == [b"0\t1", b"0\t2\t2\ttwo"]
    assert connection.closed()


def test_a_request_byte_by_byte(raw: Connect, bystander: Load, open_line: bytes) -> None:
    connection = raw("read")
    for byte in open_line + b"\n1\t=\t1\t2\n":
        connection.send(bytes([byte]))
    assert connection.lines(2) == [b"0\t1", b"0\t2\t2\ttwo"]


def test_many_half_requests_at_once(server: RowSocketServer, bystander: Load, open_line: bytes) -> None:
    with ExitStack() as stack:
        halves = [stack.enter_context(server.raw("read")) for _ in range(200)]
        for connection in halves:
            connection.send(open_line + b"\n1\t=\t1")
        bystander.wait_for_more()
        for connection in halves:
            connection.send(b"\t3\n")
        assert {tuple(connection.lines(2)) for connection in halves} == {(b"0\t1", b"0\t2\t3\tthree")}


def test_a_client_that_never_reads_is_not_read_from_for_ever(
    server: RowSocketServer, raw: Connect, bystander: Load, open_line: bytes, database: Database
) -> None:
    """It asks for far more than it takes: the server stops taking its requests, and its memory stays
    bounded."""
    database.sql("CREATE TABLE big (k INT PRIMARY KEY, v MEDIUMTEXT)")
    database.sql("INSERT INTO big VALUES (1, REPEAT('x', 100000))")
    before = server.memory_bytes()
    connection = raw("read")
    assert connection.ask(f"P\t1\t{database.name}\tbig\t\tv".encode()) == b"0\t1"
    connection.socket.settimeout(2)
    sent = 0
    with pytest.raises(TimeoutError):
        while sent < 200 * MEBIBYTE:
            sent += connection.socket.send(b"1\t=\t1\t1\n" * 5000)
    assert server.memory_bytes() - before < 150 * MEBIBYTE
    bystander.wait_for_more()


def test_a_client_that_reads_late_loses_nothing(
    raw: Connect, bystander: Load, open_line: bytes, database: Database
) -> None:
    database.sql("UPDATE t SET v = REPEAT('y', 100) WHERE k = 1")
    connection = raw("read")
    assert connection.ask(open_line) == b"0\t1"
    count = 20_000  # 2 MB of replies: more than the buffers of the sockets take
    connection.send(b"1\t=\t1\t1\n1\t=\t1\t2\n" * count)
    replies = connection.lines(2 * count)
    assert set(replies[::2]) == {b"0\t2\t1\t" + b"y" * 100} and set(replies[1::2]) == {b"0\t2\t2\ttwo"}


def test_bad_requests_among_good_writes_undo_nothing(
    raw: Connect, bystander: Load, open_line: bytes, database: Database
) -> None:
    connection = raw("write")
    requests = [open_line]
    for k in range(100, 200):
        requests += [
            b"1\t+\t2\t%d\tgood" % k,
            b"1\t+\t2\t%d\tagain" % k,
            b"nonsense",
            b"1\t+\t2\tnumber\tbad",
            b"9\t+\t1\t1",
        ]
    replies = connection.ask_all(*requests)[1:]
    assert set(replies[::5]) == {b"0\t1"}
    assert set(replies[1::5]) == {b"1\t1\t121"}
    assert set(replies[2::5]) == {b"2\t1\tcmd"}
    assert set(replies[3::5]) == {b"1\t1\t1366"}
    assert database.value("SELECT COUNT(*) FROM t WHERE v = 'good'") == 100


def test_thousands_of_short_connections(server: RowSocketServer, bystander: Load) -> None:
    address = server.read_address()
    for number in range(2000):
        with RawConnection(address) as connection:
            if number % 3 == 0:
                connection.send(b"1\t=\t1\t1\n")
            elif number % 3 == 1:
                connection.reset()
    server.wait_until("closed them", lambda: server.counter("connections_read") <= 1)


@pytest.mark.parametrize("port", ["read", "write"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "OPTIONS"])
def test_what_a_web_page_can_send_does_nothing(
    server: RowSocketServer, database: Database, open_line: bytes, port: str, method: str
) -> None:
    """A page in a browser beside the server may post to its ports; the body must not be read as requests."""
    body = open_line + b"\n1\t+\t2\t9\tnine\n1\t=\t1\t1\t1\t0\tD\n"
    host, number = server.read_address() if port == "read" else server.write_address()
    log_before = len(server.log_text())
    browser = http.client.HTTPConnection(host, number, timeout=20)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        browser.request(method, "/", body=body, headers={"Content-Type": "text/plain"})
        browser.getresponse()
    browser.close()
    assert database.value("SELECT GROUP_CONCAT(k ORDER BY k) FROM t") == "1,2,3"
    assert "speaks HTTP" in server.log_text()[log_before:]
