# SPDX-License-Identifier: GPL-2.0-only
"""Django's own tests of a cache, on a RowSocket: those that it has for every backend, and those of sessions,
of the middleware that caches pages and of its helpers. own/rowsocket_cases.py names them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import django

from rowsocket.django import schema
from support.caches import DATABASE
from support.mariadb import RowSocketServer
from support.tree import environment_path

ROOT = Path(__file__).resolve().parents[2]

SKIPPED = {
    "test_cull": "Culling isn't implemented.",
    "test_zero_cull": "Culling isn't implemented.",
    "test_cull_delete_when_store_empty": "Culling isn't implemented.",
}
"""What does not apply, by what Django says. Nothing is culled: a table has room, and rows expire."""

FEWEST = 200
"""Of the tests that must have been there to be run."""


def test_what_django_asks_of_a_cache_holds(tables: str, server: RowSocketServer) -> None:
    server.sql(schema.create_table(DATABASE, "django_cache"))
    source = environment_path("ROWSOCKET_DJANGO_SOURCE")
    folders = [source / "tests", ROOT / "clients/python/src", ROOT / "tests/django_cache/own"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "ROWSOCKET_URL": tables,
        "DJANGO_SETTINGS_MODULE": "rowsocket_settings",
    }
    done = subprocess.run(
        [sys.executable, "-m", "django", "test", "--verbosity=2", "rowsocket_cases"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert done.returncode == 0, done.stderr[-20_000:]
    skipped = dict(re.findall(r"^(\w+) \(.*?\.\.\. skipped ['\"](.*)['\"]$", done.stderr, re.MULTILINE))
    assert skipped == SKIPPED
    [ran] = re.findall(r"^Ran (\d+) tests", done.stderr, re.MULTILINE)
    assert int(ran) >= FEWEST


def test_the_tests_are_those_of_the_django_that_is_installed() -> None:
    text = (environment_path("ROWSOCKET_DJANGO_SOURCE") / "version").read_text()
    assert text.strip() == django.get_version()
