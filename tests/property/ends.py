# SPDX-License-Identifier: GPL-2.0-only
"""What the tables must hold when all is over: nothing but what was acknowledged, and all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from property.clients import Client
from property.counters import Totals
from property.disturbances import Beside
from property.rows import OwnRows
from property.shapes import AUDITED
from property.tokens import TokenBook
from property.unknown import Read, rows_in_sql

IDS_PER_ROW_MAX = 3
IDS_TO_SPARE = 200


def wrong_ends(
    clients: Sequence[Client], sessions: Sequence[Beside], totals: dict[str, Totals], read: Read
) -> Iterator[str]:
    """One text for each thing that is not as clients know it."""
    for client in clients:
        for own in client.books.owned.values():
            yield from _wrong_rows(own, client, read)
            yield from _wrong_log(own, client, read)
        if client.books.family is not None:
            found = rows_in_sql(client.books.family, client.owner, read)
            if found != client.books.family.snapshot():
                known = client.books.family.snapshot()
                yield f"family of client {client.owner.number}: {found}, known is {known}"
        for book in client.books.tokens.values():
            yield from _wrong_tokens(book, read)
    yield from _wasted_ids(clients, read)
    yield from _wrong_counters(clients, sessions, totals, read)


def _wrong_rows(own: OwnRows, client: Client, read: Read) -> Iterator[str]:
    found, known = rows_in_sql(own, client.owner, read), own.snapshot()
    if found != known:
        assert isinstance(found, tuple) and isinstance(known, tuple)
        more, less = [row for row in found if row not in known], [row for row in known if row not in found]
        yield f"{own.shape.name} of client {client.owner.number}: SQL sees {more}, known is {less}"


def _wrong_log(own: OwnRows, client: Client, read: Read) -> Iterator[str]:
    """Each row of what was acknowledged is logged once, and what was undone once at most for each attempt."""
    if not own.shape.log:
        return
    ids = client.owner.ids
    lines = read(f"SELECT op, id FROM {own.shape.log} WHERE id BETWEEN {ids.start} AND {ids.stop - 1}")
    found = Counter((str(event), int(row_id)) for event, row_id in lines)
    if own.logged - found:
        yield f"{own.shape.log} of client {client.owner.number} lacks {own.logged - found}"
    for event in "iud":
        logged = sum(count for (one, _), count in found.items() if one == event)
        least = sum(count for (one, _), count in own.logged.items() if one == event)
        if logged > least + own.maybe_logged[event]:
            most = f"{least}, and {own.maybe_logged[event]} of what was refused or undone"
            yield f"{own.shape.log} of client {client.owner.number}: {logged} times {event} instead of {most}"


def _wrong_tokens(book: TokenBook, read: Read) -> Iterator[str]:
    first = book.owner.number * 1_000_000_000
    n = "n" if book.opened == "numbered" else "0"
    rows = read(
        f"SELECT token, id, {n} FROM {book.opened} WHERE token BETWEEN {first} AND {first + 999_999_999}"
    )
    found = {int(token): int(row_id) for token, row_id, _ in rows}
    lost = [token for token in book.tokens if token not in found]
    made_up = [token for token in found if token not in book.tokens and token not in book.unknown]
    twice = len(rows) - len(found)
    wrong = [
        token for token, row_id in book.tokens.items() if row_id is not None and found.get(token) != row_id
    ]
    totals = {int(row_id): int(total) for _, row_id, total in rows}
    sums = [
        one for one, total in book.totals.items() if one not in book.unknown_ids and totals.get(one) != total
    ]
    if lost or made_up or twice or wrong or sums:
        yield (
            f"{book.opened} of client {book.owner.number}: lost {lost[:10]},"
            f" never acknowledged {made_up[:10]}, {twice} twice, other ids {wrong[:10]},"
            f" other sums {sums[:10]}"
        )


def _wasted_ids(clients: Sequence[Client], read: Read) -> Iterator[str]:
    """Ids are lost by what is refused or done again; not, time and again, by a request that waits."""
    books = [client.books.tokens["numbered"] for client in clients if "numbered" in client.books.tokens]
    requested = sum(book.requested for book in books)
    [[last, step]] = (
        read("SELECT MAX(id), @@GLOBAL.auto_increment_increment FROM numbered") if books else [[0, 1]]
    )
    if int(last or 0) > int(step) * (IDS_PER_ROW_MAX * requested + IDS_TO_SPARE):
        yield f"{requested} rows were inserted into `numbered` or refused, and the last id is {last}"


def _wrong_counters(
    clients: Sequence[Client], sessions: Sequence[Beside], totals: dict[str, Totals], read: Read
) -> Iterator[str]:
    for table, total in totals.items():
        for row_id, value in read(f"SELECT id, n FROM {table}"):
            least = total.acknowledged(row_id) + sum(
                session.acknowledged[table, row_id] for session in sessions
            )
            slack = total.unknown(row_id) + sum(session.unknown[table, row_id] for session in sessions)
            if table == "audited_audit":
                for client in clients:
                    audited = client.books.owned["audited"]
                    least += sum(count for g, count in audited.audited.items() if g % AUDITED == row_id)
                    slack += audited.maybe_audited
            if not least <= value <= least + slack:
                yield f"{table} {row_id} is {value}: {least} was acknowledged, {slack} more not answered"
