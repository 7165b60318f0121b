# SPDX-License-Identifier: GPL-2.0-only
"""What is asked, and which rows are the right answer. One function is one workload; scenarios name it.

A request is written as the protocols have it. `k` is its key, or all its keys where it has many:

    line     what follows the index id in the HandlerSocket protocol
    sql      a whole statement
    cached   the key under which memcached and Redis hold the row
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from bench.traffic import tables
from bench.traffic.forms import Number
from bench.traffic.tables import Table

TICK = Number("tick")


class Does(Enum):
    """What a request does, which says what its answer is."""

    FIND = "find"
    INSERT = "insert"
    UPDATE = "update"
    INCREMENT = "increment"


@dataclass(frozen=True)
class Request:
    """One kind of request."""

    columns: str
    """What it returns or writes, with commas between."""
    line: Callable[..., str] | None = None
    sql: Callable[..., str] | None = None
    cached: Callable[[Number], str] | None = None
    rows: Callable[[Number], Sequence[Number]] = lambda k: [k]
    """The rows that answer a key, in order."""
    index: str = "PRIMARY"
    does: Does = Does.FIND
    weight: int = 1
    is_extension: bool = False
    """Whether `line` needs RowSocket's extensions."""
    table: str = ""
    """Where it is not the workload's."""
    cached_columns: str = ""
    """What the value in memcached and Redis holds, where it is not `columns`."""

    @property
    def value_columns(self) -> str:
        """What the value in memcached and Redis holds, with commas between."""
        return self.cached_columns or self.columns


@dataclass(frozen=True)
class Keys:
    """Which keys a request has: so many different ones from a range, or the next unused ones."""

    least: int
    most: int = 0
    count: int = 1
    next: bool = False


@dataclass(frozen=True)
class Workload:
    """What one run asks."""

    table: Table
    keys: Keys
    requests: tuple[Request, ...]
    rows: int
    """In the table."""
    name: str = ""
    about: str = ""
    numbers: tuple[Number, ...] = field(init=False)
    """The keys, for writing a request."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", tuple(Number(key=place) for place in range(self.keys.count)))

    @property
    def writes(self) -> bool:
        """Whether any request does."""
        return any(request.does is not Does.FIND for request in self.requests)

    @property
    def typical_keys(self) -> list[int]:
        """Those of a request in the middle."""
        middle = (self.keys.least + max(self.keys.most, self.keys.least) + 1 - self.keys.count) // 2
        return [middle + place for place in range(self.keys.count)]

    def rows_of(self, request: Request) -> list[Number]:
        """The rows of the whole answer to a request."""
        return [row for key in self.numbers for row in request.rows(key)] if request.does is Does.FIND else []

    def stores(self) -> list[Workload]:
        """The workloads that fill memcached and Redis with what this one wants."""
        found = {}
        for request in self.requests:
            if request.cached is not None and request.does is not Does.INSERT:
                store = Request(
                    request.value_columns,
                    cached=request.cached,
                    does=Does.INSERT,
                    cached_columns=request.cached_columns,
                )
                keys = Keys(self.table.first, next=True)
                found[request.value_columns] = replace(self, requests=(store,), keys=keys)
        return list(found.values())


PERSONAL = "user_name,user_email,created"


def _user_by_key(k: Number) -> str:
    return f"SELECT {PERSONAL} FROM user WHERE user_id = {k}"


def point(rows: int) -> Workload:
    """The row of one key: the commonest request there is."""
    request = Request(PERSONAL, lambda k: f"=\t1\t{k}", _user_by_key, lambda k: f"user:{k}")
    return Workload(tables.USER, Keys(1, rows), (request,), rows)


def field_(rows: int) -> Workload:
    """One column of the row of one key: a field of a hash."""
    request = Request(
        "user_email",
        lambda k: f"=\t1\t{k}",
        lambda k: f"SELECT user_email FROM user WHERE user_id = {k}",
        lambda k: f"user:{k}",
    )
    return Workload(tables.USER, Keys(1, rows), (request,), rows)


def in_(rows: int, keys: int = 50) -> Workload:
    """The rows of many keys in one request: an IN list, a multi-get."""
    request = Request(
        PERSONAL,
        lambda *k: f"=\t1\t\t{keys}\t0\t@\t0\t{keys}\t" + "\t".join(map(format, k)),
        lambda *k: f"SELECT {PERSONAL} FROM user WHERE user_id IN ({','.join(map(format, k))})",
        lambda k: f"user:{k}",
    )
    return Workload(tables.USER, Keys(1, rows, count=keys), (request,), rows)


def range_(rows: int, take: int = 100) -> Workload:
    """Rows that follow each other, from a random key."""
    request = Request(
        PERSONAL,
        lambda k: f">=\t1\t{k}\t{take}\t0",
        lambda k: f"SELECT {PERSONAL} FROM user WHERE user_id >= {k} ORDER BY user_id LIMIT {take}",
        rows=lambda k: [k + place for place in range(take)],
    )
    return Workload(tables.USER, Keys(1, rows - take), (request,), rows)


def insert(rows: int) -> Workload:
    """A new row, under the next key."""

    def values(k: Number, between: str, quote: str) -> str:
        number, *texts = tables.USER.values(f"user_id,{PERSONAL}", k)
        return between.join([number, *(f"{quote}{text}{quote}" for text in texts)])

    request = Request(
        f"user_id,{PERSONAL}",
        lambda k: f"+\t4\t{values(k, chr(9), '')}",
        lambda k: f"INSERT INTO user VALUES ({values(k, ', ', chr(39))})",
        lambda k: f"user:{k}",
        does=Does.INSERT,
    )
    return Workload(tables.USER, Keys(rows + 1, next=True), (request,), rows)


def upsert(rows: int) -> Workload:
    """A row that may be there or not, and is not: what a `set` does."""

    def statement(k: Number) -> str:
        number, *texts = tables.USER.values(f"user_id,{PERSONAL}", k)
        values = ", ".join([number, *(f"'{text}'" for text in texts)])
        changes = ", ".join(f"{column} = VALUES({column})" for column in PERSONAL.split(","))
        return f"INSERT INTO user VALUES ({values}) ON DUPLICATE KEY UPDATE {changes}"

    request = Request(PERSONAL, sql=statement, cached=lambda k: f"user:{k}", does=Does.INSERT)
    return Workload(tables.USER, Keys(rows + 1, next=True), (request,), rows)


def _version(weight: int = 1) -> Request:
    return Request(
        "version",
        lambda k: f"=\t1\t{k}\t1\t0\tU\t{TICK:09}",
        lambda k: f"UPDATE account SET version = {TICK:09} WHERE account_id = {k}",
        lambda k: f"account:{k}",
        does=Does.UPDATE,
        cached_columns=PERSONAL,
        weight=weight,
    )


def update(rows: int) -> Workload:
    """One column of one row gets a new value."""
    return Workload(tables.ACCOUNT, Keys(1, rows), (_version(),), rows)


def mixed(rows: int, reads: int = 90, writes: int = 10) -> Workload:
    """Reads by primary key beside updates."""
    read = Request(
        PERSONAL,
        lambda k: f"=\t1\t{k}",
        lambda k: f"SELECT {PERSONAL} FROM account WHERE account_id = {k}",
        lambda k: f"account:{k}",
        weight=reads,
    )
    return Workload(tables.ACCOUNT, Keys(1, rows), (read, _version(writes)), rows)


def increment(rows: int) -> Workload:
    """Everybody counts up the same row."""
    request = Request(
        "hits",
        lambda k: f"=\t1\t{k}\t1\t0\t+\t1",
        lambda k: f"UPDATE counter SET hits = hits + 1 WHERE counter_id = {k}",
        lambda k: f"counter:{k}",
        does=Does.INCREMENT,
    )
    return Workload(tables.COUNTER, Keys(1, 1), (request,), rows)


def _by_email(columns: str) -> Request:
    def email(k: Number) -> str:
        return tables.PERSON.values("email", k)[0]

    return Request(
        columns,
        lambda k: f"=\t1\t{email(k)}",
        lambda k: f"SELECT {columns} FROM person WHERE email = '{email(k)}'",
        index="email",
    )


def index_only(rows: int) -> Workload:
    """One row by a secondary key that holds all the columns asked for."""
    return Workload(tables.PERSON, _all_rows(tables.PERSON, rows), (_by_email("person_id,email"),), rows)


def unique(rows: int) -> Workload:
    """One row by a unique secondary key, with a column that the key does not hold."""
    return Workload(tables.PERSON, _all_rows(tables.PERSON, rows), (_by_email("person_id,name"),), rows)


def nonunique(rows: int) -> Workload:
    """The 20 rows of one value of a secondary key."""
    request = Request(
        "person_id,name",
        lambda k: f"=\t1\t{k:06}\t20\t0",
        lambda k: f"SELECT person_id,name FROM person WHERE city = {k:06}",
        rows=lambda k: [k * 20 + place for place in range(20)],
        index="city",
    )
    return Workload(tables.PERSON, _twenties(tables.PERSON, rows), (request,), rows)


MESSAGE = "friend_id,message_no,body"


def _latest(take: int) -> Callable[[Number], Sequence[Number]]:
    return lambda k: [k * 20 + 19 - place for place in range(take)]


def _latest_sql(k: Number, take: int) -> str:
    return f"SELECT {MESSAGE} FROM message WHERE friend_id = {k:06} ORDER BY message_no DESC LIMIT {take}"


def latest(rows: int, keys: int = 200, take: int = 3) -> Workload:
    """The latest messages of each of many friends in one request."""
    request = Request(
        MESSAGE,
        lambda *k: (
            f"=\t1\t\t1000000\t0\t@\t0\t{keys}\t" + "\t".join(f"{one:06}" for one in k) + f"\tL\t{take}\tR"
        ),
        lambda *k: " UNION ALL ".join(f"({_latest_sql(one, take)})" for one in k),
        rows=_latest(take),
        is_extension=True,
    )
    return Workload(tables.MESSAGE, replace(_twenties(tables.MESSAGE, rows), count=keys), (request,), rows)


def latest_of_one(rows: int, take: int = 3) -> Workload:
    """The latest messages of one friend. Many of these at once do the work of `latest`."""
    request = Request(
        MESSAGE, lambda k: f"<=\t2\t{k:06}\t19\t{take}\t0", lambda k: _latest_sql(k, take), rows=_latest(take)
    )
    return Workload(tables.MESSAGE, _twenties(tables.MESSAGE, rows), (request,), rows)


def _entry(columns: str, index: str, cached: str, weight: int) -> Request:
    return Request(
        columns,
        lambda k: f"=\t1\t{k}",
        lambda k: f"SELECT {columns} FROM diary FORCE INDEX ({index}) WHERE entry_id = {k}",
        lambda k: f"{cached}:{k}",
        index=index,
        weight=weight,
    )


def _diary(index: str, rows: int, body_bytes: int, short_reads: int, long_reads: int) -> Workload:
    short = _entry("written,title,mood", index, "diary:short", short_reads)
    long = _entry("written,title,mood,body", "PRIMARY", "diary", long_reads)
    return Workload(tables.diary(body_bytes), Keys(1, rows), (short, long), rows)


def diary_covering(
    rows: int, body_bytes: int = 1000, short_reads: int = 90, long_reads: int = 10
) -> Workload:
    """A diary with long entries. Most reads want only the short columns, by an index that holds them."""
    return _diary("short", rows, body_bytes, short_reads, long_reads)


def diary_primary(rows: int, body_bytes: int = 1000, short_reads: int = 90, long_reads: int = 10) -> Workload:
    """A diary with long entries. Most reads want only the short columns. All are by the primary key."""
    return _diary("PRIMARY", rows, body_bytes, short_reads, long_reads)


def value(rows: int, value_bytes: int = 100) -> Workload:
    """One value of any size."""
    request = Request(
        "data",
        lambda k: f"=\t1\t{k}",
        lambda k: f"SELECT data FROM item WHERE id = {k}",
        lambda k: f"item:{k}",
    )
    return Workload(tables.item(value_bytes), Keys(1, rows), (request,), rows)


def wide(rows: int, value_columns: int = 16) -> Workload:
    """All the columns of one row."""
    columns = ",".join(f"c{number}" for number in range(1, value_columns + 1))
    request = Request(columns, lambda k: f"=\t1\t{k}", lambda k: f"SELECT {columns} FROM wide WHERE id = {k}")
    return Workload(tables.wide(value_columns), Keys(1, rows), (request,), rows)


def eight_tables(rows: int) -> Workload:
    """One row by the primary key of one of eight tables, as sysbench's oltp_point_select."""

    def of(table: str) -> Request:
        return Request(
            "c", lambda k: f"=\t1\t{k}", lambda k: f"SELECT c FROM {table} WHERE id = {k}", table=table
        )

    requests = tuple(of(f"{tables.SYSBENCH.name}{copy}") for copy in range(1, 9))
    return Workload(tables.SYSBENCH, Keys(1, rows), requests, rows)


def _all_rows(table: Table, rows: int) -> Keys:
    return Keys(table.first, table.first + rows - 1)


def _twenties(table: Table, rows: int) -> Keys:
    """Of a number that each 20 rows have in common: those whose 20 rows are all there."""
    return Keys(table.first // 20 + 1, (table.first + rows) // 20 - 1)


_MAKERS = (
    *(
        point,
        in_,
        range_,
        insert,
        update,
        mixed,
        increment,
        index_only,
        unique,
        nonunique,
        latest,
        latest_of_one,
    ),
    *(diary_covering, diary_primary, value, wide, eight_tables),
    *(field_, upsert),
)
WORKLOADS: dict[str, Callable[..., Workload]] = {maker.__name__.rstrip("_"): maker for maker in _MAKERS}


class WorkloadMistake(Exception):
    """There is no such workload, or none with such settings."""


def make(name: str, rows: int, **settings: Any) -> Workload:
    """A workload by its name. Raises WorkloadMistake."""
    if name not in WORKLOADS:
        raise WorkloadMistake(f"there is no workload {name}; there are: {' '.join(WORKLOADS)}")
    maker = WORKLOADS[name]
    try:
        made = maker(rows, **settings)
    except TypeError as mistake:
        raise WorkloadMistake(f"workload {name}: {mistake}") from None
    return replace(made, name=name, about=" ".join((maker.__doc__ or "").split()))
