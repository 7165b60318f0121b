# SPDX-License-Identifier: GPL-2.0-only
"""The command `rowsocket` on a real server: the examples of docs/command.md, its shell, its exit codes."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import urllib.parse
from collections.abc import Iterator
from unittest.mock import Mock

import pymysql
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import rowsocket
from rowsocket.cli import catalog
from rowsocket.cli.app import app
from rowsocket.cli.catalog import Catalog, is_refusal, rows_of, sql_connection
from rowsocket.cli.shell import NameCompleter, options_of, run_line
from rowsocket.cli.state import State
from rowsocket.cli.words import assignments, column_list, table_name
from support.accounts import PASSWORD, account
from support.command_page import DATABASE, Run, blocks, sql_url
from support.gate import standing_still
from support.mariadb import RowSocketServer


def test_the_examples_of_the_page_print_what_it_says(run: Run) -> None:
    examples = "".join(blocks("console"))
    commands = re.split(r"^\$ rowsocket ", examples, flags=re.MULTILINE)[1:]
    assert len(commands) > 10
    for example in commands:
        command, expected = example.split("\n", 1)
        done = run(*shlex.split(command))
        assert done.stdout + done.stderr == expected, command


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["get", "user", "1", "-c", "id"], 1),
        (["delete", "user", "1"], 1),
        (["set", "user", "1", "name=x"], 1),
        (["get", "user", "1"], 2),  # which columns?
        (["set", "user", "1"], 2),
        (["put", "user", "name"], 2),
        (["get", "nothing", "1", "-c", "id"], 3),
        (["--url", "rowsocket://127.0.0.1:1/shop", "get", "user", "1", "-c", "id"], 4),
    ],
)
def test_scripts_can_tell_by_the_exit_code(run: Run, words: list[str], code: int) -> None:
    done = run(*words)

    assert done.returncode == code


BEYOND = "12345678901234567890123"
"""More than any server takes."""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["find", "user", "0", "--op", ">", "--limit", BEYOND], "--limit"),
        (["find", "user", "0", "--op", ">", "--limit", "9223372036854775808"], "--limit"),
        (["find", "user", "0", "--op", ">", "--limit", "-1"], "--limit"),
        (["find", "user", "0", "--op", ">", "--offset", BEYOND], "--offset"),
        (["find", "user", "0", "--op", ">", "--offset", "-1"], "--offset"),
        (["set", "user", "1", "name=x", "--limit", BEYOND], "--limit"),
        (["delete", "user", "1", "--limit", BEYOND], "--limit"),
        (["delete", "user", "1", "--limit", "-1"], "--limit"),
        (["latency", "--count", BEYOND], "--count"),
        (["latency", "--count", "0"], "--count"),
        (["--url", f"rowsocket://127.0.0.1:{BEYOND}/shop", "latency"], "PORT is 1 to 65535"),
        (["--url", "rowsocket://127.0.0.1:65536/shop", "latency"], "PORT is 1 to 65535"),
        (["--url", "rowsocket://127.0.0.1:0/shop", "latency"], "port: 1 to 65535"),
        (["--sql", f"mysql://root@127.0.0.1:{BEYOND}", "doctor"], "PORT is 1 to 65535"),
        (["--sql", "mysql://root@127.0.0.1:0", "doctor"], "PORT is 1 to 65535"),
        (["--sql", "mysql://root@127.0.0.1:x", "doctor"], "PORT is 1 to 65535"),
        (["--sql", "mysql://root:12#4@127.0.0.1", "doctor"], "percent-encode"),
        (["--sql", "mysql://root:a[b@127.0.0.1", "doctor"], "percent-encode"),
        (["--sql", "mysql://root@127.0.0.1", "metrics", "--listen", "localhost:65536"], "no HOST:PORT"),
        (["--sql", "mysql://root@127.0.0.1", "metrics", "--listen", "localhost:\u0663"], "no HOST:PORT"),
    ],
)
def test_a_number_beyond_its_bounds_is_not_sent(run: Run, words: list[str], says: str) -> None:
    done = run(*words)
    assert (done.returncode, says in done.stderr, done.stdout) == (2, True, ""), done.stderr


def test_the_largest_numbers_are_taken(run: Run) -> None:
    run("put", "user", "id=1", "name=Ada")
    largest = str(2**63 - 1)
    done = run("find", "user", "0", "--op", ">", "--limit", largest, "-c", "id", "--json")
    assert (done.returncode, done.stdout) == (0, '{"id": 1}\n')
    assert run("find", "user", "0", "--op", ">", "--offset", largest, "-c", "id").returncode == 1


def test_the_version_and_the_help_are_told(run: Run) -> None:
    assert run("--version").stdout == f"rowsocket {rowsocket.__version__}\n"
    for verb in ([], ["get"]):
        assert run(*verb, "-h").stdout == run(*verb, "--help").stdout != ""


def test_columns_are_looked_up_through_sql(shop: RowSocketServer, run: Run) -> None:
    run("put", "user", "id=1", "name=Ada")
    done = run("get", "user", "1", "--json", ROWSOCKET_SQL=sql_url(shop))
    assert json.loads(done.stdout) == {"id": 1, "name": "Ada", "born": None}


def test_an_answer_of_sql_is_waited_for_no_longer_than_was_said(shop: RowSocketServer) -> None:
    with (
        contextlib.closing(sql_connection(sql_url(shop), answer_timeout_s=0.2)) as sql,
        pytest.raises(pymysql.err.OperationalError, match="timed out") as raised,
    ):
        rows_of(sql, "SELECT SLEEP(30)")
    assert not is_refusal(raised.value)


def test_a_table_that_sql_does_not_know_is_refused(shop: RowSocketServer, run: Run) -> None:
    done = run("get", "nothing", "1", ROWSOCKET_SQL=sql_url(shop))
    assert (done.returncode, f"no table {DATABASE}.nothing" in done.stderr) == (3, True)


def test_a_url_with_an_account_does_what_its_grants_allow(shop: RowSocketServer, run: Run) -> None:
    run("put", "user", "id=1", "name=Ada")
    url = f"rowsocket://app:{{}}@127.0.0.1:{shop.write_port}/{DATABASE}"
    right, wrong = url.format(urllib.parse.quote(PASSWORD)), url.format("hush")
    with account(shop, "app@localhost", grants=[f"SELECT (id, name) ON {DATABASE}.user"]):
        read = run("get", "user", "1", "-c", "id,name", "--json", ROWSOCKET_URL=right)
        denied = run("--url", right, "get", "user", "1", "-c", "born")
        refused = run("--url", wrong, "get", "user", "1", "-c", "id")
    assert json.loads(read.stdout) == {"id": 1, "name": "Ada"}
    assert (denied.returncode, refused.returncode) == (3, 3)
    assert "born" in denied.stderr
    assert "rowsocket://USER:PASSWORD@HOST" in refused.stderr
    assert "hush" not in refused.stderr


def test_latency_tells_times_in_their_order(run: Run) -> None:
    figures = json.loads(run("latency", "--count", "50", "--json").stdout)
    assert figures["count"] == 50
    assert 0 < figures["min_us"] <= figures["p50_us"] <= figures["p99_us"] <= figures["max_us"]
    assert "p99_us" in run("latency", "--count", "5").stdout


def test_top_shows_what_the_server_does(shop: RowSocketServer, run: Run) -> None:
    figures = json.loads(run("top", "--interval", "0.1", "--json", ROWSOCKET_SQL=sql_url(shop)).stdout)
    assert figures["connections_write"] >= 0
    assert "requests_find_per_s" in figures
    assert "per second" in run("top", "--interval", "0.1", "--once", ROWSOCKET_SQL=sql_url(shop)).stdout
    assert run("top").returncode == 2


# ── the shell ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def state(shop: RowSocketServer) -> Iterator[State]:
    """What a shell with a SQL connection keeps between its lines."""
    state = State()
    state.url = f"rowsocket://127.0.0.1:{shop.write_port}"
    state.sql_url = sql_url(shop)
    state.catalog = Catalog(state.sql_url)
    yield state
    state.close()


def completions(state: State, text: str) -> list[str]:
    """What the line may become."""
    completer = NameCompleter(state, options_of(app))
    found = completer.get_completions(Document(text), CompleteEvent())
    return [text[: len(text) + one.start_position] + one.text for one in found]


def test_lines_are_verbs_and_the_database_is_remembered(
    state: State, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in (
        f"use {DATABASE}",
        "put user id=1 name='Ada L'",
        "get user 1 --json",
        "get user 2",
        "nonsense",
    ):
        assert run_line(app, state, line) is not None
    output = capsys.readouterr()
    assert '{"id": 1, "name": "Ada L", "born": null}' in output.out
    assert "no such row" in output.err
    assert "no verb 'nonsense'" in output.err
    assert run_line(app, state, "exit") is None


def test_a_server_that_stands_still_completes_nothing(
    shop: RowSocketServer, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "GREETING_TIMEOUT_S", 0.5)
    monkeypatch.setattr(catalog, "NAMES_TIMEOUT_S", 0.5)
    with standing_still(shop):
        assert completions(state, "get shop.us") == []


def test_names_are_not_asked_for_once_more_where_nothing_answers(
    shop: RowSocketServer, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "NAMES_TIMEOUT_S", 0.5)
    assert completions(state, "get shop.us") == ["get shop.user"]  # there is a connection now
    connect = Mock(wraps=catalog.sql_connection)
    monkeypatch.setattr(catalog, "sql_connection", connect)
    with standing_still(shop):
        assert completions(state, "get shop.us") == []
    connect.assert_not_called()


def test_names_are_completed(state: State) -> None:
    assert completions(state, "ge") == ["get"]
    assert completions(state, "use sho") == [f"use {DATABASE}"]
    assert completions(state, "get shop.us") == ["get shop.user"]
    run_line(app, state, f"use {DATABASE}")
    assert "get user" in completions(state, "get us")
    assert completions(state, "get user 1 --columns id,na") == ["get user 1 --columns id,name"]
    assert completions(state, "find user x --index by") == ["find user x --index by_name"]
    assert completions(state, "put user bo") == ["put user born="]


def test_a_verb_is_completed_with_what_it_takes(state: State) -> None:
    assert completions(state, "get user 1 --i") == ["get user 1 --index"]
    assert completions(state, "get user 1 --o") == []
    assert completions(state, "find user 1 --re") == ["find user 1 --reverse"]
    assert completions(state, "put user id=1 --if") == ["put user id=1 --if-absent"]
    assert completions(state, "top --on") == ["top --once"]
    assert completions(state, "top --he") == ["top --help"]
    assert completions(state, "find user 1 --op >") == ["find user 1 --op >", "find user 1 --op >="]
    assert completions(state, f"warm {DATABASE}.user {DATABASE}.us") == [
        f"warm {DATABASE}.user {DATABASE}.user"
    ]
    for nothing in ("top ", "latency ", "help ", f"get {DATABASE}.user ", f"use {DATABASE} "):
        assert completions(state, nothing) == []


ODD = [
    "a b",
    "sel.ect",
    "tick`inside",
    "`",
    "it's",
    'quo"te',
    "back\\slash",
    "=",
    "x:hex",
    "-5",
    "--json",
    "by",
]
"""Names of tables, columns and indexes."""


def quoted(name: str) -> str:
    """As SQL has it."""
    return "`{}`".format(name.replace("`", "``"))


def last_word(line: str) -> str:
    """As the verb gets it."""
    return shlex.split(line)[-1]


@pytest.fixture(params=["odd", "o.d d`'s"])
def odd_database(shop: RowSocketServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database with a table of each of the names, that has columns and indexes of all of them."""
    database = quoted(request.param)
    columns = ", ".join(f"{quoted(name)} INT" for name in ODD)
    keys = ", ".join(f"KEY {quoted(name)} ({quoted(name)})" for name in ODD)
    shop.sql(f"CREATE DATABASE {database}")
    try:
        for name in ODD:
            shop.sql(f"CREATE TABLE {database}.{quoted(name)} ({columns}, {keys})")
        yield request.param
    finally:
        shop.sql(f"DROP DATABASE {database}")


def test_odd_names_are_completed_so_that_the_line_means_them(
    state: State, odd_database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    [use] = completions(state, f"use {odd_database[:2]}")
    assert run_line(app, state, use) == 0
    assert state.database == odd_database
    for name in ODD:
        [put] = [line for line in completions(state, "put ") if table_name(last_word(line)) == (None, name)]
        line = put
        for column in ODD:
            [begun] = [
                one for one in completions(state, f"{line} ") if assignments([last_word(one)]) == {column: ""}
            ]
            line = f"{begun}7"
        assert run_line(app, state, line) == 0, line
        asked = put.replace("put", "get", 1) + " 7 --index "
        [asked] = [one for one in completions(state, asked) if last_word(one) == name]
        asked += " --json --columns "
        for column in ODD:
            [begun] = [one for one in completions(state, asked) if column_list(last_word(one))[-1] == column]
            asked = f"{begun},"
        assert run_line(app, state, asked[:-1]) == 0, asked
        assert json.loads(capsys.readouterr().out.splitlines()[-1]) == dict.fromkeys(ODD, 7)


def test_a_table_of_another_database_is_completed_with_its_name(
    shop: RowSocketServer, state: State, odd_database: str
) -> None:
    database = quoted(odd_database) if "`" in odd_database else odd_database
    for name in ODD:
        begun = shlex.quote(f"{database}.{quoted(name)[:-1]}")
        assert (odd_database, name) in [
            table_name(last_word(line)) for line in completions(state, f"get {begun}")
        ]


def test_a_name_that_is_begun_in_quotes_or_backticks_is_completed(
    shop: RowSocketServer, state: State
) -> None:
    shop.sql("CREATE DATABASE `my.shop`")
    try:
        shop.sql("CREATE TABLE `my.shop`.`one more` (`a,b` INT PRIMARY KEY, `c d` INT)")
        shop.sql("CREATE TABLE `my.shop`.`ab``c` (`x=y` INT PRIMARY KEY)")
        for begun in ("get my.sh", "get 'my.sh", "get `my", 'get "`my'):
            assert completions(state, begun) == ["get `my.shop`."]
        for begun in ("get my.shop.on", "get 'my.shop.one mo", "get `my.shop`.o", 'get "`my.shop`.`one m'):
            assert completions(state, begun) == ["get '`my.shop`.one more'"]
        assert completions(state, "get `my.shop`.`ab") == ["get `my.shop`.`ab``c`"]
        assert completions(state, "get my.shop.one\\ more 1 --columns c") == [
            "get my.shop.one\\ more 1 --columns 'c d'"
        ]
        assert completions(state, "get 'my.shop.one more' 1 -c `a,b`,") == [
            "get 'my.shop.one more' 1 -c '`a,b`,c d'",
        ]
        assert completions(state, "put 'my.shop.one more' 'c") == ["put 'my.shop.one more' 'c d='"]
        assert completions(state, "put `my.shop`.`ab``c` `x") == ["put `my.shop`.`ab``c` `x=y`="]
        for nothing in ("get `a`.`b`.c", "get `a`b", "put user a=b c=", "get user '"):
            assert completions(state, nothing) == []
    finally:
        shop.sql("DROP DATABASE `my.shop`")


def test_use_takes_backticks(state: State) -> None:
    assert run_line(app, state, "use `my.``shop`") == 0
    assert state.database == "my.`shop"
    assert run_line(app, state, "use `my") == 2


def test_without_sql_what_was_used_is_completed(shop: RowSocketServer, state: State) -> None:
    state.catalog, state.database = Catalog(None), DATABASE
    assert completions(state, "get us") == []
    run_line(app, state, "get user 1 --columns id,name")
    assert completions(state, "get us") == ["get user"]
    assert completions(state, "get user 1 --columns id,na") == ["get user 1 --columns id,name"]
