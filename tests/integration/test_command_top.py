# SPDX-License-Identifier: GPL-2.0-only
"""`rowsocket top` on real servers: its figures of a known load, and its picture at a terminal."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

import rowsocket
from rowsocket.cli.activity import Activity
from rowsocket.cli.watching import Watcher
from support.accounts import PASSWORD, account
from support.command_page import command_runner, environment_of, runner, sql_url
from support.mariadb import RowSocketServer, Start
from support.plugin import EmptyServer, changed, make_table
from support.schema_tables import seen
from support.terminals import HOME, SHOWN, Terminal


@pytest.fixture
def busy(start: Start) -> RowSocketServer:
    """A server with a table, that measures times."""
    server = start(RowSocketServer, {"loose-rowsocket-request-times": 1})
    make_table(server)
    return server


@pytest.fixture
def watcher(busy: RowSocketServer) -> Iterator[Watcher]:
    with contextlib.closing(Watcher(sql_url(busy))) as watcher:
        yield watcher


def next_of(watcher: Watcher) -> Activity:
    did = watcher.next()
    assert did is not None
    return did


def number(rate: float, did: Activity) -> int:
    """How many there were, of a rate with one digit behind the point."""
    assert did.seconds < 9
    return round(rate * did.seconds)


@contextlib.contextmanager
def load(server: RowSocketServer) -> Iterator[None]:
    """Finds of app.t, one after the other, until the end. The first one has its answer."""
    begun, stop = threading.Event(), threading.Event()

    def ask() -> None:
        with rowsocket.connect(*server.read_address()) as client:
            index = client.open_index("app", "t", "k,v")
            while not stop.is_set():
                index.get(1)
                begun.set()

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        assert begun.wait(120)
        yield
    finally:
        stop.set()
        thread.join()


def top(
    server: RowSocketServer, *words: str, columns: int = 100, lines: int = 30, before: Sequence[str] = ()
) -> Terminal:
    """The command at a terminal."""
    command = [*before, sys.executable, "-m", "rowsocket", "top", "--interval", "0.1", *words]
    return Terminal(command, environment_of(server, ROWSOCKET_SQL=sql_url(server)), columns, lines)


def shows(terminal: Terminal, *texts: str) -> None:
    """Wait for a picture that has all of these."""
    terminal.until(f"shows {texts}", lambda: all(text in "\n".join(terminal.picture()) for text in texts))


# ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_known_load_is_told_as_it_was(busy: RowSocketServer, watcher: Watcher) -> None:
    with rowsocket.connect(*busy.write_address()) as client:
        index = client.open_index("app", "t", "k,v")
        index.get(1)
        watcher.begin()
        for _ in range(300):
            index.find(1, ">=", limit=2)
        for key in range(10, 60):
            index.insert((key, "x"))
        index.delete(10)
        with contextlib.suppress(rowsocket.errors.DuplicateKey):
            index.insert((1, "x"))
        did = next_of(watcher)

        [one] = did.tables
        assert (one.schema, one.table, one.index) == ("app", "t", "PRIMARY")
        assert number(one.requests_per_s, did) == 352
        assert number(one.rows_sent_per_s, did) == 600
        assert number(one.rows_changed_per_s, did) == 51
        assert number(one.errors_per_s, did) == 1
        assert one.time_us is not None
        assert one.time_us > 0
        assert {times.operation: number(times.requests_per_s, did) for times in did.times} == {
            "find": 300,
            "insert": 51,
            "delete": 1,
        }
        assert number(did.status["requests_find_per_s"], did) == 300
        assert number(did.status["errors_engine_per_s"], did) == 1
        [client_told] = did.clients
        assert (client_told.protocol, client_told.port, client_told.tls) == ("handlersocket", "write", None)
        assert number(client_told.requests_per_s, did) == 352
        assert did.notes == ()


def test_times_are_those_of_the_last_interval(busy: RowSocketServer, watcher: Watcher) -> None:
    """A slow request of the interval before is not in them."""
    with rowsocket.connect(*busy.write_address()) as client, busy.connect() as session:
        index = client.open_index("app", "t", "k,v")
        watcher.begin()
        with session.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("UPDATE app.t SET n = 1 WHERE k = 1")
            waits = threading.Thread(target=index.update, args=(1, {"v": "slow"}))
            waits.start()
            busy.wait_until("it waits", lambda: bool(seen(busy, "CONNECTIONS", "STATE = 'waiting'")))
            time.sleep(0.05)  # is what it takes
            session.commit()
            waits.join()
        after_slow = next_of(watcher)
        for _ in range(100):
            index.update(2, {"v": "quick"})
        after_quick = next_of(watcher)

    [slow], [quick] = after_slow.times, after_quick.times
    assert slow.operation == quick.operation == "update"
    assert number(slow.requests_per_s, after_slow) == 1
    assert number(quick.requests_per_s, after_quick) == 100
    assert slow.p50_us == slow.p99_us == slow.max_us
    assert slow.p50_us is not None
    assert slow.p50_us > 50_000


def test_counts_that_begin_anew_are_not_negative(busy: RowSocketServer, watcher: Watcher) -> None:
    with rowsocket.connect(*busy.read_address()) as client:
        index = client.open_index("app", "t", "k,v")
        for _ in range(50):
            index.get(1)
        watcher.begin()
        busy.sql("FLUSH LOCAL ROWSOCKET_TABLES")
        busy.sql("FLUSH LOCAL ROWSOCKET_LATENCY")
        for _ in range(7):
            index.get(1)
        did = next_of(watcher)
        assert number(did.tables[0].requests_per_s, did) == 7
        assert number(did.times[0].requests_per_s, did) == 7


def test_what_an_account_does_not_see_is_said_and_the_rest_is_shown(
    busy: RowSocketServer, watcher: Watcher
) -> None:
    url = f"mysql://app:{PASSWORD}@/?unix_socket={busy.socket}".replace(" ", "%20")
    with load(busy), account(busy, "app@localhost"):
        done = runner(busy, ROWSOCKET_SQL=url)("top", "--interval", "0.1", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    assert "TABLES and TIMES: only tables that this account has a right on" in done.stdout
    assert "CLIENTS: only those of this user" in done.stdout
    assert "TABLES: nothing was asked" in done.stdout
    assert "per second: requests" in done.stdout


@pytest.mark.parametrize("how", ["itself", "by a role"])
def test_an_account_that_sees_all_is_told_so_by_silence(busy: RowSocketServer, how: str) -> None:
    rights = "PROCESS, SHOW VIEW ON *.*"
    url = f"mysql://app:{PASSWORD}@/?unix_socket={busy.socket}".replace(" ", "%20")
    with load(busy), account(busy, "app@localhost", grants=[rights] if how == "itself" else []):
        if how == "by a role":
            for statement in ("CREATE ROLE r", f"GRANT {rights} TO r", "GRANT r TO app@localhost"):
                busy.sql(statement)
            busy.sql("SET DEFAULT ROLE r FOR app@localhost")
        done = runner(busy, ROWSOCKET_SQL=url)("top", "--interval", "1", "--json")
    told = json.loads(done.stdout)
    assert told["notes"] == []
    assert (len(told["tables"]), len(told["clients"])) == (1, 1)


def test_what_is_switched_off_is_said(busy: RowSocketServer, watcher: Watcher) -> None:
    run = runner(busy, ROWSOCKET_SQL=sql_url(busy))
    with changed(busy, request_times=0):
        assert "TIMES: not measured; SET GLOBAL" in run("top", "--interval", "0.1", "--once").stdout
    with changed(busy, statistics=0):
        assert "TIMES: not counted; SET GLOBAL" in run("top", "--interval", "0.1", "--once").stdout


def test_a_server_without_the_tables_says_so_and_the_rest_is_shown(start: Start) -> None:
    server = start(EmptyServer, {})
    url = sql_url(server)
    absent = command_runner()("--sql", url, "top", "--once")
    server.sql("INSTALL PLUGIN rowsocket SONAME 'rowsocket'")
    done = command_runner()("--sql", url, "top", "--interval", "0.1", "--once")

    assert (absent.returncode, "is the plugin loaded?" in absent.stderr) == (4, True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("INSTALL SONAME 'rowsocket'") == 3
    assert "per second: requests" in done.stdout


def test_json_has_all_of_it(busy: RowSocketServer, watcher: Watcher) -> None:
    with load(busy):
        run = runner(busy, ROWSOCKET_SQL=sql_url(busy))
        done = run("top", "--interval", "1", "--json")
    told = json.loads(done.stdout)
    assert told["requests_find_per_s"] > 0
    assert told["connections_read"] == 1
    assert told["times"][0]["operation"] == "find"
    assert 0 < told["times"][0]["p50_us"] <= told["times"][0]["p99_us"] <= told["times"][0]["max_us"]
    assert told["tables"][0]["table"] == "t"
    assert told["tables"][0]["requests_per_s"] > 0
    assert told["clients"][0]["requests_per_s"] > 0
    assert told["seconds"] >= 0.2
    assert told["notes"] == []


def test_once_ends_with_one_end_of_line(busy: RowSocketServer) -> None:
    done = runner(busy, ROWSOCKET_SQL=sql_url(busy))("top", "--interval", "0.1", "--once")
    assert done.stdout.endswith("\n")
    assert not done.stdout.endswith("\n\n")
    assert "\x1b" not in done.stdout


def test_only_so_many_are_printed(busy: RowSocketServer) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(rowsocket.connect(*busy.read_address()))
        run = runner(busy, ROWSOCKET_SQL=sql_url(busy))
        few = run("top", "--interval", "0.1", "--once", "--rows", "2").stdout
        told = json.loads(run("top", "--interval", "0.1", "--json", "--rows", "2").stdout)
        everything = run("top", "--interval", "0.1", "--once", "--rows", "0").stdout
    assert "... and 3 more" in few
    assert len(told["clients"]) == 2
    assert "more" not in everything


# ── the picture ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_picture_has_times_tables_and_clients_and_q_ends_it(busy: RowSocketServer) -> None:
    with load(busy), top(busy) as terminal:
        shows(terminal, "TIMES", "find", "app.t  ", "handlersocket  read", "requests/s")
        assert all(len(line) <= 100 for line in terminal.picture())
        assert terminal.is_raw()
        terminal.type("q")
        assert terminal.end() == 0
        assert not terminal.is_raw()
    assert terminal.text.endswith("\x1b[?1049l")


@pytest.mark.parametrize(("columns", "lines"), [(40, 12), (80, 24), (20, 5), (1, 1)])
def test_the_picture_fits_its_terminal(busy: RowSocketServer, columns: int, lines: int) -> None:
    with load(busy), top(busy, columns=columns, lines=lines) as terminal:
        terminal.until("two pictures", lambda: terminal.text.count(SHOWN) > 2)
        assert len(terminal.picture()) <= lines
        assert max(map(len, terminal.picture())) <= columns, terminal.picture()
        assert "\n" not in terminal.text.replace("\r\n", "")
        # Behind a full line the cursor stands on its last character, which would be erased.
        assert not re.search(r"[^\n]\x1b\[\d?[KJ]", terminal.text.replace(HOME, "\n"))
        terminal.type("q")
        assert terminal.end() == 0


def test_another_size_is_another_picture_at_once(busy: RowSocketServer) -> None:
    with load(busy), top(busy, "--interval", "0.3") as terminal:
        shows(terminal, "app.t  ", "looked at/s")
        terminal.resize(44, 20)
        terminal.until("it is narrow", lambda: all(len(line) <= 44 for line in terminal.picture()))
        terminal.resize(120, 20)
        shows(terminal, "looked at/s")
        terminal.type("q")
        assert terminal.end() == 0


def test_a_server_that_goes_and_comes_back(busy: RowSocketServer) -> None:
    with top(busy) as terminal:
        shows(terminal, "TABLES")
        busy.stop()
        shows(terminal, "no figures, trying again")
        busy.start()
        shows(terminal, "TABLES", "nobody is connected")
        terminal.type("q")
        assert terminal.end() == 0


def test_a_picture_without_data(busy: RowSocketServer) -> None:
    with top(busy) as terminal:
        shows(terminal, "TIMES: no times", "TABLES: nothing was asked", "CLIENTS: nobody is connected")
        terminal.send(signal.SIGINT)
        assert terminal.end() == 0


def test_a_signal_gives_the_terminal_back(busy: RowSocketServer) -> None:
    with top(busy) as terminal:
        shows(terminal, "TABLES")
        terminal.send(signal.SIGTERM)
        assert terminal.end() == 128 + signal.SIGTERM
        assert not terminal.is_raw()
    assert terminal.text.endswith("\x1b[?1049l")


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(busy: RowSocketServer) -> None:
    shell = ["bash", "-c", 'set -m; "$@"; echo it stands; read; fg', "bash"]
    with top(busy, before=shell) as terminal:
        shows(terminal, "TABLES")
        terminal.type("\x1a")
        terminal.until("the shell goes on", lambda: "it stands" in terminal.text)
        assert "\x1b[?1049l" in terminal.text
        assert not terminal.is_raw()
        terminal.type("\n")
        terminal.until("it is back", lambda: terminal.text.count("\x1b[?1049h") == 2)
        terminal.type("q")
        assert terminal.end() == 0
        assert not terminal.is_raw()


def test_without_a_terminal_pictures_follow_one_another_until_nobody_reads(busy: RowSocketServer) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "rowsocket", "top", "--interval", "0.1"],
        env=environment_of(busy, ROWSOCKET_SQL=sql_url(busy)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        pictures = 0
        while pictures < 3:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            assert "\x1b" not in line
            pictures += line.startswith("RowSocket on")
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == -signal.SIGPIPE
