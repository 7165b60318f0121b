# SPDX-License-Identifier: GPL-2.0-only
"""Does again what a journal says, one event after the other, and makes the journal smaller where that is asked.

    ROWSOCKET_FUZZ_JOURNAL=FILE ./x test fuzz-server -- -k journal

With ROWSOCKET_FUZZ_SMALLER=FILE as well, events are left out as long as the server still breaks; what is left is
written to that file.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pymysql

from fuzz_server.scene import DATABASE
from support.mariadb import RowSocketServer

Event = tuple[float, str, str, str]
DRAIN_S = 0.02
LAST_S = 1.0


def read(path: Path) -> list[Event]:
    """The events of a journal."""
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()]


def write(path: Path, events: list[Event]) -> None:
    """A journal of these events."""
    path.write_text("".join(json.dumps(event) + "\n" for event in events))


def play(server: RowSocketServer, events: list[Event], *, patiently: bool) -> None:
    """Do it; stops early where the server ends. `patiently` takes what is answered after each event."""
    addresses = {"read": server.read_address(), "write": server.write_address()}
    open_now: dict[str, socket.socket] = {}
    with closing(server.connect(DATABASE)) as session, session.cursor() as cursor:
        for _, who, what, text in events:
            if not server.alive():
                return
            with suppress(OSError, pymysql.err.MySQLError):
                _do(cursor, open_now, addresses, (who, what, text), DRAIN_S if patiently else 0.0)
        for one in open_now.values():
            with suppress(OSError):
                _drain(one, LAST_S)
                one.close()


def _do(
    cursor: pymysql.cursors.Cursor,
    open_now: dict[str, socket.socket],
    addresses: dict[str, tuple[str, int]],
    event: tuple[str, str, str],
    drain_s: float,
) -> None:
    who, what, text = event
    if what == "sql":
        cursor.execute(text)
    elif what.startswith("open"):
        open_now[who] = socket.create_connection(addresses[what.removeprefix("open ")])
    elif what == "send" and who in open_now:
        open_now[who].settimeout(5)
        open_now[who].sendall(text.encode("latin-1"))
        _drain(open_now[who], drain_s)
    elif what in ("close", "reset") and who in open_now:
        open_now.pop(who).close()


def _drain(connection: socket.socket, for_s: float) -> None:
    connection.settimeout(max(for_s, 0.0005))
    with suppress(TimeoutError):
        while connection.recv(1 << 16):
            pass


def smaller(events: list[Event], breaks: Callable[[list[Event]], bool], keep: Path) -> list[Event]:
    """Leave out as many events as possible, in ever smaller pieces; whole connections go first."""
    for who in list(dict.fromkeys(event[1] for event in events)):
        without = [event for event in events if event[1] != who]
        if breaks(without):
            events = without
            write(keep, events)
    size = len(events) // 2
    while size >= 1:
        at = 0
        while at < len(events):
            without = events[:at] + events[at + size :]
            if breaks(without):
                events = without
                write(keep, events)
            else:
                at += size
        size //= 2
    return events
