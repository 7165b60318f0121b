# SPDX-License-Identifier: MIT
"""What can go wrong, as exceptions.

    RowSocketError                 everything below
      ServerError                  the server answered with an error; the connection is good
        RequestError               code 2: malformed, or asks for what does not exist
          ReadOnlyError            a write on a connection that may only read
        AuthenticationError        code 3
        OpenTableError             the table can not be opened, or a lock on it was not to be had in time
        EngineError                the storage engine or a conversion refused; `.number` says which
          DuplicateKey, Deadlock, LockWaitTimeout, ForeignKeyViolation, InvalidValue
      TransportError               there is no answer; the connection is closed. `.outcome_unknown` is True
                                   for a write
        ConnectionLost, Timeout, ProtocolError
          TlsRefused               a certificate, or a file of the TLS settings; never retryable

Mistakes that can be seen without asking the server (an unknown operator, a column that is not in the index's
list) are plain `ValueError` and `TypeError`.
"""

from __future__ import annotations

__all__ = [
    "AuthenticationError",
    "ConnectionLost",
    "Deadlock",
    "DuplicateKey",
    "EngineError",
    "ForeignKeyViolation",
    "GroupError",
    "InvalidValue",
    "LockWaitTimeout",
    "NoTransactions",
    "NothingChanged",
    "OpenTableError",
    "ProtocolError",
    "ReadOnlyError",
    "RequestError",
    "RowSocketError",
    "ServerError",
    "Timeout",
    "TlsRefused",
    "TransportError",
    "UndoneWithGroup",
    "error_from_reply",
]

CLIENT_SIDE = -1
"""`code` of an error that no reply carried."""


class RowSocketError(Exception):
    """Base of every error of this package.

    code    the code of the reply, or -1 if no reply carried it
    text    the protocol's short text, e.g. "stmtnum" or "121"
    detail  a line for people; may be empty
    """

    @property
    def retryable(self) -> bool:
        """True if sending the same request again, at once or later, can help, and can do no harm."""
        return False

    def __init__(self, code: int, text: str, detail: str = "") -> None:
        super().__init__(code, text, detail)
        self.code = code
        self.text = text
        self.detail = detail

    def __str__(self) -> str:
        said = f"{self.code} {self.text}" if self.code != CLIENT_SIDE else self.text
        return f"{said}: {self.detail}" if self.detail else said


class ServerError(RowSocketError):
    """The server answered with an error. The request left nothing behind; the connection is good."""

    @property
    def retryable(self) -> bool:
        """True if sending the same request again, at once or later, can help."""
        return self.text in _RETRYABLE.get(self.code, ())

    @property
    def _came_first(self) -> bool:
        """True if it is `retryable` and came before the request changed anything. Behind other errors a table
        without transactions keeps what was changed.
        """
        return self.retryable and self.text not in _IN_THE_MIDDLE


class RequestError(ServerError):
    """The request is malformed or asks for what does not exist (code 2)."""


class ReadOnlyError(RequestError):
    """A write on a connection that may only read."""


class AuthenticationError(ServerError):
    """No account and no secret was named where one is needed, or a password or secret is wrong (code 3)."""

    def __str__(self) -> str:
        return f"{self.detail} ({self.code} {self.text})" if self.detail else super().__str__()


class OpenTableError(ServerError):
    """The table can not be opened: missing, a view, changed so that the index no longer fits, or locked for
    too long.
    """


class EngineError(ServerError):
    """The storage engine or a conversion refused (code 1). `number` is the storage engine's, or from 1000 on
    the server's.
    """

    def __init__(self, code: int, text: str, detail: str = "") -> None:
        super().__init__(code, text, detail)
        self.number = int(text)


class DuplicateKey(EngineError):
    """A row with this primary or unique key is there already (121)."""


class Deadlock(EngineError):
    """Undone in favour of another transaction (149); try again."""


class LockWaitTimeout(EngineError):
    """A row stayed locked by another transaction for too long (146); try again."""


class ForeignKeyViolation(EngineError):
    """A foreign key forbids it (151: the row that it references is missing; 152: the row is referenced)."""


class GroupError(ServerError):
    """Why nothing of a group was done, in the request that is the reason or in the others."""


class NothingChanged(GroupError):
    """In a group with `must`: a write that changed no row."""


class NoTransactions(GroupError):
    """The table's storage engine has no transactions, so that it can be no part of a group."""


class UndoneWithGroup(GroupError):
    """Another request of the group failed. `cause` is its error, once it is known."""

    cause: Exception | None = None

    @property
    def retryable(self) -> bool:
        """As that of the cause."""
        return isinstance(self.cause, RowSocketError) and self.cause.retryable


class InvalidValue(EngineError):
    """A value does not fit its column, as in SQL's strict mode. `number` is SQL's error number, e.g. 1264 out
    of range.
    """


class TransportError(RowSocketError):
    """There is no answer, and the connection is closed; the next call opens a new one unless `reconnect` is
    off.

    outcome_unknown  True if the request was a write that may or may not have been done. It is never
                     half-done.
    """

    def __init__(self, text: str, detail: str = "", *, outcome_unknown: bool = False) -> None:
        super().__init__(CLIENT_SIDE, text, detail)
        self.outcome_unknown = outcome_unknown

    @property
    def retryable(self) -> bool:
        """False if a write may have been done: it could be done twice."""
        return not self.outcome_unknown

    def for_request(self, writes: bool) -> TransportError:
        """The same error, as it is for a request that has been sent and not been answered."""
        return type(self)(self.text, self.detail, outcome_unknown=writes)


class ConnectionLost(TransportError):
    """The connection could not be made, was closed by the server, or broke."""


class TlsRefused(ConnectionLost):
    """The server's certificate is not one to trust, or a file of the TLS settings can not be used. That stays
    so until the settings are others.
    """

    @property
    def retryable(self) -> bool:
        """False."""
        return False


class Timeout(TransportError):
    """The answer, or a free connection of a pool, did not come in time."""


class ProtocolError(TransportError):
    """What came is no reply of this protocol."""


_RETRYABLE: dict[int, frozenset[str]] = {
    1: frozenset(
        {"lock_tables", "commit", "memory", "shutdown", "135", "146", "149", "188"}
        | {"1047", "1114", "1205", "1213", "1290", "1317", "1792", "1927", "1836", "1969"}
    ),
}
"""The texts, by code, for which docs/protocol/handlersocket.md says `later` or `at once`."""

_IN_THE_MIDDLE = frozenset({"commit", "memory", "135", "188", "1114", "1317", "1927", "1969"})
"""Those of them that a request may meet when it has changed rows."""

_GROUP_ERRORS: dict[str, type[GroupError]] = {
    "group": UndoneWithGroup,
    "unchanged": NothingChanged,
    "notrans": NoTransactions,
}

_ENGINE_ERRORS: dict[int, type[EngineError]] = {
    121: DuplicateKey,
    146: LockWaitTimeout,
    149: Deadlock,
    151: ForeignKeyViolation,
    152: ForeignKeyViolation,
    1062: DuplicateKey,
    1205: LockWaitTimeout,
    1213: Deadlock,
    1451: ForeignKeyViolation,
    1452: ForeignKeyViolation,
    1048: InvalidValue,  # column can not be NULL
    1264: InvalidValue,  # out of range
    1265: InvalidValue,  # data truncated
    1292: InvalidValue,  # truncated wrong value
    1364: InvalidValue,  # field has no default
    1366: InvalidValue,  # incorrect value
    1406: InvalidValue,  # data too long
    1411: InvalidValue,  # incorrect value for function
    1690: InvalidValue,  # out of range in arithmetic
    4025: InvalidValue,  # CHECK constraint
}


_NOT_SERVED = {
    "tls": "the server takes clients inside TLS only (tls=True, or tls_ca with the authority's file)",
    "connections": "the account has as many connections as it may",
}
"""What a login is told before anybody can ask for sentences."""


def error_from_reply(code: int, text: str, detail: str = "") -> ServerError:
    """The exception for a reply with an error code."""
    if code == 3:
        return AuthenticationError(code, text, detail or _NOT_SERVED.get(text, ""))
    if code == 2:
        return ReadOnlyError(code, text, detail) if text == "readonly" else RequestError(code, text, detail)
    number: int | None = int(text) if text.isascii() and text.isdigit() else None
    if number is not None:
        return _ENGINE_ERRORS.get(number, EngineError)(code, text, detail)
    if text in ("open_table", "lock_tables"):
        return OpenTableError(code, text, detail)
    return _GROUP_ERRORS.get(text, ServerError)(code, text, detail)
