# SPDX-License-Identifier: GPL-2.0-only
"""Random requests by the grammar of docs/protocol/handlersocket.md: all operators, clauses, modifications,
inserts and groups; now and then with a token that should not stand there.

With each line comes what an ok must look like (replies.py).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fuzz_server import values
from fuzz_server.replies import ANY, DONE, INSERTED, NUMBER, REFUSED, Form, outcomes, rows
from fuzz_server.scene import DATABASE, Shape

OPERATORS = (b"=", b">", b">=", b"<", b"<=", b"^=")
_FACING = {b">": (b"<", b"<="), b">=": (b"<", b"<="), b"<": (b">", b">="), b"<=": (b">", b">=")}
_COMPARISONS = (b"=", b"!=", b"<", b"<=", b">", b">=")
_WRONG = (
    b"",
    b"0",
    b"99",
    b"4294967296",
    b"99999999999999999999",
    b"-1",
    b"x",
    b"\0",
    b"\x01",
    b"@",
    b"=",
    b"+",
    b"503",
)
_MODIFICATIONS = (
    b"U",
    b"U",
    b"U",
    b"+",
    b"-",
    b"D",
    b"#",
    b"U?",
    b"D?",
    b"+?",
    b"-?",
    b"U!",
    b"+!",
    b"-!",
    b"#!",
)
_FREE_IDS = range(500, 520)
"""Ids that stand for now this and now that."""
_UNKNOWN_NAMES = (
    b"",
    b"nothing",
    b"fuzz",
    b"mysql",
    b"user",
    b"#mysql50#plain",
    b"plain\0",
    b"../mysql/user",
)
_SYSTEM_TABLES = (
    (b"mysql", b"user"),
    (b"mysql", b"global_priv"),
    (b"mysql", b"proc"),
    (b"#mysql50#mysql", b"proc"),
    (b"mysql", b"#mysql50#global_priv"),
    (b"information_schema", b"tables"),
    (b"performance_schema", b"threads"),
    (b"sys", b"sys_config"),
)
REQUESTS_OF_A_GROUP_MAX = 5
MISTAKES = 0.08
"""The share of values, and of lines, that are wrong."""


@dataclass(frozen=True)
class Asked:
    """A request line without its LF, and what an ok to it looks like."""

    line: bytes
    form: Form


@dataclass(frozen=True)
class Opened:
    """What an id of a connection stands for."""

    number: int
    shape: Shape
    index: str
    columns: tuple[str, ...]
    filters: tuple[str, ...]

    @property
    def key(self) -> list[str]:
        """The columns of the index."""
        return self.shape.indexes[self.index].split(",")

    def line(self) -> bytes:
        """The open_index."""
        names = (
            DATABASE,
            self.shape.name.strip("`"),
            self.index,
            ",".join(self.columns),
            ",".join(self.filters),
        )
        return b"P\t%d\t" % self.number + "\t".join(names).encode()


class Grammar:
    """The requests of one connection; `writes` says whether many of them are to change something."""

    def __init__(self, choose: random.Random, shapes: tuple[Shape, ...], *, writes: bool = True) -> None:
        self.choose = choose
        self.shapes = shapes
        self.served = tuple(shape for shape in shapes if shape.is_served)
        self.mistakes = MISTAKES
        self.write_share = 1.0 if writes else MISTAKES
        self.opened = [self._open(number) for number in range(choose.randint(1, 9))]

    def opens(self) -> list[Asked]:
        """The open_indexes to send first."""
        return [Asked(one.line(), DONE if one.shape.is_served else REFUSED) for one in self.opened]

    def requests(self, line_count: int) -> list[Asked]:
        """About so many lines; a group is not left open."""
        made: list[Asked] = []
        while len(made) < line_count:
            made += self._group() if self.choose.random() < 0.08 else [self._line()]
        return made

    # ---- lines

    def _line(self) -> Asked:
        kind = self.choose.random()
        if kind < 0.04:
            return self._open_another()
        if kind < 0.06:
            return self._authenticate()
        return self._request()

    def _request(self) -> Asked:
        if self.choose.random() > self.write_share:
            return self._read()
        kinds = (self._read, self._find, self._insert, self._insert_rows)
        [request] = self.choose.choices(kinds, (50, 22, 13, 9))
        return request()

    def _value(self, kind: str) -> bytes:
        return values.value(self.choose, kind, self.mistakes)

    def _group(self) -> list[Asked]:
        """Mostly one without mistakes, since one mistake undoes all of it."""
        self.mistakes = self.choose.choice((0.0, 0.0, MISTAKES))
        group = self._group_of_requests()
        self.mistakes = MISTAKES
        return group

    def _group_of_requests(self) -> list[Asked]:
        choose = self.choose
        begin = b"\t".join([b"G", *choose.sample((b"must", b"gtid"), choose.choice((0, 0, 1, 2)))])
        if choose.random() < self.mistakes:
            begin = b"G\t" + choose.choice(_WRONG)
        members = [self._request() for _ in range(choose.randrange(REQUESTS_OF_A_GROUP_MAX))]
        if choose.random() < self.mistakes:
            members.append(choose.choice((self._line(), Asked(b"G", DONE), self._open_another())))
        return [Asked(begin, DONE), *members, Asked(b"E", ANY)]

    def _open(self, number: int) -> Opened:
        choose = self.choose
        shape = choose.choice(self.served if choose.random() < 0.97 else self.shapes)
        columns = choose.sample(shape.names, choose.randint(1, len(shape.names)))
        if choose.random() < 0.6:
            columns = shape.names
        filters = choose.sample(shape.names, choose.randint(0, len(shape.names)))
        return Opened(number, shape, choose.choice(list(shape.indexes)), tuple(columns), tuple(filters))

    def _open_another(self) -> Asked:
        choose = self.choose
        number = choose.choice(_FREE_IDS)
        if choose.random() < 0.2:
            return Asked(
                b"\t".join((b"P", b"%d" % number, *choose.choice(_SYSTEM_TABLES), b"0", b"")), REFUSED
            )
        line = self._open(number).line()
        if choose.random() < 0.5:
            tokens = line.split(b"\t")
            if choose.random() < 0.5:
                tokens[choose.randrange(2, 7)] = choose.choice(
                    (*_UNKNOWN_NAMES, b"id,,id", b"id," * 50, b"0", b"3")
                )
            else:
                tokens.append(choose.choice((b"raw", b"", b"rawer")))
            line = b"\t".join(tokens)
        return Asked(line, DONE)

    def _authenticate(self) -> Asked:
        return Asked(
            b"A\t" + self.choose.choice((b"1", b"1\t", b"1\twrong", b"2\tx", b"", b"1\t\x01t")), DONE
        )

    # ---- finds

    def _read(self) -> Asked:
        return self._find(reads_only=True)

    def _find(self, *, reads_only: bool = False) -> Asked:
        choose = self.choose
        one = choose.choice(self.opened)
        kinds = one.shape.kinds
        count = 1 if choose.random() < 0.6 else choose.randint(1, len(one.key))
        is_text = kinds[one.key[count - 1]] in "tb" or choose.random() < self.mistakes
        operator = choose.choice(OPERATORS if is_text else OPERATORS[:-1]) if choose.random() < 0.5 else b"="
        tokens = [b"%d" % one.number, operator, b"%d" % count, *self._key(one, count)]
        width: int | None = len(one.columns)
        modified = one.columns
        if choose.random() < 0.9:
            tokens += [b"%d" % choose.choice((0, 1, 1, 2, 5, 100)), b"%d" % choose.choice((0, 0, 0, 1, 3))]
            clauses = [clause for clause in self._clauses(one, operator, count) if choose.random() < 0.22]
            if clauses and clauses[0][0][:1] == b"@" and choose.random() < 0.3:
                clauses.append([b"L", b"%d" % choose.randint(1, 3)])
            choose.shuffle(clauses)
            for clause in clauses:
                tokens += clause
                if clause[0] == b"C":
                    modified = tuple(name.decode() for name in clause[1].split(b","))
                    width = len(modified)
        form = rows(width)
        if not reads_only:
            modification = choose.choice(_MODIFICATIONS)
            tokens.append(modification)
            if modification[:1] in (b"U", b"+", b"-"):
                given = modified[: choose.randint(1, len(modified))]
                tokens += [self._value(kinds.get(name, "i")) for name in given]
            form = form if modification[-1:] in b"?!" else NUMBER
        return self._damaged(tokens, form)

    def _key(self, one: Opened, count: int) -> list[bytes]:
        return [self._value(one.shape.kinds[name]) for name in one.key[:count]]

    def _clauses(self, one: Opened, operator: bytes, count: int) -> list[list[bytes]]:
        """One of each clause; the caller takes some of them."""
        choose = self.choose
        part, many = choose.randrange(count), choose.choice((1, 2, 3, 10))
        kind = one.shape.kinds[one.key[part]]
        to_count = choose.randint(1, len(one.key))
        filters = [
            word for _ in range(choose.randint(1, 3) if one.filters else 0) for word in self._filter(one)
        ]
        names = choose.sample(one.shape.names, choose.randint(1, len(one.shape.names)))
        in_list = [b"@", b"%d" % part, b"%d" % many, *(self._value(kind) for _ in range(many))]
        keys = [b"@@", b"%d" % many, *(word for _ in range(many) for word in self._key(one, count))]
        facing = choose.choice(_FACING.get(operator, OPERATORS))
        to = [b"T", facing, b"%d" % to_count, *self._key(one, to_count)]
        return [
            choose.choice((in_list, keys)),
            *([filters] if filters else []),
            *([to] if operator in _FACING else []),
            [b"R"],
            [b"C", ",".join(names).encode()],
        ]

    def _filter(self, one: Opened) -> list[bytes]:
        choose = self.choose
        column = choose.randrange(len(one.filters))
        value = self._value(one.shape.kinds[one.filters[column]])
        return [choose.choice((b"F", b"F", b"W")), choose.choice(_COMPARISONS), b"%d" % column, value]

    # ---- inserts

    def _insert(self) -> Asked:
        one = self.choose.choice(self.opened)
        count = self.choose.randint(1, len(one.columns))
        return self._damaged([b"%d" % one.number, b"+", b"%d" % count, *self._row(one, count)], INSERTED)

    def _row(self, one: Opened, count: int) -> list[bytes]:
        return [self._value(one.shape.kinds[name]) for name in one.columns[:count]]

    def _insert_rows(self) -> Asked:
        choose = self.choose
        one = choose.choice(self.opened)
        count, many = choose.randint(1, len(one.columns)), choose.choice((1, 2, 2, 5, 20))
        tokens = [b"%d" % one.number, b"++", b"%d" % count, b"%d" % many]
        tokens += [word for _ in range(many) for word in self._row(one, count)]
        positions = choose.sample(range(count), choose.randint(1, count))
        split = choose.randint(0, len(positions))
        listed = [
            b",".join(b"%d" % position for position in some)
            for some in (positions[:split], positions[split:])
        ]
        upsert = [
            word for sign, some in zip((b"U", b"+"), listed, strict=True) if some for word in (sign, some)
        ]
        tokens += choose.choice(
            ([], [], [b"I"], [b"R"], upsert, upsert, [b"E"], [b"I", b"E"], [*upsert, b"E"])
        )
        return self._damaged(tokens, outcomes(many))

    # ---- mistakes

    def _damaged(self, tokens: list[bytes], form: Form) -> Asked:
        """Now and then a line that is not quite by the grammar."""
        choose = self.choose
        if choose.random() >= self.mistakes:
            return Asked(b"\t".join(tokens), form)
        at = choose.randrange(len(tokens))
        kind = choose.randrange(4)
        if kind == 0:
            tokens[at] = choose.choice(_WRONG)
        elif kind == 1:
            del tokens[at]
        elif kind == 2:
            tokens.insert(at, choose.choice(_WRONG))
        else:
            tokens = tokens[:at]
        return Asked(b"\t".join(tokens), ANY)
