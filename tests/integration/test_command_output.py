# SPDX-License-Identifier: GPL-2.0-only
"""Where the command prints: to who does not read, to a terminal, and from lines of a pipe."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from rowsocket.cli.catalog import Catalog
from support.accounts import account
from support.command_page import ROOT, Run, blocks, environment_of, sql_url
from support.kills import kill
from support.mariadb import RowSocketServer, Start
from support.plugin import make_table
from support.terminals import Terminal

ROWS = 3000
EVIL = "a\x1b[31m\x07b\rc\td\x9b2J\u202e\u200eé"
COMMAND = [sys.executable, "-m", "rowsocket"]


@pytest.fixture
def many(shop: RowSocketServer) -> RowSocketServer:
    """The shop with more rows than a pipe holds."""
    shop.sql(
        f"INSERT INTO shop.user (id, name) SELECT seq, REPEAT('x', 40) FROM seq_1_to_{ROWS}".replace(
            "seq_1", "shop.seq_1"
        )
    )
    return shop


def shell(server: RowSocketServer, script: str) -> subprocess.CompletedProcess[str]:
    """A script of bash, in which `rowsocket` is the command."""
    whole = f'rowsocket() {{ "{sys.executable}" -m rowsocket "$@"; }}\n{script}'
    environment = environment_of(server, ROWSOCKET_SQL=sql_url(server))
    return subprocess.run(["bash", "-c", whole], env=environment, capture_output=True, text=True, timeout=60)


# ── who does not read ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "words",
    [
        "get user 1",
        "get user 1 --json",
        "find user 0 --op '>' --limit 0",
        "find user 0 --op '>' --limit 0 --json",
        "count user 1",
        "set user 1 name=x",
        "latency --count 1",
        "doctor",
        "top --interval 0.1 --once",
        "metrics",
        "bench user --seconds 0.1 --columns name",
        "warm user",
        "--help",
        "get --help",
    ],
)
@pytest.mark.parametrize(
    ("where", "why"), [("> /dev/full", "No space left on device"), (">&-", "it is closed")]
)
def test_output_that_goes_nowhere_is_told(many: RowSocketServer, words: str, where: str, why: str) -> None:
    done = shell(many, f"rowsocket {words} {where}")
    assert (done.returncode, done.stderr) == (5, f"rowsocket: standard output: {why}\n")


def test_a_closed_output_is_told_before_anything_is_done(many: RowSocketServer) -> None:
    assert shell(many, "rowsocket set user 1 name=x >&-").returncode == 5
    assert many.value("SELECT name FROM shop.user WHERE id = 1") != "x"


@pytest.mark.parametrize("words", ["--json", ""])
def test_a_reader_that_has_enough_ends_it_without_a_word(many: RowSocketServer, words: str) -> None:
    done = shell(
        many,
        f"rowsocket find user 0 --op '>' --limit 0 {words} | head -1 >/dev/null; echo ${{PIPESTATUS[0]}}",
    )
    assert (done.stdout, done.stderr) == (f"{128 + signal.SIGPIPE}\n", "")


def test_lines_of_a_shell_whose_output_goes_nowhere(many: RowSocketServer) -> None:
    done = shell(many, "echo get user 1 | rowsocket > /dev/full")
    assert (done.returncode, done.stderr) == (5, "rowsocket: standard output: No space left on device\n")


def test_an_error_whose_output_goes_nowhere_is_an_exit_code(many: RowSocketServer) -> None:
    done = shell(many, "rowsocket get user 0 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert shell(many, "rowsocket get user 0 2>/dev/full").returncode == 1
    assert shell(many, "rowsocket warm user 2>&-").returncode == 0


def test_ctrl_c_is_no_answer_of_the_server(many: RowSocketServer) -> None:
    before = many.counter("requests_find")
    with subprocess.Popen(
        [*COMMAND, "bench", "user", "--seconds", "60"],
        env=environment_of(many, ROWSOCKET_SQL=sql_url(many)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        many.wait_until("it has begun", lambda: many.counter("requests_find") > before + 100)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (130, b"", b"")


def test_sql_is_left_as_it_should_be(start: Start) -> None:
    """The server writes a warning for each connection that is not."""
    server = start(RowSocketServer)
    make_table(server)
    script = (
        "count app.t 1\nget app.t 1\nwarm app.t\ndoctor\nbench app.t --seconds 0.1\ntop --once --interval 0.1"
    )
    for line in script.splitlines():
        assert shell(server, f"rowsocket {line}").stderr == ""
    assert lines(server, script, ROWSOCKET_SQL=sql_url(server)).stderr == b""
    assert "Aborted connection" not in server.log_text()


def test_a_shell_asks_sql_again_where_the_connection_was_lost(shop: RowSocketServer) -> None:
    shop.sql("INSERT INTO shop.user (id) VALUES (1)")
    with contextlib.closing(Catalog(sql_url(shop))) as catalog:
        assert catalog.columns("shop", "user") == ["id", "name", "born"]
        for number, _, _, _, command, *_ in shop.sql("SHOW PROCESSLIST"):
            if command == "Sleep":
                kill(shop, number)
        assert catalog.columns("shop", "user") == ["id", "name", "born"]


# ── what SQL refuses ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("words", [["get", "user", "1"], ["top", "--once"], ["warm", "user"], ["doctor"]])
def test_what_sql_refuses_is_no_lack_of_an_answer(shop: RowSocketServer, run: Run, words: list[str]) -> None:
    with account(shop, "app@localhost"):
        denied = run(*words, ROWSOCKET_SQL=f"mysql://app:wrong@/?unix_socket={shop.socket}")
        absent = run(*words, ROWSOCKET_SQL="mysql://app@127.0.0.1:1")
    assert (denied.returncode, "Access denied" in denied.stderr) == (3, True)
    assert absent.returncode == 4


def test_a_kind_of_password_that_takes_a_library_is_told(
    shop: RowSocketServer, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "nacl.py").write_text("raise ImportError('no nacl')\n")
    without = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "clients/python/src")])}
    shop.sql("INSTALL SONAME 'auth_ed25519'")
    try:
        with account(shop, "app@localhost", "IDENTIFIED VIA ed25519 USING PASSWORD('x')"):
            done = run("doctor", ROWSOCKET_SQL=f"mysql://app:x@/?unix_socket={shop.socket}", **without)
    finally:
        shop.sql("UNINSTALL SONAME 'auth_ed25519'")
    assert (done.returncode, "nacl" in done.stderr, "Traceback" in done.stderr) == (2, True, False), (
        done.stderr
    )


# ── control characters ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def evil(shop: RowSocketServer) -> RowSocketServer:
    shop.sql("INSERT INTO shop.user (id, name) VALUES (1, %s)", [EVIL])
    return shop


def at_a_terminal(server: RowSocketServer, *words: str) -> str:
    environment = environment_of(server, ROWSOCKET_SQL=sql_url(server))
    with Terminal([*COMMAND, *words], environment) as terminal:
        terminal.end()
    return terminal.text


def test_on_a_terminal_control_characters_are_spelt_out(evil: RowSocketServer) -> None:
    text = at_a_terminal(evil, "get", "user", "1", "-c", "name")
    assert "a\\x1b[31m\\x07b\\rc\\td\\x9b2J\\u202e\\u200eé" in text
    for character in EVIL:
        if character not in "\x1b\r":  # rich has its own for the table
            assert character.isprintable() or character not in text

    text = at_a_terminal(evil, "get", "user", "1", "-c", "name", "--json")
    assert json.loads(text) == {"name": EVIL}
    assert all(character.isprintable() or character in "\r\n" for character in text)

    text = at_a_terminal(evil, "get", "user", "1", "-c", "na\x1b[31mme")
    assert "\x1b" not in text


def test_on_a_terminal_all_values_of_a_wide_row_are_seen(shop: RowSocketServer) -> None:
    names = [f"column_{number}" for number in range(30)]
    shop.sql(
        f"CREATE OR REPLACE TABLE shop.wide (id INT PRIMARY KEY, {', '.join(f'{n} INT' for n in names)})"
    )
    shop.sql(f"INSERT INTO shop.wide VALUES (1, {', '.join(str(1000 + n) for n in range(30))})")
    text = at_a_terminal(shop, "get", "shop.wide", "1")
    for number, name in enumerate(names):
        assert re.search(rf"{name}\b\W+{1000 + number}\b", text)


def test_json_is_json_whatever_the_output_can_write(shop: RowSocketServer) -> None:
    shop.sql("INSERT INTO shop.user (id, name) VALUES (1, 'é')")
    command = [*COMMAND, "get", "user", "1", "-c", "name", "--json"]
    environment = environment_of(shop, PYTHONIOENCODING="ascii")
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
    assert json.loads(done.stdout) == {"name": "é"}


@pytest.mark.parametrize("encoding", ["ascii", "latin1"])
def test_a_table_has_a_frame_that_the_output_can_write(
    shop: RowSocketServer, run: Run, encoding: str
) -> None:
    shop.sql("INSERT INTO shop.user (id, name) VALUES (1, 'Ada')")
    done = run("get", "user", "1", "-c", "id,name", PYTHONIOENCODING=encoding)
    assert done.stdout == "+-----------+\n| id | name |\n|----+------|\n| 1  | Ada  |\n+-----------+\n"


def test_on_a_pipe_values_are_as_they_are(evil: RowSocketServer, run: Run) -> None:
    command = [*COMMAND, "get", "user", "1", "-c", "name"]
    done = subprocess.run(command, env=environment_of(evil), capture_output=True, timeout=60)
    assert EVIL.encode() in done.stdout
    assert json.loads(run("get", "user", "1", "-c", "name", "--json").stdout) == {"name": EVIL}


# ── lines of a pipe ─────────────────────────────────────────────────────────────────────────────────────────


def lines(server: RowSocketServer, text: str | bytes, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """What comes of these lines of a pipe."""
    return subprocess.run(
        COMMAND,
        input=text.encode() if isinstance(text, str) else text,
        env=environment_of(server, **more),
        capture_output=True,
        timeout=60,
    )


def test_lines_of_a_pipe_have_their_answers_and_nothing_else(shop: RowSocketServer) -> None:
    script = "use shop\n\nput user id=1 name='Ada L'\r\nget user 1 -c id,name --json\ncount user 1"
    done = lines(shop, script)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b'inserted\n{"id": 1, "name": "Ada L"}\n1\n'


@pytest.mark.parametrize(
    ("script", "code", "errors"),
    [
        ("get user 5 -c id\nget user 1 -c nmae\ncount user 1\n", 1, b"no such row"),
        ("get user 1 -c nmae\nget user 5 -c id\ncount user 1\n", 3, b"no column"),
        ("nonsense\ncount user 1\n", 2, b"no verb"),
        ("get 'user\ncount user 1\n", 2, b"quotation"),
        ("use\ncount user 1\n", 2, b"use DATABASE"),
        ("get --limt 5\ncount user 1\n", 2, b"No such option"),
        (b"get user \xff -c id\ncount user 1\n", 2, b"not UTF-8"),
    ],
)
def test_the_exit_code_is_that_of_the_first_line_that_failed(
    shop: RowSocketServer, script: str | bytes, code: int, errors: bytes
) -> None:
    shop.sql("INSERT INTO shop.user (id) VALUES (1)")
    done = lines(shop, script)
    assert (done.returncode, errors in done.stderr, done.stdout) == (code, True, b"1\n"), done.stderr


def test_the_lines_of_the_page(shop: RowSocketServer) -> None:
    shop.sql("INSERT INTO shop.user (id, name) VALUES (1, 'Ada')")
    [piped] = [block for block in blocks("sh") if "| rowsocket" in block]
    assert shell(shop, piped).stdout.startswith("1\n┏")
    [typed] = blocks("shell")
    script = "".join(line.partition("> ")[2] + "\n" for line in typed.splitlines())
    done = lines(shop, script)
    assert (done.returncode, b"Ada" in done.stdout, b"put TABLE" in done.stdout) == (0, True, True)


def test_exit_ends_the_lines(shop: RowSocketServer) -> None:
    done = lines(shop, "count user 1\nexit\ncount user 1\n")
    assert (done.returncode, done.stdout) == (0, b"0\n")
    assert lines(shop, "").returncode == 0


def test_an_answer_comes_before_the_next_line(shop: RowSocketServer) -> None:
    with subprocess.Popen(
        COMMAND, env=environment_of(shop), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(1, 4):
            process.stdin.write(f"put user id={number} name=x\n".encode())
            process.stdin.flush()
            assert process.stdout.readline() == b"inserted\n"
        process.stdin.close()
    assert process.returncode == 0


def test_without_a_server_lines_are_not_read(shop: RowSocketServer) -> None:
    done = lines(shop, "count user 1\n", ROWSOCKET_URL="rowsocket://127.0.0.1:1/shop")
    assert (done.returncode, done.stdout) == (4, b"")


def test_at_a_terminal_there_is_a_prompt(shop: RowSocketServer, tmp_path: Path) -> None:
    environment = environment_of(shop, XDG_STATE_HOME=str(tmp_path), PROMPT_TOOLKIT_NO_CPR="1")
    with Terminal(COMMAND, environment) as terminal:
        terminal.until("it prompts", terminal.is_raw)
        terminal.type("use shop\r")
        terminal.until("it prompts again", lambda: "shop>" in terminal.text)
        terminal.type("get user 1 -c id\r")
        terminal.until("it answers", lambda: "no such row" in terminal.text)
        terminal.type("exit\r")
        assert terminal.end() == 0
    assert (tmp_path / "rowsocket/history").stat().st_mode & 0o777 == 0o600


def test_a_shell_that_can_keep_no_history_goes_on_without(shop: RowSocketServer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = environment_of(shop, XDG_STATE_HOME=str(tmp_path / "file"), PROMPT_TOOLKIT_NO_CPR="1")
    with Terminal(COMMAND, environment) as terminal:
        terminal.until("it prompts", terminal.is_raw)
        terminal.type("exit\r")
        assert terminal.end() == 0
    assert "keeps no history" in terminal.text


@pytest.mark.parametrize("password", ["pässwörd", "пароль"])
def test_a_password_may_have_letters_of_any_script(shop: RowSocketServer, password: str) -> None:
    shop.sql("CREATE OR REPLACE USER letters@localhost IDENTIFIED BY %s", [password])
    shop.sql("GRANT SELECT ON shop.* TO letters@localhost")
    shop.sql("INSERT INTO shop.user (id, name) VALUES (1, 'Ada')")
    where = sql_url(shop).split("@", 1)[1]
    environment = environment_of(shop, ROWSOCKET_SQL=f"mysql://letters:{quote(password)}@{where}")
    command = [*COMMAND, "get", "user", "1", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
    assert json.loads(done.stdout)["name"] == "Ada"


def test_a_password_that_is_no_text_is_not_told(shop: RowSocketServer) -> None:
    environment = environment_of(shop, ROWSOCKET_SQL="mysql://app:hush\udcff@localhost")
    done = subprocess.run([*COMMAND, "get", "user", "1"], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"hush" not in done.stdout + done.stderr
