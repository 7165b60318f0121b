# SPDX-License-Identifier: MIT
"""The bookkeeping of one connection, without input and output: which indexes are open on it, and whose reply
comes next.

The sync and the asyncio connection both own a `Session` for each connection they make, write what it encodes
and feed it what they read. An index is opened in the same send as the first request that needs it, in front
of it: that is also how indexes come back after a reconnect. Ids belong to the logical connection (`IndexIds`)
and are the same after a reconnect.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Sequence
from typing import Any, Callable, Generic, Protocol, TypeVar

from rowsocket._index import IndexDescription, OtherTypes, Request
from rowsocket._protocol import (
    ESCAPE_BYTE,
    NULL_BYTE,
    Reply,
    ReplyParser,
    decode_bytes,
    decode_text,
    encode_value,
)
from rowsocket._rows import RowRefused
from rowsocket._types import PLAIN_DECODERS, Decoder, Zone, decoder_of, text_decoder_of
from rowsocket.errors import ConnectionLost, ProtocolError, RowSocketError, TransportError

T = TypeVar("T")

NEW_TYPES_S = 1.0
"""Types that were asked for longer ago are asked for again with the next request that needs them: ALTER TABLE
may have changed them, and the server tells nobody."""


class Pending(Generic[T]):
    """The result of a request that is under way. `done` turns True when its reply, or the news that none will
    come, is there.
    """

    # Until they are told otherwise, all have these: one is made for each request.
    _opened: _Opened | None = None
    _result: T | None = None
    _error: Exception | None = None
    done = False
    was_sent = False

    def __init__(self, request: Request[T]) -> None:
        self._request = request

    def __repr__(self) -> str:
        if not self.done:
            return f"<Pending: {'under way' if self.was_sent else 'not sent'}>"
        return f"<Pending: {self._error!r}>" if self._error else f"<Pending: {self._result!r}>"

    def result(self) -> T:
        """The result; raises the request's own error. Raises RuntimeError while the request has not been
        sent.
        """
        if self._error is not None:
            raise self._error
        if not self.done:
            raise RuntimeError("not sent yet: leave the pipeline's with block or call flush() first")
        return self._result  # type: ignore[return-value]  # it is there: `cast` would be a call for each row

    @property
    def error(self) -> Exception | None:
        """The request's error; None if there is none (so far)."""
        return self._error

    @property
    def _description(self) -> IndexDescription[Any]:
        description = self._request.description
        assert description is not None, "not a request to an index"
        return description

    @property
    def writes(self) -> bool:
        """True if the request is a write."""
        return self._request.writes

    @property
    def in_group(self) -> bool:
        """True if the request is part of a group, or its beginning or end."""
        return self._request.in_group

    def _take(self, reply: Reply) -> None:
        """Its reply is there. If the index could not be opened, that is the request's error.

        Raises ProtocolError, and whatever is not about the reply: an exception of a signal's handler.
        """
        self.done = True
        opened = self._opened
        if opened is not None:
            if opened.error is not None:
                self._fail(opened.error)
                return
            reply.decoders = opened.plain_decoders if reply.is_plain else opened.decoders
        try:
            if reply.code == 0:
                self._result = self._request.interpret(reply)
                if self._error is not None:  # of its first try
                    self._error = None
            else:
                self._error = reply.error()
        except ProtocolError as failure:
            self._fail(failure)
            raise
        except UnicodeDecodeError as failure:
            failure.reason += " (this column is not text: open the index with decode=False)"
            self._error = failure
        except RowRefused as refused:
            self._error = refused.error
        except OtherTypes as failure:  # the connection cares for it
            self._error = failure

    def _fail(self, error: Exception) -> None:
        self._error = error.for_request(self.writes) if isinstance(error, TransportError) else error
        self.done = True

    def _refuse(self, error: Exception) -> None:
        """It was not sent at all."""
        self._error = error
        self.done = True

    def _send_again(self) -> None:
        self._error = self._result = None
        self.done = self.was_sent = False


def opening_of(description: IndexDescription[Any]) -> Pending[None]:
    """A request for the index to be open, and for nothing else: it has no tail."""
    return Pending(Request(description, b"", False, _nothing))


class IndexIds:
    """The numbers under which one logical connection knows its indexes."""

    def __init__(self) -> None:
        self._id_by_tokens: dict[bytes, int] = {}
        self._used: set[int] = set()
        self._next = 0

    def id_of(self, description: IndexDescription[Any], wanted: int | None = None) -> int:
        """The id of an index, a new one at first. Raises ValueError if the wanted id belongs to another
        index.
        """
        tokens = description.open_tokens
        known = self._id_by_tokens.get(tokens)
        if known is not None and wanted in (None, known):
            return known
        if wanted is None:
            while self._next in self._used:
                self._next += 1
            wanted = self._next
        elif wanted in self._used or wanted < 0:
            raise ValueError(f"id {wanted} belongs to another index of this connection")
        self._id_by_tokens[tokens] = wanted
        self._used.add(wanted)
        return wanted


class _Opened:
    """An index that has been asked for on this connection."""

    def __init__(self, id: int, column_count: int) -> None:
        self.id = id
        self.begin = b"%d\t" % id
        """What a request to it begins with."""
        self.error: RowSocketError | None = None
        self.decoders: tuple[Decoder, ...] | None = None
        """What makes values of its columns, if the server told their types."""
        self.plain_decoders: tuple[Decoder, ...] | None = None
        """What does so if a reply is plain."""
        self.asked_s = 0.0
        """When the types were asked for, by time.monotonic()."""
        self._width = column_count
        self._row_begin: bytes | None = b"0\t%d\t" % column_count
        """What a reply with rows begins with; None if a column is bytes."""
        self._others: list[tuple[int, Callable[[str], Any]]] = []
        """What makes values of the columns that are no text, by their positions. None is, where the server
        told no types.
        """

    def take_types(self, sql_types: Sequence[str], zone: Zone) -> None:
        """The server told the types."""
        self.decoders = tuple(decoder_of(sql_type, zone) for sql_type in sql_types)
        self.plain_decoders = tuple(PLAIN_DECODERS.get(decoder, decoder) for decoder in self.decoders)
        self._others = [
            (position, text_decoder_of(decoder))
            for position, decoder in enumerate(self.decoders)
            if decoder is not decode_text
        ]
        self._row_begin = None if decode_bytes in self.decoders else b"0\t%d\t" % self._width

    def plain_row(self, data: bytes) -> tuple[Any, ...] | None:
        """The row that the bytes are; None if they are anything but one reply with one row, without NULL and
        escapes, of the types that were told. The row is decoded as a whole: most columns are text.
        """
        if self._row_begin is None or NULL_BYTE in data or ESCAPE_BYTE in data:
            return None
        line, end, more = data.partition(b"\n")  # which takes less time than `find`, and than a slice
        before, begin, row = line.partition(self._row_begin)
        if before or more or not begin or not end:
            return None
        try:
            values: list[Any] = row.decode().split("\t")
            if len(values) != self._width:
                return None
            for position, decode in self._others:
                values[position] = decode(values[position])
        except (ValueError, ArithmeticError):  # other types than those that were told
            return None
        return tuple(values)


class _Awaiting(Protocol):
    """Who is told what the next reply is, or that none will come."""

    def _take(self, reply: Reply) -> None: ...

    def _fail(self, error: Exception) -> None: ...


class _Opening:
    """The request that opens an index, or asks for the types of one that is open."""

    def __init__(
        self, pending: Pending[None], opened: _Opened, by_tokens: dict[bytes, _Opened] | None
    ) -> None:
        self._pending = pending
        self._opened = opened
        self._by_tokens = by_tokens
        """The session's indexes, of which one that can not be opened is none; None if it is open."""

    def _take(self, reply: Reply) -> None:
        self._pending._take(reply)
        if self._pending.error is None:
            _take_types(self._opened, reply, self._pending._description)
        else:
            self._forget()

    def _fail(self, error: Exception) -> None:
        self._pending._fail(error)
        self._forget()

    def _forget(self) -> None:
        error, tokens = self._pending.error, self._pending._description.open_tokens
        if self._by_tokens is not None and isinstance(error, RowSocketError):
            self._opened.error = error
            if self._by_tokens.get(tokens) is self._opened:
                del self._by_tokens[tokens]


class Session:
    """One connection from its beginning to its end. Not thread-safe."""

    def __init__(self, ids: IndexIds) -> None:
        self._ids = ids
        self._opened: dict[bytes, _Opened] = {}
        """By what opens them, in the descriptions."""
        self._parser = ReplyParser()
        self._awaiting: collections.deque[_Awaiting] = collections.deque()
        self.asks_alone = False
        """Something is under way that is not among those that wait: see `begin_alone`."""

    def authenticate(self, login: Sequence[str]) -> tuple[bytes, Pending[None]]:
        """The bytes that log in (`Options.login`), and what becomes of them."""
        pending: Pending[None] = Pending(Request(None, b"", False, _nothing))
        self._awaiting.append(pending)
        return b"A\t" + b"\t".join(map(encode_value, login)) + b"\n", pending

    def _open(self, pending: Pending[None]) -> bytes:
        """The bytes that open its index; none if it is open, and `pending` is done then."""
        opened = self._opened.get(pending._description.open_tokens)
        pending.was_sent = True
        if opened is None:
            return self._ask_to_open(pending, None)[0]
        pending._take(Reply(0, 1, []))
        return b""

    def _ask_to_open(self, pending: Pending[None], opened: _Opened | None) -> tuple[bytes, _Opened]:
        """The bytes that open a new index, or that ask for the types of one that is open, which goes on as it
        was if the server refuses; and that index. A signal's handler may end the session meanwhile: then a
        new one is not among those of the session, and has the error.
        """
        description = pending._description
        tokens = description.open_tokens
        by_tokens = None
        if opened is None:
            opened = _Opened(self._ids.id_of(description), len(description.columns))
            by_tokens = self._opened
        opening = _Opening(pending, opened, by_tokens)
        opened.asked_s = time.monotonic()
        self._awaiting.append(opening)
        self._opened[tokens] = opened  # last: a Ctrl-C before it leaves no index that was never asked for
        return b"P\t%d\t%s\n" % (opened.id, tokens), opened

    def ask_new_types(self, altered: Sequence[Pending[Any]]) -> tuple[bytes, Pending[None]]:
        """For requests that failed with `OtherTypes`: the bytes that ask for the types again, and the last of
        what becomes of them. `take_again` is next.
        """
        indexes = {pending._description.open_tokens: pending._description for pending in altered}
        asked = [opening_of(description) for description in indexes.values()]
        data = [self._ask_to_open(one, self._opened.get(tokens))[0] for tokens, one in zip(indexes, asked)]
        return b"".join(data), asked[-1]

    def take_again(self, altered: Sequence[Pending[Any]]) -> None:
        """Make the results of these requests out of the replies that came, by the types as they are now."""
        for pending in altered:
            assert isinstance(pending.error, OtherTypes)
            reply = pending.error.reply
            reply.has_newest_types = True
            pending._take(reply)

    def encode(self, pendings: Sequence[Pending[Any]]) -> bytes:
        """The bytes of requests; their replies settle them. Indexes are opened before all of them: a group
        can not open any. What `opening_of` made stands alone.
        """
        if not pendings[0]._request.tail:
            return self._open(pendings[0])
        openings: list[bytes] = []
        lines: list[bytes] = []
        now_s = time.monotonic()
        for pending in pendings:
            request = pending._request
            description = request.description
            pending.was_sent = True
            if description is None:
                lines.append(request.tail + b"\n")
                continue
            opened = self._opened.get(description.open_tokens)
            if opened is None or (now_s - opened.asked_s >= NEW_TYPES_S and opened.decoders):
                data, opened = self._ask_to_open(opening_of(description), opened)
                openings.append(data)
            pending._opened = opened
            lines.append(b"%d\t%s\n" % (opened.id, request.tail))
        self._awaiting.extend(pendings)
        return b"".join(openings + lines)

    def begin_alone(self, description: IndexDescription[Any], now_s: float) -> _Opened | None:
        """The index for one read of it, if nothing else has to be asked with it, and nothing is under way;
        else None, and nothing was done.

        What is to be sent is the index's `begin`, the request's `tail`, and an LF: what `encode` gives, in
        less time. `go_on_alone` is next; or, if all that comes is a `plain_row`, `asks_alone` turns False,
        at the very last: whoever is interrupted before it closes the connection.
        """
        opened = self._opened.get(description.open_tokens)
        if opened is None or self._awaiting or self.asks_alone:
            return None
        if now_s - opened.asked_s >= NEW_TYPES_S and opened.decoders:
            return None
        self.asks_alone = True
        return opened

    def go_on_alone(self, request: Request[T], opened: _Opened) -> Pending[T]:
        """What becomes of that read, which is settled by what `feed` is told from now on."""
        pending = Pending(request)
        pending.was_sent = True
        pending._opened = opened
        self._awaiting.append(pending)
        self.asks_alone = False
        return pending

    @property
    def awaits_reply(self) -> bool:
        """True if something was asked that has no answer yet."""
        return self.asks_alone or bool(self._awaiting)

    def feed(self, data: bytes) -> None:
        """Settle what the bytes answer. Whatever it raises, the connection is to be closed and `fail` called:
        nothing else will be answered. That is a TransportError, or what a signal's handler raises.
        """
        for reply in self._parser.feed(data):
            try:
                awaiting = self._awaiting.popleft()
            except IndexError:  # not asked before: a signal's handler may call `fail` in between
                raise ProtocolError("reply", "a reply that nothing asked for") from None
            try:
                awaiting._take(reply)
            except BaseException:  # it is without its result: `fail` has to tell it
                self._awaiting.appendleft(awaiting)
                raise
            if reply.code != 0 and reply.ends_connection():
                raise ConnectionLost("lost", "the server closes the connection behind what it refused")

    def fail(self, error: Exception, last: Pending[Any] | None = None) -> None:
        """No further reply will come: settle everything with this error, or all up to the last one named."""
        while self._awaiting and (last is None or not last.done):
            self._awaiting.popleft()._fail(error)


def _nothing(_: Reply) -> None:
    """What the reply to an opening or a login is worth, where it is no error."""


def _take_types(opened: _Opened, reply: Reply, description: IndexDescription[Any]) -> None:
    if len(reply.tokens) == len(description.columns):  # else the server tells no types
        opened.take_types([decode_text(token) or "" for token in reply.tokens], description.zone)
