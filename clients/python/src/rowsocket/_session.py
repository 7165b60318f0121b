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
from typing import Any, Callable, Generic, TypeVar

from rowsocket._index import IndexDescription, OtherTypes, Request
from rowsocket._protocol import Reply, ReplyParser, decode_text, encode_value
from rowsocket._types import Decoder, decoder_of
from rowsocket.errors import ConnectionLost, ProtocolError, RowSocketError, TransportError

T = TypeVar("T")

NEW_TYPES_S = 1.0
"""Types that were asked for longer ago are asked for again with the next request that needs them: ALTER TABLE
may have changed them, and the server tells nobody."""


class Pending(Generic[T]):
    """The result of a request that is under way. `done` turns True when its reply, or the news that none will
    come, is there.
    """

    def __init__(self, request: Request[T]) -> None:
        self._request = request
        self._results: list[T] = []
        self._error: Exception | None = None
        self.done = False
        self.was_sent = False

    def __repr__(self) -> str:
        if not self.done:
            return f"<Pending: {'under way' if self.was_sent else 'not sent'}>"
        return f"<Pending: {self._error!r}>" if self._error else f"<Pending: {self._results[0]!r}>"

    def result(self) -> T:
        """The result; raises the request's own error. Raises RuntimeError while the request has not been
        sent.
        """
        if self._error is not None:
            raise self._error
        if not self.done:
            raise RuntimeError("not sent yet: leave the pipeline's with block or call flush() first")
        return self._results[0]

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
        self.done = True
        try:
            self._error = reply.error()
            if self._error is None:
                self._results.append(self._request.interpret(reply))
        except ProtocolError as failure:
            self._fail(failure)
            raise
        except UnicodeDecodeError as failure:
            failure.reason += " (this column is not text: open the index with decode=False)"
            self._error = failure
        except Exception as failure:  # of the row's own class; or OtherTypes, which the connection cares for
            self._error = failure

    def _fail(self, error: Exception) -> None:
        self._error = error.for_request(self.writes) if isinstance(error, TransportError) else error
        self.done = True

    def _refuse(self, error: Exception) -> None:
        """It was not sent at all."""
        self._error = error
        self.done = True

    def _send_again(self) -> None:
        self._error = None
        self._results.clear()
        self.done = self.was_sent = False


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

    def __init__(self) -> None:
        self.error: RowSocketError | None = None
        self.decoders: tuple[Decoder, ...] | None = None
        """What makes values of its columns, if the server told their types."""
        self.asked_s = 0.0
        """When the types were asked for, by time.monotonic()."""

    def has_old_types(self) -> bool:
        """True if the types are to be asked for again."""
        return bool(self.decoders) and time.monotonic() - self.asked_s >= NEW_TYPES_S


class Session:
    """One connection from its beginning to its end. Not thread-safe."""

    def __init__(self, ids: IndexIds) -> None:
        self._ids = ids
        self._opened: dict[int, _Opened] = {}
        self._parser = ReplyParser()
        self._awaiting: collections.deque[Callable[[Reply | None, Exception | None], None]] = (
            collections.deque()
        )

    def authenticate(self, login: Sequence[str]) -> tuple[bytes, Pending[None]]:
        """The bytes that log in (`Options.login`), and what becomes of them."""
        pending: Pending[None] = Pending(Request(None, b"", False, lambda _: None))
        self._awaiting.append(_settle(pending, None))
        return b"A\t" + b"\t".join(map(encode_value, login)) + b"\n", pending

    def open(self, description: IndexDescription[Any], *, again: bool = False) -> tuple[bytes, Pending[None]]:
        """The bytes that open an index (none if it is open), and what becomes of them.

        again  also if it is open, for its types. If the server refuses, the index goes on as it was
        """
        pending: Pending[None] = Pending(Request(description, b"", False, lambda _: None))
        index_id = self._ids.id_of(description)
        known = self._opened.get(index_id)
        if known is not None and not again:
            pending._take(Reply(0, 1, []))
            return b"", pending
        opened = self._opened[index_id] = known or _Opened()
        opened.asked_s = time.monotonic()

        def settle(reply: Reply | None, error: Exception | None) -> None:
            _settle(pending, None)(reply, error)
            if pending.error is None and reply is not None:
                _take_types(opened, reply, description)
            elif known is None and isinstance(pending.error, RowSocketError):
                opened.error = pending.error
                if self._opened.get(index_id) is opened:
                    del self._opened[index_id]

        self._awaiting.append(settle)
        return b"P\t%d\t%s\n" % (index_id, description.open_tokens), pending

    def ask_new_types(self, altered: Sequence[Pending[Any]]) -> tuple[bytes, Pending[None]]:
        """For requests that failed with `OtherTypes`: the bytes that ask for the types again, and the last of
        what becomes of them. `take_again` is next.
        """
        indexes = {pending._description.open_tokens: pending._description for pending in altered}
        asked = [self.open(description, again=True) for description in indexes.values()]
        return b"".join(data for data, _ in asked), asked[-1][1]

    def take_again(self, altered: Sequence[Pending[Any]]) -> None:
        """Make the results of these requests out of the replies that came, by the types as they are now."""
        for pending in altered:
            assert isinstance(pending.error, OtherTypes)
            reply = pending.error.reply
            opened = self._opened.get(self._ids.id_of(pending._description))
            if opened is not None and opened.decoders is not None:
                reply.decoders = opened.decoders
            reply.has_newest_types = True
            pending._take(reply)

    def encode(self, pendings: Sequence[Pending[Any]]) -> bytes:
        """The bytes of requests; their replies settle them. Indexes are opened before all of them: a group
        can not open any.
        """
        pieces: list[bytes] = []
        indexes: list[tuple[int, _Opened] | None] = []
        for pending in pendings:
            description = pending._request.description
            if description is None:
                indexes.append(None)
                continue
            index_id = self._ids.id_of(description)
            opened = self._opened.get(index_id)
            if opened is None:
                pieces.append(self.open(description)[0])
                opened = self._opened[index_id]
            elif opened.has_old_types():
                pieces.append(self.open(description, again=True)[0])
            indexes.append((index_id, opened))
        for pending, index in zip(pendings, indexes):
            pending.was_sent = True
            if index is None:
                self._awaiting.append(_settle(pending, None))
                pieces.append(pending._request.tail + b"\n")
            else:
                self._awaiting.append(_settle(pending, index[1]))
                pieces.append(b"%d\t%s\n" % (index[0], pending._request.tail))
        return b"".join(pieces)

    def feed(self, data: bytes) -> None:
        """Settle what the bytes answer. Raises TransportError, after which the connection is to be closed:
        nothing else will be answered.
        """
        for reply in self._parser.feed(data):
            if not self._awaiting:
                raise ProtocolError("reply", "a reply that nothing asked for")
            self._awaiting.popleft()(reply, None)
            if reply.ends_connection():
                raise ConnectionLost("lost", "the server closes the connection behind what it refused")

    def fail(self, error: Exception) -> None:
        """No further reply will come: settle everything with this error."""
        while self._awaiting:
            self._awaiting.popleft()(None, error)


def _settle(
    pending: Pending[Any], opened: _Opened | None
) -> Callable[[Reply | None, Exception | None], None]:
    """What the next reply, or the error instead of it, does. If the index could not be opened, that is the
    request's error.
    """

    def settle(reply: Reply | None, error: Exception | None) -> None:
        if reply is None:
            assert error is not None
            pending._fail(error)
        elif opened is not None and opened.error is not None:
            pending._fail(opened.error)
        elif opened is None:
            pending._take(reply)
        else:
            reply.decoders = opened.decoders
            pending._take(reply)

    return settle


def _take_types(opened: _Opened, reply: Reply, description: IndexDescription[Any]) -> None:
    if len(reply.tokens) == len(description.columns):  # else the server tells no types
        types = [decode_text(token) or "" for token in reply.tokens]
        opened.decoders = tuple(decoder_of(sql_type, description.zone) for sql_type in types)
