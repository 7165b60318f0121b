# SPDX-License-Identifier: GPL-2.0-only
"""What an account may do is what SQL would let it do: each operation beside the like statements of SQL, under
the same grants.

A table `d.t (id PRIMARY KEY, a, b)` has the row (1, 10, 100). Every operation is tried on RowSocket by a
client that logged in as the account, and on SQL by the same account. Both serve it, or both deny it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pymysql
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.accounts import DENIED, OK, PASSWORD, account, client, is_denied
from support.mariadb import Database, RowSocketServer, Start
from support.raw import RawConnection
from support.tree import ServerTree

OPEN = b"P\t0\td\tt\t\t"


@dataclass(frozen=True)
class Operation:
    """One request on index 0, opened with these columns, and statements that do the same together."""

    name: str
    columns: str
    request: bytes
    sql: Sequence[str]


OPERATIONS = [
    Operation("find", "id,a", b"0\t=\t1\t1", ["SELECT id, a FROM t WHERE id = 1"]),
    Operation("find another column", "b", b"0\t=\t1\t1", ["SELECT b FROM t WHERE id = 1"]),
    Operation("find by a key", "a", b"0\t>\t1\t0\t9\t0", ["SELECT a FROM t WHERE id > 0 ORDER BY id"]),
    Operation(
        "filter", "id;b", b"0\t=\t1\t1\t1\t0\tF\t=\t0\t100", ["SELECT id FROM t WHERE id = 1 AND b = 100"]
    ),
    Operation("count", "id", b"0\t=\t1\t1\t1\t0\t#", ["SELECT COUNT(*) FROM t WHERE id = 1"]),
    Operation("update", "a", b"0\t=\t1\t1\t1\t0\tU\t11", ["UPDATE t SET a = 11 WHERE id = 1"]),
    Operation(
        "update two", "a,b", b"0\t=\t1\t1\t1\t0\tU\t11\t1", ["UPDATE t SET a = 11, b = 1 WHERE id = 1"]
    ),
    Operation(
        "update and tell",
        "a",
        b"0\t=\t1\t1\t1\t0\tU?\t11",
        ["SELECT a FROM t WHERE id = 1", "UPDATE t SET a = 11 WHERE id = 1"],
    ),
    Operation("increment", "a", b"0\t=\t1\t1\t1\t0\t+\t1", ["UPDATE t SET a = a + 1 WHERE id = 1"]),
    Operation("delete", "id", b"0\t=\t1\t1\t1\t0\tD", ["DELETE FROM t WHERE id = 1"]),
    Operation("insert", "id,a", b"0\t+\t2\t2\t20", ["INSERT INTO t (id, a) VALUES (2, 20)"]),
    Operation("insert rows", "id,b", b"0\t++\t2\t1\t2\t20", ["INSERT INTO t (id, b) VALUES (2, 20)"]),
    Operation("ignore", "id,a", b"0\t++\t2\t1\t1\t20\tI", ["INSERT IGNORE INTO t (id, a) VALUES (1, 20)"]),
    Operation("replace", "id,a", b"0\t++\t2\t1\t1\t20\tR", ["REPLACE INTO t (id, a) VALUES (1, 20)"]),
    Operation(
        "upsert",
        "id,a",
        b"0\t++\t2\t1\t1\t20\tU\t1",
        ["INSERT INTO t (id, a) VALUES (1, 20) ON DUPLICATE KEY UPDATE a = 20"],
    ),
    Operation(
        "upsert a sum",
        "id,a",
        b"0\t++\t2\t1\t1\t20\t+\t1",
        ["INSERT INTO t (id, a) VALUES (1, 20) ON DUPLICATE KEY UPDATE a = a + 20"],
    ),
]

PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE")
PLACES = ("*.*", "d.*", "d.t", "other.*", "d.other", "d.`t_`")


class Scene:
    """The table, the account `app@localhost` with the role `r`, and both ways to the table."""

    def __init__(self, server: RowSocketServer) -> None:
        self.server = server
        for statement in (
            "CREATE DATABASE d",
            "CREATE DATABASE other",
            "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b INT)",
            "CREATE TABLE d.other (id INT PRIMARY KEY)",
            "CREATE TABLE d.t_ (id INT PRIMARY KEY)",
            f"CREATE USER app@localhost IDENTIFIED BY '{PASSWORD}'",
            "CREATE ROLE r",
            "GRANT r TO app@localhost",
            "SET DEFAULT ROLE r FOR app@localhost",
        ):
            server.sql(statement)

    def grant(self, grants: Sequence[str]) -> None:
        """These grants, and no others. `SELECT (a) ON d.t TO r` is the role's."""
        self.server.sql("REVOKE ALL PRIVILEGES, GRANT OPTION FROM r")
        self.server.sql("REVOKE ALL PRIVILEGES, GRANT OPTION FROM app@localhost")
        self.server.sql("GRANT r TO app@localhost")
        self.server.sql("SET DEFAULT ROLE r FOR app@localhost")
        for grant in grants:
            self.server.sql(f"GRANT {grant}" if " TO " in grant else f"GRANT {grant} TO app@localhost")

    def fill(self) -> None:
        self.server.sql("REPLACE INTO d.t VALUES (1, 10, 100)")
        self.server.sql("DELETE FROM d.t WHERE id > 1")

    @contextlib.contextmanager
    def sql(self) -> Iterator[pymysql.cursors.Cursor]:
        """A session of SQL as the account. (Without the default database, which it may not be allowed.)"""
        connection = pymysql.connect(
            unix_socket=str(self.server.socket), user="app", password=PASSWORD, autocommit=True
        )
        with contextlib.closing(connection), connection.cursor() as cursor:
            yield cursor

    def asked_of_sql(self, cursor: pymysql.cursors.Cursor, operation: Operation) -> bool:
        """True if it is denied."""
        self.fill()
        for statement in operation.sql:
            try:
                cursor.execute(statement.replace(" t ", " d.t "))
            except pymysql.err.MySQLError as error:
                number = str(error.args[0]).encode()
                assert number in DENIED, error
                return True
        return False

    def asked_of_rowsocket(self, connection: RawConnection, operation: Operation) -> bool:
        """True if it is denied."""
        self.fill()
        opened = connection.ask(OPEN + operation.columns.replace(";", "\t").encode())
        return is_denied(opened) or is_denied(connection.ask(operation.request))


@pytest.fixture(scope="module")
def scene(tree: ServerTree, template: Path) -> Iterator[Scene]:
    server = RowSocketServer(tree, template, {"loose-rowsocket-anonymous-account": ""})
    with server:
        yield Scene(server)


def denied(scene: Scene, grants: Sequence[str]) -> tuple[dict[str, bool], dict[str, bool]]:
    """What RowSocket and what SQL deny, by operation."""
    scene.grant(grants)
    with scene.sql() as cursor, client(scene.server, "app") as connection:
        return (
            {one.name: scene.asked_of_rowsocket(connection, one) for one in OPERATIONS},
            {one.name: scene.asked_of_sql(cursor, one) for one in OPERATIONS},
        )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("privilege", [*PRIVILEGES, "ALL PRIVILEGES", "CREATE, DROP, INDEX, ALTER"])
def test_each_privilege_at_each_level_does_what_it_does_in_sql(
    scene: Scene, privilege: str, place: str
) -> None:
    by_rowsocket, by_sql = denied(scene, [f"{privilege} ON {place}"])
    assert by_rowsocket == by_sql


@pytest.mark.parametrize("privilege", PRIVILEGES)
def test_one_privilege_that_is_missing_is_missed_as_in_sql(scene: Scene, privilege: str) -> None:
    others = ", ".join(one for one in PRIVILEGES if one != privilege)
    by_rowsocket, by_sql = denied(scene, [f"{others} ON d.t"])
    assert by_rowsocket == by_sql
    assert any(by_sql.values())
    assert not all(by_sql.values())


@pytest.mark.parametrize(
    "grants",
    [
        ["SELECT (id, a) ON d.t"],
        ["SELECT (id) ON d.t"],
        ["SELECT (a) ON d.t"],
        ["SELECT (id) ON d.t", "UPDATE (a) ON d.t"],
        ["SELECT (id, a), UPDATE (a), INSERT (id, a) ON d.t"],
        ["SELECT (id) ON d.t", "UPDATE ON d.t"],
        ["INSERT (id, a) ON d.t"],
        ["INSERT (id), UPDATE (b) ON d.t"],
        ["REFERENCES (id) ON d.t"],
    ],
)
def test_grants_on_columns_do_what_they_do_in_sql(scene: Scene, grants: Sequence[str]) -> None:
    by_rowsocket, by_sql = denied(scene, grants)
    assert by_rowsocket == by_sql


def test_a_role_gives_what_it_gives_in_sql(scene: Scene) -> None:
    by_rowsocket, by_sql = denied(scene, ["SELECT ON d.* TO r", "UPDATE (a) ON d.t TO r"])
    assert by_rowsocket == by_sql
    assert not by_sql["update"]
    assert by_sql["delete"]


def one_grant() -> st.SearchStrategy[str]:
    """A privilege somewhere, for the account, for its role or for everybody."""
    on_columns = st.builds(
        lambda privilege, columns: f"{privilege} ({', '.join(sorted(columns))}) ON d.t",
        st.sampled_from(["SELECT", "INSERT", "UPDATE"]),
        st.sets(st.sampled_from(["id", "a", "b"]), min_size=1),
    )
    on_more = st.builds(
        lambda privilege, place: f"{privilege} ON {place}",
        st.sampled_from(PRIVILEGES),
        st.sampled_from(PLACES),
    )
    to_whom = st.sampled_from(["app@localhost", "r"])
    return st.builds(lambda what, who: f"{what} TO {who}", on_columns | on_columns | on_more, to_whom)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)
@given(grants=st.lists(one_grant(), max_size=5))
def test_any_grants_together_do_what_they_do_in_sql(scene: Scene, grants: list[str]) -> None:
    by_rowsocket, by_sql = denied(scene, grants)
    assert by_rowsocket == by_sql


OPENED_WITH = {b"id": True, b"a": True, b"id,a": True, b"b": False, b"a,b": False, b"id\tb": False}
"""Columns, behind the TAB those of filters, and whether who may read `id` and change `a` may open them."""


# ---- what is told


@pytest.mark.parametrize("grants", [[], ["SELECT ON other.*"], ["SELECT ON d.other"]])
def test_a_table_that_may_not_be_seen_answers_like_one_that_is_not_there(
    scene: Scene, grants: Sequence[str]
) -> None:
    scene.grant(grants)
    with client(scene.server, "app") as connection:
        connection.ask(b"P\t9\tx\tx\t\t\t\tdetail")
        there = connection.ask(b"P\t0\td\tt\t\tid")
        missing = connection.ask(b"P\t0\td\tnone\t\tid")
        nowhere = connection.ask(b"P\t0\tnowhere\tt\t\tid")
        system = connection.ask(b"P\t0\tmysql\tuser\t\tUser")
        assert there.replace(b"d.t", b"d.none") == missing
        assert there.replace(b"d.t", b"nowhere.t") == nowhere
        assert there.replace(b"d.t", b"mysql.user") == system
        assert there.startswith(b"1\t1\t1142")


def test_who_may_see_a_table_is_told_what_is_wrong_with_it(scene: Scene) -> None:
    scene.grant(["SELECT ON *.*"])
    with client(scene.server, "app") as connection:
        assert connection.ask(b"P\t0\td\tnone\t\tid") == b"1\t1\topen_table"
        assert connection.ask(b"P\t0\tmysql\tuser\t\tUser") == b"1\t1\topen_table"
        assert connection.ask(b"P\t0\td\tt\t\tnone") == b"2\t1\tfld"


def test_an_index_is_opened_with_columns_of_which_the_account_may_do_anything(scene: Scene) -> None:
    scene.grant(["SELECT (id) ON d.t", "UPDATE (a) ON d.t"])
    with client(scene.server, "app") as connection:
        opened = {columns: not is_denied(connection.ask(OPEN + columns)) for columns in OPENED_WITH}
    assert opened == OPENED_WITH


def test_the_members_of_a_group_are_checked_one_by_one(scene: Scene) -> None:
    scene.grant(["SELECT ON d.t"])
    scene.fill()
    with client(scene.server, "app") as connection:
        assert connection.ask(OPEN + b"id,a") == OK
        replies = connection.ask_all(b"G", b"0\t=\t1\t1", b"0\t+\t1\t7", b"E")
        assert replies == [OK, b"1\t1\tgroup", b"1\t1\t1142", b"1\t1\tgroup"]
    assert scene.server.value("SELECT COUNT(*) FROM d.t") == 1


# ---- as whom


@pytest.mark.parametrize("user", ["reader", "rowsocket"])
def test_an_account_may_not_kill_a_worker_that_serves_it(scene: Scene, user: str) -> None:
    """Whatever its name is."""
    scene.fill()
    with account(scene.server, f"{user}@localhost", grants=["SELECT ON d.t"]):
        session = pymysql.connect(unix_socket=str(scene.server.socket), user=user, password=PASSWORD)
        with (
            contextlib.closing(session),
            session.cursor() as cursor,
            client(scene.server, user) as connection,
        ):
            assert connection.ask_all(OPEN + b"id", b"0\t=\t1\t1") == [OK, b"0\t1\t1"]
            workers = scene.server.sql(
                "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'"
            )
            assert workers
            for (worker,) in workers:
                with pytest.raises(pymysql.err.MySQLError):
                    cursor.execute(f"KILL {worker}")
            assert cursor.execute("SHOW PROCESSLIST") == 1
            assert connection.ask(b"0\t=\t1\t1") == b"0\t1\t1"


def test_current_user_in_defaults_and_triggers_is_the_account(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE who (id INT PRIMARY KEY, by_default VARCHAR(99) DEFAULT (CURRENT_USER()))")
    with contextlib.ExitStack() as stack:
        for user in ("one", "two"):
            server.sql(f"CREATE USER {user}@localhost IDENTIFIED BY '{PASSWORD}'")
            server.sql(f"GRANT SELECT, INSERT ON d.who TO {user}@localhost")
        anonymous = stack.enter_context(server.raw("write"))
        clients = [stack.enter_context(client(server, user)) for user in ("one", "two")]
        connections = [anonymous, *clients]
        for connection in connections:
            assert connection.ask(b"P\t0\td\twho\t\tid") == OK
        for number in range(60):  # together, so that they share commits
            connections[number % 3].send(b"0\t+\t1\t%d\n" % number)
        for number in range(60):
            assert connections[number % 3].line() == OK
    users = database.sql("SELECT id % 3, by_default, COUNT(*) FROM who GROUP BY 1, 2")
    assert sorted(users) == [(0, "root@localhost", 20), (1, "one@localhost", 20), (2, "two@localhost", 20)]


def test_a_trigger_runs_as_its_definer_as_in_sql(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, who VARCHAR(99))")
    database.sql(
        "CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW "
        "SET NEW.who = CONCAT(CURRENT_USER(), ' for ', USER())"
    )
    server.sql(f"CREATE USER app@localhost IDENTIFIED BY '{PASSWORD}'")
    server.sql("GRANT INSERT ON d.t TO app@localhost")
    with client(server, "app") as connection:
        assert connection.ask_all(b"P\t0\td\tt\t\tid", b"0\t+\t1\t1") == [OK, OK]
    session = pymysql.connect(unix_socket=str(server.socket), user="app", password=PASSWORD, autocommit=True)
    with contextlib.closing(session), session.cursor() as cursor:
        cursor.execute("INSERT INTO d.t (id) VALUES (2)")
    assert database.sql("SELECT who FROM t GROUP BY who") == [("root@localhost for app@localhost",)]


def test_session_user_in_defaults_and_triggers_is_what_it_is_in_sql(start: Start) -> None:
    server = start(RowSocketServer)
    database = Database(server, "d")
    database.sql(
        "CREATE TABLE t"
        " (id INT PRIMARY KEY, who VARCHAR(99), by_default VARCHAR(99) DEFAULT (SESSION_USER()))"
    )
    database.sql("CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW SET NEW.who = SESSION_USER()")
    for number, user in enumerate(("one", "two")):
        server.sql(f"CREATE USER {user}@localhost IDENTIFIED BY '{PASSWORD}'")
        server.sql(f"GRANT INSERT ON d.t TO {user}@localhost")
        with client(server, user) as connection:
            assert connection.ask_all(b"P\t0\td\tt\t\tid", b"0\t+\t1\t%d" % number) == [OK, OK]
    assert database.sql("SELECT who, by_default FROM t ORDER BY who") == [
        ("one@localhost", "one@localhost"),
        ("two@localhost", "two@localhost"),
    ]
