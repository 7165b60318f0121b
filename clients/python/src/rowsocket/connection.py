# SPDX-License-Identifier: MIT
# Made by make_sync.py from aio/connection.py: change that file, and run `python make_sync.py`.
"""The blocking client's `connect` and `Connection`."""

from __future__ import annotations

import datetime
import itertools
import ssl
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rowsocket._index import IndexDescription, OtherTypes
from rowsocket._options import DEFAULT_TIMEOUT_S, Deadline, Options, options_of
from rowsocket._pipeline import are_sent_once, have_succeeded, lost_reads, refused_for_now
from rowsocket._session import IndexIds, Pending, opening_of
from rowsocket.errors import ConnectionLost, RowSocketError

from ._link import Link, Lock, Place, ShortWay, pause
from .executor import Executor

if TYPE_CHECKING:
    from typing_extensions import Self


class Connection(ShortWay, Executor):
    """A connection to a read or a write port, made with `connect`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._ids = IndexIds()
        self._link: Link | None = None
        self._connecting = Lock()
        self._closed = False
        self._place: Place | None = None
        """Of the pool that it is borrowed from. If the borrower is lost, so are the connection and this."""

    def __repr__(self) -> str:
        state = "closed" if self._closed else "connected" if self.usable else "not connected"
        return f"<Connection to {self._options.where()}: {state}>"

    def close(self) -> None:
        """Close for good. Idempotent."""
        if self._link is not None:
            self._link.close()
        self._closed = True

    @property
    def usable(self) -> bool:
        """True if the connection stands, as far as can be seen from here."""
        return self._link is not None and self._link.usable()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connected(self, deadline: Deadline) -> Link:
        """A usable link: the one that is there, or a new one.

        Raises ConnectionLost, Timeout, AuthenticationError.
        """
        ready = self._ready_link()
        if ready is not None:
            return ready
        with self._connecting:
            if self._closed:
                raise ConnectionLost("closed", "this connection was closed by its user")
            if self._link is not None:
                if self._link.usable():
                    return self._link
                if not self._options.reconnect:
                    where = self._options.where()
                    raise ConnectionLost("lost", f"{where}: lost before, and reconnect is off")
            link = self._make_link(deadline)
            if self._closed:  # meanwhile
                link.close()
                raise ConnectionLost("closed", "this connection was closed by its user")
            self._link = link
            return link

    def _ready_link(self) -> Link | None:
        """The link that is there, if it can be used."""
        if self._link is not None and not self._closed and self._link.ready():
            return self._link
        return None

    def _make_link(self, deadline: Deadline) -> Link:
        for attempt in itertools.count():
            try:
                return self._connect_and_log_in(deadline)
            except ConnectionLost as error:  # no request was sent
                pause_s = self._options.pause_s(attempt)
                if not error.retryable or attempt >= self._options.retries or not deadline.allows(pause_s):
                    raise
                pause(pause_s)
        raise AssertionError("itertools.count() ends")

    def _connect_and_log_in(self, deadline: Deadline) -> Link:
        link = Link.connect(self._options, self._ids, deadline)
        self._check(link)
        login = self._options.login()
        if login is not None:
            data, authenticated = link.session.authenticate(login)
            try:
                link.exchange(data, authenticated, deadline)
                if authenticated.error is not None:
                    raise self._options.login_failed(authenticated.error)
                self._check(link)
            except BaseException:  # also of a thread that is cancelled
                link.close()
                raise
        return link

    def _check(self, link: Link) -> None:
        """Raise ConnectionLost if it was lost before it is used: nothing was sent."""
        if not link.usable():
            raise ConnectionLost("connect", f"{self._options.where()}: closed the connection")

    def _run(self, pendings: list[Pending[Any]], deadline: Deadline | None = None) -> None:
        """Settle all of them, each with its result or error. The deadline is now's unless one is given."""
        deadline = deadline or Deadline(self._options.timeout)
        if not self._run_once(pendings, deadline):
            self._run_failed(pendings, deadline)

    def _run_failed(self, pendings: list[Pending[Any]], deadline: Deadline) -> None:
        """Run those again that can be, of requests that have run once."""
        again = [pending for pending in lost_reads(pendings) if pending.was_sent]
        if again and self._options.reconnect and not self._closed:
            self._run_again(again, deadline)
        for attempt in range(self._options.retries):
            again = refused_for_now(pendings)
            pause_s = self._options.pause_s(attempt)
            if not again or self._closed or not deadline.allows(pause_s):
                return
            pause(pause_s)
            self._run_again(again, deadline)

    def _run_again(self, pendings: list[Pending[Any]], deadline: Deadline) -> None:
        for pending in pendings:
            pending._send_again()
        self._run_once(pendings, deadline)

    def _run_once(self, pendings: list[Pending[Any]], deadline: Deadline) -> bool:
        """Settle all of them; True if none has an error."""
        if self._link is not None and are_sent_once(pendings):
            self._link.look()
        try:
            link = self._ready_link() or self._connected(deadline)
        except RowSocketError as error:  # nothing was sent
            for pending in pendings:
                pending._refuse(error)
            return False
        link.exchange(link.session.encode(pendings), pendings[-1], deadline)
        return have_succeeded(pendings) or self._take_new_types(link, pendings, deadline)

    def _take_new_types(self, link: Link, pendings: list[Pending[Any]], deadline: Deadline) -> bool:
        """If rows of them are not of the types that the server told: ask again, and take the rows anew. True
        if none of them has an error then.
        """
        altered = [pending for pending in pendings if isinstance(pending.error, OtherTypes)]
        if altered:
            data, asked = link.session.ask_new_types(altered)
            link.exchange(data, asked, deadline)
            link.session.take_again(altered)
        return have_succeeded(pendings)

    def _open(self, description: IndexDescription[Any], id: int | None) -> None:
        self._open_within(description, id, Deadline(self._options.timeout))

    def _open_within(self, description: IndexDescription[Any], id: int | None, deadline: Deadline) -> None:
        """Open an index now. Raises RowSocketError."""
        self._ids.id_of(description, id)
        opening = opening_of(description)
        self._run([opening], deadline)
        opening.result()


def connect(
    host: str = "127.0.0.1",
    port: int = 9998,
    *,
    unix_socket: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT_S,
    user: str | None = None,
    password: str | None = None,
    secret: str | None = None,
    reconnect: bool = True,
    database: str | None = None,
    text: bool = False,
    detail: bool | None = None,
    time_zone: str | datetime.tzinfo | None = None,
    retries: int = 0,
    tls: bool | ssl.SSLContext | None = None,
    tls_ca: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
) -> Connection:
    """Connect to a read port (9998 by default) or a write port (9999), which also reads.

    host         or a URL: rowsocket://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?NAME=VALUE&...], where the
                 names are those of the arguments below; what a URL says goes before what they say
    unix_socket  path of a unix socket, instead of host and port
    timeout      seconds that any call may take, this one included; None = for ever
    user         the account of the server that each connection made logs in with; None: it names no account
    password     the account's; None for an account that needs none (`IDENTIFIED VIA unix_socket`). RowSocket
                 takes it inside TLS, over a unix socket or over the loopback interface only
    secret       of the port, in place of an account; in a URL it is a password without a user
    reconnect    after a lost connection, make a new one for the next call, with authentication and open
                 indexes as before. A read whose connection was lost is sent once more; a write never is: it
                 raises with `outcome_unknown`
    database     of the tables that `table` names
    text         True: values of rows are str as the server prints them, and nothing is sent that the original
                 HandlerSocket does not know; False: Python values, by the columns' SQL types
    detail       whether errors are to carry a sentence for people (RowSocket only); None = unless `text`
    time_zone    the server's, its global `time_zone`: values of TIMESTAMP columns become aware datetimes, and
                 aware datetimes are sent as that zone's. A name, an offset (+02:00) or a tzinfo; None:
                 datetimes have no zone
    retries      how often to try again, with growing pauses and within `timeout`, where nothing was done:
                 nobody accepted the connection or took the login, or the server refused for a reason that
                 passes (a deadlock, a lock; see `RowSocketError.retryable`)
    tls          True: everything travels inside TLS, to a server whose certificate is for `host` and was
                 signed by an authority that this machine trusts, or `tls_ca`. Or an ssl.SSLContext of one's
                 own
    tls_ca       the file with the certificates of the authorities that are trusted instead; turns TLS on
    tls_cert     the file with the certificate that the client shows, for accounts that REQUIRE X509; turns
                 TLS on
    tls_key      the file with its key, if that is another one

    Raises ConnectionLost (also TlsRefused), Timeout, AuthenticationError, ValueError (a URL that is none).
    """
    options = options_of(
        host,
        port=port,
        unix_socket=unix_socket,
        timeout=timeout,
        user=user,
        password=password,
        secret=secret,
        reconnect=reconnect,
        database=database,
        text=text,
        detail=detail,
        time_zone=time_zone,
        retries=retries,
        tls=tls,
        tls_ca=tls_ca,
        tls_cert=tls_cert,
        tls_key=tls_key,
    )
    connection = Connection(options)
    connection._connected(Deadline(options.timeout))
    return connection
