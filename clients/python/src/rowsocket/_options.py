# SPDX-License-Identifier: MIT
"""What the sync and the asyncio connection are told: where the server is, and how to treat it."""

from __future__ import annotations

import dataclasses
import datetime
import random
import time
import urllib.parse
import zoneinfo
from typing import Any

from rowsocket._index import ValueKind
from rowsocket._types import Zone
from rowsocket.errors import Timeout

DEFAULT_TIMEOUT_S = 10.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0

URL_SCHEME = "rowsocket"


@dataclasses.dataclass(frozen=True)
class Options:
    """Where and how to connect."""

    host: str = "127.0.0.1"
    port: int = 9998
    unix_socket: str | None = None
    timeout: float | None = DEFAULT_TIMEOUT_S
    secret: str | None = None
    reconnect: bool = True
    database: str | None = None
    text: bool = False
    detail: bool | None = None
    time_zone: Zone = None
    retries: int = 0

    def __post_init__(self) -> None:
        if self.timeout is not None and self.timeout <= 0:
            raise ValueError("timeout: more than 0 seconds, or None to wait for ever")
        if self.retries < 0:
            raise ValueError("retries: at least 0")

    def where(self) -> str:
        """The address, for messages."""
        return self.unix_socket if self.unix_socket is not None else f"{self.host}:{self.port}"

    def timed_out(self, what: str) -> Timeout:
        """The error for what has not come in time."""
        return Timeout("timeout", f"{what} within {self.timeout} s from {self.where()}")

    def wants_detail(self) -> bool:
        """Whether errors are to carry a sentence for people."""
        return not self.text if self.detail is None else self.detail

    def values(self, text: bool | None, decode: bool) -> ValueKind:
        """What an index's values are."""
        if not decode:
            return "bytes"
        return "text" if (self.text if text is None else text) else "typed"

    def database_of(self, table: str) -> tuple[str, str]:
        """The names of `database.table`, or of a table of the connection's database. Raises ValueError."""
        database, dot, name = table.rpartition(".")
        if dot:
            return database, name
        if self.database is None:
            raise ValueError(f"of which database is {table!r}? Name it, or give the connection a database")
        return self.database, table

    def pause_s(self, attempt: int) -> float:
        """How long to wait before a request is sent again; attempts count from 0."""
        longest_s: float = min(FIRST_PAUSE_S * 2**attempt, LONGEST_PAUSE_S)
        return longest_s * random.uniform(0.5, 1.0)


def options_of(host: str, **given: Any) -> Options:
    """The options for a host, or for a URL in its place. What the URL says goes before what is given.

    rowsocket://[:SECRET@]HOST[:PORT][/DATABASE][?NAME=VALUE&...], where the names are those of the arguments
    of `connect`. Raises ValueError.
    """
    given = {**given, **(_options_of_url(host) if "://" in host else {"host": host})}
    zone = given.get("time_zone")
    if isinstance(zone, str):
        given["time_zone"] = _zone_of(zone)
    return Options(**given)


def _options_of_url(url: str) -> dict[str, Any]:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != URL_SCHEME:
        raise ValueError(f"a URL begins with {URL_SCHEME}://, not {parts.scheme}://")
    if parts.username:
        raise ValueError("the protocol knows no users, only a secret: rowsocket://:SECRET@HOST")
    options: dict[str, Any] = {}
    if parts.hostname:
        options["host"] = parts.hostname
    if parts.port is not None:
        options["port"] = parts.port
    if parts.password:
        options["secret"] = urllib.parse.unquote(parts.password)
    if parts.path.strip("/"):
        options["database"] = urllib.parse.unquote(parts.path.strip("/"))
    for name, text in urllib.parse.parse_qsl(parts.query, keep_blank_values=True):
        options[name] = _url_value(name, text)
    return options


def _url_value(name: str, text: str) -> Any:
    if name in ("unix_socket", "secret", "database", "time_zone"):
        return text
    if name == "timeout":
        return None if text in ("", "none") else float(text)
    if name == "retries":
        return int(text)
    if name in ("reconnect", "text", "detail"):
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        if text.lower() in words:
            return words[text.lower()]
        raise ValueError(f"{name}={text} in a URL: 1 or 0")
    raise ValueError(f"unknown option {name!r} in a URL")


def _zone_of(name: str) -> datetime.tzinfo:
    if name.upper() == "UTC":
        return datetime.timezone.utc
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"unknown time zone {name!r}") from None


class Deadline:
    """When a call has to be over. `timeout_s` None is never."""

    def __init__(self, timeout_s: float | None) -> None:
        self.end_s = None if timeout_s is None else time.monotonic() + timeout_s

    def remaining_s(self) -> float | None:
        """Seconds left; None = no end. Raises TimeoutError when there are none left."""
        if self.end_s is None:
            return None
        remaining = self.end_s - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        return remaining

    def allows(self, pause_s: float) -> bool:
        """True if it is not over after a pause."""
        return self.end_s is None or time.monotonic() + pause_s < self.end_s
