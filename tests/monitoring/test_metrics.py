# SPDX-License-Identifier: GPL-2.0-only
"""`rowsocket metrics`: what it tells of a server's tables, whose names may be anything; to whom; and what it
does when the server does not tell.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowsocket.cli.catalog import sql_connection
from rowsocket.cli.metrics import RowSocketCollector, export
from support.accounts import PASSWORD, account
from support.command_page import Run, runner, sql_url
from support.commands import run as check
from support.mariadb import Database, RowSocketServer, Start
from support.monitors import (
    ROOT,
    Samples,
    node_exporter,
    program,
    rowsocket_metrics,
    samples_of,
    until,
)
from support.plugin import EmptyServer, changed, make_table, opened
from support.ports import free_ports
from support.schema_tables import flush, seen

PAGE = (ROOT / "docs/monitoring.md").read_text()
SERVICE = (ROOT / "packaging/monitoring/rowsocket-metrics.service").read_text()
AWAY = "mysql://root@127.0.0.1:1"
NAMES = ["it's", 'quo"te', "back\\slash", "{x=1,}", "größe", "表", "a" * 64]
CONTROLS = "two\nlines\r\t\\n"
"""Names of tables are not escaped on the wire, so that none has these. An index can be opened by number."""


@pytest.fixture
def told(server: RowSocketServer, database: Database) -> Iterator[Database]:
    """A fresh database, and nothing else that was asked for."""
    flush(server, "TABLES")
    flush(server, "LATENCY")
    with changed(server, request_times=1):
        yield database


def use(server: RowSocketServer, database: Database, table: str, finds: int) -> None:
    """Make a table, and look for something in it."""
    name = table.replace("`", "``")
    with database.session() as session:
        session.execute(f"CREATE TABLE `{name}` (k INT PRIMARY KEY, v INT)")
    with server.raw("read") as client:
        assert client.tokens("P", 1, database.name, table, "", "k,v") == [b"0", b"1"], repr(table)
        for key in range(finds):
            assert client.tokens(1, "=", 1, key) == [b"0", b"2"]


def metrics(run: Run, *options: str, url: str | None = None) -> Samples:
    """What the command prints."""
    done = run("metrics", *options, **({} if url is None else {"ROWSOCKET_SQL": url}))
    assert (done.returncode, done.stderr) == (0, "")
    return samples_of(done.stdout)


@pytest.fixture
def run(server: RowSocketServer) -> Run:
    return runner(server, ROWSOCKET_SQL=sql_url(server))


def finds_of(samples: Samples) -> dict[tuple[str, str], float]:
    """The number of finds of each schema and table."""
    return {
        (dict(labels)["schema"], dict(labels)["table"]): value
        for (name, labels), value in samples.items()
        if name == "rowsocket_table_requests_total" and ("operation", "find") in labels
    }


def test_a_name_may_be_anything(server: RowSocketServer, told: Database, run: Run) -> None:
    for number, name in enumerate(NAMES, start=1):
        use(server, told, name, number)
    assert finds_of(metrics(run)) == {(told.name, name): number for number, name in enumerate(NAMES, start=1)}


def test_the_name_of_an_index_may_have_ends_of_lines(
    server: RowSocketServer, told: Database, run: Run, tmp_path: Path
) -> None:
    told.sql(f"CREATE TABLE t (k INT PRIMARY KEY, v INT, KEY `{CONTROLS}` (v))")
    with server.raw("read") as client:
        assert client.tokens("P", 1, told.name, "t", "1", "k,v") == [b"0", b"1"]
        assert client.tokens(1, "=", 1, 1) == [b"0", b"2"]
    file = tmp_path / "rowsocket.prom"
    assert run("metrics", "--textfile", str(file)).returncode == 0
    samples = samples_of(file.read_bytes().decode())
    assert ("index", CONTROLS) in {label for _, labels in samples for label in labels}
    check([program("promtool"), "check", "metrics"], standard_input=file)


def test_the_indexes_that_were_used_most_are_told(server: RowSocketServer, told: Database, run: Run) -> None:
    for number in range(1, 6):
        use(server, told, f"t{number}", number)
    samples = metrics(run, "--indexes", "2")
    assert finds_of(samples) == {(told.name, "t5"): 5, (told.name, "t4"): 4}
    assert samples[("rowsocket_indexes_left_out", frozenset())] == 3
    assert {
        dict(labels)["table"] for name, labels in samples if name == "rowsocket_table_seconds_bucket"
    } == {
        "t4",
        "t5",
    }


def test_who_may_see_less_is_told_less(server: RowSocketServer, told: Database, run: Run) -> None:
    for table in ("open", "shut"):
        use(server, told, table, 1)
    url = f"mysql://watcher:{PASSWORD.replace(' ', '%20')}@/?unix_socket={server.socket}"
    with server.raw("read"), account(server, "watcher@localhost"):
        until("somebody is connected", lambda: seen(server, "CONNECTIONS"))
        none = metrics(run, url=url)
        server.sql(f"GRANT SELECT ON {told.name}.open TO watcher@localhost")
        some = metrics(run, url=url)
        server.sql("GRANT PROCESS, SHOW VIEW ON *.* TO watcher@localhost")
        all_ = metrics(run, url=url)
    assert none[("rowsocket_up", frozenset())] == 1
    assert finds_of(none) == {}
    assert finds_of(some) == {(told.name, "open"): 1}
    assert finds_of(all_) == {(told.name, "open"): 1, (told.name, "shut"): 1}
    clients = [any(name == "rowsocket_clients" for name, _ in samples) for samples in (none, some, all_)]
    assert clients == [False, False, True]


def test_errors_and_rows_are_told_as_the_server_counts_them(
    server: RowSocketServer, told: Database, run: Run
) -> None:
    told.sql("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20))")
    told.sql("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    with server.raw("write") as client:
        opened(client, told.name)
        client.ask_all(b"1\t>=\t1\t1\t10\t0", b"1\t+\t2\t3\tthree", b"1\t+\t2\t3\tagain")
    samples = metrics(run)
    [row] = seen(server, "TABLES")
    place = {"schema": told.name, "table": "t", "index": "PRIMARY"}
    assert row["ROWS_EXAMINED"] > 0 and row["ROWS_SENT"] == 2 and row["ROWS_CHANGED"] == 1
    for column in ("ROWS_EXAMINED", "ROWS_SENT", "ROWS_CHANGED"):
        name = f"rowsocket_table_{column.lower()}_total"
        assert samples[(name, frozenset(place.items()))] == row[column]
    errors = {
        dict(labels)["code"]: value
        for (name, labels), value in samples.items()
        if name == "rowsocket_table_errors_total"
    }
    assert " ".join(f"{code}={value:.0f}" for code, value in errors.items()) == row["ERROR_CODES"]
    assert sum(errors.values()) == row["ERRORS"] == 1


def test_times_are_those_of_the_server_in_wider_buckets(
    server: RowSocketServer, told: Database, run: Run
) -> None:
    use(server, told, "t", 200)
    samples = metrics(run)
    rows = [row for row in seen(server, "LATENCY") if row["OPERATION"] == "find"]
    buckets = {
        float(dict(labels)["le"]): value
        for (name, labels), value in samples.items()
        if name == "rowsocket_table_seconds_bucket" and ("operation", "find") in labels
    }
    assert len(buckets) == 28
    for bound, count in buckets.items():
        assert count == sum(
            row["REQUESTS"] for row in rows if float(row["BELOW_US"] or "inf") <= bound * 1e6 * (1 + 1e-9)
        )
    assert buckets[float("inf")] == 200
    [average_us] = [
        float(row["AVERAGE_US"]) for row in seen(server, "PERCENTILES") if row["OPERATION"] == "find"
    ]
    [total_s] = [
        value
        for (name, labels), value in samples.items()
        if name == "rowsocket_table_seconds_sum" and ("operation", "find") in labels
    ]
    assert average_us * 200 <= total_s * 1e6 <= average_us * 200 * 1.13


# ── a server that does not tell ─────────────────────────────────────────────────────────────────────────────


def test_a_server_that_is_away_is_told_and_is_the_exit_code(run: Run) -> None:
    done = run("metrics", ROWSOCKET_SQL=AWAY)
    assert done.returncode == 4
    assert samples_of(done.stdout) == {("rowsocket_up", frozenset()): 0}
    assert re.fullmatch(r"rowsocket: SQL: .*127\.0\.0\.1.*\n", done.stderr)


def test_a_server_without_the_plugin_is_told(start: Start, run: Run) -> None:
    done = run("metrics", ROWSOCKET_SQL=sql_url(start(EmptyServer)))
    assert done.returncode == 4
    assert samples_of(done.stdout) == {("rowsocket_up", frozenset()): 0}
    assert "ROWSOCKET_TABLES" in done.stderr.upper()


def test_who_is_denied_is_told_what_is_missing(server: RowSocketServer, run: Run, tmp_path: Path) -> None:
    """The server's no is another exit code than its silence, and the password is not said."""
    url = f"mysql://nobody:hush@/?unix_socket={server.socket}"
    file = tmp_path / "rowsocket.prom"
    printed, written = (
        run("metrics", ROWSOCKET_SQL=url),
        run("metrics", "--textfile", str(file), ROWSOCKET_SQL=url),
    )
    assert (printed.returncode, written.returncode) == (3, 3)
    assert samples_of(printed.stdout) == samples_of(file.read_text()) == {("rowsocket_up", frozenset()): 0}
    for done in (printed, written):
        assert "Access denied" in done.stderr
        assert "GRANT PROCESS, SHOW VIEW ON *.* TO 'nobody'@'localhost'" in done.stderr
        assert "hush" not in done.stderr + done.stdout


def test_a_database_that_the_account_may_not_enter_is_a_refusal(server: RowSocketServer, run: Run) -> None:
    with account(server, "watcher@localhost"):
        url = f"mysql://watcher:{PASSWORD.replace(' ', '%20')}@/mysql?unix_socket={server.socket}"
        done = run("metrics", ROWSOCKET_SQL=url)
    assert (done.returncode, "to database 'mysql'" in done.stderr) == (3, True), done.stderr


def test_too_many_connections_are_a_refusal_that_no_grant_mends(server: RowSocketServer, run: Run) -> None:
    options = f"IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 1"
    with account(server, "watcher@localhost", options):
        url = f"mysql://watcher:{PASSWORD.replace(' ', '%20')}@/?unix_socket={server.socket}"
        with contextlib.closing(sql_connection(url)):
            done = run("metrics", ROWSOCKET_SQL=url)
    assert (done.returncode, "max_user_connections" in done.stderr) == (3, True), done.stderr
    assert "GRANT" not in done.stderr


def test_it_serves_on_and_tells_when_the_server_comes_back(start: Start, tmp_path: Path) -> None:
    server = start(RowSocketServer)
    up = ("rowsocket_up", frozenset[tuple[str, str]]())
    with rowsocket_metrics(sql_url(server), tmp_path) as monitor:
        assert monitor.samples()[up] == 1
        server.stop()
        assert monitor.samples() == {up: 0}
        server.start()
        assert monitor.samples()[up] == 1
        assert "SQL: " in monitor.log()


def test_it_listens_until_ctrl_c_and_no_longer() -> None:
    """Also in a shell, whose process goes on."""
    [port] = free_ports(1)
    address = f"127.0.0.1:{port}"

    def ask() -> str:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            return str(answer.read().decode())

    def interrupt() -> None:
        until("it answers", lambda: answers(ask))
        os.kill(os.getpid(), signal.SIGINT)

    asking = threading.Thread(target=interrupt)
    asking.start()
    export(RowSocketCollector(AWAY, 1), address, None)
    asking.join()
    with pytest.raises(OSError, match="refused"):
        ask()


def answers(ask: Callable[[], str]) -> bool:
    """Whether it listens yet."""
    try:
        return "rowsocket_up 0" in ask()
    except OSError:
        return False


# ── files, and what is asked wrongly ────────────────────────────────────────────────────────────────────────


def test_node_exporter_shows_the_file(
    server: RowSocketServer, told: Database, run: Run, tmp_path: Path
) -> None:
    use(server, told, 'quo"te', 7)
    [line] = re.findall(r"^\$ rowsocket (metrics --textfile \S+)$", PAGE, re.MULTILINE)
    verb, option, file = shlex.split(line)
    files = tmp_path / "files"
    files.mkdir()
    assert run(verb, option, str(files / Path(file).name)).returncode == 0
    with node_exporter(files, tmp_path) as monitor:
        samples = monitor.samples()
        assert finds_of(samples) == {(told.name, 'quo"te'): 7}
        assert samples[("node_textfile_scrape_error", frozenset())] == 0
        own = metrics(run)
        assert {one: samples[one] for one in own if "clients" not in one[0]} == {
            one: own[one] for one in own if "clients" not in one[0]
        }
        assert run(verb, option, str(files / Path(file).name), ROWSOCKET_SQL=AWAY).returncode == 4
        until("it tells that the server is away", lambda: told_of(monitor.samples()) == {"rowsocket_up": 0})
    assert [path.name for path in files.iterdir()] == ["rowsocket.prom"]


def told_of(samples: Samples) -> dict[str, float]:
    """What is RowSocket's."""
    return {name: value for (name, _), value in samples.items() if name.startswith("rowsocket_")}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "9105"], "no HOST:PORT"),
        (["--listen", "127.0.0.1:x"], "no HOST:PORT"),
        (["--listen", "127.0.0.1:1", "--textfile", "x"], "not both"),
        (["--textfile", "/no/such/folder/x.prom"], "No such file or directory"),
        (["--textfile", "x.txt"], "names end with .prom"),
    ],
)
def test_what_can_not_be_done_is_said(run: Run, words: list[str], said: str) -> None:
    done = run("metrics", *words)
    assert (done.returncode, said in done.stderr, done.stdout) == (2, True, ""), done.stderr


def test_a_port_that_is_taken_is_said(server: RowSocketServer, run: Run) -> None:
    done = run("metrics", "--listen", f"127.0.0.1:{server.write_port}")
    assert (done.returncode, "in use" in done.stderr) == (2, True), done.stderr


def test_without_the_library_the_other_verbs_work(
    server: RowSocketServer, database: Database, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "prometheus_client.py").write_text("raise ModuleNotFoundError('no prometheus_client')\n")
    without = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "clients/python/src")])}
    done = run("metrics", **without)
    assert (done.returncode, "rowsocket[metrics]" in done.stderr) == (2, True)
    assert run("latency", "--count", "1", **without).returncode == 0


# ── the page and the service ────────────────────────────────────────────────────────────────────────────────


def test_the_page_has_every_metric_with_its_labels(server: RowSocketServer, start: Start, run: Run) -> None:
    with server.raw("read"):
        until("somebody is connected", lambda: seen(server, "CONNECTIONS"))
        make_and_fail(server)
        found: dict[str, set[str]] = {}
        with changed(server, request_times=1):
            samples = metrics(run)
    for name, labels in samples:
        plain = re.sub(r"_(bucket|sum|count)$", "", name)
        found.setdefault(plain, set()).update(set(dict(labels)) - {"le"})
    rows = re.findall(r"^\| `(rowsocket_\w+)` \| (.*?) \|", PAGE, re.MULTILINE)
    written: dict[str, set[str]] = {}
    for name, labels_text in rows:
        labels_text = labels_text.replace("place", "`schema` `table` `index`")
        same = labels_text == "the same"
        written[name] = written["rowsocket_clients"] if same else set(re.findall(r"`(\w+)`", labels_text))
    assert found == written


def make_and_fail(server: RowSocketServer) -> None:
    """A request that is timed, and one that fails."""
    with changed(server, request_times=1):
        make_table(server, "metrics_page")
        with server.raw("write") as client:
            opened(client, "metrics_page")
            client.ask_all(b"1\t=\t1\t1", b"1\t+\t2\t1\tagain")


def test_the_service_starts_the_command_as_it_says(server: RowSocketServer, tmp_path: Path) -> None:
    settings = dict(line.split("=", 1) for line in SERVICE.splitlines() if "=" in line and line[0] != "#")
    name, _, url = settings["Environment"].partition("=")
    assert name == "ROWSOCKET_SQL"
    url = url.replace("prometheus@", "root@").replace("/run/mysqld/mysqld.sock", str(server.socket))
    command, verb, option, address = settings["ExecStart"].split()
    assert (Path(command).name, verb, option) == ("rowsocket", "metrics", "--listen")
    assert f"localhost:{address.rpartition(':')[2]}" in PAGE
    with rowsocket_metrics(url, tmp_path) as monitor:
        assert monitor.samples()[("rowsocket_up", frozenset())] == 1
