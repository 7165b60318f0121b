# SPDX-License-Identifier: GPL-2.0-only
"""The same random commands to RowSocket and to memcached itself: equal replies.

About 12,000 commands in `./x test`, other ones in each run; more in a soak. Numbers of versions (cas) differ,
so they are told apart only: the first one that an example sees, the second one, and so on.

docs/protocol/memcached.md says what differs on purpose. The strategies keep clear of it:

| what differs | what is done here |
|---|---|
| a mistake in the line of a storage command | such a command has an empty value: see `MISTAKEN` |
| what `decr`, and `incr` beyond 2^64, leave as spaces | numbers have keys of their own; spaces are cut |
| the size with those spaces | is not asked of numbers |
| `incr` of `+5`, ` 12` or `12 ` | no number is stored so |
| `incr` of nothing but line ends: memcached reads on behind the value | none is stored |
| flags that their command has no use for | each command has its own letters |
| `N` `R` `E` `h` `l` `I` `x`, `N` of `ms`, small letters of `M` | are left out |
| `t` beside `T` or `N`; `ma` with `N`, and `q` or `C` | they do not meet |
| keys in base64 | have names of their own, other ones for `ma`, are written in one way, and have no `MA` |
| `T` of `ma` where the item is copied | is left out |
| `c` where nothing was stored | is asked of commands that store or find |
| `C0`, `C` beside `ME` | are left out |
| flags and sizes from 2^32 on, times from 2^31 on, tabs, the byte 0 | are left out |
| figures of `me` | are not compared |
| which of several mistakes is told | there is one at most |
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from support.memcached import MemcachedServer
from support.peers import peer
from support.plugin import changed
from support.random_requests import repeat, weighed
from support.raw import RawConnection
from support.soak import Soak

EXAMPLES = 1000
"""Of about 12 commands each."""

CLOCKS_DIFFER_S = 60
"""memcached looks at the clock once a second, and a busy machine may stand still meanwhile."""
NO_VERSION = 1 << 62
"""A number that is no row's cas: memcached counts them from 1."""


# ── what a command is made of ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Key:
    """A key: each example has its own rows, so its number stands in front of the name."""

    name: str
    size: int = 0
    """Filled up to so many bytes."""
    is_base64: bool = False

    def written(self, example: int) -> bytes:
        key = f"{example}:{self.name}".encode().ljust(self.size, b"_")
        return base64.b64encode(key + b" \xff") if self.is_base64 else key


@dataclass(frozen=True)
class Version:
    """The cas that was seen as the first one, the second one, ... in this example; behind `prefix`."""

    number: int
    prefix: bytes = b""


Word = bytes | Key | Version
Words = list[Word]
Line = st.SearchStrategy[Words]


@dataclass(frozen=True)
class Command:
    """A line, the value behind it, and what memcached answers more than RowSocket does."""

    words: tuple[Word, ...]
    rest: bytes = b""
    line_end: bytes = b"\r\n"
    surplus: bytes = b""


class Subject:
    """One of the two servers, and the versions that it told."""

    def __init__(self, connection: RawConnection) -> None:
        self.connection = connection
        self.versions: list[bytes] = []

    def ask(self, command: Command, example: int) -> bytes:
        """The whole reply, with versions told apart; the sign of its end is the reply of `mn`."""
        line = b" ".join(self._written(word, example) for word in command.words)
        self.connection.send(line + command.line_end + command.rest + b"mn\r\n")
        reply = b""
        while not (reply == b"MN\r\n" or reply.endswith(b"\nMN\r\n")):
            reply += self.connection.line() + b"\n"
        return _TOLD_VERSION.sub(self._number_of, reply.removesuffix(b"MN\r\n"))

    def _written(self, word: Word, example: int) -> bytes:
        if isinstance(word, Version):
            known = self.versions[word.number : word.number + 1]
            return word.prefix + (known[0] if known else b"%d" % NO_VERSION)
        return word.written(example) if isinstance(word, Key) else word

    def _number_of(self, told: re.Match[bytes]) -> bytes:
        if told[2] not in self.versions:
            self.versions.append(told[2])
        return told[1] + b"#%d" % self.versions.index(told[2])


_TOLD_VERSION = re.compile(
    rb"((?:^|\n)VALUE \S+ \d+ \d+ |(?:^|\n)(?:VA|HD)[^\r]* c|(?:^|\n)ME [^\r]* cas=)(\d+)"
)
_FIGURES_OF_ME = re.compile(rb"((?:^|\n)ME \S+ )exp=-?\d+ la=\d+ (cas=\S+) fetch=\w+ cls=\d+ size=\d+")
_TIME_LEFT = re.compile(rb"(?<= t)\d+(?=[ \r])")
_NUMBER_AND_SPACES = re.compile(rb"(VALUE \S+ \d+ |VA )\d+([^\r]*\r\n\d+) *(?=\r\n)")


def compared(reply: bytes) -> tuple[bytes, list[int]]:
    """What is equal of two replies, and the times left, which may differ a little."""
    reply = _FIGURES_OF_ME.sub(rb"\1\2", reply)
    reply = _NUMBER_AND_SPACES.sub(rb"\1~\2", reply)
    return _TIME_LEFT.sub(b"~", reply), [int(time) for time in _TIME_LEFT.findall(reply)]


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────

TEXTS = st.sampled_from([Key("a"), Key("b"), Key("c\xe9\x01"), Key("k", 249), Key("l", 250)])
NUMBERS = st.sampled_from([Key("n"), Key("m")])
TOO_LONG = Key("x", 251)
KEYS = weighed(TEXTS, TEXTS, NUMBERS)
MOST_KEYS = weighed(*[KEYS] * 12, st.just(TOO_LONG))
MOST_TEXTS = weighed(*[TEXTS] * 12, st.just(TOO_LONG))
BASE64_KEYS = [Key("d", is_base64=True), Key("e", is_base64=True)]
BASE64_NUMBERS = [Key("f", is_base64=True)]

VALUES = st.one_of(
    st.sampled_from([b"", b"x", b"\r\nx", b"x\r\nget nobody", b"\x00\xff\x80", b"END\r\n", b"one two "]),
    st.binary(max_size=30).map(lambda data: b"v" + data.replace(b"MN", b"--")),
)
"""None of them begins with a digit: see `NUMBERS`."""

COUNTS = b"0 1 9 10 99 18446744073709551615 18446744073709551616 x -1 1.5".split()
AMOUNTS = [*COUNTS, *b"01 +1 -0 1x 0x10 18446744073709551614 noreply".split(), b"9" * 25]
FLAGS = b"0 0 7 4294967295 007 +5 -0".split()
EXPTIMES = b"0 0 0 0 1000 1000 +1000 01000 2592000 2147483647 -0 -1 -99999 2592001".split()
NO_EXPTIMES = [*b"x 1x 1.5 - +".split(), b"9" * 25]


def any_of(*words: Word) -> st.SearchStrategy[Word]:
    return st.sampled_from(words)


def line(*words: st.SearchStrategy[Word] | Word) -> Line:
    return st.tuples(*(st.just(word) if isinstance(word, bytes | Key) else word for word in words)).map(list)


def silent(words: Line) -> Line:
    """Sometimes with `noreply` or another word behind it."""
    more = st.sampled_from([[]] * 12 + [[b"noreply"]] * 3 + [[b"0"], [b"noreply", b"0"]])
    return st.tuples(words, more).map(lambda both: [*both[0], *both[1]])


def with_holes(words: Line) -> Line:
    """Sometimes with a word too few, and with spaces where none are needed."""

    def change(words: Words, hole: int, space: int) -> Words:
        has_hole = 0 < hole < len(words) and not isinstance(words[hole], Key)
        kept = [*words[:hole], *words[hole + 1 :]] if has_hole else words
        return [*kept[: space - 1], b"", *kept[space - 1 :]] if 0 < space <= len(kept) else kept

    return st.builds(change, words, st.integers(0, 60), st.integers(0, 60))


def command(words: Line, ends: tuple[bytes, ...] = (b"\r\n", b"\r\n", b"\n")) -> st.SearchStrategy[Command]:
    return st.builds(
        lambda words, end: Command(tuple(words), line_end=end), with_holes(words), st.sampled_from(ends)
    )


# ── classic commands ────────────────────────────────────────────────────────────────────────────────────────

EXPTIME = any_of(*EXPTIMES)
ANY_EXPTIME = any_of(*EXPTIMES, *EXPTIMES, *NO_EXPTIMES)
AMOUNT = any_of(*AMOUNTS)
VERSION = st.builds(Version, st.integers(0, 6), st.sampled_from([b"", b"", b"0", b"+"]))


def many(first: Line) -> Line:
    """A command and many keys."""
    return st.tuples(first, st.lists(KEYS, max_size=30)).map(lambda both: [*both[0], *both[1]])


GETS = command(weighed(*[many(line(any_of(b"get", b"gets")))] * 9, line(b"get", KEYS, TOO_LONG)))
GATS = command(many(line(any_of(b"gat", b"gats"), ANY_EXPTIME)))
OTHERS = command(
    st.one_of(
        silent(line(b"delete", MOST_KEYS)),
        silent(line(b"touch", MOST_KEYS, ANY_EXPTIME)),
        silent(line(b"verbosity", any_of(b"0", b"1", b"x"))),
        silent(line(any_of(b"incr", b"decr"), NUMBERS, AMOUNT)),
        silent(line(any_of(b"incr", b"decr"), NUMBERS, any_of(b"1", b"5"))),
        silent(line(any_of(b"incr", b"decr"), KEYS, AMOUNT)),
        silent(line(b"flush_all")),
        silent(line(b"flush_all", any_of(b"0", b"-1", b"+0", b"x"))),
        line(any_of(b"", b"x", b"gett", b"GET", b"m", b"mx", b"sets", b"incr", b"touch", b"delete")),
    )
)


def stored(words: Words, size_at: int, value: bytes, wrong_by: int) -> Command:
    """A storage command with its value. One that is wrong by some bytes takes them of what follows."""
    is_wrong = any(word in MISTAKES for word in words)
    size = b"%d" % max(0, len(value) + (0 if is_wrong else wrong_by))
    filled = b"get nobody\r\n" if wrong_by > 0 else b""
    return Command((*words[:size_at], size, *words[size_at:]), value + b"\r\n" + filled)


WRONG_BY = st.sampled_from([0] * 30 + [-1, 1, 2, 3, 9])


def stores(names: Line, values: st.SearchStrategy[bytes]) -> st.SearchStrategy[Command]:
    words = st.tuples(names, line(any_of(*FLAGS), EXPTIME)).map(lambda both: [*both[0], *both[1]])
    return st.builds(stored, silent(words), st.just(4), values, WRONG_BY)


STORES = st.one_of(
    stores(line(any_of(b"set", b"set", b"add", b"replace", b"append", b"prepend"), TEXTS), VALUES),
    stores(line(any_of(b"set", b"set", b"add", b"replace"), NUMBERS), st.sampled_from(COUNTS)),
    st.builds(stored, line(b"set", TEXTS, b"0", b"0"), st.just(4), st.just(b"y" * 3000), st.just(0)),
    st.builds(
        stored, silent(line(b"cas", TEXTS, any_of(*FLAGS), EXPTIME, VERSION)), st.just(4), VALUES, WRONG_BY
    ),
)

MISTAKEN = st.sampled_from(
    [
        Command((verb, *words), b"\r\n", surplus=surplus)
        for verb in (b"set", b"append")
        for words, surplus in [
            ((TOO_LONG, b"0", b"0", b"0"), b"ERROR\r\n"),
            ((Key("a"), b"x", b"0", b"0"), b"ERROR\r\n"),
            ((Key("a"), b"-1", b"0", b"0"), b"ERROR\r\n"),
            ((Key("a"), b"0", b"x", b"0"), b"ERROR\r\n"),
            ((Key("a"), b"0", b"x", b"0", b"noreply"), b"ERROR\r\n"),
            ((Key("a"), b"0", b"0", b"x"), b""),
            ((Key("a"), b"0", b"0", b"-1"), b""),
            ((Key("a"), b"0", b"0", b"2147483646"), b""),
            ((Key("a"), b"0", b"0"), b""),
            ((Key("a"), b"0", b"0", b"noreply"), b""),
            ((Key("a"), b"0", b"0", b"0", b"0", b"0"), b""),
        ]
    ]
    + [Command((b"cas", Key("a"), b"0", b"0", b"0", b"x"), b"\r\n", surplus=b"ERROR\r\n")]
    + [Command((b"cas", Key("a"), b"0", b"0", b"0"), b"\r\n")]
)

# ── meta commands ───────────────────────────────────────────────────────────────────────────────────────────

TOKENS: dict[str, st.SearchStrategy[Word]] = {
    "T": any_of(*(b"T" + time for time in EXPTIMES)),
    "N": any_of(*(b"N" + time for time in EXPTIMES)),
    "F": any_of(*(b"F" + flags for flags in FLAGS)),
    "C": st.builds(Version, st.integers(0, 6), st.sampled_from([b"C", b"C", b"C0", b"C+"])),
    "O": any_of(b"O", b"Oabc", b"O" + b"o" * 30),
    "D": any_of(b"D1", b"D0", b"D10", b"D+1", b"D01", b"D18446744073709551615"),
    "J": any_of(b"J0", b"J7", b"J+7", b"J18446744073709551615"),
    "v": any_of(b"v", b"v1"),
}
LONG_OPAQUE = b"O" + b"o" * 40
MISTAKES = [
    *(b"z", b"Tx", b"T", b"Cx", b"Fx", b"Nx", b"Dx", b"Jx", b"Mz", b"Mxx", b"M", LONG_OPAQUE),
    *(b"P1", b"Lx"),  # no mistakes: they are for proxies
]


def letter_of(word: Word) -> bytes:
    return word.prefix[:1] if isinstance(word, Version) else word[:1] if isinstance(word, bytes) else b""


def flags(letters: str, modes: tuple[bytes, ...]) -> Line:
    """Some of these flags in any order; sometimes one twice, or one that is wrong."""

    def flag(letter: str) -> st.SearchStrategy[Word]:
        return any_of(*modes) if letter == "M" else TOKENS.get(letter, st.just(letter.encode()))

    def mixed(right: Words, wrong: Words, at: int) -> Words:
        kept = [word for word in right if not wrong or letter_of(word) != letter_of(wrong[0])]
        return [*kept[:at], *wrong, *kept[at:]]

    chosen = st.lists(st.sampled_from(letters), unique=True, max_size=6)
    mistakes = [[word] for word in MISTAKES if word[:1].decode() in letters + "zPL"]
    if "D" in letters:  # memcached tells of an opaque that is too long behind what is wrong with the number
        mistakes.remove([LONG_OPAQUE])
    return st.builds(
        mixed,
        chosen.flatmap(lambda some: st.tuples(*map(flag, some))),
        st.sampled_from([[]] * 30 + mistakes + [[b"k", b"k"]]),
        st.integers(0, 6),
    )


def meta(name: bytes, letters: str, keys: st.SearchStrategy[Word], modes: tuple[bytes, ...] = ()) -> Line:
    return st.tuples(line(name, keys), flags(letters, modes)).map(lambda both: [*both[0], *both[1]])


def coded(words: Line, keys: list[Key] = BASE64_KEYS) -> Line:
    """Some of these commands, with a key in base64."""

    def change(words: Words, key: Key, at: int) -> Words:
        return [words[0], key, *words[2:][:at], b"b", *words[2:][at:]]

    return weighed(words, words, st.builds(change, words, st.sampled_from(keys), st.integers(0, 6)))


COUNT_MODES = (b"MI", b"M+", b"MD", b"M-")
META = command(
    st.one_of(
        coded(meta(b"mg", "cfkOqstvu", MOST_TEXTS)),
        coded(meta(b"mg", "cfkOqsTvu", MOST_TEXTS)),
        coded(meta(b"mg", "cfkOqtvu", NUMBERS), BASE64_NUMBERS),
        coded(meta(b"mg", "cfkOqTvu", NUMBERS), BASE64_NUMBERS),
        coded(meta(b"md", "CkOq", MOST_KEYS)),
        coded(meta(b"ma", "DJMNkOcv", KEYS, COUNT_MODES), BASE64_NUMBERS),
        coded(meta(b"ma", "DJMtkOcvq", KEYS, COUNT_MODES), BASE64_NUMBERS),
        meta(b"ma", "CDMkOcvq", NUMBERS, COUNT_MODES),
        coded(line(b"me", MOST_KEYS)),
        line(any_of(b"mg", b"ms", b"md", b"ma", b"me", b"mx")),
        line(b"ms", TEXTS),
        line(b"ms", TEXTS, any_of(b"x", b"-1", b"2147483646")),
    )
)
META_STORES = st.builds(
    stored,
    st.one_of(
        meta(b"ms", "CFkOTqM", TEXTS, (b"MA", b"MP")),
        coded(meta(b"ms", "CFkOTqM", TEXTS, (b"MS", b"MR"))),
        coded(meta(b"ms", "FkOTqM", TEXTS, (b"ME", b"MS"))),
        coded(meta(b"ms", "FkOTqc", TEXTS)),
    ),
    st.just(2),
    VALUES,
    WRONG_BY,
)

FIRST = [
    *(stored([b"set", Key(name, size), b"5", b"0"], 4, b"v", 0) for name, size in (("a", 0), ("k", 249))),
    stored([b"set", Key("n"), b"0", b"1000"], 4, b"99", 0),
    stored([b"ms", Key("d", is_base64=True), b"b"], 2, b"", 0),
    Command((b"gets", Key("a"), Key("k", 249), Key("n"))),
]
"""What an example begins with, so that not all of its keys are missed."""
COMMANDS = st.lists(
    weighed(*[STORES] * 6, *[META_STORES] * 4, *[META] * 6, *[OTHERS] * 4, GETS, GETS, GATS, GATS, MISTAKEN),
    min_size=3,
    max_size=25,
).map(lambda commands: [*FIRST, *commands])


# ── the test ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def connections(cache_server: MemcachedServer) -> Iterator[tuple[RawConnection, RawConnection]]:
    """To RowSocket, and to memcached."""
    cache_server.sql("DELETE FROM app.item")
    with (
        changed(cache_server, allows_flush="ON"),
        peer("memcached") as socket,
        contextlib.closing(cache_server.memcached()) as ours,
        contextlib.closing(RawConnection(socket)) as theirs,
    ):
        yield ours, theirs


def test_replies_equal_memcacheds(connections: tuple[RawConnection, RawConnection], soak: Soak) -> None:
    examples = itertools.count()

    def check(commands: list[Command]) -> None:
        example = next(examples)
        ours, theirs = map(Subject, connections)
        for command in commands:
            our_reply, our_times = compared(ours.ask(command, example))
            their_reply, their_times = compared(theirs.ask(command, example))
            assert our_reply + command.surplus == their_reply, command
            assert all(
                abs(one - other) <= CLOCKS_DIFFER_S for one, other in zip(our_times, their_times, strict=True)
            ), command
        soak.saw("commands", len(commands))

    repeat(soak, EXAMPLES, check, commands=COMMANDS)
