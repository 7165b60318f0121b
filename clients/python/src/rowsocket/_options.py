# SPDX-License-Identifier: MIT
"""What the sync and the asyncio connection are told: where the server is, and how to treat it."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import ipaddress
import random
import re
import ssl
import time
import urllib.parse
import zoneinfo
from typing import Any, Callable, TypeVar

from rowsocket._index import ValueKind
from rowsocket._protocol import encode_value
from rowsocket._types import Zone
from rowsocket.errors import AuthenticationError, ConnectionLost, Timeout, TlsRefused

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 10.0
LONGEST_TIMEOUT_S = 10**9
"""Over 30 years. The system takes no number of any size."""
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0

URL_SCHEME = "rowsocket"
PERCENT_ENCODE = "percent-encode what is no letter and no digit in the user, password and database of a URL"
URL_TEXTS_WITH_AT = frozenset(
    {"unix_socket", "user", "password", "secret", "database", "tls_ca", "tls_cert", "tls_key"}
)
URL_TEXTS = URL_TEXTS_WITH_AT | {"time_zone"}
URL_FLAGS = frozenset({"reconnect", "text", "detail", "tls"})
_OFFSET = re.compile(r"([+-])(0?\d|1[0-4]):([0-5]\d)")
"""A time zone of the server, named by its distance from UTC."""
SECRET = "1"
ACCOUNT = "2"
"""What a client logs in with: the protocol's types of authentication."""


@dataclasses.dataclass(frozen=True)
class Options:
    """Where and how to connect."""

    host: str = "127.0.0.1"
    port: int = 9998
    unix_socket: str | None = None
    timeout: float | None = DEFAULT_TIMEOUT_S
    user: str | None = None
    password: str | None = dataclasses.field(default=None, repr=False)
    secret: str | None = dataclasses.field(default=None, repr=False)
    reconnect: bool = True
    database: str | None = None
    text: bool = False
    detail: bool | None = None
    time_zone: Zone = None
    retries: int = 0
    tls: bool | ssl.SSLContext | None = None
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None and not 0 < self.timeout <= LONGEST_TIMEOUT_S:
            raise ValueError(
                f"timeout: more than 0 seconds and at most {LONGEST_TIMEOUT_S}, or None to wait for ever"
            )
        if not 0 < int(self.port) < 1 << 16:
            raise ValueError("port: 1 to 65535")
        if self.retries < 0:
            raise ValueError("retries: at least 0")
        if self.password is not None and self.user is None:
            raise ValueError("password: the user is missing")
        if self.user is not None and self.secret is not None:
            raise ValueError("a user or the secret of a port, not both")
        for name in ("user", "password", "secret"):
            if not _can_be_sent(getattr(self, name)):
                raise ValueError(f"{name}: a character that UTF-8 does not have")
        if not (self.tls is None or isinstance(self.tls, (bool, ssl.SSLContext))):
            raise TypeError("tls: True, False or an ssl.SSLContext (and tls_ca is the name of a file)")
        for name in ("tls_ca", "tls_cert", "tls_key"):
            if getattr(self, name) == "":
                raise ValueError(f"{name}: the name of a file is missing")
        names_files = any((self.tls_ca, self.tls_cert, self.tls_key))
        if names_files and (self.tls is False or isinstance(self.tls, ssl.SSLContext)):
            raise ValueError("tls_ca, tls_cert, tls_key: for the TLS context that is made here")
        if self.tls_key is not None and self.tls_cert is None:
            raise ValueError("tls_key: its tls_cert is missing")

    @functools.cached_property
    def tls_context(self) -> ssl.SSLContext | None:
        """How to encrypt; None = not at all. Raises TlsRefused for a file that is not there, or not as it
        should be.
        """
        if isinstance(self.tls, ssl.SSLContext):
            return self.tls
        if not (self.tls or self.tls_ca or self.tls_cert):
            return None
        files = f"tls_ca={self.tls_ca}"
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            if self.tls_cert is not None:
                files = f"tls_cert={self.tls_cert}, tls_key={self.tls_key}"
                context.load_cert_chain(self.tls_cert, self.tls_key)
        except OSError as error:  # which names no file
            raise TlsRefused("tls", f"{self.where()}: {files}: {error}") from error
        return context

    def login(self) -> tuple[str, ...] | None:
        """The type of authentication, and what belongs to it; None if there is nothing to say."""
        if self.user is not None:
            return (ACCOUNT, self.user) if self.password is None else (ACCOUNT, self.user, self.password)
        return None if self.secret is None else (SECRET, self.secret)

    def where(self) -> str:
        """The address, for messages."""
        if self.unix_socket is not None:
            return self.unix_socket
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def not_connected(self, error: OSError) -> ConnectionLost:
        """The error where no connection could be made."""
        kind = TlsRefused if isinstance(error, ssl.SSLCertVerificationError) else ConnectionLost
        return kind("connect", f"{self.where()}: {error}")

    def login_failed(self, error: Exception) -> Exception:
        """The error of a login; if the server refused, with a sentence that says whom and where."""
        if not isinstance(error, AuthenticationError) or error.text != "unauth":
            return error
        if self.user is None:
            return AuthenticationError(error.code, error.text, f"{self.where()} refused the secret")
        wrong = "it needs a password" if self.password is None else "the password is wrong"
        sentence = f"{self.where()} refused the user {self.user!r}: {wrong}, or it may not log in from here"
        if self.password is not None and not self._keeps_password():
            sentence += "; and a password is taken inside TLS, or from the same machine"
        return AuthenticationError(error.code, error.text, sentence)

    def _keeps_password(self) -> bool:
        """True if a password meets no network, or is encrypted there."""
        if self.unix_socket is not None or self.tls_context is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

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
        longest_s: float = min(FIRST_PAUSE_S * 2 ** min(attempt, 10), LONGEST_PAUSE_S)
        return longest_s * random.uniform(0.5, 1.0)


def options_of(host: str, **given: Any) -> Options:
    """The options for a host, or for a URL in its place. What the URL says goes before what is given.

    rowsocket://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?NAME=VALUE&...], where the names are those of the
    arguments of `connect`. Without a USER the PASSWORD is the secret of the port. Raises ValueError, which
    never shows a password.
    """
    if "@" in host and "://" not in host:
        raise ValueError(f"a host has no @; a URL begins with {URL_SCHEME}://")
    if host.count(":") == 1 and "://" not in host:
        raise ValueError(f"a host has no port: say port=..., or give a URL, {URL_SCHEME}://HOST:PORT")
    given = {**given, **(_options_of_url(host) if "://" in host else {"host": host})}
    zone = given.get("time_zone")
    if isinstance(zone, str):
        given["time_zone"] = _zone_of(zone)
    return Options(**given)


def _options_of_url(url: str) -> dict[str, Any]:
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # its text may be a piece of the password
        raise ValueError(
            f"neither HOST nor HOST:PORT in the URL, where a PORT is 1 to 65535 ({PERCENT_ENCODE})"
        ) from None
    if parts.scheme != URL_SCHEME:
        raise ValueError(f"a URL begins with {URL_SCHEME}://, not {parts.scheme}://")
    if is_cut_short(parts) or not {"[", "]"}.isdisjoint(parts.netloc.rpartition("@")[0]):
        raise ValueError(PERCENT_ENCODE)
    options: dict[str, Any] = {}
    if host:
        options["host"] = _decoded(host)
    if port is not None:
        options["port"] = port
    if parts.username:
        options["user"] = _decoded(parts.username)
    if parts.password:
        options["password" if parts.username else "secret"] = _decoded(parts.password)
    if parts.path.strip("/"):
        options["database"] = _decoded(parts.path.strip("/"))
    for name, text in _named_values(parts.query):
        value = _url_value(name, text)
        if name in options:
            raise ValueError(f"a URL that says {name} twice")
        options[name] = value
    return options


def _named_values(query: str) -> list[tuple[str, str]]:
    """What stands behind the `?`. A `+` is a plus, as in the rest of a URL: this is no web form."""
    pieces = [piece.partition("=") for piece in query.split("&") if piece]
    return [(_decoded(name), _decoded(text)) for name, _, text in pieces]


def _decoded(text: str) -> str:
    """What is percent-encoded there. Raises ValueError, which does not show it: it may be of a password."""
    try:
        return urllib.parse.unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("what is percent-encoded in a URL is UTF-8") from None


def is_cut_short(parts: urllib.parse.SplitResult) -> bool:
    """True if a bare `/`, `?` or `#` of a password may be what seems to end the host: an `@` that no value of
    an option has stands behind it. Then no part of the URL may be shown.
    """
    if parts.fragment:
        return True
    may_be_password = ":" in parts.netloc and "@" not in parts.netloc
    behind = parts.path
    for piece in parts.query.split("&"):
        if may_be_password or urllib.parse.unquote(piece.partition("=")[0]) not in URL_TEXTS_WITH_AT:
            behind += piece
    return parts.netloc != "" and "@" in behind


def _can_be_sent(text: str | None) -> bool:
    try:
        encode_value(text)
    except UnicodeEncodeError:
        return False
    return True


def _url_value(name: str, text: str) -> Any:
    if name in URL_TEXTS:
        return text
    if name == "timeout":
        return None if text in ("", "none") else _number(float, text, "timeout in a URL: seconds, or none")
    if name == "retries":
        return _number(int, text, "retries in a URL: a whole number")
    if name in URL_FLAGS:
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        if text.lower() in words:
            return words[text.lower()]
        raise ValueError(f"{name} in a URL: 1 or 0")
    raise ValueError(f"unknown option {name!r} in a URL")


def _number(kind: Callable[[str], T], text: str, error: str) -> T:
    """The number in a text. The error does not show the text, which may be a piece of a password."""
    try:
        return kind(text)
    except ValueError:
        raise ValueError(error) from None


def _zone_of(name: str) -> datetime.tzinfo:
    if name.upper() == "UTC":
        return datetime.timezone.utc
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        distance = datetime.timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return datetime.timezone(-distance if offset[1] == "-" else distance)
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"unknown time zone {name!r}") from None


class Deadline:
    """When a call has to be over. `timeout_s` None is never."""

    def __init__(self, timeout_s: float | None, now_s: float | None = None) -> None:
        if timeout_s is None:
            self.end_s: float | None = None
        else:
            self.end_s = (time.monotonic() if now_s is None else now_s) + timeout_s

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
