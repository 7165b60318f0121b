# SPDX-License-Identifier: GPL-2.0-only
"""The typical requests by which the shipped plugin is compiled, in all three protocols.

Most of them read, as most requests of applications do. Each kind is sent with one request in flight and with
sixteen, because that decides which way a request takes through a turn.
"""

import random
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from rowsocket_x.console import Problem
from rowsocket_x.instance import Instance

ROWS = 20_000
CONNECTIONS = 20
IN_FLIGHT = (1, 16)
SECONDS_MAX = 120.0
"""For one reply. A server that takes longer has failed."""

OPTIONS: Mapping[str, str | int] = {
    "rowsocket-port-read": 0,
    "rowsocket-port-write": 0,
    "rowsocket-port-memcached": 0,
    "rowsocket-port-resp": 0,
    "rowsocket-anonymous-account": "root@localhost",
    "rowsocket-containers": "training.containers",
    "innodb-adaptive-hash-index": "ON",
    "innodb-flush-log-at-trx-commit": 2,
    "log-bin": "binlog",
    "server-id": 1,
}

_TABLES = (
    "CREATE DATABASE training",
    """CREATE TABLE training.user (
         id INT PRIMARY KEY, name VARCHAR(40), email VARCHAR(80), created DATETIME, visits INT DEFAULT 0,
         KEY name (name)
       ) ENGINE=InnoDB""",
    f"""INSERT INTO training.user (id, name, email, created)
        SELECT seq, CONCAT('user', seq), CONCAT('user', seq, '@example.org'),
               '2010-10-20' + INTERVAL seq MINUTE
        FROM training.seq_1_to_{ROWS}""",
    """CREATE TABLE training.item (
         k VARCHAR(250) CHARACTER SET ascii PRIMARY KEY, v VARCHAR(1000),
         flags INT UNSIGNED NOT NULL DEFAULT 0, cas BIGINT UNSIGNED NOT NULL DEFAULT 0,
         expires BIGINT NOT NULL DEFAULT 0
       ) ENGINE=InnoDB""",
    f"""INSERT INTO training.item (k, v)
        SELECT CONCAT('item', seq), IF(seq % 2, REPEAT('value', 10), '1')
        FROM training.seq_1_to_{ROWS}""",
    """CREATE TABLE training.containers (
         name VARCHAR(50) NOT NULL PRIMARY KEY, db_schema VARCHAR(250) NOT NULL,
         db_table VARCHAR(250) NOT NULL, key_columns VARCHAR(250) NOT NULL, value_columns VARCHAR(250),
         flags VARCHAR(250) NOT NULL DEFAULT '0', cas_column VARCHAR(250),
         expire_time_column VARCHAR(250), unique_idx_name_on_key VARCHAR(250) NOT NULL
       ) ENGINE=InnoDB""",
    """INSERT INTO training.containers VALUES
         ('default', 'training', 'item', 'k', 'v', 'flags', 'cas', 'expires', 'PRIMARY')""",
)

_OPEN = b"".join(
    b"P\t%d\ttraining\tuser\t%s\t%s\tvisits\n" % (number, index, columns)
    for number, index, columns in (
        (1, b"PRIMARY", b"id,name,email,created"),
        (2, b"name", b"id,name,email"),
        (3, b"PRIMARY", b"visits"),
    )
)


@dataclass(frozen=True)
class Kind:
    """Requests of one kind: to which port, how one is made of a random row, and how long its reply is."""

    port: str
    request: Callable[[int], bytes]
    reply_lines: int
    count: int


def _command(*words: bytes) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def _several(row: int, count: int, form: bytes) -> Iterator[bytes]:
    return (form % (1 + (row + 61 * number) % ROWS) for number in range(count))


def _counter(row: int) -> bytes:
    return b"item%d" % (row - row % 2 or 2)


def _store(row: int) -> bytes:
    value = b"value" * (1 + row % 40)
    return b"set new%d 0 0 %d\r\n%s\r\n" % (row, len(value), value)


KINDS = (
    Kind("read", lambda row: b"1\t=\t1\t%d\n" % row, 1, 40_000),
    Kind("read", lambda row: b"2\t=\t1\tuser%d\n" % row, 1, 8_000),
    Kind("read", lambda row: b"1\t>=\t1\t%d\t20\t0\n" % row, 1, 4_000),
    Kind("read", lambda row: b"1\t<\t1\t%d\t5\t0\tF\t>\t0\t0\n" % row, 1, 4_000),
    Kind(
        "read",
        lambda row: b"1\t=\t1\t\t50\t0\t@\t0\t50\t" + b"\t".join(_several(row, 50, b"%d")) + b"\n",
        1,
        4_000,
    ),
    Kind("write", lambda row: b"3\t=\t1\t%d\t1\t0\tU\t%d\n" % (row, row), 1, 8_000),
    Kind("write", lambda row: b"3\t=\t1\t%d\t1\t0\t+\t1\n" % row, 1, 8_000),
    Kind("write", lambda row: b"1\t+\t4\t-%d\tname\tmail@example.org\t2020-01-01 00:00:00\n" % row, 1, 8_000),
    Kind("write", lambda row: b"1\t=\t1\t-%d\t1\t0\tD\n" % row, 1, 4_000),
    Kind("memcached", lambda row: b"get item%d\r\n" % (row - 1 + row % 2), 3, 20_000),
    Kind("memcached", lambda row: b"get " + b" ".join(_several(row, 20, b"item%d")) + b"\r\n", 41, 3_000),
    Kind("memcached", lambda row: b"mg item%d v f\r\n" % row, 2, 4_000),
    Kind("memcached", _store, 1, 8_000),
    Kind("memcached", lambda row: b"incr %s 1\r\n" % _counter(row), 1, 4_000),
    Kind("resp", lambda row: _command(b"GET", b"item%d" % row), 2, 20_000),
    Kind("resp", lambda row: _command(b"HGET", b"training.user:%d" % row, b"name"), 2, 20_000),
    Kind("resp", lambda row: _command(b"HMGET", b"training.user:%d" % row, b"name", b"email"), 5, 8_000),
    Kind("resp", lambda row: _command(b"HGETALL", b"training.user:%d" % row), 21, 4_000),
    Kind("resp", lambda row: _command(b"MGET", *_several(row, 20, b"item%d")), 41, 3_000),
    Kind("resp", lambda row: _command(b"SET", b"set%d" % row, b"value" * (1 + row % 40)), 1, 8_000),
    Kind("resp", lambda row: _command(b"HSET", b"training.user:%d" % row, b"visits", b"7"), 1, 8_000),
    Kind("resp", lambda row: _command(b"INCR", _counter(row)), 1, 4_000),
)


def serve(server: Instance) -> None:
    """Make the tables, and have the server answer every kind of request. Raises `Problem`."""
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in _TABLES:
            cursor.execute(statement)
    ports = server.variables("SHOW GLOBAL STATUS LIKE 'Rowsocket_port%'")
    for kind in KINDS:
        port = int(ports[f"Rowsocket_port_{kind.port}"])
        with ExitStack() as stack:
            clients = [
                stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS_MAX))
                for _ in range(CONNECTIONS)
            ]
            if kind.port in ("read", "write"):
                for client in clients:
                    client.sendall(_OPEN)
                    _receive_lines(client, _OPEN.count(b"\n"))
            for in_flight in IN_FLIGHT:
                _send(kind, clients, in_flight)


def _send(kind: Kind, clients: list[socket.socket], in_flight: int) -> None:
    choice = random.Random(1)
    for _ in range(kind.count // (len(clients) * in_flight * len(IN_FLIGHT))):
        for client in clients:
            client.sendall(b"".join(kind.request(choice.randint(1, ROWS)) for _ in range(in_flight)))
        for client in clients:
            _receive_lines(client, kind.reply_lines * in_flight)


def _receive_lines(client: socket.socket, count: int) -> None:
    while count > 0:
        received = client.recv(1 << 18)
        if not received:
            raise Problem("the server closed a connection of the training")
        count -= received.count(b"\n")
