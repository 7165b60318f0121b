# SPDX-License-Identifier: GPL-2.0-only
"""Does again what a journal says, one event after the other, and makes a journal smaller."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing, suppress

import pymysql

from fuzz_server.journal import Event
from fuzz_server.scene import DATABASE
from support.mariadb import RowSocketServer

SEND_S = 5.0
DRAIN_S = 0.0005
LAST_S = 1.0


def play(server: RowSocketServer, events: list[Event]) -> None:
    """Do it; stops where the server ends."""
    addresses = {"read": server.read_address(), "write": server.write_address()}
    open_now: dict[str, socket.socket] = {}
    with closing(server.connect(DATABASE)) as session, session.cursor() as cursor:
        for _, who, what, text in events:
            if not server.alive():
                return
            with suppress(OSError, pymysql.err.MySQLError):
                if what == "sql":
                    cursor.execute(text)
                elif what.startswith("open"):
                    open_now[who] = socket.create_connection(addresses[what.removeprefix("open ")])
                elif who in open_now:
                    _use(open_now, who, what, text.encode("latin-1"))
        for one in open_now.values():
            with suppress(OSError), one:
                _drain(one, LAST_S)


def _use(open_now: dict[str, socket.socket], who: str, what: str, data: bytes) -> None:
    if what == "send":
        open_now[who].settimeout(SEND_S)
        open_now[who].sendall(data)
        _drain(open_now[who], DRAIN_S)
    else:
        open_now.pop(who).close()


def _drain(connection: socket.socket, for_s: float) -> None:
    """Take what is answered within so many seconds."""
    connection.settimeout(for_s)
    with suppress(TimeoutError):
        while connection.recv(1 << 16):
            pass


def smaller(
    events: list[Event], breaks: Callable[[list[Event]], bool], keep: Callable[[list[Event]], None]
) -> None:
    """Leave out as many events as possible, in ever smaller pieces; `keep` takes each success."""
    size = len(events) // 2
    while size >= 1:
        at = 0
        while at < len(events):
            without = events[:at] + events[at + size :]
            if breaks(without):
                events = without
                keep(events)
            else:
                at += size
        size //= 2
