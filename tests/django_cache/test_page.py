# SPDX-License-Identifier: GPL-2.0-only
"""docs/django.md: who follows it has a cache; and its example, on a real server with TLS, behind two
processes of gunicorn.
"""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.backends.cache import SessionStore
from django.core.cache import caches
from django.test import override_settings

from support.certificates import Authority
from support.mariadb import RowSocketServer, Start
from support.scripts import feed

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/django.md").read_text()
EXAMPLE = ROOT / "clients/python/examples/django_visits"
STOP_S = 120.0
"""Far more than gunicorn gives its workers to end."""


def blocks(language: str) -> list[str]:
    """The code blocks of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def environment(**more: str) -> dict[str, str]:
    """Of a Python that has the client."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src"), **more}


def test_the_page_can_be_followed(server: RowSocketServer, tmp_path: Path) -> None:
    server.sql("CREATE DATABASE shop")
    settings = "".join(blocks("python")).replace(":9999/", f":{server.write_port}/")
    (tmp_path / "site_settings.py").write_text(f"SECRET_KEY = 'x'\n{settings}")
    try:
        said = subprocess.run(
            [sys.executable, "-m", "django", "createrowsocketcache", "--dry-run"],
            cwd=tmp_path,
            env=environment(DJANGO_SETTINGS_MODULE="site_settings"),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        feed(server, said.stdout)
        for block in blocks("sql"):
            feed(server, block)
        named: dict[str, Any] = {}
        exec(settings, named)
        with override_settings(CACHES=named["CACHES"], SESSION_ENGINE=named["SESSION_ENGINE"]):
            caches["default"].set("key", {"a": 1})
            assert caches["default"].get("key") == {"a": 1}
            session = SessionStore()
            session["user"] = 7
            session.save()
            assert SessionStore(session.session_key)["user"] == 7
        [[count]] = server.sql("SELECT COUNT(*) FROM shop.django_cache")
        assert count == 2
    finally:
        server.sql("SET GLOBAL event_scheduler = OFF")
        server.sql("DROP DATABASE shop")
        server.sql("DROP USER IF EXISTS site@localhost")


DATABASES = """
import pymysql
pymysql.install_as_MySQLdb()
DATABASES = {{
    "default": {{"ENGINE": "django.db.backends.mysql", "USER": "root", "HOST": {socket!r}, "NAME": "mysql"}}
}}
"""
"""Settings of a site whose database is the server itself."""


def test_the_command_makes_the_tables_of_a_site_with_a_mariadb(
    server: RowSocketServer, tmp_path: Path
) -> None:
    settings = "".join(blocks("python")) + DATABASES.format(socket=str(server.socket))
    (tmp_path / "site_settings.py").write_text(f"SECRET_KEY = 'x'\n{settings}")
    server.sql("CREATE DATABASE shop")
    try:
        for _ in range(2):  # what is there stays
            done = subprocess.run(
                [sys.executable, "-m", "django", "createrowsocketcache"],
                cwd=tmp_path,
                env=environment(DJANGO_SETTINGS_MODULE="site_settings"),
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert (done.returncode, done.stdout) == (0, "shop.django_cache is there\n"), done.stderr
            assert "event_scheduler is not ON" in done.stderr
        [[events]] = server.sql("SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'shop'")
        assert events == 1
        assert server.sql("SELECT * FROM shop.django_cache") == []
    finally:
        server.sql("DROP DATABASE shop")


class Visitor:
    """A browser: it keeps its cookies."""

    def __init__(self, site: str) -> None:
        self.site = site
        jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))

    def get(self, path: str) -> str:
        with self.opener.open(self.site + path, timeout=30) as answer:
            return str(answer.read().decode())

    def see(self, page: str) -> dict[str, Any]:
        counts: dict[str, Any] = json.loads(self.get(f"/seen/{page}"))
        return counts


@pytest.fixture
def url(start: Start, tmp_path: Path) -> Iterator[str]:
    """A server with TLS, the table of the example, and the account of the site."""
    authority = Authority(tmp_path)
    options = {
        **authority.server_options(),
        "loose-rowsocket-anonymous-account": "",
        "loose-rowsocket-require-tls": 1,
    }
    server = start(RowSocketServer, options)
    server.sql("CREATE DATABASE visits")
    address = f"rowsocket://site:hush@localhost:{server.write_port}/visits?tls_ca={authority.file}"
    said = subprocess.run(
        [sys.executable, "manage.py", "createrowsocketcache", "--dry-run"],
        cwd=EXAMPLE,
        env=environment(ROWSOCKET_URL=address),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    feed(server, said.stdout)
    server.sql("CREATE USER site@localhost IDENTIFIED BY 'hush'")
    server.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON visits.django_cache TO site@localhost")
    yield address


WORKERS = 2
HOOK = """
def post_worker_init(worker):
    worker.log.info("Ready: %s", worker.pid)
"""
"""Settings of gunicorn by which each worker says that its handlers of signals are in place."""


@contextlib.contextmanager
def site(url: str, log: Path) -> Iterator[str]:
    """The example behind gunicorn, as the page starts it, once all its workers are ready; its address.

    A worker that is told to end between its fork and its own handlers of signals does not notice: gunicorn
    then waits 30 s for it, and kills it.
    """
    [words] = [line.split() for line in "".join(blocks("sh")).splitlines() if line.startswith("gunicorn")]
    hook = log.with_name(f"{log.name} hook.py")
    hook.write_text(HOOK)
    command = [sys.executable, "-m", *words, "--bind=127.0.0.1:0", "--no-control-socket", f"--config={hook}"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=EXAMPLE,
            env=environment(ROWSOCKET_URL=url, PYTHONDONTWRITEBYTECODE="1"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            said: list[str] = []
            for line in process.stderr:
                said.append(line)
                output.write(line)
                if sum("Ready: " in one for one in said) == WORKERS:
                    break
            yield re.findall(r"Listening at: (http://\S+)", "".join(said))[0]
        finally:
            process.terminate()
            rest = process.communicate(timeout=STOP_S)[1]
            output.write(rest)
    assert process.returncode == 0, log.read_text()


def test_the_example_counts_right_in_all_its_processes(url: str, tmp_path: Path) -> None:
    with site(url, tmp_path / "log") as address:
        visitors = [Visitor(address) for _ in range(8)]
        counts: list[dict[str, Any]] = []
        with ThreadPoolExecutor(8) as threads:
            while len(counts) < 80 or (len({one["process"] for one in counts}) < 2 and len(counts) < 800):
                counts += threads.map(lambda visitor: visitor.see("start"), visitors)
        each = len(counts) // 8
        assert len({one["process"] for one in counts}) == 2
        assert sorted(one["seen"] for one in counts) == list(range(1, len(counts) + 1))
        assert sorted(one["by_you"] for one in counts) == sorted(list(range(1, each + 1)) * 8)
        assert len({visitors[0].get("/report") for _ in range(20)}) == 1
    with site(url, tmp_path / "log again") as address:
        visitors[0].site = address
        after = visitors[0].see("start")
    assert (after["seen"], after["by_you"]) == (len(counts) + 1, each + 1)


def test_the_example_prints_what_the_page_says(url: str, tmp_path: Path) -> None:
    [block] = blocks("console")
    command, expected = block.splitlines()
    path = command.removeprefix("$ curl http://127.0.0.1:8000")
    with site(url, tmp_path / "log") as address:
        said = json.loads(Visitor(address).get(path))
    assert {**said, "process": 4242} == json.loads(expected)
