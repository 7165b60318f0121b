# SPDX-License-Identifier: GPL-2.0-only
"""Requests of many kinds to the tables of support/catalogue.py, each on the rows of a place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from support.catalogue import BY_NAME, TABLES, of_any_place, value_at
from support.raw import RawConnection, token

IDS = {pair: number for number, pair in enumerate((t.name, i) for t in TABLES for i in t.indexes)}
"""The id under which each index of each table is opened."""


def open_all(client: RawConnection, database: str) -> None:
    """Open every index of every table on a connection."""
    lines = [
        f"P\t{number}\t{database}\t{table}\t{index}\t{BY_NAME[table].columns}\t{BY_NAME[table].filters}\tdetail"
        for (table, index), number in IDS.items()
    ]
    for line in lines:
        reply = client.ask(line.encode())
        assert reply == b"0\t1", (line, reply)


Make = Callable[[int], list[bytes]]


@dataclass(frozen=True)
class Request:
    """A request, or a group of them: lines for a place."""

    name: str
    lines: Make


def _line(place: int, table: str, index: str, *words: object) -> bytes:
    made = [value_at(place, word) for word in words]
    return b"\t".join(token(word) for word in (IDS[table, index], *made))  # type: ignore[arg-type]


def _one(name: str, table: str, *words: object, index: str = "PRIMARY") -> Request:
    return Request(f"{table} {name}", lambda place: [_line(place, table, index, *words)])


def _group(name: str, *members: Request, options: str = "") -> Request:
    def lines(place: int) -> list[bytes]:
        begin = b"G" + (b"\t" + options.encode() if options else b"")
        return [begin, *(line for member in members for line in member.lines(place)), b"E"]

    return Request(f"group {name}", lines)


_SAMPLES = {
    "types": ("7.5", "b"),
    "hashed": ("~77", "q"),
    "parent": ("~77", "q"),
    "child": ("~20", "q"),
    "grandchild": ("~20", "q"),
    "numbered": ("1777", "q"),
}
"""Values of n and s that a table takes, where it does not take any."""


def _of_any_table() -> Iterator[Request]:
    for table in TABLES:
        name, sample = table.name, _SAMPLES.get(table.name, ("3", "q"))
        yield _one("get", name, "=", 1, "~10")
        yield _one("update", name, "=", 1, "~20", 1, 0, "C", "n,s", "U", *sample)
        yield _one("insert", name, "+", 3, "~15", *sample)
        yield _one("duplicate", name, "+", 3, "~10", *sample)
        yield _one("delete", name, "=", 1, "~10", 1, 0, "D")
        yield _one("rows", name, "++", 3, 2, "~12", *sample, "~10", *sample, "U", "2")
        yield _one("ignore", name, "++", 3, 2, "~10", *sample, "~12", *sample, "I")
        yield _one("replace", name, "++", 3, 2, "~10", *sample, "~12", *sample, "R")
        yield _one("each", name, "++", 3, 3, "~12", *sample, "~10", *sample, "~13", *sample, "E")
        yield _one("list", name, "=", 1, 0, 9, 0, "@", 0, 3, "~20", "~11", "~10")
        yield _one("tell and update", name, "=", 1, "~20", 1, 0, "C", "n,s", "U?", *sample)
        yield _one("update and tell", name, "=", 1, "~10", 1, 0, "C", "n", "U!", sample[0])
        yield _one("nothing", name, "=", 1, "~11", 1, 0, "D")
        yield _one("add", name, "=", 1, "~10", 1, 0, "C", "n", "+", 1)


def _of_some() -> Iterator[Request]:
    upto = ("T", "<", 1, "~900")
    yield _one("range", "plain", ">=", 1, "~10", 10, 0, *upto)
    yield _one("range down", "plain", "<=", 1, "~40", 2, 1, "T", ">", 1, "~1")
    yield _one("reverse", "plain", ">=", 1, "~10", 2, 0, *upto, "R")
    yield _one("keys", "plain", "=", 1, "~10", 9, 0, "@@", 2, "~20", "~10")
    yield _one("filter", "plain", ">=", 1, "~10", 9, 0, "F", ">", 0, 1, *upto)
    yield _one("while", "plain", ">=", 1, "~10", 9, 0, "W", "=", 0, 1, *upto)
    yield _one("null filter", "plain", ">=", 1, "~10", 9, 0, "F", "=", 0, None, *upto)
    yield _one("count", "plain", ">=", 1, "~10", 0, 0, *upto, "#")
    yield _one("by number", "plain", "=", 2, 3, "~30", 9, 0, index="by_n")
    yield _one("by null", "plain", "=", 2, None, "~50", 9, 0, index="by_n")
    yield _one("by prefix", "plain", "=", 2, "abc", "~10", 9, 0, index="by_s")
    yield _one(
        "number in keys",
        "plain",
        ">=",
        2,
        3,
        "~20",
        2,
        0,
        "F",
        "=",
        0,
        3,
        "T",
        "<=",
        2,
        3,
        "~900",
        index="by_n",
    )
    yield _one("descending", "plain", ">=", 2, 3, "~40", 2, 0, "T", "<=", 2, 3, "~1", index="down")
    yield _one("update several", "plain", ">=", 1, "~10", 9, 0, *upto, "C", "n", "U", 8)
    yield _one("add and tell", "plain", "=", 1, "~10", 1, 0, "C", "n", "+!", 5)
    yield _one("subtract below zero", "plain", "=", 1, "~10", 1, 0, "C", "n", "-", 5)
    yield _one("tell and delete", "plain", ">=", 1, "~20", 2, 0, *upto, "D?")
    yield _one("move", "plain", "=", 1, "~10", 1, 0, "U", "~35")
    yield _one("move onto", "plain", "=", 1, "~10", 1, 0, "U", "~20")
    yield _one("too long", "plain", "+", 3, "~15", 1, "x" * 21)
    yield _one("too large", "plain", "=", 1, "~10", 1, 0, "C", "n", "+", 2147483647)
    yield _one("add on duplicate", "plain", "++", 3, 2, "~10", 7, "a", "~18", 7, "a", "+", 1)
    yield _one("no such operator", "plain", "%", 1, "~10")
    yield _one("key too long", "plain", "=", 3, "~10", 1, 1)
    yield _one("number made", "numbered", "++", 2, 2, "~15", "x", "~16", "y", "C", "id,s")
    yield _one(
        "number made on duplicate", "numbered", "++", 2, 2, "~15", "x", "~10", "y", "C", "id,s", "U", 1
    )
    yield _one("default", "defaults", "+", 1, "~15")
    yield _one("defaults of rows", "defaults", "++", 1, 2, "~15", "~16", "C", "id")
    yield _one("now", "defaults", "=", 1, "~10", 1, 0, "C", "s", "U", "z")
    yield _one("out of check", "generated", "=", 1, "~10", 1, 0, "C", "n", "U", 100)
    yield _one("by virtual", "generated", "=", 2, 4, "~20", 9, 0, index="by_twice")
    yield _one("by stored", "generated", "=", 2, "B", "~20", 9, 0, index="by_upper")
    yield _one("update by virtual", "generated", "=", 2, 4, "~20", 9, 0, "C", "n", "U", 9, index="by_twice")
    yield _one("virtual told", "generated", ">=", 1, "~10", 9, 0, *upto, "C", "twice,big,upper_s")
    yield _one("no partition", "parts", "+", 3, "~77", 1, "x")
    yield _one("to another partition", "parts", "=", 1, "~10", 1, 0, "U", "~45")
    yield _one("range", "parts", ">=", 1, "~10", 10, 0, *upto)
    yield _one("by number", "parts", "=", 2, 4, "~20", 9, 0, index="by_n")
    yield _one("history told", "versioned", "=", 1, "~10", 1, 0, "C", "n", "U!", 8)
    yield _one("same again", "versioned", "=", 1, "~10", 1, 0, "C", "n", "U", 5)
    yield _one("no parent", "child", "+", 3, "~15", "~99", "x")
    yield _one("moves children", "parent", "=", 1, "~10", 1, 0, "U", "~35")
    yield _one("several gone", "parent", ">=", 1, "~10", 9, 0, *upto, "D")
    yield _one("refused", "refusing", "+", 3, "~15", 6, "x")
    yield _one("refused row", "refusing", "++", 3, 3, "~15", 1, "x", "~16", 6, "y", "~17", 1, "z", "E")
    yield _one("refused change", "refusing", ">=", 1, "~10", 9, 0, *upto, "C", "n", "U", 6)
    yield _one("twice", "temporary", "++", 3, 2, "~15", 1, "x", "~16", 1, "y")
    yield _one(
        "all by number",
        "moving",
        ">=",
        2,
        1,
        "~10",
        9,
        0,
        "T",
        "<=",
        2,
        1,
        "~900",
        "C",
        "s",
        "U",
        "m",
        index="by_n",
    )
    yield _one("by decimal", "types", "=", 2, "1.50", "~10", 9, 0, index="by_n")
    yield _one(
        "by fraction",
        "types",
        ">",
        2,
        "1.499",
        "~1",
        1,
        0,
        "F",
        "=",
        0,
        "1.5",
        "T",
        "<",
        1,
        "1.6",
        index="by_n",
    )
    yield _one("by member", "types", "=", 2, "c", "~30", 9, 0, index="by_s")
    yield _one("by date", "types", "=", 2, "2021-12-31", "~20", 9, 0, index="by_d")
    yield _one("by no date", "types", "=", 2, "abc", "~20", 9, 0, index="by_d")
    yield _one("by time", "types", "=", 2, "-01:00:00", "~20", 9, 0, index="by_t")
    yield _one("by letter", "types", "=", 2, "\u00e4b", "~20", 9, 0, index="by_c")
    yield _one("by no letter", "types", "=", 2, "\u0416", "~20", 9, 0, index="by_c")
    yield _one("all told", "types", ">=", 1, "~10", 9, 0, *upto, "C", "n,s,d,t,f,y,st,bin,c")
    yield _one("bad date", "types", "=", 1, "~10", 1, 0, "C", "d", "U", "2021-02-30")
    yield _one("bad member", "types", "=", 1, "~10", 1, 0, "C", "s", "U", "z")
    yield _one("filtered", "types", ">=", 1, "~10", 9, 0, "F", ">", 2, "2020-06-01", *upto)
    yield _one("by hash", "memory", "=", 1, "~20", 9, 0)
    yield _one("by tree", "memory", "=", 2, 1, "~20", 9, 0, index="by_n")
    yield _one("several of no transaction", "myisam", ">=", 1, "~10", 9, 0, *upto, "C", "n", "U", 9)


def _groups() -> Iterator[Request]:
    put = _one("insert", "plain", "+", 3, "~61", 1, "g")
    log = _one("insert", "logging", "+", 3, "~61", 1, "g")
    read = _one("get", "parts", "=", 1, "~10")
    change = _one("change", "generated", "=", 1, "~10", 1, 0, "C", "n", "U", 7)
    fails = _one("duplicate", "plain", "+", 3, "~10", 1, "g")
    missing = _one("miss", "plain", "=", 1, "~99", 1, 0, "C", "n", "U", 7)
    refused = _one("refused", "refusing", "+", 3, "~15", 6, "x")
    aria = _one("insert", "aria", "+", 3, "~61", 1, "g")
    yield _group("done", put, read, change, log)
    yield _group("failed", read, put, log, fails, change)
    yield _group("failed first", fails, put)
    yield _group("must", put, missing, change, options="must")
    yield _group("refused by a trigger", put, refused)
    yield _group("without transactions", put, aria)
    yield _group("of reads", read, _one("get", "types", "=", 1, "~10"))


def _others(database: str) -> Iterator[Request]:
    def fixed(name: str, *lines: bytes) -> Request:
        return Request(name, lambda place: list(lines))

    yield fixed("open", f"P\t900\t{database}\tplain\tby_n\tid\t\tdetail".encode())
    yield fixed("open no table", f"P\t900\t{database}\tnone\t\tid".encode())
    yield fixed("open no column", f"P\t900\t{database}\tplain\t\tnone".encode())
    yield fixed("open no index", f"P\t900\t{database}\tplain\tnone\tid".encode())
    yield fixed("open a system's", b"P\t900\tmysql\tuser\t\tHost")
    yield fixed("nothing opened", b"999\t=\t1\t1")
    yield fixed("no request", b"X")
    yield fixed("an end", b"E")


def requests(database: str) -> list[Request]:
    """All of them."""
    made = [*_of_any_table(), *_of_some(), *_groups(), *_others(database)]
    names = [one.name for one in made]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    return made


def as_of_any_place(place: int, lines: list[bytes]) -> list[str]:
    """Replies without what is of the place."""
    return [of_any_place(place, (line.decode(),)) for line in lines]
