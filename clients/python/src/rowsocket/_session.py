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
from collections.abc import Sequence
from typing import Any, Callable, Generic, TypeVar

from rowsocket._index import IndexDescription, Request
from rowsocket._protocol import Reply, ReplyParser, decode_text, encode_value
from rowsocket._types import Decoder, decoder_of
from rowsocket.errors import ProtocolError, RowSocketError, TransportError

T = TypeVar("T")


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
        self.forget: Callable[[], None] = lambda: None
        """Have it opened again by the next request that needs it."""


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

    def open(self, description: IndexDescription[Any]) -> tuple[bytes, Pending[None]]:
        """The bytes that open an index (none if it is open), and what becomes of them."""
        pending: Pending[None] = Pending(Request(description, b"", False, lambda _: None))
        index_id = self._ids.id_of(description)
        if index_id in self._opened:
            pending._take(Reply(0, 1, []))
            return b"", pending
        opened = self._opened[index_id] = _Opened()

        def forget() -> None:
            if self._opened.get(index_id) is opened:
                del self._opened[index_id]

        def settle(reply: Reply | None, error: Exception | None) -> None:
            _settle(pending, None)(reply, error)
            if isinstance(pending.error, RowSocketError):
                opened.error = pending.error
                forget()
            elif reply is not None and len(reply.tokens) == len(description.columns):
                opened.decoders = _decoders(reply, description)

        opened.forget = forget

        self._awaiting.append(settle)
        return b"P\t%d\t%s\n" % (index_id, description.open_tokens), pending

    def encode(self, pendings: Sequence[Pending[Any]]) -> bytes:
        """The bytes of requests; their replies settle them. Indexes are opened before all of them: a group
        can not open any.
        """
        descriptions = [pending._request.description for pending in pendings]
        pieces = [self.open(description)[0] for description in descriptions if description is not None]
        for pending, description in zip(pendings, descriptions):
            pending.was_sent = True
            if description is None:
                self._awaiting.append(_settle(pending, None))
                pieces.append(pending._request.tail + b"\n")
            else:
                index_id = self._ids.id_of(description)
                self._awaiting.append(_settle(pending, self._opened[index_id]))
                pieces.append(b"%d\t%s\n" % (index_id, pending._request.tail))
        return b"".join(pieces)

    def feed(self, data: bytes) -> None:
        """Settle what the bytes answer. Raises ProtocolError, after which the connection is to be closed."""
        for reply in self._parser.feed(data):
            if not self._awaiting:
                raise ProtocolError("reply", "a reply that nothing asked for")
            self._awaiting.popleft()(reply, None)

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
            if reply.has_other_types:
                opened.forget()

    return settle


def _decoders(reply: Reply, description: IndexDescription[Any]) -> tuple[Decoder, ...]:
    types = [decode_text(token) or "" for token in reply.tokens]
    return tuple(decoder_of(sql_type, description.zone) for sql_type in types)
