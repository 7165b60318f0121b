# SPDX-License-Identifier: GPL-2.0-only
"""The same random commands to RowSocket and to Redis itself: equal replies.

About 9,000 commands in `./x test`, other ones in each run; more in a soak. Strings are rows of a container.
Hashes are rows of a table whose columns have the names of the fields.

docs/protocol/resp.md says what differs on purpose. The strategies keep clear of it:

| what differs | what is done here |
|---|---|
| `INCR` of `01`, `+1`, `-0` | no number is stored so |
| whole seconds | times are far apart; where two are compared, both are absolute |
| a command in a group that fails | commands in groups can not fail, but for words that are none |
| `PING`, `SELECT` … between `MULTI` and `EXEC` | are left out |
| databases with a name, and no number but 0 | `SELECT` has numbers that Redis has not either |
| cursors | scans begin with 0, and all keys come in one step, in any order |
| tables and containers are scanned one by one | strings alone are compared |
| what `HSET` tells, a row without fields, its key among its fields | is not compared, or not asked |
| `HINCRBYFLOAT`, which tells what the column holds | is left out |
| commands that are not there | are left out |
| texts of `HELLO`, `CLIENT` | errors are compared by their first word |
| `GETEX` of a missing key with a wrong time | is left out |
| a string without a line end behind it | is left out |
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from support.peers import peer
from support.random_requests import repeat, weighed
from support.raw import ConnectionClosed, RawConnection
from support.resp import RespConnection, RespServer, encoded
from support.soak import Soak

EXAMPLES = 1000
"""Of about 9 commands each."""
STREAMS = 200

MAY_DIFFER_BY = {b"TTL": 60, b"EXPIRETIME": 60, b"PTTL": 60_000, b"PEXPIRETIME": 60_000}
"""What commands tell of time, in seconds and milliseconds: a busy machine may stand still meanwhile."""
OTHER_TEXTS = {b"HELLO", b"CLIENT"}
"""Commands whose errors have texts of their own."""

Words = tuple[bytes, ...]
Commands = st.SearchStrategy[Words]


@dataclass(frozen=True)
class Command:
    """A command, and how it is sent: as an array, or as a line of words in quotes."""

    words: Words
    is_line: bool = False

    def sent(self) -> bytes:
        if not self.is_line:
            return encoded(*self.words)
        quoted = (b'"' + b"".join(b"\\x%02x" % byte for byte in word) + b'"' for word in self.words)
        return b" ".join(quoted) + b"\r\n"

    def name(self) -> bytes:
        return self.words[0].upper()


def compared(command: Command, reply: bytes) -> tuple[bytes, int]:
    """What is equal of two replies, and a time, which may differ a little."""
    name = command.name()
    if reply.startswith(b"-") and name in OTHER_TEXTS:
        return reply.split(b" ")[0], 0
    if name == b"HSET":
        reply = re.sub(rb"^:\d+", b":", reply)
    if name == b"HELLO":
        reply = re.sub(rb"\$\d+\r\n(redis|rowsocket)\r\n", b"", reply)
        reply = re.sub(rb"\r\nid\r\n:\d+", b"\r\nid", reply)
    if name == b"CLIENT" and command.words[1:2] == (b"ID",):
        reply = re.sub(rb"^:\d+", b":", reply)
    if name == b"SCAN" and reply.startswith(b"*"):
        cursor, *keys = re.split(rb"\r\n(?=\$)", reply.removeprefix(b"*2\r\n").removesuffix(b"\r\n"))
        strings = [key for key in keys if b"shop.fields" not in key]
        return b" ".join([cursor.partition(b"*")[0], *sorted(strings)]), 0
    if name in MAY_DIFFER_BY and re.fullmatch(rb":\d+\r\n", reply):
        return b":", int(reply[1:])
    return reply, 0


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────

TEXTS = [b"a", b"b", b"c \xff\x00", b"k" * 250]
NUMBERS = [b"n", b"m:1"]
COUNTS_OF_GROUPS = [b"g"]

COUNTS = b"0 1 -1 99 9223372036854775807 -9223372036854775808".split()
NO_COUNTS = [b"", b" 1", b"1 ", b"1\x00", *b"1.5 1e3 x -".split()]
AMOUNTS = [
    *COUNTS,
    b"",
    b" 1",
    *b"9223372036854775808 01 +1 -0 x 1.0 -9223372036854775807".split(),
    b"9" * 30,
]

IN_S = [b"1000", b"100000", b"20000000"]
IN_MS = [b"1000000", b"100000500", b"20000000000"]
AT_S = [b"4000000000", b"4100000000", b"1"]
AT_MS = [b"4000000000000", b"4100000000000", b"1"]
NO_TIMES = [b"", *b"0 -1 x 01 +1".split(), b"9" * 30]
NO_SPANS = [*NO_TIMES, b"9223372036854775807"]


def any_of(*words: bytes) -> st.SearchStrategy[bytes]:
    return st.sampled_from(words)


def command(name: bytes, *words: st.SearchStrategy[bytes] | bytes) -> Commands:
    return st.tuples(st.just(name), *(st.just(word) if isinstance(word, bytes) else word for word in words))


def followed(first: Commands, more: st.SearchStrategy[Sequence[Words]]) -> Commands:
    """A command and any number of words in groups."""
    return st.tuples(first, more).map(
        lambda both: both[0] + tuple(word for words in both[1] for word in words)
    )


KEY = any_of(*TEXTS, *NUMBERS)
TEXT = any_of(*TEXTS)
NUMBER = any_of(*NUMBERS)
VALUE = st.one_of(
    any_of(b"", b"x", b"\r\n", b"+OK\r\n", b"y" * 200), st.binary(max_size=20).map(b"v".__add__)
)
TOLD = any_of(b"", b"x", b"a'b", b"\r\n", b"y" * 100, b"y" * 5000)
KEYS = st.lists(KEY, max_size=12).map(lambda keys: [(key,) for key in keys])
AMOUNT = any_of(*AMOUNTS)
PAIRS = st.lists(
    st.one_of(st.tuples(TEXT, VALUE), st.tuples(NUMBER, any_of(*COUNTS, *NO_COUNTS))), max_size=6
)


# ── commands ────────────────────────────────────────────────────────────────────────────────────────────────


def options(*choices: Words) -> st.SearchStrategy[list[Words]]:
    """Any of them, in any order, some twice, in small letters or capitals."""
    words = st.sampled_from([*choices, *(tuple(word.lower() for word in words) for words in choices)])
    return st.one_of(st.just([]), st.lists(words, max_size=4))


RIGHT_TIMES: list[Words] = [
    (word, time)
    for word, some in ((b"EX", IN_S), (b"PX", IN_MS), (b"EXAT", AT_S), (b"PXAT", AT_MS))
    for time in some
]
ANY_TIMES: list[Words] = [
    *(RIGHT_TIMES * 4),
    *((word, *time) for word in (b"EX", b"PX", b"EXAT", b"PXAT") for time in [(), *zip(NO_TIMES)]),
]
SET_OPTIONS = options(
    *[(b"NX",), (b"XX",), (b"GET",), (b"KEEPTTL",)] * 12, *ANY_TIMES, (b"PERSIST",), (b"FOO",)
)
GETEX = followed(command(b"GETEX", TEXT), options(*[(b"PERSIST",)] * 8, *ANY_TIMES, (b"KEEPTTL",), (b"FOO",)))

SETS = st.one_of(
    followed(command(b"SET", TEXT, VALUE), SET_OPTIONS),
    followed(command(b"SET", NUMBER, any_of(*COUNTS, *NO_COUNTS)), SET_OPTIONS),
    command(b"SETNX", TEXT, VALUE),
    command(b"SETEX", TEXT, any_of(*IN_S, *NO_SPANS), VALUE),
    command(b"PSETEX", TEXT, any_of(*IN_MS, *NO_SPANS), VALUE),
    command(b"GETSET", TEXT, VALUE),
    followed(command(b"MSET"), PAIRS),
    command(b"APPEND", TEXT, VALUE),
)
SUMS = st.one_of(
    command(b"INCR", KEY),
    command(b"DECR", KEY),
    command(b"INCRBY", KEY, AMOUNT),
    command(b"DECRBY", KEY, AMOUNT),
)
READS = st.one_of(
    command(b"GET", KEY),
    command(b"GETDEL", KEY),
    command(b"STRLEN", KEY),
    command(b"TYPE", KEY),
    followed(command(b"MGET"), KEYS),
    followed(command(b"EXISTS"), KEYS),
    followed(command(b"DEL"), KEYS),
    followed(command(b"UNLINK"), KEYS),
)
CONDITIONS = options((b"NX",), (b"XX",))
COMPARISONS = options((b"NX",), (b"XX",), (b"GT",), (b"LT",), (b"FOO",))
EXPIRY = st.one_of(
    followed(command(b"EXPIRE", KEY, any_of(*IN_S, *NO_SPANS)), CONDITIONS),
    followed(command(b"PEXPIRE", KEY, any_of(*IN_MS, *NO_SPANS)), CONDITIONS),
    followed(command(b"EXPIREAT", KEY, any_of(*AT_S, *NO_TIMES)), COMPARISONS),
    followed(command(b"PEXPIREAT", KEY, any_of(*AT_MS, *NO_TIMES)), COMPARISONS),
    *(command(name, KEY) for name in (*MAY_DIFFER_BY, b"PERSIST")),
)
ROW = any_of(b"shop.fields:1", b"shop.fields:2")
FIELD = any_of(b"a", b"b")
FIELDS = st.lists(any_of(b"a", b"b", b"n"), max_size=4).map(lambda names: [(name,) for name in names])
VALUES_OF_FIELDS = st.lists(
    st.one_of(st.tuples(FIELD, VALUE), st.tuples(st.just(b"n"), any_of(*COUNTS, *NO_COUNTS))), max_size=4
)
HASHES = st.one_of(
    followed(command(b"HSET", ROW), VALUES_OF_FIELDS),
    followed(command(b"HMSET", ROW), VALUES_OF_FIELDS),
    followed(command(b"HSET", ROW, FIELD), VALUES_OF_FIELDS),
    command(b"HSETNX", ROW, FIELD, VALUE),
    command(b"HGET", ROW, FIELD),
    followed(command(b"HMGET", ROW), FIELDS),
    followed(command(b"HDEL", ROW), FIELDS),
    command(b"HEXISTS", ROW, FIELD),
    command(b"HSTRLEN", ROW, FIELD),
    command(b"HINCRBY", ROW, any_of(b"a", b"n", b"n"), AMOUNT),
    *(command(name, ROW) for name in (b"HGET", b"HSETNX", b"HEXISTS", b"HINCRBY")),
)
PATTERNS = [b"*", b"a", b"?", b"[a-c]*", b"[^a]", b"\\a", b"*:*", b"k*k", b"", b"[", b"m:[0-9]", b"c *"]
SCANS = followed(
    command(b"SCAN", any_of(b"0", b"0", b"00", b"+0", b"x", b" 0", b"9" * 30), b"COUNT", any_of(b"1000")),
    options(
        *((b"MATCH", pattern) for pattern in PATTERNS),
        *((b"TYPE", kind) for kind in (b"string", b"hash", b"STRING", b"zset")),
        *((b"COUNT", count) for count in (b"1001", b"0", b"-1", b"x", b"01")),
        (b"MATCH",),
        (b"FOO", b"1"),
    ),
)
CONNECTION = st.one_of(
    command(b"PING"),
    command(b"PING", VALUE),
    command(b"ECHO", VALUE),
    command(
        b"SELECT",
        any_of(
            b"0", b"-1", b"16", b"99999", b"", b"01", b"+1", b"-01", b"-" + b"9" * 30, b"9" * 11, b"9" * 30
        ),
    ),
    command(b"HELLO"),
    command(b"HELLO", any_of(b"2", b"3", b"3", b"1", b"4", b"x", b"", b"02")),
    followed(
        command(b"HELLO", b"3"), options((b"SETNAME", b"x"), (b"SETNAME", b"a b"), (b"SETNAME",), (b"FOO",))
    ),
    command(b"CLIENT", any_of(b"GETNAME", b"ID", b"FOO", b"SETNAME")),
    command(b"CLIENT", b"SETNAME", any_of(b"x", b"a b", b"", b"\xff", b"y\n")),
    command(b"CLIENT", b"NO-EVICT", any_of(b"on", b"off", b"x")),
    command(b"RESET"),
    command(b"AUTH", b"x"),
    command(b"FOO", TOLD, TOLD),
    command(b"EXEC"),
    command(b"DISCARD"),
    command(b"MULTI", b"x"),
)

SURE = st.one_of(
    command(b"GET", KEY),
    command(b"SET", TEXT, any_of(b"", b"y" * 9000)),
    followed(command(b"SET", TEXT, VALUE), st.sampled_from([[pair] for pair in RIGHT_TIMES])),
    command(b"SETNX", TEXT, VALUE),
    command(b"APPEND", TEXT, VALUE),
    command(b"INCR", any_of(*COUNTS_OF_GROUPS)),
    command(b"DECRBY", any_of(*COUNTS_OF_GROUPS), any_of(b"1", b"-7")),
    command(b"GETDEL", KEY),
    command(b"STRLEN", KEY),
    command(b"TYPE", KEY),
    command(b"PERSIST", KEY),
    command(b"EXPIREAT", KEY, any_of(*AT_S)),
    followed(command(b"MGET", KEY), KEYS),
    followed(command(b"EXISTS", KEY), KEYS),
    followed(command(b"DEL", KEY), KEYS),
    followed(command(b"MSET", TEXT, VALUE), PAIRS),
    followed(command(b"HMSET", ROW, FIELD, VALUE), VALUES_OF_FIELDS),
    followed(command(b"HMGET", ROW, FIELD), FIELDS),
    followed(command(b"HDEL", ROW, FIELD), FIELDS),
)
"""Commands that are done, or told what is wrong with their words: for groups."""
NOT_QUEUED: list[Words] = [
    (b"GET",), (b"GET", b"a", b"b"), (b"SETNX", b"a"), (b"FOO",), (b"MULTI",), (b"MULTI", b"x"), (b"INCR",),
    (b"DISCARD", b"x"), (b"EXEC", b"x"),
]  # fmt: skip


def with_other_words(words: Words, hole: int, more: int, capitals: int) -> Words:
    """Sometimes with a word too few or too many, and with a name in small letters."""
    name = [words[0], words[0].lower(), words[0].title()][capitals]
    if more == 1:
        return (name, *words[1:], b"a")
    return (name, *(word for at, word in enumerate(words[1:], 1) if at != hole))


ALONE = st.builds(
    with_other_words,
    weighed(*[SETS] * 5, *[SUMS] * 3, *[READS] * 3, *[EXPIRY] * 5, SCANS, CONNECTION),
    hole=st.integers(0, 60),
    more=st.integers(0, 30),
    capitals=st.integers(0, 2),
).filter(lambda words: words[0].upper() != b"MULTI" or len(words) > 1)

GROUP = st.builds(
    lambda words, wrong, end: [(b"MULTI",), *words, *wrong, end],
    st.lists(SURE, max_size=6),
    st.one_of(st.just([]), st.just([]), st.lists(st.sampled_from(NOT_QUEUED), max_size=2)),
    st.sampled_from([(b"EXEC",), (b"EXEC",), (b"EXEC",), (b"DISCARD",), (b"RESET",)]),
)

# A wrong time of a missing key is an error.
GETEX_OF_A_ROW = st.tuples(command(b"SET", TEXT, VALUE), GETEX).map(
    lambda both: [both[0], (both[1][0], both[0][1], *both[1][2:])]
)
STEPS = weighed(
    *[ALONE.map(lambda words: [words])] * 12,
    *[HASHES.map(lambda words: [words])] * 2,
    GROUP,
    GETEX_OF_A_ROW,
)
COMMANDS = st.lists(st.tuples(STEPS, st.booleans()), min_size=3, max_size=15).map(
    lambda steps: [Command(words, is_line) for some, is_line in steps for words in some]
)

PIECES = [
    *(b"PING\r\n", b"ping\n", b"\t PING\r\n", b'"PING"\r\n', b"GET a b\r\n", b"\r\n"),
    *(b"  ECHO  a \r\n", b"ECHO 'a b'\r\n", b"ECHO a\tb\r\n", b"ECHO \\x41\r\n"),
    *(b'ECHO ""\r\n', b'ECHO a"b"\r\n'),
    *(b'ECHO "\\x41\\n\\q"\r\n', b'ECHO "\\x4"\r\n', b"ECHO 'it\\'s \\n'\r\n"),
    *(b"*0\r\n", b"*-1\r\n", b"*-7\r\n", b"*1\r\n$4\r\nPING\r\n", b"*1\r\n$3\r\nGET\r\n"),
    *(b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", b"*1\r\n$0\r\n\r\n"),
]
BROKEN = [
    *(b"*x\r\n", b"*1x\r\n", b"*\r\n", b"* 1\r\n", b"*+1\r\n", b"*01\r\n$4\r\nPING\r\n"),
    *(
        b"*2147483648\r\n",
        b"*99999999999999999999\r\n",
    ),
    *(b"*1\r\n+PING\r\n", b"*1\r\n:1\r\n", b"*1\r\n\r\n", b"*1\r\n$x\r\n", b"*1\r\n$-1\r\n", b"*1\r\n$\r\n"),
    *(
        b"*1\r\n$04\r\nPING\r\n",
        b"*1\r\n$+4\r\nPING\r\n",
    ),
    *(b"*1\r\n$99999999999\r\n", b"*1\r\n$99999999999999999999\r\n"),
    *(b'ECHO "a\r\n', b"ECHO 'a\r\n", b'ECHO "a"b\r\n', b"ECHO 'a'b\r\n"),
    *(b"QUIT\r\nPING\r\n", b"QUIT a\r\nPING\r\n"),
]
"""Behind each of them the connection is closed."""


# ── the tests ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def redis() -> Iterator[str]:
    with peer("redis-server") as socket:
        yield socket


def test_replies_equal_redis(emptied: RespServer, redis: str, soak: Soak) -> None:
    emptied.sql("CREATE OR REPLACE TABLE shop.fields (k INT PRIMARY KEY, a BLOB, b BLOB, n BLOB)")

    def check(commands: list[Command]) -> None:
        emptied.sql("DELETE FROM app.item")
        emptied.sql("DELETE FROM shop.fields")
        assert theirs.command("FLUSHALL") == b"+OK\r\n"
        for command in (Command((b"RESET",)), *commands):
            (our_reply, our_time), (their_reply, their_time) = (
                compared(command, answered(one, command)) for one in (ours, theirs)
            )
            assert our_reply == their_reply, command
            assert abs(our_time - their_time) <= MAY_DIFFER_BY.get(command.name(), 0), command
        soak.saw("commands", len(commands))

    with emptied.resp() as ours, RespConnection(redis) as theirs:
        repeat(soak, EXAMPLES, check, commands=COMMANDS)


def test_streams_are_followed_as_by_redis(emptied: RespServer, redis: str, soak: Soak) -> None:
    """Lines, arrays, and what is neither, up to where the connection is closed."""

    def check(pieces: list[bytes], last: bytes) -> None:
        assert all_of(emptied.resp(), pieces, last) == all_of(RawConnection(redis), pieces, last)
        soak.saw("streams")

    repeat(
        soak,
        STREAMS,
        check,
        pieces=st.lists(st.sampled_from(PIECES), max_size=6),
        last=st.sampled_from(BROKEN),
    )


def answered(connection: RespConnection, command: Command) -> bytes:
    connection.send(command.sent())
    return connection.reply()


def all_of(connection: RawConnection, pieces: list[bytes], last: bytes) -> bytes:
    """What is answered until the connection is closed."""
    received = b""
    with connection, contextlib.suppress(ConnectionClosed):
        connection.send(b"".join(pieces) + last + b"QUIT\r\n")
        while True:
            received += connection.line() + b"\n"
    return received
