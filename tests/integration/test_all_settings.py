# SPDX-License-Identifier: GPL-2.0-only
"""Every setting that a session has of the server: a request has what a new session of SQL has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import pymysql
import pytest

from support.mariadb import Database, Options, RowSocketServer, Start
from support.raw import RawConnection
from support.tree import ServerFailure

Seen = dict[str, str] | int
"""Settings by name, or the number of the error that a write was refused with."""
SEEN = (
    "SELECT GROUP_CONCAT(CONCAT(VARIABLE_NAME, '=', VARIABLE_VALUE) SEPARATOR '\\n')"
    " FROM information_schema.SESSION_VARIABLES"
)
OF_A_MOMENT = {
    *("TIMESTAMP", "RAND_SEED1", "RAND_SEED2", "PSEUDO_THREAD_ID", "IN_TRANSACTION"),
    *("GTID_BINLOG_POS", "GTID_BINLOG_STATE", "GTID_CURRENT_POS"),
}
"""What differs from session to session, or from one moment to the next."""
OF_THE_CLIENT = {"CHARACTER_SET_RESULTS"}
"""What a client of SQL sets as it connects."""
OWN = {"AUTOCOMMIT", "INNODB_LOCK_WAIT_TIMEOUT", "LOCK_WAIT_TIMEOUT", "UNIQUE_CHECKS"}
OWN |= {"TX_ISOLATION", "TRANSACTION_ISOLATION"}
"""What RowSocket needs for itself, whatever is set: docs/operating.md."""
CHOSEN = {
    **dict.fromkeys(("CHARACTER_SET_CLIENT", "CHARACTER_SET_CONNECTION", "CHARACTER_SET_DATABASE"), "latin1"),
    **dict.fromkeys(("CHARACTER_SET_FILESYSTEM", "CHARACTER_SET_SERVER"), "latin1"),
    **dict.fromkeys(("COLLATION_CONNECTION", "COLLATION_DATABASE", "COLLATION_SERVER"), "latin1_bin"),
    **dict.fromkeys(("DEFAULT_STORAGE_ENGINE", "DEFAULT_TMP_STORAGE_ENGINE"), "Aria"),
    **dict.fromkeys(("LC_MESSAGES", "LC_TIME_NAMES"), "de_DE"),
    "CHARACTER_SET_COLLATIONS": "utf8mb4=utf8mb4_bin",
    "OPTIMIZER_SWITCH": "index_merge=off",
    "OPTIMIZER_TRACE": "enabled=on",
    "REDIRECT_URL": "mariadb://other:3306",
    "SESSION_TRACK_SYSTEM_VARIABLES": "time_zone",
    "SQL_MODE": "STRICT_ALL_TABLES,ANSI_QUOTES",
    "TIME_ZONE": "+03:00",
}
"""Another value of settings that have no next one."""
NO_OTHER_VALUE = {
    "ENFORCE_STORAGE_ENGINE",
    "INNODB_FT_USER_STOPWORD_TABLE",
    "INNODB_TMPDIR",
    "STORAGE_ENGINE",
}
NOT_FOR_ALL = {"MAX_USER_CONNECTIONS", "SQL_LOG_BIN", "TCP_NODELAY", "WSREP_ON"}
NOT_FOR_ALL |= {"WSREP_TRX_FRAGMENT_SIZE", "WSREP_TRX_FRAGMENT_UNIT", "SYSTEM_VERSIONING_ASOF"}
"""Which no server, or only one in a cluster, can set for all sessions that begin."""


@dataclass(frozen=True)
class Setting:
    """A line of information_schema.SYSTEM_VARIABLES."""

    name: str
    value: str
    kind: str
    least: str | None
    most: str | None
    step: str | None
    values: str | None

    def another(self) -> str | int | float:
        """A value that it does not have."""
        if self.name in CHOSEN:
            return CHOSEN[self.name]
        if self.kind == "BOOLEAN":
            return "OFF" if self.value == "ON" else "ON"
        if self.values is not None:
            return next(value for value in self.values.split(",") if value != self.value)
        assert self.least is not None and self.most is not None, f"give {self.name} a value in CHOSEN"
        step = max(int(self.step or 1), 1)
        number = float(self.value) if self.kind == "DOUBLE" else int(self.value)
        return number + step if number + step <= float(self.most) else number - step

    def set(self, server: RowSocketServer, value: str | int | float) -> None:
        """Set it for all sessions that begin."""
        server.sql(f"SET GLOBAL {self.name} = %s", [value])

    def set_back(self, server: RowSocketServer) -> None:
        """Set the value that it had."""
        if self.value == "":
            server.sql(f"SET GLOBAL {self.name} = DEFAULT")
        elif self.least is None:
            self.set(server, self.value)
        else:
            self.set(server, float(self.value) if self.kind == "DOUBLE" else int(self.value))


def settings(server: RowSocketServer) -> list[Setting]:
    """All that can be set for the sessions that begin."""
    columns = (
        "VARIABLE_NAME, GLOBAL_VALUE, VARIABLE_TYPE, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE,"
        " NUMERIC_BLOCK_SIZE, ENUM_VALUE_LIST"
    )
    lines = server.sql(
        f"SELECT {columns} FROM information_schema.SYSTEM_VARIABLES"
        " WHERE VARIABLE_SCOPE = 'SESSION' AND READ_ONLY = 'NO' AND GLOBAL_VALUE IS NOT NULL ORDER BY 1"
    )
    every = [Setting(*line) for line in lines]
    return [one for one in every if one.name not in NO_OTHER_VALUE | NOT_FOR_ALL | OF_THE_CLIENT | OWN]


class Sessions:
    """What the trigger of `d.seen` sees in a request, and in a new session of SQL."""

    def __init__(self, server: RowSocketServer, client: RawConnection) -> None:
        self.server = server
        self.client = client
        self._rows = 0
        assert client.ask(b"P\t1\td\tseen\t\tid") == b"0\t1"

    def of_a_request(self) -> Seen:
        """What a request sees."""
        self._rows += 1
        reply = self.client.ask(b"1\t+\t1\t%d" % self._rows)
        return self._seen() if reply == b"0\t1" else int(reply.split(b"\t")[2])

    def of_sql(self) -> Seen:
        """The same of SQL."""
        self._rows += 1
        with contextlib.closing(self.server.connect("d")) as connection, connection.cursor() as cursor:
            try:
                cursor.execute(f"INSERT INTO seen (id) VALUES ({self._rows})")
                connection.commit()
            except pymysql.err.MySQLError as error:
                return int(error.args[0])
        return self._seen()

    def _seen(self) -> Seen:
        text = self.server.value(f"SELECT v FROM d.seen WHERE id = {self._rows}")
        seen = dict(line.split("=", 1) for line in str(text).split("\n"))
        for name in OWN | OF_A_MOMENT | OF_THE_CLIENT:
            seen.pop(name, None)
        return seen

    def assert_equal(self, when: str) -> None:
        """Both see the same. Settings of storage engines may come 0.1 s later."""
        of_sql = self.of_sql()
        with contextlib.suppress(ServerFailure):  # what differs is told below
            self.server.wait_until("has SQL's settings", lambda: self.of_a_request() == of_sql, 3)
        assert self.of_a_request() == of_sql, when


@pytest.fixture
def sessions(start: Start) -> Iterator[Sessions]:
    """One session for all writes: no other begins with the settings of now."""
    options: Options = {
        "binlog-format": "ROW",
        "loose-rowsocket-threads-write": 1,
        "loose-rowsocket-threads-max": 0,
    }
    server = start(RowSocketServer, options)
    database = Database(server, "d")
    database.sql("CREATE TABLE seen (id INT PRIMARY KEY, v LONGTEXT)")
    database.sql(f"CREATE TRIGGER sees BEFORE INSERT ON seen FOR EACH ROW SET NEW.v = ({SEEN})")
    with server.raw("write") as client:
        yield Sessions(server, client)


def test_a_request_has_each_setting_as_a_new_session_of_sql_has_it(sessions: Sessions) -> None:
    sessions.assert_equal("in the beginning")
    for setting in settings(sessions.server):
        other = setting.another()
        setting.set(sessions.server, other)
        sessions.assert_equal(f"where {setting.name} is {other}")
        setting.set_back(sessions.server)
        sessions.assert_equal(f"where {setting.name} is {setting.value} again")


def test_no_setting_that_a_trigger_changes_is_there_for_the_next_request(sessions: Sessions) -> None:
    of_the_server = {
        "MAX_RELAY_LOG_SIZE",
        "SQL_SLAVE_SKIP_COUNTER",
    }  # those of a replica's connection, for all sessions
    server = sessions.server
    server.sql("CREATE TABLE d.changes (id INT AUTO_INCREMENT PRIMARY KEY)")
    assert sessions.client.ask(b"P\t2\td\tchanges\t\tid") == b"0\t1"
    before, refused = sessions.of_a_request(), 0
    for setting in (one for one in settings(server) if one.name not in of_the_server):
        server.sql(
            "CREATE OR REPLACE TRIGGER d.changes BEFORE INSERT ON d.changes FOR EACH ROW"
            f" SET SESSION {setting.name} = %s",
            [setting.another()],
        )
        refused += sessions.client.ask(b"2\t+\t1\t0").startswith(b"1")
        assert sessions.of_a_request() == before, setting.name
    assert refused < 15, "most settings may be changed in a trigger"
