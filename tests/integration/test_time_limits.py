# SPDX-License-Identifier: GPL-2.0-only
"""Requests that take long: max_statement_time ends them with 1969, KILL QUERY with 1317 or 188, and nothing
is done."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import rowsocket
from rowsocket import Connection, Filter, Index, TextRow
from support.accounts import OK, PASSWORD, account, client
from support.kills import kill_all
from support.mariadb import Database, RowSocketServer, Start

ROWS = 100_000


@pytest.fixture
def limited(start: Start) -> RowSocketServer:
    """A server whose statements end after 0.3 seconds, with a large table `d.t` and one of a row, `d.one`."""
    server = start(RowSocketServer, {"innodb-lock-wait-timeout": 50})
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, KEY n (n))")
    database.sql(f"INSERT INTO t SELECT seq, 0 FROM seq_1_to_{ROWS}")
    database.sql("CREATE TABLE one (id INT PRIMARY KEY, n INT NOT NULL)")
    database.sql("INSERT INTO one VALUES (1, 0)")
    server.sql("SET GLOBAL max_statement_time = 0.3")  # for sessions that begin from here on
    return server


@pytest.fixture
def writer(limited: RowSocketServer) -> Iterator[Connection]:
    """A client on the write port of `limited`."""
    with rowsocket.connect(*limited.write_address(), timeout=120, text=True) as connection:
        yield connection


def walk_for_ever(index: Index[TextRow]) -> list[TextRow]:
    """Walk over all rows ten thousand times, and find none."""
    return index.find_in([0] * 10_000, filters=[Filter("id", "=", -1)])


def killed_walk(
    server: RowSocketServer, index: Index[TextRow]
) -> pytest.ExceptionInfo[rowsocket.EngineError]:
    """What a walk ends with that somebody kills while it is under way."""
    with ThreadPoolExecutor(1) as thread:
        walk = thread.submit(walk_for_ever, index)

        def killed() -> bool:
            kill_all(server, "KILL QUERY")
            return walk.done()

        server.wait_until("the walk ends", killed)
        with pytest.raises(rowsocket.EngineError) as refused:
            walk.result()
    return refused


def number_of(refused: pytest.ExceptionInfo[rowsocket.EngineError]) -> int | None:
    return refused.value.number


@pytest.mark.parametrize("port", ["read", "write"])
def test_a_long_walk_ends_after_max_statement_time(limited: RowSocketServer, port: str) -> None:
    address = limited.read_address() if port == "read" else limited.write_address()
    with rowsocket.connect(*address, timeout=120, text=True) as connection:
        index = connection.open_index("d", "t", "id", "n", filter_columns="id")
        with pytest.raises(rowsocket.EngineError) as refused:
            walk_for_ever(index)
        assert number_of(refused) == 1969
        assert index.get(0) == ("1",)


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MEMORY"])
def test_a_long_walk_ends_at_kill_query(limited: RowSocketServer, writer: Connection, engine: str) -> None:
    limited.sql("SET GLOBAL max_statement_time = 0")
    if engine != "InnoDB":  # which looks itself whether it was killed
        limited.sql("DROP TABLE d.t")
        limited.sql(f"CREATE TABLE d.t (id INT PRIMARY KEY, n INT, KEY n (n) USING BTREE) ENGINE={engine}")
        limited.sql(f"INSERT INTO d.t SELECT seq, 0 FROM seq_1_to_{ROWS}", database="d")
    index = writer.open_index("d", "t", "id", "n", filter_columns="id")
    refused = killed_walk(limited, index)
    assert number_of(refused) in (1317, 188)  # noticed between two rows, or within the engine
    assert index.count(0, limit=7) == 7


def test_a_walk_that_passes_over_every_row_ends_at_kill_query(
    limited: RowSocketServer, writer: Connection
) -> None:
    limited.sql("SET GLOBAL max_statement_time = 0")
    # An engine that does not look itself whether it was killed.
    limited.sql("CREATE TABLE d.p (id INT PRIMARY KEY, n VARCHAR(9), KEY n (n(1)) USING BTREE) ENGINE=MEMORY")
    limited.sql(f"INSERT INTO d.p SELECT seq, CONCAT('0', seq) FROM seq_1_to_{ROWS}", database="d")
    index = writer.open_index("d", "p", "id", "n", filter_columns="id")
    assert number_of(killed_walk(limited, index)) in (1317, 188)
    assert index.count("01") == 1


def test_a_locked_row_is_waited_for_no_longer_than_max_statement_time(
    limited: RowSocketServer, writer: Connection
) -> None:
    index = writer.open_index("d", "one", "n")
    with limited.connect("d") as connection, connection.cursor() as sql:
        sql.execute("SET SESSION max_statement_time = 0")
        sql.execute("BEGIN")
        sql.execute("UPDATE one SET n = 5")
        with pytest.raises(rowsocket.EngineError) as refused:
            index.increment(1, [1])
        assert number_of(refused) == 1969
        sql.execute("ROLLBACK")
    assert index.increment(1, [1]) == 1
    assert limited.sql("SELECT n FROM d.one") == [(1,)]


def test_a_trigger_that_takes_long_undoes_its_request_and_no_other(
    limited: RowSocketServer, writer: Connection
) -> None:
    limited.sql(
        "CREATE TRIGGER d.slow BEFORE UPDATE ON d.one FOR EACH ROW SET @slept = IF(NEW.n > 10, SLEEP(100), 0)"
    )
    index = writer.open_index("d", "one", "n")
    with writer.pipeline() as pipe:
        promised = [pipe.update(index, 1, [n]) for n in (1, 11, 2)]
    assert [str(one.error) for one in promised] == ["None", "1 1969", "None"]
    assert limited.sql("SELECT n FROM d.one") == [(2,)]


@pytest.mark.parametrize(
    ("own_s", "global_s", "is_ended"),
    [(0.3, 0.3, True), (0.3, 0, True), (0.3, 50, True), (50, 0.3, False), (0, 0.3, True), (0, 0, False)],
)
def test_an_account_has_the_limit_that_it_had_when_it_logged_in(
    limited: RowSocketServer, own_s: float, global_s: float, is_ended: bool
) -> None:
    """Its own MAX_STATEMENT_TIME is in force whatever the server's becomes, also where both were the same."""
    limited.sql(
        "CREATE TRIGGER d.slow BEFORE UPDATE ON d.one FOR EACH ROW SET @slept = IF(NEW.n > 10, SLEEP(1), 0)"
    )
    own = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_STATEMENT_TIME {own_s}"
    with account(limited, "app@localhost", own, ["ALL ON d.*"]), client(limited, "app") as connection:
        limited.sql("SET GLOBAL max_statement_time = %s", (global_s,))
        assert connection.ask(b"P\t0\td\tone\t\tn") == OK
        assert connection.ask(b"0\t=\t1\t1\t1\t0\tU\t1") == b"0\t1\t1"
        slow = connection.ask(b"0\t=\t1\t1\t1\t0\tU\t11")
        assert slow == (b"1\t1\t1969" if is_ended else b"0\t1\t1")


def test_clients_of_one_worker_have_each_their_own_limit(limited: RowSocketServer) -> None:
    limited.sql("SET GLOBAL max_statement_time = 0")
    limited.sql(
        "CREATE TRIGGER d.slow BEFORE UPDATE ON d.one FOR EACH ROW SET @slept = IF(NEW.n > 10, SLEEP(1), 0)"
    )
    short = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_STATEMENT_TIME 0.3"
    with (
        account(limited, "short@localhost", short, ["ALL ON d.*"]),
        account(limited, "other@localhost", grants=["ALL ON d.*"]),
        client(limited, "short") as hurried,
        client(limited, "other") as patient,
    ):
        for one in (hurried, patient):
            assert one.ask(b"P\t0\td\tone\t\tn") == OK
        for _ in range(2):
            assert hurried.ask(b"0\t=\t1\t1\t1\t0\tU\t11") == b"1\t1\t1969"
            assert patient.ask(b"0\t=\t1\t1\t1\t0\tU\t11") == b"0\t1\t1"
            assert patient.ask(b"0\t=\t1\t1\t1\t0\tU\t1") == b"0\t1\t1"


def test_a_new_limit_of_an_account_is_for_those_who_log_in_from_then_on(limited: RowSocketServer) -> None:
    """Also while another client of the account, from the same address, is there with the earlier one."""
    limited.sql(
        "CREATE TRIGGER d.slow BEFORE UPDATE ON d.one FOR EACH ROW SET @slept = IF(NEW.n > 10, SLEEP(1), 0)"
    )
    long = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_STATEMENT_TIME 50"
    with account(limited, "app@localhost", long, ["ALL ON d.*"]), client(limited, "app") as earlier:
        limited.sql("ALTER USER app@localhost WITH MAX_STATEMENT_TIME 0.3")
        with client(limited, "app") as later:
            for one in (earlier, later):
                assert one.ask(b"P\t0\td\tone\t\tn") == OK
            assert later.ask(b"0\t=\t1\t1\t1\t0\tU\t11") == b"1\t1\t1969"
            assert earlier.ask(b"0\t=\t1\t1\t1\t0\tU\t11") == b"0\t1\t1"


def test_the_time_of_a_request_ends_with_it(start: Start) -> None:
    """The next request on its thread is of a client who may take as long as he likes."""
    server = start(RowSocketServer, {"rowsocket-threads-write": 1})
    Database(server, "d").script(
        """CREATE TABLE one (id INT PRIMARY KEY, n INT NOT NULL);
        INSERT INTO one VALUES (1, 0);
        CREATE TRIGGER slow BEFORE UPDATE ON one FOR EACH ROW SET @slept = SLEEP(1)"""
    )
    short = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_STATEMENT_TIME 0.3"
    with (
        account(server, "short@localhost", short, ["ALL ON d.*"]),
        account(server, "other@localhost", grants=["ALL ON d.*"]),
        client(server, "short") as hurried,
        client(server, "other") as patient,
    ):
        for one in (hurried, patient):
            assert one.ask(b"P\t0\td\tone\t\tn") == OK
        assert hurried.ask(b"0\t=\t1\t1") == b"0\t1\t0"
        assert patient.ask(b"0\t=\t1\t1\t1\t0\tU\t2") == b"0\t1\t1"
