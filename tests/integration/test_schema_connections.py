# SPDX-License-Identifier: GPL-2.0-only
"""information_schema.ROWSOCKET_CONNECTIONS: a row for each client, for those who may see it."""

from __future__ import annotations

import contextlib
import os
import ssl
import threading

import pytest

from support.accounts import account, client
from support.certificates import Authority
from support.locks import wait_for_a_row_lock_wait
from support.mariadb import Database, RowSocketServer, Start
from support.plugin import make_table, opened
from support.raw import RawConnection
from support.resp import RespServer
from support.schema_tables import flush, of_client, rows, seen, session_of

FIND = b"1\t=\t1\t1"
ROW = b"0\t2\t1\tone"


@pytest.fixture
def alone(start: Start) -> RowSocketServer:
    """A server whose only clients are the test's."""
    server = start(RowSocketServer, {"loose-rowsocket-threads-read": 2})
    make_table(server)
    return server


def test_a_client_is_shown_with_what_it_did(alone: RowSocketServer) -> None:
    with alone.raw("read") as reader, alone.raw("write") as writer:
        opened(reader)
        assert reader.ask_all(*[FIND] * 10) == [ROW] * 10
        opened(writer)
        alone.wait_until("both are idle", lambda: not seen(alone, "CONNECTIONS", "STATE <> 'idle'"))
        row = of_client(alone, reader)
        assert row["PROTOCOL"] == "handlersocket"
        assert row["PORT"] == "read"
        assert row["ACCOUNT"] == "root@localhost"
        assert row["TLS_VERSION"] is None
        assert row["TLS_CIPHER"] is None
        assert row["STATE"] == "idle"
        assert row["REQUESTS"] == 11
        assert row["BYTES_RECEIVED"] == len(b"P\t1\tapp\tt\t\tk,v\n") + 10 * (len(FIND) + 1)
        assert row["BYTES_SENT"] == len(b"0\t1\n") + 10 * (len(ROW) + 1)
        assert row["BYTES_HELD"] > 0
        assert row["SECONDS_CONNECTED"] >= row["SECONDS_IDLE"] >= 0
        assert of_client(alone, writer)["PORT"] == "write"
        assert len(seen(alone, "CONNECTIONS")) == 2
        assert row["ID"] != of_client(alone, writer)["ID"]
    alone.wait_until("nobody is shown any more", lambda: not seen(alone, "CONNECTIONS"))


def test_the_seconds_are_those_of_the_client(alone: RowSocketServer) -> None:
    with alone.raw("read") as reader:
        opened(reader)
        alone.wait_until("a second is over", lambda: of_client(alone, reader)["SECONDS_IDLE"] >= 1)
        assert reader.ask(FIND) == ROW
        row = of_client(alone, reader)
        assert row["SECONDS_IDLE"] < row["SECONDS_CONNECTED"]


def test_the_thread_is_the_one_that_kill_takes(alone: RowSocketServer) -> None:
    with alone.raw("read") as reader, alone.raw("write") as writer:
        opened(reader)
        opened(writer)
        thread = of_client(alone, reader)["THREAD_ID"]
        [(host, state)] = alone.sql(
            "SELECT host, state FROM information_schema.processlist WHERE id = %s", [thread]
        )
        assert host == "rowsocket" and "read worker" in state
        alone.sql(f"KILL {thread}")
        assert reader.closed()
        assert opened(writer).ask(FIND) == ROW


def test_half_a_request_is_being_read(alone: RowSocketServer) -> None:
    with alone.raw("read") as reader:
        opened(reader)
        reader.send(FIND)
        alone.wait_until("is shown", lambda: of_client(alone, reader)["STATE"] == "reading")
        reader.send(b"\n")
        assert reader.line() == ROW


def test_a_request_that_waits_for_a_lock_is_shown_with_the_thread_that_waits(
    alone: RowSocketServer,
) -> None:
    database = Database(alone, "beside")
    with alone.raw("write") as writer, alone.raw("write") as other, database.session() as holder:
        opened(writer, columns="n")
        opened(other)
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM app.t WHERE k = 1 FOR UPDATE")
        writer.send(b"1\t=\t1\t1\t1\t0\t+\t1\n")
        wait_for_a_row_lock_wait(alone)
        row = of_client(alone, writer)
        assert row["STATE"] == "waiting"
        [(waiting,)] = alone.sql(
            "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        )
        assert row["THREAD_ID"] == waiting
        holder.execute("COMMIT")
        assert writer.line() == b"0\t1\t1"
        alone.wait_until("is idle", lambda: of_client(alone, writer)["STATE"] == "idle")
        assert of_client(alone, writer)["REQUESTS"] == 2


def test_replies_that_are_not_taken_are_being_sent(alone: RowSocketServer) -> None:
    alone.sql("CREATE TABLE app.long (k INT PRIMARY KEY, v LONGBLOB)")
    alone.sql("INSERT INTO app.long VALUES (1, REPEAT('x', 16000000))")
    with alone.raw("read") as reader:
        assert reader.ask(b"P\t1\tapp\tlong\t\tv") == b"0\t1"
        reader.send(FIND + b"\n")
        alone.wait_until("is shown", lambda: of_client(alone, reader)["STATE"] == "sending")
        row = of_client(alone, reader)
        assert row["BYTES_HELD"] > 1_000_000
        assert len(reader.line()) == 16_000_004
        alone.wait_until("is idle", lambda: of_client(alone, reader)["STATE"] == "idle")


def test_tls_is_shown(secured: RowSocketServer, authority: Authority) -> None:
    for version, name in [(ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")]:
        with secured.raw("write", authority.context(version=version)) as inside:
            assert inside.ask(b"P\t0\td\tt\t\tid,a") == b"0\t1"
            row = of_client(secured, inside)
            assert isinstance(inside.socket, ssl.SSLSocket)
            cipher = inside.socket.cipher()
            assert cipher is not None
            assert (row["TLS_VERSION"], row["TLS_CIPHER"]) == (name, cipher[0])


def test_a_client_of_a_unix_socket_is_shown(secured: RowSocketServer) -> None:
    with RawConnection(str(secured.folder / "write")) as inside:
        assert inside.ask(b"P\t0\td\tt\t\tid,a") == b"0\t1"
        [row] = seen(secured, "CONNECTIONS", "TLS_VERSION IS NULL")
        assert row["ADDRESS"] == f"pid {os.getpid()}"


def test_other_protocols_are_shown_by_their_names(start: Start) -> None:
    server = start(RespServer)
    with server.resp() as redis, server.memcached() as memcached:
        assert redis.command("PING") == b"+PONG\r\n"
        memcached.stats()
        shown = {row["PROTOCOL"]: row["PORT"] for row in seen(server, "CONNECTIONS")}
        assert shown == {"resp": "write", "memcached": "write"}


def test_an_account_sees_its_own_clients_and_with_process_all(alone: RowSocketServer) -> None:
    with (
        account(alone, "ann@localhost", grants=["SELECT ON app.*"]),
        account(alone, "bob@localhost", grants=["SELECT ON app.*"]),
        account(alone, "dba@localhost", grants=["PROCESS ON *.*"]),
        client(alone, "ann", port="read") as of_ann,
        client(alone, "bob", port="read"),
        alone.raw("read"),
    ):
        opened(of_ann)
        accounts = {}
        for user in ("ann", "bob", "dba"):
            with session_of(alone, user) as session:
                accounts[user] = sorted(row["ACCOUNT"] for row in rows(session, "CONNECTIONS"))
        assert accounts == {
            "ann": ["ann@localhost"],
            "bob": ["bob@localhost"],
            "dba": ["ann@localhost", "bob@localhost", "root@localhost"],
        }


def test_who_has_not_said_the_secret_has_no_account(start: Start) -> None:
    server = start(RowSocketServer, {"loose-rowsocket-secret-read": "s"})
    with server.raw("read") as stranger, server.raw("read") as known:
        assert known.ask(b"A\t1\ts") == b"0\t1"
        assert stranger.ask(b"A\t1\twrong") == b"3\t1\tunauth"
        assert of_client(server, stranger)["ACCOUNT"] is None
        assert of_client(server, known)["ACCOUNT"] == "root@localhost"


def test_thousands_of_clients_are_shown_once_each(alone: RowSocketServer) -> None:
    """More than a reader looks at in one go, of each worker; others come and go meanwhile."""
    count = 2000
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            with alone.raw("read"):
                pass

    passer = threading.Thread(target=come_and_go)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(alone.raw("read")) for _ in range(count)]
        addresses = {"{}:{}".format(*one.socket.getsockname()[:2]) for one in clients}
        alone.wait_until("all are there", lambda: alone.counter("connections_read") == count)
        passer.start()
        try:
            for _ in range(10):
                shown = seen(alone, "CONNECTIONS")
                assert len({row["ID"] for row in shown}) == len(shown)
                assert addresses <= {row["ADDRESS"] for row in shown}
        finally:
            stop.set()
            passer.join()


def test_connections_can_not_be_reset(alone: RowSocketServer) -> None:
    with pytest.raises(Exception, match="syntax"):
        flush(alone, "CONNECTIONS")


def test_a_client_whose_account_is_gone_is_shown_without_one(alone: RowSocketServer) -> None:
    with account(alone, "app@localhost"), client(alone, "app") as connection:
        assert of_client(alone, connection)["ACCOUNT"] == "app@localhost"
        alone.sql("DROP USER app@localhost")
        assert of_client(alone, connection)["ACCOUNT"] is None
