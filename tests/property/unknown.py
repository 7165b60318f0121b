# SPDX-License-Identifier: GPL-2.0-only
"""What a client knows of requests that were never answered, since its connection broke: each was done, or it
was not. Rows that are each for themselves may be done in part.

So there are many ways in which it may have gone, and the rows must be what one of them leaves behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from property.books import FAMILY_TABLES, OPENED, OwnedMember
from property.counters import CounterBook
from property.family import FamilyBook
from property.requests import ROWS_PER_OWNER, Owner
from property.rows import OwnRows, Refused
from property.shapes import COLUMNS
from property.steps import Alone, Book, Group, Member, Step, Wrong
from property.tokens import TokenBook

Read = Callable[[str], list[tuple[Any, ...]]]


def rows_in_sql(book: OwnRows | FamilyBook, owner: Owner, read: Read) -> tuple[tuple[Any, ...], ...]:
    """What SQL sees, as the book's `snapshot` puts it."""
    where = f"WHERE id BETWEEN {owner.ids.start} AND {owner.ids.stop - 1}"
    if isinstance(book, FamilyBook):
        tables = []
        for name in FAMILY_TABLES:
            found = read(f"SELECT {OPENED[name][1]} FROM {name} {where}")
            tables.append((name, tuple(sorted(((row[0], tuple(row[1:])) for row in found), key=str))))
        return tuple(tables)
    changes = "changes" if book.shape.counts_changes else "0"
    found = read(f"SELECT {', '.join(COLUMNS)}, {changes} FROM {book.shape.name} {where}")
    return tuple(
        sorted((int(row[0]), int(row[1]), int(row[2]), str(row[3] or ""), int(row[4])) for row in found)
    )


def settle_unknown(steps: list[Step], owner: Owner, read: Read) -> None:
    """Bring the books to what was done of the steps; raises `Wrong` if the rows are what none of the ways
    leaves."""
    books: list[OwnRows | FamilyBook] = []
    for step in steps:
        for member in step.members:
            if isinstance(member.book, OwnRows | FamilyBook) and not any(
                member.book is book for book in books
            ):
                books.append(member.book)
    seen = [rows_in_sql(book, owner, read) for book in books]  # it may fail, and is then asked again
    for step in steps:
        step.unanswered()
        for member in step.members:
            _note_shared(member)
    shared = [
        (member.book, member.book.copy())
        for step in steps
        for member in step.members
        if not _is_own(member.book)
    ]
    own_steps = [step for step in steps if any(_is_own(member.book) for member in step.members)]
    is_possible = any([book.snapshot() for book in books] == seen for _ in _ways(own_steps, books, seen))
    for book, was in shared:
        book.take(was)
    if not is_possible:
        lines = [line for step in own_steps for line in step.lines]
        raise Wrong(
            f"without an answer: {lines!r}\n  SQL sees {seen!r}\n"
            f"  before   {[book.snapshot() for book in books]!r}"
        )


def _is_own(book: Book) -> bool:
    return isinstance(book, OwnRows | FamilyBook)


def _ways(
    steps: list[Step], books: list[OwnRows | FamilyBook], seen: list[tuple[tuple[Any, ...], ...]]
) -> Iterator[None]:
    """Every way in which it may have gone: the books are so while the caller looks, and stay so when it
    stops."""
    if not steps:
        yield
        return
    before = [book.copy() for book in books]
    yield from _ways(steps[1:], books, seen)
    _restore(books, before)
    for step in [steps[0], *_in_part(steps[0], books, seen)]:
        step.pretend()
        if [book.snapshot() for book in books] != [book.snapshot() for book in before]:
            yield from _ways(steps[1:], books, seen)
        _restore(books, before)


def _in_part(
    step: Step, books: list[OwnRows | FamilyBook], seen: list[tuple[tuple[Any, ...], ...]]
) -> Iterator[Step]:
    """The step with a part of its rows that are each for themselves; of a group, of one member or of each."""

    def parts(member: Member) -> list[Member]:
        if not isinstance(member, OwnedMember):
            return []
        number = next(number for number, book in enumerate(books) if book is member.book)
        return list(member.in_part(seen[number]))

    if isinstance(step, Alone) and step.reply is None:
        yield from (Alone(part) for part in parts(step.member))
    elif isinstance(step, Group) and not step.replies:
        parts_of = [parts(member) for member in step.members]
        for number, found in enumerate(parts_of):
            for part in found:
                members = [part if nth == number else one for nth, one in enumerate(step.members)]
                yield replace(step, members=members)
        if sum(map(bool, parts_of)) > 1:
            for nth in (-1, -2):  # what is seen, of each
                members = [
                    found[nth] if found else one for found, one in zip(parts_of, step.members, strict=True)
                ]
                yield replace(step, members=members)


def _restore(books: list[OwnRows | FamilyBook], before: list[OwnRows | FamilyBook]) -> None:
    for book, was in zip(books, before, strict=True):
        book.take(was.copy())  # type: ignore[arg-type]


def _note_shared(member: Member) -> None:
    """What others see of it may be there or not."""
    book = member.book
    if isinstance(member, OwnedMember):
        member.refused()
        if isinstance(book, OwnRows) and book.shape.audit and member.is_write:
            book.maybe_audited += 2 * ROWS_PER_OWNER
    elif isinstance(book, CounterBook | TokenBook) and member.is_write:
        before = book.copy()
        with suppress(Refused):
            member.run(None, None)
        book.becomes_unknown(before)  # type: ignore[arg-type]
