# SPDX-License-Identifier: MIT
"""The table app.user, whose server answers as a test wants it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import rowsocket
from fake_server import Conversation, FakeServer, Peer

OPTIONS = b"types,detail"
TYPES = b"0\t3\tint(10) unsigned\tvarchar(20)\tdatetime\n"
COLUMNS = ["id", "name", "seen"]


def opens(peer: Peer, columns: bytes = b"id,name,seen", id: int = 0, reply: bytes = TYPES) -> None:
    """Accept an open_index that asks for types."""
    peer.expect(b"P\t%d\tapp\tuser\tPRIMARY\t%s\t\t%s" % (id, columns, OPTIONS))
    peer.send(reply)


@contextlib.contextmanager
def users_of(conversation: Conversation, **options: Any) -> Iterator[rowsocket.Index[rowsocket.Row]]:
    """The index whose server holds this conversation."""
    with (
        FakeServer(conversation) as server,
        rowsocket.connect(port=server.port, database="app", **options) as connection,
    ):
        yield connection.table("user", COLUMNS)


def answering(*steps: tuple[bytes, bytes]) -> Conversation:
    """After the open_index: expect a line, send its reply, and so on."""

    def conversation(peer: Peer) -> None:
        opens(peer)
        for line, reply in steps:
            peer.expect(line)
            peer.send(reply)

    return conversation
